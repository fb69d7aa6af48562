//! Maps on disk: places, classes, and what they were made of.

use std::path::Path;
use std::time::Duration;

use egg_report::Embedding;
use egg_results::Machine;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::error::{Error, Result};
use crate::files;

/// Neighbours that have a vote.
const NEIGHBOURS: usize = 10;

/// The side of a map: places are whole numbers from 0 to this.
const SIDE: f32 = 1000.0;

/// What a map is of.
pub struct Drawn {
    /// As `trained`.
    pub name: String,
    /// Numbers in a row.
    pub columns: usize,
    /// All rows, in the order of the classes.
    pub values: Vec<f32>,
}

/// A map, and how many points have the class of most of their neighbours.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Map {
    /// Numbers in a row of what it is of.
    pub columns: usize,
    /// How it was made, in a few words.
    pub method: String,
    /// What it is of.
    pub name: String,
    /// That have a vote.
    pub neighbours: usize,
    /// By the distance of the rows.
    pub right: Option<f64>,
    /// The same of held-out graphs alone.
    pub right_held_out: Option<f64>,
    /// By the places in the map.
    pub right_in_map: Option<f64>,
    /// To the right, 0 to 1000.
    pub x: Vec<i64>,
    /// Down, 0 to 1000.
    pub y: Vec<i64>,
}

/// The file.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct MapRecord {
    /// How it was made.
    pub about: Value,
    /// Of each point, where it is known.
    pub classes: Vec<Option<u32>>,
    /// In the order they are drawn in.
    pub maps: Vec<Map>,
}

/// What a file says of how it was made, besides what is the same for all.
pub(super) fn about(mut about: Value, revision: &str, took: Duration) -> Value {
    about["revision"] = json!(revision);
    about["version"] = json!(env!("CARGO_PKG_VERSION"));
    about["machine"] = json!(Machine::here(rayon::current_num_threads()));
    about["seconds"] = json!(took.as_secs_f64());
    about
}

impl MapRecord {
    pub(super) fn new(about: Value, classes: Vec<Option<u32>>) -> Self {
        Self {
            about,
            classes,
            maps: Vec::new(),
        }
    }

    /// Lays out a map. `held_out` are rows that no model was trained on.
    ///
    /// # Errors
    /// If there are not as many rows as classes, or some are not finite.
    pub fn add(&mut self, of: &str, drawn: Drawn, held_out: &[usize], seed: u64) -> Result<()> {
        let Drawn {
            name,
            columns,
            values,
        } = drawn;
        let mut embedding = Embedding::new(of, columns, values, self.classes.clone())?;
        let rows = embedding.agrees_with_neighbours(NEIGHBOURS);
        embedding.reduce(self.classes.len(), seed);
        let places = embedding.agrees_with_neighbours(NEIGHBOURS);
        let map = embedding.map.unwrap_or_default();
        if map.x.len() != self.classes.len() || map.x.is_empty() {
            return Err(Error::measurement(format!(
                "{name}: there is nothing to map, or some rows are not finite"
            )));
        }
        let all: Vec<usize> = (0..self.classes.len()).collect();
        let (x, y) = whole(&map.x, &map.y);
        self.maps.push(Map {
            columns,
            method: map.method,
            name,
            neighbours: NEIGHBOURS,
            right: share(&rows, &all),
            right_held_out: share(&rows, held_out),
            right_in_map: share(&places, &all),
            x,
            y,
        });
        Ok(())
    }

    /// Atomically, a map a line.
    ///
    /// # Errors
    /// If it can't be written.
    pub fn save(&self, path: &Path) -> Result<()> {
        let maps = self.maps.iter().map(serde_json::to_string);
        let maps: Vec<String> = maps
            .collect::<std::result::Result<_, _>>()
            .map_err(Error::format(path))?;
        let text = format!(
            "{{\"about\": {},\n\"classes\": {},\n\"maps\": [\n{}\n]}}\n",
            self.about,
            json!(self.classes),
            maps.join(",\n")
        );
        files::write(path, &text)
    }
}

/// Of those rows that can be judged.
fn share(right: &[Option<bool>], of: &[usize]) -> Option<f64> {
    let judged: Vec<bool> = of.iter().filter_map(|&row| right[row]).collect();
    let right = judged.iter().filter(|right| **right).count();
    (!judged.is_empty()).then(|| right as f64 / judged.len() as f64)
}

/// Places on a square, one scale for both directions, upside down as pictures are.
fn whole(x: &[f32], y: &[f32]) -> (Vec<i64>, Vec<i64>) {
    let ends = |numbers: &[f32]| {
        numbers
            .iter()
            .fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), &number| {
                (low.min(number), high.max(number))
            })
    };
    let ((left, right), (low, high)) = (ends(x), ends(y));
    let span = (right - left).max(high - low).max(f32::MIN_POSITIVE);
    let place = |number: f32, middle: f32| (SIDE * (0.5 + (number - middle) / span)).round() as i64;
    (
        x.iter().map(|&x| place(x, (left + right) / 2.0)).collect(),
        y.iter().map(|&y| place(-y, -(low + high) / 2.0)).collect(),
    )
}
