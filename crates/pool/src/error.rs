//! What can go wrong, and what to do about it.

use std::path::{Path, PathBuf};

use thiserror::Error;

/// The result of everything in this crate that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// Why something was refused.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// The rows given to a pooling don't belong to the graphs, or have another
    /// width than it was built for.
    #[error(
        "the input of {pooling} pooling has shape {found:?}, expected ({rows}, {columns}): a row for each \
         node of the batch, a column for each feature the pooling was built for"
    )]
    PoolingInput {
        /// The pooling's name.
        pooling: &'static str,
        /// The shape found.
        found: Vec<usize>,
        /// Nodes of the batch.
        rows: usize,
        /// Features the pooling was built for.
        columns: usize,
    },
    /// A number of a pooling is outside its range.
    #[error("{name} = {value} is not allowed in {pooling} pooling: {requirement}")]
    PoolingParameter {
        /// The pooling's name.
        pooling: &'static str,
        /// The parameter.
        name: &'static str,
        /// Its value.
        value: f64,
        /// What it must satisfy.
        requirement: &'static str,
    },
    /// The settings of a pooling or convolution can't be used.
    #[error("{kind}: {reason}")]
    Component {
        /// Its name.
        kind: String,
        /// What is wrong.
        reason: String,
    },
    /// Offsets and neighbours don't make undirected graphs side by side.
    #[error("not the structure of a batch: {problem}")]
    Structure {
        /// What is wrong, and where.
        problem: String,
    },
    /// A setting is outside its range.
    #[error("{name} = {value} is not allowed: {requirement}")]
    Setting {
        /// Which setting.
        name: &'static str,
        /// Its value.
        value: String,
        /// What it must satisfy.
        requirement: String,
    },
    /// There is nothing of that name.
    #[error("there is no {what} called {name:?}; there are {known}")]
    UnknownName {
        /// Of what kind.
        what: &'static str,
        /// The name asked for.
        name: String,
        /// The names there are.
        known: String,
    },
    /// Graphs have another number of node features than a model was made for.
    #[error(
        "the model was made for {expected} node features, but these graphs have {found}; prepare them as the \
         data it was trained on"
    )]
    FeatureWidth {
        /// What the model takes.
        expected: usize,
        /// What the graphs have.
        found: usize,
    },
    /// Graphs without node features.
    #[error("the nodes of {dataset} have no features; make some, for instance of their degrees")]
    NoFeatures {
        /// The data set.
        dataset: String,
    },
    /// The targets of a data set are not what a loss or metric needs.
    #[error("{needed_by} needs {needed}, but {dataset} has {found}")]
    Targets {
        /// What asks.
        needed_by: String,
        /// What it needs.
        needed: &'static str,
        /// The data set.
        dataset: String,
        /// What is there.
        found: String,
    },
    /// A graph that is to be learnt from, or tested on, has no known target.
    #[error("the target of graph {graph} is not known; leave it out of the split")]
    UnknownTarget {
        /// Which one.
        graph: usize,
    },
    /// A part of a split that training needs is empty.
    #[error("the {part} part of the split is empty; there are too few graphs for this split")]
    EmptyPart {
        /// Which part.
        part: &'static str,
    },
    /// The loss of a batch is infinite or not a number.
    #[error(
        "the {part} loss is {loss} in epoch {epoch}, batch {batch}; lower the learning rate, or clip the \
         gradient"
    )]
    NonFiniteLoss {
        /// `training`, `validation` or `evaluation`.
        part: &'static str,
        /// Counted from 1.
        epoch: u64,
        /// Counted from 1.
        batch: usize,
        /// The loss.
        loss: f64,
    },
    /// A batch could not be trained on or evaluated.
    #[error("{part}, epoch {epoch}, batch {batch}: {source}")]
    InBatch {
        /// `training`, `validation` or `evaluation`.
        part: &'static str,
        /// Counted from 1.
        epoch: u64,
        /// Counted from 1.
        batch: usize,
        /// Why.
        source: Box<Error>,
    },
    /// One of several repetitions failed.
    #[error("repetition {repetition}: {source}")]
    InRepetition {
        /// Counted from 1.
        repetition: usize,
        /// Why.
        source: Box<Error>,
    },
    /// A grid search with nothing to choose from.
    #[error(
        "training diverged in all {cells} cells of the grid (the first: {first}); try lower learning rates, or \
         clip the gradient"
    )]
    AllCellsFailed {
        /// How many there are.
        cells: usize,
        /// What was said of the first.
        first: String,
    },
    /// An observer asked to stop.
    #[error("cancelled; what was finished is kept, and the same call resumes from there")]
    Cancelled,
    /// A checkpoint or a record is of another run than this one.
    #[error("{} is of another run: {difference}; name another place, or remove it", path.display())]
    OtherRun {
        /// The file.
        path: PathBuf,
        /// What differs.
        difference: String,
    },
    /// A model of an earlier version does not know what its feature columns were.
    #[error(
        "{dataset}: the model was saved by an earlier version, which did not keep what its feature columns mean: it can \
         predict the data that it was trained on; for others, train it again"
    )]
    UnknownColumns {
        /// What was to be predicted.
        dataset: String,
    },
    /// A file can't be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file is not what it should be.
    #[error("{} can't be used: {reason}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// Two lists that belong together differ in length.
    #[error("{what}: {found} instead of {expected}")]
    Length {
        /// What is counted.
        what: &'static str,
        /// How many there should be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// A metric of nothing.
    #[error("{metric} of no items is not defined")]
    NoItems {
        /// The metric.
        metric: &'static str,
    },
    /// A metric that compares two classes, where only one is present.
    #[error(
        "{metric} needs items of both classes, but all {items} are {present}; use a larger or stratified part"
    )]
    OneClass {
        /// The metric.
        metric: &'static str,
        /// How many items.
        items: usize,
        /// `positive` or `negative`.
        present: &'static str,
    },
    /// A score, prediction or target that is infinite or not a number.
    #[error("{what} {index} is {value}; metrics need finite numbers")]
    NonFinite {
        /// What.
        what: &'static str,
        /// Which one.
        index: usize,
        /// Its value.
        value: f64,
    },
    /// Something of the graphs.
    #[error(transparent)]
    Graph(#[from] egg_graph::Error),
    /// Something of a layer, a loss or an optimiser.
    #[error(transparent)]
    Layer(#[from] egg_nn::Error),
    /// Something of the Grassmann embedding.
    #[error(transparent)]
    Embedding(#[from] egg_autodiff::Error),
    /// Something of a tensor.
    #[error(transparent)]
    Candle(#[from] candle_core::Error),
}

/// A bad rank rule or filter.
impl From<egg_geometry::Error> for Error {
    fn from(error: egg_geometry::Error) -> Self {
        Self::Embedding(error.into())
    }
}

impl Error {
    /// For `map_err` on anything that touches a path.
    pub(crate) fn file(path: &Path) -> impl FnOnce(std::io::Error) -> Self + '_ {
        |source| Self::File {
            path: path.to_owned(),
            source,
        }
    }

    /// Says where an error of a batch (counted from 1) happened.
    pub(crate) fn in_batch(self, part: &'static str, epoch: u64, batch: usize) -> Self {
        match self {
            Self::NonFiniteLoss { loss, .. } => Self::NonFiniteLoss {
                part,
                epoch,
                batch,
                loss,
            },
            other => Self::InBatch {
                part,
                epoch,
                batch,
                source: Box::new(other),
            },
        }
    }

    /// Whether training ran away: its numbers became infinite or no numbers, as
    /// they do with too high a learning rate. Nothing is wrong with the data or
    /// the program then, only with the settings.
    pub fn is_divergence(&self) -> bool {
        match self {
            Self::NonFiniteLoss { .. } | Self::NonFinite { .. } => true,
            Self::InBatch { source, .. } | Self::InRepetition { source, .. } => source.is_divergence(),
            // Shapes are checked before: a graph that EGG refuses has numbers that
            // are not finite.
            Self::Embedding(egg_autodiff::Error::InGraph { .. }) => true,
            _ => false,
        }
    }

    /// A loss that is no number, not yet said where.
    pub(crate) fn loss(loss: f64) -> Self {
        Self::NonFiniteLoss {
            part: "",
            epoch: 0,
            batch: 0,
            loss,
        }
    }

    /// A setting outside its range.
    pub(crate) fn setting(
        name: &'static str,
        value: impl std::fmt::Display,
        requirement: impl Into<String>,
    ) -> Self {
        Self::Setting {
            name,
            value: value.to_string(),
            requirement: requirement.into(),
        }
    }
}
