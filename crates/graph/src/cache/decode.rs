//! From bytes to a data set. `None` for anything that does not fit: the caller
//! then reads the source.
//!
//! Counts in the file are compared with the bytes that follow before
//! anything is allocated.

use ndarray::Array2;

use crate::adjacency::EdgeNotes;
use crate::dataset::GraphDataset;
use crate::feature_columns::FeatureColumn;
use crate::features::Features;
use crate::labels::{Labels, Targets};
use crate::read::{ColumnNotes, NodeIds, ReadNotes, Role, TableNotes};
use crate::sparse::CsrMatrix;
use crate::split::Split;
use crate::store::Store;

struct Body<'a> {
    bytes: &'a [u8],
}

impl<'a> Body<'a> {
    fn number(&mut self) -> Option<u64> {
        let (number, rest) = self.bytes.split_first_chunk::<8>()?;
        self.bytes = rest;
        Some(u64::from_le_bytes(*number))
    }

    fn count(&mut self) -> Option<usize> {
        usize::try_from(self.number()?).ok()
    }

    /// The bytes of a section with values of `size` bytes.
    fn section(&mut self, size: usize) -> Option<&'a [u8]> {
        let length = self.count()?.checked_mul(size)?;
        let padded = length.checked_next_multiple_of(8)?;
        let (section, rest) = self.bytes.split_at_checked(padded)?;
        self.bytes = rest;
        section.get(..length)
    }

    fn text(&mut self) -> Option<String> {
        String::from_utf8(self.section(1)?.to_vec()).ok()
    }

    fn positions(&mut self) -> Option<Vec<usize>> {
        let (words, _) = self.section(8)?.as_chunks::<8>();
        let position = |word: &[u8; 8]| usize::try_from(u64::from_le_bytes(*word)).ok();
        words.iter().map(position).collect()
    }

    fn ids(&mut self) -> Option<Vec<u32>> {
        let (words, _) = self.section(4)?.as_chunks::<4>();
        Some(words.iter().map(|word| u32::from_le_bytes(*word)).collect())
    }

    fn floats(&mut self) -> Option<Vec<f32>> {
        let (words, _) = self.section(4)?.as_chunks::<4>();
        Some(words.iter().map(|word| f32::from_le_bytes(*word)).collect())
    }

    fn matrix(&mut self, rows: usize) -> Option<Array2<f32>> {
        let width = self.count()?;
        let values = self.floats()?;
        (rows.checked_mul(width)? == values.len())
            .then(|| Array2::from_shape_vec((rows, width), values).ok())
            .flatten()
    }

    fn labels(&mut self) -> Option<Labels> {
        let classes = self.ids()?;
        let count = self.count()?;
        let mut names = Vec::new();
        for _ in 0..count {
            names.push(self.text()?);
        }
        Labels::from_raw(classes, names).ok()
    }

    fn reading(&mut self) -> Option<ReadNotes> {
        let mut tables = Vec::new();
        for _ in 0..self.count()? {
            let (file, header) = (self.text()?, self.flag()?);
            let mut columns = Vec::new();
            for _ in 0..self.count()? {
                columns.push(ColumnNotes {
                    name: self.text()?,
                    role: *Role::ALL.get(self.count()?)?,
                });
            }
            tables.push(TableNotes {
                file,
                header,
                columns,
            });
        }
        let ids = match self.number()? {
            0 => None,
            1 => Some(NodeIds::ZeroBased),
            2 => Some(NodeIds::OneBased),
            3 => Some(NodeIds::Named),
            _ => return None,
        };
        Some(ReadNotes { ids, tables })
    }

    /// Whether an optional part follows.
    fn flag(&mut self) -> Option<bool> {
        match self.number()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }
}

pub(super) fn dataset(bytes: &[u8]) -> Option<GraphDataset> {
    let mut body = Body { bytes };
    let name = body.text()?;
    let nodes = body.positions()?;
    let offsets = body.positions()?;
    let rows = offsets.len().checked_sub(1)?;
    let neighbours = body.ids()?;
    nodes.len().checked_sub(1)?;
    let mut store = Store::bare(nodes, offsets, neighbours);
    store.features = if body.flag()? {
        let width = body.count()?;
        let (offsets, columns, values) = (body.positions()?, body.ids()?, body.floats()?);
        Features::sparse(CsrMatrix::new(offsets, columns, values, width).ok()?)
    } else {
        Features::dense(body.matrix(rows)?).ok()?
    };
    let entries = store.neighbours.len();
    if body.flag()? {
        store.weights = Some(body.floats()?);
    }
    if body.flag()? {
        store.attributes = Some(body.matrix(entries)?);
    }
    if body.flag()? {
        store.labels = Some(body.labels()?);
    }
    let mut dataset = GraphDataset::from_store(name, store).ok()?;
    dataset = match body.number()? {
        0 => dataset,
        1 => dataset.with_targets(Targets::Classes(body.labels()?)).ok()?,
        2 => {
            let rows = dataset.len();
            dataset.with_targets(Targets::Values(body.matrix(rows)?)).ok()?
        }
        _ => return None,
    };
    if body.flag()? {
        let split = Split {
            train: body.positions()?,
            validation: body.positions()?,
            test: body.positions()?,
        };
        dataset = dataset.with_split(split).ok()?;
    }
    let notes = EdgeNotes {
        listed: body.number()?,
        self_loops: body.number()?,
        duplicates: body.number()?,
        one_way: body.number()?,
    };
    dataset = dataset.with_notes(notes);
    if body.flag()? {
        let mut columns = Vec::new();
        for _ in 0..body.count()? {
            columns.push(match body.flag()? {
                false => FeatureColumn::Number(body.text()?),
                true => FeatureColumn::Category {
                    property: body.text()?,
                    value: body.text()?,
                },
            });
        }
        dataset = dataset.with_feature_columns(columns).ok()?;
    }
    let reading = body.reading()?;
    body.bytes.is_empty().then(|| dataset.with_reading(reading))
}
