//! A run that stops and is resumed is the run that never stopped, to the bit.

use std::ops::ControlFlow;
use std::path::Path;

use egg_geometry::RankRule;
use egg_graph::Split;
use egg_pool::data::PreparedGraphs;
use egg_pool::metrics::Metric;
use egg_pool::pooling::Egg;
use egg_pool::protocol::{Experiment, RunOptions};
use egg_pool::train::{BatchLoss, Event, EventObserver, Outcome, RateSchedule, Silent, Stopped};
use egg_pool::{Error, PoolingConfig};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::small::{self, timeless};

struct Bench {
    experiment: Experiment,
    graphs: PreparedGraphs,
    split: Split,
}

impl Bench {
    fn new(convolution: &str) -> Self {
        let dataset = small::dataset(60);
        let mut experiment = small::experiment(&dataset, convolution, "egg");
        experiment.training.max_epochs = 7;
        // Low enough to fall within the run.
        experiment.training.schedule = RateSchedule::Plateau(egg_nn::PlateauConfig {
            factor: 0.5,
            patience: 0,
            threshold: 0.2,
            min_rate: 0.0,
        });
        Self {
            graphs: experiment.prepare(dataset).unwrap(),
            experiment,
            split: Split::random(60, &mut ChaCha8Rng::seed_from_u64(1)),
        }
    }

    /// The outcome, and the bits of all parameters.
    fn run(
        &self,
        folder: Option<&Path>,
        observer: &mut EventObserver<'_>,
    ) -> Result<(Outcome, Vec<u32>), Error> {
        let options = RunOptions {
            checkpoints: folder.map(Path::to_owned),
            every: 2,
            ..RunOptions::default()
        };
        let (model, outcome) =
            self.experiment
                .repetition(&self.graphs, &self.split, 0, &options, observer)?;
        let snapshot = model.parameters().snapshot()?;
        let bits = snapshot.values().flat_map(|tensor| {
            let numbers = tensor.flatten_all().unwrap().to_vec1::<f32>().unwrap();
            numbers.into_iter().map(f32::to_bits)
        });
        Ok((timeless(outcome), bits.collect()))
    }
}

