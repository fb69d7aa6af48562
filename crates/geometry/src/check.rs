//! Checks on input that every entry point shares.

use ndarray::{ArrayView2, Axis};

use crate::error::{Error, Result};
use crate::linalg::entrywise::all_finite;
use crate::scalar::{Scalar, max_abs};

/// At least one row and one column.
pub(crate) fn not_empty<T>(what: &'static str, a: &ArrayView2<'_, T>) -> Result<()> {
    let (rows, columns) = a.dim();
    if rows == 0 || columns == 0 {
        return Err(Error::Empty { what, rows, columns });
    }
    Ok(())
}

/// At least one column; there may be no row.
pub(crate) fn has_columns<T>(what: &'static str, a: &ArrayView2<'_, T>) -> Result<()> {
    let (rows, columns) = a.dim();
    if columns == 0 {
        return Err(Error::Empty { what, rows, columns });
    }
    Ok(())
}

/// Checks the number of entries.
pub(crate) fn length(what: &'static str, expected: usize, found: usize) -> Result<()> {
    if expected == found {
        return Ok(());
    }
    Err(Error::Length {
        what,
        expected,
        found,
    })
}

/// No NaN, no infinity.
pub(crate) fn finite<T: Scalar>(what: &'static str, a: &ArrayView2<'_, T>) -> Result<()> {
    if a.as_slice_memory_order().is_some_and(all_finite) {
        return Ok(());
    }
    for (row, entries) in a.axis_iter(Axis(0)).enumerate() {
        if let Some(column) = entries.iter().position(|entry| !entry.is_finite()) {
            return Err(Error::NonFinite {
                what,
                row,
                column,
                value: a[[row, column]].as_f64(),
            });
        }
    }
    Ok(())
}

/// Not empty and finite.
pub(crate) fn matrix<T: Scalar>(what: &'static str, a: &ArrayView2<'_, T>) -> Result<()> {
    not_empty(what, a)?;
    finite(what, a)
}

/// Exactly this shape.
pub(crate) fn shape<T>(what: &'static str, a: &ArrayView2<'_, T>, expected: (usize, usize)) -> Result<()> {
    if a.dim() == expected {
        return Ok(());
    }
    Err(Error::Shape {
        what,
        rows: expected.0,
        columns: expected.1,
        found_rows: a.nrows(),
        found_columns: a.ncols(),
    })
}

/// A list long enough.
pub(crate) fn at_least(what: &'static str, found: usize, needed: usize) -> Result<()> {
    if found < needed {
        return Err(Error::TooFew { what, found, needed });
    }
    Ok(())
}

/// Square, finite and symmetric up to rounding.
pub(crate) fn symmetric<T: Scalar>(what: &'static str, a: &ArrayView2<'_, T>) -> Result<()> {
    matrix(what, a)?;
    shape(what, a, (a.nrows(), a.nrows()))?;
    let tolerance = max_abs(a).as_f64() * T::eps() * 64.0;
    for row in 0..a.nrows() {
        for column in 0..row {
            let difference = (a[[row, column]].as_f64() - a[[column, row]].as_f64()).abs();
            if difference > tolerance {
                return Err(Error::NotSymmetric {
                    what,
                    row,
                    column,
                    difference,
                });
            }
        }
    }
    Ok(())
}

/// Weights: one per point, finite, not negative, not all zero.
pub(crate) fn weights<T: Scalar>(weights: &[T], points: usize) -> Result<()> {
    length("weights", points, weights.len())?;
    let requirement = "weights must be finite and not negative, with a positive sum";
    let refuse = |value: T| Error::Parameter {
        name: "weight",
        value: value.as_f64(),
        requirement,
    };
    if let Some(&weight) = weights
        .iter()
        .find(|weight| !(weight.is_finite() && **weight >= T::zero()))
    {
        return Err(refuse(weight));
    }
    let total: T = weights.iter().copied().sum();
    if !(total > T::zero() && total.is_finite()) {
        return Err(refuse(total));
    }
    Ok(())
}
