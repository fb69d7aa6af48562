//! The training loop.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Instant;

use candle_core::Tensor;
use egg_graph::{Split, random_order};
use egg_nn::{
    Adam, Checkpoint, EarlyStopping, GeneratorState, Goal, Pass, Plateau, Verdict, backward,
    clip_gradient_norm,
};
use rand_chacha::ChaCha8Rng;

use super::batching::batches;
use super::checkpoint::{self, CheckpointConfig, Identity};
use super::config::{BatchLoss, RateSchedule, TrainConfig};
use super::evaluate::{Tally, evaluate, evaluate_at, targets};
use super::event::{Event, EventObserver};
use super::objective::number;
use super::outcome::{EpochReport, Outcome, RankCounter, Stopped};
use crate::data::{Batch, PreparedGraphs};
use crate::error::{Error, Result};
use crate::model::Model;

/// Trains models on one data set and split.
///
/// ```
/// use candle_core::DType;
/// use egg_graph::{Split, synthetic::CovarianceSet};
/// use egg_pool::data::{PropagationKind, PreparedGraphs};
/// use egg_pool::convolution::Gcn;
/// use egg_pool::model::ModelConfig;
/// use egg_pool::train::{Silent, TrainConfig, Trainer};
/// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
///
/// let mut rng = ChaCha8Rng::seed_from_u64(0);
/// let dataset = CovarianceSet { graphs: 60, ..Default::default() }.generate(&mut rng)?;
/// let split = Split::random(dataset.len(), &mut rng);
/// let graphs = PreparedGraphs::new(dataset, PropagationKind::Normalised, DType::F32)?;
/// let model = ModelConfig::new(Gcn, "egg".parse()?).model(10, 2, DType::F32, &mut rng)?;
///
/// let config = TrainConfig { max_epochs: 2, ..TrainConfig::paper() };
/// let outcome = Trainer::new(&config, &graphs, &split)?.run(&model, rng, &mut Silent)?;
/// assert_eq!(outcome.history.len(), 2);
/// assert!(outcome.test.is_some());
/// # Ok::<(), egg_pool::Error>(())
/// ```
#[derive(Debug)]
pub struct Trainer<'a> {
    config: &'a TrainConfig,
    graphs: &'a PreparedGraphs,
    split: &'a Split,
    validation: Vec<Batch>,
    checkpoint: Option<CheckpointConfig>,
}

/// All that changes from epoch to epoch, but for the parameters.
struct State {
    epoch: u64,
    adam: Adam,
    plateau: Option<Plateau>,
    stopping: EarlyStopping,
    rng: ChaCha8Rng,
    best: Option<BTreeMap<String, Tensor>>,
    history: Vec<EpochReport>,
    stopped: Option<Stopped>,
}

impl<'a> Trainer<'a> {
    /// A trainer for graphs that are prepared.
    ///
    /// # Errors
    /// [`Error::Setting`] for a setting out of its range or a split that has a
    /// graph twice, [`Error::EmptyPart`] if there is nothing to train on or
    /// validate with, [`Error::Targets`] if the loss does not fit the data,
    /// [`Error::UnknownTarget`] for a validation graph without a target.
    pub fn new(config: &'a TrainConfig, graphs: &'a PreparedGraphs, split: &'a Split) -> Result<Self> {
        config.check()?;
        config.objective.check(graphs.dataset())?;
        for (part, list) in [("training", &split.train), ("validation", &split.validation)] {
            if list.is_empty() {
                return Err(Error::EmptyPart { part });
            }
        }
        check_disjoint(split, graphs.dataset().len())?;
        Ok(Self {
            config,
            graphs,
            split,
            validation: gather(graphs, &split.validation, config.batch_size)?,
            checkpoint: None,
        })
    }

    /// Keeps the run in a file: every `every` epochs, when it ends, and when it
    /// is cancelled between epochs. If the file is there when a run begins, the
    /// run resumes from it, bit for bit.
    ///
    /// `description` says which model it is; a file of another is refused.
    pub fn checkpoint(
        mut self,
        path: impl Into<PathBuf>,
        every: u64,
        description: impl Into<String>,
    ) -> Self {
        self.checkpoint = Some(CheckpointConfig {
            path: path.into(),
            every: every.max(1),
            description: description.into(),
        });
        self
    }

