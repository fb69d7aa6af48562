//! A model, trained several times.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use candle_core::DType;
use egg_graph::{GraphDataset, Split};
use serde::{Deserialize, Serialize};

use super::jobs::Parallelism;
use super::kind::{Protocol, Stream, generator};
use super::report::Report;
use crate::data::PreparedGraphs;
use crate::error::{Error, Result};
use crate::metrics::Metric;
use crate::model::{Architecture, Model, ModelConfig};
use crate::pooling::{PoolingConfig, RANK_RULES};
use crate::train::{Event, Objective, Observer, Outcome, Stopped, TrainConfig, Trainer};

/// All that a result depends on, but for the data.
///
/// ```
/// use egg_graph::synthetic::CovarianceSet;
/// use egg_pool::model::Architecture;
/// use egg_pool::protocol::{Experiment, Protocol};
///
/// let dataset = CovarianceSet::standard()?;
/// let experiment = Experiment::new(&dataset, Protocol::Paper, Architecture::Gcn, "egg".parse()?)?;
/// let text = serde_json::to_string(&experiment)?;
/// assert_eq!(serde_json::from_str::<Experiment>(&text)?, experiment);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// How splits are made.
    pub protocol: Protocol,
    /// How often a model is trained.
    pub repetitions: usize,
    /// Of all randomness.
    pub seed: u64,
    /// How to train.
    pub training: TrainConfig,
    /// What to train.
    pub model: ModelConfig,
}

/// Where and how an experiment is run: nothing here changes its result.
#[derive(Debug, Clone, Default)]
pub struct RunOptions {
    /// What the cores share.
    pub parallelism: Parallelism,
    /// A folder, which must exist, for a checkpoint of each repetition; a run
    /// that was killed goes on from there.
    pub checkpoints: Option<PathBuf>,
    /// Epochs between checkpoints; 0 counts as 1.
    pub every: u64,
}

/// Follows several runs at once; to break ends all of them.
pub type Follow<'a> = dyn Fn(usize, Event<'_>) -> ControlFlow<()> + Sync + 'a;

impl Experiment {
    /// The paper's model for this data set, by its name, in ten repetitions.
    ///
    /// In [`Protocol::Paper`], EGG without settings of its own gets those that
    /// trials on validation parts chose for PROTEINS and Mutagenicity (rate,
    /// decay, width, dropout and rank rule). Change the fields for others.
    ///
    /// ```
    /// use egg_graph::synthetic::CovarianceSet;
    /// use egg_pool::model::Architecture;
    /// use egg_pool::protocol::{Experiment, Protocol};
    ///
    /// let dataset = CovarianceSet::standard()?.with_name("PROTEINS");
    /// let of = |protocol| Experiment::new(&dataset, protocol, Architecture::Gcn, "egg".parse()?);
    /// use egg_autodiff::RankRule;
    /// use egg_pool::PoolingConfig;
    /// let rank = |experiment: Experiment| match experiment.model.pooling {
    ///     PoolingConfig::Egg { rank, .. } => Some(rank),
    ///     _ => None,
    /// };
    /// assert_eq!(rank(of(Protocol::Paper)?), Some(RankRule::Threshold(0.01)));
    /// assert_eq!(rank(of(Protocol::Fair)?), Some(RankRule::Threshold(0.5)));
    /// # Ok::<(), egg_pool::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Targets`] if there is nothing to predict.
    pub fn new(
        dataset: &GraphDataset,
        protocol: Protocol,
        architecture: Architecture,
        pooling: PoolingConfig,
    ) -> Result<Self> {
        let objective = Objective::of(dataset)?;
        let mut model = ModelConfig::paper(dataset.name(), architecture, pooling);
        model.head.output_norm = protocol == Protocol::Paper && objective.of_classes();
        let molecules = dataset.name().to_ascii_lowercase().contains("molhiv");
        let training = TrainConfig {
            objective,
            metric: match molecules {
                true => Metric::RocAuc,
                false => objective.metric(),
            },
            ..protocol.training()
        };
        let mut experiment = Self {
            protocol,
            repetitions: 10,
            seed: 0,
            training,
            model,
        };
        experiment.take_preset(dataset.name());
        Ok(experiment)
    }

