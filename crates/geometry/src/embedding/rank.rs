//! Rank rules: how many directions a subspace keeps.

use crate::error::{Error, Result};
use crate::scalar::{Scalar, power_of_two_below};
use crate::tuning::accuracy::{INPUT_ROUNDING, NORM_SLACK, SVD_NOISE};

/// How the dimension p of a subspace is chosen from the singular values
/// `sigma_1 >= sigma_2 >= ...` of an n x m matrix `H`.
///
/// | rule | p |
/// |---|---|
/// | `Fixed(p)` | p |
/// | `Ratio(x)` | `ceil(x m - 1e-9)`, m the columns of `H` |
/// | `Threshold(r)` | number of `sigma_i > r` |
/// | `Relative(r)` | number of `sigma_i > r sigma_1` |
/// | `Energy(r)` | least p with `sum_{i<=p} sigma_i >= r sum_i sigma_i` (values, not squares) |
/// | `Squares(r)` | least p with `sum_{i<=p} sigma_i^2 >= r \|\|H\|\|_F^2` |
///
/// Singular values are known up to a *noise* of `2 eps ||H||_F`, eps of the input's
/// type (what rounding the input can do to them), or `16 eps sigma_1` of f64 where
/// that is larger (what our own SVD does). It does not grow with n. For every rule,
/// - p is at most the numerical rank, the number of `sigma_i` above the noise;
/// - p is at least 1, unless `H` is zero: then p = 0;
/// - a value that passes a rule's bound by no more than the noise counts as equal to
///   the bound. Values that meet a bound exactly are thus decided independently of the
///   order of the rows; this moves the point where p jumps, and does not remove the jump;
/// - p never cuts a group of tied singular values: it extends to the end of the
///   group (as far as the numerical rank), because which vectors of a tied group
///   come first is an accident of rounding. Two neighbours are tied when they
///   differ by no more than
///   [`Scalar::TIE_TOLERANCE`](crate::Scalar::TIE_TOLERANCE) relative to the
///   larger plus twice the noise.
///
/// [`RankChoice`] says which of these took effect.
///
/// ```
/// use egg_geometry::{RankRule, rectify};
/// use ndarray::array;
///
/// // Singular values 3, 1, 1.
/// let h = array![[3.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
/// let choice = rectify(h.view(), RankRule::Energy(0.6))?.choice;
/// assert_eq!((choice.p, choice.extended_by_tie), (1, false));
/// let choice = rectify(h.view(), RankRule::Fixed(2))?.choice;
/// assert_eq!((choice.p, choice.extended_by_tie), (3, true));
/// # Ok::<(), egg_geometry::Error>(())
/// ```
///
/// With the feature `serde` a rule is written as its name and its number, as
/// `{ threshold = 0.5 }` in TOML. Reading does not [validate](Self::validate).
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
#[non_exhaustive]
pub enum RankRule {
    /// The first p directions; p >= 1.
    Fixed(usize),
    /// A share x of the columns of `H`; 0 < x <= 1.
    Ratio(f64),
    /// Singular values above r as they are; r >= 0.
    Threshold(f64),
    /// Singular values above `r sigma_1`; 0 <= r < 1.
    Relative(f64),
    /// The fewest directions whose singular values, not their squares, make up the
    /// share r of the sum; 0 < r <= 1. The paper's "percentage of information".
    Energy(f64),
    /// The fewest directions whose squared singular values make up the share r of
    /// `||H||_F^2`; 0 < r <= 1. What others call explained variance, of data that is
    /// not centred.
    Squares(f64),
}

