//! Features that are propagated beforehand.

use approx::assert_abs_diff_eq;
use egg_graph::{CsrMatrix, Error, Features, Graph, GraphDataset, PropagatedFeatures, Propagation};
use ndarray::{Array2, Axis, concatenate};

/// Three graphs, the second without edges, with two labels a node.
fn dataset() -> GraphDataset {
    let labelled = |nodes: usize, edges: &[(usize, usize)], seed: usize| {
        let dense = Array2::from_shape_fn((nodes, 4), |(node, column)| {
            let at = (node * 3 + seed) % 4;
            match column {
                _ if column == at => 1.0,
                _ if column == (at + 1) % 4 => -0.5,
                _ => 0.0,
            }
        });
        let features = Features::sparse(CsrMatrix::from_dense(dense.view()).unwrap());
        Graph::from_edges(nodes, edges)
            .unwrap()
            .with_features(features)
            .unwrap()
    };
    let graphs = [
        labelled(5, &[(0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (1, 3)], 0),
        labelled(2, &[], 1),
        labelled(4, &[(0, 3), (1, 3), (2, 3)], 2),
    ];
    GraphDataset::from_graphs("three", &graphs).unwrap()
}

#[test]
fn propagated_rows_equal_the_product() {
    let dataset = dataset();
    let dense = dataset.features().to_dense();
    let nodes = [0..5, 5..7, 7..11];
    for propagation in [Propagation::gcn(&dataset), Propagation::sum(&dataset)] {
        // Two labels a node may be too many entries; without the second there are few enough.
        let first = dense.mapv(|value| value.max(0.0));
        let first = Features::sparse(CsrMatrix::from_dense(first.view()).unwrap());
        for features in [dataset.features(), &first] {
            let Some(propagated) = PropagatedFeatures::new(&propagation, features) else {
                assert_eq!(features, dataset.features(), "one label a node is not too many");
                continue;
            };
            for indices in [&[0, 1, 2][..], &[2, 0, 2], &[1], &[]] {
                let rows: Vec<_> = indices
                    .iter()
                    .map(|index: &usize| {
                        features
                            .to_dense()
                            .slice_axis(Axis(0), nodes[*index].clone().into())
                            .to_owned()
                    })
                    .collect();
                let views: Vec<_> = rows.iter().map(|rows| rows.view()).collect();
                let x = match views.is_empty() {
                    true => Array2::zeros((0, 4)),
                    false => concatenate(Axis(0), &views).unwrap(),
                };
                let a = propagation.batch(indices).unwrap().to_dense();
                let entry = |(i, j)| a.row(i).iter().zip(x.column(j)).map(|(a, x)| a * x).sum::<f32>();
                let expected = Array2::from_shape_fn((a.nrows(), x.ncols()), entry);
                let found = propagated.batch(indices).unwrap();
                assert_eq!(found.shape(), expected.dim());
                for (found, expected) in found.to_dense().iter().zip(&expected) {
                    assert_abs_diff_eq!(found, expected, epsilon = 1e-6);
                }
            }
            let refused = propagated.batch(&[0, 3]);
            assert!(matches!(refused, Err(Error::NoSuchGraph { index: 3, graphs: 3 })));
        }
    }
}

#[test]
fn propagation_in_advance_is_skipped_where_it_gains_nothing() {
    let dataset = dataset();
    let propagation = Propagation::gcn(&dataset);
    let dense = Features::dense(dataset.features().to_dense()).unwrap();
    assert!(PropagatedFeatures::new(&propagation, &dense).is_none());

    // A star whose leaves have a label each, and the middle as many: every leaf gets them all.
    let leaves = 30;
    let edges: Vec<(usize, usize)> = (1..=leaves).map(|leaf| (0, leaf)).collect();
    let words = Array2::from_shape_fn((31, 30), |(node, word)| {
        f32::from(u8::from(node == 0 || node == word + 1))
    });
    let words = Features::sparse(CsrMatrix::from_dense(words.view()).unwrap());
    let star = Graph::from_edges(31, &edges)
        .unwrap()
        .with_features(words.clone())
        .unwrap();
    let star = GraphDataset::single("star", star);
    assert!(PropagatedFeatures::new(&Propagation::gcn(&star), &words).is_none());
    // Of another data set.
    assert!(PropagatedFeatures::new(&propagation, &words).is_none());

    // Sums beyond the range of f32.
    let large = Array2::from_elem((3, 1), f32::MAX);
    let path = Graph::from_edges(3, &[(0, 1), (1, 2)])
        .unwrap()
        .with_features(Features::sparse(CsrMatrix::from_dense(large.view()).unwrap()))
        .unwrap();
    let path = GraphDataset::single("path", path);
    assert!(PropagatedFeatures::new(&Propagation::sum(&path), path.features()).is_none());
}
