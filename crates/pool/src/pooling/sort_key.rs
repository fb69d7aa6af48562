//! Numbers in descending order, those that are equal in the order of their positions.

use egg_tensor::Element;

/// f32 or f64, as choosing the best nodes needs them.
pub(super) trait SortKey: Element {
    /// Something that is sorted instead of a number and a position.
    type Key: Ord + Copy + Send;

    /// `ceil(ratio n)`, computed in this type as PyTorch does.
    fn share(ratio: f64, n: usize) -> usize;

    /// Ascending keys are descending numbers, and of equal ones ascending
    /// positions. NaN is the greatest; -0 equals 0.
    fn key(self, position: u32) -> Self::Key;

    /// The position in a key.
    fn position(key: Self::Key) -> usize;
}

macro_rules! sort_key {
    ($T:ident, $Bits:ident, $Key:ident) => {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the low half of a key; a share of a count is a count"
        )]
        impl SortKey for $T {
            type Key = $Key;

            fn share(ratio: f64, n: usize) -> usize {
                ((ratio as $T) * (n as $T)).ceil() as usize
            }

            #[inline(always)]
            fn key(self, position: u32) -> $Key {
                const SIGN: $Bits = 1 << ($Bits::BITS - 1);
                let number = if self.is_nan() {
                    $T::NAN.abs()
                } else {
                    self + 0.0
                };
                let bits = number.to_bits();
                let descending = if bits & SIGN == 0 {
                    !(bits | SIGN)
                } else {
                    bits
                };
                ($Key::from(descending) << 32) | $Key::from(position)
            }

            #[inline(always)]
            fn position(key: $Key) -> usize {
                key as u32 as usize
            }
        }
    };
}

sort_key!(f32, u32, u64);
sort_key!(f64, u64, u128);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_descend_with_ties_by_position() {
        let numbers = [
            1.0,
            f64::NAN,
            -0.0,
            0.0,
            -3.0,
            f64::INFINITY,
            1.0,
            f64::NEG_INFINITY,
        ];
        let expected = [1, 5, 0, 6, 2, 3, 4, 7];
        let mut keys: Vec<_> = (0..).zip(numbers).map(|(at, x)| x.key(at)).collect();
        keys.sort_unstable();
        assert_eq!(keys.into_iter().map(f64::position).collect::<Vec<_>>(), expected);
        let mut keys: Vec<_> = (0..).zip(numbers).map(|(at, x)| (x as f32).key(at)).collect();
        keys.sort_unstable();
        assert_eq!(keys.into_iter().map(f32::position).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn shares_are_those_of_pytorch() {
        // 0.3 is above itself in f32 and below in f64: PyTorch 2.15 keeps 16 and 15 of 50.
        assert_eq!([f32::share(0.3, 50), f64::share(0.3, 50)], [16, 15]);
        assert_eq!([f32::share(0.5, 7), f64::share(0.5, 7)], [4, 4]);
        assert_eq!([f32::share(0.6, 5), f64::share(0.6, 5)], [3, 3]);
        assert_eq!([f32::share(0.5, 0), f64::share(0.5, 1)], [0, 1]);
    }
}