impl RankRule {
    /// Checks the parameter.
    ///
    /// # Errors
    /// [`Error::Parameter`] if it is outside the range the variant gives.
    ///
    /// ```
    /// use egg_geometry::RankRule;
    ///
    /// assert!(RankRule::Ratio(0.8).validate().is_ok());
    /// assert!(RankRule::Ratio(80.0).validate().is_err());
    /// assert!(RankRule::Threshold(f64::NAN).validate().is_err());
    /// ```
    pub fn validate(self) -> Result<()> {
        let (ok, name, value, requirement) = match self {
            Self::Fixed(p) => (p >= 1, "Fixed(p)", p as f64, "p must be at least 1"),
            Self::Ratio(x) => (x > 0.0 && x <= 1.0, "Ratio(x)", x, "x must be in (0, 1]"),
            Self::Threshold(r) => (
                r >= 0.0 && r.is_finite(),
                "Threshold(r)",
                r,
                "r must be finite and not negative",
            ),
            Self::Relative(r) => ((0.0..1.0).contains(&r), "Relative(r)", r, "r must be in [0, 1)"),
            Self::Energy(r) => (r > 0.0 && r <= 1.0, "Energy(r)", r, "r must be in (0, 1]"),
            Self::Squares(r) => (r > 0.0 && r <= 1.0, "Squares(r)", r, "r must be in (0, 1]"),
        };
        if ok {
            return Ok(());
        }
        Err(Error::Parameter {
            name,
            value,
            requirement,
        })
    }

    /// The number of the rule, to change it; a count of directions is none.
    ///
    /// ```
    /// use egg_geometry::RankRule;
    ///
    /// let mut rule = RankRule::Ratio(0.8);
    /// *rule.bound_mut().unwrap() = 0.5;
    /// assert_eq!(rule, RankRule::Ratio(0.5));
    /// assert!(RankRule::Fixed(3).bound_mut().is_none());
    /// ```
    pub fn bound_mut(&mut self) -> Option<&mut f64> {
        match self {
            Self::Fixed(_) => None,
            Self::Ratio(bound)
            | Self::Threshold(bound)
            | Self::Relative(bound)
            | Self::Energy(bound)
            | Self::Squares(bound) => Some(bound),
        }
    }

    /// The rule's own p, before the cap, the floor and the ties.
    fn count(self, spectrum: &Spectrum<'_>) -> usize {
        let (sigma, noise) = (spectrum.sigma, spectrum.noise());
        let largest = spectrum.largest();
        match self {
            Self::Fixed(p) => p,
            Self::Ratio(x) => {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "a validated ratio of a column count"
                )]
                let p = (x * spectrum.columns as f64 - 1e-9).ceil() as usize;
                p
            }
            // Scaled values: a threshold on sigma is one on sigma / scale.
            Self::Threshold(r) => spectrum.above(r / spectrum.scale),
            Self::Relative(r) => spectrum.above(r * largest),
            // The whole share is all values above the noise: left to the cap, not to a sum.
            Self::Energy(1.0) | Self::Squares(1.0) => sigma.len(),
            Self::Energy(r) => {
                let total: f64 = sigma.iter().sum();
                first_to_reach(r * total - noise, sigma.iter().copied())
            }
            Self::Squares(r) => {
                let wanted = r * spectrum.norm * spectrum.norm - 2.0 * noise * largest;
                first_to_reach(wanted, sigma.iter().map(|value| value * value))
            }
        }
    }

    /// What the rule decides for a matrix of `columns` columns with entries of type
    /// `T`, whose singular values, descending, are already known: for callers that decompose by
    /// other means than [`rectify`](crate::rectify).
    ///
    /// `norm` is `||H||_F`, which sets the noise level. If the values are only the first few it is
    /// the root of the sum of their squares and of the squares of the rest,
    /// and `captured` and `Energy` count only these values.
    ///
    /// # Errors
    /// [`Error::Parameter`] if the rule is out of range, if the values are
    /// not finite, not negative and descending, or if the norm is not finite or
    /// smaller than they are.
    ///
    /// ```
    /// use egg_geometry::RankRule;
    ///
    /// let choice = RankRule::Ratio(0.5).choose_for::<f32>(&[4.0, 2.0, 1.0, 0.5], 4, 4.61)?;
    /// assert_eq!(choice.p, 2);
    /// # Ok::<(), egg_geometry::Error>(())
    /// ```
    pub fn choose_for<T: Scalar>(
        self,
        singular_values: &[f64],
        columns: usize,
        norm: f64,
    ) -> Result<RankChoice> {
        self.validate()?;
        let bad = singular_values.iter().enumerate().find(|&(at, &value)| {
            !value.is_finite() || value < 0.0 || (at > 0 && singular_values[at - 1] < value)
        });
        if let Some((_, &value)) = bad {
            return Err(Error::Parameter {
                name: "singular value",
                value,
                requirement: "they must be finite, not negative and descending",
            });
        }
        // Of the ratios: squares of the values could leave the range of numbers.
        let largest = singular_values.first().copied().unwrap_or(0.0);
        let least = norm_of(singular_values.iter().map(|value| value / largest)) * largest;
        if largest > 0.0 && !(norm.is_finite() && norm >= least * (1.0 - NORM_SLACK)) {
            return Err(Error::Parameter {
                name: "norm",
                value: norm,
                requirement: "it must be finite and at least the root of the sum of the squared singular values",
            });
        }
        let scale = power_of_two_below(largest);
        let scaled: Vec<f64> = singular_values.iter().map(|value| value / scale).collect();
        Ok(self.choose(&Spectrum {
            sigma: &scaled,
            scale,
            norm: norm / scale,
            columns,
            eps: T::eps(),
            tie_tolerance: T::TIE_TOLERANCE,
        }))
    }

    /// Applies the rule with its cap, floor and tie extension.
    pub(crate) fn choose(self, spectrum: &Spectrum<'_>) -> RankChoice {
        let numerical_rank = spectrum.numerical_rank();
        let by_rule = self.count(spectrum);
        let capped = by_rule.min(numerical_rank).max(usize::from(numerical_rank > 0));
        RankChoice {
            by_rule,
            ..RankChoice::at(spectrum.end_of_tie(capped), capped, spectrum)
        }
    }
}

