//! Our side of `cargo xtask bench autodiff`: reads task names, answers with
//! times.
#![expect(clippy::print_stdout, reason = "run by hand, it says what it is for")]

use std::cell::RefCell;
use std::collections::BTreeMap;

use candle_core::{DType, Tensor, Var};
use egg_nn::{Adam, AdamConfig, Decay, Parameters, Pass, Reduction, backward, cross_entropy, mse};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde_json::json;

mod embedded;
mod inputs;
#[path = "../../../xtask/peers/protocol.rs"]
mod protocol;

use embedded::Embedded;
use inputs::{Inputs, SIZES};
use protocol::{Export, Outcome, Timed, timed};

/// The system's allocator returns large tensors to the kernel immediately, and every new one costs
/// page faults. A training program should use this allocator too.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn run(inputs: &Inputs, steppings: &RefCell<BTreeMap<String, Stepping>>, task: &str) -> Outcome<Timed> {
    if let Some((kind, nodes)) = task.rsplit_once('_')
        && let Some(size) = SIZES.iter().position(|size| size.to_string() == nodes)
    {
        let Embedded { h, offsets, upstream } = &inputs.embedded[size];
        return match kind {
            "hard" => differentiated(&[h], |_| Ok((inputs.hard.embed(h, offsets)? * upstream)?)),
            "soft" => differentiated(&[h], |_| Ok((inputs.soft.embed(h, offsets)? * upstream)?)),
            _ => Err(format!("no task of this name: {task}").into()),
        };
    }
    let x = &inputs.x;
    match task {
        "linear_relu" => {
            let mut wanted = vec![x, inputs.linear.weight()];
            wanted.extend(inputs.linear.bias());
            differentiated(&wanted, |pass| {
                Ok(inputs.linear.clone().with_relu().forward(x, pass)?.into())
            })
        }
        // For a gradient of ones, those of x and the weight are 0 but for rounding.
        "batch_norm" => {
            let bias: Vec<&Var> = inputs.layers.get("norm.bias").into_iter().collect();
            differentiated(&bias, |pass| Ok(inputs.norm.forward(x, pass)?.into()))
        }
        "mlp_adam" => stepped(steppings, task, &inputs.mlp_parameters, |pass| {
            let y = inputs.mlp.forward(inputs.x.as_detached_tensor(), pass)?;
            Ok(mse(&y, &inputs.mlp_target, Reduction::Mean)?)
        }),
        "step" => stepped(steppings, task, &inputs.step_parameters, |pass| {
            whole_step(inputs, pass)
        }),
        _ => Err(format!("no task of this name: {task}").into()),
    }
}

/// The loss of two convolutions, the embedding and the head.
fn whole_step(inputs: &Inputs, pass: &mut Pass<'_>) -> Outcome<Tensor> {
    let step = &inputs.step;
    let h = step.convolutions[0]
        .clone()
        .with_relu()
        .forward(&step.input, &step.adjacency, pass)?;
    let h = step.convolutions[1]
        .clone()
        .with_relu()
        .forward(&h.into(), &step.adjacency, pass)?;
    let rows = inputs.hard.embed(&h, step.batch.offsets())?;
    let logits = step.head.forward(&rows, pass)?;
    Ok(cross_entropy(&logits, &step.classes, Reduction::Mean)?)
}

/// The result of `forward` and its gradients, for a gradient of ones. All are
/// computed; those by `wanted` are compared.
fn differentiated(wanted: &[&Var], forward: impl Fn(&mut Pass<'_>) -> Outcome<Tensor>) -> Outcome<Timed> {
    let rng = RefCell::new(ChaCha8Rng::seed_from_u64(0));
    let (seconds, (y, gradients)) = timed(|| -> Outcome<_> {
        let y = forward(&mut Pass::Training(&mut rng.borrow_mut()))?;
        let gradients = backward(&y)?;
        Ok((y, gradients))
    })?;
    // Logarithms of squared norms, so that each result weighs the same.
    let mut check = 0.0;
    for result in wanted.iter().filter_map(|var| gradients.get(var)).chain([&y]) {
        let result = result.to_dtype(DType::F64)?;
        check += result.sqr()?.sum_all()?.to_scalar::<f64>()?.ln();
    }
    Ok(Timed::new(seconds, 1, check))
}

/// An optimiser in use, and the loss before its first step plus that after it.
struct Stepping {
    adam: Adam,
    rng: ChaCha8Rng,
    check: f64,
}

/// Steps of Adam, continuing from the previous round, as on the peers' side.
fn stepped(
    all: &RefCell<BTreeMap<String, Stepping>>,
    task: &str,
    parameters: &Parameters,
    loss: impl Fn(&mut Pass<'_>) -> Outcome<Tensor>,
) -> Outcome<Timed> {
    let step = |stepping: &mut Stepping| -> Outcome<f64> {
        let loss = loss(&mut Pass::Training(&mut stepping.rng))?;
        stepping.adam.step(&backward(&loss)?)?;
        Ok(f64::from(loss.to_scalar::<f32>()?))
    };
    let mut all = all.borrow_mut();
    if !all.contains_key(task) {
        let mut stepping = Stepping {
            adam: Adam::new(parameters, AdamConfig::new(1e-3, Decay::L2(5e-4)))?,
            rng: ChaCha8Rng::seed_from_u64(0),
            check: 0.0,
        };
        stepping.check = step(&mut stepping)? + step(&mut stepping)?;
        all.insert(task.to_owned(), stepping);
    }
    let stepping = RefCell::new(all.get_mut(task).ok_or("just inserted")?);
    let (seconds, _) = timed(|| step(&mut stepping.borrow_mut()))?;
    Ok(Timed::new(seconds, 1, stepping.borrow().check))
}

/// On a thread of rayon's pool: called from outside it, the pool's threads and
/// the caller's would be one more than intended.
fn main() -> Outcome<()> {
    rayon::scope(|_| serve().map_err(|error| error.to_string())).map_err(Into::into)
}

fn serve() -> Outcome<()> {
    let Some(mut export) = Export::from_arguments()? else {
        println!("ratio: run by `cargo xtask bench autodiff`");
        return Ok(());
    };
    let inputs = Inputs::new()?;
    inputs.export(&mut export)?;
    let steppings = RefCell::default();
    export.serve(json!({"data": "made up from a seed"}), |task| {
        run(&inputs, &steppings, task)
    })
}
