//! From a graph to clusters of its nodes, in one object.
//!
//! ```text
//! features -> smoothing, or an autoencoder -> H -> EGG (or H as it is) -> k-means -> labels, measures
//! ```
//!
//! ```
//! use egg_cluster::Silent;
//! use egg_cluster::pipeline::{NodeClustering, Preset};
//! use egg_graph::synthetic::BlockModel;
//! use rand::SeedableRng;
//! use rand_chacha::ChaCha8Rng;
//!
//! let model = BlockModel { nodes: 200, blocks: 3, ..BlockModel::default() };
//! let dataset = model.generate(&mut ChaCha8Rng::seed_from_u64(0))?;
//! let mut config = Preset::Paper.config();
//! config.autoencoder_mut().epochs = 30; // for the sake of the example
//! let found = NodeClustering::new(config)?.run(&dataset, None, &mut Silent)?;
//! assert_eq!(found.labels.len(), 200);
//! assert!(found.report.agreement.is_some()); // this graph's classes are known
//! # Ok::<(), egg_cluster::Error>(())
//! ```

mod baseline;
mod choose;
mod config;
mod event;
mod features;
mod measure;
mod overrides;
mod preset;
mod repetitions;
mod report;
mod rows;
mod run;
pub mod tune;
mod unlabelled;

pub use baseline::Baseline;
pub use choose::{Candidate, Candidates, Choice, ChoiceProgress, choose};
pub use config::{Clusterer, Coordinates, Encoder, Links, NodeClusteringConfig};
pub use event::{ClusteringEvent, RepetitionEvent};
pub use features::FeatureUse;
pub use measure::{Measure, MethodReports};
pub use preset::Preset;
pub use repetitions::{Method, MethodClusters, Repetition, Repetitions};
pub use report::{ClusterReport, Timings};
pub use run::{NodeClustering, NodeClusters, NodeEmbedding};
pub use tune::{ClusteringScore, Grid, TrainingScore, TuneProgress, Tuning, tune};
pub use unlabelled::Unlabelled;
