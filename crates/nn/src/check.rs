//! The checks that layers share.

use candle_core::DType;
use egg_tensor::Tracked;

use crate::Error;

/// Refuses element types that no kernel is compiled for.
///
/// # Errors
/// [`Error::DType`], with `what` has it.
pub fn check_float(what: &str, dtype: DType) -> crate::Result<()> {
    match dtype {
        DType::F32 | DType::F64 => Ok(()),
        found => Err(Error::DType {
            what: what.to_owned(),
            found,
            expected: "f32 or f64",
        }),
    }
}

/// Refuses elements that are not of the type that their partner has.
pub(crate) fn check_dtype(what: &str, found: DType, expected: DType) -> crate::Result<()> {
    if found == expected {
        return Ok(());
    }
    Err(Error::DType {
        what: what.to_owned(),
        found,
        expected: expected.as_str(),
    })
}

/// Refuses `tensor` unless it is a matrix with `columns` columns; gives its
/// number of rows.
pub(crate) fn check_columns(what: &str, tensor: &Tracked, columns: usize) -> crate::Result<usize> {
    match tensor.dims() {
        &[rows, found] if found == columns => Ok(rows),
        found => Err(Error::Shape {
            what: what.to_owned(),
            found: found.to_vec(),
            expected: format!("(rows, {columns})"),
        }),
    }
}
