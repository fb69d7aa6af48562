//! EGG on node embeddings: coordinates on the Grassmann manifold for the rows
//! of `H`.
//!
//! With the thin SVD `H = U S V^T` (n x m), the paper clusters the rows of the
//! projector `U_p U_p^T`, an n x n matrix. Its rows are the rows of `U_p` (n x p)
//! in other coordinates: `||e_i^T U_p U_p^T - e_j^T U_p U_p^T|| =
//! ||e_i^T U_p - e_j^T U_p||`, because the columns of `U_p` are orthonormal. The
//! mean of rows maps to the mean of rows, so k-means on either has the same
//! objective, and from the same start the same clusters. Here it is always
//! `U_p`, and no n x n matrix is ever made.
//!
//! ```
//! use egg_cluster::egg::{EggConfig, Weighting};
//! use egg_geometry::RankRule;
//! use ndarray::array;
//!
//! let h = array![[3.0f32, 0.0], [3.0, 0.0], [0.0, 1.0], [0.0, 1.0]];
//! let flat = EggConfig::new(RankRule::Ratio(1.0)).check()?.embed(h.view())?;
//! assert_eq!(flat.coordinates.dim(), (4, 2));
//! // The paper's coordinates forget that the first direction is three times as strong:
//! assert!((flat.coordinates[(0, 0)].abs() - flat.coordinates[(2, 1)].abs()).abs() < 1e-7);
//! // weighted by the singular values, they don't.
//! let config = EggConfig { weighting: Weighting::Spectral(1.0), ..EggConfig::new(RankRule::Ratio(1.0)) };
//! let weighted = config.check()?.embed(h.view())?;
//! assert!((weighted.coordinates[(0, 0)].abs() - 3.0).abs() < 1e-6);
//! # Ok::<(), egg_cluster::Error>(())
//! ```

mod linear_map;
mod randomised;

use std::fmt;
use std::str::FromStr;

use egg_geometry::{Factors, RankChoice, RankRule, Scalar, Workspace};
use ndarray::{Array1, Array2, ArrayView2, Axis};
use rand::Rng;
use serde::{Deserialize, Serialize};

pub use linear_map::{DenseMap, LinearMap, SparseMap};
use randomised::length;
pub use randomised::{RandomisedConfig, RandomisedSvd, TruncatedSvd};

use crate::error::{Error, Result, require};
use crate::text_form;

/// How the kept directions are weighted. The text form is `flat` or `spectral:0.5`; `spectral`
/// alone reads as `spectral:1`.
///
/// ```
/// use egg_cluster::egg::Weighting;
/// assert_eq!(serde_json::to_string(&Weighting::Spectral(0.5))?, r#"{"spectral":0.5}"#);
/// assert_eq!(serde_json::from_str::<Weighting>(r#""flat""#)?, Weighting::Flat);
/// assert_eq!(Weighting::Spectral(0.5).to_string(), "spectral:0.5");
/// assert_eq!("spectral".parse::<Weighting>()?, Weighting::Spectral(1.0));
/// assert!("spectral:inf".parse::<Weighting>().is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Weighting {
    /// All the same, as in the paper: rows of `U_p`.
    #[default]
    Flat,
    /// By a power of their singular values: rows of `U_p S_p^alpha`. With
    /// alpha = 1 these are the rows of the best approximation of `H` of rank p.
    Spectral(f64),
}

impl fmt::Display for Weighting {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        text_form::write(self, out)
    }
}

impl FromStr for Weighting {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let explicit = if text == "spectral" { "spectral:1" } else { text };
        text_form::read(explicit)
            .ok_or_else(|| Error::setting("weighting", text, "write flat, or spectral:X with a finite X"))
    }
}

