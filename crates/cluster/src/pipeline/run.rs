//! Running a clustering, as a whole or step by step.

use std::borrow::Cow;
use std::time::Instant;

use candle_core::DType;
use egg_graph::{Graph, GraphDataset, Labels};
use egg_nn::{Observer, Silent};
use ndarray::{Array2, ArrayView2};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::config::{Clusterer, Coordinates, Encoder, Links, NodeClusteringConfig};
use super::event::ClusteringEvent;
use super::report::{ClusterReport, Timings};
use super::rows::Rows;
use crate::error::{Error, Result};
use crate::kmeans::KMeansFit;
use crate::metrics::{Agreement, Contingency, Cut, Ranking};
use crate::smooth::SmoothConfig;
use crate::vgae::{Autoencoder, AutoencoderConfig, CheckpointConfig, Epoch, LinkTask, Precision};

/// The stream of the generator that k-means draws from; training has the first.
const KMEANS_STREAM: u64 = 1;

/// The stream that smoothing draws from.
pub(super) const SMOOTH_STREAM: u64 = 2;

/// Clusters the nodes of a graph; see the [module](super).
///
/// The same settings and graph give the same bits on any number of threads.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NodeClustering {
    config: NodeClusteringConfig,
}

/// The embedding of a graph's nodes, to be clustered in one way or several.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct NodeEmbedding {
    /// `H` (n x d).
    pub h: Array2<f64>,
    /// Every epoch, in order.
    pub history: Vec<Epoch>,
    /// The epoch that `H` is of.
    pub epoch: u64,
    /// Of held-out edges, if there are any.
    pub validation: Option<Ranking>,
    /// Of test edges, if there are any.
    pub test: Option<Ranking>,
    /// The timings of preparing and training.
    pub timings: Timings,
    /// Whether `H` was computed in f32: then so is its rounding error.
    single: bool,
    graph: Graph,
    labels: Option<Labels>,
}

/// A clustering of a graph's nodes.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct NodeClusters {
    /// The cluster of each node.
    pub labels: Vec<u32>,
    /// `H` (n x d).
    pub embedding: Array2<f64>,
    /// What k-means was run on, if it was not `H` itself (n x p).
    pub coordinates: Option<Array2<f64>>,
    /// Measures and timings.
    pub report: ClusterReport,
    /// Every epoch, in order.
    pub history: Vec<Epoch>,
}

impl NodeClustering {
    /// Checks the settings, as far as possible without a graph.
    ///
    /// # Errors
    /// [`Error::Setting`] or [`Error::Geometry`], naming the first that is out of
    /// its range.
    pub fn new(config: NodeClusteringConfig) -> Result<Self> {
        config.check()?;
        Ok(Self { config })
    }

    /// The settings.
    pub fn config(&self) -> &NodeClusteringConfig {
        &self.config
    }

    /// From a data set of one graph to clusters of its nodes. `observer` receives every event
    /// and may cancel.
    ///
    /// With a `checkpoint` training is saved to its file; if the file exists, training resumes
    /// from it bit for bit.
    ///
    /// # Errors
    /// Those of [`Self::embed`] and [`Self::cluster`], and [`Error::Cancelled`].
    pub fn run(
        &self,
        dataset: &GraphDataset,
        checkpoint: Option<&CheckpointConfig>,
        observer: &mut dyn Observer<ClusteringEvent>,
    ) -> Result<NodeClusters> {
        // Before the training, not after it.
        self.cluster_count(dataset.node_labels(), dataset.node_count())?;
        let embedding = self.embed(dataset, checkpoint, observer)?;
        let (found, coordinates, report) =
            self.cluster_observed(&embedding, &self.config.coordinates, observer)?;
        Ok(NodeClusters {
            labels: found.labels,
            embedding: embedding.h,
            coordinates,
            report,
            history: embedding.history,
        })
    }

    /// Returns `H`: trains the autoencoder, or smooths the features, for which there is no checkpoint.
    ///
    /// # Errors
    /// [`Error::NotOneGraph`]; of an autoencoder [`Error::NoEdges`] and those of
    /// [`Autoencoder::train`]; of smoothing those of [`Smooth::embed`](crate::smooth::Smooth::embed).
    pub fn embed(
        &self,
        dataset: &GraphDataset,
        checkpoint: Option<&CheckpointConfig>,
        observer: &mut dyn Observer<ClusteringEvent>,
    ) -> Result<NodeEmbedding> {
        match &self.config.encoder {
            Encoder::Autoencoder(autoencoder) => self.train(autoencoder, dataset, checkpoint, observer),
            Encoder::Smooth(smooth) => self.smooth(smooth, dataset, observer),
        }
    }

