//! What can be wrong with an input, and what to do about it.

use std::path::PathBuf;

use candle_core::DType;
use thiserror::Error;

/// The result type of this crate.
///
/// ```
/// use candle_core::{DType, Device};
/// use egg_nn::{Parameters, Result};
///
/// fn store() -> Result<Parameters> {
///     Parameters::new(DType::F32, &Device::Cpu)
/// }
/// assert!(store().is_ok());
/// ```
pub type Result<T> = std::result::Result<T, Error>;

/// Why a layer, a loss or an optimiser refused its input.
///
/// Every variant carries the name, the shape or the value at fault.
///
/// ```
/// use candle_core::{DType, Device};
/// use egg_nn::{Error, Parameters};
///
/// let refused = Parameters::new(DType::U8, &Device::Cpu);
/// assert!(matches!(refused, Err(Error::DType { .. })));
/// ```
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A tensor is neither f32 nor f64, or not of the type its partner has.
    #[error("{what} is {found:?}, expected {expected}; convert it with Tensor::to_dtype")]
    DType {
        /// Which argument.
        what: String,
        /// The type found.
        found: DType,
        /// The types that would do.
        expected: &'static str,
    },
    /// A tensor has the wrong shape.
    #[error("{what} has shape {found:?}, expected {expected}")]
    Shape {
        /// Which argument.
        what: String,
        /// The shape found.
        found: Vec<usize>,
        /// The shape that would do.
        expected: String,
    },
    /// Two parameters or buffers of one model have the same name.
    #[error("the name {name:?} is taken; give each layer a scope of its own")]
    DuplicateName {
        /// The full name.
        name: String,
    },
    /// A value for a parameter or a buffer is not among those to be loaded.
    #[error("no value for {name:?} among those to be loaded; was the model built with other settings?")]
    MissingName {
        /// The full name.
        name: String,
    },
    /// A value to be loaded belongs to no parameter or buffer.
    #[error("{name:?} belongs to no parameter of this model; was the model built with other settings?")]
    UnexpectedName {
        /// The full name.
        name: String,
    },
    /// A number is outside its range.
    #[error("{name} = {value} is not allowed: {requirement}")]
    Parameter {
        /// The parameter.
        name: &'static str,
        /// Its value.
        value: f64,
        /// What it must satisfy.
        requirement: &'static str,
    },
    /// A class has no column among the logits.
    #[error("row {row} is of class {class}, but there are logits for {columns} classes")]
    Class {
        /// The row.
        row: usize,
        /// Its class.
        class: u32,
        /// How many classes have logits.
        columns: usize,
    },
    /// The boundaries of segments do not divide rows.
    #[error("offset {index} is {value:?}; offsets start at 0, never decrease, and end at the number of rows")]
    Offsets {
        /// Which offset.
        index: usize,
        /// Its value, if there is one.
        value: Option<usize>,
    },
    /// A gradient is infinite or not a number.
    #[error("the gradient of {name:?} is not finite; lower the learning rate, or look for a division by 0")]
    NonFiniteGradient {
        /// The parameter.
        name: String,
    },
    /// A file can't be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file is truncated or its content has changed.
    #[error("{} is damaged: {reason}; use an earlier copy", path.display())]
    DamagedFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A valid safetensors file, but not a checkpoint of this crate.
    #[error("{} is a safetensors file, but not a checkpoint; was it written by another program?", path.display())]
    ForeignFile {
        /// The file.
        path: PathBuf,
    },
    /// A checkpoint in a format that this crate can't read.
    #[error("{} has format version {found}, this program reads {expected}; use the program it was written by", path.display())]
    CheckpointVersion {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u64,
        /// The version that is read.
        expected: u64,
    },
    /// A tensor operation failed.
    #[error(transparent)]
    Candle(#[from] candle_core::Error),
}

/// Lets `?` work in functions and modules that return candle's result.
///
/// ```
/// use candle_core::{Device, Tensor};
///
/// fn forward(x: &Tensor) -> candle_core::Result<Tensor> {
///     Ok(egg_nn::relu(&x.tanh()?)?.into())
/// }
/// let integers = Tensor::new(&[1u32], &Device::Cpu)?;
/// assert!(egg_nn::relu(&integers).map_err(candle_core::Error::from).is_err());
/// assert!(forward(&Tensor::new(&[1f32], &Device::Cpu)?).is_ok());
/// # Ok::<(), candle_core::Error>(())
/// ```
impl From<Error> for candle_core::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Candle(error) => error,
            other => Self::wrap(other),
        }
    }
}
