//! The training loop: it learns, says what happens, and refuses what it can't do.

use std::ops::ControlFlow;

use candle_core::DType;
use egg_graph::{GraphDataset, Split, Targets};
use egg_pool::Error;
use egg_pool::convolution::{Gcn, Gin};
use egg_pool::data::{PreparedGraphs, PropagationKind};
use egg_pool::metrics::Metric;
use egg_pool::model::ModelConfig;
use egg_pool::pooling::Sum;
use egg_pool::protocol::{Experiment, Protocol, RunOptions};
use egg_pool::train::{BatchLoss, Event, Objective, Silent, Stopped, TrainConfig, Trainer};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::small;

fn rng() -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(1)
}

#[test]
fn every_loss_falls() {
    let dataset = small::dataset(60);
    for convolution in ["gcn", "gin"] {
        for batch_loss in [BatchLoss::Sum, BatchLoss::Mean] {
            let mut experiment = small::experiment(&dataset, convolution, "egg");
            experiment.training.batch_loss = batch_loss;
            experiment.training.max_epochs = 15;
            experiment.model.head.dropout = 0.0;
            let graphs = experiment.prepare(dataset.clone()).unwrap();
            let split = &experiment.splits(&dataset).unwrap()[0];
            let options = RunOptions::default();
            let (_, outcome) = experiment
                .repetition(&graphs, split, 0, &options, &mut Silent)
                .unwrap();
            let (first, last) = (&outcome.history[0], outcome.history.last().unwrap());
            assert!(last.train_loss < first.train_loss, "{convolution} {batch_loss:?}");
            // A mean over graphs, whatever the steps were made with.
            assert!(first.train_loss < 3.0);
            assert_eq!(first.ranks.len(), if convolution == "gin" { 4 } else { 1 });
            assert!(first.ranks[0].least >= 1 && first.ranks[0].most <= 8);
        }
    }
}

/// Numbers to predict: the mean of a feature of each graph, and its size.
fn numbers(graphs: usize) -> GraphDataset {
    let dataset = small::dataset(graphs);
    let rows = dataset.graphs().flat_map(|graph| {
        let size = graph.node_count() as f32;
        [size / 10.0, graph.edge_count() as f32 / 20.0]
    });
    let values = ndarray::Array2::from_shape_vec((graphs, 2), rows.collect()).unwrap();
    dataset.with_targets(Targets::Values(values)).unwrap()
}

#[test]
fn regression_targets_are_learnt() {
    let dataset = numbers(60);
    for objective in [Objective::Mse, Objective::Mae] {
        let mut experiment = Experiment::new(&dataset, Protocol::Fair, Gin, Sum.into()).unwrap();
        assert!(!experiment.model.head.output_norm);
        experiment.training.objective = objective;
        experiment.training.metric = objective.metric();
        experiment.training.max_epochs = 40;
        experiment.training.learning_rate = 5e-3;
        experiment.model.hidden = 8;
        experiment.model.head.dropout = 0.0;
        experiment.repetitions = 1;
        let graphs = experiment.prepare(dataset.clone()).unwrap();
        let report = experiment
            .run(&graphs, &RunOptions::default(), &small::watch_nothing)
            .unwrap()
            .report;
        let history = &report.outcomes[0].history;
        let best = history
            .iter()
            .map(|epoch| epoch.validation_loss)
            .fold(f64::INFINITY, f64::min);
        assert!(best < 0.3 * history[0].validation_loss, "{objective:?} {best}");
        let test = report.outcomes[0].test.as_ref().unwrap();
        assert!(test.scores.get(Metric::MAE).is_some() && test.scores.get(Metric::ACCURACY).is_none());
    }
}

#[test]
fn a_batch_norm_of_predicted_numbers_is_refused() {
    let dataset = numbers(20);
    let mut experiment = Experiment::new(&dataset, Protocol::Paper, Gcn, Sum.into()).unwrap();
    experiment.training.max_epochs = 1;
    let graphs = experiment.prepare(dataset).unwrap();
    let run =
        |experiment: &Experiment| experiment.run(&graphs, &RunOptions::default(), &small::watch_nothing);
    assert!(run(&experiment).is_ok());
    experiment.model.head.output_norm = true;
    let error = run(&experiment).unwrap_err().to_string();
    assert!(error.contains("head.output_norm = true"), "{error}");
}