/// Settings of EGG on node embeddings. [`Self::check`] makes an [`Egg`] of
/// them, which runs.
///
/// ```
/// use egg_cluster::egg::EggConfig;
/// use egg_geometry::RankRule;
///
/// let config: EggConfig = serde_json::from_str(r#"{"rank": {"ratio": 0.8}, "normalise_rows": true}"#)?;
/// assert_eq!(config, EggConfig { normalise_rows: true, ..EggConfig::new(RankRule::Ratio(0.8)) });
/// assert!(EggConfig::new(RankRule::Ratio(80.0)).check().is_err());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EggConfig {
    /// How many directions are kept; `Ratio` counts the columns of `H`.
    pub rank: RankRule,
    /// How they are weighted.
    #[serde(default)]
    pub weighting: Weighting,
    /// Whether each row is then divided by its length (a zero row stays zero).
    #[serde(default)]
    pub normalise_rows: bool,
}

impl EggConfig {
    /// The paper's: flat weights, rows as they are.
    pub fn new(rank: RankRule) -> Self {
        Self {
            rank,
            weighting: Weighting::default(),
            normalise_rows: false,
        }
    }

    /// Checks every setting.
    ///
    /// # Errors
    /// [`Error::Geometry`] for a rank rule out of range, [`Error::Setting`] for
    /// an alpha that is not finite.
    pub fn check(self) -> Result<Egg> {
        self.rank.validate()?;
        if let Weighting::Spectral(alpha) = self.weighting {
            require(alpha.is_finite(), "alpha", alpha, "it must be finite")?;
        }
        Ok(Egg { config: self })
    }
}

/// EGG with settings that have been checked; see [`EggConfig`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Egg {
    config: EggConfig,
}

/// The rows of `H` on the Grassmann manifold.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct EggCoordinates {
    /// n x p, one row per node; p = 0 for a zero `H`. The signs of the columns
    /// mean nothing.
    pub coordinates: Array2<f64>,
    /// Of `H`, descending; all of them (min(n, m)) or, of a randomised
    /// decomposition, the first few.
    pub singular_values: Array1<f64>,
    /// How p was chosen; `choice.captured` is the share of the sum of the
    /// singular values (of those above) that is kept, the y% of the paper's
    /// Table 5.
    pub choice: RankChoice,
    /// The share of the squares that is kept, `sum_{i<=p} sigma_i^2 / ||H||_F^2`;
    /// 0 for a zero `H`.
    pub captured_squares: f64,
}

impl Egg {
    /// The settings.
    pub fn config(&self) -> &EggConfig {
        &self.config
    }

    /// Coordinates of the rows of an n x m matrix.
    ///
    /// The decomposition is [`Factors`]': an f64 Gram matrix of the smaller side
    /// where it is as good as an SVD, an SVD otherwise.
    ///
    /// # Complexity
    /// `O(n m min(n, m))`; memory for three copies of `H` in f64.
    ///
    /// # Errors
    /// [`Error::Geometry`] if `H` is empty, has an entry that is not finite or
    /// can't be decomposed; [`Error::Setting`] if singular values to the power
    /// of alpha leave the range of numbers.
    pub fn embed<T: Scalar>(&self, h: ArrayView2<'_, T>) -> Result<EggCoordinates> {
        if h.is_empty() {
            return Err(Error::Empty { what: "H" });
        }
        // Here, and not below, where a bad entry would be named by its place in H^T.
        if let Some(((row, column), value)) = h.indexed_iter().find(|(_, x)| !x.is_finite()) {
            return Err(Error::NonFinite {
                what: "H",
                row,
                column,
                value: value.as_f64(),
            });
        }
        let mut factors = Factors::new();
        factors.compute(h.t(), self.rule_for(h.ncols()), &mut Workspace::new())?;
        let mut singular_values: Array1<f64> = factors.singular_values().collect();
        if singular_values.is_empty() {
            singular_values = Array1::zeros(h.nrows().min(h.ncols()));
        }
        let choice = factors.choice();
        let share = share_of_squares(&singular_values, choice.p, length(&singular_values));
        self.finish(factors.basis(), singular_values, choice, share)
    }

