//! Graphs on the Grassmann manifold: the whole stack as one dependency. (Not the
//! e-graph library `egg`.)
//!
//! From a data set to a trained model and to clusters:
//!
//! ```
//! use egg_gnn::prelude::*;
//!
//! // Two classes of graphs that differ only in how features vary together.
//! let dataset = CovarianceSet::standard()?.subset(&(0..100).collect::<Vec<_>>())?;
//! let mut experiment = Experiment::new(&dataset, Protocol::Paper, Architecture::Gcn, "egg".parse()?)?;
//! experiment.model.rectify = false; // linear convolutions keep the subspaces apart
//! (experiment.repetitions, experiment.training.max_epochs) = (1, 10);
//! let graphs = experiment.prepare(dataset.clone())?;
//! let trained = TrainedModel::train(&experiment, &graphs, 0, &RunOptions::default(), &mut Silent)?;
//! let right = trained.outcome().test.as_ref().and_then(|part| part.scores.get(Metric::Accuracy));
//! assert!(right > Some(0.5));
//! let embedding = trained.embed(dataset)?; // subspaces as vectors, and the leverage of nodes
//! assert_eq!(embedding.graphs.nrows(), 100);
//!
//! // And the nodes of one graph, clustered.
//! let mut config = Preset::Paper.config();
//! config.autoencoder.epochs = 20;
//! let found = NodeClustering::new(config)?.run(&karate_club()?, None, &mut |_| Control::Continue)?;
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
//! Programs run fastest with an allocator that keeps large blocks (mimalloc),
//! with `CANDLE_NUM_THREADS=1` in the environment, and on a thread of rayon's
//! pool (`rayon::scope`); the program `egg` does all three.

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

/// What most programs need, by the features that are on.
///
/// ```
/// # #[cfg(feature = "geometry")] {
/// use egg_gnn::prelude::*;
/// assert!(RankRule::Ratio(0.8).validate().is_ok());
/// # }
/// ```
pub mod prelude {
    #[cfg(feature = "cluster")]
    pub use egg_cluster::egg::{EggConfig, Weighting};
    #[cfg(feature = "cluster")]
    pub use egg_cluster::pipeline::{
        Clusterer, Coordinates, NodeClustering, NodeClusteringConfig, NodeClusters, Preset,
    };
    #[cfg(feature = "cluster")]
    pub use egg_cluster::vgae::{Control, Likelihood};
    #[cfg(feature = "datasets")]
    pub use egg_datasets::DataFolders;
    #[cfg(feature = "geometry")]
    pub use egg_geometry::{
        Distance, Extension, Flatten, GrassmannPoint, Kernel, RankRule, distance, distance_matrix,
        extended_distance, karcher_mean, principal_angles, rectify,
    };
    #[cfg(feature = "graph")]
    pub use egg_graph::synthetic::{BlockModel, CovarianceSet, karate_club};
    #[cfg(feature = "graph")]
    pub use egg_graph::{
        Cache, DataSource, EdgeListSource, Features, Graph, GraphBatch, GraphDataset, Labels, ReadOptions,
        Split, Targets, read_graph_tables,
    };
    #[cfg(feature = "pool")]
    pub use egg_pool::folder::{Prediction, TrainedModel};
    #[cfg(feature = "pool")]
    pub use egg_pool::metrics::Metric;
    #[cfg(feature = "pool")]
    pub use egg_pool::model::{Architecture, GraphModel, Model, ModelConfig};
    #[cfg(feature = "pool")]
    pub use egg_pool::protocol::{Experiment, Grid, GridSearch, Parallelism, Protocol, RunOptions};
    #[cfg(feature = "pool")]
    pub use egg_pool::train::{Event, Observer, Silent, TrainConfig, Trainer};
    #[cfg(feature = "pool")]
    pub use egg_pool::{Pooled, Pooling, PoolingConfig, Structure};
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
