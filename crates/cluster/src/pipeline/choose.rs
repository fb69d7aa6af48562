//! Choosing the settings of smoothed features for a graph, without labels.

use egg_geometry::RankRule;
use egg_graph::Graph;
use egg_nn::Observer;
use egg_results::Summary;
use ndarray::ArrayView2;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::config::{Clusterer, Coordinates, Encoder, Links, NodeClusteringConfig};
use super::features::FeatureUse;
use super::rows::Rows;
use super::run::{NodeClustering, SMOOTH_STREAM};
use super::unlabelled::Unlabelled;
use crate::egg::{EggConfig, Weighting};
use crate::error::{Error, Result, require};
use crate::metrics::Cut;
use crate::smooth::{Filter, SmoothConfig, Smoother};

/// The settings to choose from, all combinations of them.
///
/// The default and the criterion were fixed by what they choose on Cora and Citeseer; docs/CLUSTERING.md has what came
/// of them there, and on graphs that had no part in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Candidates {
    /// How features are prepared; without effect on a graph without features.
    pub features: Vec<FeatureUse>,
    /// The filter.
    pub filter: Filter,
    /// Its steps, ascending.
    pub steps: Vec<usize>,
    /// How many directions EGG keeps, as multiples of the number of clusters.
    pub ranks: Vec<usize>,
    /// How directions are weighted.
    pub weightings: Vec<Weighting>,
    /// Whether rows are divided by their length.
    pub normalise_rows: Vec<bool>,
    /// Over how many seeds of k-means, of one start each, the criterion is averaged.
    pub starts: usize,
}

impl Default for Candidates {
    fn default() -> Self {
        Self {
            features: vec![FeatureUse::TfIdf, FeatureUse::UnitLength],
            filter: Filter::LazyWalk,
            steps: vec![1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48],
            ranks: vec![2],
            weightings: vec![Weighting::Spectral(1.0)],
            normalise_rows: vec![true],
            starts: 4,
        }
    }
}

impl Candidates {
    fn check(&self) -> Result<()> {
        let sizes = [
            ("features", self.features.len()),
            ("steps", self.steps.len()),
            ("ranks", self.ranks.len()),
            ("weightings", self.weightings.len()),
            ("normalise_rows", self.normalise_rows.len()),
            ("starts", self.starts),
        ];
        for (name, size) in sizes {
            require(size > 0, name, size, "there must be at least one to choose from")?;
        }
        let least = self.ranks.iter().min().copied().unwrap_or(0);
        require(least > 0, "ranks", least, "each must be at least 1")
    }

    /// What k-means is run on, for so many clusters.
    fn coordinates(&self, clusters: usize) -> Vec<Coordinates> {
        let mut all = Vec::new();
        for rank in &self.ranks {
            for weighting in &self.weightings {
                for normalise_rows in &self.normalise_rows {
                    all.push(Coordinates::Egg(EggConfig {
                        rank: RankRule::Fixed(rank.saturating_mul(clusters)),
                        weighting: *weighting,
                        normalise_rows: *normalise_rows,
                    }));
                }
            }
        }
        all
    }
}

/// Settings that were tried, and what the criterion says of them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Candidate {
    /// The settings of the whole clustering.
    pub config: NodeClusteringConfig,
    /// The modularity of the clusters, the mean over starts of k-means. None if the graph has no edges.
    pub modularity: Option<f64>,
    /// The standard error of this mean; none of a single start.
    pub standard_error: Option<f64>,
}

/// The chosen settings, and the scores of all.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Choice {
    /// The first whose modularity is within two standard errors of the best: what is not distinguished from it, with
    /// the fewest steps.
    pub config: NodeClusteringConfig,
    /// All, in the order in which they were tried.
    pub candidates: Vec<Candidate>,
}

/// The event of [`choose`]: candidates are done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChoiceProgress {
    /// Finished candidates.
    pub done: usize,
    /// All candidates.
    pub total: usize,
}

