//! Weightings as people write them: `flat`, `spectral:1`.

use std::fmt;
use std::str::FromStr;

use super::Weighting;
use crate::error::{Error, Result};

/// ```
/// use egg_cluster::egg::Weighting;
/// assert_eq!(Weighting::Spectral(0.5).to_string(), "spectral:0.5");
/// ```
impl fmt::Display for Weighting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flat => f.write_str("flat"),
            Self::Spectral(alpha) => write!(f, "spectral:{alpha}"),
        }
    }
}

/// What [`Display`](fmt::Display) writes; `spectral` alone has the exponent 1.
///
/// ```
/// use egg_cluster::egg::Weighting;
/// assert_eq!("spectral".parse::<Weighting>()?, Weighting::Spectral(1.0));
/// assert!("spectral:inf".parse::<Weighting>().is_err());
/// # Ok::<(), egg_cluster::Error>(())
/// ```
impl FromStr for Weighting {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let refused = || Error::setting("weighting", text, "write flat, or spectral:X with a finite X");
        match text.split_once([':', '=']) {
            None if text == "flat" => Ok(Self::Flat),
            None if text == "spectral" => Ok(Self::Spectral(1.0)),
            Some(("spectral", alpha)) => {
                let alpha = alpha.parse::<f64>().ok().filter(|alpha| alpha.is_finite());
                alpha.map(Self::Spectral).ok_or_else(refused)
            }
            _ => Err(refused()),
        }
    }
}
