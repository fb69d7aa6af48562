//! What can be wrong with a file, a graph or a request, and what to do about it.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// The result of everything in this crate that reads or checks input.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a graph or a data set was refused.
///
/// Every variant names the file and line, or the argument and value, at fault.
///
/// ```
/// use egg_graph::{Error, Graph};
///
/// let refused = Graph::from_edges(2, &[(0, 7)]);
/// assert!(matches!(refused, Err(Error::NodeOutOfRange { node: 7, nodes: 2, .. })));
/// ```
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused.
    #[error("{}: {source}", path.display())]
    Io {
        /// What was being read or written.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A line of a text file makes no sense.
    #[error("{}, line {line}: {problem}", file.display())]
    Line {
        /// The file; within an archive, the archive's path and the member's.
        file: PathBuf,
        /// One-based.
        line: u64,
        /// What is wrong there.
        problem: LineProblem,
    },
    /// A file as a whole makes no sense, or contradicts another.
    #[error("{}: {problem}", file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// A file that the layout needs is not there.
    #[error("{} is missing: {why}", file.display())]
    Missing {
        /// Where it was looked for.
        file: PathBuf,
        /// What it is needed for.
        why: &'static str,
    },
    /// A file is larger than it may be.
    #[error("{}: {what} is over the limit of {limit}; if the file can be trusted, read it with a higher one", file.display())]
    OverLimit {
        /// The file.
        file: PathBuf,
        /// What was counted.
        what: &'static str,
        /// The most that is accepted.
        limit: u64,
    },
    /// A packed file unpacks to far more than those do that somebody packed for use.
    #[error("{}: {packed} bytes unpack to more than {limit}, as in files made to fill a machine; if it can be trusted, unpack it first", file.display())]
    Inflated {
        /// The file.
        file: PathBuf,
        /// Its size.
        packed: u64,
        /// The most bytes that it may unpack to.
        limit: u64,
    },
    /// Binary content could not be decoded.
    #[error("{}, byte {offset}: {problem}", file.display())]
    Binary {
        /// The file; within an archive, the archive's path and the member's.
        file: PathBuf,
        /// Zero-based position in the (unpacked) file.
        offset: u64,
        /// What is wrong there.
        problem: String,
    },
    /// A pickle asks for something that is not on the list of what may be built.
    #[error("{}, byte {offset}: refused to load `{name}`: only NumPy arrays, SciPy CSR matrices, dicts and lists are read, and no code is run", file.display())]
    Refused {
        /// The file.
        file: PathBuf,
        /// Zero-based position in the file.
        offset: u64,
        /// Module and name as the pickle spells them.
        name: String,
    },
    /// An edge names a node that is not there.
    #[error("edge {edge} joins node {node}, but there are {nodes} nodes (0 to {})", nodes.saturating_sub(1))]
    NodeOutOfRange {
        /// Zero-based position in the list of edges.
        edge: usize,
        /// The node.
        node: u64,
        /// How many there are.
        nodes: usize,
    },
    /// There are more nodes than a 31-bit index can distinguish.
    #[error(
        "{nodes} nodes are too many: a graph or data set holds at most {} in all",
        crate::MAX_NODES
    )]
    TooManyNodes {
        /// How many there would be.
        nodes: u64,
    },
    /// The columns of node features are not those that are needed.
    #[error("{dataset}: {problem}")]
    Columns {
        /// The data set.
        dataset: String,
        /// What is wrong with them.
        problem: String,
    },
    /// A registered data set is not what the registry knows under its name.
    #[error(
        "{}: this is not {name} as it is registered: its content has the fingerprint {found}, the registry says \
         {expected}",
        path.display()
    )]
    Modified {
        /// What it was asked for by.
        name: String,
        /// Where its files are.
        path: PathBuf,
        /// What the registry says.
        expected: String,
        /// What was read.
        found: String,
    },
    /// An array does not fit the others.
    #[error("{what} has {found} {unit}, expected {expected}")]
    Length {
        /// Which argument.
        what: &'static str,
        /// Of what the length is a count.
        unit: &'static str,
        /// What would fit.
        expected: usize,
        /// What was found.
        found: usize,
    },
    /// Compressed rows are not well formed.
    #[error("{what}, row {row}: {problem}")]
    Rows {
        /// Which argument.
        what: &'static str,
        /// Zero-based row.
        row: usize,
        /// What is wrong there.
        problem: String,
    },
    /// A feature, weight or target is NaN or infinite.
    #[error("{what} holds {value} at row {row}, column {column}; every entry must be finite")]
    NonFinite {
        /// Which argument.
        what: &'static str,
        /// Zero-based row.
        row: usize,
        /// Zero-based column.
        column: usize,
        /// The entry.
        value: f32,
    },
    /// A graph was asked for that is not in the data set.
    #[error("there is no graph {index} in a data set of {graphs}")]
    NoSuchGraph {
        /// Zero-based.
        index: usize,
        /// How many there are.
        graphs: usize,
    },
    /// The data set lacks something that the operation needs.
    #[error("data set {dataset} has no {what}; {remedy}")]
    Lacks {
        /// Its name.
        dataset: String,
        /// What it lacks.
        what: &'static str,
        /// What to do.
        remedy: &'static str,
    },
    /// A parameter is outside its range.
    #[error("{name} = {value} is not allowed: {requirement}")]
    Parameter {
        /// The parameter.
        name: &'static str,
        /// Its value.
        value: String,
        /// What it must satisfy.
        requirement: String,
    },
    /// What is at a path is not in a layout that can be read.
    #[error("{}: {problem}", path.display())]
    UnknownLayout {
        /// Where.
        path: PathBuf,
        /// What was expected there.
        problem: String,
    },
    /// A tensor operation failed.
    #[cfg(feature = "conv")]
    #[error(transparent)]
    Candle(#[from] candle_core::Error),

    /// Features that were propagated in advance, passed to a layer other than a first GCN layer.
    #[cfg(feature = "conv")]
    #[error(
        "features that were propagated beforehand are for the first layer of a GCN; give this one the features themselves"
    )]
    Propagated,
    /// A layer was built or used wrongly.
    #[cfg(feature = "conv")]
    #[error(transparent)]
    Layer(#[from] egg_nn::Error),
}

