//! Settings that are chosen for a graph.

use std::ops::ControlFlow;

use egg_cluster::pipeline::{
    Candidates, Choice, ChoiceProgress, FeatureUse, NodeClustering, Unlabelled, choose,
};
use egg_cluster::smooth::Filter;
use egg_cluster::{Error, Silent};
use egg_graph::synthetic::{BlockModel, karate_club};
use egg_graph::{Features, Graph, GraphDataset, Labels};
use ndarray::Array2;

use crate::samples::rng;

fn blocks() -> GraphDataset {
    let model = BlockModel {
        nodes: 300,
        blocks: 4,
        degree: 14.0,
        inside: 0.8,
        ..BlockModel::default()
    };
    model.generate(&mut rng(2)).unwrap()
}

fn chosen(dataset: &GraphDataset, clusters: usize) -> Choice {
    let graph = Unlabelled::new(dataset).unwrap();
    choose(&graph, clusters, &Candidates::default(), 0, &mut Silent).unwrap()
}

#[test]
fn blocks_are_found_with_features_and_without() {
    let dataset = blocks();
    let graph = dataset.graph(0).unwrap().to_graph();
    let bare = GraphDataset::single("bare", graph.with_features(Features::none(300)).unwrap());
    for dataset in [&dataset, &bare] {
        let choice = chosen(dataset, 4);
        let found = NodeClustering::new(choice.config).unwrap();
        let found = found.run(dataset, None, &mut Silent).unwrap();
        let agreement = found.report.agreement.unwrap();
        assert!(
            agreement.accuracy > 0.97,
            "{}: {}",
            dataset.name(),
            agreement.accuracy
        );
    }
}

#[test]
fn the_choice_does_not_depend_on_labels() {
    let dataset = karate_club().unwrap();
    let graph = dataset.graph(0).unwrap().to_graph();
    let others: Vec<i64> = (0..34).map(|node| node % 3).collect();
    let other = graph.with_node_labels(Labels::from_values(&others)).unwrap();
    let other = GraphDataset::single("other", other);
    assert_eq!(chosen(&dataset, 2), chosen(&other, 2));
}

#[test]
fn the_first_within_two_standard_errors_of_the_best_is_chosen() {
    let choice = chosen(&blocks(), 4);
    let scores: Vec<f64> = choice
        .candidates
        .iter()
        .map(|one| one.modularity.unwrap())
        .collect();
    let best = (0..scores.len())
        .max_by(|a, b| scores[*a].total_cmp(&scores[*b]))
        .unwrap();
    let bound = scores[best] - 2.0 * choice.candidates[best].standard_error.unwrap();
    let first = scores.iter().position(|score| *score >= bound).unwrap();
    assert_eq!(choice.config, choice.candidates[first].config);
}

#[test]
fn the_same_bits_on_one_thread_and_on_four() {
    let dataset = blocks();
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| {
            let choice = chosen(&dataset, 4);
            let found = NodeClustering::new(choice.config).unwrap();
            let found = found.run(&dataset, None, &mut Silent).unwrap();
            (choice, found.labels, found.embedding)
        })
    };
    assert_eq!(on(1), on(4));
}

#[test]
fn a_choice_is_cancelled_after_the_candidate_at_hand() {
    let graph = Unlabelled::new(&blocks()).unwrap();
    let mut seen = 0;
    let observer = &mut |progress: ChoiceProgress| {
        seen = progress.done;
        ControlFlow::Break(())
    };
    let cancelled = choose(&graph, 4, &Candidates::default(), 0, observer);
    assert!(matches!(cancelled, Err(Error::Cancelled { .. })));
    assert_eq!(seen, 1);
}

#[test]
fn candidates_out_of_range_are_refused() {
    let graph = Unlabelled::new(&karate_club().unwrap()).unwrap();
    let default = Candidates::default;
    for candidates in [
        Candidates {
            steps: vec![],
            ..default()
        },
        Candidates {
            steps: vec![1 << 40],
            ..default()
        },
        Candidates {
            ranks: vec![0],
            ..default()
        },
        Candidates {
            starts: 0,
            ..default()
        },
        Candidates {
            filter: Filter::PageRank(2.0),
            ..default()
        },
    ] {
        let refused = choose(&graph, 2, &candidates, 0, &mut Silent);
        assert!(matches!(refused, Err(Error::Setting { .. })), "{candidates:?}");
    }
}

#[test]
fn hostile_graphs_get_an_error_or_clusters() {
    let of = |graph: Graph, clusters: usize| {
        let graph = Unlabelled::new(&GraphDataset::single("hostile", graph)).unwrap();
        choose(&graph, clusters, &Candidates::default(), 0, &mut Silent)
    };
    // No edges, one node, more clusters than nodes, a negative weight.
    let empty = Graph::from_edges(5, &[]).unwrap();
    assert!(matches!(of(empty.clone(), 2), Err(Error::Undefined { .. })));
    assert!(matches!(
        of(Graph::from_edges(1, &[]).unwrap(), 1),
        Err(Error::Undefined { .. })
    ));
    let triangle = || Graph::from_edges(3, &[(0, 1), (1, 2), (2, 0)]).unwrap();
    for clusters in [0, 4] {
        assert!(matches!(of(triangle(), clusters), Err(Error::Setting { .. })));
    }
    let negative = Graph::from_weighted_edges(3, &[(0, 1, 1.0), (1, 2, -2.0)]).unwrap();
    assert!(matches!(of(negative, 2), Err(Error::Undefined { .. })));
    // As many clusters as nodes; components and isolated nodes; rows of zeros.
    assert!(of(triangle(), 3).is_ok());
    let parts = Graph::from_edges(9, &[(0, 1), (1, 2), (3, 4), (4, 5), (6, 7)]).unwrap();
    assert!(of(parts.clone(), 3).is_ok());
    let mut rows = Array2::zeros((9, 2));
    rows[(0, 0)] = 1.0;
    let zeros = parts
        .clone()
        .with_features(Features::dense(rows).unwrap())
        .unwrap();
    assert!(of(zeros, 2).is_ok());
    // Features that are zero everywhere distinguish nothing.
    let nothing = parts
        .with_features(Features::dense(Array2::zeros((9, 2))).unwrap())
        .unwrap();
    assert!(matches!(of(nothing, 2), Err(Error::ZeroEmbedding { .. })));
    let dataset = GraphDataset::single("empty", empty);
    let mut config = chosen(&blocks(), 4).config;
    (config.clusters, config.features) = (Some(2), FeatureUse::Raw);
    assert!(
        NodeClustering::new(config)
            .unwrap()
            .run(&dataset, None, &mut Silent)
            .is_ok()
    );
}
