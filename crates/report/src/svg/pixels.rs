//! Conversion of numbers to pixels. Numbers in a record may be larger than any picture: they are
//! clamped, and never wrap around.

/// Plotters places everything on whole pixels, which shows in curves: a pixel
/// here is a tenth of one.
pub(crate) const FINE: i32 = 10;

/// The largest size: larger than any screen, and small enough that sums and products don't overflow.
const MOST: u32 = 1 << 16;

/// Pixels to fine ones.
pub(crate) fn to_subpixels(pixels: u32) -> i32 {
    i32::try_from(pixels).unwrap_or(i32::MAX).saturating_mul(FINE)
}

/// The nearest integer; 0 for NaN.
#[expect(clippy::cast_possible_truncation, reason = "a cast from f64 saturates")]
pub(crate) fn nearest(pixels: f64) -> i32 {
    pixels.round() as i32
}

/// A count of letters, rows or columns, clamped so that it can be multiplied by a number of pixels.
pub(crate) fn to_pixel_count(things: usize) -> u32 {
    u32::try_from(things).unwrap_or(MOST).min(MOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn oversized_values_are_clamped_to_the_edge() {
        assert_eq!((to_subpixels(7), to_subpixels(u32::MAX)), (70, i32::MAX));
        assert_eq!(
            (nearest(2.5), nearest(1e300), nearest(f64::NAN)),
            (3, i32::MAX, 0)
        );
        assert_eq!((to_pixel_count(9), to_pixel_count(usize::MAX)), (9, 1 << 16));
    }
}
