//! Whether all of a matrix is a number.

use egg_geometry::Error as GeometryError;
use ndarray::ArrayView2;

use crate::Result;
use crate::element::Element;

/// `max |A|`, if all of it is finite.
pub(crate) fn largest_of<T: Element>(what: &'static str, a: ArrayView2<'_, T>) -> Result<f64> {
    let mut largest = 0.0;
    for ((row, column), entry) in a.indexed_iter() {
        let value = entry.as_f64();
        if !value.is_finite() {
            return Err(GeometryError::NonFinite {
                what,
                row,
                column,
                value,
            }
            .into());
        }
        largest = f64::max(largest, value.abs());
    }
    Ok(largest)
}
