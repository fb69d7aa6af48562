//! From numbers to pixels. What a record claims may be larger than any picture: it
//! stops at the largest one instead of starting anew at zero.

/// Plotters places everything on whole pixels, which shows in curves: a pixel
/// here is a tenth of one.
pub(crate) const FINE: i32 = 10;

/// More than anybody looks at, and few enough to be added up and multiplied.
const MOST: u32 = 1 << 16;

/// Pixels to fine ones.
pub(crate) fn fine(pixels: u32) -> i32 {
    i32::try_from(pixels).unwrap_or(i32::MAX).saturating_mul(FINE)
}

/// The nearest whole number; 0 for what is none.
#[expect(clippy::cast_possible_truncation, reason = "a cast from f64 saturates")]
pub(crate) fn nearest(pixels: f64) -> i32 {
    pixels.round() as i32
}

/// Letters, rows or columns, to be given so many pixels each.
pub(crate) fn counted(things: usize) -> u32 {
    u32::try_from(things).unwrap_or(MOST).min(MOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn oversized_values_are_clamped_to_the_edge() {
        assert_eq!((fine(7), fine(u32::MAX)), (70, i32::MAX));
        assert_eq!(
            (nearest(2.5), nearest(1e300), nearest(f64::NAN)),
            (3, i32::MAX, 0)
        );
        assert_eq!((counted(9), counted(usize::MAX)), (9, 1 << 16));
    }
}
