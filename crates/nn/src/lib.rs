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
//! [`Mlp`] run forward and backward as fused operations; a [`Pass`] selects training or evaluation.
//! Values and gradients are PyTorch's, to rounding.
//!
//! - Losses: [`cross_entropy`], [`bce_with_logits`], [`mse`], [`mae`], each one
//!   operation; no finite logit overflows.
//! - [`Segments`]: sum, mean, maximum and softmax over the rows of each graph.
//! - Layers return a [`Tracked`], a tensor with its own gradient accumulator; and
//!   [`backward`] accumulates those of parameters the same way (both are [`egg_tensor`]'s).
//! - [`Dropout`], from the generator of the [`Pass`].
//! - [`Adam`], with L2 or decoupled [`Decay`], in place; [`clip_gradient_norm`].
//! - [`Plateau`] and [`EarlyStopping`].
//! - [`Observer`]: receives the events of a run and may stop it; [`Silent`] ignores them.
//! - [`Checkpoint`]: all of the above in one file, from which training resumes bit for bit.
//!
//! Everything is f32 or f64, on the CPU, in parallel on rayon, and gives the
//! same bits on any number of threads: the split of sums into blocks depends only on the shape, and
//! partial results are added in order. Random numbers come from the caller's generator. Bad input
//! is a typed [`Error`], never a panic.
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

mod check;
mod checkpoint;
mod error;
mod generator;
mod init;
mod kernels;
mod layers;
mod losses;
mod observer;
mod optim;
mod parameters;

pub use check::check_float;
pub use checkpoint::Checkpoint;
pub use egg_tensor::{Tracked, backward};
pub use error::{Error, Result};
pub use generator::GeneratorState;
pub use init::Init;
pub use layers::{
    BatchNorm1d, Dropout, Linear, Mlp, MlpConfig, Pass, Seeded, Segments, linear_product, relu,
};
pub use losses::{
    Reduction, bce_with_logits, bce_with_logits_value, cross_entropy, cross_entropy_value, mae, mse,
};
pub use observer::{Observer, Silent};
pub use optim::{
    Adam, AdamConfig, AdamMoments, AdamState, Decay, EarlyStopping, Goal, Plateau, PlateauConfig, Verdict,
    clip_gradient_norm,
};
pub use parameters::{Parameters, Scope};

/// Runs the example of the package's front page.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct FrontPage;
