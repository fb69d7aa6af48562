//! Settings as text, those of earlier versions included, and presets.

use egg_datasets::Registry;
use egg_pool::convolution::{Blind, Gcn, Gin};
use egg_pool::data::InputFeatures;
use egg_pool::metrics::Metric;
use egg_pool::model::{JumpingKnowledge, ModelConfig};
use egg_pool::pooling::Sum;
use egg_pool::protocol::{Experiment, Grid, Preset, Protocol, SplitRule};
use egg_pool::train::{BatchLoss, RateSchedule, TrainConfig};
use egg_pool::{ConvolutionConfig, Error, PoolingConfig};

use crate::small;

fn experiment(dataset: &str, protocol: Protocol, convolution: &str, pooling: &str) -> Experiment {
    let graphs = small::dataset(20).with_name(dataset);
    let (convolution, pooling) = (small::convolution(convolution), pooling.parse().unwrap());
    Experiment::new(&graphs, protocol, convolution, pooling).unwrap()
}

fn with_preset(dataset: &str, protocol: Protocol, convolution: &str, pooling: &str) -> Experiment {
    let mut experiment = experiment(dataset, protocol, convolution, pooling);
    experiment.apply(&small::preset(dataset));
    experiment
}

#[test]
fn settings_survive_toml_and_json() {
    for convolution in ConvolutionConfig::all() {
        for pooling in PoolingConfig::all() {
            let mut config = ModelConfig::new(convolution.clone(), pooling);
            for change in 0..3 {
                config.activation ^= change == 1;
                if change == 2 {
                    config.jumping_knowledge = JumpingKnowledge::Concat;
                    config.features = InputFeatures::Degree { most: 7 };
                }
                let toml = toml::to_string(&config).unwrap();
                assert_eq!(toml::from_str::<ModelConfig>(&toml).unwrap(), config, "{toml}");
                let json = serde_json::to_string(&config).unwrap();
                let read: ModelConfig = serde_json::from_str(&json).unwrap();
                assert_eq!(read, config, "{json}");
            }
        }
    }
    let dataset = small::dataset(20);
    let mut experiment = small::experiment(&dataset, "gin", "egg");
    experiment.training.schedule = RateSchedule::Constant;
    experiment.training.clip_norm = Some(1.0);
    let toml = toml::to_string(&experiment).unwrap();
    assert_eq!(toml::from_str::<Experiment>(&toml).unwrap(), experiment, "{toml}");
    let grid = Grid::paper();
    let json = serde_json::to_string(&grid).unwrap();
    assert_eq!(serde_json::from_str::<Grid>(&json).unwrap(), grid);
}

#[test]
fn settings_of_earlier_versions_are_read() {
    let read = |text: &str| toml::from_str::<ModelConfig>(text).unwrap();
    let head = "layers = 2\nhidden = 32\npooling = \"egg\"\n";
    let gcn = ModelConfig::new(Gcn, PoolingConfig::default());
    assert_eq!(read(&format!("architecture = \"gcn\"\n{head}")), gcn);
    assert_eq!(
        read(&format!("architecture = \"gcn\"\nrectify = true\n{head}")),
        gcn
    );
    let linear = read(&format!("architecture = \"gcn\"\nrectify = false\n{head}"));
    assert!(!linear.activation);
    // It had no effect on GIN, which had no activation between its layers.
    let gin = read("architecture = \"gin\"\nlayers = 4\nhidden = 32\nrectify = true\npooling = \"egg\"");
    assert_eq!(gin, ModelConfig::new(Gin, PoolingConfig::default()));
    // The control was a pooling as well, whatever the convolution.
    for pooling in ["\"blind\"", "{ kind = \"blind\" }"] {
        let text = format!("architecture = \"gin\"\nlayers = 4\nhidden = 32\npooling = {pooling}");
        let blind = read(&text);
        assert!(blind.convolution == Blind.into() && blind.pooling == Sum.into());
    }
    // The splits of an experiment followed from its protocol and architecture.
    let mut json = serde_json::to_value(experiment("x", Protocol::Paper, "gin", "sum")).unwrap();
    let fields = json.as_object_mut().unwrap();
    fields.remove("split_rule").unwrap();
    fields["model"]["architecture"] = fields["model"]["convolution"].take();
    fields["model"].as_object_mut().unwrap().remove("convolution");
    fields["model"]["pooling"] = "blind".into();
    let blind: Experiment = serde_json::from_value(json).unwrap();
    assert_eq!(blind.split_rule, SplitRule::Fixed);
    assert!(!blind.model.convolution.has_layers());
}

