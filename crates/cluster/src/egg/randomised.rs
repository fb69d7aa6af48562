//! The first singular values and vectors of a large matrix, by random
//! projection (Halko, Martinsson and Tropp, 2011).

use egg_geometry::dense;
use ndarray::{Array1, Array2, s};
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};
use serde::{Deserialize, Serialize};

use super::linear_map::LinearMap;
use crate::error::{Result, require};
use crate::tall;

/// Settings of the randomised decomposition.
///
/// ```
/// use egg_cluster::egg::{DenseMap, RandomisedConfig};
/// use ndarray::Array2;
/// use rand::SeedableRng;
/// use rand_chacha::ChaCha8Rng;
///
/// let a = Array2::from_diag(&ndarray::array![9.0, 5.0, 1.0, 0.5]);
/// let svd = RandomisedConfig::new(2).check()?;
/// let found = svd.run(&DenseMap::new(a.view())?, &mut ChaCha8Rng::seed_from_u64(0))?;
/// assert!((found.s[1] - 5.0).abs() < 1e-10);
/// # Ok::<(), egg_cluster::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RandomisedConfig {
    /// How many singular values are wanted, at least 1.
    pub components: usize,
    /// How many more directions are followed, for accuracy.
    #[serde(default = "defaults::oversampling")]
    pub oversampling: usize,
    /// How often the directions are multiplied by `A^T` and `A` again. Each
    /// time brings the error of `sigma_i` down by about
    /// `(sigma_{l+1} / sigma_i)^4`, l = components + oversampling.
    #[serde(default = "defaults::power_iterations")]
    pub power_iterations: usize,
}

mod defaults {
    pub(super) fn oversampling() -> usize {
        10
    }
    pub(super) fn power_iterations() -> usize {
        7
    }
}

impl RandomisedConfig {
    /// 10 directions more than are wanted, 7 power iterations.
    pub fn new(components: usize) -> Self {
        Self {
            components,
            oversampling: defaults::oversampling(),
            power_iterations: defaults::power_iterations(),
        }
    }

    /// Checks every setting.
    ///
    /// # Errors
    /// [`Error::Setting`](crate::Error::Setting) for no components.
    pub fn check(self) -> Result<RandomisedSvd> {
        require(
            self.components >= 1,
            "components",
            self.components,
            "it must be at least 1",
        )?;
        Ok(RandomisedSvd { config: self })
    }
}

/// The randomised decomposition with settings that have been checked; see
/// [`RandomisedConfig`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RandomisedSvd {
    config: RandomisedConfig,
}

/// The first r singular values of an n x m matrix with their vectors:
/// `A ~ U diag(s) V^T`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TruncatedSvd {
    /// n x r, orthonormal columns.
    pub u: Array2<f64>,
    /// r, descending.
    pub s: Array1<f64>,
    /// r x m, orthonormal rows.
    pub vt: Array2<f64>,
    /// `||A||_F`: by what the matrix knows of itself, or else estimated from what was
    /// found and what random vectors show of the rest.
    pub norm: f64,
}

impl RandomisedSvd {
    /// The settings.
    pub fn config(&self) -> &RandomisedConfig {
        &self.config
    }

    /// Decomposes a matrix. There may be fewer values than wanted: directions
    /// below 1e-7 of the strongest are not found. A zero matrix has one value, 0.
    ///
    /// # Complexity
    /// `2 (power_iterations + 1)` products of the matrix with l = components +
    /// oversampling columns, and `O((n + m) l^2)`.
    ///
    /// # Errors
    /// [`Error::Geometry`](crate::Error::Geometry) if numbers leave their range.
    pub fn run<M: LinearMap, R: Rng + ?Sized>(&self, a: &M, rng: &mut R) -> Result<TruncatedSvd> {
        self.run_from(a, Array2::zeros((0, a.shape().1)), rng)
    }

    /// As [`Self::run`], from what is known of the right singular vectors (one per row): those of a similar matrix.
    /// Then fewer power iterations do.
    pub(crate) fn run_from<M: LinearMap, R: Rng + ?Sized>(
        &self,
        a: &M,
        known: Array2<f64>,
        rng: &mut R,
    ) -> Result<TruncatedSvd> {
        let (n, m) = a.shape();
        let shorter = n.min(m);
        let width = self
            .config
            .components
            .saturating_add(self.config.oversampling)
            .min(shorter);
        let mut start = Array2::from_shape_simple_fn((m, width), || StandardNormal.sample(rng));
        for (mut column, row) in start.columns_mut().into_iter().zip(known.rows()) {
            column.assign(&row);
        }
        let mut basis = tall::orthonormal(&a.apply(&start)?)?;
        for _ in 0..self.config.power_iterations {
            let back = tall::orthonormal(&a.apply_transposed(&basis)?)?;
            basis = tall::orthonormal(&a.apply(&back)?)?;
        }
        if basis.ncols() == 0 {
            return Ok(TruncatedSvd {
                u: unit(n, 1),
                s: Array1::zeros(1),
                vt: unit(m, 1).reversed_axes(),
                norm: 0.0,
            });
        }
        // A ~ Q (A^T Q)^T, and A^T Q = W S Z^T gives A ~ (Q Z) S W^T.
        let svd = dense::thin_svd(a.apply_transposed(&basis)?.view())?;
        let norm = match a.sum_of_squares() {
            Some(squares) if squares.is_finite() => squares.sqrt(),
            _ => length(&svd.s).hypot(residual(a, &basis, rng)?),
        };
        let kept = self.config.components.min(svd.s.len());
        let rotation = svd.vt.t();
        Ok(TruncatedSvd {
            u: tall::times(&basis, rotation.slice(s![.., ..kept]))?,
            s: svd.s.slice(s![..kept]).to_owned(),
            vt: svd.u.slice(s![.., ..kept]).t().as_standard_layout().into_owned(),
            norm: norm.max(length(&svd.s)),
        })
    }
}

/// Random vectors for the estimate of what a basis leaves over: its relative error is
/// at most about `sqrt(2 / PROBES)`, and only an order of magnitude matters.
const PROBES: usize = 8;

/// An estimate of `||A - Q Q^T A||_F`: of a Gaussian vector x, `||(A - Q Q^T A) x||^2`
/// is expected to be its square.
fn residual<M: LinearMap, R: Rng + ?Sized>(a: &M, basis: &Array2<f64>, rng: &mut R) -> Result<f64> {
    let probes = Array2::from_shape_simple_fn((a.shape().1, PROBES), || StandardNormal.sample(rng));
    let images = a.apply(&probes)?;
    let inside = tall::times(basis, tall::cross(basis, &images)?.view())?;
    Ok(length(&(images - inside)) / (PROBES as f64).sqrt())
}

/// The root of the sum of squares, whatever the range of the numbers.
pub(super) fn length<D: ndarray::Dimension>(numbers: &ndarray::Array<f64, D>) -> f64 {
    let largest = numbers.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
    if largest == 0.0 {
        return 0.0;
    }
    numbers.iter().map(|x| (x / largest).powi(2)).sum::<f64>().sqrt() * largest
}

fn unit(rows: usize, columns: usize) -> Array2<f64> {
    Array2::from_shape_fn((rows, columns), |(row, column)| {
        f64::from(u8::from(row == column))
    })
}
