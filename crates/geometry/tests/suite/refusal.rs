//! How the tests of bad input state what they expect.

use ndarray::Array2;

/// Asserts the variant and its fields, and that the message mentions each of
/// the words.
macro_rules! refused {
    ($result:expr, $pattern:pat $(if $guard:expr)?, $($word:expr),*) => {{
        let error = $result.expect_err(stringify!($result));
        assert!(matches!(&error, $pattern $(if $guard)?), "{} gave {error:?}", stringify!($result));
        let message = error.to_string();
        $(assert!(message.contains(&$word.to_string()), "{message:?} does not mention {:?}", $word);)*
    }};
}

pub(crate) const NOT_NUMBERS: [f64; 3] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];

/// Ones, and one entry that is not.
pub(crate) fn with(rows: usize, columns: usize, at: (usize, usize), value: f64) -> Array2<f64> {
    let mut a = Array2::from_elem((rows, columns), 1.0);
    a[at] = value;
    a
}

/// Equal, NaN to NaN too.
pub(crate) fn is(value: f64, other: f64) -> bool {
    value == other || (value.is_nan() && other.is_nan())
}

/// Matrices without entries.
pub(crate) fn empty() -> [Array2<f64>; 3] {
    [
        Array2::zeros((0, 3)),
        Array2::zeros((3, 0)),
        Array2::zeros((0, 0)),
    ]
}
