//! What the columns of node features mean is part of a model.

use std::path::Path;

use approx::assert_abs_diff_eq;
use egg_graph::{FeatureColumn, Features, Graph, GraphDataset, Labels, ReadOptions, Targets, read_tu};
use egg_pool::PoolingConfig;
use egg_pool::folder::{Prediction, TrainedModel};
use egg_pool::protocol::{Experiment, Protocol, RunOptions};
use egg_pool::train::Silent;

use crate::real_data::find;
use crate::samples::{flat, normal};

fn train(dataset: &GraphDataset, convolution: &str, pooling: &PoolingConfig) -> TrainedModel {
    let convolution = crate::small::convolution(convolution);
    let mut experiment = Experiment::new(dataset, Protocol::Paper, convolution, pooling.clone()).unwrap();
    experiment.training.max_epochs = 2;
    experiment.model.hidden = 8;
    let graphs = experiment.prepare(dataset.clone()).unwrap();
    TrainedModel::train(&experiment, &graphs, 0, &RunOptions::default(), &mut Silent).unwrap()
}

/// A TU folder of some rings whose nodes have labels.
fn write_rings(folder: &Path, sizes: &[usize], label: impl Fn(usize, usize) -> i64) {
    let (mut edges, mut indicator, mut labels) = (String::new(), String::new(), String::new());
    let mut first = 1;
    for (graph, size) in sizes.iter().enumerate() {
        for node in 0..*size {
            edges += &format!("{}, {}\n", first + node, first + (node + 1) % size);
            indicator += &format!("{}\n", graph + 1);
            labels += &format!("{}\n", label(graph, node));
        }
        first += size;
    }
    let classes: String = sizes.iter().map(|size| format!("{}\n", size % 2)).collect();
    for (name, text) in [
        ("A", edges),
        ("graph_indicator", indicator),
        ("node_labels", labels),
        ("graph_labels", classes),
    ] {
        std::fs::write(folder.join(format!("RINGS_{name}.txt")), text).unwrap();
    }
}

fn rings(sizes: &[usize], label: impl Fn(usize, usize) -> i64) -> GraphDataset {
    let folder = tempfile::tempdir().unwrap();
    write_rings(folder.path(), sizes, label);
    read_tu(folder.path(), &ReadOptions::default()).unwrap()
}

fn assert_close(found: &[Prediction], expected: &[Prediction], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (found, expected) in found.iter().zip(expected) {
        match (found, expected) {
            (
                Prediction::Class {
                    class, probabilities, ..
                },
                Prediction::Class {
                    class: other,
                    probabilities: others,
                    ..
                },
            ) => {
                // In another batch a product of another length may round otherwise.
                let pairs = probabilities.iter().zip(others);
                let apart = pairs.fold(0.0, |most: f64, (a, b)| most.max((a - b).abs()));
                assert!(apart < 1e-5, "{what}: {probabilities:?} and {others:?}");
                assert!(class == other || apart > 0.0, "{what}");
            }
            (found, expected) => assert_eq!(found, expected, "{what}"),
        }
    }
}

/// A subset that a user writes to files of its own has fewer labels than the training
/// data, and a part of it that begins with others has a shifted range.
#[test]
fn labels_of_a_subset_mean_what_they_meant_in_training() {
    let sizes: Vec<usize> = (0..40).map(|graph| 4 + graph % 5).collect();
    let label = |graph: usize, node: usize| [2, 4, 7][(graph + node * node) % 3];
    let dataset = rings(&sizes, label);
    let trained = train(&dataset, "gcn", &"sum".parse().unwrap());
    assert_eq!(trained.config().inputs, 6);
    let all = trained.predict(dataset.clone()).unwrap();

    // Only labels 4 and 7: a range of four, which is not 2 to 5.
    let high = |graph: usize, node: usize| label(graph, node).max(4);
    let same: Vec<usize> = (0..40)
        .filter(|graph| (0..sizes[*graph]).all(|node| label(*graph, node) == high(*graph, node)))
        .collect();
    let shifted = rings(&sizes, high);
    assert_eq!(shifted.features().width(), 4);
    let found = trained.predict(shifted).unwrap();
    for graph in &same {
        assert_close(&found[*graph..=*graph], &all[*graph..=*graph], "shifted");
    }
    // Three labels of which one was never seen: counted, and of no category.
    let strange = rings(
        &sizes[..3],
        |graph, node| if node == 1 { 9 } else { label(graph, node) },
    );
    let (aligned, unseen) = trained.config().columns_of(strange.clone()).unwrap();
    assert_eq!(unseen.len(), 1);
    assert_eq!(
        (unseen[0].column.to_string().as_str(), unseen[0].nodes),
        ("node label = 9", 3)
    );
    assert_eq!(aligned.features().to_dense().row(1).sum(), 0.0);
    assert_eq!(trained.predict(strange).unwrap().len(), 3);
    // It goes through the folder.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    trained.save(&path).unwrap();
    let loaded = TrainedModel::load(&path).unwrap();
    assert_eq!(loaded.predict(dataset).unwrap(), all);
}

