//! Choosing settings without labels.
//!
//! Two choices, each by its own criterion:
//!
//! 1. How to train: by the mean ROC AUC of held-out edges against as many
//!    non-edges.
//! 2. What to cluster (which edges the final training sees, and which coordinates of
//!    `H` k-means is run on): by the mean modularity of the clusters in the whole
//!    graph.
//!
//! Means are over seeds and graphs. Of equal scores the first of the [`Grid`] wins.
//! Labels are removed first.

use std::ops::ControlFlow;

use egg_geometry::RankRule;
use egg_graph::GraphDataset;
use egg_nn::{Observer, Silent};
use serde::{Deserialize, Serialize};

use super::config::{Coordinates, Links, NodeClusteringConfig};
use super::features::FeatureUse;
use super::preset::Preset;
use super::run::NodeClustering;
use super::unlabelled::Unlabelled;
use crate::egg::{EggConfig, Weighting};
use crate::error::{Error, Result, require};

/// The settings to choose from.
///
/// The default is what the preset `tuned` is chosen from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grid {
    /// How features are prepared.
    pub features: Vec<FeatureUse>,
    /// A VGAE, a GAE or both.
    pub variational: Vec<bool>,
    /// For how many epochs.
    pub epochs: Vec<u64>,
    /// The share of the edges that a training is judged by.
    pub held_out: f64,
    /// Which edges the final training sees.
    pub links: Vec<Links>,
    /// What k-means is run on.
    pub coordinates: Vec<Coordinates>,
}

impl Default for Grid {
    fn default() -> Self {
        let mut coordinates: Vec<Coordinates> = [false, true]
            .map(|normalise_rows| Coordinates::Plain { normalise_rows })
            .to_vec();
        for ratio in [0.5, 0.8, 1.0] {
            for weighting in [
                Weighting::Flat,
                Weighting::Spectral(0.5),
                Weighting::Spectral(1.0),
            ] {
                for normalise_rows in [false, true] {
                    coordinates.push(Coordinates::Egg(EggConfig {
                        rank: RankRule::Ratio(ratio),
                        weighting,
                        normalise_rows,
                    }));
                }
            }
        }
        Self {
            features: vec![FeatureUse::Raw, FeatureUse::UnitLength, FeatureUse::TfIdf],
            variational: vec![true, false],
            epochs: vec![50, 100, 200, 400],
            held_out: 0.1,
            links: vec![Links::All, Preset::Paper.config().links],
            coordinates,
        }
    }
}

/// Settings of a training, and how well held-out edges were predicted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TrainingScore {
    /// How features are prepared.
    pub features: FeatureUse,
    /// A VGAE or a GAE.
    pub variational: bool,
    /// For how many epochs.
    pub epochs: u64,
    /// The mean ROC AUC.
    pub roc_auc: f64,
}

/// Settings of a clustering, and the modularity of its clusters.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ClusteringScore {
    /// Which edges the training sees.
    pub links: Links,
    /// What k-means is run on.
    pub coordinates: Coordinates,
    /// The mean modularity.
    pub modularity: f64,
}

/// The chosen settings, and the scores of all others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Tuning {
    /// The best, with the seed and the number of clusters of `base`.
    pub config: NodeClusteringConfig,
    /// All settings of the training, in the order of the grid.
    pub trainings: Vec<TrainingScore>,
    /// All settings of the clustering, in the order of the grid.
    pub clusterings: Vec<ClusteringScore>,
}

/// The event of [`tune`]: a training is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct TuneProgress {
    /// Finished trainings.
    pub done: usize,
    /// All trainings.
    pub total: usize,
}

