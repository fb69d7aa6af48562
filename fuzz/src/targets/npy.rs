//! `.npy` files.

use egg_graph::{NumpyArray, ReadOptions, read_npy, write_npy};

use super::Target;
use crate::dataset::options;
use crate::files::Folder;
use crate::outcome::Outcome;

pub(super) const TARGET: Target = Target {
    name: "npy",
    run,
    words: WORDS,
    reader: None,
};

const WORDS: &[&str] = &[
    "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }",
    "'descr'",
    "'fortran_order'",
    "'shape'",
    "True",
    "False",
    "'<f8'",
    "'>i2'",
    "'|b1'",
    "'<U3'",
    "'|O'",
    "[('a', '<f4')]",
    "(0,)",
    "(2, 3)",
    "(9223372036854775807, 0)",
];

thread_local! {
    static FOLDER: Folder = Folder::new("npy");
}

fn run(input: &[u8]) -> Outcome {
    let (path, back) = FOLDER.with(|folder| (folder.file("a.npy", input), folder.path().join("back.npy")));
    match read_npy(&path, &options(input)) {
        Ok(array) => {
            convert(&array);
            if let Ok(matrix) = array.to_matrix() {
                let written = write_npy(&back, matrix.view());
                assert!(written.is_ok(), "{written:?}");
                let again = read_npy(&back, &ReadOptions::default()).and_then(|array| array.to_matrix());
                let again = again.unwrap_or_else(|error| panic!("what was written can't be read: {error}"));
                assert_eq!(again.dim(), matrix.dim());
                let same = |(left, right): (&f32, &f32)| left.to_bits() == right.to_bits();
                assert!(matrix.iter().zip(&again).all(same));
            }
            let mut sizes = array.shape().to_vec();
            sizes.push(usize::from(array.to_integers().is_ok()));
            sizes.push(usize::from(array.to_texts().is_ok()));
            Outcome::read(&sizes)
        }
        Err(error) => Outcome::refused(&error),
    }
}

/// Every conversion gives as many numbers as the shape says, or an error.
pub(super) fn convert(array: &NumpyArray<'_>) {
    let count = || array.shape().iter().product::<usize>();
    if let Ok(matrix) = array.to_matrix() {
        assert_eq!([matrix.nrows(), matrix.ncols()], array.shape());
    }
    if let Ok(matrix) = array.to_matrix_f64() {
        assert_eq!([matrix.nrows(), matrix.ncols()], array.shape());
    }
    if let Ok(numbers) = array.to_floats() {
        assert_eq!(numbers.len(), count());
    }
    if let Ok(numbers) = array.to_integers() {
        assert_eq!(numbers.len(), count());
    }
    if let Ok(texts) = array.to_texts() {
        assert_eq!(texts.len(), count());
    }
}
