//! The pipeline from a graph to clusters.

use std::ops::ControlFlow;

use egg_cluster::egg::{EggConfig, Weighting};
use egg_cluster::pipeline::{
    Clusterer, ClusteringEvent, Coordinates, FeatureUse, Links, NodeClustering, NodeClusteringConfig,
    NodeClusters, Preset,
};
use egg_cluster::vgae::{CheckpointConfig, Likelihood};
use egg_cluster::{Error, Silent};
use egg_geometry::RankRule;
use egg_graph::{Graph, GraphDataset};

use crate::tensors::{communities, on_threads};

fn paper(epochs: u64) -> NodeClusteringConfig {
    let mut config = Preset::Paper.config();
    config.autoencoder_mut().epochs = epochs;
    config
}

fn run(config: NodeClusteringConfig, dataset: &GraphDataset) -> egg_cluster::Result<NodeClusters> {
    NodeClustering::new(config)?.run(dataset, None, &mut Silent)
}

#[test]
fn planted_communities_are_recovered() {
    let dataset = communities(800, 3);
    let spectral = EggConfig {
        weighting: Weighting::Spectral(1.0),
        ..EggConfig::new(RankRule::Ratio(0.8))
    };
    let sampled = {
        let mut config = paper(150);
        config.autoencoder_mut().likelihood = Likelihood::NegativeSampling;
        config
    };
    for config in [
        paper(150),
        NodeClusteringConfig {
            coordinates: Coordinates::Egg(spectral),
            ..paper(150)
        },
        NodeClusteringConfig {
            coordinates: Coordinates::Plain { normalise_rows: true },
            links: Links::All,
            ..paper(150)
        },
        NodeClusteringConfig {
            coordinates: Coordinates::Plain {
                normalise_rows: false,
            },
            clusterer: Clusterer::MiniBatch { batch: 256 },
            ..paper(150)
        },
        NodeClusteringConfig {
            coordinates: Coordinates::Plain {
                normalise_rows: false,
            },
            ..sampled
        },
    ] {
        let found = run(config, &dataset).unwrap();
        let nmi = found.report.agreement.unwrap().normalised_mutual_information;
        assert!(nmi > 0.8, "{nmi} with {config:?}");
        assert!(found.report.modularity.unwrap() > 0.5 && found.report.conductance.unwrap() < 0.3);
        assert_eq!((found.labels.len(), found.embedding.dim()), (800, (800, 16)));
        let columns = found.coordinates.map_or(16, |coordinates| coordinates.ncols());
        assert_eq!(columns, found.report.dimension);
        assert_eq!(found.report.test.is_some(), config.links != Links::All);
    }
}

/// Labels, embedding and coordinates, to the bit.
fn bits(found: &NodeClusters) -> Vec<u64> {
    let labels = found.labels.iter().map(|label| u64::from(*label));
    let coordinates = found.coordinates.iter().flatten();
    let numbers = found.embedding.iter().chain(coordinates);
    labels.chain(numbers.map(|number| number.to_bits())).collect()
}

#[test]
fn results_do_not_depend_on_the_threads() {
    let dataset = communities(300, 4);
    for likelihood in [Likelihood::Exact, Likelihood::NegativeSampling] {
        let mut config = paper(15);
        config.autoencoder_mut().likelihood = likelihood;
        let one = on_threads(1, || bits(&run(config, &dataset).unwrap()));
        assert!(one == on_threads(2, || bits(&run(config, &dataset).unwrap())));
        assert!(one == on_threads(4, || bits(&run(config, &dataset).unwrap())));
    }
}