/// Chooses settings for a graph, or one for several, by the criteria of the
/// [module](self). What the grid does not have is taken from `base`.
///
/// The number of clusters is `base.clusters`, or that of the classes of each data
/// set; labels are not used otherwise.
///
/// # Complexity
/// A training of the largest number of epochs for each use of features, kind of
/// autoencoder, seed and graph; then one for each choice of links, seed and graph.
///
/// # Errors
/// [`Error::Setting`] if there is nothing to choose from, no seed or no graph;
/// [`Error::Cancelled`] if the observer, which receives every finished training, cancels; and
/// those of [`NodeClustering::run`].
///
/// ```
/// use egg_cluster::Silent;
/// use egg_cluster::pipeline::{Grid, Preset, tune};
/// use egg_graph::synthetic::BlockModel;
/// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
///
/// let model = BlockModel { nodes: 200, blocks: 3, ..BlockModel::default() };
/// let dataset = model.generate(&mut ChaCha8Rng::seed_from_u64(0))?;
/// let grid = Grid { epochs: vec![10, 20], variational: vec![false], ..Grid::default() };
/// let tuning = tune(&[&dataset], &grid, &Preset::Paper.config(), &[0], &mut Silent)?;
/// let best = tuning.clusterings.iter().map(|tried| tried.modularity).fold(f64::MIN, f64::max);
/// assert!(tuning.clusterings.iter().any(|tried| tried.modularity == best && tried.coordinates == tuning.config.coordinates));
/// # Ok::<(), egg_cluster::Error>(())
/// ```
pub fn tune(
    datasets: &[&GraphDataset],
    grid: &Grid,
    base: &NodeClusteringConfig,
    seeds: &[u64],
    observer: &mut dyn Observer<TuneProgress>,
) -> Result<Tuning> {
    grid.check()?;
    require(!seeds.is_empty(), "seeds", 0, "there must be at least one")?;
    require(!datasets.is_empty(), "data sets", 0, "there must be at least one")?;
    let subjects = datasets.iter().map(|dataset| Subject::new(dataset, base));
    let subjects: Vec<Subject> = subjects.collect::<Result<_>>()?;
    let ways = grid.features.len() * grid.variational.len() + grid.links.len();
    let mut tuner = Tuner {
        subjects,
        grid,
        seeds,
        progress: TuneProgress {
            done: 0,
            total: ways * seeds.len() * datasets.len(),
        },
        observer,
    };
    let trainings = tuner.trainings(base)?;
    let Some(training) = best(&trainings, |tried| tried.roc_auc) else {
        return Err(nothing());
    };
    let mut config = *base;
    config.features = training.features;
    let autoencoder = config.autoencoder_mut();
    autoencoder.encoder.variational = training.variational;
    autoencoder.epochs = training.epochs;
    autoencoder.stop_early = None;
    let clusterings = tuner.clusterings(&config)?;
    let Some(clustering) = best(&clusterings, |tried| tried.modularity) else {
        return Err(nothing());
    };
    config.links = clustering.links;
    config.coordinates = clustering.coordinates;
    Ok(Tuning {
        config,
        trainings,
        clusterings,
    })
}

impl Grid {
    fn check(&self) -> Result<()> {
        let sizes = [
            ("features", self.features.len()),
            ("variational", self.variational.len()),
            ("epochs", self.epochs.len()),
            ("links", self.links.len()),
            ("coordinates", self.coordinates.len()),
        ];
        for (name, size) in sizes {
            require(size > 0, name, size, "the grid needs at least one")?;
        }
        let fewest = self.epochs.iter().min().copied().unwrap_or(0);
        require(fewest > 0, "epochs", fewest, "each must be at least 1")
    }

    /// The largest number that divides all epochs: the interval of validations.
    fn step(&self) -> u64 {
        let common = |mut a: u64, mut b: u64| {
            while b > 0 {
                (a, b) = (b, a % b);
            }
            a
        };
        self.epochs.iter().copied().fold(0, common)
    }
}

/// A graph without its labels.
struct Subject {
    graph: Unlabelled,
    clusters: usize,
}

impl Subject {
    fn new(dataset: &GraphDataset, base: &NodeClusteringConfig) -> Result<Self> {
        let clusters =
            NodeClustering::new(*base)?.cluster_count(dataset.node_labels(), dataset.node_count())?;
        Ok(Self {
            graph: Unlabelled::new(dataset)?,
            clusters,
        })
    }
}

