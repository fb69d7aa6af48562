//! What the tasks of `ratio` work on, made up from a seed.

use candle_core::{DType, Device, Tensor, Var};
use egg_autodiff::{Embedder, Filter, Flatten, RankRule, SoftEmbedder};
use egg_graph::conv::{GcnConv, NodeInput, SparseMatrix};
use egg_graph::{Graph, GraphBatch, GraphDataset, Propagation};
use egg_nn::{BatchNorm1d, Linear, Mlp, MlpConfig, Parameters};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::embedded::{Embedded, normal};
use crate::protocol::{Export, Outcome, tiny};

/// The size of an input, or its small size if the run only checks that the tasks work.
fn size(full: usize, small: usize) -> usize {
    if tiny() { small } else { full }
}

/// Hidden features, m.
pub(crate) const WIDTH: usize = 64;

/// Graphs in a batch.
fn graphs_of_a_batch() -> usize {
    size(64, 2)
}

/// Nodes of a graph in the tasks on only the embedding.
pub(crate) const SIZES: [usize; 4] = [10, 30, 100, 300];

/// Nodes of a graph in the whole step.
const STEP_NODES: usize = 30;

/// Features of a node in the whole step.
const STEP_FEATURES: usize = 16;

/// Rows in the tasks on layers.
const ROWS: usize = 4000;

pub(crate) struct Inputs {
    pub(crate) hard: Embedder,
    pub(crate) soft: SoftEmbedder,
    pub(crate) embedded: Vec<Embedded>,

    pub(crate) x: Var,
    pub(crate) linear: Linear,
    pub(crate) norm: BatchNorm1d,
    pub(crate) layers: Parameters,

    pub(crate) mlp: Mlp,
    pub(crate) mlp_parameters: Parameters,
    pub(crate) mlp_target: Tensor,

    pub(crate) step: Step,
    pub(crate) step_parameters: Parameters,
}

/// A whole model: two convolutions, the embedding, a head.
pub(crate) struct Step {
    pub(crate) batch: GraphBatch,
    pub(crate) input: NodeInput,
    pub(crate) adjacency: SparseMatrix,
    pub(crate) convolutions: [GcnConv; 2],
    pub(crate) head: Mlp,
    pub(crate) classes: Tensor,
    x: Tensor,
}

impl Inputs {
    pub(crate) fn new() -> Outcome<Self> {
        let mut rng = ChaCha8Rng::seed_from_u64(64);
        let rng = &mut rng;
        let embedded = SIZES.map(|nodes| Embedded::new(nodes, graphs_of_a_batch(), WIDTH, rng));
        let rows = size(ROWS, 8);
        let x = Var::from_tensor(&normal((rows, WIDTH), rng)?)?;
        let mlp_target = normal((rows, WIDTH), rng)?;

        let mut layers = Parameters::new(DType::F32, &Device::Cpu)?;
        let mut root = layers.root(rng);
        let linear = Linear::new(&mut root.enter("linear"), WIDTH, WIDTH)?;
        let norm = BatchNorm1d::new(&mut root.enter("norm"), WIDTH)?;

        let mut mlp_parameters = Parameters::new(DType::F32, &Device::Cpu)?;
        let config = MlpConfig {
            hidden_norm: false,
            ..MlpConfig::new(&[WIDTH, WIDTH, WIDTH])
        };
        let mlp = Mlp::new(&mut mlp_parameters.root(rng).enter("mlp"), &config)?;

        let mut step_parameters = Parameters::new(DType::F32, &Device::Cpu)?;
        let step = Step::new(&mut step_parameters, rng)?;
        Ok(Self {
            hard: Embedder::new(RankRule::Relative(0.5), Flatten::Upper)?,
            soft: SoftEmbedder::new(Filter::resolvent(0.5)?, Flatten::Upper),
            embedded: embedded.into_iter().collect::<Outcome<_>>()?,
            x,
            linear,
            norm,
            layers,
            mlp,
            mlp_parameters,
            mlp_target,
            step,
            step_parameters,
        })
    }

    pub(crate) fn export(&self, export: &mut Export) -> Outcome<()> {
        for (nodes, embedded) in SIZES.iter().zip(&self.embedded) {
            export_tensor(export, &format!("h_{nodes}"), &embedded.h)?;
            export_tensor(export, &format!("upstream_{nodes}"), &embedded.upstream)?;
        }
        export_tensor(export, "x", &self.x)?;
        export_tensor(export, "mlp_target", &self.mlp_target)?;
        for parameters in [&self.layers, &self.mlp_parameters, &self.step_parameters] {
            for (name, parameter) in parameters.trainable() {
                export_tensor(export, name, parameter)?;
            }
        }
        let Step {
            batch, x, classes, ..
        } = &self.step;
        export_tensor(export, "step_x", x)?;
        let classes = classes.to_vec1::<u32>()?;
        export.array("step_y", &[classes.len()], classes.into_iter().map(i64::from))?;
        let rows = (0i64..).zip(batch.row_offsets().windows(2));
        let sources = rows.flat_map(|(row, part)| std::iter::repeat_n(row, part[1] - part[0]));
        let targets = batch.entries().iter().map(|id| i64::from(*id));
        export.array("step_edges", &[2, batch.entries().len()], sources.chain(targets))
    }
}

impl Step {
    fn new(parameters: &mut Parameters, rng: &mut ChaCha8Rng) -> Outcome<Self> {
        let count = graphs_of_a_batch();
        let graphs = (0..count).map(|_| -> Outcome<Graph> {
            let path = (1..STEP_NODES).map(|node| (node - 1, node));
            let chords =
                (0..STEP_NODES).map(|_| (rng.random_range(0..STEP_NODES), rng.random_range(0..STEP_NODES)));
            let edges: Vec<_> = path.chain(chords).filter(|(a, b)| a != b).collect();
            Ok(Graph::from_edges(STEP_NODES, &edges)?)
        });
        let dataset = GraphDataset::from_graphs("made up", &graphs.collect::<Outcome<Vec<_>>>()?)?;
        let x = normal((count * STEP_NODES, STEP_FEATURES), rng)?;
        let classes = (0..count as u32).map(|graph| graph % 2).collect::<Vec<_>>();
        let mut root = parameters.root(rng);
        let embedded = Flatten::length(WIDTH);
        Ok(Self {
            batch: GraphBatch::all(&dataset)?,
            input: x.clone().into(),
            adjacency: Propagation::gcn(&dataset).matrix(&(0..count).collect::<Vec<_>>())?,
            convolutions: [
                GcnConv::new(&mut root.enter("conv0"), STEP_FEATURES, WIDTH)?,
                GcnConv::new(&mut root.enter("conv1"), WIDTH, WIDTH)?,
            ],
            head: Mlp::new(&mut root.enter("head"), &MlpConfig::new(&[embedded, 64, 16, 2]))?,
            classes: Tensor::from_vec(classes, count, &Device::Cpu)?,
            x,
        })
    }
}

fn export_tensor(export: &mut Export, name: &str, tensor: &Tensor) -> Outcome<()> {
    export.array(name, tensor.dims(), tensor.flatten_all()?.to_vec1::<f32>()?)
}
