//! Published records were made with the settings that the program would use now.

use egg_pool::protocol::{Experiment, Protocol, RunRecord};
use egg_reproduce::architecture::Architecture;
use egg_reproduce::cell::{Cell, DATASETS, OURS, POOLINGS};
use egg_reproduce::cluster::record::ClusterRecord;
use egg_reproduce::cluster::{self, PresetName};

use crate::data::{find, results};

/// The settings of a record but how often it was repeated.
fn once(experiment: Experiment) -> Experiment {
    Experiment {
        repetitions: 1,
        ..experiment
    }
}

#[test]
fn cells_are_those_of_the_records() {
    let mut checked = 0;
    for name in DATASETS {
        // Large ones take long to read, and have no settings of their own.
        if ["COLLAB", "ogbg-molhiv"].contains(&name) {
            continue;
        }
        let Some(dataset) = find(name) else { return };
        for &architecture in Architecture::ALL {
            for protocol in [Protocol::Paper, Protocol::Fair] {
                for pooling in POOLINGS.into_iter().chain(OURS) {
                    let cell = Cell {
                        dataset: name,
                        architecture,
                        pooling,
                        protocol,
                    };
                    let path = cell.record(&results());
                    if !path.exists() {
                        continue;
                    }
                    checked += 1;
                    let record = RunRecord::load(&path).unwrap();
                    let ours = cell.experiment(&dataset).unwrap();
                    assert_eq!(once(ours), once(record.experiment), "{}", path.display());
                }
            }
        }
    }
    assert!(checked > 100, "{checked}");
}

#[test]
fn clusterings_are_those_of_the_records() {
    for name in ["Cora", "Citeseer"] {
        let Some(dataset) = find(name) else { return };
        for preset in ["paper", "paper-sampled", "tuned", "auto"] {
            let file = results().join(format!("cluster/{}-{preset}.json", name.to_lowercase()));
            let record: ClusterRecord = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
            let preset: PresetName = preset.parse().unwrap();
            let (subject, split) = cluster::subject(name, preset, &dataset).unwrap();
            assert_eq!(subject, record.subject);
            assert_eq!(split, record.split);
        }
    }
}
