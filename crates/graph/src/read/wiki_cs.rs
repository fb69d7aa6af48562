//! Wiki-CS: one graph in one JSON file, read as a stream.

use std::fmt;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use ndarray::Array2;
use serde::Deserialize;
use serde::de::{Deserializer, Error as _, SeqAccess, Visitor};

use super::options::ReadOptions;
use super::reader::Reader;
use crate::adjacency::{EdgeRows, MAX_NODES};
use crate::dataset::GraphDataset;
use crate::error::{Error, LineProblem, Result};
use crate::features::Features;
use crate::graph::Graph;
use crate::labels::Labels;
use crate::load::DataSource;
use crate::split::Split;

/// Wiki-CS with all of its splits.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct WikiCs {
    /// The graph, with the first of the splits.
    pub dataset: GraphDataset,
    /// The splits of the source; they share the test nodes. Another one is
    /// chosen with [`GraphDataset::with_split`].
    pub splits: Vec<Split>,
    /// Of each split, the nodes that the source sets apart for deciding when to
    /// stop. They are in no part of the [`Split`].
    pub stopping: Vec<Vec<usize>>,
}

/// Reads Wiki-CS, with the first of its splits; [`read_wiki_cs_splits`] gives
/// them all.
///
/// # Errors
/// [`Error::Line`] with line and column of JSON that does not have the keys
/// `features`, `labels`, `links`, `train_masks`, `val_masks`, `stopping_masks`
/// and `test_mask` in the right form, [`Error::File`] if they contradict each
/// other, [`Error::OverLimit`], [`Error::Io`].
///
/// ```no_run
/// use egg_graph::{ReadOptions, read_wiki_cs};
/// let wiki = read_wiki_cs("wiki_cs/data.json".as_ref(), &ReadOptions::default())?;
/// assert_eq!(wiki.node_count(), 11_701);
/// # Ok::<(), egg_graph::Error>(())
/// ```
pub fn read_wiki_cs(path: &Path, options: &ReadOptions) -> Result<GraphDataset> {
    read_wiki_cs_splits(path, options).map(|wiki| wiki.dataset)
}

/// Reads Wiki-CS with all of its splits.
///
/// # Errors
/// As [`read_wiki_cs`].
///
/// ```no_run
/// use egg_graph::{ReadOptions, read_wiki_cs_splits};
/// let wiki = read_wiki_cs_splits("wiki_cs/data.json".as_ref(), &ReadOptions::default())?;
/// let dataset = wiki.dataset.with_split(wiki.splits[7].clone())?;
/// # Ok::<(), egg_graph::Error>(())
/// ```
pub fn read_wiki_cs_splits(path: &Path, options: &ReadOptions) -> Result<WikiCs> {
    let content = parse(path, options)?;
    let nodes = content.links.lengths.len();
    let misfit = |what: &str, found: usize| {
        Error::file(
            path,
            format!("{what} has {found} rows, but links has {nodes} nodes"),
        )
    };
    if nodes > MAX_NODES {
        return Err(Error::TooManyNodes { nodes: nodes as u64 });
    }
    if content.features.rows != nodes {
        return Err(misfit("features", content.features.rows));
    }
    if content.labels.len() != nodes {
        return Err(misfit("labels", content.labels.len()));
    }
    let sets = [&content.train_masks, &content.val_masks, &content.stopping_masks];
    for (masks, what) in sets
        .into_iter()
        .zip(["train_masks", "val_masks", "stopping_masks"])
    {
        if masks.len() != content.train_masks.len() || masks.is_empty() {
            return Err(Error::file(
                path,
                format!(
                    "{what} has {} splits, train_masks {}",
                    masks.len(),
                    content.train_masks.len()
                ),
            ));
        }
        if let Some(mask) = masks.iter().find(|mask| mask.length != nodes) {
            return Err(misfit(what, mask.length));
        }
    }
    if content.test_mask.length != nodes {
        return Err(misfit("test_mask", content.test_mask.length));
    }

    let mut rows = EdgeRows::default();
    let mut neighbours = content.links.neighbours.iter();
    for (node, length) in (0u32..).zip(&content.links.lengths) {
        for neighbour in neighbours.by_ref().take(*length) {
            match u32::try_from(*neighbour) {
                Ok(other) if (other as usize) < nodes => rows.push(node, other),
                _ => {
                    return Err(Error::file(
                        path,
                        format!("node {node} links to {neighbour}, but there are {nodes} nodes"),
                    ));
                }
            }
        }
    }
    let built = rows.into_adjacency(nodes, options.self_loops, false);
    let Flat { values, width, .. } = content.features;
    let features = Array2::from_shape_vec((nodes, width), values)
        .map_err(|error| Error::file(path, error.to_string()))
        .and_then(|matrix| Features::dense(matrix).map_err(|error| Error::file(path, error.to_string())))?;
    let graph = Graph::from_built(built.adjacency)
        .with_features(features)?
        .with_node_labels(Labels::from_values(&content.labels))?;

    let parts = content.train_masks.into_iter().zip(content.val_masks);
    let splits: Vec<Split> = parts
        .map(|(train, validation)| Split {
            train: train.nodes,
            validation: validation.nodes,
            test: content.test_mask.nodes.clone(),
        })
        .collect();
    let mut dataset = GraphDataset::single("Wiki-CS", graph).with_notes(built.notes);
    // In reverse, so that the first one stays; each is checked.
    for (index, split) in splits.iter().enumerate().rev() {
        dataset = dataset
            .with_split(split.clone())
            .map_err(|error| Error::file(path, format!("split {index}: {error}")))?;
    }
    Ok(WikiCs {
        dataset,
        splits,
        stopping: content
            .stopping_masks
            .into_iter()
            .map(|mask| mask.nodes)
            .collect(),
    })
}

