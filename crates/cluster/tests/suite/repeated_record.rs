//! A published record of Table 5 is repeated bit for bit: one repetition of Cora.
//!
//! A record promises that the revision it names repeats it bit for bit on a machine with
//! the same arithmetic (vector instructions, kernels of the BLAS library), on any number
//! of threads. This one is held to the sources as they are now.

use std::io::Write;
use std::path::PathBuf;

use egg_cluster::pipeline::{Coordinates, NodeClustering, NodeClusteringConfig};
use egg_cluster::vgae::Control;
use egg_datasets::DataFolders;
use egg_graph::{Cache, ReadOptions};
use egg_results::Machine;
use serde_json::Value;

use crate::real_data;

fn say(line: &str) {
    // Not by the macro, which the test harness would keep to itself.
    let _ = std::io::stdout().write_all(line.as_bytes());
}

#[test]
fn a_repetition_of_cora_repeats_bit_for_bit() {
    let root = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let Some(folder) = real_data::folder("Cora") else {
        return;
    };
    let text = std::fs::read_to_string(root.join("docs/results/cluster/cora-paper.json")).unwrap();
    let record: Value = serde_json::from_str(&text).unwrap();
    let first = &record["repetitions"][0];
    let kernels = egg_geometry::blas_kernels();
    let here = Machine::here(1).with_backend(egg_geometry::backend(), kernels.as_deref());
    if first["arithmetic"].as_str() != here.arithmetic.as_deref() {
        return say(&format!(
            "skipped: Cora was recorded with {}, here is {:?}\n",
            first["arithmetic"], here.arithmetic
        ));
    }
    let source = DataFolders::only(folder).source("Cora").unwrap();
    let dataset = source.load(&ReadOptions::default(), &Cache::Off).unwrap().dataset;
    assert_eq!(record["data"]["fingerprint"], dataset.fingerprint());
    let mut config: NodeClusteringConfig = serde_json::from_value(record["config"].clone()).unwrap();
    config.seed = first["seed"].as_u64().unwrap();
    let clustering = NodeClustering::new(config).unwrap();
    let embedding = clustering
        .embed(&dataset, None, &mut |_| Control::Continue)
        .unwrap();
    let held_out = serde_json::to_value(embedding.test).unwrap();
    assert_eq!(held_out, first["test"]);
    for (name, coordinates) in record["methods"].as_object().unwrap() {
        let coordinates: Coordinates = serde_json::from_value(coordinates.clone()).unwrap();
        let (_, report) = clustering.cluster(&embedding, &coordinates).unwrap();
        let found = serde_json::to_value(report).unwrap();
        for of in [
            "agreement",
            "modularity",
            "conductance",
            "inertia",
            "dimension",
            "captured",
            "loss",
        ] {
            assert_eq!(found[of], first["methods"][name][of], "{of} of {name}");
        }
    }
}