    /// Trains, and leaves the model at its epoch of the lowest validation loss.
    /// Orders of graphs and dropout are drawn from `rng`.
    ///
    /// # Errors
    /// [`Error::FeatureWidth`] and [`Error::Setting`] if the model does not fit
    /// the data, [`Error::NonFiniteLoss`] and [`Error::InBatch`] with the epoch
    /// and batch, [`Error::OtherRun`] for a checkpoint that is of another run,
    /// [`egg_nn::Error::File`] if it can't be written.
    pub fn run(&self, model: &Model, rng: ChaCha8Rng, observer: &mut EventObserver<'_>) -> Result<Outcome> {
        self.check_model(model)?;
        let identity = self.identity(&rng);
        let mut state = self.begin(model, rng, &identity)?;
        let started = Event::Started {
            parameters: model.parameters().trainable_count(),
            graphs: (
                self.split.train.len(),
                self.split.validation.len(),
                self.split.test.len(),
            ),
            done: state.epoch,
        };
        let mut cancelled = observer.observe(started).is_break();
        while state.stopped.is_none() && !cancelled {
            let Some(report) = self.epoch(model, &mut state, observer)? else {
                break;
            };
            cancelled = observer.observe(Event::Epoch(&report)).is_break();
            let last = cancelled || state.stopped.is_some();
            if let Some(checkpoint) = &self.checkpoint
                && (last || state.epoch.is_multiple_of(checkpoint.every))
            {
                self.save(checkpoint, model, &state, &identity)?;
            }
        }
        let outcome = self.finish(model, state)?;
        // There is nothing left to end.
        let _ = observer.observe(Event::Finished(&outcome));
        Ok(outcome)
    }

    fn check_model(&self, model: &Model) -> Result<()> {
        let network = model.network();
        if network.inputs() != self.graphs.inputs() {
            return Err(Error::FeatureWidth {
                expected: network.inputs(),
                found: self.graphs.inputs(),
            });
        }
        if network.propagation() != self.graphs.propagation() {
            return Err(Error::setting(
                "the model's convolution",
                format!("{:?}", network.propagation()),
                format!("these graphs are prepared for {:?}", self.graphs.propagation()),
            ));
        }
        if Some(network.outputs()) != self.graphs.outputs() {
            let needed = self.graphs.outputs().unwrap_or(0);
            return Err(Error::setting(
                "the model's outputs",
                network.outputs(),
                format!("{} needs {needed}", self.graphs.dataset().name()),
            ));
        }
        Ok(())
    }

    fn identity(&self, rng: &ChaCha8Rng) -> Identity {
        let (fingerprint, description) = match &self.checkpoint {
            Some(checkpoint) => (
                self.graphs.fingerprint().to_owned(),
                checkpoint.description.clone(),
            ),
            // It is only compared with a checkpoint's.
            None => Default::default(),
        };
        Identity {
            description,
            training: self.config.clone(),
            fingerprint,
            split: self.split.digest(),
            generator: GeneratorState::from_rng(rng),
        }
    }

    /// A new run, or the one in the checkpoint.
    fn begin(&self, model: &Model, rng: ChaCha8Rng, identity: &Identity) -> Result<State> {
        let mut state = State {
            epoch: 0,
            adam: Adam::new(model.parameters(), self.config.adam())?,
            plateau: match self.config.schedule {
                RateSchedule::Constant => None,
                RateSchedule::Plateau(config) => Some(Plateau::new(config)?),
            },
            stopping: EarlyStopping::new(Goal::Min, self.config.patience),
            rng,
            best: None,
            history: Vec::new(),
            stopped: None,
        };
        let kept = match &self.checkpoint {
            Some(checkpoint) => checkpoint::load(checkpoint, identity)?,
            None => None,
        };
        if let Some((kept, notes)) = kept {
            model.parameters().load(&kept.model)?;
            if let Some(adam) = &kept.adam {
                state.adam.load_state(adam)?;
            }
            if let Some(generator) = &kept.generator {
                state.rng = generator.generator();
            }
            state.stopping = kept.early_stopping.unwrap_or(state.stopping);
            (state.epoch, state.plateau, state.best) = (kept.epoch, kept.plateau, kept.best);
            state.history = notes.history;
            let asked = self.config.max_epochs;
            if let (true, Some(checkpoint)) = (state.epoch > asked, &self.checkpoint) {
                return Err(Error::OtherRun {
                    path: checkpoint.path.clone(),
                    difference: format!(
                        "it has trained for {} epochs, more than the {asked} that are asked for now",
                        state.epoch
                    ),
                });
            }
            // A run that had all its epochs may have been given more.
            state.stopped = notes.stopped.filter(|stopped| *stopped == Stopped::Patience);
            if state.stopped.is_none() && state.epoch >= self.config.max_epochs {
                state.stopped = Some(Stopped::MaxEpochs);
            }
        }
        Ok(state)
    }

    fn save(
        &self,
        target: &CheckpointConfig,
        model: &Model,
        state: &State,
        identity: &Identity,
    ) -> Result<()> {
        let mut kept = Checkpoint::new(state.epoch, model.parameters().snapshot()?);
        kept.best.clone_from(&state.best);
        kept.adam = Some(state.adam.state()?);
        kept.plateau.clone_from(&state.plateau);
        kept.early_stopping = Some(state.stopping.clone());
        kept.generator = Some(GeneratorState::from_rng(&state.rng));
        checkpoint::save(target, kept, identity, &state.history, state.stopped)
    }

