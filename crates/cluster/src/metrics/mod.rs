//! How good a clustering is: against known classes ([`Contingency`],
//! [`Agreement`]), by the graph's edges only ([`Cut`]), and how good scores of
//! links are ([`rank`]).
//!
//! Values are those of scikit-learn, SciPy's assignment and NetworkX. Labels
//! are any numbers, and there may be more or fewer clusters than classes.
//!
//! ```
//! use egg_cluster::metrics::Contingency;
//!
//! let (classes, clusters) = ([0, 0, 1, 1, 2, 2], [4, 4, 4, 1, 0, 0]);
//! let all = Contingency::new(&classes, &clusters)?.agreement()?;
//! assert!((all.accuracy - 5.0 / 6.0).abs() < 1e-15);
//! # Ok::<(), egg_cluster::Error>(())
//! ```

mod agreement;
mod assignment;
mod contingency;
mod matched;
mod ranking;
mod structure;

pub use contingency::{Contingency, Overlap};
pub use egg_results::Ranking;
pub use matched::Agreement;
pub use ranking::rank;
pub use structure::Cut;
