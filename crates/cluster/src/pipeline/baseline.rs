//! What EGG is compared with: clusterings that see the edges alone, or the features alone.

use std::time::Instant;

use egg_graph::GraphDataset;
use egg_nn::Silent;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::config::{Clusterer, Coordinates, Encoder, Links, NodeClusteringConfig};
use super::features::FeatureUse;
use super::repetitions::MethodClusters;
use super::report::{ClusterReport, Timings};
use super::run::{NodeClustering, measured};
use crate::error::{Error, Result};
use crate::smooth::SmoothConfig;
use crate::spectral::SpectralConfig;

/// A clustering that EGG is compared with.
///
/// ```
/// use egg_cluster::pipeline::Baseline;
/// use egg_graph::synthetic::karate_club;
///
/// let karate = karate_club()?;
/// let found = Baseline::Spectral.cluster(&karate, 2, 0)?;
/// assert!(found.report.agreement.is_some_and(|agreement| agreement.accuracy > 0.9));
/// # Ok::<(), egg_cluster::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Baseline {
    /// Spectral clustering of the graph, without features: [`spectral`](crate::spectral).
    Spectral,
    /// k-means on the features, rows of unit length, without edges. Wide features are first cut to their 64 strongest
    /// directions.
    Features,
}

impl Baseline {
    /// All there are.
    pub const ALL: &[Self] = &[Self::Spectral, Self::Features];

    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Spectral => "spectral clustering",
            Self::Features => "k-means on features",
        }
    }

    /// Whether the graph has what it needs.
    pub fn applies_to(self, dataset: &GraphDataset) -> bool {
        match self {
            Self::Spectral => dataset.edge_count() > 0,
            Self::Features => dataset.features().nonzeros() > 0,
        }
    }

    /// Clusters the nodes.
    ///
    /// # Errors
    /// [`Error::NotOneGraph`]; those of
    /// [`SpectralClustering::fit`](crate::spectral::SpectralClustering::fit) and of [`NodeClustering::run`].
    pub fn cluster(self, dataset: &GraphDataset, clusters: usize, seed: u64) -> Result<MethodClusters> {
        match self {
            Self::Spectral => spectral(dataset, clusters, seed),
            Self::Features => {
                let config = NodeClusteringConfig {
                    features: FeatureUse::UnitLength,
                    links: Links::All,
                    encoder: Encoder::Smooth(SmoothConfig {
                        steps: 0,
                        ..SmoothConfig::default()
                    }),
                    coordinates: Coordinates::Plain {
                        normalise_rows: false,
                    },
                    clusters: Some(clusters),
                    clusterer: Clusterer::default(),
                    seed,
                };
                let found = NodeClustering::new(config)?.run(dataset, None, &mut Silent)?;
                Ok(MethodClusters {
                    labels: found.labels,
                    report: found.report,
                })
            }
        }
    }
}

fn spectral(dataset: &GraphDataset, clusters: usize, seed: u64) -> Result<MethodClusters> {
    if dataset.len() != 1 {
        return Err(Error::NotOneGraph {
            graphs: dataset.len(),
        });
    }
    let graph = dataset.graph(0)?.to_graph();
    let begin = Instant::now();
    let found = SpectralConfig::new(clusters)
        .check()?
        .fit(&graph, &mut ChaCha8Rng::seed_from_u64(seed))?;
    let mut timings = Timings {
        clustering: Timings::seconds(begin),
        ..Timings::default()
    };
    let begin = Instant::now();
    let (agreement, modularity, conductance) = measured(&graph, dataset.node_labels(), &found.kmeans.labels)?;
    timings.measuring = Timings::seconds(begin);
    Ok(MethodClusters {
        labels: found.kmeans.labels,
        report: ClusterReport {
            agreement,
            modularity,
            conductance,
            inertia: found.kmeans.inertia,
            dimension: clusters,
            captured: 1.0,
            captured_squares: 1.0,
            validation: None,
            test: None,
            epoch: 0,
            loss: None,
            timings,
        },
    })
}