/// What is wrong with a line of text.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LineProblem {
    /// A field is not a number of the kind that belongs there.
    #[error("`{text}` is not {expected}")]
    NotANumber {
        /// The field, shortened if it is long.
        text: String,
        /// What belongs there.
        expected: &'static str,
    },
    /// A number is outside its range.
    #[error("{what} {value} is not between {least} and {most}")]
    OutOfRange {
        /// What the number stands for.
        what: &'static str,
        /// The number.
        value: String,
        /// The least allowed.
        least: i64,
        /// The most allowed.
        most: i64,
    },
    /// The line has too few or too many fields.
    #[error("{found} fields, expected {expected}")]
    FieldCount {
        /// How many belong there.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// The line is blank where none may be.
    #[error("the line is blank")]
    Blank,
    /// The line can't be taken apart, or says what it may not say.
    #[error("{problem}")]
    Syntax {
        /// What is wrong with it.
        problem: String,
    },
    /// The line is longer than any that belongs here.
    #[error("the line is longer than {limit} bytes")]
    TooLong {
        /// The most that is accepted.
        limit: usize,
    },
    /// An edge joins nodes of two graphs.
    #[error("the edge joins node {left} of graph {left_graph} and node {right} of graph {right_graph}")]
    AcrossGraphs {
        /// One-based node id, as in the file.
        left: u64,
        /// One-based graph id of the first.
        left_graph: u64,
        /// One-based node id, as in the file.
        right: u64,
        /// One-based graph id of the second.
        right_graph: u64,
    },
    /// There are more or fewer lines than another file requires.
    #[error("{found} lines, but {other} has {expected}")]
    LineCount {
        /// The file that says how many there should be.
        other: String,
        /// How many it says.
        expected: u64,
        /// How many there are.
        found: u64,
    },
}

impl Error {
    /// For `map_err` on anything that touches a path.
    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        move |source| Self::Io {
            path: path.to_owned(),
            source,
        }
    }

    pub(crate) fn file(file: &Path, problem: impl Into<String>) -> Self {
        Self::File {
            file: file.to_owned(),
            problem: problem.into(),
        }
    }

    pub(crate) fn parameter(
        name: &'static str,
        value: impl ToString,
        requirement: impl Into<String>,
    ) -> Self {
        Self::Parameter {
            name,
            value: value.to_string(),
            requirement: requirement.into(),
        }
    }
}

/// So that `?` works in functions and modules that return candle's result.
#[cfg(feature = "conv")]
impl From<Error> for candle_core::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Candle(error) => error,
            error => Self::wrap(error),
        }
    }
}
