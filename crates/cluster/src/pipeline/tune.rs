//! Choosing settings without labels.
//!
//! Two questions, each with a criterion of its own:
//!
//! 1. How to train: by the mean ROC AUC of held-out edges against as many
//!    non-edges. What predicts edges it has not seen has learned something.
//! 2. What to cluster (which edges the final training sees, and which coordinates of
//!    `H` k-means is given): by the mean modularity of the clusters in the whole
//!    graph.
//!
//! Means are over seeds and graphs. Of equal scores the first of the [`Grid`] wins.
//! Labels are taken away before anything else is done.

use egg_geometry::RankRule;
use egg_graph::GraphDataset;
use serde::{Deserialize, Serialize};

use super::config::{Coordinates, Links, NodeClusteringConfig};
use super::event::ClusteringEvent;
use super::features::FeatureUse;
use super::preset::Preset;
use super::run::NodeClustering;
use crate::egg::{EggConfig, Weighting};
use crate::error::{Error, Result, require};
use crate::vgae::Control;

/// What there is to choose from.
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

/// A way to train, and how well held-out edges were predicted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
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

/// A way to cluster, and how well the clusters keep edges inside.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ClusteringScore {
    /// Which edges the training sees.
    pub links: Links,
    /// What k-means is run on.
    pub coordinates: Coordinates,
    /// The mean modularity.
    pub modularity: f64,
}

/// What was chosen, and everything it was chosen from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tuning {
    /// The best, with the seed and the number of clusters of `base`.
    pub config: NodeClusteringConfig,
    /// Every way to train, in the order of the grid.
    pub trainings: Vec<TrainingScore>,
    /// Every way to cluster, in the order of the grid.
    pub clusterings: Vec<ClusteringScore>,
}

/// How far the choice is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TuneProgress {
    /// Trainings that are done.
    pub done: usize,
    /// Trainings that there are.
    pub total: usize,
}

/// Chooses settings for a graph, or one for several, by the criteria of the
/// [module](self). What the grid does not have is taken from `base`.
///
/// The number of clusters is `base.clusters`, or that of the classes of each data
/// set; nothing else of the labels is looked at.
///
/// # Complexity
/// A training of the largest number of epochs for each use of features, kind of
/// autoencoder, seed and graph; then one for each choice of links, seed and graph.
///
/// # Errors
/// [`Error::Setting`] if there is nothing to choose from, no seed or no graph, and
/// those of [`NodeClustering::run`].
///
/// ```
/// use egg_cluster::pipeline::{Grid, Preset, tune};
/// use egg_cluster::vgae::Control;
/// use egg_graph::synthetic::BlockModel;
/// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
///
/// let model = BlockModel { nodes: 200, blocks: 3, ..BlockModel::default() };
/// let dataset = model.generate(&mut ChaCha8Rng::seed_from_u64(0))?;
/// let grid = Grid { epochs: vec![10, 20], variational: vec![false], ..Grid::default() };
/// let tuning = tune(&[&dataset], &grid, &Preset::Paper.config(), &[0], &mut |_| Control::Continue)?;
/// let best = tuning.clusterings.iter().map(|tried| tried.modularity).fold(f64::MIN, f64::max);
/// assert!(tuning.clusterings.iter().any(|tried| tried.modularity == best && tried.coordinates == tuning.config.coordinates));
/// # Ok::<(), egg_cluster::Error>(())
/// ```
pub fn tune(
    datasets: &[&GraphDataset],
    grid: &Grid,
    base: &NodeClusteringConfig,
    seeds: &[u64],
    on_training: &mut dyn FnMut(&TuneProgress) -> Control,
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
        on_training,
    };
    let trainings = tuner.trainings(base)?;
    let Some(training) = best(&trainings, |tried| tried.roc_auc) else {
        return Err(nothing());
    };
    let mut config = *base;
    config.features = training.features;
    config.autoencoder.encoder.variational = training.variational;
    config.autoencoder.epochs = training.epochs;
    config.autoencoder.stop_early = None;
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

    /// The largest number that divides all epochs: so often held-out edges are looked at.
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
    dataset: GraphDataset,
    clusters: usize,
}

impl Subject {
    fn new(dataset: &GraphDataset, base: &NodeClusteringConfig) -> Result<Self> {
        let clusters =
            NodeClustering::new(*base)?.cluster_count(dataset.node_labels(), dataset.node_count())?;
        if dataset.len() != 1 {
            return Err(Error::NotOneGraph {
                graphs: dataset.len(),
            });
        }
        let graph = dataset.graph(0)?.to_graph().without_node_labels();
        Ok(Self {
            dataset: GraphDataset::single(dataset.name(), graph),
            clusters,
        })
    }
}

struct Tuner<'a> {
    subjects: Vec<Subject>,
    grid: &'a Grid,
    seeds: &'a [u64],
    progress: TuneProgress,
    on_training: &'a mut dyn FnMut(&TuneProgress) -> Control,
}

impl Tuner<'_> {
    fn trainings(&mut self, base: &NodeClusteringConfig) -> Result<Vec<TrainingScore>> {
        let mut scores = Vec::new();
        for &features in &self.grid.features {
            for &variational in &self.grid.variational {
                let mut config = *base;
                config.features = features;
                config.autoencoder.encoder.variational = variational;
                config.autoencoder.epochs = self.grid.epochs.iter().copied().max().unwrap_or(0);
                config.autoencoder.validate_every = self.grid.step();
                config.autoencoder.stop_early = None;
                let mut sums = vec![0.0; self.grid.epochs.len()];
                for (subject, seed) in self.runs() {
                    config.links = Links::Split {
                        validation: self.grid.held_out,
                        test: 0.0,
                        seed,
                    };
                    let config = NodeClusteringConfig { seed, ..config };
                    let embedding = NodeClustering::new(config)?.embed(
                        &self.subjects[subject].dataset,
                        None,
                        &mut go_on,
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
                let embedding = clustering.embed(&subject.dataset, None, &mut go_on)?;
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
        match (self.on_training)(&self.progress) {
            Control::Continue => Ok(()),
            Control::Cancel => Err(Error::Cancelled { epochs: 0 }),
        }
    }
}

fn go_on(_: &ClusteringEvent) -> Control {
    Control::Continue
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