/// What a [`RankRule`] decided for one matrix, and why.
///
/// ```
/// use egg_geometry::{RankRule, rectify};
/// use ndarray::array;
///
/// // Two parallel rows: rank 1 for any rule.
/// let h = array![[1.0, 2.0, 0.0], [2.0, 4.0, 0.0]];
/// let choice = rectify(h.view(), RankRule::Fixed(2))?.choice;
/// assert_eq!((choice.p, choice.by_rule, choice.numerical_rank), (1, 2, 1));
/// assert!((choice.captured - 1.0).abs() < 1e-12);
/// # Ok::<(), egg_geometry::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct RankChoice {
    /// The dimension that is kept.
    pub p: usize,
    /// What the rule would keep without cap, floor and ties.
    pub by_rule: usize,
    /// Singular values above the noise of the input's type.
    pub numerical_rank: usize,
    /// Whether p was raised to the end of a group of tied singular values.
    pub extended_by_tie: bool,
    /// The share of the spectrum that is kept, `sum_{i<=p} sigma_i / sum_i
    /// sigma_i`; 0 for a zero matrix.
    pub captured: f64,
    /// The relative gap at the cut, `(sigma_p - sigma_{p+1}) / sigma_1`, with `sigma_{p+1} = 0` if
    /// there is none; 0 for a zero matrix.
    pub gap: f64,
}

impl RankChoice {
    /// The choice of exactly p, regardless of ties.
    pub(crate) fn at(p: usize, capped: usize, spectrum: &Spectrum<'_>) -> Self {
        let sigma = spectrum.sigma;
        let total: f64 = sigma.iter().sum();
        let largest = sigma.first().copied().unwrap_or(0.0);
        let value = |index: usize| sigma.get(index).copied().unwrap_or(0.0);
        let (captured, gap) = if p == 0 || total == 0.0 {
            (0.0, 0.0)
        } else {
            (
                sigma.iter().take(p).sum::<f64>() / total,
                (value(p - 1) - value(p)) / largest,
            )
        };
        Self {
            p,
            by_rule: p,
            numerical_rank: spectrum.numerical_rank(),
            extended_by_tie: p > capped,
            captured,
            gap,
        }
    }
}

