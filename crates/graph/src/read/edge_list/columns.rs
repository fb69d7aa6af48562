//! Which columns of a table are what.

use std::io::BufRead;

use super::NodeIds;
use super::table::Table;
use crate::error::Result;

/// What columns of ends, weights, ids and labels are commonly called.
const SOURCES: &[&str] = &[
    "source", "src", "from", "u", "node1", "id1", "head", "start", "sender",
];
const TARGETS: &[&str] = &[
    "target",
    "dst",
    "to",
    "v",
    "node2",
    "id2",
    "tail",
    "end",
    "receiver",
    "destination",
];
const WEIGHTS: &[&str] = &["weight", "weights", "w", "value"];
const IDS: &[&str] = &["id", "ids", "node", "node_id", "nodeid", "name"];
const GRAPHS: &[&str] = &["graph", "graphs", "graph_id", "graphid", "gid"];
const LABELS: &[&str] = &["label", "labels", "class", "classes", "category", "target"];

/// Where the ends and the weight of an edge are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Columns {
    pub(super) source: usize,
    pub(super) target: usize,
    pub(super) weight: Option<usize>,
    /// How many fields a row has.
    pub(super) width: usize,
}

impl Columns {
    /// From the first row, and whether it is a header.
    pub(super) fn of_first_row<R: BufRead>(table: &Table<R>, ids: NodeIds) -> Result<(Self, bool)> {
        let width = table.width();
        let find = |names| (0..width).find(|index| is_one_of(table.field(*index), names));
        // A node may well be called u, hardly source.
        let is_name = |index: usize| ids != NodeIds::Named || table.field(index).len() > 1;
        if let (Some(source), Some(target)) = (find(SOURCES), find(TARGETS))
            && is_name(source)
            && is_name(target)
        {
            let columns = Self {
                source,
                target,
                weight: find(WEIGHTS).or_else(|| (width == 3).then(|| 3 - source - target)),
                width,
            };
            return Ok((columns, true));
        }
        if !(2..=3).contains(&width) {
            table.expect_width(if width < 2 { 2 } else { 3 })?;
        }
        // Ids that are numbers can't be mistaken for the names of columns.
        let is_header = ids != NodeIds::Named && !table.is_integer(0) && !table.is_integer(1);
        let columns = Self {
            source: 0,
            target: 1,
            weight: (width == 3).then_some(2),
            width,
        };
        Ok((columns, is_header))
    }
}

/// Where the columns of a table of many graphs are, by its header: the graph,
/// the two ends, the weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct GraphColumns {
    pub(super) graph: usize,
    pub(super) edge: Columns,
}

impl GraphColumns {
    /// `None` if the row is no header with these names.
    pub(super) fn of_header<R: BufRead>(table: &Table<R>) -> Option<Self> {
        let width = table.width();
        let find = |names| (0..width).find(|index| is_one_of(table.field(*index), names));
        Some(Self {
            graph: find(GRAPHS)?,
            edge: Columns {
                source: find(SOURCES)?,
                target: find(TARGETS)?,
                weight: find(WEIGHTS),
                width,
            },
        })
    }
}

/// Whether a field is the name of a column of graphs.
pub(super) fn names_graphs(field: &[u8]) -> bool {
    is_one_of(field, GRAPHS)
}

/// Whether a field is the name of a column of ids.
pub(super) fn names_ids(field: &[u8]) -> bool {
    is_one_of(field, IDS)
}

/// Whether a field is the name of a column of labels.
pub(super) fn names_labels(field: &[u8]) -> bool {
    is_one_of(field, LABELS)
}

fn is_one_of(field: &[u8], names: &[&str]) -> bool {
    names
        .iter()
        .any(|name| field.eq_ignore_ascii_case(name.as_bytes()))
}