#[test]
fn missing_settings_are_the_papers_and_misspelt_ones_are_refused() {
    let config: ModelConfig = toml::from_str("convolution = \"gcn\"\npooling = \"egg\"").unwrap();
    assert_eq!(config, ModelConfig::new(Gcn, PoolingConfig::default()));
    assert!(toml::from_str::<TrainConfig>("learning_rte = 1.0").is_err());
    assert!(toml::from_str::<ModelConfig>("convolution = \"gcn\"").is_err());
    assert!(toml::from_str::<ModelConfig>("convolution = \"gcn\"\npooling = \"egg\"\nwidth = 3").is_err());
}

#[test]
fn settings_do_not_depend_on_the_data_set_name() {
    for name in ["PROTEINS", "NCI1", "ogbg-molhiv", "COLLAB", "Mutagenicity"] {
        for (protocol, convolution) in [(Protocol::Paper, "gcn"), (Protocol::Fair, "gin")] {
            let named = experiment(name, protocol, convolution, "egg");
            assert_eq!(named, experiment("mine", protocol, convolution, "egg"));
        }
    }
}

#[test]
fn presets_are_those_of_the_paper() {
    let layers = |dataset, convolution| {
        let experiment = with_preset(dataset, Protocol::Paper, convolution, "sum");
        experiment.model.layers
    };
    assert_eq!(layers("PROTEINS", "gcn"), 2);
    assert_eq!(layers("NCI1", "gcn"), 3);
    assert_eq!(layers("NCI1", "gin"), 4);
    assert_eq!(layers("ogbg-molhiv", "gcn"), 4);
    let collab = with_preset("COLLAB", Protocol::Paper, "gcn", "sum");
    assert_eq!(collab.model.features, InputFeatures::Degree { most: 1000 });
    let molecules = with_preset("molhiv", Protocol::Paper, "gin", "sum");
    assert!(molecules.model.virtual_node && molecules.model.features == InputFeatures::OgbAtoms);
    assert_eq!(molecules.training.metric, Metric::ROC_AUC);

    let paper = experiment("x", Protocol::Paper, "gcn", "sum");
    assert_eq!(paper.training.batch_loss, BatchLoss::Sum);
    assert!(paper.model.head.output_norm);
    let fair = experiment("x", Protocol::Fair, "gcn", "sum");
    assert_eq!(fair.training.batch_loss, BatchLoss::Mean);
    assert!(!fair.model.head.output_norm);
}

#[test]
fn every_registered_preset_can_be_read() {
    let mut read = 0;
    for entry in Registry::builtin().entries() {
        for name in entry.presets.keys() {
            if let Some(value) = entry.preset(name).classification {
                serde_json::from_value::<Preset>(value).unwrap();
                read += 1;
            }
        }
    }
    assert!(read >= 6, "{read}");
}

#[test]
fn chosen_settings_are_for_the_paper_protocol_and_plain_egg() {
    let new = |protocol, pooling| with_preset("PROTEINS", protocol, "gcn", pooling);
    let preset = new(Protocol::Paper, "egg");
    assert_eq!(preset.model.pooling.to_string(), "egg:threshold=0.01");
    let relative = new(Protocol::Paper, "egg:relative=0.1");
    assert_eq!(relative.model.pooling.to_string(), "egg:relative=0.1");
    assert_eq!(relative.training, TrainConfig::paper());
    assert_eq!(new(Protocol::Paper, "sum").training, TrainConfig::paper());
    let fair = new(Protocol::Fair, "egg");
    assert_eq!(
        (fair.training, fair.model.pooling),
        (TrainConfig::fair(), PoolingConfig::default())
    );
}

#[test]
fn unknown_names_are_answered_with_the_known_ones() {
    let message = |error: Error| error.to_string();
    assert!(message("gat".parse::<ConvolutionConfig>().unwrap_err()).contains("gcn, gin, blind"));
    assert!(message("best".parse::<Protocol>().unwrap_err()).contains("paper, fair"));
    assert!(message("no-such-metric".parse::<Metric>().unwrap_err()).contains("roc-auc"));
}