/// The singular values of a matrix and what else a rule needs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spectrum<'a> {
    /// Descending, of `H / scale`.
    pub(crate) sigma: &'a [f64],
    /// What `H` was divided by.
    pub(crate) scale: f64,
    /// `||H / scale||_F`
    pub(crate) norm: f64,
    /// m, for `Ratio`.
    pub(crate) columns: usize,
    /// Machine epsilon of the input's type.
    pub(crate) eps: f64,
    /// Relative tolerance for ties of the input's type.
    pub(crate) tie_tolerance: f64,
}

impl Spectrum<'_> {
    fn largest(&self) -> f64 {
        self.sigma.first().copied().unwrap_or(0.0)
    }

    /// How far a singular value can be from what it would be without rounding.
    pub(crate) fn noise(&self) -> f64 {
        (INPUT_ROUNDING * self.eps * self.norm).max(SVD_NOISE * self.largest())
    }

    /// Number of singular values above a bound by more than the noise.
    fn above(&self, bound: f64) -> usize {
        let bound = bound + self.noise();
        self.sigma.iter().take_while(|&&value| value > bound).count()
    }

    /// Number of singular values above the noise, and at least 1 unless all are 0.
    pub(crate) fn numerical_rank(&self) -> usize {
        self.above(0.0).max(usize::from(self.largest() > 0.0))
    }

    /// The least p' >= p such that the cut after p' splits no tied group, or
    /// the numerical rank if the group extends into the noise.
    fn end_of_tie(&self, p: usize) -> usize {
        if p == 0 {
            return 0;
        }
        let noise = self.noise();
        let tied = |pair: &[f64]| pair[0] - pair[1] <= self.tie_tolerance * pair[0] + 2.0 * noise;
        p + self.sigma[..self.numerical_rank()]
            .windows(2)
            .skip(p - 1)
            .take_while(|pair| tied(pair))
            .count()
    }
}

/// The least number of first values that add up to `wanted`; all if they don't.
fn first_to_reach(wanted: f64, values: impl ExactSizeIterator<Item = f64>) -> usize {
    let count = values.len();
    let mut sum = 0.0;
    let mut values = values;
    values
        .position(|value| {
            sum += value;
            sum >= wanted
        })
        .map_or(count, |last| last + 1)
}

