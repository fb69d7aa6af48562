//! From a data set to bytes: sections, each a length and little-endian values
//! padded to eight bytes, in a fixed order.

use std::io::Write;

use ndarray::Array2;
use xxhash_rust::xxh3::Xxh3;

use crate::dataset::GraphDataset;
use crate::feature_columns::FeatureColumn;
use crate::features::Kind;
use crate::labels::{Labels, Targets};
use crate::read::{NodeIds, Role};

/// The sections, kept apart so that large ones are copied once only.
pub(super) struct Body {
    bytes: Vec<u8>,
}

impl Body {
    pub(super) fn digest(&self) -> u128 {
        let mut hash = Xxh3::new();
        hash.update(&self.bytes);
        hash.digest128()
    }

    pub(super) fn write(&self, out: &mut dyn Write) -> std::io::Result<()> {
        out.write_all(&self.bytes)
    }

    fn number(&mut self, number: u64) {
        self.bytes.extend_from_slice(&number.to_le_bytes());
    }

    fn section(&mut self, count: usize, bytes: impl Iterator<Item = u8>) {
        self.number(count as u64);
        self.bytes.extend(bytes);
        while !self.bytes.len().is_multiple_of(8) {
            self.bytes.push(0);
        }
    }

    fn text(&mut self, text: &str) {
        self.section(text.len(), text.bytes());
    }

    fn positions(&mut self, positions: &[usize]) {
        let bytes = positions.iter().flat_map(|at| (*at as u64).to_le_bytes());
        self.section(positions.len(), bytes);
    }

    fn ids(&mut self, ids: &[u32]) {
        self.section(ids.len(), ids.iter().flat_map(|id| id.to_le_bytes()));
    }

    fn floats<'a>(&mut self, floats: impl ExactSizeIterator<Item = &'a f32>) {
        let count = floats.len();
        self.section(count, floats.flat_map(|float| float.to_le_bytes()));
    }

    fn matrix(&mut self, matrix: &Array2<f32>) {
        self.number(matrix.ncols() as u64);
        self.floats(matrix.iter());
    }

    fn labels(&mut self, labels: &Labels) {
        self.ids(labels.raw());
        self.number(labels.names().len() as u64);
        labels.names().iter().for_each(|name| self.text(name));
    }

    /// Whether an optional part follows, and of which kind.
    fn tag(&mut self, tag: u64) {
        self.number(tag);
    }
}

pub(super) fn dataset(dataset: &GraphDataset) -> Body {
    let store = dataset.store();
    let mut body = Body { bytes: Vec::new() };
    body.text(dataset.name());
    body.positions(&store.nodes);
    body.positions(&store.offsets);
    body.ids(&store.neighbours);
    match store.features.kind() {
        Kind::Dense(matrix) => {
            body.tag(0);
            body.matrix(matrix);
        }
        Kind::Sparse(matrix) => {
            body.tag(1);
            body.number(matrix.shape().1 as u64);
            body.positions(matrix.offsets());
            body.ids(matrix.columns());
            body.floats(matrix.values().iter());
        }
    }
    body.tag(store.weights.is_some().into());
    if let Some(weights) = &store.weights {
        body.floats(weights.iter());
    }
    body.tag(store.attributes.is_some().into());
    if let Some(attributes) = &store.attributes {
        body.matrix(attributes);
    }
    body.tag(store.labels.is_some().into());
    if let Some(labels) = &store.labels {
        body.labels(labels);
    }
    match dataset.targets() {
        None => body.tag(0),
        Some(Targets::Classes(labels)) => {
            body.tag(1);
            body.labels(labels);
        }
        Some(Targets::Values(values)) => {
            body.tag(2);
            body.matrix(values);
        }
    }
    body.tag(dataset.split().is_some().into());
    if let Some(split) = dataset.split() {
        for part in [&split.train, &split.validation, &split.test] {
            body.positions(part);
        }
    }
    let notes = dataset.notes();
    for number in [notes.listed, notes.self_loops, notes.duplicates, notes.one_way] {
        body.number(number);
    }
    body.tag(dataset.feature_columns().is_some().into());
    if let Some(columns) = dataset.feature_columns() {
        body.number(columns.len() as u64);
        for column in columns {
            match column {
                FeatureColumn::Number(name) => {
                    body.tag(0);
                    body.text(name);
                }
                FeatureColumn::Category { property, value } => {
                    body.tag(1);
                    body.text(property);
                    body.text(value);
                }
            }
        }
    }
    let reading = dataset.reading();
    body.number(reading.tables.len() as u64);
    for table in &reading.tables {
        body.text(&table.file);
        body.tag(table.header.into());
        body.number(table.columns.len() as u64);
        for column in &table.columns {
            body.text(&column.name);
            let role = Role::ALL.iter().position(|role| *role == column.role);
            body.number(role.unwrap_or_default() as u64);
        }
    }
    body.number(match reading.ids {
        None => 0,
        Some(NodeIds::ZeroBased) => 1,
        Some(NodeIds::OneBased) => 2,
        Some(NodeIds::Named) => 3,
    });
    body
}
