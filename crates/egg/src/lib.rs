//! Graphs on the Grassmann manifold: the whole stack as one dependency. (Not the
//! e-graph library `egg`.)
//!
//! From a data set to a trained model and to clusters:
//!
//! ```
//! use egg_gnn::cluster::pipeline::{Candidates, Unlabelled, choose};
//! use egg_gnn::graph::synthetic::{CovarianceSet, karate_club};
//! use egg_gnn::nn::Silent;
//! use egg_gnn::pool::convolution::Gcn;
//! use egg_gnn::prelude::*;
//! use std::ops::ControlFlow;
//!
//! // Two classes of graphs that differ only in how features vary together.
//! let dataset = CovarianceSet::standard()?.subset(&(0..100).collect::<Vec<_>>())?;
//! let mut experiment = Experiment::new(&dataset, Protocol::Paper, Gcn, "egg".parse()?)?;
//! experiment.model.activation = false; // linear convolutions keep the subspaces apart
//! (experiment.repetitions, experiment.training.max_epochs) = (1, 10);
//! let graphs = experiment.prepare(dataset.clone())?;
//! let run = experiment.run(&graphs, &RunOptions::default(), &|_, _| ControlFlow::Continue(()))?;
//! assert!(run.report.test.unwrap().mean > 0.5);
//! let embedding = run.models[run.best()].embed(dataset)?; // subspaces as vectors, and the leverage of nodes
//! assert_eq!(embedding.graphs.nrows(), 100);
//!
//! // And the nodes of one graph, clustered.
//! let karate = karate_club()?;
//! let choice = choose(&Unlabelled::new(&karate)?, 2, &Candidates::default(), 0, &mut Silent)?;
//! let found = NodeClustering::new(choice.config)?.run(&karate, None, &mut Silent)?;
//! assert_eq!(found.labels.len(), 34);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | feature | module | what | package |
//! |---|---|---|---|
//! | `geometry` | `geometry` | subspaces: angles, distances, geodesics, means, kernels | `egg-geometry` |
//! | `graph` | `graph`, `nn`, `tensor` | files to graphs, splits, batches; convolutions, layers, Adam; custom operations | `egg-graph`, `egg-nn`, `egg-tensor` |
//! | `datasets` | `datasets` | the benchmarks by name: found, verified; with `fetch` downloaded | `egg-datasets` |
//! | `pool` | `pool`, `autodiff` | EGG and other poolings, models, training; differentiable subspaces | `egg-pool`, `egg-autodiff` |
//! | `pool` or `cluster` | `results` | means with their spread, significance tests | `egg-results` |
//! | `geometry`, `graph` | `ndarray`, `candle_core`, `rand_chacha` | the versions that all of these are built with | |
//! | `cluster` | `cluster` | autoencoders, EGG of nodes, k-means, metrics | `egg-cluster` |
//!
//! All of them are on by default, but not `fetch`. `openblas` (the default) or
//! `pure-rust` selects the linear algebra. For the geometry alone and no
//! system library:
//!
//! ```toml
//! egg-gnn = { version = "0.1", default-features = false, features = ["geometry", "pure-rust"] }
//! ```
//!
//! A program that is built often starts sooner with dependencies that are optimised and code
//! of its own that is not:
//!
//! ```toml
//! [profile.dev.package."*"]
//! opt-level = 2
//! ```
//!
//! Programs run fastest with an allocator that keeps large blocks (mimalloc),
//! with `CANDLE_NUM_THREADS=1` in the environment, and on a thread of rayon's
//! pool (`rayon::scope`); the program `egg` does all three.

// The versions that the crates are built with: tensors, arrays and generators of others are
// other types.
#[cfg(feature = "graph")]
pub use candle_core;
#[cfg(feature = "pool")]
pub use egg_autodiff as autodiff;
#[cfg(feature = "cluster")]
pub use egg_cluster as cluster;
#[cfg(feature = "datasets")]
pub use egg_datasets as datasets;
#[cfg(feature = "geometry")]
pub use egg_geometry as geometry;
#[cfg(feature = "graph")]
pub use egg_graph as graph;
#[cfg(feature = "graph")]
pub use egg_nn as nn;
#[cfg(feature = "pool")]
pub use egg_pool as pool;
#[cfg(any(feature = "pool", feature = "cluster"))]
pub use egg_results as results;
#[cfg(feature = "graph")]
pub use egg_tensor as tensor;
#[cfg(feature = "geometry")]
pub use ndarray;
#[cfg(feature = "graph")]
pub use rand_chacha;

/// What most programs begin with, by the features that are on; the rest is in the modules.
///
/// ```
/// # #[cfg(feature = "geometry")] {
/// use egg_gnn::prelude::*;
/// assert!(RankRule::Ratio(0.8).validate().is_ok());
/// # }
/// ```
pub mod prelude {
    #[cfg(feature = "cluster")]
    pub use egg_cluster::pipeline::NodeClustering;
    #[cfg(feature = "geometry")]
    pub use egg_geometry::{Distance, GrassmannPoint, RankRule, distance, principal_angles, rectify};
    #[cfg(feature = "graph")]
    pub use egg_graph::{DataSource, Graph, GraphDataset, Split};
    #[cfg(feature = "pool")]
    pub use egg_pool::folder::TrainedModel;
    #[cfg(feature = "pool")]
    pub use egg_pool::protocol::{Experiment, Protocol, RunOptions};
    #[cfg(feature = "pool")]
    pub use egg_pool::{ConvolutionConfig, PoolingConfig};
}

/// Runs the examples of the project's pages.
#[cfg(all(doctest, feature = "pool", feature = "cluster"))]
mod pages {
    #[doc = include_str!("../../../README.md")]
    struct FrontPage;
    #[doc = include_str!("../../../docs/GEOMETRY.md")]
    struct Geometry;
    #[doc = include_str!("../../../docs/GRAPHS.md")]
    struct Graphs;
    #[doc = include_str!("../../../docs/AUTODIFF.md")]
    struct Autodiff;
    #[doc = include_str!("../../../docs/tutorials/compare-subspaces.md")]
    struct CompareSubspaces;
    #[doc = include_str!("../../../docs/tutorials/classify-graphs.md")]
    struct ClassifyGraphs;
    #[doc = include_str!("../../../docs/tutorials/cluster-a-network.md")]
    struct ClusterANetwork;
    #[doc = include_str!("../../../docs/tutorials/your-own-pooling.md")]
    struct YourOwnPooling;
}
