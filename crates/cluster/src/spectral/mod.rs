//! Spectral clustering of a graph, the baseline that needs no features.
//!
//! The rows of the first k eigenvectors of the normalised Laplacian
//! `I - D^(-1/2) A D^(-1/2)` are clustered by k-means (Shi and Malik, 2000; Ng,
//! Jordan and Weiss, 2001). Eigenvectors come from products with the sparse
//! matrix only: memory is `O(edges + n k)`.

mod eigen;

use egg_graph::Graph;
use ndarray::{Array2, Axis};
use rand::Rng;
use serde::{Deserialize, Serialize};

use crate::error::{Result, require};
use crate::kmeans::{KMeans, KMeansConfig, KMeansFit};
use crate::normalised::Normalised;

/// How the rows of the eigenvectors are scaled before k-means.
///
/// ```
/// use egg_cluster::spectral::RowScaling;
/// assert_eq!(RowScaling::default(), RowScaling::Degree);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RowScaling {
    /// Divided by the root of the node's degree: eigenvectors of the random
    /// walk. As in scikit-learn.
    #[default]
    Degree,
    /// Divided by their lengths (Ng, Jordan and Weiss).
    Unit,
    /// As they are.
    None,
}

/// Settings of spectral clustering.
///
/// ```
/// use egg_cluster::spectral::SpectralConfig;
/// use egg_graph::Graph;
/// use rand::SeedableRng;
/// use rand_chacha::ChaCha8Rng;
///
/// // Two triangles joined by an edge.
/// let graph = Graph::from_edges(6, &[(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (2, 3)])?;
/// let found = SpectralConfig::new(2).check()?.fit(&graph, &mut ChaCha8Rng::seed_from_u64(0))?;
/// assert_eq!(found.kmeans.sizes(), [3, 3]);
/// assert!(found.eigenvalues[0].abs() < 1e-12);
/// # Ok::<(), egg_cluster::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpectralConfig {
    /// How many eigenvectors, usually as many as clusters; at least 1.
    pub components: usize,
    /// How their rows are scaled.
    #[serde(default)]
    pub scaling: RowScaling,
    /// The largest residual of an eigenvector that is accepted: `||L x - lambda x||`, more than 0.
    #[serde(default = "defaults::tolerance")]
    pub tolerance: f64,
    /// Filters at most.
    #[serde(default = "defaults::max_iterations")]
    pub max_iterations: usize,
    /// How the rows are clustered.
    pub kmeans: KMeansConfig,
}

mod defaults {
    pub(super) fn tolerance() -> f64 {
        1e-6
    }
    pub(super) fn max_iterations() -> usize {
        100
    }
}

impl SpectralConfig {
    /// k clusters from k eigenvectors, scaled as in scikit-learn.
    pub fn new(clusters: usize) -> Self {
        Self {
            components: clusters,
            scaling: RowScaling::default(),
            tolerance: defaults::tolerance(),
            max_iterations: defaults::max_iterations(),
            kmeans: KMeansConfig::new(clusters),
        }
    }

    /// Checks every setting.
    ///
    /// # Errors
    /// [`Error::Setting`](crate::Error::Setting), naming the first that is out
    /// of range.
    pub fn check(self) -> Result<SpectralClustering> {
        require(
            self.components >= 1,
            "components",
            self.components,
            "it must be at least 1",
        )?;
        require(
            self.tolerance > 0.0 && self.tolerance.is_finite(),
            "tolerance",
            self.tolerance,
            "it must be finite and more than 0",
        )?;
        let kmeans = self.kmeans.check()?;
        Ok(SpectralClustering { config: self, kmeans })
    }
}

/// Spectral clustering with settings that have been checked; see
/// [`SpectralConfig`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpectralClustering {
    config: SpectralConfig,
    kmeans: KMeans,
}

/// What spectral clustering found.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SpectralFit {
    /// n x components: eigenvectors as columns, rows scaled.
    pub embedding: Array2<f64>,
    /// Of the normalised Laplacian, ascending, one per column.
    pub eigenvalues: Vec<f64>,
    /// Filters that were applied.
    pub iterations: usize,
    /// The largest `||L x - lambda x||` at the end.
    pub residual: f64,
    /// Whether that is within the tolerance. If not, the last eigenvectors are
    /// inaccurate, as happens for eigenvalues close to each other.
    pub converged: bool,
    /// The clusters of the rows.
    pub kmeans: KMeansFit,
}

impl SpectralClustering {
    /// The settings.
    pub fn config(&self) -> &SpectralConfig {
        &self.config
    }

    /// Clusters the nodes of a graph by its edges, weighted if they have
    /// weights. Self loops don't count. The same state of the generator gives
    /// the same bits on any number of threads.
    ///
    /// A graph of more connected components than clusters has more eigenvectors of
    /// eigenvalue 0 than are used, and which of them these are is arbitrary:
    /// clusters then separate small components. Cluster the largest component only.
    ///
    /// # Complexity
    /// `O(iterations (60 edges + n w) w)` with w = components plus a half, at
    /// most; memory `O(n w)` in addition to the graph.
    ///
    /// # Errors
    /// [`Error::Empty`](crate::Error::Empty) for a graph without nodes,
    /// [`Error::Undefined`](crate::Error::Undefined) for negative weights,
    /// [`Error::Setting`](crate::Error::Setting) for more components or clusters
    /// than nodes.
    pub fn fit<R: Rng + ?Sized>(&self, graph: &Graph, rng: &mut R) -> Result<SpectralFit> {
        let matrix = Normalised::new(graph)?;
        require(
            self.config.components <= matrix.nodes(),
            "components",
            self.config.components,
            "there must be at least as many nodes",
        )?;
        let found = eigen::leading(
            &matrix,
            self.config.components,
            self.config.tolerance,
            self.config.max_iterations,
            rng,
        )?;
        let mut embedding = found.vectors;
        for (node, mut row) in embedding.axis_iter_mut(Axis(0)).enumerate() {
            match self.config.scaling {
                RowScaling::Degree if matrix.scale(node) > 0.0 => row *= matrix.scale(node),
                RowScaling::Unit => {
                    let length = row.iter().map(|x| x * x).sum::<f64>().sqrt();
                    if length > 0.0 {
                        row /= length;
                    }
                }
                RowScaling::Degree | RowScaling::None => {}
            }
        }
        Ok(SpectralFit {
            kmeans: self.kmeans.fit(embedding.view(), rng)?,
            embedding,
            eigenvalues: found.values.iter().map(|value| 1.0 - value).collect(),
            iterations: found.iterations,
            residual: found.residual,
            converged: found.residual <= self.config.tolerance,
        })
    }
}
