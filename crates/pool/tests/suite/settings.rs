//! Settings as text, and presets.

use egg_pool::data::InputFeatures;
use egg_pool::metrics::Metric;
use egg_pool::model::{Architecture, ModelConfig};
use egg_pool::protocol::{Experiment, Grid, Protocol};
use egg_pool::train::{BatchLoss, RateSchedule, TrainConfig};
use egg_pool::{Error, PoolingConfig};

use crate::small;

#[test]
fn settings_survive_toml_and_json() {
    for architecture in Architecture::ALL {
        for pooling in PoolingConfig::all() {
            for dataset in ["PROTEINS", "NCI1", "ogbg-molhiv", "COLLAB"] {
                let config = ModelConfig::paper(dataset, architecture, pooling.clone());
                let toml = toml::to_string(&config).unwrap();
                assert_eq!(toml::from_str::<ModelConfig>(&toml).unwrap(), config, "{toml}");
                let json = serde_json::to_string(&config).unwrap();
                assert_eq!(
                    serde_json::from_str::<ModelConfig>(&json).unwrap(),
                    config,
                    "{json}"
                );
            }
        }
    }
    let dataset = small::dataset(20);
    let mut experiment = small::experiment(&dataset, Architecture::Gin, "egg");
    experiment.training.schedule = RateSchedule::Constant;
    experiment.training.clip_norm = Some(1.0);
    let toml = toml::to_string(&experiment).unwrap();
    assert_eq!(toml::from_str::<Experiment>(&toml).unwrap(), experiment, "{toml}");
    let grid = Grid::paper();
    let json = serde_json::to_string(&grid).unwrap();
    assert_eq!(serde_json::from_str::<Grid>(&json).unwrap(), grid);
}

#[test]
fn what_is_left_out_is_the_papers() {
    let config: ModelConfig =
        toml::from_str("architecture = \"gcn\"\nlayers = 2\nhidden = 32\npooling = \"egg\"").unwrap();
    assert_eq!(
        config,
        ModelConfig::new(Architecture::Gcn, PoolingConfig::default())
    );
    // A misspelt setting is not taken for a default.
    assert!(toml::from_str::<TrainConfig>("learning_rte = 1.0").is_err());
    assert!(toml::from_str::<ModelConfig>("architecture = \"gcn\"").is_err());
}

#[test]
fn presets_are_those_of_the_paper() {
    let layers = |dataset, architecture| ModelConfig::paper(dataset, architecture, PoolingConfig::Sum).layers;
    assert_eq!(layers("PROTEINS", Architecture::Gcn), 2);
    assert_eq!(layers("NCI1", Architecture::Gcn), 3);
    assert_eq!(layers("NCI1", Architecture::Gin), 4);
    assert_eq!(layers("ogbg-molhiv", Architecture::Gcn), 4);
    let collab = ModelConfig::paper("COLLAB", Architecture::Gcn, PoolingConfig::Sum);
    assert_eq!(collab.features, InputFeatures::Degree { most: 1000 });
    let molecules = ModelConfig::paper("molhiv", Architecture::Gin, PoolingConfig::Sum);
    assert!(molecules.virtual_node && molecules.features == InputFeatures::OgbAtoms);

    let dataset = small::dataset(20).with_name("ogbg-molhiv");
    let experiment = |protocol| Experiment::new(&dataset, protocol, Architecture::Gcn, PoolingConfig::Sum);
    let paper = experiment(Protocol::Paper).unwrap();
    assert_eq!(paper.training.metric, Metric::RocAuc);
    assert_eq!(paper.training.batch_loss, BatchLoss::Sum);
    assert!(paper.model.head.output_norm);
    let fair = experiment(Protocol::Fair).unwrap();
    assert_eq!(fair.training.batch_loss, BatchLoss::Mean);
    assert!(!fair.model.head.output_norm);
}

#[test]
fn eggs_presets_leave_alone_what_was_said() {
    let dataset = small::dataset(20).with_name("proteins");
    let new = |protocol, architecture, pooling: &str| {
        Experiment::new(
            &dataset,
            protocol,
            architecture,
            serde_json::from_str(pooling).unwrap(),
        )
        .unwrap()
    };
    let preset = new(Protocol::Paper, Architecture::Gcn, r#""egg""#);
    assert_ne!(preset.model.pooling, PoolingConfig::default());
    let relative = new(
        Protocol::Paper,
        Architecture::Gcn,
        r#"{"kind": "egg", "rank": {"relative": 0.1}}"#,
    );
    let text = serde_json::to_string(&relative.model.pooling).unwrap();
    assert!(text.contains("\"relative\":0.1"), "{text}");
    assert_eq!(relative.training, TrainConfig::paper());
    assert_eq!(
        new(Protocol::Paper, Architecture::Gcn, r#""sum""#).training,
        TrainConfig::paper()
    );
    let fair = new(Protocol::Fair, Architecture::Gcn, r#""egg""#);
    assert_eq!(
        (fair.training, fair.model.pooling),
        (TrainConfig::fair(), PoolingConfig::default())
    );
}

#[test]
fn unknown_names_are_told_the_known_ones() {
    let said = |error: Error| error.to_string();
    assert!(said("gat".parse::<Architecture>().unwrap_err()).contains("gcn, gin, blind"));
    assert!(said("best".parse::<Protocol>().unwrap_err()).contains("paper, fair"));
    assert!(said("f1".parse::<Metric>().unwrap_err()).contains("roc-auc"));
}
