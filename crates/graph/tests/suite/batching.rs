//! Batches, propagation matrices and transforms against naive versions on dense
//! matrices.

use approx::abs_diff_eq;
use egg_graph::{CsrMatrix, Error, Features, Graph, GraphBatch, GraphDataset, Labels, Propagation, Targets};
use ndarray::{Array2, ArrayView2, Axis, array, concatenate, s};
use proptest::prelude::*;

use crate::small_graphs::{symmetric, unweighted, weighted};

/// A graph written out.
#[derive(Debug, Clone)]
struct Dense {
    adjacency: Array2<f32>,
    features: Array2<f32>,
    labels: Vec<Option<u32>>,
}

/// A weight for an edge between two nodes: the same in both directions.
fn attributes(a: usize, b: usize, weight: f32) -> [f32; 2] {
    [(a * b) as f32 + 0.5, weight * (a + b) as f32]
}

impl Dense {
    /// Rows of attributes, entry by entry.
    fn attributes(&self) -> Array2<f32> {
        let edges = self
            .adjacency
            .indexed_iter()
            .filter(|(_, weight)| **weight != 0.0);
        let rows: Vec<[f32; 2]> = edges.map(|((a, b), weight)| attributes(a, b, *weight)).collect();
        Array2::from(rows)
    }

    fn graph(&self, sparse: bool) -> Graph {
        let features = match sparse {
            true => Features::sparse(CsrMatrix::from_dense(self.features.view()).unwrap()),
            false => Features::dense(self.features.clone()).unwrap(),
        };
        let names = ["x", "y", "z"].map(String::from).to_vec();
        let labels = Labels::new(&self.labels, names).unwrap();
        let graph = weighted(self.adjacency.view()).with_features(features).unwrap();
        let graph = graph.with_edge_attributes(self.attributes()).unwrap();
        graph.with_node_labels(labels).unwrap()
    }
}

fn drawn() -> impl Strategy<Value = Dense> {
    symmetric(0, 5).prop_flat_map(|adjacency| {
        let nodes = adjacency.nrows();
        let number = prop_oneof![Just(0i8), -9i8..9].prop_map(f32::from);
        let labels = prop::collection::vec(prop::option::of(0u32..3), nodes);
        (Just(adjacency), prop::collection::vec(number, nodes * 4), labels).prop_map(
            |(adjacency, numbers, labels)| Dense {
                features: Array2::from_shape_vec((adjacency.nrows(), 4), numbers).unwrap(),
                adjacency,
                labels,
            },
        )
    })
}

/// Graphs, and indices into them, some twice.
fn drawn_batch() -> impl Strategy<Value = (Vec<Dense>, Vec<usize>)> {
    prop::collection::vec(drawn(), 1..5).prop_flat_map(|graphs| {
        let count = graphs.len();
        (Just(graphs), prop::collection::vec(0..count, 0..7))
    })
}

fn dataset(graphs: &[Dense], sparse: bool) -> GraphDataset {
    let graphs: Vec<Graph> = graphs.iter().map(|graph| graph.graph(sparse)).collect();
    GraphDataset::from_graphs("drawn", &graphs).unwrap()
}

