//! Repetitions of a clustering with different seeds, each by several methods.

use std::path::PathBuf;
use std::time::Instant;

use egg_graph::GraphDataset;
use egg_nn::Observer;
use serde::{Deserialize, Serialize};

use super::config::{Coordinates, NodeClusteringConfig};
use super::event::{ClusteringEvent, RepetitionEvent};
use super::report::ClusterReport;
use super::run::{NodeClustering, NodeEmbedding};
use crate::error::{Result, require};
use crate::vgae::CheckpointConfig;

/// What k-means is run on, with a name for tables.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Method {
    /// The name in tables and records.
    pub name: String,
    /// The coordinates that k-means is run on, instead of those of the settings.
    pub coordinates: Coordinates,
}

/// Repetitions of a clustering.
///
/// Each repetition trains one autoencoder with a seed of its own; every method clusters the
/// embedding of that training. The results are those of [`NodeClustering::embed`] and
/// [`NodeClustering::cluster`], bit for bit.
///
/// ```
/// use egg_cluster::Silent;
/// use egg_cluster::pipeline::{Coordinates, Measure, Method, MethodReports, Preset, Repetitions};
/// use egg_graph::synthetic::karate_club;
///
/// let mut config = Preset::Paper.config();
/// config.autoencoder_mut().epochs = 10;
/// config.seed = 7;
/// let methods = vec![
///     Method { name: "k-means".into(), coordinates: Coordinates::Plain { normalise_rows: false } },
///     Method { name: "EGG".into(), coordinates: config.coordinates },
/// ];
/// let repetitions = Repetitions::new(config, methods, 3);
/// let results = repetitions.run(&karate_club()?, &mut Silent)?;
/// assert_eq!(results.iter().map(|result| result.seed).collect::<Vec<_>>(), [7, 8, 9]);
/// for method in MethodReports::collect(&repetitions.methods, &results) {
///     println!("{}: {:?}", method.name, method.summary(Measure::ACCURACY));
/// }
/// # Ok::<(), egg_cluster::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Repetitions {
    /// The settings of all repetitions. Repetition r (from 0) has seed `config.seed + r`.
    pub config: NodeClusteringConfig,
    /// The methods, in the order of the results.
    pub methods: Vec<Method>,
    /// The number of repetitions, at least 1.
    pub count: usize,
    /// The folder of checkpoints, which must exist: repetition r is saved to
    /// `repetition-{r + 1}.safetensors` and resumes from that file. `None` saves nothing.
    pub checkpoints: Option<PathBuf>,
    /// Epochs between two writes of a checkpoint.
    pub checkpoint_every: u64,
}

/// The result of one repetition.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Repetition {
    /// The seed of training and k-means.
    pub seed: u64,
    /// The embedding that all methods clustered.
    pub embedding: NodeEmbedding,
    /// One clustering per method, in their order.
    pub clusterings: Vec<MethodClusters>,
    /// Seconds by the clock, training included.
    pub seconds: f64,
}

/// What one method found in one repetition.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct MethodClusters {
    /// The cluster of each node.
    pub labels: Vec<u32>,
    /// Measures and timings.
    pub report: ClusterReport,
}

impl Repetitions {
    /// Repetitions without checkpoints.
    pub fn new(config: NodeClusteringConfig, methods: Vec<Method>, count: usize) -> Self {
        Self {
            config,
            methods,
            count,
            checkpoints: None,
            checkpoint_every: 50,
        }
    }

    /// Checks every setting, as far as possible without a graph.
    ///
    /// # Errors
    /// [`Error::Setting`](crate::Error::Setting) or [`Error::Geometry`](crate::Error::Geometry), naming
    /// the first that is out of its range.
    pub fn check(&self) -> Result<()> {
        NodeClustering::new(self.config)?;
        for method in &self.methods {
            if let Coordinates::Egg(egg) = method.coordinates {
                egg.check()?;
            }
        }
        require(self.count > 0, "repetitions", 0, "there must be at least one")?;
        require(
            self.config.seed.checked_add(self.count as u64 - 1).is_some(),
            "seed",
            self.config.seed,
            "the seeds of all repetitions must be below 2^64",
        )
    }

    /// Runs all repetitions in order. `observer` receives every event; when it cancels, no
    /// further repetition starts.
    ///
    /// The result holds every embedding. Where these are too large for memory, call
    /// [`Self::run_one`] for each repetition.
    ///
    /// # Errors
    /// As [`Self::run_one`].
    pub fn run(
        &self,
        dataset: &GraphDataset,
        observer: &mut dyn Observer<RepetitionEvent>,
    ) -> Result<Vec<Repetition>> {
        (0..self.count)
            .map(|repetition| self.run_one(repetition, dataset, observer))
            .collect()
    }

    /// Runs one repetition, counted from 0: trains, then clusters by each method.
    ///
    /// # Errors
    /// Those of [`Self::check`], [`NodeClustering::embed`] and [`NodeClustering::cluster`];
    /// [`Error::Cancelled`](crate::Error::Cancelled) if the observer cancels.
    pub fn run_one(
        &self,
        repetition: usize,
        dataset: &GraphDataset,
        observer: &mut dyn Observer<RepetitionEvent>,
    ) -> Result<Repetition> {
        self.check()?;
        require(
            repetition < self.count,
            "repetition",
            repetition,
            "it must be below the number of repetitions",
        )?;
        let begin = Instant::now();
        let seed = self.config.seed + repetition as u64;
        let clustering = NodeClustering::new(NodeClusteringConfig { seed, ..self.config })?;
        // Before the training, not after it.
        clustering.cluster_count(dataset.node_labels(), dataset.node_count())?;
        let checkpoint = self.checkpoints.as_ref().map(|folder| CheckpointConfig {
            path: folder.join(format!("repetition-{}.safetensors", repetition + 1)),
            every: self.checkpoint_every,
        });
        let observer = &mut |event: ClusteringEvent| observer.observe(RepetitionEvent { repetition, event });
        let embedding = clustering.embed(dataset, checkpoint.as_ref(), observer)?;
        let mut clusterings = Vec::with_capacity(self.methods.len());
        for method in &self.methods {
            let (found, _, report) =
                clustering.cluster_observed(&embedding, &method.coordinates, observer)?;
            clusterings.push(MethodClusters {
                labels: found.labels,
                report,
            });
        }
        Ok(Repetition {
            seed,
            embedding,
            clusterings,
            seconds: begin.elapsed().as_secs_f64(),
        })
    }
}
