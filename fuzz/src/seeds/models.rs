//! Settings, trained models and what a run leaves.

use egg_graph::synthetic::CovarianceSet;
use egg_nn::Checkpoint;
use egg_pool::PoolingConfig;
use egg_pool::convolution::{Gcn, Gin};
use egg_pool::folder::TrainedModel;
use egg_pool::model::ModelConfig;
use egg_pool::protocol::{Experiment, Grid, Protocol, RunOptions};
use egg_pool::train::{Silent, TrainConfig};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::{Result, Seed, first_file};
use crate::files::{Folder, Sections};

pub(super) fn all() -> Result<Vec<Seed>> {
    let mut seeds = settings()?;
    seeds.extend(models()?);
    Ok(seeds)
}

fn settings() -> Result<Vec<Seed>> {
    let model = ModelConfig::new(Gin, PoolingConfig::default());
    let record = br#"{"format":"egg-record","version":1,"kind":"train","title":"EGG on TINY","seed":1,"ddof":1,
"data":{"name":"TINY","fingerprint":"00","graphs":4},"versions":{"egg":"0.1.0","others":[["a","b"]]},
"methods":[{"name":"EGG","repetitions":[{"split":"fold 1","test":0.75},{"split":"fold 2","test":null}]},
{"name":"SUM","repetitions":[{"split":"fold 1","test":0.5},{"split":"fold 2","test":0.25}]}],
"clusterings":[{"name":"EGG","losses":[[1.5,1.0,null]]}],"sweeps":[],"trials":[],"notes":["plain <b>text</b>"]}"#;
    let everything = br#"{"format":"egg-record","version":1,"kind":"sweep","title":"","ddof":0,"config":{"a":[1,null]},
"methods":[{"name":"EGG","group":"linear","metric":"ROC-AUC","parameters":7,"repetitions":[{"split":"1","parts":[2,1,1],"test":1e300,
"validation":-0.5,"best_epoch":2,"epochs":[{"epoch":1,"train_loss":0.7,"validation_loss":null,"seconds":0.1},{"epoch":2,
"train_loss":0.5,"train_metric":0.9,"validation_loss":0.6,"validation_metric":0.8}]}],
"confusion":{"classes":["a","<b>"],"counts":[[1,0],[2,3]]},"ranks":[{"name":"pool","columns":4,"bins":[{"rank":2,"graphs":3,"captured":0.9}]}],
"embedding":{"of":"graphs","classes":[0,null,1],"class_names":["a"],"map":{"x":[0.5,1,-1],"y":[0,1,2]}}}],
"clusterings":[{"method":"EGG","acc":{"mean":0.5,"deviation":0.1,"values":[0.4,0.6]},"others":[["modularity",{"mean":null}]],
"dimension":3,"embedding":{"of":"nodes","rows":{"columns":2,"values":[1,0,0,1,1,1,0.5,2]},"classes":[0,1,0,1]}}],
"sweeps":[{"parameter":"r","metric":"accuracy","series":[{"name":"EGG","points":[{"at":0.1,"score":{"mean":0.5}},{"at":0.2}]}]}],
"trials":[{"settings":[["lr","0.01"]],"validation":{"mean":0.5},"test":{"mean":0.4},"chosen":true}]}"#;
    let gridless = toml::to_string(&Grid::paper())?;
    Ok(vec![
        ("settings", "model", toml::to_string(&model)?.into_bytes()),
        ("settings", "model-json", serde_json::to_vec(&model)?),
        (
            "settings",
            "training",
            toml::to_string(&TrainConfig::default())?.into_bytes(),
        ),
        ("settings", "grid", gridless.into_bytes()),
        ("settings", "experiment", serde_json::to_vec(&experiment()?.0)?),
        ("settings", "rank", b"threshold:0.5".to_vec()),
        ("record", "train", record.to_vec()),
        ("record", "everything", everything.to_vec()),
    ])
}

fn experiment() -> Result<(Experiment, egg_graph::GraphDataset)> {
    let set = CovarianceSet {
        graphs: 20,
        ..Default::default()
    };
    let dataset = set.generate(&mut ChaCha8Rng::seed_from_u64(0))?;
    let mut experiment = Experiment::new(&dataset, Protocol::Paper, Gcn, PoolingConfig::default())?;
    (experiment.model.hidden, experiment.model.layers) = (3, 1);
    experiment.model.head.widths = vec![2];
    experiment.training.max_epochs = 1;
    Ok((experiment, dataset))
}

/// A trained model as it is saved, and the checkpoint of a run.
fn models() -> Result<Vec<Seed>> {
    let mut seeds = Vec::new();
    for (name, convolution, pooling) in [
        ("gcn-egg", "gcn", "egg"),
        ("gin-topk", "gin", "topk"),
        ("blind", "blind", "sum"),
        ("gcn-pan", "gcn", "pan"),
        ("gcn-soft-egg", "gcn", "soft-egg"),
    ] {
        let (mut experiment, dataset) = experiment()?;
        experiment.model.convolution = convolution.parse()?;
        experiment.model.pooling = pooling.parse()?;
        let graphs = experiment.prepare(dataset)?;
        let folder = Folder::new("seeds-of-models");
        let options = RunOptions {
            checkpoints: Some(folder.emptied("checkpoints")),
            ..RunOptions::default()
        };
        let trained = TrainedModel::train(&experiment, &graphs, 0, &options, &mut Silent)?;
        let path = folder.path().join("model");
        trained.save(&path)?;
        let files = ["config.json", "metrics.json", "model.safetensors"];
        let mut parts = Vec::new();
        for file in files {
            parts.push((file, std::fs::read(path.join(file))?));
        }
        let joined = Sections::join(parts.iter().map(|(name, bytes)| (*name, &bytes[..])));
        seeds.push(("model_folder", name, joined));
        if let Some(path) = first_file(&folder.path().join("checkpoints")) {
            seeds.push(("checkpoint", name, std::fs::read(path)?));
        }
    }
    let folder = Folder::new("seeds-of-checkpoints");
    let path = folder.path().join("plain");
    let empty = Checkpoint::new(3, std::collections::BTreeMap::new());
    empty.save(&path)?;
    seeds.push(("checkpoint", "empty", std::fs::read(path)?));
    Ok(seeds)
}
