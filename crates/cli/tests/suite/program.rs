//! How tests call the program, and the small data that they give it.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// What a call of the program came to.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ended {
    /// Fails with what the program said unless it ended well.
    pub(crate) fn ok(self) -> Self {
        assert_eq!(self.code, 0, "{}\n{}", self.out, self.err);
        self
    }

    /// Each line of standard output as JSON: there must be nothing else.
    pub(crate) fn json(&self) -> Vec<Value> {
        let line = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}"));
        self.out.lines().map(line).collect()
    }

    /// The one object that is the summary, which comes last.
    pub(crate) fn summary(&self) -> Value {
        let last = self.json().pop().unwrap();
        assert_eq!(last["event"], "summary", "{last}");
        last
    }

    /// Fails unless it ended with an error of this code, in at most two lines that
    /// have these words.
    pub(crate) fn refused(&self, code: i32, words: &[&str]) {
        assert_eq!(self.code, code, "{}\n{}", self.out, self.err);
        assert!(self.err.trim_end().lines().count() <= 2, "{}", self.err);
        for word in words {
            assert!(self.err.contains(word), "{word:?} is not in {}", self.err);
        }
    }
}

pub(crate) fn command(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_egg"));
    command
        .current_dir(folder)
        .env_remove(egg_datasets::VARIABLE)
        .env_remove("EGG_STARTED")
        .stdin(Stdio::null());
    command
}

/// Calls the program in a folder.
pub(crate) fn egg(folder: &Path, words: &[&str]) -> Ended {
    let output = command(folder).args(words).output().unwrap();
    Ended {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

pub(crate) fn place() -> TempDir {
    tempfile::tempdir().unwrap()
}

pub(crate) fn write(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// A folder `graphs` of rings and stars, with features of ones, noise and
/// degrees; labels if asked for.
pub(crate) fn rings_and_stars(folder: &Path, name: &str, count: usize, labelled: bool) {
    let mut edges = String::from("graph,source,target\n");
    let mut nodes = String::from("graph,node,one,noise,degree\n");
    let mut graphs = String::from("graph,label\n");
    for index in 0..count {
        let (size, star) = (4 + index % 5, index % 2 == 0);
        for node in 0..size {
            let degree = match (star, node) {
                (true, 0) => size - 1,
                (true, _) => 1,
                (false, _) => 2,
            };
            let noise = ((index * 7 + node * 13) % 11) as f64 / 11.0;
            writeln!(nodes, "g{index},n{node},1,{noise:.3},{degree}").unwrap();
            match star {
                true if node > 0 => writeln!(edges, "g{index},n0,n{node}").unwrap(),
                true => {}
                false => writeln!(edges, "g{index},n{node},n{}", (node + 1) % size).unwrap(),
            }
        }
        let label = if star { "star" } else { "ring" };
        writeln!(graphs, "g{index},{}", if labelled { label } else { "" }).unwrap();
    }
    write(folder, &format!("{name}/edges.csv"), &edges);
    write(folder, &format!("{name}/nodes.csv"), &nodes);
    write(folder, &format!("{name}/graphs.csv"), &graphs);
}

/// A short training on the folder `graphs`.
pub(crate) const TRAIN: [&str; 11] = [
    "train", "--data", "graphs", "--pool", "egg", "--hidden", "8", "--reps", "2", "--epochs", "4",
];

/// An m x p matrix of f64 as NumPy writes it.
pub(crate) fn write_npy(path: &Path, rows: &[&[f64]]) {
    let header = format!(
        "{{'descr': '<f8', 'fortran_order': False, 'shape': ({}, {}), }}",
        rows.len(),
        rows[0].len()
    );
    // Magic, version and length take 10 bytes; the whole is a multiple of 64.
    let padded = format!(
        "{header:<width$}\n",
        width = (header.len() + 11).div_ceil(64) * 64 - 11
    );
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(padded.len()).unwrap().to_le_bytes());
    bytes.extend(padded.as_bytes());
    bytes.extend(
        rows.iter()
            .flat_map(|row| row.iter())
            .flat_map(|value| value.to_le_bytes()),
    );
    std::fs::write(path, bytes).unwrap();
}
