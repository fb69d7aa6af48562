//! What the tasks of `ratio` work on, made up from a seed but for PROTEINS.

use std::path::{Path, PathBuf};

use candle_core::{DType, Device, Tensor, Var};
use egg_datasets::{DataFolders, Registry};
use egg_graph::conv::{GcnConv, NodeInput, SparseMatrix};
use egg_graph::{
    CsrMatrix, Features, Graph, GraphBatch, GraphDataset, Labels, Propagation, ReadOptions, Targets,
    random_order, read_tu,
};
use egg_nn::{BatchNorm1d, Linear, Parameters};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Exp1, StandardNormal};

use crate::protocol::{Export, Outcome, tiny};

/// How large an input is, or how large if it is only to be seen whether tasks run.
fn size(full: usize, small: usize) -> usize {
    if tiny() { small } else { full }
}

/// Hidden features.
const WIDTH: usize = 64;

/// Nodes of the made-up graph for single operations.
const NODES: usize = 4000;

pub(crate) struct Inputs {
    /// 4,000 x 4,000, four entries a row.
    pub(crate) sparse: SparseMatrix,
    pub(crate) x: Var,
    pub(crate) linear: Linear,
    pub(crate) norm: BatchNorm1d,

    /// Where the graphs are from.
    pub(crate) source: String,
    pub(crate) dataset: GraphDataset,
    pub(crate) propagation: Propagation,
    /// A batch of 32 of them: normalised adjacency, features, and what a layer
    /// before would have made of these.
    pub(crate) adjacency: SparseMatrix,
    pub(crate) input: NodeInput,
    pub(crate) hidden: Var,
    pub(crate) input_layer: GcnConv,
    pub(crate) hidden_layer: GcnConv,

    /// Features of Cora's size and sparsity, and a propagation that copies.
    pub(crate) bags: NodeInput,
    pub(crate) copy: SparseMatrix,
    pub(crate) bag_layer: GcnConv,

    /// For the peers.
    batch: GraphBatch,
    parameters: Parameters,
}

impl Inputs {
    pub(crate) fn new() -> Outcome<Self> {
        let mut rng = ChaCha8Rng::seed_from_u64(64);
        let (source, dataset) = match proteins() {
            Some(path) => (
                path.display().to_string(),
                read_tu(&path, &ReadOptions::default())?,
            ),
            None => (
                "made up in the sizes of PROTEINS, which is not here (`cargo xtask data fetch PROTEINS` gets it)"
                    .to_owned(),
                made_up(&mut rng)?,
            ),
        };
        let mut chosen = random_order(dataset.len(), &mut rng);
        chosen.truncate(32);
        let batch = GraphBatch::new(&dataset, &chosen)?;
        let propagation = Propagation::gcn(&dataset);
        let input = NodeInput::from_batch(&batch, DType::F32, &Device::Cpu)?;

        let mut normal = |rows: usize| -> Outcome<Var> {
            let numbers = (0..rows * WIDTH).map(|_| StandardNormal.sample(&mut rng));
            let tensor = Tensor::from_vec(numbers.collect::<Vec<f32>>(), (rows, WIDTH), &Device::Cpu)?;
            Ok(Var::from_tensor(&tensor)?)
        };
        let nodes = size(NODES, 40);
        let (x, hidden) = (normal(nodes)?, normal(batch.node_count())?);
        let sparse = random_sparse(nodes, nodes, 4 * nodes, &mut rng)?;
        let (papers, words) = (size(2708, 30), size(1433, 20));
        let bags = random_sparse(papers, words, size(49_216, 90), &mut rng)?;
        let numbers = (0..u32::try_from(papers)?).collect();
        let copy = CsrMatrix::new((0..=papers).collect(), numbers, vec![1.0; papers], papers)?;

        let mut parameters = Parameters::new(DType::F32, &Device::Cpu)?;
        let mut root = parameters.root(&mut rng);
        let linear = Linear::new(&mut root.enter("linear"), WIDTH, WIDTH)?;
        let norm = BatchNorm1d::new(&mut root.enter("norm"), WIDTH)?;
        let input_layer = GcnConv::new(&mut root.enter("input"), input.width(), WIDTH)?;
        let hidden_layer = GcnConv::new(&mut root.enter("hidden"), WIDTH, WIDTH)?;
        let bag_layer = GcnConv::without_bias(&mut root.enter("cora"), words, WIDTH)?;

        Ok(Self {
            sparse: SparseMatrix::new(sparse),
            x,
            linear,
            norm,
            source,
            adjacency: propagation.matrix(&chosen)?,
            propagation,
            dataset,
            input,
            hidden,
            input_layer,
            hidden_layer,
            bags: NodeInput::Sparse(SparseMatrix::new(bags)),
            copy: SparseMatrix::new(copy),
            bag_layer,
            batch,
            parameters,
        })
    }