/// Ends a run after some epoch, or some batch of the one after.
fn until(epoch: u64, batch: Option<usize>) -> impl FnMut(Event<'_>) -> ControlFlow<()> {
    move |event| {
        let end = match (event, batch) {
            (Event::Epoch(report), None) => report.epoch >= epoch,
            (Event::Batch { epoch: at, batch, .. }, Some(end)) => at > epoch && batch >= end,
            _ => false,
        };
        if end {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

#[test]
fn interrupted_runs_resume_bit_for_bit() {
    for convolution in ["gcn", "gin"] {
        let bench = Bench::new(convolution);
        let whole = bench.run(None, &mut Silent).unwrap();
        assert_eq!(whole.0.stopped, Stopped::MaxEpochs);
        let rates: Vec<f64> = whole.0.history.iter().map(|epoch| epoch.learning_rate).collect();
        assert!(rates.last() < rates.first(), "the schedule is part of the test");
        // Between epochs, and in the middle of one, several times over.
        for stops in [
            vec![(3, None)],
            vec![(2, Some(1))],
            vec![(1, None), (4, Some(1)), (5, None)],
        ] {
            let folder = tempfile::tempdir().unwrap();
            for (epoch, batch) in stops {
                let (outcome, _) = bench.run(Some(folder.path()), &mut until(epoch, batch)).unwrap();
                assert_eq!((outcome.stopped, outcome.test), (Stopped::Cancelled, None));
            }
            let resumed = bench.run(Some(folder.path()), &mut Silent).unwrap();
            assert!(resumed == whole, "{convolution}");
            // A run that is over is not trained again.
            let mut untrained = |event: Event<'_>| {
                assert!(!matches!(event, Event::Batch { .. }));
                ControlFlow::Continue(())
            };
            assert!(bench.run(Some(folder.path()), &mut untrained).unwrap() == whole);
        }
    }
}

#[test]
fn a_run_can_be_made_longer() {
    let mut bench = Bench::new("gcn");
    let folder = tempfile::tempdir().unwrap();
    bench.experiment.training.max_epochs = 3;
    bench.run(Some(folder.path()), &mut Silent).unwrap();
    bench.experiment.training.max_epochs = 7;
    let longer = bench.run(Some(folder.path()), &mut Silent).unwrap();
    assert!(longer == bench.run(None, &mut Silent).unwrap());
}

/// A run that is asked for fewer epochs than it has had would be neither the one nor the
/// other.
#[test]
fn a_run_can_not_be_made_shorter_than_it_is() {
    let mut bench = Bench::new("gcn");
    let folder = tempfile::tempdir().unwrap();
    bench.experiment.training.max_epochs = 5;
    bench.run(Some(folder.path()), &mut Silent).unwrap();
    bench.experiment.training.max_epochs = 3;
    let refused = bench
        .run(Some(folder.path()), &mut Silent)
        .unwrap_err()
        .to_string();
    assert!(
        refused.contains("5 epochs") && refused.contains("the 3"),
        "{refused}"
    );
    // As many as it has had, or more than it needs, is what a fresh run gives.
    bench.experiment.training.max_epochs = 5;
    let same = bench.run(Some(folder.path()), &mut Silent).unwrap();
    assert!(same == bench.run(None, &mut Silent).unwrap());
    let folder = tempfile::tempdir().unwrap();
    bench.experiment.training.patience = 1;
    bench.experiment.training.learning_rate = 0.5;
    bench.experiment.training.max_epochs = 200;
    let long = bench.run(Some(folder.path()), &mut Silent).unwrap();
    assert_eq!(long.0.stopped, Stopped::Patience);
    bench.experiment.training.max_epochs = long.0.history.len() as u64 + 1;
    let shorter = bench.run(Some(folder.path()), &mut Silent).unwrap();
    assert!(shorter == bench.run(None, &mut Silent).unwrap());
}

fn egg(rank: RankRule) -> PoolingConfig {
    Egg {
        rank,
        flatten: egg_autodiff::Flatten::default(),
    }
    .into()
}

#[test]
fn checkpoints_of_other_runs_are_refused() {
    let bench = || Bench::new("gcn");
    let folder = tempfile::tempdir().unwrap();
    bench().run(Some(folder.path()), &mut until(1, None)).unwrap();
    let refused = |change: &dyn Fn(&mut Bench)| {
        let mut other = bench();
        change(&mut other);
        match other.run(Some(folder.path()), &mut Silent) {
            Err(Error::OtherRun { difference, .. }) => difference,
            other => panic!("{other:?}"),
        }
    };
    assert!(refused(&|bench| bench.experiment.seed = 9).contains("seed"));
    assert!(refused(&|bench| bench.experiment.training.learning_rate = 1.0).contains("settings"));
    assert!(refused(&|bench| bench.experiment.model.head.dropout = 0.1).contains("model"));
    assert!(refused(&|bench| bench.split.train.swap(0, 1)).contains("split"));
    assert!(refused(&|bench| bench.split.validation.swap(0, 1)).contains("split"));
    // Every setting, but for how many epochs there may be.
    type Change = fn(&mut Bench);
    let changes: [(&str, Change); 17] = [
        ("settings", |bench| bench.experiment.training.weight_decay = 0.1),
        ("settings", |bench| bench.experiment.training.batch_size = 7),
        ("settings", |bench| bench.experiment.training.patience = 3),
        ("settings", |bench| {
            bench.experiment.training.schedule = RateSchedule::Constant
        }),
        ("settings", |bench| {
            bench.experiment.training.batch_loss = BatchLoss::Mean
        }),
        ("settings", |bench| {
            bench.experiment.training.clip_norm = Some(1.0)
        }),
        ("settings", |bench| {
            bench.experiment.training.metric = Metric::BALANCED_ACCURACY
        }),
        ("model", |bench| bench.experiment.model.hidden = 7),
        ("model", |bench| bench.experiment.model.layers = 3),
        ("model", |bench| bench.experiment.model.activation = false),
        ("model", |bench| bench.experiment.model.node_norm = true),
        ("model", |bench| bench.experiment.model.virtual_node = true),
        ("model", |bench| {
            bench.experiment.model.pooling = "sum".parse().unwrap()
        }),
        ("model", |bench| {
            bench.experiment.model.pooling = egg(RankRule::Threshold(0.4))
        }),
        ("model", |bench| {
            bench.experiment.model.pooling = egg(RankRule::Relative(0.5))
        }),
        ("model", |bench| bench.experiment.model.head.widths = vec![5]),
        ("model", |bench| bench.experiment.model.head.output_norm = false),
    ];
    for (words, change) in changes {
        assert!(refused(&change).contains(words), "{words}");
    }
    assert!(
        refused(&|bench| {
            bench.graphs = bench.experiment.prepare(small::dataset(62)).unwrap();
        })
        .contains("data")
    );

    let path = folder.path().join("repetition-1.safetensors");
    std::fs::write(&path, b"not a checkpoint").unwrap();
    assert!(bench().run(Some(folder.path()), &mut Silent).is_err());
    let nowhere = folder.path().join("missing");
    assert!(bench().run(Some(&nowhere), &mut Silent).is_err());
}
