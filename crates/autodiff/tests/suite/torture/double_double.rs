//! Numbers of 106 bits, each the unevaluated sum of two f64: the reference must
//! be better than what it judges.

use std::ops::{Add, Mul, Neg, Sub};

/// Rounding of one operation, with room to spare (2^-104 is 5e-32).
pub(crate) const EPS: f64 = 1e-31;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Double {
    high: f64,
    low: f64,
}

impl Double {
    pub(crate) const ZERO: Self = Self::from_f64(0.0);
    pub(crate) const ONE: Self = Self::from_f64(1.0);

    pub(crate) const fn from_f64(value: f64) -> Self {
        Self {
            high: value,
            low: 0.0,
        }
    }

    pub(crate) fn value(self) -> f64 {
        self.high
    }

    pub(crate) fn compare(self, other: Self) -> std::cmp::Ordering {
        self.high
            .total_cmp(&other.high)
            .then(self.low.total_cmp(&other.low))
    }

    /// `high + low` with `|high| >= |low|`.
    #[inline(always)]
    fn quick(high: f64, low: f64) -> Self {
        let sum = high + low;
        Self {
            high: sum,
            low: low - (sum - high),
        }
    }

    #[inline(always)]
    pub(crate) fn over(self, other: Self) -> Self {
        let first = self.high / other.high;
        let rest = self - other * Self::from_f64(first);
        let second = rest.high / other.high;
        let rest = rest - other * Self::from_f64(second);
        Self::quick(first, second) + Self::from_f64(rest.high / other.high)
    }

    /// Of a number that is not negative.
    #[inline(always)]
    pub(crate) fn root(self) -> Self {
        if self.high <= 0.0 {
            return Self::ZERO;
        }
        let guess = Self::from_f64(self.high.sqrt());
        // A step of Newton's doubles the digits.
        guess + (self - guess * guess).over(guess + guess)
    }
}

impl Add for Double {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        let sum = self.high + other.high;
        let part = sum - self.high;
        let lost = (self.high - (sum - part)) + (other.high - part);
        Self::quick(sum, lost + (self.low + other.low))
    }
}

impl Neg for Double {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self {
            high: -self.high,
            low: -self.low,
        }
    }
}

impl Sub for Double {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for Double {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        let product = self.high * other.high;
        let lost = self.high.mul_add(other.high, -product);
        let cross = self.high.mul_add(other.low, self.low * other.high);
        Self::quick(product, lost + cross)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn double_double_has_thirty_digits() {
        let three = Double::from_f64(3.0);
        let off = Double::ONE.over(three) * three - Double::ONE;
        assert!(off.value().abs() < EPS, "{off:?}");
        let two = Double::from_f64(2.0);
        let off = two.root() * two.root() - two;
        assert!(off.value().abs() < 4.0 * EPS, "{off:?}");
        // 1 + 1e-25 is 1 to an f64.
        let off = (Double::ONE + Double::from_f64(1e-25)) - Double::ONE;
        assert!((off.value() - 1e-25).abs() < 1e-31);
    }
}