/// The root of the sum of squares.
pub(crate) fn norm_of(values: impl Iterator<Item = f64>) -> f64 {
    values.map(|value| value * value).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choose(rule: RankRule, sigma: &[f64]) -> RankChoice {
        rule.choose(&Spectrum {
            sigma,
            scale: 1.0,
            norm: norm_of(sigma.iter().copied()),
            columns: 10,
            eps: f64::EPSILON,
            tie_tolerance: 1e-10,
        })
    }

    #[test]
    fn rank_rules_match_hand_calculation() {
        let sigma = [4.0, 2.0, 1.0, 0.5, 0.25];
        for (rule, p) in [
            (RankRule::Fixed(2), 2),
            (RankRule::Fixed(99), 5),
            (RankRule::Ratio(0.3), 3),
            (RankRule::Ratio(0.21), 3),
            (RankRule::Ratio(0.2), 2),
            (RankRule::Threshold(0.5), 3),
            (RankRule::Threshold(0.49), 4),
            (RankRule::Threshold(100.0), 1),
            (RankRule::Relative(0.5), 1),
            (RankRule::Relative(0.1), 4),
            (RankRule::Relative(0.0), 5),
            // 4 / 7.75 = 0.516, 6 / 7.75 = 0.774, 7 / 7.75 = 0.903
            (RankRule::Energy(0.5), 1),
            (RankRule::Energy(0.6), 2),
            (RankRule::Energy(0.8), 3),
            (RankRule::Energy(1.0), 5),
            // 16 / 21.3125 = 0.751, 20 / 21.3125 = 0.938, 21 / 21.3125 = 0.985
            (RankRule::Squares(0.75), 1),
            (RankRule::Squares(0.9), 2),
            (RankRule::Squares(0.95), 3),
            (RankRule::Squares(1.0), 5),
        ] {
            assert_eq!(choose(rule, &sigma).p, p, "{rule:?}");
        }
    }

    #[test]
    fn bound_met_exactly_is_not_exceeded_by_rounding() {
        for wobble in [1.0 - 2e-16, 1.0, 1.0 + 2e-16] {
            assert_eq!(choose(RankRule::Threshold(1.0), &[2.0, wobble]).p, 1);
            assert_eq!(choose(RankRule::Energy(0.75), &[3.0, wobble]).p, 1);
            assert_eq!(choose(RankRule::Relative(0.5), &[2.0, wobble]).p, 1);
            assert_eq!(choose(RankRule::Squares(0.9), &[3.0, wobble]).p, 1);
        }
    }

    #[test]
    fn ties_are_never_split() {
        let choice = choose(RankRule::Fixed(2), &[2.0, 1.0, 1.0 - 1e-13, 1.0 - 2e-13, 0.5]);
        assert_eq!((choice.p, choice.extended_by_tie), (4, true));
        let choice = choose(RankRule::Fixed(2), &[2.0, 1.0, 1.0 - 1e-6]);
        assert_eq!((choice.p, choice.extended_by_tie), (2, false));
    }

    #[test]
    fn ties_do_not_extend_into_the_noise() {
        // Within twice the noise of each other, but one is below it and one above.
        let (above, below) = (17.0 * f64::EPSILON, 15.0 * f64::EPSILON);
        let choice = choose(RankRule::Fixed(2), &[1.0, above, below, 0.0]);
        assert_eq!(
            (choice.p, choice.numerical_rank, choice.extended_by_tie),
            (2, 2, false)
        );
    }

    #[test]
    fn noise_is_relative_to_the_norm_of_the_matrix() {
        let choose = |values: &[f64], norm| {
            RankRule::Fixed(9)
                .choose_for::<f32>(values, 9, norm)
                .map(|choice| choice.p)
        };
        assert_eq!(choose(&[1.0, 1e-6], 1.0), Ok(2));
        // Not all of the spectrum is passed, but the norm is that of all of it.
        assert_eq!(choose(&[1.0, 1e-6], 5.0), Ok(1));
        assert_eq!(choose(&[1.0, 2e-7], 1.0), Ok(1));
        // Even a norm that drowns everything leaves the first.
        assert_eq!(choose(&[1.0], 1e9), Ok(1));
        assert_eq!(choose(&[0.0, 0.0], 0.0), Ok(0));
        for scale in [1e-300, 1e300] {
            assert_eq!(choose(&[scale, 1e-6 * scale, 1e-7 * scale], scale), Ok(2));
        }
        for bad in [0.5, f64::NAN, f64::INFINITY] {
            assert!(choose(&[1.0, 0.5], bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn external_singular_values_follow_the_same_rule_and_are_validated() {
        let sigma = [4.0, 2.0, 1.0, 1.0 - 1e-13, 1e-17];
        let norm = norm_of(sigma.iter().copied());
        let choice = RankRule::Fixed(3).choose_for::<f64>(&sigma, 10, norm).unwrap();
        assert_eq!(choice, choose(RankRule::Fixed(3), &sigma));
        assert_eq!((choice.p, choice.numerical_rank), (4, 4));
        for bad in [&[1.0, 2.0][..], &[f64::NAN], &[1.0, -1.0], &[f64::INFINITY]] {
            assert!(RankRule::Fixed(1).choose_for::<f64>(bad, 2, 9.0).is_err());
        }
        assert!(RankRule::Fixed(0).choose_for::<f64>(&[1.0], 2, 1.0).is_err());
    }

    #[test]
    fn noise_does_not_count_as_rank_and_zero_matrix_has_rank_0() {
        let choice = choose(RankRule::Fixed(3), &[1.0, 1e-3, 1e-17]);
        assert_eq!((choice.p, choice.numerical_rank), (2, 2));
        let choice = choose(RankRule::Ratio(1.0), &[0.0, 0.0]);
        assert_eq!((choice.p, choice.captured, choice.gap), (0, 0.0, 0.0));
        assert_eq!(choose(RankRule::Fixed(1), &[]).p, 0);
    }
}
