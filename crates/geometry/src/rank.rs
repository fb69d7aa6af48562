//! How many directions a subspace keeps.

use crate::error::{Error, Result};
use crate::scalar::Scalar;

/// Values within this of a rule's bound, relative to it, count as equal to the
/// bound: rounding in the decomposition (which differs between orders of the
/// same rows) must not decide the rank.
const BOUND_SLACK: f64 = 1e-12;

/// How the dimension p of a subspace is chosen from the singular values
/// `sigma_1 >= sigma_2 >= ...` of an n x m matrix `H`.
///
/// | rule | p |
/// |---|---|
/// | `Fixed(p)` | p |
/// | `Ratio(x)` | `ceil(x m - 1e-9)`, m the columns of `H` |
/// | `Threshold(r)` | number of `sigma_i > r` |
/// | `Relative(r)` | number of `sigma_i > r sigma_1` |
/// | `Energy(r)` | least p with `sum_{i<=p} sigma_i >= r sum_i sigma_i` |
///
/// Whatever the rule says,
/// - p is at most the numerical rank, the number of
///   `sigma_i > eps max(m, n) sigma_1` with eps of the input's type;
/// - p is at least 1, unless `H` is zero: then p = 0;
/// - a value within 1e-12 of a rule's bound, relative to it, counts as equal to
///   the bound (so `Energy(1.0)` leaves out what adds less than 1e-12 of the sum);
/// - p never cuts a group of tied singular values: it extends to the end of the
///   group (as far as the numerical rank), because which vectors of a tied group
///   come first is an accident of rounding. Two neighbours are tied when they
///   differ by no more than
///   [`Scalar::TIE_TOLERANCE`](crate::Scalar::TIE_TOLERANCE) relative to the
///   larger plus `4 eps sigma_1`.
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
pub enum RankRule {
    /// The first p directions; p >= 1.
    Fixed(usize),
    /// A share x of the columns of `H`; 0 < x <= 1.
    Ratio(f64),
    /// Singular values above r as they are; r >= 0.
    Threshold(f64),
    /// Singular values above `r sigma_1`; 0 <= r < 1.
    Relative(f64),
    /// The fewest directions whose singular values make up the share r of the
    /// sum; 0 < r <= 1.
    Energy(f64),
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