#[test]
fn events_come_in_order_and_breaking_ends_the_run() {
    let dataset = small::dataset(60);
    let experiment = small::experiment(&dataset, "gcn", "egg");
    let graphs = experiment.prepare(dataset.clone()).unwrap();
    let split = Split::random(60, &mut rng());
    let mut seen = Vec::new();
    let mut watch = |event: Event<'_>| {
        seen.push(match event {
            Event::Started { graphs, done, .. } => format!("started {graphs:?} {done}"),
            Event::Batch {
                epoch,
                batch,
                batches,
            } => format!("batch {epoch}.{batch}/{batches}"),
            Event::Epoch(report) => format!("epoch {}", report.epoch),
            Event::Finished(outcome) => format!("finished {:?}", outcome.stopped),
            _ => String::new(),
        });
        match event {
            Event::Epoch(report) if report.epoch == 2 => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    };
    let options = RunOptions::default();
    let (_, outcome) = experiment
        .repetition(&graphs, &split, 0, &options, &mut watch)
        .unwrap();
    let expected = [
        "started (48, 6, 6) 0",
        "batch 1.1/2",
        "batch 1.2/2",
        "epoch 1",
        "batch 2.1/2",
        "batch 2.2/2",
        "epoch 2",
        "finished Cancelled",
    ];
    assert_eq!(seen, expected);
    assert_eq!((outcome.stopped, outcome.test), (Stopped::Cancelled, None));
    assert!(outcome.validation.is_some());

    // In the middle of the first epoch there is nothing yet.
    let mut at_once = |event: Event<'_>| match event {
        Event::Batch { .. } => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    let (_, outcome) = experiment
        .repetition(&graphs, &split, 0, &options, &mut at_once)
        .unwrap();
    assert_eq!((outcome.stopped, outcome.best_epoch), (Stopped::Cancelled, None));

    let refused = experiment.run(&graphs, &options, &|_, _| ControlFlow::Break(()));
    assert!(matches!(refused, Err(Error::Cancelled)));
}

#[test]
fn patience_ends_a_run_at_its_best_epoch() {
    let dataset = small::dataset(40);
    let mut experiment = small::experiment(&dataset, "gcn", "sum");
    experiment.training.patience = 2;
    experiment.training.max_epochs = 100;
    let graphs = experiment.prepare(dataset.clone()).unwrap();
    let split = Split::random(40, &mut rng());
    let options = RunOptions::default();
    let (_, outcome) = experiment
        .repetition(&graphs, &split, 0, &options, &mut Silent)
        .unwrap();
    assert_eq!(outcome.stopped, Stopped::Patience);
    let losses: Vec<f64> = outcome
        .history
        .iter()
        .map(|epoch| epoch.validation_loss)
        .collect();
    let best = outcome.best_epoch.unwrap() as usize - 1;
    assert_eq!(best + 3, losses.len());
    assert!(losses.iter().all(|loss| *loss >= losses[best]));
    // The model was left there.
    assert_eq!(outcome.validation.unwrap().loss, losses[best]);
}

#[test]
fn non_finite_loss_is_an_error_with_its_epoch() {
    let dataset = small::dataset(40);
    let mut experiment = small::experiment(&dataset, "gcn", "sum");
    experiment.training.learning_rate = 1e38;
    experiment.repetitions = 1;
    let graphs = experiment.prepare(dataset).unwrap();
    let error = experiment
        .run(&graphs, &RunOptions::default(), &small::watch_nothing)
        .unwrap_err();
    let Error::InRepetition {
        repetition: 1,
        source,
    } = error
    else {
        panic!("{error}");
    };
    match *source {
        Error::NonFiniteLoss {
            epoch, batch, loss, ..
        } => assert!(epoch >= 1 && batch >= 1 && !loss.is_finite()),
        other => panic!("{other}"),
    }
    // With EGG it is the embedding that meets the first NaN; it says where, too.
    let mut experiment = small::experiment(&small::dataset(40), "gcn", "egg");
    experiment.training.learning_rate = 1e38;
    let error = experiment
        .run(&graphs, &RunOptions::default(), &small::watch_nothing)
        .unwrap_err()
        .to_string();
    assert!(error.contains("epoch") && error.contains("batch"), "{error}");
}

/// Made ahead by another thread or not: the batches are the same, in the same order, up to
/// where the work breaks off.
#[test]
fn batches_made_ahead_are_those_made_one_by_one() {
    let dataset = small::dataset(20);
    let graphs = PreparedGraphs::new(dataset, PropagationKind::Normalised, DType::F32).unwrap();
    let parts: [&[usize]; 5] = [&[3, 1, 4], &[15, 9], &[2], &[6, 5], &[8]];
    let seen_of = |batch: egg_pool::Result<egg_pool::data::Batch>| {
        let structure = batch.unwrap().structure;
        (structure.offsets().to_vec(), structure.adjacency().clone())
    };
    let expected: Vec<_> = parts.iter().map(|part| seen_of(graphs.batch(part))).collect();
    for threads in [1, 2, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.unwrap().install(|| {
            for end in 1..=parts.len() {
                let mut seen = Vec::new();
                let ended = graphs.each_batch(parts, |batch| {
                    seen.push(seen_of(batch));
                    match seen.len() == end {
                        true => ControlFlow::Break(end),
                        false => ControlFlow::Continue(()),
                    }
                });
                assert_eq!(ended, ControlFlow::Break(end));
                assert_eq!(seen, expected[..end], "{threads} threads");
            }
        });
    }
    assert_eq!(
        graphs.each_batch([], |_| ControlFlow::Break(())),
        ControlFlow::Continue(())
    );
}

