//! Differentiable Grassmann operations for candle.
//!
//! ```
//! use candle_core::{Device, Tensor, Var};
//! use egg_autodiff::{Embedder, Flatten, RankRule};
//!
//! // Two graphs of three and two nodes, with four features each.
//! let h = Var::new(
//!     &[[1f32, 0.0, 2.0, 0.0], [0.0, 1.0, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 3.0, 1.0], [1.0, 0.0, 0.0, 0.0]],
//!     &Device::Cpu,
//! )?;
//! let embedder = Embedder::new(RankRule::Relative(0.5), Flatten::Upper)?;
//! let rows = embedder.embed(&h, &[0, 3, 5])?; // one row per graph of any size
//! assert_eq!(rows.dims(), [2, 10]);
//! let gradients = rows.sum_all()?.backward()?;
//! assert_eq!(gradients.get(&h).unwrap().dims(), [5, 4]);
//! # Ok::<(), egg_autodiff::Error>(())
//! ```
//!
//! | operation | of | gives | gradient |
//! |---|---|---|---|
//! | [`grassmann_embed`], [`Embedder`] | a mini-batch | the projector of each graph, flattened | exact, finite where singular values are equal or 0 |
//! | [`soft_embed`], [`SoftEmbedder`] | a mini-batch | a smooth [`Filter`] of the spectrum, flattened | exact, bounded |
//! | [`leverage`] | a mini-batch | the leverage of each node | as the projector's |
//! | [`projector`] | a matrix | its projector | as above |
//! | [`svd()`] | a matrix, or a batch | U, s, V | the textbook's, guarded |
//! | [`principal_angles`], [`projection_distance`] | two bases | angles, a distance | bounded by the bases' conditioning |
//!
//! Tensors are f32 or f64; arithmetic is f64. Graphs are processed in parallel
//! on rayon, with the same bits on any number of threads. Factors of the forward
//! pass are kept for the backward pass. Everything runs on the CPU: tensors on
//! another device are copied to the host, and results and gradients back. Bad
//! input is a typed [`Error`] that names the graph.
//!
//! # In models of candle-nn
//!
//! `?` turns an [`Error`] into candle's, so that [`grassmann_embed`] can be called in any `forward`,
//! and [`Embedder::with_offsets`] makes a `Module` of it. `examples/candle_model.rs` trains a
//! model of candle-nn's `Linear`, `VarBuilder` and `AdamW` with an embedding inside.
//!
//! # Backends
//!
//! Linear algebra is [`egg_geometry`]'s: feature `openblas` (the default) or
//! `pure-rust`, which needs no system library. Feature `serde`, also [`egg_geometry`]'s,
//! allows [`RankRule`] and [`Flatten`] in configuration files.

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

mod angles;
mod batch;
mod element;
mod embed;
mod error;
mod leverage;
mod module;
mod pool;
mod projector;
mod soft;
mod svd;

pub use angles::{principal_angles, projection_distance};
pub use egg_geometry::{Filter, Flatten, RankChoice, RankRule, backend, blas_kernels};
pub use embed::{Embedder, GraphSpectrum, grassmann_embed};
pub use error::{Error, Result};
pub use leverage::leverage;
pub use module::BatchEmbedder;
pub use projector::projector;
pub use soft::{SoftEmbedder, soft_embed};
pub use svd::{SVD_FLOOR, svd, svd_with_floor};

/// Runs the example of the package's front page.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct FrontPage;