    /// The rule's own p, before the cap, the floor and the ties.
    fn count(self, spectrum: &Spectrum<'_>) -> usize {
        let sigma = spectrum.sigma;
        // Scaled values: a threshold on sigma is one on sigma / scale.
        let above = |bound: f64| {
            let bound = bound * (1.0 + BOUND_SLACK);
            sigma.iter().take_while(|&&value| value > bound).count()
        };
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
            Self::Threshold(r) => above(r / spectrum.scale),
            Self::Relative(r) => above(r * sigma.first().copied().unwrap_or(0.0)),
            Self::Energy(r) => {
                let total: f64 = sigma.iter().sum();
                let wanted = r * total * (1.0 - BOUND_SLACK);
                let mut sum = 0.0;
                sigma
                    .iter()
                    .position(|value| {
                        sum += value;
                        sum >= wanted
                    })
                    .map_or(sigma.len(), |last| last + 1)
            }
        }
    }

    /// What the rule decides for a matrix of `shape` (n, m) with entries of
    /// type `T` whose singular values, descending, are already known: for those
    /// who decompose by other means than [`rectify`](crate::rectify).
    ///
    /// If the values are only the first few, `captured` counts only these.
    ///
    /// # Errors
    /// [`Error::Parameter`] if the rule is out of range, or if the values are
    /// not finite, not negative and descending.
    ///
    /// ```
    /// use egg_geometry::RankRule;
    ///
    /// let choice = RankRule::Ratio(0.5).choose_for::<f32>(&[4.0, 2.0, 1.0, 0.5], (100, 4))?;
    /// assert_eq!(choice.p, 2);
    /// # Ok::<(), egg_geometry::Error>(())
    /// ```
    pub fn choose_for<T: Scalar>(self, singular_values: &[f64], shape: (usize, usize)) -> Result<RankChoice> {
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
        Ok(self.choose(&Spectrum {
            sigma: singular_values,
            scale: 1.0,
            longer_side: shape.0.max(shape.1),
            columns: shape.1,
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
/// // Two parallel rows: rank 1, whatever is asked for.
/// let h = array![[1.0, 2.0, 0.0], [2.0, 4.0, 0.0]];
/// let choice = rectify(h.view(), RankRule::Fixed(2))?.choice;
/// assert_eq!((choice.p, choice.by_rule, choice.numerical_rank), (1, 2, 1));
/// assert!((choice.captured - 1.0).abs() < 1e-12);
/// # Ok::<(), egg_geometry::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankChoice {
    /// The dimension that is kept.
    pub p: usize,
    /// What the rule alone would have kept.
    pub by_rule: usize,
    /// Singular values above the noise of the input's type.
    pub numerical_rank: usize,
    /// Whether p was raised to the end of a group of tied singular values.
    pub extended_by_tie: bool,
    /// The share of the spectrum that is kept, `sum_{i<=p} sigma_i / sum_i
    /// sigma_i`; 0 for a zero matrix.
    pub captured: f64,
    /// How clear the cut is: `(sigma_p - sigma_{p+1}) / sigma_1`, with
    /// `sigma_{p+1} = 0` where there is none; 0 for a zero matrix.
    pub gap: f64,
}

impl RankChoice {
    /// The choice of exactly p, with no regard to ties.
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

/// The singular values of a matrix with what a rule needs to know besides.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spectrum<'a> {
    /// Descending, of `H / scale`.
    pub(crate) sigma: &'a [f64],
    /// What `H` was divided by.
    pub(crate) scale: f64,
    /// The larger side of `H`.
    pub(crate) longer_side: usize,
    /// m, for `Ratio`.
    pub(crate) columns: usize,
    /// Machine epsilon of the input's type.
    pub(crate) eps: f64,
    /// Relative tolerance for ties of the input's type.
    pub(crate) tie_tolerance: f64,
}

impl Spectrum<'_> {
    /// Number of `sigma_i > eps max(m, n) sigma_1`.
    pub(crate) fn numerical_rank(&self) -> usize {
        let Some(&largest) = self.sigma.first() else {
            return 0;
        };
        let noise = self.eps * self.longer_side as f64 * largest;
        self.sigma.iter().take_while(|&&value| value > noise).count()
    }

    /// The least p' >= p such that the cut after p' splits no tied group, or
    /// the numerical rank if the group goes on into the noise.
    fn end_of_tie(&self, p: usize) -> usize {
        if p == 0 {
            return 0;
        }
        let largest = self.sigma.first().copied().unwrap_or(0.0);
        let tied =
            |pair: &[f64]| pair[0] - pair[1] <= self.tie_tolerance * pair[0] + 4.0 * self.eps * largest;
        p + self.sigma[..self.numerical_rank()]
            .windows(2)
            .skip(p - 1)
            .take_while(|pair| tied(pair))
            .count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choose(rule: RankRule, sigma: &[f64]) -> RankChoice {
        rule.choose(&Spectrum {
            sigma,
            scale: 1.0,
            longer_side: 10,
            columns: 10,
            eps: f64::EPSILON,
            tie_tolerance: 1e-10,
        })
    }

    #[test]
    fn rules_by_hand() {
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
        ] {
            assert_eq!(choose(rule, &sigma).p, p, "{rule:?}");
        }
    }

    #[test]
    fn a_bound_met_exactly_is_not_passed_by_rounding() {
        for wobble in [1.0 - 2e-16, 1.0, 1.0 + 2e-16] {
            assert_eq!(choose(RankRule::Threshold(1.0), &[2.0, wobble]).p, 1);
            assert_eq!(choose(RankRule::Energy(0.75), &[3.0, wobble]).p, 1);
            assert_eq!(choose(RankRule::Relative(0.5), &[2.0, wobble]).p, 1);
        }
    }

    #[test]
    fn a_tie_is_never_split() {
        let choice = choose(RankRule::Fixed(2), &[2.0, 1.0, 1.0 - 1e-13, 1.0 - 2e-13, 0.5]);
        assert_eq!((choice.p, choice.extended_by_tie), (4, true));
        let choice = choose(RankRule::Fixed(2), &[2.0, 1.0, 1.0 - 1e-6]);
        assert_eq!((choice.p, choice.extended_by_tie), (2, false));
    }

    #[test]
    fn a_tie_does_not_reach_into_the_noise() {
        // Within 4 eps of each other, but one is below 10 eps and one above.
        let (above, below) = (11.0 * f64::EPSILON, 9.0 * f64::EPSILON);
        let choice = choose(RankRule::Fixed(2), &[1.0, above, below, 0.0]);
        assert_eq!(
            (choice.p, choice.numerical_rank, choice.extended_by_tie),
            (2, 2, false)
        );
    }

    #[test]
    fn values_from_elsewhere_are_judged_alike_and_checked() {
        let sigma = [4.0, 2.0, 1.0, 1.0 - 1e-13, 1e-17];
        let given = RankRule::Fixed(3).choose_for::<f64>(&sigma, (10, 10)).unwrap();
        assert_eq!(given, choose(RankRule::Fixed(3), &sigma));
        assert_eq!((given.p, given.numerical_rank), (4, 4));
        assert_eq!(
            RankRule::Fixed(9)
                .choose_for::<f32>(&[1.0, 1e-7], (9, 9))
                .unwrap()
                .p,
            1
        );
        for bad in [&[1.0, 2.0][..], &[f64::NAN], &[1.0, -1.0], &[f64::INFINITY]] {
            assert!(RankRule::Fixed(1).choose_for::<f64>(bad, (2, 2)).is_err());
        }
        assert!(RankRule::Fixed(0).choose_for::<f64>(&[1.0], (2, 2)).is_err());
    }

    #[test]
    fn noise_is_not_rank_and_zero_has_none() {
        let choice = choose(RankRule::Fixed(3), &[1.0, 1e-3, 1e-17]);
        assert_eq!((choice.p, choice.numerical_rank), (2, 2));
        let choice = choose(RankRule::Ratio(1.0), &[0.0, 0.0]);
        assert_eq!((choice.p, choice.captured, choice.gap), (0, 0.0, 0.0));
        assert_eq!(choose(RankRule::Fixed(1), &[]).p, 0);
    }
}
