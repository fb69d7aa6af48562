//! Smoothed features against dense NumPy, and what must hold for any graph.

use approx::assert_abs_diff_eq;
use egg_cluster::Error;
use egg_cluster::smooth::{Filter, SmoothConfig};
use egg_graph::synthetic::BlockModel;
use egg_graph::{CsrMatrix, Features, Graph};
use ndarray::{Array2, ArrayView2, Axis};
use serde::Deserialize;

use crate::fixture::{assert_close, read};
use crate::samples::rng;

#[derive(Deserialize)]
struct File {
    nodes: usize,
    edges: Vec<(usize, usize, f32)>,
    narrow: Vec<Vec<f32>>,
    wide: Vec<(usize, usize, f32)>,
    pairs: Vec<(usize, usize)>,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    filter: String,
    steps: usize,
    h: Vec<Vec<f64>>,
    singular_values: Vec<f64>,
    distances: Vec<f64>,
    identity: Option<Vec<f64>>,
}

fn matrix<T: Copy>(rows: &[Vec<T>]) -> Array2<T> {
    let width = rows[0].len();
    Array2::from_shape_fn((rows.len(), width), |(row, column)| rows[row][column])
}

fn embed(config: SmoothConfig, graph: &Graph, features: &Features) -> Array2<f64> {
    config
        .check()
        .unwrap()
        .embed(graph, features, &mut rng(1))
        .unwrap()
        .h
}

fn distances(rows: ArrayView2<'_, f64>, pairs: &[(usize, usize)]) -> Vec<f64> {
    let distance = |(a, b): &(usize, usize)| {
        let difference = &rows.row(*a) - &rows.row(*b);
        difference.dot(&difference).sqrt()
    };
    pairs.iter().map(distance).collect()
}

#[test]
fn every_filter_equals_dense_numpy() {
    let file: File = read("smooth.json");
    let graph = Graph::from_weighted_edges(file.nodes, &file.edges).unwrap();
    let narrow = Features::dense(matrix(&file.narrow)).unwrap();
    let mut wide = Array2::zeros((file.nodes, 300));
    file.wide
        .iter()
        .for_each(|(row, column, value)| wide[(*row, *column)] = *value);
    let sparse = Features::sparse(CsrMatrix::from_dense(wide.view()).unwrap());
    let wide = Features::dense(wide).unwrap();
    for case in &file.cases {
        let name = format!("{} {}", case.filter, case.steps);
        let config = SmoothConfig {
            filter: case.filter.parse().unwrap(),
            steps: case.steps,
            directions: 5,
        };
        let h = embed(config, &graph, &narrow);
        assert_abs_diff_eq!(h, matrix(&case.h), epsilon = 1e-12);
        // Wide features are decomposed, sparse and dense ones alike.
        for features in [&sparse, &wide] {
            let h = embed(config, &graph, features);
            for (column, expected) in h.axis_iter(Axis(1)).zip(&case.singular_values) {
                assert_close(column.dot(&column).sqrt(), *expected, 1e-6, &name);
            }
            for (found, expected) in distances(h.view(), &file.pairs).iter().zip(&case.distances) {
                assert_close(*found, *expected, 1e-4, &name);
            }
        }
        // Without features there are the rows of the filter.
        if let Some(expected) = &case.identity {
            let h = embed(config, &graph, &Features::none(file.nodes));
            for (found, expected) in distances(h.view(), &file.pairs).iter().zip(expected) {
                assert_close(*found, *expected, 1e-4, &name);
            }
        }
    }
}

#[test]
fn few_directions_of_narrow_features_are_the_strongest() {
    let file: File = read("smooth.json");
    let graph = Graph::from_weighted_edges(file.nodes, &file.edges).unwrap();
    let narrow = Features::dense(matrix(&file.narrow)).unwrap();
    let config = SmoothConfig {
        directions: 4,
        ..SmoothConfig::default()
    };
    let all = embed(config, &graph, &narrow);
    let two = SmoothConfig {
        directions: 2,
        ..config
    }
    .check()
    .unwrap();
    let two = two.embed(&graph, &narrow, &mut rng(1)).unwrap();
    // The Gram matrix's largest eigenvalues are the squared lengths of the columns.
    let gram = two.h.t().dot(&two.h);
    assert_abs_diff_eq!(gram[(0, 1)], 0.0, epsilon = 1e-12);
    assert!(gram[(0, 0)] >= gram[(1, 1)]);
    let whole = all.iter().map(|x| x * x).sum::<f64>();
    assert_abs_diff_eq!(
        two.captured_squares,
        (gram[(0, 0)] + gram[(1, 1)]) / whole,
        epsilon = 1e-12
    );
}

#[test]
fn a_new_node_order_permutes_the_rows() {
    let model = BlockModel {
        nodes: 60,
        blocks: 3,
        degree: 6.0,
        ..BlockModel::default()
    };
    let dataset = model.generate(&mut rng(3)).unwrap();
    let graph = dataset.graph(0).unwrap().to_graph();
    let order: Vec<usize> = (0..60).map(|node| (node * 7 + 3) % 60).collect();
    let edges: Vec<_> = graph.view().edges().map(|(a, b)| (order[a], order[b])).collect();
    let permuted = Graph::from_edges(60, &edges).unwrap();
    let rows = Array2::from_shape_fn((60, 5), |(row, column)| ((row * 5 + column * 3) % 11) as f32);
    let moved = Array2::from_shape_fn((60, 5), |(row, column)| {
        rows[(order.iter().position(|to| *to == row).unwrap(), column)]
    });
    let config = SmoothConfig::default();
    let first = embed(config, &graph, &Features::dense(rows).unwrap());
    let second = embed(config, &permuted, &Features::dense(moved).unwrap());
    for (node, to) in order.iter().enumerate() {
        assert_abs_diff_eq!(first.row(node), second.row(*to), epsilon = 1e-12);
    }
}

#[test]
fn bad_input_is_refused() {
    let graph = Graph::from_weighted_edges(3, &[(0, 1, 1.0), (1, 2, -1.0)]).unwrap();
    let smooth = SmoothConfig::default().check().unwrap();
    let refused = smooth.embed(&graph, &Features::none(3), &mut rng(1));
    assert!(matches!(refused, Err(Error::Undefined { .. })));
    let graph = Graph::from_edges(3, &[(0, 1)]).unwrap();
    let refused = smooth.embed(&graph, &Features::none(4), &mut rng(1));
    assert!(matches!(refused, Err(Error::Length { .. })));
    let refused = |config: SmoothConfig| matches!(config.check(), Err(Error::Setting { .. }));
    let config = SmoothConfig::default();
    assert!(refused(SmoothConfig {
        directions: 0,
        ..config
    }));
    assert!(refused(SmoothConfig {
        steps: 1 << 40,
        ..config
    }));
    for alpha in [0.0, 1.0, f64::NAN] {
        assert!(refused(SmoothConfig {
            filter: Filter::PageRank(alpha),
            ..config
        }));
    }
    assert!("pagerank".parse::<Filter>().is_err());
}
