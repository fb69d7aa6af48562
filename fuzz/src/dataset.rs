//! Invariants of every data set, whatever it was read from.

use egg_graph::{
    Features, GraphBatch, GraphDataset, Header, NodeFeatures, Propagation, ReadOptions, SelfLoops,
    TableOptions, Targets,
};

use crate::files::Sections;
use crate::outcome::Outcome;

/// Nodes and graphs up to which every edge is checked: larger data sets would slow the driver
/// down.
const CHECKED_IN_FULL: usize = 1 << 12;

/// Limits that are small, so that a reader that ignores them is noticed. Which
/// of the other options are used depends on the input.
pub(crate) fn options(input: &[u8]) -> ReadOptions {
    let features = [
        NodeFeatures::Auto,
        NodeFeatures::Labels,
        NodeFeatures::Attributes,
        NodeFeatures::Both,
    ];
    let header = Sections::parse(input, &["header"]);
    ReadOptions {
        self_loops: if input.len().is_multiple_of(2) {
            SelfLoops::Remove
        } else {
            SelfLoops::Keep
        },
        node_features: features[input.len() / 2 % features.len()],
        tables: TableOptions {
            header: match header.get("header").map(<[u8]>::trim_ascii) {
                Some(b"yes") => Header::Yes,
                Some(b"no") => Header::No,
                _ => Header::Auto,
            },
            ..TableOptions::default()
        },
        max_bytes: 1 << 20,
        max_pickle_bytes: 1 << 20,
    }
}

/// The outcome of reading a data set, which is checked.
pub(crate) fn judge(read: &egg_graph::Result<GraphDataset>) -> Outcome {
    match read {
        Ok(dataset) => {
            check(dataset);
            described(dataset)
        }
        Err(error) => Outcome::refused(error),
    }
}

fn described(dataset: &GraphDataset) -> Outcome {
    let classes = dataset.classes().map_or(0, |labels| labels.class_count() + 1);
    Outcome::read(&[
        dataset.len(),
        dataset.node_count(),
        dataset.edge_count(),
        dataset.features().width(),
        classes,
        dataset.node_labels().map_or(0, |labels| labels.class_count() + 1),
        usize::from(dataset.split().is_some()),
        usize::from(dataset.edge_weights().is_some()),
        dataset.edge_attributes().map_or(0, |all| all.ncols() + 1),
    ])
}

/// Panics unless all that a data set promises is true of this one.
pub(crate) fn check(dataset: &GraphDataset) {
    let nodes = dataset.node_count();
    let offsets = dataset.node_offsets();
    assert_eq!(offsets.first(), Some(&0));
    assert_eq!(offsets.last(), Some(&nodes));
    assert!(offsets.is_sorted());
    assert_eq!(offsets.len(), dataset.len() + 1);
    assert_eq!(dataset.features().rows(), nodes);
    if let Some(labels) = dataset.node_labels() {
        assert_eq!(labels.len(), nodes);
        assert!(
            labels
                .iter()
                .flatten()
                .all(|class| (class as usize) < labels.class_count())
        );
    }
    match dataset.targets() {
        Some(Targets::Classes(labels)) => {
            assert_eq!(labels.len(), dataset.len());
            assert!(
                labels
                    .iter()
                    .flatten()
                    .all(|class| (class as usize) < labels.class_count())
            );
        }
        Some(Targets::Values(values)) => {
            assert_eq!(values.nrows(), dataset.len());
            assert!(!values.iter().any(|value| value.is_infinite()));
        }
        None => {}
    }
    if let Some(split) = dataset.split() {
        let things = if dataset.len() == 1 {
            nodes.max(1)
        } else {
            dataset.len()
        };
        let all = [&split.train, &split.validation, &split.test];
        assert!(all.iter().all(|part| part.iter().all(|index| *index < things)));
    }
    check_features(dataset.features());
    if nodes <= CHECKED_IN_FULL && dataset.len() <= CHECKED_IN_FULL {
        check_edges(dataset);
        check_use(dataset);
    }
}

fn check_features(features: &Features) {
    if let Some(matrix) = features.as_sparse() {
        let (rows, width) = matrix.shape();
        assert_eq!(matrix.offsets().len(), rows + 1);
        assert_eq!(matrix.columns().len(), matrix.values().len());
        assert!(matrix.values().iter().all(|value| value.is_finite()));
        for bounds in matrix.offsets().windows(2) {
            let columns = &matrix.columns()[bounds[0]..bounds[1]];
            assert!(columns.is_sorted_by(|left, right| left < right));
            assert!(columns.last().is_none_or(|last| (*last as usize) < width));
        }
    }
    if let Some(matrix) = features.as_dense() {
        assert!(matrix.iter().all(|value| value.is_finite()));
    }
}

/// Neighbours are sorted, distinct, there, and know each other.
fn check_edges(dataset: &GraphDataset) {
    let mut edges = 0;
    let mut entries = 0;
    for graph in dataset.graphs() {
        let nodes = graph.node_count();
        for node in 0..nodes {
            let neighbours = graph.neighbours(node);
            entries += neighbours.len();
            assert!(neighbours.is_sorted_by(|left, right| left < right));
            for other in neighbours {
                let other = *other as usize;
                assert!(other < nodes, "node {node} of {nodes} has neighbour {other}");
                let back = graph.neighbours(other);
                assert!(
                    back.iter().any(|id| *id as usize == node),
                    "{node} - {other} is one-way"
                );
                edges += usize::from(node < other);
            }
        }
    }
    assert_eq!(edges, dataset.edge_count());
    if let Some(weights) = dataset.edge_weights() {
        assert_eq!(weights.len(), entries);
        assert!(weights.iter().all(|weight| weight.is_finite()));
    }
    if let Some(attributes) = dataset.edge_attributes() {
        assert_eq!(attributes.nrows(), entries);
        assert!(attributes.iter().all(|value| value.is_finite()));
    }
}

/// What is done with data sets before anything learns from them.
fn check_use(dataset: &GraphDataset) {
    assert_eq!(dataset.fingerprint(), dataset.clone().fingerprint());
    let backwards: Vec<usize> = (0..dataset.len()).rev().collect();
    match dataset.subset(&backwards) {
        Ok(reversed) => assert_eq!(reversed.edge_count(), dataset.edge_count()),
        Err(error) => panic!("no subset: {error}"),
    }
    match GraphBatch::all(dataset) {
        Ok(batch) => assert_eq!(batch.node_count(), dataset.node_count()),
        Err(error) => panic!("no batch: {error}"),
    }
    let _ = Propagation::gcn(dataset).all();
    let loops = dataset.clone().with_self_loops();
    assert_eq!(loops.edge_count(), dataset.edge_count());
    assert_eq!(loops.without_self_loops().edge_count(), dataset.edge_count());
    let _ = dataset.clone().normalise_features();
}

/// Whether a data set is small enough to be written and read again every time.
pub(crate) fn is_small(dataset: &GraphDataset) -> bool {
    let cells = dataset.node_count().saturating_mul(dataset.features().width());
    dataset.node_count() <= 256 && cells <= 1 << 14
}
