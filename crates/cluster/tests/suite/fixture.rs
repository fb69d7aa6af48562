//! Values that other libraries computed; `tests/fixtures` has the scripts.

use approx::abs_diff_eq;
use ndarray::Array2;
use serde::Deserialize;
use serde::de::DeserializeOwned;

pub(crate) fn read<T: DeserializeOwned>(name: &str) -> T {
    let path = format!("{}/tests/fixtures/{name}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// A list of rows.
#[derive(Deserialize)]
#[serde(from = "Vec<Vec<f64>>")]
pub(crate) struct Matrix(pub(crate) Array2<f64>);

impl From<Vec<Vec<f64>>> for Matrix {
    fn from(rows: Vec<Vec<f64>>) -> Self {
        let shape = (rows.len(), rows.first().map_or(0, Vec::len));
        Self(Array2::from_shape_vec(shape, rows.concat()).expect("rows of one length"))
    }
}

#[track_caller]
pub(crate) fn assert_close(found: f64, expected: f64, tolerance: f64, what: &str) {
    assert!(
        abs_diff_eq!(found, expected, epsilon = tolerance * expected.abs().max(1.0)),
        "{what}: {found} instead of {expected}"
    );
}
