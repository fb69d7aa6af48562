//! k-means on the rows of a matrix.
//!
//! Minimises `sum_i ||x_i - c_{label(i)}||^2` over k centres: greedy k-means++
//! starts, Lloyd's iteration with Hamerly's bounds, several runs of which the
//! best is kept. From the same first centres the result is that of
//! scikit-learn's `KMeans`; settings have its names where they mean the same.
//!
//! ```
//! use egg_cluster::kmeans::KMeansConfig;
//! use ndarray::array;
//! use rand::SeedableRng;
//! use rand_chacha::ChaCha8Rng;
//!
//! let points = array![[0.0f32, 0.0], [0.1, 0.0], [5.0, 5.0], [5.1, 5.0]];
//! let found = KMeansConfig::new(2).check()?.fit(points.view(), &mut ChaCha8Rng::seed_from_u64(0))?;
//! assert_eq!(found.labels[0], found.labels[1]);
//! assert_ne!(found.labels[0], found.labels[2]);
//! # Ok::<(), egg_cluster::Error>(())
//! ```
//!
//! Millions of rows can be clustered from samples: [`MiniBatchConfig`].

mod config;
mod distance;
mod fit;
mod lloyd;
mod mini_batch;
mod plus_plus;
mod points;

pub use config::{KMeans, KMeansConfig, Start};
pub use fit::KMeansFit;
pub use mini_batch::{MiniBatchConfig, MiniBatchKMeans};
