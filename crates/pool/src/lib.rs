//! Graph classification with Grassmann pooling: EGG and its peers, the paper's
//! models, training, protocols and model folders.
//!
//! ```
//! use egg_graph::synthetic::CovarianceSet;
//! use egg_pool::convolution::Gcn;
//! use egg_pool::protocol::{Experiment, Protocol, RunOptions};
//! use std::ops::ControlFlow;
//!
//! let dataset = CovarianceSet { graphs: 60, ..Default::default() }
//!     .generate(&mut <rand_chacha::ChaCha8Rng as rand::SeedableRng>::seed_from_u64(0))?;
//! let mut experiment = Experiment::new(&dataset, Protocol::Paper, Gcn, "egg".parse()?)?;
//! (experiment.repetitions, experiment.training.max_epochs) = (2, 2); // 10 and 200 in the paper
//! let graphs = experiment.prepare(dataset)?; // features and propagation matrices, once
//! let run = experiment.run(&graphs, &RunOptions::default(), &|repetition, event| {
//!     let _ = (repetition, event); // losses, metrics, ranks p, seconds
//!     ControlFlow::Continue(()) // or Break, to end it
//! })?;
//! let test = run.report.test.ok_or("not defined")?;
//! assert!((0.0..=1.0).contains(&test.mean));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | module | what |
//! |---|---|
//! | [`pooling`] | [`Pooling`], the poolings, and [`PoolingConfig`], which names them |
//! | [`convolution`] | the same for [`Convolution`]s |
//! | [`data`] | a data set with its matrices made once, and batches of it |
//! | [`model`] | one [`GraphClassifier`](model::GraphClassifier) of all of these, from a [`ModelConfig`](model::ModelConfig) |
//! | [`train`] | the [`Trainer`](train::Trainer): events, early stopping, checkpoints that resume bit for bit |
//! | [`metrics`] | equal to scikit-learn's |
//! | [`protocol`] | experiments: splits, repetitions in parallel, the grid search, comparisons |
//! | [`folder`] | trained models on disk, and predictions |
//!
//! A seed gives the same bits on any number of threads, and whether repetitions
//! run side by side or one after the other.

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

mod component;
pub mod convolution;
pub mod data;
mod error;
pub mod folder;
mod json;
pub mod metrics;
pub mod model;
pub mod pooling;
pub mod protocol;
mod structure;
pub mod train;

pub use component::Settings;
pub use convolution::{Convolution, ConvolutionConfig, ConvolutionSettings, register_convolution};
pub use error::{Error, Result};
pub use metrics::register_metric;
pub use pooling::{Coarser, Pooled, Pooling, PoolingConfig, PoolingSettings, register_pooling};
pub use structure::Structure;

/// Runs the example of the package's front page.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct FrontPage;
