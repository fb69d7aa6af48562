//! Spectral clustering against dense eigenvalues and scikit-learn.

use std::collections::BTreeMap;

use approx::{abs_diff_eq, assert_abs_diff_eq};
use egg_cluster::metrics::Contingency;
use egg_cluster::spectral::{RowScaling, SpectralConfig};
use egg_graph::synthetic::BlockModel;
use egg_graph::{Graph, Labels};
use serde::Deserialize;

use crate::fixture::{assert_close, read};
use crate::samples::{rng, same_partition};

#[derive(Deserialize)]
struct File {
    cases: BTreeMap<String, Case>,
}

#[derive(Deserialize)]
struct Case {
    nodes: usize,
    edges: Vec<(usize, usize, f32)>,
    clusters: usize,
    eigenvalues: Vec<f64>,
    pairs: Vec<(usize, usize)>,
    distances: Vec<f64>,
    labels: Vec<u32>,
}

#[test]
fn eigenvalues_embedding_and_clusters_equal_scikit_learn() {
    let file: File = read("spectral.json");
    for (name, case) in &file.cases {
        let graph = Graph::from_weighted_edges(case.nodes, &case.edges).unwrap();
        let config = SpectralConfig {
            tolerance: 1e-10,
            ..SpectralConfig::new(case.clusters)
        };
        let found = config.check().unwrap().fit(&graph, &mut rng(1)).unwrap();
        assert!(found.converged, "{name}: {}", found.residual);
        for (a, b) in found.eigenvalues.iter().zip(&case.eigenvalues) {
            assert_close(*a, *b, 1e-10, name);
        }
        for ((a, b), expected) in case.pairs.iter().zip(&case.distances) {
            let difference = &found.embedding.row(*a) - &found.embedding.row(*b);
            assert_close(difference.dot(&difference).sqrt(), *expected, 1e-7, name);
        }
        assert!(same_partition(&found.kmeans.labels, &case.labels), "{name}");
    }
}

#[test]
fn blocks_of_a_large_graph_are_found() {
    let model = BlockModel {
        nodes: 4000,
        blocks: 5,
        degree: 30.0,
        inside: 0.8,
        ..BlockModel::default()
    };
    let dataset = model.generate(&mut rng(0)).unwrap();
    let graph = dataset.graph(0).unwrap().to_graph();
    let labels: &Labels = graph.node_labels().expect("blocks");
    for scaling in [RowScaling::Degree, RowScaling::Unit, RowScaling::None] {
        let config = SpectralConfig {
            scaling,
            ..SpectralConfig::new(5)
        };
        let found = config.check().unwrap().fit(&graph, &mut rng(2)).unwrap();
        assert!(found.converged);
        let table = Contingency::of_known(labels, &found.kmeans.labels).unwrap();
        assert!(
            table.accuracy().unwrap() > 0.99,
            "{scaling:?}: {}",
            table.accuracy().unwrap()
        );
    }
}

#[test]
fn disconnected_graphs_isolated_nodes_and_tiny_graphs_are_clustered() {
    // Three parts, three eigenvalues 0, three clusters.
    let edges: Vec<(usize, usize)> = (0..90)
        .flat_map(|i| [(i, i / 30 * 30 + (i + 1) % 30), (i, i / 30 * 30 + (i + 7) % 30)])
        .collect();
    let graph = Graph::from_edges(90, &edges).unwrap();
    let found = SpectralConfig::new(3)
        .check()
        .unwrap()
        .fit(&graph, &mut rng(0))
        .unwrap();
    assert!(found.eigenvalues.iter().all(|value| value.abs() < 1e-9));
    let parts: Vec<u32> = (0..90).map(|node| node / 30).collect();
    assert!(same_partition(&parts, &found.kmeans.labels));

    let bare = Graph::from_edges(80, &[]).unwrap();
    let found = SpectralConfig::new(2)
        .check()
        .unwrap()
        .fit(&bare, &mut rng(0))
        .unwrap();
    assert!(
        found
            .eigenvalues
            .iter()
            .all(|value| abs_diff_eq!(*value, 1.0, epsilon = 1e-12))
    );
    let one = Graph::from_edges(1, &[]).unwrap();
    assert_eq!(
        SpectralConfig::new(1)
            .check()
            .unwrap()
            .fit(&one, &mut rng(0))
            .unwrap()
            .kmeans
            .labels,
        [0]
    );
    let pair = Graph::from_edges(2, &[(0, 1)]).unwrap();
    let found = SpectralConfig::new(2)
        .check()
        .unwrap()
        .fit(&pair, &mut rng(0))
        .unwrap();
    assert_abs_diff_eq!(found.eigenvalues[1], 2.0, epsilon = 1e-12);
}
