//! Training an autoencoder, and resuming it from a checkpoint.

use std::path::Path;

use candle_core::{Device, Tensor};
use egg_graph::conv::NodeInput;
use egg_nn::{
    Adam, Checkpoint, EarlyStopping, GeneratorState, Goal, Observer, Parameters, Pass, Verdict, backward,
};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::config::{AutoencoderConfig, CheckpointConfig, Likelihood};
use super::decoder::rank_links;
use super::encoder::GraphEncoder;
use super::event::Epoch;
use super::exact::exact_likelihood;
use super::sampled::sampled_likelihood;
use super::task::LinkTask;
use crate::error::{Error, Result, require};
use crate::metrics::Ranking;

/// A trained autoencoder.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Autoencoder {
    /// The encoder, with its trained parameters.
    pub encoder: GraphEncoder,
    /// Those parameters, by name.
    pub parameters: Parameters,
    /// `H` (n x d): the means.
    pub embedding: Tensor,
    /// Every epoch, in order.
    pub history: Vec<Epoch>,
    /// The epoch that the parameters are of, counted from 1; the last one unless
    /// stopped early.
    pub epoch: u64,
    /// Of held-out edges, at the end.
    pub validation: Option<Ranking>,
    /// Of held-out edges, at the end; nothing was chosen by it.
    pub test: Option<Ranking>,
}

impl Autoencoder {
    /// Trains an autoencoder on a graph. `observer` receives every epoch and may cancel.
    ///
    /// The same seed gives the same bits on any number of threads. With a `checkpoint` the
    /// training is saved to its file; if the file exists, training resumes from it bit for bit.
    ///
    /// # Errors
    /// [`Error::Setting`] for a setting out of its range, [`Error::Graph`] if nodes
    /// have no features, [`Error::Diverged`], [`Error::Cancelled`] if the observer cancels,
    /// [`Error::OtherRun`] if the checkpoint is of other data, settings or seed, and
    /// [`Error::Layer`] if it can't be read or written.
    ///
    /// ```
    /// use egg_cluster::Silent;
    /// use egg_cluster::vgae::{Autoencoder, AutoencoderConfig, LinkTask};
    /// use egg_graph::{Features, synthetic::karate_club};
    ///
    /// let club = karate_club()?;
    /// let club = club.with_features(Features::one_hot((0..34).collect(), 34)?)?;
    /// let config = AutoencoderConfig { epochs: 20, ..AutoencoderConfig::default() };
    /// let trained = Autoencoder::train(&LinkTask::all_edges(&club)?, &config, 1, None, &mut Silent)?;
    /// assert_eq!(trained.embedding.dims(), [34, 16]);
    /// assert!(trained.history[19].loss < trained.history[0].loss);
    /// # Ok::<(), egg_cluster::Error>(())
    /// ```
    pub fn train(
        task: &LinkTask,
        config: &AutoencoderConfig,
        seed: u64,
        checkpoint: Option<&CheckpointConfig>,
        observer: &mut dyn Observer<Epoch>,
    ) -> Result<Self> {
        config.check()?;
        let mut run = Run::begin(task, config, seed)?;
        let identity = checkpoint.map(|_| run.identity(seed)).transpose()?;
        let checkpoint = checkpoint.zip(identity.as_ref());
        if let Some((checkpoint, identity)) = checkpoint
            && checkpoint.path.exists()
        {
            run.resume(&checkpoint.path, identity)?;
        }
        while run.done < config.epochs && !run.stopped {
            let epoch = run.step()?;
            if let Some((checkpoint, identity)) = checkpoint
                && run.done.is_multiple_of(checkpoint.every.max(1))
            {
                run.save(&checkpoint.path, identity)?;
            }
            if observer.observe(epoch).is_break() {
                if let Some((checkpoint, identity)) = checkpoint {
                    run.save(&checkpoint.path, identity)?;
                }
                return Err(Error::Cancelled { epochs: run.done });
            }
        }
        if let Some((checkpoint, identity)) = checkpoint {
            run.save(&checkpoint.path, identity)?;
        }
        run.finish()
    }
}

/// The state of a training between two epochs.
struct Run<'a> {
    task: &'a LinkTask,
    config: &'a AutoencoderConfig,
    input: NodeInput,
    rng: ChaCha8Rng,
    parameters: Parameters,
    encoder: GraphEncoder,
    adam: Adam,
    stopping: Option<EarlyStopping>,
    best: Option<(u64, std::collections::BTreeMap<String, Tensor>)>,
    history: Vec<Epoch>,
    done: u64,
    stopped: bool,
}

/// What must be equal for a checkpoint to belong to this training.
#[derive(serde::Serialize, serde::Deserialize, PartialEq)]
struct Identity {
    settings: String,
    seed: u64,
    data: String,
}

/// What a checkpoint stores in addition to the fields of [`Checkpoint`].
#[derive(serde::Serialize, serde::Deserialize)]
struct Notes {
    identity: Identity,
    history: Vec<Epoch>,
    best_epoch: Option<u64>,
    stopped: bool,
}

/// The key of [`Notes`] in a checkpoint's metadata.
const KEY: &str = "autoencoder";

impl<'a> Run<'a> {
    fn begin(task: &'a LinkTask, config: &'a AutoencoderConfig, seed: u64) -> Result<Self> {
        if let Some(stop) = config.stop_early {
            require(
                task.validation().is_some(),
                "stop_early.patience",
                stop.patience,
                "early stopping needs held-out edges: split some off",
            )?;
        }
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let dtype = config.precision.dtype();
        let input = task.input(dtype)?;
        let mut parameters = Parameters::new(dtype, &Device::Cpu)?;
        let encoder = GraphEncoder::new(&mut parameters.root(&mut rng), input.width(), &config.encoder)?;
        let adam = Adam::new(&parameters, config.adam())?;
        Ok(Self {
            task,
            config,
            input,
            rng,
            parameters,
            encoder,
            adam,
            stopping: config
                .stop_early
                .map(|stop| EarlyStopping::new(Goal::Max, stop.patience)),
            best: None,
            history: Vec::new(),
            done: 0,
            stopped: false,
        })
    }

