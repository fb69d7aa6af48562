//! Writing and reading a model's folder.

use std::path::Path;

use candle_core::DType;
use egg_graph::{FeatureColumn, GraphDataset, Targets, UnseenCategory};
use egg_nn::Checkpoint;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use serde::{Deserialize, Serialize};

use super::card::card;
use crate::data::{InputFeatures, PreparedGraphs};
use crate::error::{Error, Result};
use crate::json;
use crate::model::{Model, ModelConfig};
use crate::protocol::Experiment;
use crate::train::{Outcome, TrainConfig};

/// The format of `config.json` that is written. From 2 on it says what the columns of
/// the features are, has a checksum in the file of the parameters, and EGG tells rank from noise by the norm of the rows.
/// From 3 on it names the convolution with its settings.
const FORMAT: u64 = 3;

/// The earliest format whose models mean what they mean now.
const SEALED: u64 = 2;

/// The earliest format that is read, where that is exact.
const EARLIEST: u64 = 1;

/// Under which name the file of the parameters has the checksum of `config.json`.
const SEAL: &str = "config";

const CONFIG: &str = "config.json";
const PARAMETERS: &str = "model.safetensors";
const METRICS: &str = "metrics.json";
const CARD: &str = "README.md";

/// What a model was trained on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrainedOn {
    /// The data set's name.
    pub name: String,
    /// How many graphs it has.
    pub graphs: usize,
    /// Of the graphs as the model saw them.
    pub fingerprint: String,
    /// What classes are called; none for numbers.
    pub classes: Vec<String>,
}

/// All that is known of a trained model but its numbers: `config.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SavedConfig {
    /// The version of the format.
    pub format: u64,
    /// The version of this crate that wrote it.
    pub written_by: String,
    /// What to build.
    pub model: ModelConfig,
    /// Node features.
    pub inputs: usize,
    /// What they are, if the training data said so.
    #[serde(default)]
    pub columns: Option<Vec<FeatureColumn>>,
    /// Scores per graph.
    pub outputs: usize,
    /// What it was trained on.
    pub data: TrainedOn,
    /// How it was trained.
    pub training: TrainConfig,
    /// Which protocol, of which this is one repetition.
    pub protocol: String,
    /// The random seed.
    pub seed: u64,
    /// Which repetition, counted from 1.
    pub repetition: usize,
}

impl SavedConfig {
    /// A checksum of all of it. Against mistakes, not against forgers: they could make
    /// another one.
    fn seal(&self) -> Result<String> {
        egg_results::checksum(self).map_err(|error| Error::Format {
            path: CONFIG.into(),
            reason: error.to_string(),
        })
    }

    /// Whether what a rank rule keeps decides about its predictions.
    fn uses_rank_rules(&self) -> bool {
        self.model.pooling.rank_rule().is_some() && self.model.convolution.has_layers()
    }

    /// A data set with the feature columns that the model was trained with, found by what
    /// they are and not by where they stand; and categories that it has not seen.
    ///
    /// # Errors
    /// As [`TrainedModel::predict`].
    pub fn columns_of(&self, dataset: GraphDataset) -> Result<(GraphDataset, Vec<UnseenCategory>)> {
        let replaced = self.model.features != InputFeatures::AsTheyAre;
        match &self.columns {
            _ if replaced => Ok((dataset, Vec::new())),
            Some(columns) => Ok(dataset.with_columns_of(columns)?),
            // The training data had none, or it was not asked.
            None if self.format >= SEALED || dataset.feature_columns().is_none() => Ok((dataset, Vec::new())),
            None if dataset.fingerprint() == self.data.fingerprint => Ok((dataset, Vec::new())),
            None => Err(Error::UnknownColumns {
                dataset: dataset.name().to_owned(),
            }),
        }
    }
}

