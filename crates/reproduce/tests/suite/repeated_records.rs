//! Published records are repeated bit for bit: a small cell of each table, one repetition.
//!
//! A record promises that the revision it names repeats it bit for bit on a machine with
//! the same arithmetic (vector instructions, kernels of the BLAS library), on any number
//! of threads. These are held to the sources as they are now.

use egg_graph::Split;
use egg_pool::data::PreparedGraphs;
use egg_pool::protocol::{Experiment, RepetitionRecord, RunOptions, RunRecord};
use egg_pool::train::Silent;
use egg_reproduce::halving::HalvingRecord;
use serde_json::Value;

use crate::data::{find, is_repeatable, results};

fn prepare(
    experiment: &Experiment,
    dataset: &str,
    fingerprint: &str,
) -> Option<(PreparedGraphs, Vec<Split>)> {
    let graphs = experiment.prepare(find(dataset)?).unwrap();
    assert_eq!(graphs.fingerprint(), fingerprint, "{dataset}");
    let splits = experiment.splits(graphs.dataset()).unwrap();
    Some((graphs, splits))
}

fn run(experiment: &Experiment, graphs: &PreparedGraphs, split: &Split) -> RepetitionRecord {
    let options = RunOptions::default();
    let (_, outcome) = experiment
        .repetition(graphs, split, 0, &options, &mut Silent)
        .unwrap();
    RepetitionRecord::from_outcome(&outcome).unwrap()
}

#[test]
fn cells_of_the_tables_repeat_bit_for_bit() {
    for name in [
        "training/mutag-gcn-egg",
        "training/mutag-gcn-sum",
        "training/mutag-gin-egg",
        "training/mutag-gin-sum",
        "training/proteins-gcn-sum-fair",
        "training/proteins-gcn-egg-fair",
        "training/proteins-gin-sum-fair",
        "training/proteins-gin-soft-egg-fair",
        "grid/proteins-gcn-sum-chosen",
        "sensitivity/proteins-gcn-0.5",
    ] {
        let kept = RunRecord::load(results().join(format!("{name}.json"))).unwrap();
        if !is_repeatable(name, kept.machine.arithmetic.as_deref()) {
            continue;
        }
        let Some((graphs, splits)) = prepare(&kept.experiment, &kept.dataset, &kept.fingerprint) else {
            return;
        };
        assert_eq!(splits[0].digest(), kept.splits[0], "{name}");
        let mut found = run(&kept.experiment, &graphs, &splits[0]);
        found.seconds = kept.repetitions[0].seconds;
        let json = |record| serde_json::to_value(record).unwrap();
        assert!(
            repeats(&json(&found), &json(&kept.repetitions[0])),
            "{name}: {found:?} and {:?}",
            kept.repetitions[0]
        );
    }
}

/// Whether all that was recorded is found again; metrics that were added since have no record.
fn repeats(found: &Value, kept: &Value) -> bool {
    match (found, kept) {
        (Value::Object(found), Value::Object(kept)) => kept
            .iter()
            .all(|(key, kept)| found.get(key).is_some_and(|found| repeats(found, kept))),
        _ => found == kept,
    }
}

#[test]
fn a_setting_of_the_grid_repeats_bit_for_bit() {
    let name = "grid/proteins-gcn-egg";
    let kept = HalvingRecord::load(results().join(format!("{name}.json"))).unwrap();
    if !is_repeatable(name, kept.machine.arithmetic.as_deref()) {
        return;
    }
    let setting = kept.settings.first().unwrap();
    let experiment = setting.cell.apply(&kept.subject.experiment);
    let Some((graphs, splits)) = prepare(&experiment, &kept.subject.dataset, &kept.subject.fingerprint)
    else {
        return;
    };
    let found = run(&experiment, &graphs, &splits[0]);
    let first = &setting.runs[0];
    assert_eq!(first.repetition, 1);
    assert_eq!(found.validation.loss.to_bits(), first.validation_loss.to_bits());
    assert_eq!((found.best_epoch, found.epochs), (first.best_epoch, first.epochs));
    let metric = experiment.training.metric;
    assert_eq!(found.test.unwrap().scores.get(metric), first.test);
}
