//! Maps on disk: places, classes, and what they were made of.

use std::path::Path;

use egg_gnn::results::Machine;
use egg_report::Embedding;
use serde_json::{Value, json};

use super::Failure;

/// Neighbours that have a vote.
const NEIGHBOURS: usize = 10;

/// The side of a map: places are whole numbers from 0 to this.
const SIDE: f32 = 1000.0;

/// What a map is of.
pub(crate) struct Drawn {
    /// As `trained`.
    pub(crate) name: String,
    /// Numbers in a row.
    pub(crate) columns: usize,
    /// All rows, in the order of the classes.
    pub(crate) values: Vec<f32>,
}

/// A file.
pub(crate) struct Record {
    about: Value,
    classes: Vec<Option<u32>>,
    maps: Vec<Value>,
}

/// What a file says of how it was made, besides what is the same for all.
pub(crate) fn about(mut about: Value, seconds: f64) -> Value {
    about["revision"] = json!(std::env::var("EGG_REVISION").ok());
    about["version"] = json!(env!("CARGO_PKG_VERSION"));
    about["machine"] = json!(Machine::here(rayon::current_num_threads()));
    about["seconds"] = json!(seconds);
    about
}

impl Record {
    pub(crate) fn new(about: Value, classes: Vec<Option<u32>>) -> Self {
        Self {
            about,
            classes,
            maps: Vec::new(),
        }
    }

    /// Lays out a map. `held_out` are rows that no model was trained on.
    pub(crate) fn add(
        &mut self,
        of: &str,
        drawn: Drawn,
        held_out: &[usize],
        seed: u64,
    ) -> Result<(), Failure> {
        let Drawn {
            name,
            columns,
            values,
        } = drawn;
        let mut embedding = Embedding::new(of, columns, values, self.classes.clone())?;
        let rows = embedding.like_their_neighbours(NEIGHBOURS);
        embedding.reduce(self.classes.len(), seed);
        let places = embedding.like_their_neighbours(NEIGHBOURS);
        let map = embedding.map.ok_or("there is no map of nothing")?;
        if map.x.len() != self.classes.len() {
            return Err(format!("{name}: some rows are not finite").into());
        }
        let all: Vec<usize> = (0..self.classes.len()).collect();
        let (x, y) = whole(&map.x, &map.y);
        self.maps.push(json!({
            "name": name,
            "columns": columns,
            "method": map.method,
            "neighbours": NEIGHBOURS,
            "right": share(&rows, &all),
            "right_held_out": share(&rows, held_out),
            "right_in_map": share(&places, &all),
            "x": x,
            "y": y,
        }));
        Ok(())
    }

    /// Whole or not at all, a map a line.
    pub(crate) fn save(&self, path: &Path) -> Result<(), Failure> {
        let maps: Vec<String> = self.maps.iter().map(Value::to_string).collect();
        let text = format!(
            "{{\"about\": {},\n\"classes\": {},\n\"maps\": [\n{}\n]}}\n",
            self.about,
            json!(self.classes),
            maps.join(",\n")
        );
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        Ok(egg_files::write(path, text.as_bytes())?)
    }
}

/// Of those rows that can be judged.
fn share(right: &[Option<bool>], of: &[usize]) -> Option<f64> {
    let judged: Vec<bool> = of.iter().filter_map(|&row| right[row]).collect();
    let right = judged.iter().filter(|right| **right).count();
    (!judged.is_empty()).then(|| right as f64 / judged.len() as f64)
}

/// Places on a square, one scale for both directions, upside down as pictures are.
fn whole(x: &[f32], y: &[f32]) -> (Vec<i32>, Vec<i32>) {
    let ends = |numbers: &[f32]| {
        numbers
            .iter()
            .fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), &number| {
                (low.min(number), high.max(number))
            })
    };
    let ((left, right), (low, high)) = (ends(x), ends(y));
    let span = (right - left).max(high - low).max(f32::MIN_POSITIVE);
    let place = |number: f32, middle: f32| (SIDE * (0.5 + (number - middle) / span)).round() as i32;
    (
        x.iter().map(|&x| place(x, (left + right) / 2.0)).collect(),
        y.iter().map(|&y| place(-y, -(low + high) / 2.0)).collect(),
    )
}