/// Chooses how a graph's nodes are clustered: features, steps of the filter and coordinates, by the modularity of the
/// clusters. Of those that are not distinguished from the best the one with the fewest steps is taken.
///
/// A use of features that leaves zeros only (tf-idf, where every node has every feature) is left out.
///
/// # Complexity
/// A decomposition for each use of features and number of steps (all but the first of a use start from the one before),
/// and `starts` of k-means for each candidate.
///
/// # Errors
/// [`Error::Setting`] if there is nothing to choose from, or more clusters than nodes; [`Error::Undefined`] if the graph
/// has no edges; [`Error::Cancelled`] if the observer cancels; those of [`Smooth::embed`](crate::smooth::Smooth::embed) and [`NodeClustering::cluster`].
///
/// ```
/// use egg_cluster::Silent;
/// use egg_cluster::pipeline::{Candidates, NodeClustering, Unlabelled, choose};
/// use egg_graph::synthetic::BlockModel;
/// use rand::SeedableRng;
/// use rand_chacha::ChaCha8Rng;
///
/// let model = BlockModel { nodes: 300, blocks: 3, ..BlockModel::default() };
/// let dataset = model.generate(&mut ChaCha8Rng::seed_from_u64(0))?;
/// let choice = choose(&Unlabelled::new(&dataset)?, 3, &Candidates::default(), 0, &mut Silent)?;
/// let found = NodeClustering::new(choice.config)?.run(&dataset, None, &mut Silent)?;
/// assert!(found.report.agreement.is_some_and(|agreement| agreement.accuracy > 0.9));
/// # Ok::<(), egg_cluster::Error>(())
/// ```
pub fn choose(
    graph: &Unlabelled,
    clusters: usize,
    candidates: &Candidates,
    seed: u64,
    observer: &mut dyn Observer<ChoiceProgress>,
) -> Result<Choice> {
    candidates.check()?;
    let dataset = graph.dataset();
    require(
        (1..=dataset.node_count()).contains(&clusters),
        "clusters",
        clusters,
        "there must be at least one, and no more than nodes",
    )?;
    let has_features = dataset.features().width() > 0;
    let features = match has_features {
        true => &candidates.features[..],
        false => &[FeatureUse::Raw],
    };
    let coordinates = candidates.coordinates(clusters);
    let ranks = candidates.ranks.iter().max().copied().unwrap_or(1);
    let directions = ranks.saturating_mul(clusters).max(1);
    let mut steps = candidates.steps.clone();
    steps.sort_unstable();
    steps.dedup();
    for &steps in &steps {
        let config = SmoothConfig {
            filter: candidates.filter,
            steps,
            directions,
        };
        config.check()?;
    }
    let mut progress = ChoiceProgress {
        done: 0,
        total: features.len() * steps.len() * coordinates.len(),
    };
    let mut tried: Vec<Candidate> = Vec::with_capacity(progress.total);
    let single = dataset.graph(0)?.to_graph();
    for &features in features {
        let prepared = features.apply(dataset)?;
        if has_features && prepared.features().nonzeros() == 0 {
            // As tf-idf makes of numbers of which none is zero.
            progress.total -= steps.len() * coordinates.len();
            continue;
        }
        let mut smoother = Smoother::new(&single, prepared.features(), candidates.filter, directions)?;
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(SMOOTH_STREAM);
        for &steps in &steps {
            let h = smoother.embed(steps, &mut rng)?.h;
            for &coordinates in &coordinates {
                let config = NodeClusteringConfig {
                    features,
                    links: Links::All,
                    encoder: Encoder::Smooth(SmoothConfig {
                        filter: candidates.filter,
                        steps,
                        directions,
                    }),
                    coordinates,
                    clusters: Some(clusters),
                    clusterer: Clusterer::default(),
                    seed,
                };
                tried.push(scored(h.view(), &single, config, candidates.starts)?);
                progress.done += 1;
                if observer.observe(progress).is_break() {
                    return Err(Error::Cancelled { epochs: 0 });
                }
            }
        }
    }
    if tried.is_empty() {
        return Err(Error::ZeroEmbedding {
            nodes: dataset.node_count(),
        });
    }
    if tried.iter().all(|candidate| candidate.modularity.is_none()) {
        return Err(Error::Undefined {
            measure: "modularity",
            reason: "the graph has no edges, so there is nothing to choose by: set how to cluster it",
        });
    }
    let score = |candidate: &Candidate| candidate.modularity.unwrap_or(f64::NEG_INFINITY);
    let best = tried.iter().max_by(|a, b| score(a).total_cmp(&score(b)));
    let bound = best.map_or(f64::NEG_INFINITY, |best| {
        score(best) - 2.0 * best.standard_error.unwrap_or(0.0)
    });
    let Some(first) = tried.iter().find(|candidate| score(candidate) >= bound) else {
        return Err(Error::setting(
            "candidates",
            0,
            "there must be at least one to choose from",
        ));
    };
    Ok(Choice {
        config: first.config,
        candidates: tried,
    })
}

/// The modularity of clusters by several starts of k-means on the coordinates of `H`.
fn scored(
    h: ArrayView2<'_, f64>,
    graph: &Graph,
    config: NodeClusteringConfig,
    starts: usize,
) -> Result<Candidate> {
    let rows = Rows::new(h, false, &config.coordinates)?;
    let clusterer = match config.clusterer {
        Clusterer::KMeans {
            max_iterations,
            tolerance,
            ..
        } => Clusterer::KMeans {
            starts: 1,
            max_iterations,
            tolerance,
        },
        other => other,
    };
    let mut values = Vec::with_capacity(starts);
    for start in 0..starts as u64 {
        let one = NodeClustering::new(NodeClusteringConfig {
            clusterer,
            seed: config.seed.wrapping_add(start),
            ..config
        })?;
        let found = one.fit(rows.points(h), config.clusters.unwrap_or(1))?;
        values.extend(Cut::new(graph, &found.labels)?.modularity().ok());
    }
    let summary = Summary::from_values(&values, 1);
    Ok(Candidate {
        config,
        modularity: summary.map(|summary| summary.mean),
        standard_error: summary
            .and_then(|summary| summary.deviation)
            .map(|deviation| deviation / (values.len() as f64).sqrt()),
    })
}
