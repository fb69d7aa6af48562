//! What a trained model sees in graphs.

use egg_pool::Error;
use egg_pool::folder::{Embedding, TrainedModel};
use egg_pool::model::Architecture;
use egg_pool::protocol::RunOptions;
use egg_pool::train::Silent;

use crate::small;

fn embedding(architecture: Architecture, pooling: &str) -> Embedding {
    let dataset = small::dataset(30);
    let mut experiment = small::experiment(&dataset, architecture, pooling);
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
    let found = embedding(Architecture::Gcn, "egg");
    let nodes = found.nodes.as_ref().unwrap();
    assert_eq!(nodes.dim(), (found.offsets[30], 8));
    let subspaces = found.subspaces.unwrap();
    for graph in 0..30 {
        let rows = found.offsets[graph]..found.offsets[graph + 1];
        let rank = subspaces.ranks[graph];
        check_projector(found.graphs.row(graph).as_slice().unwrap(), 8, rank);
        let sum: f32 = subspaces.leverage[rows].iter().sum();
        assert!((sum - rank as f32).abs() < 1e-3, "{sum} {rank}");
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
    assert!((trace - rank as f32).abs() < 1e-3, "{trace} {rank}");
}

#[test]
fn gin_has_its_layers_side_by_side() {
    let found = embedding(Architecture::Gin, "egg");
    assert_eq!(found.graphs.ncols(), 4 * 36);
    assert_eq!(found.nodes.unwrap().dim(), (found.offsets[30], 8));
    assert!(found.subspaces.is_some());
}

#[test]
fn nodes_are_all_there_although_a_pooling_leaves_some_out() {
    let found = embedding(Architecture::Gin, "topk");
    assert_eq!(found.graphs.ncols(), 4 * 8);
    assert_eq!(found.nodes.unwrap().nrows(), found.offsets[30]);
    assert!(found.subspaces.is_none());
}

#[test]
fn a_model_without_convolutions_has_no_nodes() {
    let found = embedding(Architecture::Blind, "sum");
    assert_eq!((found.graphs.ncols(), found.nodes), (6, None));
}
