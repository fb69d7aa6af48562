//! What EGG is compared with.

use egg_cluster::Error;
use egg_cluster::pipeline::Baseline;
use egg_graph::synthetic::BlockModel;
use egg_graph::{Features, Graph, GraphDataset};

use crate::samples::rng;

fn blocks() -> Graph {
    let model = BlockModel {
        nodes: 200,
        blocks: 3,
        degree: 12.0,
        inside: 0.85,
        ..BlockModel::default()
    };
    let dataset = model.generate(&mut rng(4)).unwrap();
    dataset.graph(0).unwrap().to_graph()
}

fn labels(baseline: Baseline, graph: Graph) -> Vec<u32> {
    let dataset = GraphDataset::single("blocks", graph);
    assert!(baseline.applies_to(&dataset));
    baseline.cluster(&dataset, 3, 1).unwrap().labels
}

#[test]
fn spectral_clustering_sees_the_edges_alone() {
    let graph = blocks();
    let bare = graph.clone().with_features(Features::none(200)).unwrap();
    assert_eq!(
        labels(Baseline::Spectral, graph.clone()),
        labels(Baseline::Spectral, bare)
    );
    let dataset = GraphDataset::single("blocks", graph);
    let report = Baseline::Spectral.cluster(&dataset, 3, 1).unwrap().report;
    assert!(report.agreement.unwrap().accuracy > 0.95);
    assert!(report.modularity.unwrap() > 0.4);
}

#[test]
fn k_means_on_features_sees_the_features_alone() {
    let graph = blocks();
    let ring: Vec<(usize, usize)> = (0..200).map(|node| (node, (node + 1) % 200)).collect();
    let other = Graph::from_edges(200, &ring).unwrap();
    let other = other.with_features(graph.features().clone()).unwrap();
    assert_eq!(
        labels(Baseline::Features, graph),
        labels(Baseline::Features, other)
    );
}

#[test]
fn a_baseline_applies_where_its_input_is() {
    let graph = Graph::from_edges(4, &[]).unwrap();
    let dataset = GraphDataset::single("empty", graph);
    assert!(
        Baseline::ALL
            .iter()
            .all(|baseline| !baseline.applies_to(&dataset))
    );
    let two = GraphDataset::from_graphs("two", &[blocks(), blocks()]).unwrap();
    for baseline in Baseline::ALL {
        let refused = baseline.cluster(&two, 3, 0);
        assert!(matches!(refused, Err(Error::NotOneGraph { .. })));
    }
}