    fn smooth(
        &self,
        smooth: &SmoothConfig,
        dataset: &GraphDataset,
        observer: &mut dyn Observer<ClusteringEvent>,
    ) -> Result<NodeEmbedding> {
        let smooth = smooth.check()?;
        if dataset.len() != 1 {
            return Err(Error::NotOneGraph {
                graphs: dataset.len(),
            });
        }
        let begin = Instant::now();
        // Without features, the rows of the filter itself.
        let prepared = match dataset.features().width() {
            0 => Cow::Borrowed(dataset),
            _ => self.config.features.apply(dataset)?,
        };
        let graph = dataset.graph(0)?.to_graph();
        let mut timings = Timings {
            preparing: Timings::seconds(begin),
            ..Timings::default()
        };
        let event = ClusteringEvent::Prepared {
            nodes: graph.node_count(),
            edges: graph.edge_count(),
        };
        if observer.observe(event).is_break() {
            return Err(Error::Cancelled { epochs: 0 });
        }
        let begin = Instant::now();
        let mut rng = ChaCha8Rng::seed_from_u64(self.config.seed);
        rng.set_stream(SMOOTH_STREAM);
        let found = smooth.embed(&graph, prepared.features(), &mut rng)?;
        timings.training = Timings::seconds(begin);
        if observer.observe(ClusteringEvent::Trained { epoch: 0 }).is_break() {
            return Err(Error::Cancelled { epochs: 0 });
        }
        Ok(NodeEmbedding {
            h: found.h,
            history: Vec::new(),
            epoch: 0,
            validation: None,
            test: None,
            timings,
            single: false,
            graph,
            labels: dataset.node_labels().cloned(),
        })
    }

    fn train(
        &self,
        autoencoder: &AutoencoderConfig,
        dataset: &GraphDataset,
        checkpoint: Option<&CheckpointConfig>,
        observer: &mut dyn Observer<ClusteringEvent>,
    ) -> Result<NodeEmbedding> {
        let config = &self.config;
        let begin = Instant::now();
        let prepared = config.features.apply(dataset)?;
        let task = match config.links {
            Links::All => LinkTask::all_edges(&prepared)?,
            Links::Split {
                validation,
                test,
                seed,
            } => LinkTask::split(&prepared, validation, test, &mut ChaCha8Rng::seed_from_u64(seed))?,
        };
        let mut timings = Timings {
            preparing: Timings::seconds(begin),
            ..Timings::default()
        };
        let event = ClusteringEvent::Prepared {
            nodes: task.node_count(),
            edges: task.target().edge_count(),
        };
        if observer.observe(event).is_break() {
            return Err(Error::Cancelled { epochs: 0 });
        }
        let begin = Instant::now();
        let mut on_epoch = |epoch: Epoch| observer.observe(ClusteringEvent::Epoch(epoch));
        let trained = Autoencoder::train(&task, autoencoder, config.seed, checkpoint, &mut on_epoch)?;
        timings.training = Timings::seconds(begin);
        let event = ClusteringEvent::Trained { epoch: trained.epoch };
        if observer.observe(event).is_break() {
            return Err(Error::Cancelled {
                epochs: trained.history.len() as u64,
            });
        }
        let shape = trained.embedding.dims2()?;
        let numbers: Vec<f64> = trained.embedding.to_dtype(DType::F64)?.flatten_all()?.to_vec1()?;
        let h = Array2::from_shape_vec(shape, numbers).map_err(|_| Error::Empty { what: "H" })?;
        Ok(NodeEmbedding {
            h,
            history: trained.history,
            epoch: trained.epoch,
            validation: trained.validation,
            test: trained.test,
            timings,
            single: autoencoder.precision == Precision::Single,
            // The whole graph: measures count all edges.
            graph: dataset.graph(0)?.to_graph(),
            labels: dataset.node_labels().cloned(),
        })
    }

