//! What can be wrong with an input, and what to do about it.

use thiserror::Error;

/// The result type of this crate.
///
/// ```
/// use egg_geometry::{GrassmannPoint, Result};
///
/// fn axis() -> Result<GrassmannPoint<f64>> {
///     GrassmannPoint::from_orthonormal(ndarray::array![[1.0], [0.0]])
/// }
/// assert!(axis().is_ok());
/// ```
pub type Result<T> = std::result::Result<T, Error>;

/// Why an operation on the Grassmann manifold was refused or did not finish.
///
/// Every variant carries the shape or the value at fault.
///
/// ```
/// use egg_geometry::{Error, GrassmannPoint};
/// use ndarray::array;
///
/// let refused = GrassmannPoint::from_orthonormal(array![[1.0, 1.0], [0.0, 1.0]]);
/// assert!(matches!(refused, Err(Error::NotOrthonormal { .. })));
/// ```
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum Error {
    /// A matrix holds a NaN or an infinity.
    #[error("{what} holds {value} at row {row}, column {column}; every entry must be finite")]
    NonFinite {
        /// Which argument.
        what: &'static str,
        /// Zero-based row of the first such entry.
        row: usize,
        /// Zero-based column of the first such entry.
        column: usize,
        /// The entry.
        value: f64,
    },
    /// A text is no rank rule.
    #[error("{text:?} is no rank rule; write {expected}")]
    UnreadableRule {
        /// The text.
        text: String,
        /// What is read.
        expected: &'static str,
    },
    /// A matrix or a list has nothing in it.
    #[error("{what} is empty ({rows} x {columns}); it needs at least one row and one column")]
    Empty {
        /// Which argument.
        what: &'static str,
        /// Its number of rows.
        rows: usize,
        /// Its number of columns.
        columns: usize,
    },
    /// A list of points or matrices is too short.
    #[error("{what} has {found} elements; at least {needed} are needed")]
    TooFew {
        /// Which argument.
        what: &'static str,
        /// Its length.
        found: usize,
        /// The least length that would do.
        needed: usize,
    },
    /// A subspace dimension is not in `1..=m`.
    #[error("a subspace of R^{ambient} has a dimension from 1 to {ambient}, not {dimension}")]
    DimensionOutOfRange {
        /// The requested dimension p.
        dimension: usize,
        /// The ambient dimension m.
        ambient: usize,
    },
    /// The columns of a basis are not orthonormal.
    #[error(
        "basis is not orthonormal: max |U^T U - I| = {deviation:e} exceeds {tolerance:e}; \
         take it as a matrix whose columns span the subspace instead (from_spanning)"
    )]
    NotOrthonormal {
        /// The largest entry of `|U^T U - I|`.
        deviation: f64,
        /// The largest that is accepted.
        tolerance: f64,
    },
    /// The columns of a spanning matrix are linearly dependent.
    #[error(
        "the {columns} columns span only {rank} dimensions; \
         leave out those that depend on others, or take data with a rank rule"
    )]
    RankDeficient {
        /// The numerical rank.
        rank: usize,
        /// The number of columns.
        columns: usize,
    },
    /// A zero matrix spans no subspace.
    #[error("a zero matrix spans the subspace {{0}}, which is not a point of a Grassmann manifold here")]
    ZeroSubspace,
    /// Two subspaces live in spaces of different dimension.
    #[error("subspaces of R^{left} and of R^{right} can't be compared")]
    AmbientMismatch {
        /// Ambient dimension of the first.
        left: usize,
        /// Ambient dimension of the second.
        right: usize,
    },
    /// An operation that needs equal subspace dimensions got different ones.
    #[error("{operation} needs subspaces of equal dimension, got {left} and {right}; {remedy}")]
    DimensionMismatch {
        /// The operation.
        operation: &'static str,
        /// Dimension of the first.
        left: usize,
        /// Dimension of the second.
        right: usize,
        /// What takes subspaces of different dimensions instead.
        remedy: &'static str,
    },
    /// A matrix has the wrong shape.
    #[error("{what} is {found_rows} x {found_columns}, expected {rows} x {columns}")]
    Shape {
        /// Which argument.
        what: &'static str,
        /// Expected rows.
        rows: usize,
        /// Expected columns.
        columns: usize,
        /// Rows found.
        found_rows: usize,
        /// Columns found.
        found_columns: usize,
    },
    /// A list has the wrong length.
    #[error("{what} has length {found}, expected {expected}")]
    Length {
        /// Which argument.
        what: &'static str,
        /// Expected length.
        expected: usize,
        /// Length found.
        found: usize,
    },
    /// A matrix is not tangent (horizontal) at the base point.
    #[error(
        "not a tangent vector at this point: max |U^T D| = {deviation:e} exceeds {tolerance:e}; \
         GrassmannPoint::project_to_tangent makes one"
    )]
    NotTangent {
        /// The largest entry of `|U^T D|`.
        deviation: f64,
        /// The largest that is accepted.
        tolerance: f64,
    },
    /// A matrix is not symmetric.
    #[error(
        "{what} is not symmetric: entries ({row}, {column}) and ({column}, {row}) differ by {difference:e}"
    )]
    NotSymmetric {
        /// Which argument.
        what: &'static str,
        /// Row of the first such pair.
        row: usize,
        /// Column of the first such pair.
        column: usize,
        /// How far apart they are.
        difference: f64,
    },
    /// A symmetric matrix is not an orthogonal projector.
    #[error(
        "not a projector: eigenvalue {eigenvalue} is neither 0 nor 1 (tolerance {tolerance:e}); \
         nearest_point finds the closest subspace to any symmetric matrix"
    )]
    NotProjector {
        /// The eigenvalue farthest from both 0 and 1.
        eigenvalue: f64,
        /// The largest accepted distance from 0 or 1.
        tolerance: f64,
    },
    /// Two subspaces are so far apart that a map between them has no value.
    #[error("{operation} is undefined: a principal angle of {angle} is too close to pi/2")]
    TooFarApart {
        /// The operation.
        operation: &'static str,
        /// The offending principal angle.
        angle: f64,
    },
    /// An iteration stopped before it met its tolerance.
    #[error(
        "{what} did not converge: residual {residual:e} after {iterations} iterations, \
         tolerance {tolerance:e}; raise the number of iterations or the tolerance"
    )]
    NoConvergence {
        /// Which iteration.
        what: &'static str,
        /// Iterations made.
        iterations: usize,
        /// The remaining residual.
        residual: f64,
        /// The requested tolerance.
        tolerance: f64,
    },
    /// A parameter is outside its range.
    #[error("{name} = {value} is not allowed: {requirement}")]
    Parameter {
        /// The parameter.
        name: &'static str,
        /// Its value.
        value: f64,
        /// What it must satisfy.
        requirement: &'static str,
    },
    /// A spectral filter gave something that is not a finite number.
    #[error(
        "the filter's {function} at lambda = {lambda} is {value}; it must be finite for every lambda >= 0"
    )]
    Filter {
        /// `"f"` or `"derivative"`.
        function: &'static str,
        /// The squared singular value that was its argument.
        lambda: f64,
        /// What it gave.
        value: f64,
    },
    /// The linear-algebra backend gave up.
    #[error("{operation} of a {rows} x {columns} matrix failed in the {backend} backend: {reason}")]
    Backend {
        /// Which decomposition.
        operation: &'static str,
        /// Rows of the matrix.
        rows: usize,
        /// Columns of the matrix.
        columns: usize,
        /// Which backend.
        backend: &'static str,
        /// What it said.
        reason: String,
    },
    /// One element of a batch was refused.
    #[error("element {index} of the batch: {source}")]
    InBatch {
        /// Its zero-based position.
        index: usize,
        /// Why.
        source: Box<Error>,
    },
}

impl Error {
    /// Says which element of a batch an error belongs to.
    pub(crate) fn at(self, index: usize) -> Self {
        Self::InBatch {
            index,
            source: Box::new(self),
        }
    }
}
