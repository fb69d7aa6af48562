//! What is known of nodes: their features and labels.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use ndarray::Array2;

use super::columns::Columns;
use super::ids::Ids;
use super::table::Table;
use crate::error::{Error, Result};
use crate::feature_columns::FeatureColumn;
use crate::labels::Labels;
use crate::read::notes::Role;
use crate::read::options::ReadOptions;
use crate::read::text::parse_integer;

/// Rows of features and which nodes they belong to.
pub(super) struct Features {
    values: Array2<f32>,
    /// `None` if row k is node k.
    nodes: Option<Vec<u32>>,
    /// What the header calls the columns.
    pub(super) columns: Option<Vec<FeatureColumn>>,
    /// From a column of the same table.
    pub(super) labels: Option<LabelRows>,
}

impl Features {
    /// Rows in the order of the nodes.
    pub(super) fn in_order(values: Array2<f32>) -> Self {
        Self {
            values,
            nodes: None,
            columns: None,
            labels: None,
        }
    }

    pub(super) fn rows(&self) -> usize {
        self.values.nrows()
    }

    pub(super) fn into_matrix(self, nodes: usize, path: &Path) -> Result<Array2<f32>> {
        if self.values.nrows() != nodes {
            return Err(Error::file(
                path,
                format!("features of {} nodes, but there are {nodes}", self.values.nrows()),
            ));
        }
        let Some(order) = self.nodes else {
            return Ok(self.values);
        };
        let mut row_of = vec![None; nodes];
        for (row, node) in order.iter().enumerate() {
            if let Some(place) = row_of.get_mut(*node as usize) {
                *place = Some(row);
            }
        }
        let rows: Option<Vec<usize>> = row_of.into_iter().collect();
        let rows = rows.ok_or_else(|| Error::file(path, "a node has no features, another has two rows"))?;
        Ok(self.values.select(ndarray::Axis(0), &rows))
    }
}

/// Reads a table whose columns are known.
pub(super) fn read_features(
    path: &Path,
    columns: &Columns,
    ids: &mut Ids,
    options: &ReadOptions,
) -> Result<Features> {
    let mut table = Table::open(path, false, options)?;
    let (id, label) = (columns.position(Role::Node), columns.position(Role::Label));
    let numbers = columns.positions(Role::Feature);
    let (mut values, mut nodes, mut labels) = (Vec::new(), Vec::new(), Vec::new());
    let mut seen = BTreeSet::new();
    let mut rows = 0;
    if columns.header {
        table.advance()?;
    }
    while table.advance()? {
        table.expect_width(columns.width)?;
        if let Some(id) = id {
            let node = ids.resolve(&table, id, None)?;
            if !seen.insert(node) {
                return Err(table.wrong("the node has features already"));
            }
            nodes.push(node);
        }
        for column in &numbers {
            values.push(table.float(*column)?);
        }
        if let Some(label) = label {
            labels.push(label_at(&table, label)?);
        }
        rows += 1;
    }
    if rows == 0 || (numbers.is_empty() && label.is_none()) {
        return Err(Error::file(path, "there are no features in this table"));
    }
    let values = Array2::from_shape_vec((rows, numbers.len()), values)
        .map_err(|error| Error::file(table.file(), error.to_string()))?;
    let nodes = id.is_some().then_some(nodes);
    let named = |column: &usize| FeatureColumn::number(columns.name(*column));
    Ok(Features {
        values,
        columns: columns.header.then(|| numbers.iter().map(named).collect()),
        labels: label.map(|_| LabelRows {
            labels,
            nodes: nodes.clone(),
        }),
        nodes,
    })
}

/// A label; empty if it is not known.
pub(super) fn label_at<R: std::io::BufRead>(table: &Table<R>, column: usize) -> Result<String> {
    Ok(match table.is_missing(column) {
        true => String::new(),
        false => table.name(column)?.to_owned(),
    })
}

/// Labels and which nodes they belong to; `None` if row k is node k.
pub(super) struct LabelRows {
    labels: Vec<String>,
    nodes: Option<Vec<u32>>,
}

impl LabelRows {
    /// One for each, in order.
    pub(super) fn in_order(labels: Vec<String>) -> Self {
        Self { labels, nodes: None }
    }

    /// Whether there is a row for every node.
    pub(super) fn covers_all(&self) -> bool {
        self.nodes.is_none()
    }

    pub(super) fn len(&self) -> usize {
        self.labels.len()
    }

    /// Numbers in their order if all are numbers, else texts in theirs.
    pub(super) fn into_labels(self, nodes: usize) -> Result<Labels> {
        // 007 is a name: as the number 7 it would not be found again.
        let number =
            |text: &String| parse_integer(text.as_bytes()).filter(|value| value.to_string() == *text);
        let known: BTreeSet<&String> = self.labels.iter().filter(|label| !label.is_empty()).collect();
        let mut names: Vec<&String> = known.into_iter().collect();
        if names.iter().all(|name| number(name).is_some()) {
            names.sort_by_key(|name| number(name));
        }
        let class_of: HashMap<&String, u32> = names.iter().copied().zip(0u32..).collect();
        let mut classes = vec![None; nodes];
        for (row, label) in self.labels.iter().enumerate() {
            let node = match &self.nodes {
                Some(nodes) => nodes.get(row).map(|node| *node as usize),
                None => Some(row),
            };
            if let Some(place) = node.and_then(|node| classes.get_mut(node)) {
                *place = class_of.get(label).copied();
            }
        }
        Labels::new(&classes, names.into_iter().cloned().collect())
    }
}

/// Reads a table whose columns are known; `fixed` is the number of nodes if features
/// determine it.
pub(super) fn read_labels(
    path: &Path,
    columns: &Columns,
    ids: &mut Ids,
    fixed: Option<usize>,
    options: &ReadOptions,
) -> Result<LabelRows> {
    let mut table = Table::open(path, false, options)?;
    let (id, label) = (
        columns.position(Role::Node),
        columns.position(Role::Label).unwrap_or(0),
    );
    let (mut labels, mut nodes) = (Vec::new(), Vec::new());
    let mut seen = BTreeSet::new();
    if columns.header {
        table.advance()?;
    }
    while table.advance()? {
        table.expect_width(columns.width)?;
        if let Some(id) = id {
            let node = ids.resolve(&table, id, fixed)?;
            if !seen.insert(node) {
                return Err(table.wrong("the node has a label already"));
            }
            nodes.push(node);
        }
        labels.push(label_at(&table, label)?);
    }
    if labels.is_empty() {
        return Err(Error::file(path, "there are no labels in this file"));
    }
    Ok(LabelRows {
        labels,
        nodes: id.is_some().then_some(nodes),
    })
}
