//! The same seed gives the same weights, whatever the threads and whatever the
//! order of the repetitions.

use std::collections::BTreeMap;

use egg_graph::GraphDataset;
use egg_graph::synthetic::CovarianceSet;
use egg_pool::PoolingConfig;
use egg_pool::protocol::{Experiment, RunOptions};
use egg_pool::train::{Outcome, Silent};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::samples::flat;
use crate::small::{self, timeless};

/// Bits of every weight and buffer by its name, and what was reported.
type Result = (BTreeMap<String, Vec<u64>>, Outcome);

/// Steps of enough numbers for every kernel to share its work with other threads
/// (which they do from 16,384).
fn dataset() -> GraphDataset {
    let set = CovarianceSet {
        graphs: 40,
        fewest_nodes: 20,
        most_nodes: 30,
        features: 6,
        dimension: 2,
        noise: 0.2,
    };
    set.generate(&mut ChaCha8Rng::seed_from_u64(3)).unwrap()
}

/// Trains repetitions in the order that is given.
fn train(
    experiment: &Experiment,
    dataset: &GraphDataset,
    threads: usize,
    order: &[usize],
) -> BTreeMap<usize, Result> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .unwrap();
    pool.install(|| {
        let graphs = experiment.prepare(dataset.clone()).unwrap();
        let splits = experiment.splits(graphs.dataset()).unwrap();
        let one = |index: &usize| {
            let (model, outcome) = experiment
                .repetition(
                    &graphs,
                    &splits[*index],
                    *index,
                    &RunOptions::default(),
                    &mut Silent,
                )
                .unwrap();
            let weights = model.parameters().snapshot().unwrap();
            let bits = |values: Vec<f64>| values.into_iter().map(f64::to_bits).collect();
            let weights = weights
                .into_iter()
                .map(|(name, tensor)| (name, bits(flat(&tensor))));
            (*index, (weights.collect(), timeless(outcome)))
        };
        order.iter().map(one).collect()
    })
}

/// Every convolution with every pooling, three epochs. A repetition has the same
/// bits first or last, alone or after others.
#[test]
fn weights_after_three_epochs_are_the_same_bits_on_any_threads() {
    let dataset = dataset();
    for convolution in ["gcn", "gin", "blind"] {
        for pooling in PoolingConfig::all() {
            let name = pooling.name();
            // Without convolutions nothing is pooled but the sum.
            if convolution == "blind" && name != "sum" {
                continue;
            }
            let mut experiment = small::experiment(&dataset, convolution, name);
            experiment.model.hidden = 24;
            experiment.training.max_epochs = 3;
            experiment.training.batch_size = 64;
            experiment.repetitions = 2;
            let reference = train(&experiment, &dataset, 1, &[0, 1]);
            assert_ne!(reference[&0], reference[&1], "repetitions must differ");
            assert_eq!(reference[&0].1.history.len(), 3);
            for (threads, order) in [(2, &[1, 0][..]), (4, &[0, 1]), (4, &[1])] {
                for (index, found) in train(&experiment, &dataset, threads, order) {
                    assert!(
                        found == reference[&index],
                        "{convolution} {name}: repetition {index} of {order:?} on {threads} threads"
                    );
                }
            }
        }
    }
}
