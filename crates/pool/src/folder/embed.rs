//! What a trained model sees in graphs: their coordinates, and which nodes matter.

use candle_core::{DType, Tensor};
use egg_autodiff::{Embedder, Flatten, leverage};
use egg_graph::{GraphDataset, batches};
use ndarray::{Array2, ArrayView2, Axis, concatenate};

use super::saved::TrainedModel;
use crate::data::PreparedGraphs;
use crate::error::{Error, Result};

/// Graphs and their nodes as a model sees them.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedding {
    /// One row per graph: what the pooling gave; of GIN's layers side by side.
    pub graphs: Array2<f32>,
    /// One row per node, in the order of the data set, after the last
    /// convolution before any node was left out; `None` of a model without
    /// convolutions.
    pub nodes: Option<Array2<f32>>,
    /// The first row of each graph's nodes, and their number.
    pub offsets: Vec<usize>,
    /// Of models that pool with EGG.
    pub subspaces: Option<Subspaces>,
    /// [`PoolingSettings::isometric_weights`](crate::pooling::PoolingSettings::isometric_weights)
    /// of one layer.
    isometric_weights: Vec<f32>,
}

impl Embedding {
    /// One row per graph for whoever measures distances between rows (maps, neighbours,
    /// clusters): those of matrices are then the matrices' own, [`Flatten::Isometric`],
    /// whatever the model reads.
    pub fn isometric(&self) -> Array2<f32> {
        let mut rows = self.graphs.clone();
        if !self.isometric_weights.is_empty() {
            // Of several layers one after the other.
            for mut row in rows.rows_mut() {
                for (entry, weight) in row.iter_mut().zip(self.isometric_weights.iter().cycle()) {
                    *entry *= weight;
                }
            }
        }
        rows
    }
}

/// The subspaces that a graph's nodes span, by the model's own rank rule.
#[derive(Debug, Clone, PartialEq)]
pub struct Subspaces {
    /// How many directions each graph kept.
    pub ranks: Vec<usize>,
    /// The share of the sum of the singular values that they have.
    pub captured: Vec<f64>,
    /// `(V_p V_p^T)_vv` of every node: how much of its graph's subspace hangs on
    /// it. Between 0 and 1, and p in sum over a graph.
    pub leverage: Vec<f32>,
}

impl TrainedModel {
    /// Embeds every graph of a data set, whose features get the treatment that
    /// those of the training data got.
    ///
    /// # Errors
    /// As [`Self::predict`].
    ///
    /// ```
    /// use egg_graph::synthetic::CovarianceSet;
    /// use egg_pool::folder::TrainedModel;
    /// use egg_pool::convolution::Gcn;
    /// use egg_pool::protocol::{Experiment, Protocol, RunOptions};
    /// use egg_pool::train::Silent;
    ///
    /// let dataset = CovarianceSet { graphs: 40, ..Default::default() }
    ///     .generate(&mut <rand_chacha::ChaCha8Rng as rand::SeedableRng>::seed_from_u64(0))?;
    /// let mut experiment = Experiment::new(&dataset, Protocol::Paper, Gcn, "egg".parse()?)?;
    /// experiment.training.max_epochs = 1;
    /// let graphs = experiment.prepare(dataset.clone())?;
    /// let trained = TrainedModel::train(&experiment, &graphs, 0, &RunOptions::default(), &mut Silent)?;
    /// let embedding = trained.embed(dataset)?;
    /// assert_eq!(embedding.graphs.dim(), (40, 32 * 33 / 2));
    /// let subspaces = embedding.subspaces.ok_or("EGG has subspaces")?;
    /// let first: f32 = subspaces.leverage[..embedding.offsets[1]].iter().sum();
    /// assert!((first - subspaces.ranks[0] as f32).abs() < 1e-3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn embed(&self, dataset: GraphDataset) -> Result<Embedding> {
        let config = self.config();
        let dataset = self.prepare(dataset)?;
        let network = self.model().network();
        let graphs = PreparedGraphs::new(dataset, network.propagation(), DType::F32)?;
        let has_layers = config.model.convolution.has_layers();
        let embedder = match config.model.pooling.rank_rule() {
            Some(rank) if has_layers => Some(Embedder::new(rank, Flatten::Upper)?),
            _ => None,
        };
        let order: Vec<usize> = (0..graphs.dataset().len()).collect();
        let (mut rows, mut nodes) = (Vec::new(), Vec::new());
        let mut subspaces = embedder.as_ref().map(|_| Subspaces {
            ranks: Vec::new(),
            captured: Vec::new(),
            leverage: Vec::new(),
        });
        for part in batches(&order, config.training.batch_size) {
            let batch = graphs.batch_without_targets(part)?;
            let embedded = network.embed(&batch)?;
            rows.push(matrix(&embedded.graphs)?);
            let Some(h) = embedded.nodes else { continue };
            if let (Some(embedder), Some(subspaces)) = (&embedder, &mut subspaces) {
                let offsets = batch.structure.offsets();
                let (_, spectra) = embedder.embed_with_spectra(&h, offsets)?;
                for spectrum in &spectra {
                    subspaces.ranks.push(spectrum.choice.p);
                    subspaces.captured.push(spectrum.choice.captured);
                }
                let shares = leverage(&h, offsets, embedder.rule())?.to_dtype(DType::F32)?;
                subspaces.leverage.extend(shares.to_vec1::<f32>()?);
            }
            nodes.push(matrix(&h)?);
        }
        Ok(Embedding {
            graphs: stacked(&rows)?.unwrap_or_else(|| Array2::zeros((0, 0))),
            nodes: stacked(&nodes)?,
            offsets: graphs.dataset().node_offsets().to_vec(),
            subspaces,
            isometric_weights: match has_layers {
                true => config.model.pooling.isometric_weights(config.model.hidden),
                false => Vec::new(),
            },
        })
    }
}

fn matrix(tensor: &Tensor) -> Result<Array2<f32>> {
    let shape = tensor.dims2()?;
    let numbers = tensor.to_dtype(DType::F32)?.flatten_all()?.to_vec1::<f32>()?;
    Array2::from_shape_vec(shape, numbers).map_err(|error| unfit(&error))
}

/// All parts, one below the other; `None` of none.
fn stacked(parts: &[Array2<f32>]) -> Result<Option<Array2<f32>>> {
    if parts.is_empty() {
        return Ok(None);
    }
    let views: Vec<ArrayView2<'_, f32>> = parts.iter().map(|part| part.view()).collect();
    let whole = concatenate(Axis(0), &views).map_err(|error| unfit(&error))?;
    Ok(Some(whole))
}

fn unfit(error: &ndarray::ShapeError) -> Error {
    Error::setting("embeddings", "uneven", error.to_string())
}
