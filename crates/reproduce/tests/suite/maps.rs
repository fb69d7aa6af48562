//! The paper's maps, on data made up for it.

use std::path::Path;

use egg_cluster::pipeline::Preset;
use egg_graph::GraphDataset;
use egg_graph::synthetic::{BlockModel, CovarianceSet};
use egg_pool::PoolingConfig;
use egg_pool::protocol::{Experiment, Protocol};
use egg_reproduce::architecture::Architecture;
use egg_reproduce::maps::record::MapRecord;
use egg_reproduce::maps::{graphs, nodes};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use serde_json::Value;

/// Kept and read again, without its time.
fn kept(path: &Path, record: &MapRecord) -> MapRecord {
    record.save(path).unwrap();
    let mut record: MapRecord = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    record.about["seconds"] = Value::Null;
    record
}

fn of_graphs(architecture: Architecture, points: usize) -> MapRecord {
    let set = CovarianceSet {
        graphs: 40,
        ..CovarianceSet::default()
    };
    let dataset = set.generate(&mut ChaCha8Rng::seed_from_u64(0)).unwrap();
    let mut experiment =
        Experiment::new(&dataset, Protocol::Paper, architecture, PoolingConfig::default()).unwrap();
    experiment.training.max_epochs = 1;
    graphs::maps(dataset, experiment, points, "revision").unwrap()
}

fn blocks(nodes: usize) -> GraphDataset {
    let model = BlockModel {
        nodes,
        ..BlockModel::default()
    };
    model.generate(&mut ChaCha8Rng::seed_from_u64(0)).unwrap()
}

fn of_nodes() -> MapRecord {
    let mut config = Preset::Paper.config();
    config.autoencoder_mut().epochs = 2;
    nodes::maps(&blocks(200), config, 50, "revision").unwrap()
}

/// How to make it, how many points it has, and the names of its maps.
type Case<'a> = (&'a dyn Fn() -> MapRecord, usize, &'a [&'a str]);

#[test]
fn maps_have_a_place_for_every_point_and_are_repeated() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deeper/maps.json");
    let (gcn, gin) = (Architecture::Gcn, Architecture::Gin);
    let cases: [Case<'_>; 3] = [
        (
            &|| of_graphs(gcn, 30),
            30,
            &["GCN-EGG, untrained", "GCN-EGG, trained"],
        ),
        (
            &|| of_graphs(gin, 4000),
            40,
            &["GIN-EGG, trained, its layers side by side"],
        ),
        (&of_nodes, 50, &["H, means of the VGAE", "EGG(0.8) of H"]),
    ];
    for (make, points, names) in cases {
        let first = kept(&path, &make());
        let found: Vec<&str> = first.maps.iter().map(|map| map.name.as_str()).collect();
        assert_eq!(found, names);
        assert_eq!(first.classes.iter().flatten().count(), points);
        for map in &first.maps {
            assert_eq!((map.x.len(), map.y.len()), (points, points));
            // One scale for both: the longer side is filled.
            assert!(map.x.iter().chain(&map.y).all(|place| (0..=1000).contains(place)));
            let sides = [&map.x, &map.y];
            assert!(sides.iter().any(|side| side.contains(&0) && side.contains(&1000)));
            for share in [map.right, map.right_in_map] {
                assert!((0.0..=1.0).contains(&share.unwrap()));
            }
        }
        assert_eq!(first.about["fingerprint"].as_str().unwrap().len(), 64);
        assert_eq!(kept(&path, &make()), first, "{names:?}");
    }
    // The layers of GIN side by side are four times as wide as GCN's one.
    assert_eq!(of_graphs(gin, 40).maps[0].columns, 4 * 528);
}
