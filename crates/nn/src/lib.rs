//! Training parts for candle on the CPU: what candle lacks, or does slowly.
//!
//! ```
//! use candle_core::{DType, Device, Tensor};
//! use egg_nn::{Adam, AdamConfig, Decay, Mlp, MlpConfig, Parameters, Pass, Reduction, cross_entropy};
//! use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
//!
//! let mut rng = ChaCha8Rng::seed_from_u64(1); // the only source of randomness
//! let mut parameters = Parameters::new(DType::F32, &Device::Cpu)?;
//! let model = Mlp::new(&mut parameters.root(&mut rng).enter("head"), &MlpConfig::new(&[3, 16, 2]))?;
//!
//! let x = Tensor::ones((8, 3), DType::F32, &Device::Cpu)?;
//! let classes = Tensor::zeros(8, DType::U32, &Device::Cpu)?;
//! let mut adam = Adam::new(&parameters, AdamConfig::new(1e-2, Decay::L2(5e-4)))?;
//! for _ in 0..10 {
//!     let logits = model.forward(&x, &mut Pass::Training(&mut rng))?;
//!     let loss = cross_entropy(&logits, &classes, Reduction::Mean)?;
//!     adam.step(&egg_nn::backward(&loss)?)?;
//! }
//!
//! let y = model.forward(&x, &mut Pass::Evaluation)?;
//! assert!(!y.track_op()); // no tape in evaluation
//! # Ok::<(), egg_nn::Error>(())
//! ```
//!
//! [`Parameters`] keeps the named parameters and buffers of a model, and
//! [`Scope`] is where layers register theirs. [`Linear`], [`BatchNorm1d`] and
//! [`Mlp`] run forward and backward as fused operations; a [`Pass`] tells them
//! whether to train. Values and gradients are PyTorch's, to rounding.
//!
//! - Losses: [`cross_entropy`], [`bce_with_logits`], [`mse`], [`mae`], each one
//!   operation; no finite logit overflows.
//! - [`Segments`]: sum, mean, maximum and softmax over the rows of each graph.
//! - Layers give a [`Tracked`], a tensor whose gradient does not go over candle's sums; and
//!   [`backward`] spares those of parameters the same (both are [`egg_tensor`]'s).
//! - [`Dropout`], from the generator of the [`Pass`].
//! - [`Adam`], with L2 or decoupled [`Decay`], in place; [`clip_gradient_norm`].
//! - [`Plateau`] and [`EarlyStopping`].
//! - [`Checkpoint`]: all of the above in one file, to go on from to the bit.
//!
//! Everything is f32 or f64, on the CPU, in parallel on rayon, and gives the
//! same bits on any number of threads: sums are split into blocks by shape
//! alone, and partial results are added in order. Random numbers come from the
//! generator that is handed in. Bad input is a typed [`Error`], never a panic.
//!
//! # With candle-nn
//!
//! [`Linear`] is candle's `Module`; [`BatchNorm1d`], [`Mlp`] and [`Seeded`], which is for
//! dropout, are its `ModuleT`; and `?` turns an [`Error`] into candle's. Feature
//! `candle-nn` (off by default) adds `Parameters::to_var_map` and
//! `Parameters::from_var_map`, which share their variables with a `VarMap`, and makes
//! [`Adam`] a `candle_nn::Optimizer`.

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

mod adam;
mod adam_config;
mod batch_norm;
mod bce;
mod check;
mod checkpoint;
mod checkpoint_file;
mod clip;
mod cross_entropy;
mod dropout;
mod early_stopping;
mod error;
mod generator;
mod init;
mod linear;
mod mlp;
mod module;
mod normalise;
mod observer;
mod pair_loss;
mod parameters;
mod pass;
mod reduction;
mod regression;
mod relu;
mod schedule;
mod seeded;
mod segment;
mod segment_kernel;

pub use adam::{Adam, AdamMoments, AdamState};
pub use adam_config::{AdamConfig, Decay};
pub use batch_norm::BatchNorm1d;
pub use bce::{bce_with_logits, bce_with_logits_value};
pub use check::check_float;
pub use checkpoint::Checkpoint;
pub use clip::clip_gradient_norm;
pub use cross_entropy::{cross_entropy, cross_entropy_value};
pub use dropout::Dropout;
pub use early_stopping::{EarlyStopping, Goal, Verdict};
pub use egg_tensor::{Tracked, backward};
pub use error::{Error, Result};
pub use generator::GeneratorState;
pub use init::Init;
pub use linear::{Linear, linear_product};
pub use mlp::{Mlp, MlpConfig};
pub use observer::{Observer, Silent};
pub use parameters::{Parameters, Scope};
pub use pass::Pass;
pub use reduction::Reduction;
pub use regression::{mae, mse};
pub use relu::relu;
pub use schedule::{Plateau, PlateauConfig};
pub use seeded::Seeded;
pub use segment::Segments;

/// Runs the example of the package's front page.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct FrontPage;
