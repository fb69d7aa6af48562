//! A plain model of candle-nn with the Grassmann embedding as its readout:
//! `Linear -> tanh -> grassmann_embed -> Linear`, trained by candle-nn's AdamW.
//!
//! ```text
//! cargo run -p egg-autodiff --example candle_model
//! ```
//!
//! The graphs are of two classes that differ only in the covariance of their nodes: each
//! feature by itself has mean 0 and variance 1 in both, so that means over the nodes say
//! nothing about the class.

#![allow(clippy::print_stdout)]

use candle_core::{D, DType, Device, Result, Tensor};
use candle_nn::{AdamW, Linear, Module, Optimizer, ParamsAdamW, VarBuilder, VarMap, linear, loss};
use egg_autodiff::{Flatten, RankRule, grassmann_embed};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;

const FEATURES: usize = 4;
const HIDDEN: usize = 6;
/// How many directions are kept of each graph.
const RANK: usize = 2;
const STEPS: usize = 100;

struct Model {
    encoder: Linear,
    head: Linear,
}

impl Model {
    fn new(builder: VarBuilder<'_>) -> Result<Self> {
        Ok(Self {
            encoder: linear(FEATURES, HIDDEN, builder.pp("encoder"))?,
            // The projector of a graph, HIDDEN x HIDDEN, without what symmetry repeats.
            head: linear(Flatten::length(HIDDEN), 2, builder.pp("head"))?,
        })
    }

    /// (nodes x features) to (graphs x classes).
    fn forward(&self, graphs: &Graphs) -> Result<Tensor> {
        let h = self.encoder.forward(&graphs.nodes)?.tanh()?;
        // An `Embedder` does the same with memory that it keeps from step to step.
        let rows = grassmann_embed(&h, &graphs.offsets, RankRule::Fixed(RANK), Flatten::Isometric)?;
        self.head.forward(&rows)
    }
}

/// Graphs of several sizes, one below the other. Graph g has the rows
/// `offsets[g]..offsets[g + 1]`.
struct Graphs {
    nodes: Tensor,
    offsets: Vec<usize>,
    classes: Tensor,
}

impl Graphs {
    /// Features 0 and 1 of a node, and 2 and 3, are correlated by 0.9 in the first class and
    /// by -0.9 in the second.
    fn draw(count: usize, rng: &mut ChaCha8Rng, device: &Device) -> Result<Self> {
        const CORRELATION: f32 = 0.9;
        let (mut numbers, mut offsets, mut classes) = (Vec::new(), vec![0], Vec::new());
        for _ in 0..count {
            let class = rng.random_range(0..2u32);
            let sign = if class == 0 { 1.0 } else { -1.0 };
            for _ in 0..rng.random_range(10..30) * FEATURES / 2 {
                let (a, b): (f32, f32) = (rng.sample(StandardNormal), rng.sample(StandardNormal));
                let rest = (1.0 - CORRELATION * CORRELATION).sqrt();
                numbers.extend([a, sign * CORRELATION * a + rest * b]);
            }
            offsets.push(numbers.len() / FEATURES);
            classes.push(class);
        }
        let rows = numbers.len() / FEATURES;
        Ok(Self {
            nodes: Tensor::from_vec(numbers, (rows, FEATURES), device)?,
            offsets,
            classes: Tensor::from_vec(classes, count, device)?,
        })
    }
}

struct Outcome {
    loss_before: f32,
    loss_after: f32,
    /// The accuracy on graphs that training has not seen.
    accuracy: f32,
}

fn train() -> Result<Outcome> {
    let device = Device::Cpu;
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let seen = Graphs::draw(64, &mut rng, &device)?;
    let unseen = Graphs::draw(200, &mut rng, &device)?;

    // Initial values are candle's: another start in every run.
    let variables = VarMap::new();
    let model = Model::new(VarBuilder::from_varmap(&variables, DType::F32, &device))?;
    let settings = ParamsAdamW {
        lr: 0.02,
        ..ParamsAdamW::default()
    };
    let mut optimizer = AdamW::new(variables.all_vars(), settings)?;

    let loss = || loss::cross_entropy(&model.forward(&seen)?, &seen.classes);
    let loss_before = loss()?.to_scalar()?;
    for _ in 0..STEPS {
        optimizer.backward_step(&loss()?)?;
    }
    let found = model.forward(&unseen)?.argmax(D::Minus1)?;
    let right = found.eq(&unseen.classes)?.to_dtype(DType::F32)?;
    Ok(Outcome {
        loss_before,
        loss_after: loss()?.to_scalar()?,
        accuracy: right.mean_all()?.to_scalar()?,
    })
}

fn main() -> Result<()> {
    let outcome = train()?;
    println!("loss {:.3} -> {:.3}", outcome.loss_before, outcome.loss_after);
    println!("accuracy on unseen graphs {:.1} %", 100.0 * outcome.accuracy);
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn embedding_separates_classes_that_differ_in_covariance() {
        let outcome = super::train().unwrap();
        let (before, after) = (outcome.loss_before, outcome.loss_after);
        assert!(after < 0.5 * before, "loss {before} -> {after}");
        assert!(outcome.accuracy > 0.95, "accuracy {}", outcome.accuracy);
    }
}
