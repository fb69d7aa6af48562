//! Subspaces as points of the Grassmann manifold Gr(p, m).
//!
//! ```
//! use egg_geometry::{Distance, GrassmannPoint, RankRule, distance, karcher_mean, principal_angles};
//! use ndarray::array;
//!
//! // Each row is a sample; each matrix spans (nearly) a plane of R^3.
//! let walk = array![[1.0, 0.0, 0.01], [0.0, 1.0, -0.01], [1.0, 1.0, 0.0], [2.0, -1.0, 0.02]];
//! let run = array![[1.0, 0.0, 0.5], [0.0, 1.0, 0.0], [2.0, 1.0, 1.01], [-1.0, 2.0, -0.5]];
//! let a = GrassmannPoint::from_data(walk.view(), RankRule::Relative(0.1))?;
//! let b = GrassmannPoint::from_data(run.view(), RankRule::Relative(0.1))?;
//! let angles = principal_angles(&a, &b)?; // to 1e-15 from 0 to pi/2
//! let geodesic: f64 = distance(&a, &b, Distance::Geodesic)?;
//! let middle = karcher_mean(&[a.clone(), b])?.point;
//! assert!((distance(&a, &middle, Distance::Geodesic)? - geodesic / 2.0).abs() < 1e-12);
//! # assert_eq!(angles.len(), 2);
//! # Ok::<(), egg_geometry::Error>(())
//! ```
//!
//! A matrix `H` (n x m, one sample or node per row) is *rectified* to the span
//! of its leading singular directions, a [`GrassmannPoint`]; how many are kept
//! is a [`RankRule`]. Points have [principal angles](principal_angles),
//! [distances](Distance), [kernels](Kernel),
//! [geodesics](GrassmannPoint::geodesic), [means](karcher_mean),
//! [clusters](GrassmannKMeans) and [neighbours](nearest_neighbours). Subspaces
//! of different dimension have [distances](Extension), a
//! [mean](extrinsic_mean_within), clusters and neighbours too. The
//! projection embedding `P = U U^T` turns them into [vectors](Flatten) of one
//! length for any learner, and [`Factors`] has its exact gradient, finite where
//! the gradient of an SVD is not. [`SoftFactors`] weights directions by a smooth
//! [`Filter`] instead of cutting, with its gradient.
//!
//! Everything takes and returns ndarray, in f32 or f64; functions named
//! `*_batch` and `*_matrix` run in parallel on rayon, and give the same bits on
//! any number of threads. Bad input is a typed [`Error`], never a panic.
//!
//! # Backends
//!
//! | feature | linear algebra | needs |
//! |---|---|---|
//! | `openblas` (default) | LAPACK through ndarray-linalg | the system's OpenBLAS |
//! | `pure-rust` | faer | nothing |
//!
//! With both on, `openblas` wins: it is linked anyway. For a build without any
//! system library, use `default-features = false, features = ["pure-rust"]`.
//! Projectors, angles and distances agree between the two to 1e-12 where the
//! gap at the cut is at least 1e-3. [`backend`] returns the one in use.
//!
//! Feature `serde` allows [`RankRule`] and [`Flatten`] in configuration files.
//!
//! With `openblas`, the first call into this crate sets OpenBLAS to **one
//! thread** for the whole process: its threads inside rayon's slow everything
//! down, and make results depend on their number. A program
//! that wants more for its own BLAS calls can raise the number after that.

// Input is never trusted: what may fail returns an error. Exceptions say why.
#![warn(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss
)]
#![cfg_attr(
    test,
    allow(
        clippy::cast_possible_truncation,
        clippy::cast_possible_wrap,
        clippy::cast_sign_loss,
        reason = "numbers that tests make up"
    )
)]

mod check;
mod compare;
mod embedding;
mod error;
mod linalg;
mod manifold;
mod scalar;
mod tuning;

pub use compare::angles::{PrincipalVectors, principal_angles, principal_angles_batch, principal_vectors};
pub use compare::distance::{Distance, Extension, distance, extended_distance, projector_distance};
pub use compare::kernel::Kernel;
pub use compare::neighbours::{Neighbours, nearest_neighbours};
pub use compare::pairwise::{cross_distances, distance_matrix};
pub use embedding::batch::{embed_batch, project_batch, rectify_batch, soft_embed_batch};
pub use embedding::factors::Factors;
pub use embedding::flatten::Flatten;
pub use embedding::nodes::NodeFactors;
pub use embedding::projector::{NearestPoint, nearest_point, nearest_point_to_flat};
pub use embedding::rank::{RankChoice, RankRule};
pub use embedding::rectify::{Rectified, rectify, rectify_nodes};
pub use embedding::soft::{Filter, SoftFactors};
pub use embedding::workspace::Workspace;
pub use error::{Error, Result};
pub use linalg::{backend, blas_kernels, dense};
pub use manifold::geodesic::{exp_batch, injectivity_radius, log_batch};
pub use manifold::kmeans::{CentreKind, GrassmannClustering, GrassmannKMeans};
pub use manifold::mean::{
    ExtrinsicMean, KarcherMean, KarcherSolver, extrinsic_mean, extrinsic_mean_within, karcher_mean,
    weighted_extrinsic_mean, weighted_extrinsic_mean_within,
};
pub use manifold::point::GrassmannPoint;
pub use manifold::tangent::Tangent;
pub use scalar::Scalar;

#[cfg(all(test, feature = "openblas", feature = "pure-rust"))]
mod backends_agree;

/// Runs the example of the package's front page.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct FrontPage;
