//! What is timed, for a size.

use std::cell::RefCell;
use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

use candle_core::Tensor;
use egg_autodiff::{Embedder, Flatten, RankRule};
use egg_cluster::vgae::Likelihood;
use egg_graph::synthetic::CovarianceSet;
use egg_nn::backward;
use egg_pool::convolution::Gcn;
use egg_pool::model::ModelConfig;
use egg_pool::pooling::Egg;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

// The same that the benchmarks time against others.
#[path = "../../../cluster/benches/training/mod.rs"]
mod clustering;
#[path = "../../../autodiff/benches/embedded/mod.rs"]
mod embedded;
#[path = "../../../pool/benches/training/mod.rs"]
mod pooling;

use embedded::Embedded;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// A task is done until this many seconds are over, and the mean time counts: one of a
/// few milliseconds says more of the scheduler than of the code.
const TURN: f64 = 0.05;

/// Something to time, of a certain size.
#[derive(Debug, Clone, Copy)]
pub(super) enum Task {
    /// Forward and backward.
    Embedding {
        nodes: usize,
        graphs: usize,
        width: usize,
    },
    /// GCN-EGG on one batch.
    Step {
        nodes: usize,
        graphs: usize,
        width: usize,
    },
    /// Of an autoencoder on a block model, with so many neighbours of a node.
    Epoch {
        nodes: usize,
        degree: f64,
        likelihood: Likelihood,
    },
}

impl Task {
    /// Seconds that it takes: the mean of a turn, in each of so many rounds, once it is warm.
    pub(super) fn seconds(self, rounds: usize) -> Outcome<Vec<f64>> {
        let rng = &mut ChaCha8Rng::seed_from_u64(0);
        match self {
            Self::Embedding { nodes, graphs, width } => {
                let Embedded { h, offsets, upstream } = &Embedded::new(nodes, graphs, width, rng)?;
                let embedder = Embedder::new(RankRule::Relative(0.5), Flatten::Upper)?;
                timed(rounds, || {
                    let y: Tensor = (embedder.embed(h, offsets)? * upstream)?;
                    Ok((backward(&y)?, y))
                })
            }
            Self::Step { nodes, graphs, width } => {
                let set = CovarianceSet {
                    graphs,
                    fewest_nodes: nodes,
                    most_nodes: nodes,
                    ..CovarianceSet::default()
                };
                let mut config = ModelConfig::new(Gcn, Egg::default().into());
                config.hidden = width;
                let training = pooling::Training::new(set.generate(rng)?, &config, graphs)?;
                debug_assert_eq!(training.steps(), 1);
                let training = RefCell::new(training);
                timed(rounds, || finite(training.borrow_mut().epoch()?))
            }
            Self::Epoch {
                nodes,
                degree,
                likelihood,
            } => {
                let dataset = clustering::block_model(nodes, degree)?;
                let training = RefCell::new(clustering::Training::new(&dataset, likelihood)?);
                timed(rounds, || finite(training.borrow_mut().epoch()?))
            }
        }
    }
}

fn finite(loss: f64) -> Outcome<f64> {
    match loss.is_finite() {
        true => Ok(loss),
        false => Err(format!("the loss is {loss}").into()),
    }
}

fn timed<T>(rounds: usize, work: impl Fn() -> Outcome<T>) -> Outcome<Vec<f64>> {
    // To warm up.
    black_box(work()?);
    let turn = |_| {
        let (start, mut executions) = (Instant::now(), 0.0);
        loop {
            black_box(work()?);
            executions += 1.0;
            let elapsed = start.elapsed().as_secs_f64();
            if elapsed >= TURN {
                return Ok(elapsed / executions);
            }
        }
    };
    (0..rounds).map(turn).collect()
}
