//! A published record of Table 5 is repeated bit for bit: one repetition of Cora.
//!
//! A record promises that the revision it names repeats it bit for bit on a machine with
//! the same arithmetic (vector instructions, kernels of the BLAS library), on any number
//! of threads. This one is held to the sources as they are now.

use egg_cluster::Silent;
use egg_cluster::pipeline::NodeClustering;
use egg_reproduce::cluster::record::ClusterRecord;

use crate::data::{find, is_repeatable, results};

#[test]
fn a_repetition_of_cora_repeats_bit_for_bit() {
    let text = std::fs::read_to_string(results().join("cluster/cora-paper.json")).unwrap();
    let record: ClusterRecord = serde_json::from_str(&text).unwrap();
    let first = &record.repetitions[0];
    if !is_repeatable("Cora", first.arithmetic.as_deref()) {
        return;
    }
    let Some(dataset) = find("Cora") else { return };
    assert_eq!(record.subject.data.fingerprint, dataset.fingerprint());
    let mut config = record.subject.config;
    config.seed = first.seed;
    let clustering = NodeClustering::new(config).unwrap();
    let embedding = clustering.embed(&dataset, None, &mut Silent).unwrap();
    assert_eq!(embedding.test, first.test);
    for (name, coordinates) in &record.subject.methods {
        let (_, mut report) = clustering.cluster(&embedding, coordinates).unwrap();
        let kept = first.methods[name];
        report.timings = kept.timings;
        assert_eq!(report, kept, "{name}");
    }
}