#[test]
fn a_batch_of_one_graph_trains_without_nan() {
    let dataset = small::dataset(20);
    for (size, train) in [(1, 4), (2, 3), (32, 1), (3, 4)] {
        let mut experiment = small::experiment(&dataset, "gin", "egg");
        experiment.training.batch_size = size;
        let graphs = experiment.prepare(dataset.clone()).unwrap();
        let split = Split {
            train: (0..train).collect(),
            validation: vec![10],
            test: vec![11],
        };
        let options = RunOptions::default();
        let (_, outcome) = experiment
            .repetition(&graphs, &split, 0, &options, &mut Silent)
            .unwrap();
        assert!(outcome.history.iter().all(|epoch| epoch.train_loss.is_finite()));
        assert!(outcome.test.is_some());
    }
}

#[test]
fn mismatched_inputs_are_refused() {
    let dataset = small::dataset(20);
    let convolved = PropagationKind::Normalised;
    let graphs = PreparedGraphs::new(dataset.clone(), convolved, DType::F32).unwrap();
    let config = TrainConfig::paper();
    let good = Split {
        train: vec![0, 1, 2, 3],
        validation: vec![4, 5],
        test: vec![6],
    };
    let refused = |config: &TrainConfig, split: &Split| Trainer::new(config, &graphs, split).unwrap_err();
    let empty = Split {
        validation: vec![],
        ..good.clone()
    };
    assert!(matches!(
        refused(&config, &empty),
        Error::EmptyPart { part: "validation" }
    ));
    let twice = Split {
        test: vec![0],
        ..good.clone()
    };
    assert!(matches!(
        refused(&config, &twice),
        Error::Setting { name: "split", .. }
    ));
    let outside = Split {
        test: vec![99],
        ..good.clone()
    };
    assert!(matches!(
        refused(&config, &outside),
        Error::Graph(egg_graph::Error::NoSuchGraph { index: 99, .. })
    ));
    let numbers = TrainConfig {
        objective: Objective::Mse,
        metric: Metric::MAE,
        ..config.clone()
    };
    assert!(matches!(refused(&numbers, &good), Error::Targets { .. }));
    let mixed = TrainConfig {
        metric: Metric::MAE,
        ..config.clone()
    };
    assert!(matches!(
        refused(&mixed, &good),
        Error::Setting { name: "metric", .. }
    ));
    let none = TrainConfig {
        batch_size: 0,
        ..config.clone()
    };
    assert!(matches!(refused(&none, &good), Error::Setting { .. }));

    let trainer = Trainer::new(&config, &graphs, &good).unwrap();
    let run = |config: ModelConfig, inputs: usize, outputs: usize| {
        let model = config.model(inputs, outputs, DType::F32, &mut rng())?;
        trainer.run(&model, rng(), &mut Silent)
    };
    let gcn = || ModelConfig::new(Gcn, Sum.into());
    let width = run(gcn(), 7, 2).unwrap_err();
    assert!(
        matches!(
            width,
            Error::FeatureWidth {
                expected: 7,
                found: 6
            }
        ),
        "{width}"
    );
    assert!(matches!(run(gcn(), 6, 3).unwrap_err(), Error::Setting { .. }));
    let gin = ModelConfig::new(Gin, Sum.into());
    assert!(matches!(run(gin, 6, 2).unwrap_err(), Error::Setting { .. }));
    for (layers, hidden) in [(0, 8), (2, 0)] {
        let mut config = gcn();
        (config.layers, config.hidden) = (layers, hidden);
        assert!(matches!(run(config, 6, 2).unwrap_err(), Error::Setting { .. }));
    }
    let mut config = gcn();
    config.head.dropout = 1.0;
    assert!(run(config, 6, 2).is_err());
    // Nodes without features.
    let bare = egg_graph::Features::none(dataset.node_count());
    let bare = dataset.with_features(bare).unwrap();
    assert!(matches!(
        PreparedGraphs::new(bare, convolved, DType::F32),
        Err(Error::NoFeatures { .. })
    ));
}