    /// One epoch: one step on the whole graph.
    fn step(&mut self) -> Result<Epoch> {
        let loss = self.loss()?;
        let value = loss.to_dtype(candle_core::DType::F64)?.to_scalar::<f64>()?;
        if !value.is_finite() {
            return Err(Error::Diverged {
                epoch: self.done + 1,
                loss: value,
            });
        }
        self.adam.step(&backward(&loss)?)?;
        self.done += 1;
        let validation = self.validate()?;
        let epoch = Epoch {
            epoch: self.done,
            loss: value,
            validation,
        };
        self.history.push(epoch);
        Ok(epoch)
    }

    fn loss(&mut self) -> Result<Tensor> {
        let pass = &mut Pass::Training(&mut self.rng);
        let posterior = self.encoder.encode(&self.input, self.task.propagation(), pass)?;
        let z = posterior.sample(pass)?;
        let target = self.task.target();
        let likelihood = match self.config.likelihood {
            Likelihood::Exact => exact_likelihood(&z, target)?,
            Likelihood::NegativeSampling => sampled_likelihood(&z, target, &mut self.rng)?,
        };
        Ok(match posterior.divergence()? {
            Some(divergence) => {
                let weight = self.config.beta / target.node_count() as f64;
                (likelihood + (divergence * weight)?)?
            }
            None => likelihood,
        })
    }

    fn validate(&mut self) -> Result<Option<Ranking>> {
        let every = self.config.validate_every;
        let Some(part) = self.task.validation() else {
            return Ok(None);
        };
        if every == 0 || !self.done.is_multiple_of(every) {
            return Ok(None);
        }
        let scores = rank_links(&self.embed()?, part)?;
        if let Some(stopping) = &mut self.stopping {
            match stopping.observe(scores.roc_auc) {
                Verdict::Better => self.best = Some((self.done, self.parameters.snapshot()?)),
                Verdict::Wait => {}
                Verdict::Stop => self.stopped = true,
            }
        }
        Ok(Some(scores))
    }

    fn embed(&self) -> Result<Tensor> {
        self.encoder.embed(&self.input, self.task.propagation())
    }

    fn finish(self) -> Result<Autoencoder> {
        let mut epoch = self.done;
        if let Some((best_epoch, best)) = &self.best {
            self.parameters.load(best)?;
            epoch = *best_epoch;
        }
        let embedding = self.embed()?;
        let scores =
            |part: Option<&egg_graph::LinkPart>| part.map(|part| rank_links(&embedding, part)).transpose();
        Ok(Autoencoder {
            validation: scores(self.task.validation())?,
            test: scores(self.task.test())?,
            encoder: self.encoder,
            parameters: self.parameters,
            embedding,
            history: self.history,
            epoch,
        })
    }

    fn identity(&self, seed: u64) -> Result<Identity> {
        Ok(Identity {
            settings: serde_json::to_string(self.config).map_err(as_candle)?,
            seed,
            data: self.task.fingerprint(),
        })
    }

    fn save(&self, path: &Path, identity: &Identity) -> Result<()> {
        let mut checkpoint = Checkpoint::new(self.done, self.parameters.snapshot()?);
        checkpoint.best = self.best.as_ref().map(|(_, best)| best.clone());
        checkpoint.adam = Some(self.adam.state()?);
        checkpoint.early_stopping = self.stopping.clone();
        checkpoint.generator = Some(GeneratorState::from_rng(&self.rng));
        let notes = serde_json::json!({
            "identity": identity,
            "history": self.history,
            "best_epoch": self.best.as_ref().map(|(epoch, _)| epoch),
            "stopped": self.stopped,
        });
        checkpoint.metadata.insert(KEY.to_owned(), notes.to_string());
        Ok(checkpoint.save(path)?)
    }

    fn resume(&mut self, path: &Path, identity: &Identity) -> Result<()> {
        let other = |what: &'static str| Error::OtherRun {
            path: path.to_owned(),
            what,
        };
        let checkpoint = Checkpoint::load(path)?;
        let notes = checkpoint
            .metadata
            .get(KEY)
            .ok_or_else(|| other("what was trained"))?;
        let notes: Notes = serde_json::from_str(notes).map_err(|_| other("its notes' form"))?;
        if notes.identity.settings != identity.settings {
            return Err(other("a setting"));
        }
        if notes.identity.seed != identity.seed {
            return Err(other("the seed"));
        }
        if notes.identity.data != identity.data {
            return Err(other("the graph, its features or the held-out edges"));
        }
        let (Some(adam), Some(generator)) = (&checkpoint.adam, &checkpoint.generator) else {
            return Err(other("what was trained"));
        };
        if notes.history.len() as u64 != checkpoint.epoch {
            return Err(other("the number of epochs in its notes"));
        }
        self.parameters.load(&checkpoint.model)?;
        self.adam.load_state(adam)?;
        self.rng = generator.generator();
        self.stopping = checkpoint.early_stopping;
        self.best = notes.best_epoch.zip(checkpoint.best);
        self.history = notes.history;
        self.done = checkpoint.epoch;
        self.stopped = notes.stopped;
        Ok(())
    }
}

fn as_candle(source: serde_json::Error) -> Error {
    Error::Candle(candle_core::Error::Msg(format!(
        "settings can't be written: {source}"
    )))
}