/// A model that has learnt, and all that is known of it.
///
/// ```
/// use egg_graph::synthetic::CovarianceSet;
/// use egg_pool::folder::TrainedModel;
/// use egg_pool::convolution::Gcn;
/// use egg_pool::protocol::{Experiment, Protocol, RunOptions};
/// use egg_pool::train::Silent;
/// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
///
/// let small = CovarianceSet { graphs: 60, ..Default::default() };
/// let dataset = small.generate(&mut ChaCha8Rng::seed_from_u64(0))?;
/// let mut experiment = Experiment::new(&dataset, Protocol::Paper, Gcn, "egg".parse()?)?;
/// experiment.training.max_epochs = 2;
/// let graphs = experiment.prepare(dataset.clone())?;
/// let trained = TrainedModel::train(&experiment, &graphs, 0, &RunOptions::default(), &mut Silent)?;
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("covariance-gcn-egg");
/// trained.save(&path)?;
/// let loaded = TrainedModel::load(&path)?;
/// assert_eq!(loaded.predict(dataset.clone())?, trained.predict(dataset)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct TrainedModel {
    config: SavedConfig,
    outcome: Outcome,
    model: Model,
}

impl TrainedModel {
    /// Trains one repetition of an experiment (counted from 0).
    ///
    /// # Errors
    /// As [`Experiment::repetition`]; [`Error::Setting`] if there are not so
    /// many repetitions.
    pub fn train(
        experiment: &Experiment,
        graphs: &PreparedGraphs,
        repetition: usize,
        options: &crate::protocol::RunOptions,
        observer: &mut crate::train::EventObserver<'_>,
    ) -> Result<Self> {
        let splits = experiment.splits(graphs.dataset())?;
        let split = splits.get(repetition).ok_or_else(|| {
            Error::setting(
                "repetition",
                repetition,
                format!("there are {}, counted from 0", splits.len()),
            )
        })?;
        let (model, outcome) = experiment.repetition(graphs, split, repetition, options, observer)?;
        Ok(Self::new(experiment, graphs, repetition, model, outcome))
    }

    /// A model that [`Experiment::repetition`] trained.
    pub fn new(
        experiment: &Experiment,
        graphs: &PreparedGraphs,
        repetition: usize,
        model: Model,
        outcome: Outcome,
    ) -> Self {
        let dataset = graphs.dataset();
        let classes = match dataset.targets() {
            Some(Targets::Classes(labels)) => labels.names().to_vec(),
            _ => Vec::new(),
        };
        let config = SavedConfig {
            format: FORMAT,
            written_by: env!("CARGO_PKG_VERSION").to_owned(),
            model: experiment.model.clone(),
            inputs: model.network().inputs(),
            columns: dataset.feature_columns().map(<[_]>::to_vec),
            outputs: model.network().outputs(),
            data: TrainedOn {
                name: dataset.name().to_owned(),
                graphs: dataset.len(),
                fingerprint: graphs.fingerprint().to_owned(),
                classes,
            },
            training: experiment.training.clone(),
            protocol: experiment.protocol.name().to_owned(),
            seed: experiment.seed,
            repetition: repetition + 1,
        };
        Self {
            config,
            outcome,
            model,
        }
    }

    /// What is known of it.
    pub fn config(&self) -> &SavedConfig {
        &self.config
    }

    /// How it was trained, epoch by epoch, and what it is worth.
    pub fn outcome(&self) -> &Outcome {
        &self.outcome
    }

    /// The model itself.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Writes the folder; one that is empty, or holds a model and nothing else,
    /// is replaced. The new one takes the name only when it is whole.
    ///
    /// # Errors
    /// [`Error::File`] if it can't be written, [`Error::Format`] if there is
    /// something else under that name.
    pub fn save(&self, folder: impl AsRef<Path>) -> Result<()> {
        let folder = folder.as_ref();
        let there = folder.try_exists().map_err(Error::file(folder))?;
        if there {
            check_replaceable(folder)?;
        }
        let parent = match folder.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        std::fs::create_dir_all(parent).map_err(Error::file(parent))?;
        let staging = tempfile::Builder::new()
            .prefix(".egg-model-")
            .tempdir_in(parent)
            .map_err(Error::file(parent))?;
        let new = staging.path().join("new");
        std::fs::create_dir(&new).map_err(Error::file(&new))?;
        let epoch = self.outcome.best_epoch.unwrap_or(0);
        let mut parameters = Checkpoint::new(epoch, self.model.parameters().snapshot()?);
        parameters.metadata.insert(SEAL.to_owned(), self.config.seal()?);
        parameters.save(new.join(PARAMETERS))?;
        json::write(&new.join(METRICS), &self.outcome)?;
        let path = new.join(CARD);
        let text = card(&self.config, &self.outcome);
        egg_files::write(&path, text.as_bytes()).map_err(Error::file(&path))?;
        json::write(&new.join(CONFIG), &self.config)?;
        // Into the staging folder, which goes when this function ends.
        let old = staging.path().join("old");
        if there {
            std::fs::rename(folder, &old).map_err(Error::file(folder))?;
        }
        std::fs::rename(&new, folder).map_err(|error| {
            // The old model must not go with the staging folder.
            if there && std::fs::rename(&old, folder).is_err() {
                let _ = staging.keep();
            }
            Error::file(folder)(error)
        })
    }

