//! Our side of `cargo xtask bench graph`: reads task names, answers with times.
#![expect(clippy::print_stdout, reason = "run by hand, it says what it is for")]

use candle_core::{DType, Device, Tensor};
use egg_graph::conv::{NodeInput, SparseMatrix, spmm};
use egg_graph::{GraphBatch, batches, random_order};
use egg_nn::{Pass, Tracked, backward};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde_json::json;

mod inputs;
#[path = "../../../xtask/peers/protocol.rs"]
mod protocol;

use inputs::{Inputs, classes};
use protocol::{Export, Outcome, Timed, timed};

/// The system's allocator gives large tensors back to the kernel at once, and
/// every new one is paid for in page faults. A program that trains should do
/// the same.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn run(inputs: &Inputs, task: &str) -> Outcome<Timed> {
    let hidden = NodeInput::from(inputs.hidden.as_tensor().clone());
    match task {
        "spmm" => differentiated(|_| spmm(&inputs.sparse, &inputs.x)),
        "gcn_input" => {
            differentiated(|pass| inputs.input_layer.forward(&inputs.input, &inputs.adjacency, pass))
        }
        "gcn_hidden" => differentiated(|pass| inputs.hidden_layer.forward(&hidden, &inputs.adjacency, pass)),
        "first_layer" => differentiated(|pass| inputs.bag_layer.forward(&inputs.bags, &inputs.copy, pass)),
        "linear_relu" => differentiated(|pass| inputs.linear.clone().with_relu().forward(&inputs.x, pass)),
        "batch_norm" => differentiated(|pass| inputs.norm.forward(&inputs.x, pass)),
        "batching" => {
            let (seconds, made) = timed(|| epoch(inputs))?;
            Ok(Timed::new(seconds, made.len(), made.iter().map(summary).sum()))
        }
        _ => Err(format!("no task of this name: {task}").into()),
    }
}

/// The result of `forward` and the gradients of all variables in it, for a
/// gradient of ones.
fn differentiated<E: Into<Box<dyn std::error::Error>>>(
    forward: impl Fn(&mut Pass<'_>) -> Result<Tracked, E>,
) -> Outcome<Timed> {
    let mut rng = ChaCha8Rng::seed_from_u64(0);
    let rng = std::cell::RefCell::new(&mut rng);
    let work = || -> Outcome<Vec<Tensor>> {
        let y = forward(&mut Pass::Training(&mut rng.borrow_mut())).map_err(Into::into)?;
        let gradients = backward(&y)?;
        let mut results: Vec<Tensor> = gradients
            .get_ids()
            .filter_map(|id| gradients.get_id(*id).cloned())
            .collect();
        results.push(y.into());
        Ok(results)
    };
    let (seconds, results) = timed(work)?;
    // Logarithms of squared norms, so that each result weighs the same. Those
    // of gradients that are 0 but for rounding (batch norm's) are left out.
    let mut check = 0.0;
    for result in results {
        let square = result
            .to_dtype(DType::F64)?
            .sqr()?
            .sum_all()?
            .to_scalar::<f64>()?;
        if square > 1e-3 {
            check += square.ln();
        }
    }
    Ok(Timed::new(seconds, 1, check))
}

struct Made {
    batch: GraphBatch,
    adjacency: SparseMatrix,
    input: NodeInput,
}

/// All batches of one epoch, in an order drawn anew.
fn epoch(inputs: &Inputs) -> Outcome<Vec<Made>> {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let order = random_order(inputs.dataset.len(), &mut rng);
    batches(&order, 32)
        .map(|indices| {
            let batch = GraphBatch::new(&inputs.dataset, indices)?;
            Ok(Made {
                adjacency: inputs.propagation.matrix(indices)?,
                input: NodeInput::from_batch(&batch, DType::F32, &Device::Cpu)?,
                batch,
            })
        })
        .collect()
}

/// Nodes, edges in both directions and classes, added up.
fn summary(made: &Made) -> f64 {
    let loops = made.adjacency.shape().0;
    let sum = made.input.rows() + made.adjacency.csr().nonzeros() - loops;
    sum as f64 + classes(&made.batch).map(f64::from).sum::<f64>()
}

fn main() -> Outcome<()> {
    let Some(mut export) = Export::from_arguments()? else {
        println!("ratio: run by `cargo xtask bench graph`");
        return Ok(());
    };
    let inputs = Inputs::new()?;
    inputs.export(&mut export)?;
    export.serve(json!({"data": inputs.source}), |task| run(&inputs, task))
}
