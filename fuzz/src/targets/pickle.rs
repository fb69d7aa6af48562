//! Pickles, in memory.

use egg_graph::pickle::{Pickle, Value};

use super::Target;
use crate::dataset::options;
use crate::outcome::Outcome;

pub(super) const TARGET: Target = Target {
    name: "pickle",
    run,
    words: WORDS,
    reader: None,
};

pub(super) const WORDS: &[&str] = &[
    "cnumpy\nndarray\n",
    "cnumpy\ndtype\n",
    "cnumpy.core.multiarray\n_reconstruct\n",
    "cnumpy.core.multiarray\nscalar\n",
    "cscipy.sparse.csr\ncsr_matrix\n",
    "ccollections\ndefaultdict\n",
    "ccollections\nOrderedDict\n",
    "c__builtin__\nlist\n",
    "c_codecs\nencode\n",
    "ccopy_reg\n_reconstructor\n",
    "cos\nsystem\n",
    "X\u{6}\u{0}\u{0}\u{0}latin1",
    "U\u{2}f4",
    "U\u{2}i8",
    "K\u{1}",
    "\u{5d}",
    "}",
    "(",
    "t",
    "R",
    "b",
    ".",
    "q\u{0}",
    "h\u{0}",
];

/// How many values are visited: content may be shared, even by itself.
const VISITED: usize = 500;

fn run(input: &[u8]) -> Outcome {
    match Pickle::from_bytes(input.to_vec(), "input".as_ref(), &options(input)) {
        Ok(pickle) => {
            assert_eq!(pickle.size(), input.len());
            let mut budget = VISITED;
            let mut found = Vec::new();
            visit(&pickle.value(), &mut budget, 0, &mut found);
            found.sort_unstable();
            found.dedup();
            Outcome::refused(&format!("pickle: {}", found.join(" ")))
        }
        Err(error) => Outcome::refused(&error),
    }
}

/// Goes through the content, converts what can be converted, and notes what it
/// found.
fn visit(value: &Value<'_>, budget: &mut usize, depth: usize, found: &mut Vec<String>) {
    if *budget == 0 || depth > 30 {
        return;
    }
    *budget -= 1;
    found.push(value.kind().to_owned());
    match value {
        Value::Tuple(items) | Value::List(items) => {
            assert!(items.get(items.len()).is_none());
            items
                .iter()
                .take(VISITED)
                .for_each(|item| visit(&item, budget, depth + 1, found));
        }
        Value::Dict(entries) => {
            let _ = entries.get("data");
            for (key, value) in entries.iter().take(VISITED) {
                visit(&key, budget, depth + 1, found);
                visit(&value, budget, depth + 1, found);
            }
        }
        Value::Array(array) => super::npy::convert(array),
        Value::Csr(matrix) => match matrix.to_matrix() {
            Ok(matrix) => assert_eq!(matrix.columns().len(), matrix.nonzeros()),
            Err(error) => found.push(Outcome::refused(&error).to_string()),
        },
        _ => {}
    }
}
