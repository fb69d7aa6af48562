//! Passes over all entries of a matrix, compiled for the widest vectors of the processor.
//!
//! Each is a type and not a closure: a closure need not be inlined, and is then
//! compiled for the oldest processor.

use pulp::{Arch, Simd, WithSimd};

use crate::scalar::Scalar;

/// Independent partial sums and maxima, so that an operation need not wait for the previous one.
const LANES: usize = 32;

/// Whether all entries are finite.
pub(crate) fn all_finite<T: Scalar>(entries: &[T]) -> bool {
    Arch::new().dispatch(AllFinite { entries })
}

struct AllFinite<'a, T> {
    entries: &'a [T],
}

/// A NaN or infinity times 0 is NaN, and stays NaN in a sum; any other number times 0 is 0.
impl<T: Scalar> WithSimd for AllFinite<'_, T> {
    type Output = bool;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> bool {
        let (blocks, rest) = self.entries.as_chunks::<LANES>();
        let mut sums = [T::zero(); LANES];
        for block in blocks {
            for lane in 0..LANES {
                sums[lane] += block[lane] * T::zero();
            }
        }
        let mut sum = T::zero();
        for lane in sums {
            sum += lane;
        }
        for entry in rest {
            sum += *entry * T::zero();
        }
        sum.is_finite()
    }
}

/// `max |entry|`, 0 if there is none.
pub(crate) fn max_abs<T: Scalar>(entries: &[T]) -> T {
    Arch::new().dispatch(MaxAbs { entries })
}

struct MaxAbs<'a, T> {
    entries: &'a [T],
}

impl<T: Scalar> WithSimd for MaxAbs<'_, T> {
    type Output = T;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> T {
        let (blocks, rest) = self.entries.as_chunks::<LANES>();
        let mut most = [T::zero(); LANES];
        for block in blocks {
            for lane in 0..LANES {
                most[lane] = larger(most[lane], block[lane].abs());
            }
        }
        let mut largest = T::zero();
        for lane in most {
            largest = larger(largest, lane);
        }
        for entry in rest {
            largest = larger(largest, entry.abs());
        }
        largest
    }
}

#[inline(always)]
fn larger<T: Scalar>(a: T, b: T) -> T {
    if b > a { b } else { a }
}

/// `to = from * factor` in f64. The slices are of one length.
pub(crate) fn widen_times<T: Scalar>(from: &[T], factor: f64, to: &mut [f64]) {
    Arch::new().dispatch(WidenTimes { from, factor, to });
}

struct WidenTimes<'a, T> {
    from: &'a [T],
    factor: f64,
    to: &'a mut [f64],
}

impl<T: Scalar> WithSimd for WidenTimes<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for (to, from) in self.to.iter_mut().zip(self.from) {
            *to = from.as_f64() * self.factor;
        }
    }
}

/// `to = from * factor`, rounded and clamped to the range of gradients. The slices are of one
/// length.
pub(crate) fn round_times<T: Scalar>(from: &[f64], factor: f64, to: &mut [T]) {
    Arch::new().dispatch(RoundTimes { from, factor, to });
}

struct RoundTimes<'a, T> {
    from: &'a [f64],
    factor: f64,
    to: &'a mut [T],
}

impl<T: Scalar> WithSimd for RoundTimes<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for (to, from) in self.to.iter_mut().zip(self.from) {
            *to = T::rounded((from * self.factor).clamp(-T::LARGEST_GRADIENT, T::LARGEST_GRADIENT));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn non_finite_entry_is_found_at_any_position() {
        for length in [0, 1, 63, 64, 65, 200] {
            let mut entries: Vec<f32> = (0..length).map(|at| f32::MAX - at as f32).collect();
            assert!(all_finite(&entries), "{length}");
            for at in 0..length {
                for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
                    let good = std::mem::replace(&mut entries[at], bad);
                    assert!(!all_finite(&entries), "{bad} at {at} of {length}");
                    entries[at] = good;
                }
            }
        }
    }

    #[test]
    fn max_abs_is_found_at_any_position() {
        assert_eq!(max_abs::<f64>(&[]), 0.0);
        for length in [1, 63, 64, 65, 200] {
            for at in 0..length {
                let mut entries = vec![1.0f64; length];
                entries[at] = -2.0;
                assert_eq!(max_abs(&entries), 2.0, "at {at} of {length}");
            }
        }
    }

    #[test]
    fn conversions_round_once_and_stay_in_range() {
        let wide = [1.0, -0.1, 1e300, -1e300, 1e-300, 0.0];
        let mut narrow = [0f32; 6];
        round_times(&wide, 2.0, &mut narrow);
        let largest = f32::LARGEST_GRADIENT as f32;
        assert_eq!(narrow, [2.0, -0.2, largest, -largest, 0.0, 0.0]);
        let mut same = [0f64; 6];
        round_times(&wide, 1e10, &mut same);
        assert_eq!(same, [1e10, -1e9, f64::MAX, -f64::MAX, 1e-290, 0.0]);
        let mut back = [0f64; 2];
        widen_times(&[0.1f32, -3.0], 0.5, &mut back);
        assert_eq!(back, [f64::from(0.1f32) * 0.5, -1.5]);
    }
}
