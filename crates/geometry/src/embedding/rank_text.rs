//! The text form of rank rules: `threshold:0.8`.

use std::fmt;
use std::str::FromStr;

use crate::embedding::rank::RankRule;
use crate::error::{Error, Result};

const RULES: &str = "fixed:P, ratio:X, threshold:X, relative:X, energy:X or squares:X";

/// `fixed:3`, `ratio:0.8`, `threshold:0.5`, `relative:0.1`, `energy:0.9`, `squares:0.9`.
///
/// ```
/// use egg_geometry::RankRule;
/// assert_eq!(RankRule::Ratio(0.8).to_string(), "ratio:0.8");
/// ```
impl fmt::Display for RankRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(p) => write!(f, "fixed:{p}"),
            Self::Ratio(x) => write!(f, "ratio:{x}"),
            Self::Threshold(r) => write!(f, "threshold:{r}"),
            Self::Relative(r) => write!(f, "relative:{r}"),
            Self::Energy(r) => write!(f, "energy:{r}"),
            Self::Squares(r) => write!(f, "squares:{r}"),
        }
    }
}

/// The form that [`Display`](fmt::Display) writes; `=` is accepted instead of `:`. The number is
/// checked.
///
/// ```
/// use egg_geometry::RankRule;
/// assert_eq!("threshold:0.8".parse(), Ok(RankRule::Threshold(0.8)));
/// let refused = "ratio:80".parse::<RankRule>().unwrap_err();
/// assert!(refused.to_string().contains("x must be in (0, 1]"));
/// ```
impl FromStr for RankRule {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let unreadable = || Error::UnreadableRule {
            text: text.to_owned(),
            expected: RULES,
        };
        let (rule, number) = text.split_once([':', '=']).ok_or_else(unreadable)?;
        let number = number.trim();
        let real = || number.parse::<f64>().map_err(|_| unreadable());
        let rule = match rule.trim() {
            "fixed" => Self::Fixed(number.parse().map_err(|_| unreadable())?),
            "ratio" => Self::Ratio(real()?),
            "threshold" => Self::Threshold(real()?),
            "relative" => Self::Relative(real()?),
            "energy" => Self::Energy(real()?),
            "squares" => Self::Squares(real()?),
            _ => return Err(unreadable()),
        };
        rule.validate()?;
        Ok(rule)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rank_rules_round_trip_as_text() {
        for rule in [
            RankRule::Fixed(3),
            RankRule::Ratio(0.8),
            RankRule::Threshold(0.5),
            RankRule::Relative(1e-9),
            RankRule::Energy(1.0),
            RankRule::Squares(0.9),
        ] {
            assert_eq!(rule.to_string().parse(), Ok(rule));
        }
        assert_eq!("fixed=2".parse(), Ok(RankRule::Fixed(2)));
    }

    #[test]
    fn malformed_rank_rules_are_refused() {
        for text in [
            "",
            "0.8",
            "ratio",
            "ratio:",
            "ratio:x",
            "fixed:1.5",
            "fixed:0",
            "energy:nan",
            "half:1",
        ] {
            assert!(text.parse::<RankRule>().is_err(), "{text}");
        }
        let error = "half:1".parse::<RankRule>().unwrap_err().to_string();
        assert!(
            error.contains("half:1") && error.contains("relative:X"),
            "{error}"
        );
    }
}
