//! Real molecules: a few epochs, every number finite.

use egg_graph::{ReadOptions, read_tu};
use egg_pool::model::Architecture;
use egg_pool::protocol::{Experiment, Protocol, RunOptions};

use crate::real_data;
use crate::small::watch_nothing;

#[test]
fn mutag_trains_without_a_nan() {
    let Some(path) = real_data::find("MUTAG.zip") else {
        return;
    };
    let dataset = read_tu(&path, &ReadOptions::default()).unwrap();
    for architecture in [Architecture::Gcn, Architecture::Gin] {
        for protocol in Protocol::ALL {
            let mut experiment =
                Experiment::new(&dataset, protocol, architecture, "egg".parse().unwrap()).unwrap();
            experiment.training.max_epochs = 10;
            experiment.repetitions = 1;
            let graphs = experiment.prepare(dataset.clone()).unwrap();
            let report = experiment
                .run(&graphs, &RunOptions::default(), &watch_nothing)
                .unwrap();
            let history = &report.outcomes[0].history;
            let finite = history
                .iter()
                .all(|epoch| epoch.train_loss.is_finite() && epoch.validation_loss.is_finite());
            assert!(finite && history.len() == 10, "{architecture} {protocol}");
            assert!(
                history[9].train_loss < history[0].train_loss,
                "{architecture} {protocol}"
            );
        }
    }
}
