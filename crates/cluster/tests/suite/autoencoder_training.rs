//! Training: it learns, it resumes, it can be cancelled, and threads don't matter.

use std::ops::ControlFlow;

use egg_cluster::vgae::{
    Autoencoder, AutoencoderConfig, CheckpointConfig, EncoderConfig, Epoch, Likelihood, LinkTask, Precision,
    StopEarly,
};
use egg_cluster::{Error, Silent};

use crate::tensors::{communities, flat, on_threads, rng};

fn short() -> AutoencoderConfig {
    AutoencoderConfig {
        epochs: 12,
        validate_every: 4,
        ..AutoencoderConfig::default()
    }
}

fn task(nodes: usize) -> LinkTask {
    LinkTask::split(&communities(nodes, 1), 0.05, 0.10, &mut rng(2)).unwrap()
}

fn train(task: &LinkTask, config: &AutoencoderConfig) -> Autoencoder {
    Autoencoder::train(task, config, 5, None, &mut Silent).unwrap()
}

/// All that a run gives, to the bit.
fn bits(trained: &Autoencoder) -> Vec<u64> {
    let mut numbers = flat(&trained.embedding);
    numbers.extend(trained.history.iter().map(|epoch| epoch.loss));
    let validations = trained.history.iter().filter_map(|epoch| epoch.validation);
    numbers.extend(validations.flat_map(|scores| [scores.roc_auc, scores.average_precision]));
    numbers.extend([trained.validation.unwrap().roc_auc, trained.test.unwrap().roc_auc]);
    numbers.push(trained.epoch as f64);
    numbers.iter().map(|number| number.to_bits()).collect()
}

#[test]
fn every_kind_learns_to_predict_held_out_edges() {
    let task = task(600);
    for likelihood in [Likelihood::Exact, Likelihood::NegativeSampling] {
        for variational in [true, false] {
            let config = AutoencoderConfig {
                encoder: EncoderConfig {
                    variational,
                    ..EncoderConfig::default()
                },
                likelihood,
                epochs: 100,
                ..AutoencoderConfig::default()
            };
            let trained = train(&task, &config);
            assert_eq!(trained.history.len(), 100);
            let validations = trained.history.iter().filter(|epoch| epoch.validation.is_some());
            assert_eq!(validations.count(), 10);
            let test = trained.test.unwrap();
            assert!(
                test.roc_auc > 0.75 && test.average_precision > 0.7,
                "{likelihood:?} {variational} {test:?}"
            );
            assert!(trained.history[99].loss < trained.history[0].loss);
        }
    }
}

#[test]
fn results_depend_on_the_seed_and_not_on_the_threads() {
    let task = task(300);
    for config in [
        short(),
        AutoencoderConfig {
            likelihood: Likelihood::NegativeSampling,
            precision: Precision::Double,
            ..short()
        },
    ] {
        let one = on_threads(1, || bits(&train(&task, &config)));
        assert!(one == on_threads(2, || bits(&train(&task, &config))));
        assert!(one == on_threads(4, || bits(&train(&task, &config))));
        let other = Autoencoder::train(&task, &config, 6, None, &mut Silent).unwrap();
        assert!(one != bits(&other));
    }
}

#[test]
fn a_cancelled_training_resumes_bit_for_bit() {
    let task = task(300);
    let folder = tempfile::tempdir().unwrap();
    for (name, config) in [
        ("plain", short()),
        (
            "stopping",
            AutoencoderConfig {
                likelihood: Likelihood::NegativeSampling,
                validate_every: 1,
                stop_early: Some(StopEarly { patience: 3 }),
                epochs: 60,
                ..short()
            },
        ),
    ] {
        let whole = train(&task, &config);
        let checkpoint = CheckpointConfig {
            path: folder.path().join(name),
            every: 5,
        };
        let run = |stop_at: u64| {
            Autoencoder::train(&task, &config, 5, Some(&checkpoint), &mut |epoch: Epoch| {
                if epoch.epoch == stop_at {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            })
        };
        for stop_at in [1, 3] {
            assert!(matches!(run(stop_at), Err(Error::Cancelled { epochs }) if epochs == stop_at));
        }
        assert!(bits(&run(0).unwrap()) == bits(&whole), "{name}");
        // And once more from the finished file.
        assert!(bits(&run(0).unwrap()) == bits(&whole), "{name}");
    }
}

#[test]
fn a_checkpoint_of_another_run_is_refused() {
    let (task, other) = (task(120), LinkTask::all_edges(&communities(120, 1)).unwrap());
    let folder = tempfile::tempdir().unwrap();
    let checkpoint = CheckpointConfig {
        path: folder.path().join("run"),
        every: 100,
    };
    let run = |task: &LinkTask, config: &AutoencoderConfig, seed: u64| {
        Autoencoder::train(task, config, seed, Some(&checkpoint), &mut Silent)
    };
    run(&task, &short(), 5).unwrap();
    let refused = |result: egg_cluster::Result<Autoencoder>| matches!(result, Err(Error::OtherRun { .. }));
    assert!(refused(run(&task, &short(), 6)));
    assert!(refused(run(
        &task,
        &AutoencoderConfig { beta: 2.0, ..short() },
        5
    )));
    assert!(refused(run(&other, &short(), 5)));
    std::fs::write(&checkpoint.path, "nonsense").unwrap();
    assert!(matches!(run(&task, &short(), 5), Err(Error::Layer(_))));
}

#[test]
fn early_stopping_restores_the_best_epoch() {
    let config = AutoencoderConfig {
        validate_every: 1,
        stop_early: Some(StopEarly { patience: 4 }),
        epochs: 500,
        ..AutoencoderConfig::default()
    };
    let trained = train(&task(300), &config);
    let last = trained.history.last().unwrap().epoch;
    assert!(
        last < 500 && trained.epoch + 4 == last,
        "{} of {last}",
        trained.epoch
    );
    let best = trained.history[trained.epoch as usize - 1].validation.unwrap();
    assert_eq!(best, trained.validation.unwrap());
}
