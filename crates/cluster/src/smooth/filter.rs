//! Low-pass filters of a graph: polynomials of its propagation matrix.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result, require};
use crate::normalised::Normalised;
use crate::text_form;

/// A polynomial `f(S)` of the propagation matrix `S = D^(-1/2) (A + I) D^(-1/2)` of a GCN, of a degree t that is given
/// with it (`steps`). Self loops of the graph don't count; D has the degrees of A + I.
///
/// All of them keep what varies slowly along edges (eigenvalues of S near 1) and weaken the rest.
///
/// ```
/// use egg_cluster::smooth::Filter;
///
/// assert_eq!("page_rank:0.1".parse::<Filter>()?, Filter::PageRank(0.1));
/// assert_eq!(Filter::default().to_string(), "lazy_walk");
/// # Ok::<(), egg_cluster::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Filter {
    /// `((I + S) / 2)^t`, of the lazy random walk: no eigenvalue is negative. The filter of AGC (Zhang et al. 2019).
    #[default]
    LazyWalk,
    /// `S^t`, as in SGC (Wu et al. 2019). Strong negative eigenvalues of S, of nearly bipartite graphs, stay.
    Walk,
    /// `(I + S + ... + S^t) / (t + 1)`, much as in SSGC (Zhu and Koniusz 2021).
    MeanOfPowers,
    /// `alpha (I + (1 - alpha) S + ... + (1 - alpha)^(t - 1) S^(t - 1)) + (1 - alpha)^t S^t`, personalised PageRank with
    /// the probability alpha to start again (APPNP, Gasteiger et al. 2019).
    PageRank(f64),
}

impl fmt::Display for Filter {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        text_form::write(self, out)
    }
}

impl FromStr for Filter {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        text_form::read(text).ok_or_else(|| {
            Error::setting(
                "filter",
                text,
                "write lazy_walk, walk, mean_of_powers, or page_rank:X with X between 0 and 1",
            )
        })
    }
}

impl Filter {
    pub(super) fn check(self) -> Result<()> {
        match self {
            Self::PageRank(alpha) => require(
                alpha > 0.0 && alpha < 1.0,
                "page_rank",
                alpha,
                "the probability to start again lies between 0 and 1",
            ),
            _ => Ok(()),
        }
    }

    /// `f(S) X` for an n x width matrix, row by row.
    pub(super) fn apply(self, matrix: &Normalised<'_>, steps: usize, width: usize, x: Vec<f64>) -> Vec<f64> {
        let step = |y: &[f64], factors, x| matrix.combine(width, y, factors, x);
        match self {
            Self::LazyWalk => (0..steps).fold(x, |y, _| step(&y, (0.5, 0.5, 0.0), None)),
            Self::Walk => (0..steps).fold(x, |y, _| step(&y, (1.0, 0.0, 0.0), None)),
            // Horner's scheme: y <- x + S y.
            Self::MeanOfPowers => {
                let mut sum = (0..steps).fold(x.clone(), |y, _| step(&y, (1.0, 0.0, 1.0), Some(&x)));
                sum.iter_mut().for_each(|y| *y /= (steps + 1) as f64);
                sum
            }
            Self::PageRank(alpha) => {
                let factors = (1.0 - alpha, 0.0, alpha);
                (0..steps).fold(x.clone(), |y, _| step(&y, factors, Some(&x)))
            }
        }
    }
}