fn block_diagonal(blocks: &[ArrayView2<'_, f32>]) -> Array2<f32> {
    let nodes = blocks.iter().map(|block| block.nrows()).sum();
    let mut all = Array2::zeros((nodes, nodes));
    let mut first = 0;
    for block in blocks {
        let end = first + block.nrows();
        all.slice_mut(s![first..end, first..end]).assign(block);
        first = end;
    }
    all
}

fn stacked(parts: &[ArrayView2<'_, f32>], width: usize) -> Array2<f32> {
    let none = Array2::zeros((0, width));
    let parts: Vec<_> = parts.iter().copied().chain([none.view()]).collect();
    concatenate(Axis(0), &parts).unwrap()
}

/// `D^(-1/2) (A + I) D^(-1/2)` in f64; a self loop keeps its weight.
fn gcn(adjacency: ArrayView2<'_, f32>) -> Array2<f64> {
    let mut matrix = adjacency.mapv(f64::from);
    for value in matrix.diag_mut() {
        if *value == 0.0 {
            *value = 1.0;
        }
    }
    let degrees = matrix.sum_axis(Axis(1));
    Array2::from_shape_fn(matrix.dim(), |(a, b)| {
        let scale = (degrees[a] * degrees[b]).sqrt();
        if degrees[a] > 0.0 && degrees[b] > 0.0 {
            matrix[[a, b]] / scale
        } else {
            0.0
        }
    })
}

/// All entries within a rounding to f32 of each other.
fn rounded(found: &Array2<f32>, expected: &Array2<f64>) -> bool {
    let close = |(found, expected): (&f32, &f64)| {
        abs_diff_eq!(f64::from(*found), *expected, epsilon = 6.1e-8 * expected.abs())
    };
    found.dim() == expected.dim() && found.iter().zip(expected).all(close)
}

proptest! {
    #[test]
    fn a_batch_is_block_diagonal((graphs, indices) in drawn_batch(), sparse in any::<bool>()) {
        let values = Array2::from_shape_fn((graphs.len(), 2), |(row, column)| (row * 2 + column) as f32);
        let dataset = dataset(&graphs, sparse).with_targets(Targets::Values(values.clone())).unwrap();
        let batch = GraphBatch::new(&dataset, &indices).unwrap();
        let chosen: Vec<&Dense> = indices.iter().map(|index| &graphs[*index]).collect();

        let blocks: Vec<_> = chosen.iter().map(|graph| graph.adjacency.view()).collect();
        let expected = block_diagonal(&blocks);
        let nodes = expected.nrows();
        let weights = batch.edge_weights().unwrap().to_vec();
        let entries = batch.entries().to_vec();
        let found = CsrMatrix::new(batch.row_offsets().to_vec(), entries, weights, nodes).unwrap();
        prop_assert_eq!(found.to_dense(), &expected);
        prop_assert_eq!(found.nonzeros(), expected.iter().filter(|weight| **weight != 0.0).count());
        for node in 0..nodes {
            let row = expected.row(node);
            let row = (0u32..).zip(row).filter(|(_, weight)| **weight != 0.0);
            prop_assert_eq!(batch.neighbours(node), row.map(|(id, _)| id).collect::<Vec<_>>());
        }
        for none in [nodes, nodes + 1, usize::MAX] {
            prop_assert!(batch.neighbours(none).is_empty());
        }

        let features: Vec<_> = chosen.iter().map(|graph| graph.features.view()).collect();
        prop_assert_eq!(batch.features().to_dense(), stacked(&features, 4));
        prop_assert_eq!(batch.features().as_sparse().is_some(), sparse);
        let attributes: Vec<_> = chosen.iter().map(|graph| graph.attributes()).collect();
        let attributes: Vec<_> = attributes.iter().map(|rows| rows.view()).collect();
        prop_assert_eq!(batch.edge_attributes().unwrap(), stacked(&attributes, 2));
        let labels: Vec<_> = chosen.iter().flat_map(|graph| graph.labels.clone()).collect();
        prop_assert_eq!(batch.node_labels().unwrap().iter().collect::<Vec<_>>(), labels);
        let Some(Targets::Values(targets)) = batch.targets() else {
            panic!("the targets are gone");
        };
        prop_assert_eq!(targets, values.select(Axis(0), &indices));

        let mut offsets = vec![0];
        offsets.extend(chosen.iter().scan(0, |sum, graph| {
            *sum += graph.adjacency.nrows();
            Some(*sum)
        }));
        prop_assert_eq!(batch.offsets(), offsets);
        prop_assert_eq!(batch.indices(), &indices);
        prop_assert_eq!((batch.len(), batch.node_count()), (indices.len(), nodes));
    }

    #[test]
    fn batch_keeps_classes_and_missing_parts((graphs, indices) in drawn_batch()) {
        let bare: Vec<Graph> = graphs.iter().map(|graph| unweighted(graph.adjacency.view())).collect();
        let classes: Vec<i64> = (0i64..).take(bare.len()).map(|class| class % 2).collect();
        let dataset = GraphDataset::from_graphs("bare", &bare).unwrap();
        let dataset = dataset.with_targets(Targets::Classes(Labels::from_values(&classes))).unwrap();
        let batch = GraphBatch::new(&dataset, &indices).unwrap();
        prop_assert!(batch.edge_weights().is_none());
        prop_assert!(batch.edge_attributes().is_none() && batch.node_labels().is_none());
        prop_assert_eq!((batch.features().rows(), batch.features().width()), (batch.node_count(), 0));
        let Some(Targets::Classes(labels)) = batch.targets() else {
            panic!("the targets are gone");
        };
        let expected: Vec<_> = indices.iter().map(|index| u32::try_from(classes[*index]).ok()).collect();
        prop_assert_eq!(labels.iter().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn propagation_equals_dense_matrices((graphs, indices) in drawn_batch()) {
        let dataset = dataset(&graphs, false);
        let blocks: Vec<_> = indices.iter().map(|index| graphs[*index].adjacency.view()).collect();
        let adjacency = block_diagonal(&blocks);
        let found = Propagation::sum(&dataset).batch(&indices).unwrap().to_dense();
        prop_assert_eq!(found, &adjacency);
        let found = Propagation::gcn(&dataset).batch(&indices).unwrap().to_dense();
        prop_assert!(rounded(&found, &gcn(adjacency.view())));

        // Without weights every edge counts 1.
        let bare: Vec<Graph> = graphs.iter().map(|graph| unweighted(graph.adjacency.view())).collect();
        let dataset = GraphDataset::from_graphs("bare", &bare).unwrap();
        let ones = adjacency.mapv(|weight| if weight == 0.0 { 0.0 } else { 1.0 });
        let found = Propagation::sum(&dataset).batch(&indices).unwrap().to_dense();
        prop_assert_eq!(found, &ones);
        let found = Propagation::gcn(&dataset).batch(&indices).unwrap().to_dense();
        prop_assert!(rounded(&found, &gcn(ones.view())));
    }

    #[test]
    fn degrees_become_one_hot_columns(graphs in prop::collection::vec(drawn(), 1..5)) {
        let dataset = dataset(&graphs, false);
        let degree = |row: ndarray::ArrayView1<'_, f32>| row.iter().filter(|weight| **weight != 0.0).count();
        let degrees: Vec<usize> = graphs.iter()
            .flat_map(|graph| graph.adjacency.rows().into_iter().map(degree).collect::<Vec<_>>())
            .collect();
        let largest = degrees.iter().copied().max().unwrap_or(0);
        let expected = Array2::from_shape_fn((degrees.len(), largest + 3), |(node, column)| {
            f32::from(u8::from(degrees[node] == column))
        });
        let found = dataset.clone().one_hot_degree(largest + 2).unwrap();
        prop_assert_eq!(found.features().to_dense(), expected);
        prop_assert!(dataset.clone().one_hot_degree(largest).is_ok());
        if largest > 0 {
            let refused = dataset.one_hot_degree(largest - 1);
            let is_parameter = matches!(refused, Err(Error::Parameter { name: "most", .. }));
            prop_assert!(is_parameter);
        }
    }

    #[test]
    fn integer_columns_become_one_hot_groups(
        rows in prop::collection::vec((0u8..4, 0u8..1, 0u8..7), 0..6),
        sparse in any::<bool>(),
    ) {
        let rows: Vec<[u8; 3]> = rows.into_iter().map(|(a, b, c)| [a, b, c]).collect();
        let numbers = Array2::from(rows.clone()).mapv(f32::from);
        let features = match sparse {
            true => Features::sparse(CsrMatrix::from_dense(numbers.view()).unwrap()),
            false => Features::dense(numbers).unwrap(),
        };
        let graph = Graph::from_edges(rows.len(), &[]).unwrap().with_features(features).unwrap();
        let found = GraphDataset::single("drawn", graph).one_hot_columns(&[4, 1, 7]).unwrap();
        let mut expected = Array2::zeros((rows.len(), 12));
        for (row, values) in rows.iter().enumerate() {
            for (start, value) in [0, 4, 5].iter().zip(values) {
                expected[[row, start + usize::from(*value)]] = 1.0;
            }
        }
        prop_assert_eq!(found.features().to_dense(), expected);
        prop_assert_eq!(found.features().nonzeros(), rows.len() * 3);
    }

    #[test]
    fn self_loops_are_added_and_removed(graphs in prop::collection::vec(drawn(), 1..5)) {
        let dataset = dataset(&graphs, true);
        let all: Vec<usize> = (0..graphs.len()).collect();
        let blocks: Vec<_> = graphs.iter().map(|graph| graph.adjacency.view()).collect();
        let adjacency = block_diagonal(&blocks);
        for (changed, diagonal) in [
            (dataset.clone().with_self_loops(), 1.0),
            (dataset.clone().without_self_loops(), 0.0),
        ] {
            let mut expected = adjacency.clone();
            for value in expected.diag_mut() {
                // An existing loop keeps its weight.
                *value = if diagonal == 0.0 || *value == 0.0 { diagonal } else { *value };
            }
            prop_assert_eq!(Propagation::sum(&changed).batch(&all).unwrap().to_dense(), expected);
            prop_assert_eq!(changed.features(), dataset.features());
            prop_assert_eq!(changed.node_labels(), dataset.node_labels());
            // Attributes: those of the old edges, and 0 for new ones.
            for (dense, graph) in graphs.iter().zip(changed.graphs()) {
                let graph = graph.to_graph();
                let rows = graph.edge_attributes().unwrap();
                let mut row = rows.rows().into_iter();
                for node in 0..graph.node_count() {
                    for other in graph.neighbours(node) {
                        let other = *other as usize;
                        let weight = dense.adjacency[[node, other]];
                        let expected = if weight == 0.0 { [0.0; 2] } else { attributes(node, other, weight) };
                        prop_assert_eq!(row.next().unwrap().to_vec(), expected);
                    }
                }
                prop_assert!(row.next().is_none());
            }
        }
    }

    #[test]
    fn virtual_node_is_joined_to_all(graphs in prop::collection::vec(drawn(), 1..5), sparse in any::<bool>()) {
        let refused = dataset(&graphs, sparse).with_virtual_node();
        prop_assert!(matches!(refused, Err(Error::Lacks { .. })), "the new node has no label");
        let plain: Vec<Graph> = graphs.iter().map(|dense| {
            let features = dense.graph(sparse).features().clone();
            weighted(dense.adjacency.view()).with_features(features).unwrap()
        }).collect();
        let found = GraphDataset::from_graphs("drawn", &plain).unwrap().with_virtual_node().unwrap();
        let wider: Vec<Array2<f32>> = graphs.iter().map(|dense| {
            let nodes = dense.adjacency.nrows();
            let mut adjacency = Array2::ones((nodes + 1, nodes + 1));
            adjacency.slice_mut(s![..nodes, ..nodes]).assign(&dense.adjacency);
            adjacency[[nodes, nodes]] = 0.0;
            adjacency
        }).collect();
        let blocks: Vec<_> = wider.iter().map(|block| block.view()).collect();
        let matrix = Propagation::sum(&found).all().unwrap();
        prop_assert_eq!(matrix.to_dense(), block_diagonal(&blocks));
        let zero = Array2::zeros((1, 4));
        let features: Vec<_> = graphs.iter().flat_map(|dense| [dense.features.view(), zero.view()]).collect();
        prop_assert_eq!(found.features().to_dense(), stacked(&features, 4));
        prop_assert_eq!(found.features().as_sparse().is_some(), sparse);
        prop_assert_eq!(found.len(), graphs.len());
    }

    #[test]
    fn features_are_divided_by_their_sum(graph in drawn(), sparse in any::<bool>()) {
        let found = dataset(std::slice::from_ref(&graph), sparse).normalise_features().unwrap();
        let mut expected = graph.features.clone();
        for mut row in expected.rows_mut() {
            let sum = row.sum();
            if sum != 0.0 {
                row /= sum;
            }
        }
        // Small whole numbers: their sums are exact in any order.
        prop_assert_eq!(found.features().to_dense(), expected);
        prop_assert_eq!(found.features().as_sparse().is_some(), sparse);
    }

    #[test]
    fn petgraph_round_trips(matrix in symmetric(0, 7)) {
        let graph = weighted(matrix.view());
        let there = graph.to_petgraph();
        prop_assert_eq!(there.node_count(), graph.node_count());
        prop_assert_eq!(there.edge_count(), graph.edge_count() + graph.self_loop_count());
        for edge in there.edge_indices() {
            let (a, b) = there.edge_endpoints(edge).unwrap();
            prop_assert_eq!(there[edge], matrix[[a.index(), b.index()]]);
        }
        // Self loops don't come back.
        let mut bare = matrix;
        bare.diag_mut().fill(0.0);
        let back = Graph::from_weighted_petgraph(&there, |weight| *weight).unwrap();
        prop_assert_eq!(back, weighted(bare.view()));
        let back = Graph::from_petgraph(&there).unwrap();
        prop_assert_eq!(back, unweighted(bare.view()));
    }
}

#[test]
fn missing_graph_is_an_error() {
    let dataset = GraphDataset::single("pair", Graph::from_edges(2, &[(0, 1)]).unwrap());
    let missing = |index: usize| {
        [
            GraphBatch::new(&dataset, &[0, index]).err(),
            Propagation::gcn(&dataset).batch(&[0, index]).err(),
        ]
    };
    for index in [1, usize::MAX] {
        for refused in missing(index) {
            assert!(
                matches!(refused, Some(Error::NoSuchGraph { index: found, graphs: 1 }) if found == index)
            );
        }
    }
    let none = GraphBatch::new(&dataset, &[]).unwrap();
    assert!(none.is_empty() && none.offsets() == [0] && none.node_count() == 0);
    assert_eq!(Propagation::gcn(&dataset).batch(&[]).unwrap().shape(), (0, 0));
}

#[test]
fn missing_row_is_an_error() {
    let matrix = CsrMatrix::from_dense(array![[1.0, 2.0]].view()).unwrap();
    for row in [1, 2, usize::MAX] {
        assert_eq!(matrix.row(row).count(), 0);
    }
}

#[test]
fn a_row_sum_that_is_not_positive_counts_as_infinite() {
    // Row 0 sums to -1, row 1 to 0.
    let matrix = array![[1.0, -2.0, 0.0], [-2.0, 1.0, 1.0], [0.0, 1.0, 1.0]];
    let dataset = GraphDataset::single("negative", weighted(matrix.view()));
    let found = Propagation::gcn(&dataset).batch(&[0]).unwrap();
    assert_eq!(
        found.to_dense(),
        array![[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.5]]
    );
}

#[test]
fn cardinalities_must_match_the_columns() {
    let with = |features: Array2<f32>| {
        let graph = Graph::from_edges(features.nrows(), &[]).unwrap();
        let features = Features::dense(features).unwrap();
        GraphDataset::single("atoms", graph.with_features(features).unwrap())
    };
    let two = || with(array![[1.0, 0.0]]);
    assert!(matches!(
        two().one_hot_columns(&[3]),
        Err(Error::Length {
            expected: 2,
            found: 1,
            ..
        })
    ));
    for wrong in [3.0, -1.0, 0.5] {
        let refused = with(array![[0.0], [wrong]]).one_hot_columns(&[3]);
        assert!(matches!(refused, Err(Error::Rows { row: 1, .. })), "{wrong}");
    }
    for cardinalities in [[usize::MAX, 2], [1 << 32, 2], [u32::MAX as usize, 2]] {
        let refused = two().one_hot_columns(&cardinalities);
        assert!(
            matches!(refused, Err(Error::Parameter { .. })),
            "{cardinalities:?}"
        );
    }
    assert!(matches!(
        two().one_hot_degree(usize::MAX),
        Err(Error::Parameter { .. })
    ));
}

#[test]
fn normalised_entry_that_overflows_is_an_error() {
    let tiny = Features::dense(array![[1e30, -1e30, f32::MIN_POSITIVE]]).unwrap();
    let graph = Graph::from_edges(1, &[]).unwrap().with_features(tiny).unwrap();
    let refused = GraphDataset::single("tiny", graph).normalise_features();
    assert!(matches!(refused, Err(Error::NonFinite { .. })));
}
