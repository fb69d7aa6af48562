//! What is known of nodes: their ids, features and labels.

use std::collections::{BTreeSet, HashMap};
use std::io::BufRead;
use std::path::Path;

use ndarray::Array2;

use super::NodeIds;
use super::columns::{names_ids, names_labels};
use super::table::Table;
use crate::adjacency::MAX_NODES;
use crate::error::{Error, Result};
use crate::labels::Labels;
use crate::read::npy::read_npy;
use crate::read::options::ReadOptions;
use crate::read::text::{parse_integer, shown};

/// From ids to positions.
pub(super) struct Ids {
    kind: NodeIds,
    positions: HashMap<String, u32>,
    names: Vec<String>,
    /// One more than the largest position so far.
    count: usize,
}

impl Ids {
    pub(super) fn new(kind: NodeIds) -> Self {
        Self {
            kind,
            positions: HashMap::new(),
            names: Vec::new(),
            count: 0,
        }
    }

    pub(super) fn kind(&self) -> NodeIds {
        self.kind
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// One for each of so many nodes, which are at least those that were named.
    pub(super) fn into_names(mut self, nodes: usize) -> Option<Vec<String>> {
        if self.kind != NodeIds::Named {
            return None;
        }
        self.names.resize(nodes.max(self.names.len()), String::new());
        Some(self.names)
    }

    /// The position of the node whose id is in a column; `fixed` is the number
    /// of nodes if it is known.
    pub(super) fn resolve<R: BufRead>(
        &mut self,
        table: &Table<R>,
        column: usize,
        fixed: Option<usize>,
    ) -> Result<u32> {
        let first = match self.kind {
            NodeIds::ZeroBased => 0,
            NodeIds::OneBased => 1,
            NodeIds::Named => return self.resolve_name(table, column, fixed),
        };
        let nodes = i64::try_from(fixed.unwrap_or(MAX_NODES).min(MAX_NODES)).unwrap_or(i64::MAX);
        let id = table.within(column, "node id", first, nodes - 1 + first)? - first;
        let position = u32::try_from(id).map_err(|_| table.wrong("the id of a node is too large"))?;
        self.count = self.count.max(position as usize + 1);
        Ok(position)
    }

    fn resolve_name<R: BufRead>(
        &mut self,
        table: &Table<R>,
        column: usize,
        fixed: Option<usize>,
    ) -> Result<u32> {
        let name = table.name(column)?;
        if name.is_empty() {
            return Err(table.wrong("the id of a node is empty"));
        }
        if let Some(position) = self.positions.get(name) {
            return Ok(*position);
        }
        if fixed.is_some_and(|nodes| self.names.len() >= nodes) {
            return Err(table.wrong(format!(
                "node `{}` has no row of features",
                shown(name.as_bytes())
            )));
        }
        let position = u32::try_from(self.names.len())
            .ok()
            .filter(|position| (*position as usize) < MAX_NODES)
            .ok_or_else(|| table.wrong("there are more nodes than can be numbered"))?;
        self.positions.insert(name.to_owned(), position);
        self.names.push(name.to_owned());
        self.count = self.names.len();
        Ok(position)
    }
}

/// Rows of features and which nodes they belong to.
pub(super) struct Features {
    values: Array2<f32>,
    /// `None` if row k is node k.
    nodes: Option<Vec<u32>>,
}

impl Features {
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

pub(super) fn read_features(path: &Path, ids: &mut Ids, options: &ReadOptions) -> Result<Features> {
    let is_npy = path
        .extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("npy"));
    if !is_npy {
        return read_feature_table(path, ids, options);
    }
    if ids.kind() == NodeIds::Named {
        return Err(Error::file(
            path,
            "rows of an .npy file have no names; give the features as a table whose first column is the id",
        ));
    }
    let values = read_npy(path, options)?.to_matrix()?;
    if values.ncols() == 0 {
        return Err(Error::file(path, "there are rows but no columns"));
    }
    Ok(Features { values, nodes: None })
}

fn read_feature_table(path: &Path, ids: &mut Ids, options: &ReadOptions) -> Result<Features> {
    let mut table = Table::open(path, false, options)?;
    let named = ids.kind() == NodeIds::Named;
    let mut with_ids = named;
    let (mut values, mut nodes) = (Vec::new(), Vec::new());
    let mut seen = BTreeSet::new();
    let mut width = None;
    let mut rows = 0;
    while table.advance()? {
        if width.is_none() {
            width = Some(table.width());
            let columns = usize::from(named)..table.width();
            let is_header =
                !columns.is_empty() && columns.into_iter().all(|column| !table.looks_numeric(column));
            if is_header || names_ids(table.field(0)) {
                with_ids |= names_ids(table.field(0));
                continue;
            }
        }
        table.expect_width(width.unwrap_or(0))?;
        if with_ids {
            let node = ids.resolve(&table, 0, None)?;
            if !seen.insert(node) {
                return Err(table.wrong("the node has features already"));
            }
            nodes.push(node);
        }
        for column in usize::from(with_ids)..table.width() {
            values.push(table.float(column)?);
        }
        rows += 1;
    }
    let width = width.unwrap_or(0).saturating_sub(usize::from(with_ids));
    if rows == 0 || width == 0 {
        return Err(Error::file(path, "there are no features in this table"));
    }
    let values = Array2::from_shape_vec((rows, width), values)
        .map_err(|error| Error::file(table.file(), error.to_string()))?;
    Ok(Features {
        values,
        nodes: with_ids.then_some(nodes),
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

/// `fixed` is the number of nodes if features determine it.
pub(super) fn read_labels(
    path: &Path,
    ids: &mut Ids,
    fixed: Option<usize>,
    options: &ReadOptions,
) -> Result<LabelRows> {
    let mut table = Table::open(path, false, options)?;
    let mut labels = Vec::new();
    let mut nodes = Vec::new();
    let mut seen = BTreeSet::new();
    let mut width = None;
    while table.advance()? {
        if width.is_none() {
            let found = table.width();
            if !(1..=2).contains(&found) {
                table.expect_width(2)?;
            }
            if found == 1 && ids.kind() == NodeIds::Named {
                return Err(table.wrong("with ids that are names, a row of labels is `id,label`"));
            }
            width = Some(found);
            if names_labels(table.field(found - 1)) || (found == 2 && names_ids(table.field(0))) {
                continue;
            }
        }
        table.expect_width(width.unwrap_or(1))?;
        if width == Some(2) {
            let node = ids.resolve(&table, 0, fixed)?;
            if !seen.insert(node) {
                return Err(table.wrong("the node has a label already"));
            }
            nodes.push(node);
        }
        labels.push(table.name(width.unwrap_or(1) - 1)?.to_owned());
    }
    if labels.is_empty() {
        return Err(Error::file(path, "there are no labels in this file"));
    }
    Ok(LabelRows {
        labels,
        nodes: (width == Some(2)).then_some(nodes),
    })
}