    /// Coordinates of the rows of a wide or sparse matrix, from a randomised
    /// decomposition: the first singular values only.
    ///
    /// # Errors
    /// As [`RandomisedSvd::run`] and [`Self::embed`]; [`Error::Setting`] for the
    /// rule `Energy`, which needs all singular values, and if the rule wants
    /// more directions than `svd` finds.
    ///
    /// ```
    /// use egg_cluster::egg::{DenseMap, EggConfig, RandomisedConfig};
    /// use egg_geometry::RankRule;
    /// use ndarray::Array2;
    /// use rand::SeedableRng;
    /// use rand_chacha::ChaCha8Rng;
    ///
    /// let h = Array2::from_shape_fn((50, 400), |(i, j)| ((i % 5) * (j % 7)) as f32);
    /// let egg = EggConfig::new(RankRule::Fixed(1)).check()?;
    /// let svd = RandomisedConfig::new(4).check()?;
    /// let rng = &mut ChaCha8Rng::seed_from_u64(0);
    /// let rows = egg.embed_wide(&DenseMap::new(h.view())?, &svd, rng)?;
    /// assert_eq!((rows.coordinates.dim(), rows.choice.numerical_rank), ((50, 1), 1));
    /// # Ok::<(), egg_cluster::Error>(())
    /// ```
    pub fn embed_wide<M: LinearMap, R: Rng + ?Sized>(
        &self,
        h: &M,
        svd: &RandomisedSvd,
        rng: &mut R,
    ) -> Result<EggCoordinates> {
        if let RankRule::Energy(r) = self.config.rank {
            return Err(Error::setting(
                "rank",
                format!("Energy({r})"),
                "it needs every singular value: use Fixed, Ratio, Threshold, Relative or Squares, or an exact decomposition",
            ));
        }
        let shape = h.shape();
        let found = svd.run(h, rng)?;
        let values = found.s.to_vec();
        let choice = self
            .config
            .rank
            .choose_for::<M::Scalar>(&values, shape.1, found.norm)?;
        let shorter = shape.0.min(shape.1);
        let all = values.len() < svd.config().components.min(shorter)
            || values.len() == shorter
            || choice.numerical_rank < values.len();
        require(
            all || (choice.p < values.len() && choice.by_rule <= values.len()),
            "components",
            svd.config().components,
            "the rank rule wants more directions than that: raise it",
        )?;
        let share = share_of_squares(&found.s, choice.p, found.norm);
        let basis = found.u.slice(ndarray::s![.., ..choice.p]).to_owned();
        self.finish(basis, found.s, choice, share)
    }

    /// The rule with a ratio of columns counted out: the decomposition is of
    /// `H^T`, whose columns are the nodes.
    fn rule_for(&self, columns: usize) -> RankRule {
        match self.config.rank {
            RankRule::Ratio(x) => {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "a validated ratio of a column count"
                )]
                let p = (x * columns as f64 - 1e-9).ceil() as usize;
                RankRule::Fixed(p.max(1))
            }
            other => other,
        }
    }

    fn finish(
        &self,
        mut coordinates: Array2<f64>,
        singular_values: Array1<f64>,
        choice: RankChoice,
        captured_squares: f64,
    ) -> Result<EggCoordinates> {
        if let Weighting::Spectral(alpha) = self.config.weighting {
            for (mut column, sigma) in coordinates.columns_mut().into_iter().zip(&singular_values) {
                let weight = sigma.powf(alpha);
                require(
                    weight.is_finite(),
                    "alpha",
                    alpha,
                    "a singular value to this power is out of range: divide H by its largest entry first",
                )?;
                column *= weight;
            }
        }
        if self.config.normalise_rows {
            for mut row in coordinates.axis_iter_mut(Axis(0)) {
                let largest = row.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
                if largest > 0.0 {
                    row /= largest;
                    let length = row.iter().map(|x| x * x).sum::<f64>().sqrt();
                    row /= length;
                }
            }
        }
        Ok(EggCoordinates {
            coordinates,
            singular_values,
            choice,
            captured_squares,
        })
    }
}

/// `sum_{i<=p} sigma_i^2 / ||H||_F^2`
fn share_of_squares(values: &Array1<f64>, p: usize, norm: f64) -> f64 {
    if norm == 0.0 {
        return 0.0;
    }
    let kept: f64 = values.iter().take(p).map(|value| (value / norm).powi(2)).sum();
    kept.min(1.0)
}
