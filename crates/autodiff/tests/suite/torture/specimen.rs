//! One matrix under test with its reference, and the differences of a function
//! of it in full precision.

use candle_core::WithDType;
use egg_autodiff::RankRule;
use egg_geometry::Scalar;
use ndarray::Array2;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use super::double_double::Double;
use super::jacobi::Reference;
use super::zoo::{Family, Type};

/// f32 or f64, the type of the matrix.
pub(crate) trait Number: Scalar + WithDType {
    const OF: Type;
}

impl Number for f32 {
    const OF: Type = Type {
        eps: f32::EPSILON as f64,
        decades: 38.0,
        least: 1.401298464324817e-45,
    };
}

impl Number for f64 {
    const OF: Type = Type {
        eps: f64::EPSILON,
        decades: 305.0,
        least: 5e-324,
    };
}

pub(crate) struct Specimen<T> {
    pub(crate) h: Array2<T>,
    /// A power of two; 1 for a zero matrix.
    pub(crate) scale: f64,
    /// `H / scale`, exactly, but for what lies 300 decades below the largest.
    pub(crate) scaled: Array2<f64>,
    /// Of `H / scale`.
    pub(crate) reference: Reference,
}

impl<T: Number> Specimen<T> {
    pub(crate) fn draw(family: Family, rng: &mut ChaCha8Rng) -> Self {
        let h = family.draw(T::OF, rng).mapv(T::rounded);
        let largest = h
            .iter()
            .fold(0.0, |most: f64, entry| most.max(entry.as_f64().abs()));
        let scale = if largest == 0.0 {
            1.0
        } else {
            power_of_two(largest)
        };
        let scaled = h.mapv(|entry| entry.as_f64() / scale);
        Self {
            reference: Reference::of_numbers(&scaled),
            h,
            scale,
            scaled,
        }
    }

    /// Singular values of `H / scale`, min(n, m) of them.
    pub(crate) fn sigma(&self) -> Vec<f64> {
        self.reference.sigma.iter().map(|sigma| sigma.value()).collect()
    }

    /// A rule of each kind, with a bound that is often on a singular value.
    pub(crate) fn rules(&self, rng: &mut ChaCha8Rng) -> [RankRule; 5] {
        let (sigma, m) = (self.sigma(), self.h.ncols());
        let at = rng.random_range(0..sigma.len());
        let first = sigma[0].max(f64::MIN_POSITIVE);
        let total: f64 = sigma.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        let next = sigma.get(at + 1).copied().unwrap_or(0.0);
        let bound = match rng.random_range(0..4) {
            0 => sigma[at],
            1 | 2 => 0.5 * (sigma[at] + next),
            _ => first * rng.random_range(0.0..1.0),
        };
        let share = match rng.random_range(0..3) {
            0 => sigma[..=at].iter().sum::<f64>() / total,
            1 => 1.0,
            _ => rng.random_range(0.01..1.0),
        };
        [
            RankRule::Fixed(at + 1),
            RankRule::Ratio((at + 1) as f64 / m as f64),
            RankRule::Threshold((bound * self.scale).min(f64::MAX)),
            RankRule::Relative((bound / first).clamp(0.0, 0.999_999)),
            RankRule::Energy(share.clamp(1e-3, 1.0)),
        ]
    }

    /// A random direction in the space of matrices, of length 1.
    pub(crate) fn direction(&self, rng: &mut ChaCha8Rng) -> Array2<f64> {
        unit(self.h.dim(), rng)
    }

    /// A symmetric gradient by P, of length 1 but for rounding to the type.
    pub(crate) fn upstream(&self, rng: &mut ChaCha8Rng) -> Array2<T> {
        let m = self.h.ncols();
        let g = unit((m, m), rng);
        Array2::from_shape_fn((m, m), |(i, j)| T::rounded(0.5 * (g[[i, j]] + g[[j, i]])))
    }

    /// The derivative along `direction` of `<G, sum_i weight_i u_i u_i^T>`, by
    /// central differences in full precision; in units of `H / scale`.
    pub(crate) fn difference(
        &self,
        direction: &Array2<f64>,
        step: f64,
        g: &Array2<f64>,
        weights: impl Fn(&Reference) -> Vec<Double>,
    ) -> f64 {
        let (n, m) = self.h.dim();
        let at = |step: f64| {
            let moved: Vec<Double> = self
                .scaled
                .iter()
                .zip(direction)
                .map(|(entry, along)| {
                    Double::from_f64(*entry) + Double::from_f64(step) * Double::from_f64(*along)
                })
                .collect();
            let reference = Reference::from_rows(&moved, n, m);
            reference.inner(g, &weights(&reference))
        };
        (at(step) - at(-step)).over(Double::from_f64(2.0 * step)).value()
    }

    /// `scale <gradient, direction>`, and how far rounding at the end of the
    /// type's range may have moved it; none if a value is beyond the range of gradients.
    pub(crate) fn along(&self, gradient: &Array2<T>, direction: &Array2<f64>) -> Option<(f64, f64)> {
        let largest = T::rounded(T::LARGEST_GRADIENT);
        if gradient.iter().any(|entry| entry.abs() >= largest) {
            return None;
        }
        let mut sum = 0.0;
        let mut slack = 0.0;
        for (entry, along) in gradient.iter().zip(direction) {
            sum += entry.as_f64() * self.scale * along;
            slack += T::OF.least * self.scale * along.abs();
        }
        Some((sum, slack))
    }
}

fn unit(shape: (usize, usize), rng: &mut ChaCha8Rng) -> Array2<f64> {
    let x: Array2<f64> = Array2::from_shape_simple_fn(shape, || StandardNormal.sample(rng));
    let length = x.iter().map(|entry| entry * entry).sum::<f64>().sqrt();
    x / length
}

/// The power of two at or below a positive number.
fn power_of_two(value: f64) -> f64 {
    let mut power = f64::MIN_POSITIVE;
    while power > value {
        power /= 2.0;
    }
    while power <= 0.5 * value {
        power *= 2.0;
    }
    power
}

pub(crate) fn frobenius(a: &Array2<f64>, b: &Array2<f64>) -> f64 {
    let squares = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b));
    squares.sum::<f64>().sqrt()
}
