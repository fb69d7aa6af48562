//! Loops over the columns of rows, some columns at a time.
//!
//! A sum over rows stays in registers if the number of columns is known to the
//! compiler, and a row that is read into an array can't overlap with what is
//! written. A plain loop checks both for every row.

/// Runs `$body` for blocks of columns that cover `0..$width`: `$N` columns from `$at`
/// on, `$N` being a constant.
#[macro_export]
macro_rules! for_columns {
    ($width:expr, $at:ident, $N:ident => $body:block) => {{
        let mut $at = 0;
        while $at + 32 <= $width {
            const $N: usize = 32;
            $body
            $at += $N;
        }
        while $at + 8 <= $width {
            const $N: usize = 8;
            $body
            $at += $N;
        }
        while $at < $width {
            const $N: usize = 1;
            $body
            $at += $N;
        }
    }};
}

/// `N` numbers from `at` on, as an array.
///
/// # Panics
/// If there are not as many.
#[inline(always)]
pub fn part<T: Copy + Default, const N: usize>(numbers: &[T], at: usize) -> [T; N] {
    let mut part = [T::default(); N];
    part.copy_from_slice(&numbers[at..at + N]);
    part
}

#[cfg(test)]
mod tests {
    use super::part;

    #[test]
    fn every_column_is_visited_once() {
        for width in [0, 1, 7, 8, 9, 31, 32, 33, 64, 100] {
            let numbers: Vec<usize> = (0..width).collect();
            let mut seen = Vec::new();
            for_columns!(width, at, N => {
                seen.extend(part::<usize, N>(&numbers, at));
            });
            assert_eq!(seen, numbers);
        }
    }
}
