//! Several repetitions of several methods.

use std::ops::ControlFlow;

use egg_cluster::pipeline::{
    ClusterReport, ClusteringEvent, Coordinates, Measure, Method, MethodReports, NodeClustering,
    NodeClusteringConfig, Preset, Repetition, RepetitionEvent, Repetitions, Timings,
};
use egg_cluster::{Error, Silent};
use egg_graph::GraphDataset;

use crate::tensors::communities;

const EPOCHS: u64 = 8;

fn dataset() -> GraphDataset {
    communities(200, 4)
}

fn repetitions(count: usize) -> Repetitions {
    let mut config = Preset::Paper.config();
    config.autoencoder_mut().epochs = EPOCHS;
    config.seed = 5;
    let plain = Coordinates::Plain {
        normalise_rows: false,
    };
    let methods = [("k-means", plain), ("EGG", config.coordinates)];
    let methods = methods.map(|(name, coordinates)| Method {
        name: name.to_owned(),
        coordinates,
    });
    Repetitions::new(config, methods.to_vec(), count)
}

fn without_timings(mut report: ClusterReport) -> ClusterReport {
    report.timings = Timings::default();
    report
}

#[track_caller]
fn assert_same_bits(one: &[Repetition], other: &[Repetition]) {
    assert_eq!(one.len(), other.len());
    for (one, other) in one.iter().zip(other) {
        assert_eq!(one.seed, other.seed);
        assert_eq!(one.embedding.h, other.embedding.h);
        assert_eq!(one.embedding.history, other.embedding.history);
        for (one, other) in one.clusterings.iter().zip(&other.clusterings) {
            assert_eq!(one.labels, other.labels);
            assert_eq!(without_timings(one.report), without_timings(other.report));
        }
    }
}

#[test]
fn repetitions_equal_single_runs_bit_for_bit() {
    let (dataset, repetitions) = (dataset(), repetitions(3));
    let results = repetitions.run(&dataset, &mut Silent).unwrap();
    assert_eq!(results.len(), 3);
    for (result, seed) in results.iter().zip(5..) {
        assert_eq!(
            (result.seed, result.clusterings.len()),
            (seed, repetitions.methods.len())
        );
        for (method, clusters) in repetitions.methods.iter().zip(&result.clusterings) {
            let config = NodeClusteringConfig {
                seed,
                coordinates: method.coordinates,
                ..repetitions.config
            };
            let single = NodeClustering::new(config).unwrap();
            let single = single.run(&dataset, None, &mut Silent).unwrap();
            assert_eq!(single.embedding, result.embedding.h);
            assert_eq!(single.history, result.embedding.history);
            assert_eq!(single.labels, clusters.labels);
            assert_eq!(without_timings(single.report), without_timings(clusters.report));
        }
    }
    // The seeds differ, and so do the results.
    assert_ne!(results[0].embedding.h, results[1].embedding.h);

    let reports = MethodReports::collect(&repetitions.methods, &results);
    assert_eq!(reports.len(), 2);
    for (index, method) in reports.iter().enumerate() {
        assert_eq!(method.name, repetitions.methods[index].name);
        let accuracies = method.values(Measure::ACCURACY);
        let expected = results
            .iter()
            .map(|result| result.clusterings[index].report.agreement.unwrap().accuracy);
        assert_eq!(accuracies, expected.collect::<Vec<_>>());
        assert_eq!(method.summary(Measure::ACCURACY).unwrap().count, 3);
    }
}

#[test]
fn events_name_their_repetition_in_order() {
    let mut events: Vec<RepetitionEvent> = Vec::new();
    let mut observer = |event: RepetitionEvent| {
        events.push(event);
        ControlFlow::Continue(())
    };
    repetitions(2).run(&dataset(), &mut observer).unwrap();
    // Prepared, epochs, trained, and two events per method.
    let per_repetition = 1 + EPOCHS as usize + 1 + 2 * 2;
    assert_eq!(events.len(), 2 * per_repetition);
    for (index, event) in events.iter().enumerate() {
        assert_eq!(event.repetition, index / per_repetition);
    }
}

#[test]
fn a_cancelled_repetition_ends_all_and_resumes_bit_for_bit() {
    let dataset = dataset();
    let uninterrupted = repetitions(3).run(&dataset, &mut Silent).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let saved = Repetitions {
        checkpoints: Some(folder.path().to_owned()),
        ..repetitions(3)
    };
    let file = |number: usize| folder.path().join(format!("repetition-{number}.safetensors"));

    let is_epoch_two = |event: RepetitionEvent| {
        event.repetition == 1 && matches!(event.event, ClusteringEvent::Epoch(epoch) if epoch.epoch == 2)
    };
    let is_clustered = |event: RepetitionEvent| {
        event.repetition == 1 && matches!(event.event, ClusteringEvent::Clustered { .. })
    };
    let cancel_points: [(&dyn Fn(RepetitionEvent) -> bool, u64); 2] =
        [(&is_epoch_two, 2), (&is_clustered, EPOCHS)];
    for (cancels, expected) in cancel_points {
        let mut last = None;
        let result = saved.run(&dataset, &mut |event: RepetitionEvent| {
            last = Some(event);
            match cancels(event) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        });
        assert!(
            matches!(result, Err(Error::Cancelled { epochs }) if epochs == expected),
            "{result:?}"
        );
        // Nothing follows the event that cancelled.
        assert!(cancels(last.unwrap()));
        assert!(file(1).exists() && file(2).exists() && !file(3).exists());
    }

    let resumed = saved.run(&dataset, &mut Silent).unwrap();
    assert!(file(3).exists());
    assert_same_bits(&resumed, &uninterrupted);
}

#[test]
fn bad_settings_are_refused_before_training() {
    let dataset = dataset();
    let mut no_events = |event: RepetitionEvent| -> ControlFlow<()> { panic!("{event:?}") };
    let mut last_seed = repetitions(2);
    last_seed.config.seed = u64::MAX;
    let mut too_many_clusters = repetitions(2);
    too_many_clusters.config.clusters = Some(201);
    for bad in [last_seed, too_many_clusters] {
        let result = bad.run(&dataset, &mut no_events);
        assert!(matches!(result, Err(Error::Setting { .. })), "{result:?}");
    }
    assert!(repetitions(0).check().is_err());
    let result = repetitions(2).run_one(2, &dataset, &mut no_events);
    assert!(matches!(result, Err(Error::Setting { .. })), "{result:?}");
}