pub(crate) struct WikiCsReader;

impl Reader for WikiCsReader {
    fn name(&self) -> &'static str {
        "wiki-cs"
    }

    fn title(&self) -> &'static str {
        "Wiki-CS"
    }

    fn endings(&self) -> &'static [&'static str] {
        &["json"]
    }

    fn read(&self, source: &DataSource, options: &ReadOptions) -> Result<GraphDataset> {
        read_wiki_cs(&source.path, options)
    }
}

fn parse(path: &Path, options: &ReadOptions) -> Result<Content> {
    let file = File::open(path).map_err(Error::io(path))?;
    let length = file.metadata().map_err(Error::io(path))?.len();
    if length > options.max_bytes {
        return Err(Error::OverLimit {
            file: path.to_owned(),
            what: "the number of bytes",
            limit: options.max_bytes,
        });
    }
    let input = BufReader::with_capacity(1 << 16, file.take(options.max_bytes));
    serde_json::from_reader(input).map_err(|error| {
        let line = error.line() as u64;
        if error.is_io() {
            return Error::io(path)(error.into());
        }
        Error::Line {
            file: path.to_owned(),
            line,
            problem: LineProblem::Syntax {
                problem: format!("column {}: {error}", error.column()),
            },
        }
    })
}

#[derive(Deserialize)]
struct Content {
    features: Flat,
    labels: Vec<i64>,
    links: Ragged,
    train_masks: Vec<Mask>,
    val_masks: Vec<Mask>,
    stopping_masks: Vec<Mask>,
    test_mask: Mask,
}

/// Rows of one width, one after the other.
struct Flat {
    values: Vec<f32>,
    rows: usize,
    width: usize,
}

/// Rows of any length, one after the other.
struct Ragged {
    neighbours: Vec<i64>,
    lengths: Vec<usize>,
}

/// Which nodes a list of truth values marks.
struct Mask {
    nodes: Vec<usize>,
    length: usize,
}

/// Adds the items of a JSON list to a vector.
struct Extend<'a, T>(&'a mut Vec<T>);

impl<'de, T: Deserialize<'de>> serde::de::DeserializeSeed<'de> for Extend<'_, T> {
    type Value = usize;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<usize, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for Extend<'_, T> {
    type Value = usize;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a list of numbers")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> std::result::Result<usize, A::Error> {
        let before = self.0.len();
        while let Some(item) = items.next_element()? {
            self.0.push(item);
        }
        Ok(self.0.len() - before)
    }
}

impl<'de> Deserialize<'de> for Flat {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Rows;
        impl<'de> Visitor<'de> for Rows {
            type Value = Flat;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a list of rows")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut rows: A) -> std::result::Result<Flat, A::Error> {
                let mut flat = Flat {
                    values: Vec::new(),
                    rows: 0,
                    width: 0,
                };
                while let Some(found) = rows.next_element_seed(Extend(&mut flat.values))? {
                    if flat.rows == 0 {
                        flat.width = found;
                    } else if found != flat.width {
                        return Err(A::Error::custom(format!(
                            "row {} has {found} features, the first has {}",
                            flat.rows, flat.width
                        )));
                    }
                    flat.rows += 1;
                }
                Ok(flat)
            }
        }
        deserializer.deserialize_seq(Rows)
    }
}

impl<'de> Deserialize<'de> for Ragged {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Rows;
        impl<'de> Visitor<'de> for Rows {
            type Value = Ragged;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a list of neighbour lists")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut rows: A) -> std::result::Result<Ragged, A::Error> {
                let mut ragged = Ragged {
                    neighbours: Vec::new(),
                    lengths: Vec::new(),
                };
                while let Some(length) = rows.next_element_seed(Extend(&mut ragged.neighbours))? {
                    ragged.lengths.push(length);
                }
                Ok(ragged)
            }
        }
        deserializer.deserialize_seq(Rows)
    }
}

impl<'de> Deserialize<'de> for Mask {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Marks;
        impl<'de> Visitor<'de> for Marks {
            type Value = Mask;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a list of truth values")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut marks: A) -> std::result::Result<Mask, A::Error> {
                let mut mask = Mask {
                    nodes: Vec::new(),
                    length: 0,
                };
                while let Some(Mark(marked)) = marks.next_element()? {
                    if marked {
                        mask.nodes.push(mask.length);
                    }
                    mask.length += 1;
                }
                Ok(mask)
            }
        }
        deserializer.deserialize_seq(Marks)
    }
}

/// `true` and `false`, or 1 and 0.
struct Mark(bool);

impl<'de> Deserialize<'de> for Mark {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Truth;
        impl Visitor<'_> for Truth {
            type Value = Mark;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("true, false, 1 or 0")
            }

            fn visit_bool<E>(self, marked: bool) -> std::result::Result<Mark, E> {
                Ok(Mark(marked))
            }

            fn visit_u64<E: serde::de::Error>(self, number: u64) -> std::result::Result<Mark, E> {
                match number {
                    0 | 1 => Ok(Mark(number == 1)),
                    other => Err(E::invalid_value(serde::de::Unexpected::Unsigned(other), &self)),
                }
            }
        }
        deserializer.deserialize_any(Truth)
    }
}