struct Tuner<'a> {
    subjects: Vec<Subject>,
    grid: &'a Grid,
    seeds: &'a [u64],
    progress: TuneProgress,
    observer: &'a mut dyn Observer<TuneProgress>,
}

impl Tuner<'_> {
    fn trainings(&mut self, base: &NodeClusteringConfig) -> Result<Vec<TrainingScore>> {
        let mut scores = Vec::new();
        for &features in &self.grid.features {
            for &variational in &self.grid.variational {
                let mut config = *base;
                config.features = features;
                let autoencoder = config.autoencoder_mut();
                autoencoder.encoder.variational = variational;
                autoencoder.epochs = self.grid.epochs.iter().copied().max().unwrap_or(0);
                autoencoder.validate_every = self.grid.step();
                autoencoder.stop_early = None;
                let mut sums = vec![0.0; self.grid.epochs.len()];
                for (subject, seed) in self.runs() {
                    config.links = Links::Split {
                        validation: self.grid.held_out,
                        test: 0.0,
                        seed,
                    };
                    let config = NodeClusteringConfig { seed, ..config };
                    let embedding = NodeClustering::new(config)?.embed(
                        self.subjects[subject].graph.dataset(),
                        None,
                        &mut Silent,
                    )?;
                    for (sum, epochs) in sums.iter_mut().zip(&self.grid.epochs) {
                        let epoch = embedding.history.iter().find(|epoch| epoch.epoch == *epochs);
                        *sum += epoch
                            .and_then(|epoch| epoch.validation)
                            .ok_or_else(nothing)?
                            .roc_auc;
                    }
                    self.trained()?;
                }
                for (sum, &epochs) in sums.iter().zip(&self.grid.epochs) {
                    scores.push(TrainingScore {
                        features,
                        variational,
                        epochs,
                        roc_auc: sum / self.runs().len() as f64,
                    });
                }
            }
        }
        Ok(scores)
    }

    fn clusterings(&mut self, config: &NodeClusteringConfig) -> Result<Vec<ClusteringScore>> {
        let mut scores = Vec::new();
        for &links in &self.grid.links {
            let mut sums = vec![0.0; self.grid.coordinates.len()];
            for (subject, seed) in self.runs() {
                let subject = &self.subjects[subject];
                let clustering = NodeClustering::new(NodeClusteringConfig {
                    links,
                    seed,
                    clusters: Some(subject.clusters),
                    ..*config
                })?;
                let embedding = clustering.embed(subject.graph.dataset(), None, &mut Silent)?;
                for (sum, coordinates) in sums.iter_mut().zip(&self.grid.coordinates) {
                    let (_, report) = clustering.cluster(&embedding, coordinates)?;
                    *sum += report.modularity.ok_or_else(nothing)?;
                }
                self.trained()?;
            }
            let runs = self.runs().len() as f64;
            let scored = sums.iter().zip(&self.grid.coordinates);
            scores.extend(scored.map(|(sum, coordinates)| ClusteringScore {
                links,
                coordinates: *coordinates,
                modularity: sum / runs,
            }));
        }
        Ok(scores)
    }

    /// Every graph with every seed.
    fn runs(&self) -> Vec<(usize, u64)> {
        let subjects = 0..self.subjects.len();
        let runs = subjects.flat_map(|subject| self.seeds.iter().map(move |seed| (subject, *seed)));
        runs.collect()
    }

    fn trained(&mut self) -> Result<()> {
        self.progress.done += 1;
        match self.observer.observe(self.progress) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::Cancelled { epochs: 0 }),
        }
    }
}

/// The first of the best.
fn best<T: Copy>(tried: &[T], score: impl Fn(&T) -> f64) -> Option<T> {
    let better = |best: Option<T>, next: &T| match best {
        Some(best) if score(&best) >= score(next) => Some(best),
        _ => Some(*next),
    };
    tried.iter().fold(None, better)
}

fn nothing() -> Error {
    Error::Undefined {
        measure: "the criterion",
        reason: "nothing could be scored; hold out more edges, and give a graph that has some",
    }
}
