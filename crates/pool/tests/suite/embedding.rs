//! What a trained model sees in graphs.

use approx::assert_abs_diff_eq;
use egg_autodiff::Flatten;
use egg_pool::Error;
use egg_pool::folder::{Embedding, TrainedModel};
use egg_pool::pooling::Egg;
use egg_pool::protocol::RunOptions;
use egg_pool::train::Silent;

use crate::small;

fn embedding(convolution: &str, pooling: &str) -> Embedding {
    let dataset = small::dataset(30);
    let mut experiment = small::experiment(&dataset, convolution, pooling);
    experiment.training.max_epochs = 1;
    let graphs = experiment.prepare(dataset.clone()).unwrap();
    let trained = TrainedModel::train(&experiment, &graphs, 0, &RunOptions::default(), &mut Silent).unwrap();
    let wrong = trained.embed(egg_graph::synthetic::karate_club().unwrap());
    assert!(matches!(
        wrong,
        Err(Error::FeatureWidth {
            expected: 6,
            found: 34
        })
    ));
    let found = trained.embed(dataset.clone()).unwrap();
    assert_eq!(found.offsets, dataset.node_offsets());
    assert_eq!(found.graphs.nrows(), 30);
    assert!(found.graphs.iter().all(|value| value.is_finite()));
    found
}

#[test]
fn egg_gives_projectors_ranks_and_leverages() {
    let found = embedding("gcn", "egg");
    let nodes = found.nodes.as_ref().unwrap();
    assert_eq!(nodes.dim(), (found.offsets[30], 8));
    let subspaces = found.subspaces.unwrap();
    for graph in 0..30 {
        let rows = found.offsets[graph]..found.offsets[graph + 1];
        let rank = subspaces.ranks[graph];
        check_projector(found.graphs.row(graph).as_slice().unwrap(), 8, rank);
        let sum: f32 = subspaces.leverage[rows].iter().sum();
        assert_abs_diff_eq!(sum, rank as f32, epsilon = 1e-3);
        assert!((0.0..=1.0 + 1e-9).contains(&subspaces.captured[graph]));
    }
}

/// The trace of a flattened projector is its rank.
fn check_projector(upper: &[f32], m: usize, rank: usize) {
    assert_eq!(upper.len(), m * (m + 1) / 2);
    // Row by row: the diagonal is the first of each.
    let (mut at, mut trace) = (0, 0.0);
    for row in 0..m {
        trace += upper[at];
        at += m - row;
    }
    assert_abs_diff_eq!(trace, rank as f32, epsilon = 1e-3);
}

#[test]
fn gin_embeddings_are_the_layers_concatenated() {
    let found = embedding("gin", "egg");
    assert_eq!(found.graphs.ncols(), 4 * 36);
    assert_eq!(found.nodes.unwrap().dim(), (found.offsets[30], 8));
    assert!(found.subspaces.is_some());
}

#[test]
fn embeddings_have_all_nodes_although_a_pooling_drops_some() {
    let found = embedding("gin", "topk");
    assert_eq!(found.graphs.ncols(), 4 * 8);
    assert_eq!(found.nodes.unwrap().nrows(), found.offsets[30]);
    assert!(found.subspaces.is_none());
}

#[test]
fn model_without_convolutions_has_no_node_embeddings() {
    let found = embedding("blind", "sum");
    assert_eq!((found.graphs.ncols(), found.nodes), (6, None));
}

/// Distances between the rows of a map are those of the projectors, whatever the model
/// reads, of each layer.
#[test]
fn rows_for_distances_are_isometric() {
    let dataset = small::dataset(40);
    for (convolution, layers) in [("gcn", 1), ("gin", 4)] {
        for flatten in [Flatten::Upper, Flatten::Isometric] {
            let mut experiment = small::experiment(&dataset, convolution, "egg");
            experiment.training.max_epochs = 1;
            experiment.model.pooling = Egg {
                rank: egg_autodiff::RankRule::Relative(0.2),
                flatten,
            }
            .into();
            let graphs = experiment.prepare(dataset.clone()).unwrap();
            let trained =
                TrainedModel::train(&experiment, &graphs, 0, &RunOptions::default(), &mut Silent).unwrap();
            let embedding = trained.embed(dataset.clone()).unwrap();
            let rows = embedding.isometric();
            let (order, length) = (8, Flatten::length(8));
            assert_eq!(rows.ncols(), layers * length);
            let matrix = |graph: usize, layer: usize| {
                let part = embedding.graphs.row(graph);
                let part = part.slice(ndarray::s![layer * length..(layer + 1) * length]);
                flatten.unflatten(part).unwrap()
            };
            for (a, b) in [(0, 1), (3, 17), (20, 39)] {
                let apart = &rows.row(a) - &rows.row(b);
                let by_rows = apart.dot(&apart).sqrt();
                let squares = (0..layers).map(|layer| {
                    let apart = matrix(a, layer) - matrix(b, layer);
                    apart.iter().map(|entry| entry * entry).sum::<f32>()
                });
                let by_matrices = squares.sum::<f32>().sqrt();
                assert_abs_diff_eq!(by_rows, by_matrices, epsilon = 1e-5);
            }
            assert_eq!(order, experiment.model.hidden);
        }
        let experiment = small::experiment(&dataset, convolution, "sum");
        let graphs = experiment.prepare(dataset.clone()).unwrap();
        let trained =
            TrainedModel::train(&experiment, &graphs, 0, &RunOptions::default(), &mut Silent).unwrap();
        let embedding = trained.embed(dataset.clone()).unwrap();
        assert_eq!(embedding.isometric(), embedding.graphs);
    }
}
