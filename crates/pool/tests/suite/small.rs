//! Data and experiments small enough to train on in a test.

use std::ops::ControlFlow;

use egg_datasets::Registry;
use egg_graph::GraphDataset;
use egg_graph::synthetic::CovarianceSet;
use egg_pool::ConvolutionConfig;
use egg_pool::protocol::{Experiment, Preset, Protocol};
use egg_pool::train::{Event, Outcome};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// Two classes that EGG can distinguish.
pub(crate) fn dataset(graphs: usize) -> GraphDataset {
    let set = CovarianceSet {
        graphs,
        fewest_nodes: 10,
        most_nodes: 16,
        features: 6,
        dimension: 2,
        noise: 0.2,
    };
    set.generate(&mut ChaCha8Rng::seed_from_u64(3)).unwrap()
}

/// A convolution by its name.
pub(crate) fn convolution(name: &str) -> ConvolutionConfig {
    name.parse().unwrap()
}

/// The preset `paper` of a registered data set.
pub(crate) fn preset(dataset: &str) -> Preset {
    let entry = Registry::builtin().get(dataset).unwrap();
    let preset = entry.preset("paper").classification;
    preset.map_or_else(Preset::default, |preset| serde_json::from_value(preset).unwrap())
}

/// The paper's experiment with a narrow model and few epochs.
pub(crate) fn experiment(dataset: &GraphDataset, convolution: &str, pooling: &str) -> Experiment {
    let (convolution, pooling) = (self::convolution(convolution), pooling.parse().unwrap());
    let mut experiment = Experiment::new(dataset, Protocol::Paper, convolution, pooling).unwrap();
    experiment.model.hidden = 8;
    experiment.model.head.widths = vec![8, 4];
    experiment.training.max_epochs = 4;
    experiment.training.learning_rate = 5e-3;
    experiment.repetitions = 3;
    experiment
}

/// An outcome without what differs from run to run.
pub(crate) fn timeless(mut outcome: Outcome) -> Outcome {
    for epoch in &mut outcome.history {
        (epoch.seconds, epoch.train_seconds) = (0.0, 0.0);
    }
    outcome
}

pub(crate) fn watch_nothing(_: usize, _: Event<'_>) -> ControlFlow<()> {
    ControlFlow::Continue(())
}