    /// Clusters an embedding, with these coordinates in place of the configured
    /// ones. Returns the clusters with their measures; the timings of preparing
    /// and training are the embedding's.
    ///
    /// # Errors
    /// [`Error::Setting`] if the number of clusters is neither configured nor that of
    /// known classes, or above that of the nodes; [`Error::ZeroEmbedding`] if `H` is
    /// zero; [`Error::Geometry`] and
    /// [`Error::NonFinite`] if `H` can't be decomposed.
    pub fn cluster(
        &self,
        embedding: &NodeEmbedding,
        coordinates: &Coordinates,
    ) -> Result<(KMeansFit, ClusterReport)> {
        let (found, _, report) = self.cluster_observed(embedding, coordinates, &mut Silent)?;
        Ok((found, report))
    }

    pub(super) fn cluster_observed(
        &self,
        embedding: &NodeEmbedding,
        coordinates: &Coordinates,
        observer: &mut dyn Observer<ClusteringEvent>,
    ) -> Result<(KMeansFit, Option<Array2<f64>>, ClusterReport)> {
        let h = embedding.h.view();
        let clusters = self.cluster_count(embedding.labels.as_ref(), h.nrows())?;
        let mut timings = embedding.timings;
        let cancelled = || Error::Cancelled {
            epochs: embedding.history.len() as u64,
        };

        let begin = Instant::now();
        let rows = Rows::new(h, embedding.single, coordinates)?;
        timings.coordinates = Timings::seconds(begin);
        let points = rows.points(h);
        let dimension = points.ncols();
        if observer
            .observe(ClusteringEvent::Coordinates { dimension })
            .is_break()
        {
            return Err(cancelled());
        }

        let begin = Instant::now();
        let found = self.fit(points, clusters)?;
        timings.clustering = Timings::seconds(begin);
        let event = ClusteringEvent::Clustered {
            inertia: found.inertia,
        };
        if observer.observe(event).is_break() {
            return Err(cancelled());
        }

        let begin = Instant::now();
        let (agreement, modularity, conductance) =
            measured(&embedding.graph, embedding.labels.as_ref(), &found.labels)?;
        timings.measuring = Timings::seconds(begin);
        let report = ClusterReport {
            agreement,
            modularity,
            conductance,
            inertia: found.inertia,
            dimension,
            captured: rows.captured,
            captured_squares: rows.captured_squares,
            validation: embedding.validation,
            test: embedding.test,
            epoch: embedding.epoch,
            loss: embedding.history.last().map(|epoch| epoch.loss),
            timings,
        };
        Ok((found, rows.own, report))
    }

    pub(super) fn fit(&self, points: ArrayView2<'_, f64>, clusters: usize) -> Result<KMeansFit> {
        let mut rng = ChaCha8Rng::seed_from_u64(self.config.seed);
        rng.set_stream(KMEANS_STREAM);
        match self.config.clusterer {
            Clusterer::KMeans { .. } => {
                let kmeans = self.config.clusterer.kmeans(clusters).check()?;
                kmeans.fit(points, &mut rng)
            }
            Clusterer::MiniBatch { .. } => {
                let kmeans = self.config.clusterer.mini_batch(clusters).check()?;
                kmeans.fit(points, &mut rng)
            }
        }
    }

    pub(super) fn cluster_count(&self, labels: Option<&Labels>, nodes: usize) -> Result<usize> {
        let clusters = match (self.config.clusters, labels) {
            (Some(clusters), _) => clusters,
            (None, Some(labels)) if labels.class_count() > 0 => labels.class_count(),
            _ => {
                return Err(Error::setting(
                    "clusters",
                    "none",
                    "the nodes have no classes to count, so the number of clusters must be set",
                ));
            }
        };
        if clusters > nodes {
            return Err(Error::setting(
                "clusters",
                clusters,
                "there must be at least as many nodes as clusters",
            ));
        }
        Ok(clusters)
    }
}

/// The agreement with known classes, the modularity and the mean conductance of clusters, where they are defined.
pub(super) fn measured(
    graph: &Graph,
    labels: Option<&Labels>,
    clusters: &[u32],
) -> Result<(Option<Agreement>, Option<f64>, Option<f64>)> {
    let agreement = match labels {
        Some(labels) if labels.known() > 0 => Some(Contingency::of_known(labels, clusters)?.agreement()?),
        _ => None,
    };
    let cut = Cut::new(graph, clusters)?;
    Ok((agreement, cut.modularity().ok(), cut.mean_conductance().ok()))
}