    /// Reads a folder that [`Self::save`] wrote, in this version or an earlier one. A model of an
    /// earlier one that would mean something else now is refused.
    ///
    /// # Errors
    /// [`Error::File`] if a file is missing, [`Error::Format`] if one is not
    /// what it should be or was changed by hand, [`egg_nn::Error::DamagedFile`] for the parameters,
    /// [`egg_nn::Error::Shape`] and its like if they are not those of the
    /// model that `config.json` describes.
    pub fn load(folder: impl AsRef<Path>) -> Result<Self> {
        #[derive(Deserialize)]
        struct Version {
            format: u64,
        }
        let folder = folder.as_ref();
        let path = folder.join(CONFIG);
        let Version { format } = json::read(&path)?;
        let refused = |reason: String| Error::Format {
            path: path.clone(),
            reason,
        };
        if !(EARLIEST..=FORMAT).contains(&format) {
            return Err(refused(format!(
                "it has format {format}, this program reads {EARLIEST} to {FORMAT}"
            )));
        }
        let mut config: SavedConfig = json::read(&path)?;
        if format < SEALED && config.uses_rank_rules() {
            return Err(refused(format!(
                "it has format {format}, in which EGG separated rank from noise by the number of nodes and would keep \
                 fewer directions than it does now: train the model again"
            )));
        }
        let outcome = json::read(&folder.join(METRICS))?;
        let parameters = Checkpoint::load(folder.join(PARAMETERS))?;
        // A model is made only if it is no larger than the file that is there.
        let there = parameters.model.values().map(|tensor| tensor.elem_count()).sum();
        let described = config.model.least_numbers(config.inputs, config.outputs);
        if described > there {
            return Err(refused(format!(
                "it describes a model of {described} numbers or more, but {PARAMETERS} has {there}"
            )));
        }
        let text = std::fs::read_to_string(&path).map_err(Error::file(&path))?;
        let seal = parameters.metadata.get(SEAL);
        if format >= SEALED && !seal.is_some_and(|seal| egg_results::has_checksum(&text, seal)) {
            return Err(refused(format!(
                "it is not what was saved with {PARAMETERS}: put the file back as it was, or train the model again"
            )));
        }
        if format >= SEALED {
            config.format = FORMAT;
        }
        // First values that the file's replace.
        let mut rng = ChaCha8Rng::seed_from_u64(0);
        let model = config
            .model
            .model(config.inputs, config.outputs, DType::F32, &mut rng)?;
        model.parameters().load(&parameters.model)?;
        Ok(Self {
            config,
            outcome,
            model,
        })
    }
}

/// Refuses to replace a folder with anything in it that [`TrainedModel::save`] did
/// not write.
fn check_replaceable(folder: &Path) -> Result<()> {
    let refuse = |what: String| {
        Err(Error::Format {
            path: folder.to_owned(),
            reason: format!("{what}, which saving would delete; name another place"),
        })
    };
    if !folder.is_dir() {
        return refuse("there is a file here".to_owned());
    }
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(Error::file(folder))? {
        names.push(entry.map_err(Error::file(folder))?.file_name());
    }
    let ours = [CONFIG, PARAMETERS, METRICS, CARD];
    match names.iter().find(|name| !ours.iter().any(|ours| *name == ours)) {
        Some(name) => refuse(format!("this folder has {}", Path::new(name).display())),
        // Others have a config.json too.
        None if !names.is_empty() && json::read::<SavedConfig>(&folder.join(CONFIG)).is_err() => {
            refuse("what is here is no model of this program".to_owned())
        }
        None => Ok(()),
    }
}