    /// One epoch and its validation; `None` if it was cancelled in between.
    fn epoch(
        &self,
        model: &Model,
        state: &mut State,
        observer: &mut EventObserver<'_>,
    ) -> Result<Option<EpochReport>> {
        let start = Instant::now();
        let epoch = state.epoch + 1;
        let train = &self.split.train;
        let order = random_order(train.len(), &mut state.rng);
        let order: Vec<usize> = order.into_iter().map(|at| train[at]).collect();
        let parts = batches(&order, self.config.batch_size);
        let (mut tally, mut ranks) = (Tally::default(), RankCounter::default());
        let learning_rate = state.adam.learning_rate();
        let mut number = 0;
        let trained = self.graphs.each_batch(parts.iter().copied(), |batch| {
            number += 1;
            if let Err(error) =
                batch.and_then(|batch| self.step(model, &batch, state, &mut tally, &mut ranks))
            {
                return ControlFlow::Break(Some(error.in_batch("training", epoch, number)));
            }
            let event = Event::Batch {
                epoch,
                batch: number,
                batches: parts.len(),
            };
            observer.observe(event).map_break(|()| None)
        });
        match trained {
            ControlFlow::Continue(()) => {}
            ControlFlow::Break(None) => return Ok(None),
            ControlFlow::Break(Some(error)) => return Err(error),
        }
        let train_seconds = start.elapsed().as_secs_f64();
        let objective = self.config.objective;
        let validation = evaluate_at(model.network(), &self.validation, objective, "validation", epoch)?;
        let verdict = state.stopping.observe(validation.loss);
        if verdict == Verdict::Better {
            state.best = Some(model.parameters().snapshot()?);
        }
        if let Some(plateau) = &mut state.plateau {
            let rate = plateau.next_rate(validation.loss, learning_rate);
            state.adam.set_learning_rate(rate)?;
        }
        state.epoch = epoch;
        state.stopped = if verdict == Verdict::Stop {
            Some(Stopped::Patience)
        } else {
            (epoch >= self.config.max_epochs).then_some(Stopped::MaxEpochs)
        };
        let metric = self.config.metric;
        let report = EpochReport {
            epoch,
            learning_rate,
            train_loss: tally.loss(),
            train_score: tally.scores()?.get(metric),
            validation_loss: validation.loss,
            validation_score: validation.scores.get(metric),
            best: verdict == Verdict::Better,
            ranks: ranks.summaries(),
            train_seconds,
            seconds: start.elapsed().as_secs_f64(),
        };
        state.history.push(report.clone());
        Ok(Some(report))
    }

    fn step(
        &self,
        model: &Model,
        batch: &Batch,
        state: &mut State,
        tally: &mut Tally,
        ranks: &mut RankCounter,
    ) -> Result<()> {
        let (config, objective) = (self.config, self.config.objective);
        let output = model
            .network()
            .forward(batch, &mut Pass::Training(&mut state.rng))?;
        let targets = targets(batch)?;
        let loss = objective.loss(&output.scores, targets, config.batch_loss.into())?;
        let value = number(&loss)?;
        if !value.is_finite() {
            return Err(Error::loss(value));
        }
        let mut gradients = backward(&loss)?;
        if let Some(norm) = config.clip_norm {
            clip_gradient_norm(model.parameters(), &mut gradients, norm)?;
        }
        state.adam.step(&gradients)?;
        let terms = objective.terms(targets);
        let sum = match config.batch_loss {
            BatchLoss::Sum => value,
            BatchLoss::Mean => value * terms as f64,
        };
        tally.add(sum, terms, &output.scores, targets)?;
        ranks.add(&output.ranks);
        Ok(())
    }

    /// The best epoch's parameters, and what they are worth.
    fn finish(&self, model: &Model, state: State) -> Result<Outcome> {
        let stopped = state.stopped.unwrap_or(Stopped::Cancelled);
        let mut outcome = Outcome {
            stopped,
            best_epoch: state.stopping.best_epoch().map(|epoch| epoch + 1),
            validation: None,
            test: None,
            history: state.history,
        };
        let Some(best) = state.best else {
            return Ok(outcome);
        };
        model.parameters().load(&best)?;
        let objective = self.config.objective;
        outcome.validation = Some(evaluate(model.network(), &self.validation, objective)?.into());
        if !self.split.test.is_empty() && stopped != Stopped::Cancelled {
            let test = gather(self.graphs, &self.split.test, self.config.batch_size)?;
            outcome.test = Some(evaluate(model.network(), &test, objective)?.into());
        }
        Ok(outcome)
    }
}

/// Batches of a part, in order.
fn gather(graphs: &PreparedGraphs, part: &[usize], size: usize) -> Result<Vec<Batch>> {
    egg_graph::batches(part, size)
        .map(|part| graphs.batch(part))
        .collect()
}

/// A graph that is trained on and tested with makes the test worth nothing.
fn check_disjoint(split: &Split, graphs: usize) -> Result<()> {
    let mut seen = vec![false; graphs];
    for &index in split.train.iter().chain(&split.validation).chain(&split.test) {
        match seen.get_mut(index) {
            None => return Err(egg_graph::Error::NoSuchGraph { index, graphs }.into()),
            Some(seen) if *seen => {
                return Err(Error::setting("split", index, "no graph may be in a split twice"));
            }
            Some(seen) => *seen = true,
        }
    }
    Ok(())
}