/// Every pooling, GCN and GIN, on random graphs and on MUTAG: what a model says of a
/// graph does not depend on which others it is asked about.
#[test]
fn predictions_of_a_subset_are_those_of_the_whole() {
    let graphs: Vec<Graph> = (0..30)
        .map(|index| {
            let (nodes, edges) = crate::samples::random_graph(3 + index % 9, 0.4, index as u64);
            let rows = flat(&normal(nodes, 3, index as u64))
                .into_iter()
                .map(|x| x as f32)
                .collect();
            let features = ndarray::Array2::from_shape_vec((nodes, 3), rows).unwrap();
            let graph = Graph::from_edges(nodes, &edges).unwrap();
            graph.with_features(Features::dense(features).unwrap()).unwrap()
        })
        .collect();
    let labels: Vec<i64> = (0..30).map(|graph| graph % 2).collect();
    let random = GraphDataset::from_graphs("random", &graphs)
        .unwrap()
        .with_targets(Targets::Classes(Labels::from_values(&labels)))
        .unwrap();
    let mut sets = vec![random];
    if let Some(path) = find("MUTAG.zip") {
        let mutag = read_tu(&path, &ReadOptions::default()).unwrap();
        sets.push(mutag.subset(&(0..60).collect::<Vec<_>>()).unwrap());
    }
    for dataset in sets {
        for convolution in ["gcn", "gin"] {
            for pooling in PoolingConfig::all() {
                let trained = train(&dataset, convolution, &pooling);
                let all = trained.predict(dataset.clone()).unwrap();
                let some = [17usize, 3, 4, 29, 11];
                let part = trained.predict(dataset.subset(&some).unwrap()).unwrap();
                let expected = some.map(|graph| all[graph].clone());
                let what = format!("{} {convolution} {pooling}", dataset.name());
                assert_close(&part, &expected, &what);
                let one = trained.predict(dataset.subset(&some[..1]).unwrap()).unwrap();
                assert_close(&one, &expected[..1], &what);
            }
        }
    }
}

#[test]
fn columns_in_another_order_are_found_by_name_and_others_are_refused() {
    let (graphs, labels): (Vec<Graph>, Vec<i64>) = (0..24)
        .map(|index: i64| {
            let nodes = 4 + index as usize % 3;
            let rows = flat(&normal(nodes, 2, index as u64))
                .into_iter()
                .map(|x| x as f32)
                .collect();
            let features = ndarray::Array2::from_shape_vec((nodes, 2), rows).unwrap();
            let edges: Vec<_> = (1..nodes).map(|node| (node - 1, node)).collect();
            let graph = Graph::from_edges(nodes, &edges).unwrap();
            (
                graph.with_features(Features::dense(features).unwrap()).unwrap(),
                index % 2,
            )
        })
        .unzip();
    let named = |names: [&str; 2]| names.map(FeatureColumn::number).to_vec();
    let dataset = GraphDataset::from_graphs("named", &graphs)
        .unwrap()
        .with_targets(Targets::Classes(Labels::from_values(&labels)))
        .unwrap()
        .with_feature_columns(named(["charge", "mass"]))
        .unwrap();
    let trained = train(&dataset, "gcn", &"egg".parse().unwrap());
    let expected = trained.predict(dataset.clone()).unwrap();
    let turned = dataset.features().to_dense().select(ndarray::Axis(1), &[1, 0]);
    let turned = dataset
        .clone()
        .with_features(Features::dense(turned).unwrap())
        .unwrap();
    let found = trained
        .predict(
            turned
                .clone()
                .with_feature_columns(named(["mass", "charge"]))
                .unwrap(),
        )
        .unwrap();
    assert_eq!(found, expected);
    // Without names, or with others.
    let words = |dataset: GraphDataset| trained.predict(dataset).unwrap_err().to_string();
    assert!(words(turned.clone()).contains("no names"));
    let other = turned.with_feature_columns(named(["mass", "spin"])).unwrap();
    assert!(words(other).contains("`charge` is missing"));
}

#[test]
fn scores_are_of_the_metric_and_by_the_names_of_classes() {
    let sizes: Vec<usize> = (0..40).map(|graph| 4 + graph % 5).collect();
    let dataset = rings(&sizes, |graph, node| ((graph + node) % 2) as i64);
    let trained = train(&dataset, "gcn", &"sum".parse().unwrap());
    let predictions = trained.predict(dataset.clone()).unwrap();
    let whole = trained.score(&predictions, &dataset).unwrap().unwrap();
    let accuracy = |scored: &egg_pool::folder::Scored| {
        let scores = scored.scores.as_ref().unwrap();
        scores.get(egg_pool::metrics::Metric::ACCURACY).unwrap()
    };
    let labels = dataset.classes().unwrap();
    let right = (0..40).filter(|graph| {
        matches!(&predictions[*graph], Prediction::Class { label, .. }
            if *label == labels.names()[labels.get(*graph).unwrap() as usize])
    });
    assert_abs_diff_eq!(accuracy(&whole), right.count() as f64 / 40.0, epsilon = 1e-12);
    // A part with the second class only, under another number; and one of an unknown class.
    let odd: Vec<usize> = (0..40).filter(|graph| sizes[*graph] % 2 == 1).collect();
    let part = dataset.subset(&odd).unwrap();
    let only = Labels::new(&vec![Some(0); odd.len()], vec!["1".into()]).unwrap();
    let part = part.with_targets(Targets::Classes(only)).unwrap();
    let some = trained.predict(part.clone()).unwrap();
    let ones = some
        .iter()
        .filter(|one| matches!(one, Prediction::Class { label, .. } if label == "1"));
    let scored = trained.score(&some, &part).unwrap().unwrap();
    assert_abs_diff_eq!(
        accuracy(&scored),
        ones.count() as f64 / odd.len() as f64,
        epsilon = 1e-12
    );
    let strange = Labels::new(&vec![Some(0); odd.len()], vec!["seven".into()]).unwrap();
    let part = part.with_targets(Targets::Classes(strange)).unwrap();
    let scored = trained.score(&some, &part).unwrap().unwrap();
    assert_eq!((scored.scores, scored.unknown_classes), (None, odd.len()));
    assert!(trained.score(&some[1..], &part).is_err());
}