#[test]
fn a_cancelled_clustering_resumes_bit_for_bit() {
    let dataset = communities(200, 4);
    let clustering = NodeClustering::new(paper(12)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let checkpoint = CheckpointConfig {
        path: folder.path().join("run"),
        every: 4,
    };
    let mut events = Vec::new();
    let whole = clustering
        .run(&dataset, None, &mut |event| {
            events.push(event);
            ControlFlow::Continue(())
        })
        .unwrap();
    assert!(matches!(events[0], ClusteringEvent::Prepared { nodes: 200, .. }));
    assert!(matches!(events[12], ClusteringEvent::Epoch(epoch) if epoch.epoch == 12));
    assert!(matches!(
        events[13..],
        [
            ClusteringEvent::Trained { epoch: 12 },
            ClusteringEvent::Coordinates { dimension: 13 },
            ClusteringEvent::Clustered { .. }
        ]
    ));
    // Cancelled several times, each time resuming from the checkpoint.
    for limit in [1, 4, 2, 6] {
        let mut seen = 0;
        let cancelled = clustering.run(&dataset, Some(&checkpoint), &mut |_| {
            seen += 1;
            match seen == limit {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        });
        assert!(matches!(cancelled, Err(Error::Cancelled { .. })));
    }
    let again = clustering.run(&dataset, Some(&checkpoint), &mut Silent).unwrap();
    assert!(bits(&again) == bits(&whole));
    assert_eq!(again.history, whole.history);
    assert_eq!(again.report.agreement, whole.report.agreement);
}

#[test]
fn bad_settings_and_graphs_are_refused() {
    let dataset = communities(120, 1);
    let refused = |config: NodeClusteringConfig| {
        let result = run(config, &dataset);
        matches!(
            result,
            Err(Error::Setting { .. } | Error::Geometry(_) | Error::Graph(_))
        )
    };
    let egg = |rank| Coordinates::Egg(EggConfig::new(rank));
    for config in [
        NodeClusteringConfig {
            clusters: Some(0),
            ..paper(1)
        },
        NodeClusteringConfig {
            clusters: Some(121),
            ..paper(1)
        },
        NodeClusteringConfig {
            coordinates: egg(RankRule::Ratio(1.5)),
            ..paper(1)
        },
        NodeClusteringConfig {
            coordinates: egg(RankRule::Ratio(f64::NAN)),
            ..paper(1)
        },
        NodeClusteringConfig {
            clusterer: Clusterer::MiniBatch { batch: 0 },
            ..paper(1)
        },
        NodeClusteringConfig {
            links: Links::Split {
                validation: 0.6,
                test: 0.6,
                seed: 0,
            },
            ..paper(1)
        },
    ] {
        assert!(refused(config), "{config:?}");
    }
    // No classes to count, and no features.
    let bare = Graph::from_edges(40, &(1..40).map(|node| (node / 2, node)).collect::<Vec<_>>()).unwrap();
    let bare = GraphDataset::single("tree", bare);
    assert!(matches!(
        run(paper(1), &bare),
        Err(Error::Setting { name: "clusters", .. })
    ));
    let three = NodeClusteringConfig {
        clusters: Some(3),
        ..paper(1)
    };
    assert!(run(three, &bare).is_err());
    let identity = NodeClusteringConfig {
        features: FeatureUse::Identity,
        ..three
    };
    let found = run(identity, &bare).unwrap();
    assert!(found.report.agreement.is_none() && found.report.modularity.is_some());
    assert!("papre".parse::<Preset>().is_err());
}

#[test]
fn an_embedding_of_zeros_is_refused() {
    let graph = Graph::from_edges(6, &[(0, 1), (1, 2), (3, 4), (4, 5), (0, 2), (3, 5)]).unwrap();
    let features = egg_graph::Features::dense(ndarray::Array2::zeros((6, 4))).unwrap();
    let dataset = GraphDataset::single("blank", graph.with_features(features).unwrap());
    for coordinates in [
        Preset::Paper.config().coordinates,
        Coordinates::Plain { normalise_rows: true },
    ] {
        let config = NodeClusteringConfig {
            coordinates,
            clusters: Some(2),
            links: Links::All,
            ..paper(3)
        };
        let refused = run(config, &dataset);
        assert!(
            matches!(refused, Err(Error::ZeroEmbedding { nodes: 6 })),
            "{refused:?}"
        );
    }
}
