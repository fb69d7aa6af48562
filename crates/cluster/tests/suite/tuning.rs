//! Settings chosen without labels.

use approx::assert_abs_diff_eq;
use std::ops::ControlFlow;

use egg_cluster::Error;
use egg_cluster::Silent;
use egg_cluster::pipeline::{Coordinates, FeatureUse, Grid, NodeClustering, Preset, Tuning, tune};
use egg_graph::synthetic::BlockModel;
use egg_graph::{GraphDataset, Labels};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

fn dataset() -> GraphDataset {
    let model = BlockModel {
        nodes: 240,
        blocks: 3,
        ..BlockModel::default()
    };
    model.generate(&mut ChaCha8Rng::seed_from_u64(3)).unwrap()
}

fn grid() -> Grid {
    Grid {
        features: vec![FeatureUse::Raw, FeatureUse::UnitLength],
        variational: vec![false],
        epochs: vec![6, 15],
        ..Grid::default()
    }
}

fn tuned(dataset: &GraphDataset) -> Tuning {
    let base = Preset::Paper.config();
    tune(&[dataset], &grid(), &base, &[0, 1], &mut Silent).unwrap()
}

#[test]
fn labels_change_nothing_but_the_number_of_clusters() {
    let truth = dataset();
    let graph = truth.graph(0).unwrap().to_graph();
    // As many classes, all of them wrong.
    let wrong: Vec<Option<u32>> = (0..240).map(|node| Some(node % 3)).collect();
    let names = ["a", "b", "c"].map(String::from).to_vec();
    let graph = graph
        .with_node_labels(Labels::new(&wrong, names).unwrap())
        .unwrap();
    let mislabelled = GraphDataset::single("mislabelled", graph);
    assert_eq!(tuned(&truth), tuned(&mislabelled));
}

#[test]
fn the_best_by_each_criterion_is_chosen_and_all_are_reported() {
    let truth = dataset();
    let tuning = tuned(&truth);
    assert_eq!(tuning.trainings.len(), 4);
    assert_eq!(tuning.clusterings.len(), 2 * grid().coordinates.len());
    let best = tuning
        .trainings
        .iter()
        .map(|tried| tried.roc_auc)
        .fold(0.0, f64::max);
    let first = tuning
        .trainings
        .iter()
        .find(|tried| tried.roc_auc == best)
        .unwrap();
    assert_eq!(tuning.config.features, first.features);
    assert_eq!(tuning.config.encoder.autoencoder().unwrap().epochs, first.epochs);
    assert!(!tuning.config.encoder.autoencoder().unwrap().encoder.variational);
    let best = tuning
        .clusterings
        .iter()
        .map(|tried| tried.modularity)
        .fold(-1.0, f64::max);
    let first = tuning
        .clusterings
        .iter()
        .find(|tried| tried.modularity == best)
        .unwrap();
    assert_eq!(tuning.config.coordinates, first.coordinates);

    // A score is the mean of what a run by hand gives.
    let mut sum = 0.0;
    for seed in [0, 1] {
        let mut config = tuning.config;
        config.seed = seed;
        let found = NodeClustering::new(config)
            .unwrap()
            .run(&truth, None, &mut Silent);
        sum += found.unwrap().report.modularity.unwrap();
    }
    assert_abs_diff_eq!(sum / 2.0, best, epsilon = 1e-12);
}

#[test]
fn an_epoch_of_a_longer_training_scores_like_a_separate_training() {
    let truth = dataset();
    let base = Preset::Paper.config();
    let scores = |epochs: Vec<u64>| {
        let grid = Grid { epochs, ..grid() };
        let tuning = tune(&[&truth], &grid, &base, &[4], &mut Silent).unwrap();
        let of_six = tuning.trainings.iter().filter(|tried| tried.epochs == 6);
        of_six.map(|tried| tried.roc_auc.to_bits()).collect::<Vec<_>>()
    };
    assert_eq!(scores(vec![6, 15]), scores(vec![6]));
}

#[test]
fn an_empty_grid_is_refused_and_an_observer_cancels() {
    let truth = dataset();
    let base = Preset::Paper.config();
    for bad in [
        Grid {
            features: vec![],
            ..grid()
        },
        Grid {
            epochs: vec![10, 0],
            ..grid()
        },
        Grid {
            coordinates: Vec::<Coordinates>::new(),
            ..grid()
        },
    ] {
        let refused = tune(&[&truth], &bad, &base, &[0], &mut Silent);
        assert!(matches!(refused, Err(Error::Setting { .. })), "{refused:?}");
    }
    assert!(matches!(
        tune(&[&truth], &grid(), &base, &[], &mut Silent),
        Err(Error::Setting { .. })
    ));
    assert!(matches!(
        tune(&[], &grid(), &base, &[0], &mut Silent),
        Err(Error::Setting { .. })
    ));
    let cancelled = tune(&[&truth], &grid(), &base, &[0], &mut |_| ControlFlow::Break(()));
    assert!(matches!(cancelled, Err(Error::Cancelled { .. })));
}

#[test]
fn the_tuned_preset_is_the_recorded_choice() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/results/cluster/tuning.json"
    );
    let record: serde_json::Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let grid: Grid = serde_json::from_value(record["grid"].clone()).unwrap();
    assert_eq!(grid, Grid::default());
    let tuning: Tuning = serde_json::from_value(record["tuning"].clone()).unwrap();
    assert_eq!(tuning.config, Preset::Tuned.config());
    let best = tuning
        .trainings
        .iter()
        .map(|tried| tried.roc_auc)
        .fold(0.0, f64::max);
    let chosen = tuning
        .trainings
        .iter()
        .find(|tried| tried.roc_auc == best)
        .unwrap();
    assert_eq!(
        (chosen.features, chosen.variational, chosen.epochs),
        (FeatureUse::UnitLength, false, 200)
    );
    let best = tuning
        .clusterings
        .iter()
        .map(|tried| tried.modularity)
        .fold(-1.0, f64::max);
    let chosen = tuning
        .clusterings
        .iter()
        .find(|tried| tried.modularity == best)
        .unwrap();
    assert_eq!(chosen.coordinates, tuning.config.coordinates);
}
