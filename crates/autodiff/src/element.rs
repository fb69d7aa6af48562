//! The two element types, and the checks of tensors.

use candle_core::DType;
use egg_geometry::{Error as GeometryError, Scalar};
use egg_tensor::Tracked;
use ndarray::ArrayView2;

use crate::{Error, Result};

/// f32 or f64: what tensors hold and the geometry computes with.
pub(crate) trait Element: egg_tensor::Element + Scalar {}

impl Element for f32 {}
impl Element for f64 {}

/// Refuses element types that no kernel is compiled for.
pub(crate) fn check_float(what: &'static str, tensor: &Tracked) -> Result<()> {
    match tensor.dtype() {
        DType::F32 | DType::F64 => Ok(()),
        found => Err(Error::DType {
            what,
            found,
            expected: "f32 or f64",
        }),
    }
}

/// Refuses anything but a matrix of f32 or f64; gives its shape.
pub(crate) fn check_matrix(what: &'static str, tensor: &Tracked) -> Result<(usize, usize)> {
    check_float(what, tensor)?;
    match tensor.dims() {
        &[rows, columns] => Ok((rows, columns)),
        found => Err(Error::Shape {
            what,
            found: found.to_vec(),
            expected: "(rows, columns)".to_owned(),
        }),
    }
}

/// Refuses a matrix with anything but finite numbers.
pub(crate) fn check_finite<T: Element>(what: &'static str, a: ArrayView2<'_, T>) -> Result<()> {
    match a.indexed_iter().find(|(_, entry)| !entry.is_finite()) {
        None => Ok(()),
        Some(((row, column), entry)) => Err(GeometryError::NonFinite {
            what,
            row,
            column,
            value: entry.as_f64(),
        }
        .into()),
    }
}
