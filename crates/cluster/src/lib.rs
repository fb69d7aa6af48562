//! Node clustering on the Grassmann manifold, without an n x n matrix.
//!
//! | module | what |
//! |---|---|
//! | [`pipeline`] | all of it in one object: settings in, labels, embedding, measures and timings out |
//! | [`smooth`] | node embeddings by smoothing features along edges, without training |
//! | [`vgae`] | graph autoencoders, which learn node embeddings `H` by predicting edges |
//! | [`egg`] | coordinates of `H` on the Grassmann manifold |
//! | [`kmeans`] | k-means of rows, on all of them or from samples |
//! | [`metrics`] | agreement with classes, modularity, conductance, ranking of links |
//! | [`spectral`], [`manifold`] | baselines: spectral clustering, k-means of subspaces |
//!
//! A seed gives the same bits on any number of threads.

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

pub mod egg;
mod error;
pub mod kmeans;
pub mod manifold;
pub mod metrics;
mod normalised;
pub mod pipeline;
pub mod smooth;
pub mod spectral;
mod tall;
mod text_form;
pub mod vgae;

pub use egg_nn::{Observer, Silent};
pub use error::{Error, Result};

/// Runs the example of the package's front page.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct FrontPage;