    pub(crate) fn export(&self, export: &mut Export) -> Outcome<()> {
        export_tensor(export, "spmm_x", &self.x)?;
        export_csr(export, "spmm", self.sparse.csr())?;
        if let NodeInput::Sparse(bags) = &self.bags {
            export_csr(export, "cora", bags.csr())?;
        }
        for (name, parameter) in self.parameters.trainable() {
            export_tensor(export, &name.replace(".lin", "").replace('.', "_"), parameter)?;
        }

        export_edges(export, "batch_edges", &self.batch)?;
        export_features(export, "input_x", self.batch.features())?;
        export_tensor(export, "hidden_x", &self.hidden)?;

        let all = GraphBatch::all(&self.dataset)?;
        export_edges(export, "epoch_edges", &all)?;
        export_features(export, "epoch_x", all.features())?;
        export_positions(export, "epoch_nodes", all.offsets())?;
        let classes: Vec<i64> = classes(&all).map(i64::from).collect();
        export.array("epoch_y", &[classes.len()], classes)
    }
}

/// The classes of the graphs of a batch.
pub(crate) fn classes(batch: &GraphBatch) -> impl Iterator<Item = u32> {
    let labels = match batch.targets() {
        Some(Targets::Classes(labels)) => Some(labels),
        _ => None,
    };
    labels.into_iter().flat_map(Labels::iter).flatten()
}

/// PROTEINS, where it is here.
fn proteins() -> Option<PathBuf> {
    if tiny() {
        return None;
    }
    let entry = Registry::builtin().get("PROTEINS").ok()?;
    DataFolders::locate_from(Path::new(env!("CARGO_MANIFEST_DIR"))).find(entry)
}

/// 1,113 graphs of 39 nodes and 73 edges on average, three kinds of nodes.
fn made_up(rng: &mut ChaCha8Rng) -> Outcome<GraphDataset> {
    let count = size(1113, 40);
    let graphs = (0..count).map(|_| -> Outcome<Graph> {
        let skewed: f64 = Exp1.sample(rng);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "positive and small"
        )]
        let nodes = 4 + (35.0 * skewed) as usize;
        let path = (1..nodes).map(|node| (node - 1, node));
        let chords = (0..nodes * 9 / 10).map(|_| (rng.random_range(0..nodes), rng.random_range(0..nodes)));
        let edges: Vec<_> = path.chain(chords).filter(|(a, b)| a != b).collect();
        let kinds = (0..nodes).map(|_| rng.random_range(0..3)).collect();
        Ok(Graph::from_edges(nodes, &edges)?.with_features(Features::one_hot(kinds, 3)?)?)
    });
    let graphs = graphs.collect::<Outcome<Vec<_>>>()?;
    let classes: Vec<i64> = (0..i64::try_from(count)?).map(|graph| graph % 2).collect();
    Ok(GraphDataset::from_graphs("made up", &graphs)?
        .with_targets(Targets::Classes(Labels::from_values(&classes)))?)
}

/// About `entries` entries, as many in each row, in random columns.
fn random_sparse(rows: usize, columns: usize, entries: usize, rng: &mut ChaCha8Rng) -> Outcome<CsrMatrix> {
    let (mut offsets, mut ids, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in 0..rows {
        let wanted = entries * (row + 1) / rows - entries * row / rows;
        let mut order = std::collections::BTreeSet::new();
        while order.len() < wanted {
            order.insert(rng.random_range(0..u32::try_from(columns)?));
        }
        ids.extend(order);
        offsets.push(ids.len());
        values.resize_with(ids.len(), || rng.random_range(0.5..1.5));
    }
    Ok(CsrMatrix::new(offsets, ids, values, columns)?)
}

fn export_tensor(export: &mut Export, name: &str, tensor: &Tensor) -> Outcome<()> {
    export.array(name, tensor.dims(), tensor.flatten_all()?.to_vec1::<f32>()?)
}

fn export_features(export: &mut Export, name: &str, features: &Features) -> Outcome<()> {
    export.array(name, &[features.rows(), features.width()], features.to_dense())
}

fn export_positions(export: &mut Export, name: &str, positions: &[usize]) -> Outcome<()> {
    let numbers = positions.iter().map(|position| i64::try_from(*position));
    let numbers: Vec<i64> = numbers.collect::<Result<_, _>>()?;
    export.array(name, &[numbers.len()], numbers)
}

fn export_csr(export: &mut Export, name: &str, matrix: &CsrMatrix) -> Outcome<()> {
    let columns = matrix.columns().iter().map(|column| i64::from(*column));
    export.array(&format!("{name}_columns"), &[matrix.nonzeros()], columns)?;
    let values = matrix.values().iter().copied();
    export.array(&format!("{name}_values"), &[matrix.nonzeros()], values)?;
    export_positions(export, &format!("{name}_offsets"), matrix.offsets())
}

/// Both directions of every edge, 2 x entries, as PyTorch Geometric has them.
fn export_edges(export: &mut Export, name: &str, batch: &GraphBatch) -> Outcome<()> {
    let rows = (0i64..).zip(batch.row_offsets().windows(2));
    let sources = rows.flat_map(|(row, part)| std::iter::repeat_n(row, part[1] - part[0]));
    let targets = batch.entries().iter().map(|id| i64::from(*id));
    export.array(name, &[2, batch.entries().len()], sources.chain(targets))
}