    /// The data set with the features and matrices that the model needs.
    ///
    /// # Errors
    /// As [`InputFeatures::apply`](crate::data::InputFeatures::apply) and
    /// [`PreparedGraphs::new`].
    pub fn prepare(&self, dataset: GraphDataset) -> Result<PreparedGraphs> {
        let dataset = self.model.features.apply(dataset)?;
        PreparedGraphs::new(dataset, self.model.architecture.convolved(), DType::F32)
    }

    /// The split of each repetition.
    ///
    /// # Errors
    /// As [`Protocol::splits`].
    pub fn splits(&self, dataset: &GraphDataset) -> Result<Vec<Split>> {
        let architecture = self.model.architecture;
        self.protocol
            .splits(dataset, architecture, self.repetitions, self.seed)
    }

    /// Refuses a model that can't learn what the loss asks for.
    fn check(&self) -> Result<()> {
        if self.model.head.output_norm && !self.training.objective.of_classes() {
            return Err(Error::setting(
                "head.output_norm",
                true,
                "false where numbers are predicted: batch norm would fix their mean and scale",
            ));
        }
        Ok(())
    }

    /// Trains the model of one repetition (counted from 0) on its split.
    ///
    /// # Errors
    /// As [`Trainer::run`]; [`Error::Setting`] for a batch norm on predicted
    /// numbers.
    pub fn repetition(
        &self,
        graphs: &PreparedGraphs,
        split: &Split,
        index: usize,
        options: &RunOptions,
        observer: &mut dyn Observer,
    ) -> Result<(Model, Outcome)> {
        self.check()?;
        let outputs = graphs.outputs().unwrap_or(0);
        let mut rng = generator(self.seed, Stream::Training, index);
        let model = self
            .model
            .model(graphs.inputs(), outputs, graphs.dtype(), &mut rng)?;
        let mut trainer = Trainer::new(&self.training, graphs, split)?;
        if let Some(folder) = &options.checkpoints {
            let path = folder.join(format!("repetition-{}.safetensors", index + 1));
            // What a rank rule keeps is part of what a model is.
            let rules = match self.model.pooling {
                PoolingConfig::Egg { .. } => format!(", rank rules {RANK_RULES}"),
                _ => String::new(),
            };
            trainer = trainer.checkpoint(path, options.every, format!("{:?}{rules}", self.model));
        }
        let outcome = trainer.run(&model, rng, observer)?;
        Ok((model, outcome))
    }

    /// Trains all repetitions. `follow` gets every event with the number of its
    /// repetition, from 0, possibly on several threads at once.
    ///
    /// # Errors
    /// [`Error::InRepetition`] with what went wrong; [`Error::Cancelled`] if
    /// `follow` broke: then finished repetitions are kept only in checkpoints.
    pub fn run(&self, graphs: &PreparedGraphs, options: &RunOptions, follow: &Follow<'_>) -> Result<Report> {
        let splits = self.splits(graphs.dataset())?;
        let cancelled = AtomicBool::new(false);
        let outcomes = options.parallelism.run(self.repetitions, |index| {
            let follow = |event: Event<'_>| follow(index, event);
            self.uncancelled(graphs, &splits[index], index, options, &follow, &cancelled)
        })?;
        let (name, fingerprint) = (graphs.dataset().name(), graphs.fingerprint());
        Ok(Report::new(self, name, fingerprint, outcomes))
    }

    /// A repetition that ends, with an error, after the epoch in which any is
    /// cancelled.
    pub(super) fn uncancelled(
        &self,
        graphs: &PreparedGraphs,
        split: &Split,
        index: usize,
        options: &RunOptions,
        follow: &(dyn Fn(Event<'_>) -> ControlFlow<()> + '_),
        cancelled: &AtomicBool,
    ) -> Result<Outcome> {
        let mut observer = |event: Event<'_>| {
            // An epoch that another repetition's end would cut is finished, and kept.
            let in_epoch = matches!(event, Event::Batch { .. });
            let broke = follow(event).is_break();
            if broke {
                cancelled.store(true, Ordering::Relaxed);
            }
            match broke || (!in_epoch && cancelled.load(Ordering::Relaxed)) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        };
        let outcome = self.repetition(graphs, split, index, options, &mut observer);
        match outcome {
            Ok((_, outcome)) if outcome.stopped == Stopped::Cancelled => Err(Error::Cancelled),
            Ok((_, outcome)) => Ok(outcome),
            Err(source) => Err(Error::InRepetition {
                repetition: index + 1,
                source: Box::new(source),
            }),
        }
    }
}
