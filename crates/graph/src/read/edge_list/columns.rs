//! Which columns of a table are what.

use std::collections::HashSet;

use super::survey::{Kind, Known, Survey, Unclear};
use super::table::{Table, dict_weight};
use crate::error::{Error, Result};
use crate::read::notes::{ColumnNotes, Role, TableNotes};
use crate::read::options::{Header, ReadOptions, TableOptions};

/// What columns of ends, weights, ids, graphs and labels are commonly called.
const SOURCES: &[&str] = &[
    "source", "src", "from", "u", "node1", "node_1", "id1", "head", "start", "sender",
];
const TARGETS: &[&str] = &[
    "target",
    "dst",
    "to",
    "v",
    "node2",
    "node_2",
    "id2",
    "tail",
    "end",
    "receiver",
    "destination",
];
const WEIGHTS: &[&str] = &["weight", "weights"];
const IDS: &[&str] = &[
    "id",
    "ids",
    "node",
    "node_id",
    "nodeid",
    "vertex",
    "vertex_id",
    "name",
];
/// What the numbers of rows are called; only of a first column.
const INDICES: &[&str] = &["", "index", "unnamed: 0", "row.names", "rownames"];
const GRAPHS: &[&str] = &["graph", "graphs", "graph_id", "graphid", "gid"];
const LABELS: &[&str] = &["label", "labels", "class", "classes"];
/// In a table of labels alone; among features these could be anything.
const ALSO_LABELS: &[&str] = &["category", "target", "y"];

fn is_one_of(field: &str, names: &[&str]) -> bool {
    names.iter().any(|name| field.eq_ignore_ascii_case(name))
}

/// The header of a table, if it has one, and what its columns are used as.
#[derive(Debug, Clone)]
pub(super) struct Columns {
    pub(super) header: bool,
    pub(super) width: usize,
    names: Vec<String>,
    roles: Vec<Role>,
    file: String,
}

impl Columns {
    fn new(survey: &Survey, header: bool) -> Self {
        let names = match header {
            true => survey.first().to_vec(),
            false => (1..=survey.width()).map(|number| number.to_string()).collect(),
        };
        let file = survey.file().file_name().unwrap_or_default();
        let mut columns = Self {
            header,
            width: survey.width(),
            roles: vec![Role::Unused; names.len()],
            names,
            file: file.to_string_lossy().into_owned(),
        };
        // An index may still be taken for ids, where there are no others.
        if let Some(role) = columns.roles.first_mut()
            && header
            && columns.names.first().is_some_and(|name| is_one_of(name, INDICES))
        {
            *role = Role::RowIndex;
        }
        columns
    }

    /// The first column that is used as this.
    pub(super) fn position(&self, role: Role) -> Option<usize> {
        self.roles.iter().position(|own| *own == role)
    }

    /// All columns that are used as this.
    pub(super) fn positions(&self, role: Role) -> Vec<usize> {
        (0..self.roles.len())
            .filter(|at| self.roles.get(*at) == Some(&role))
            .collect()
    }

    /// What the header calls a column, else its number.
    pub(super) fn name(&self, position: usize) -> &str {
        self.names.get(position).map_or("", String::as_str)
    }

    pub(super) fn notes(&self) -> TableNotes {
        let columns = self.names.iter().zip(&self.roles);
        TableNotes {
            file: self.file.clone(),
            header: self.header,
            columns: columns
                .map(|(name, role)| ColumnNotes {
                    name: name.clone(),
                    role: *role,
                })
                .collect(),
        }
    }

    fn set(&mut self, position: usize, role: Role) {
        if let Some(own) = self.roles.get_mut(position) {
            *own = role;
        }
    }

    /// Whether a column has no role yet; an index may still get one.
    fn is_free(&self, position: usize) -> bool {
        matches!(self.roles.get(position), Some(Role::Unused | Role::RowIndex))
    }

    /// The column of the first of these names that there is.
    fn first_named(&self, names: &[&str]) -> Option<usize> {
        let at = |name: &&str| {
            let same =
                |at: &usize| self.header && self.is_free(*at) && self.name(*at).eq_ignore_ascii_case(name);
            (0..self.names.len()).find(same)
        };
        names.iter().find_map(at)
    }

    /// The only column of such a name that has no other role yet.
    fn named(&self, names: &[&str], survey: &Survey) -> Result<Option<usize>> {
        let found: Vec<usize> = (0..self.names.len())
            .filter(|at| self.header && self.is_free(*at) && is_one_of(self.name(*at), names))
            .collect();
        match found.as_slice() {
            [first, second, ..] => Err(Error::file(
                survey.file(),
                format!(
                    "columns `{}` and `{}` could both be the {}: rename one of them",
                    self.name(*first),
                    self.name(*second),
                    names.first().copied().unwrap_or_default(),
                ),
            )),
            found => Ok(found.first().copied()),
        }
    }

    /// A column by its name or its number, counted from 1.
    fn chosen(&self, wanted: &str, survey: &Survey) -> Result<usize> {
        let by_name = self.names.iter().position(|name| self.header && name == wanted);
        let by_case = || {
            let same = |name: &String| self.header && name.eq_ignore_ascii_case(wanted);
            self.names.iter().position(same)
        };
        let by_number = || {
            let number = wanted.parse::<usize>().ok()?.checked_sub(1)?;
            (number < self.names.len()).then_some(number)
        };
        by_name.or_else(by_case).or_else(by_number).ok_or_else(|| {
            let there = match self.header {
                true => self.names.join(", "),
                false => format!("no header, and {} columns", self.width),
            };
            Error::file(
                survey.file(),
                format!("there is no column `{wanted}`: there are {there}"),
            )
        })
    }

    /// Columns that have no role yet, an index excepted.
    fn free(&self) -> Vec<usize> {
        self.positions(Role::Unused)
    }
}

/// Whether a field is the name of a column of edges.
fn names_edges(field: &str) -> bool {
    [SOURCES, TARGETS, WEIGHTS]
        .iter()
        .any(|names| is_one_of(field, names))
}

/// The columns of a list of edges, [`Role::Source`] and [`Role::Target`] among them.
pub(super) fn edges(survey: &Survey, options: &ReadOptions) -> Result<Columns> {
    let tables = &options.tables;
    if survey.width() == 0 {
        // Comments at most: no edges.
        return Ok(Columns::new(survey, false));
    }
    if survey.width() == 1 {
        return Err(Error::file(
            survey.file(),
            "a list of edges has two columns or more, this table has one",
        ));
    }
    let known = Known {
        names: &names_edges,
        kind: Kind::Edges,
    };
    let header = match survey.has_header(tables.header, &known) {
        Ok(header) => header,
        Err(unclear) => return Err(survey.ambiguous_header(unclear)),
    };
    let mut columns = Columns::new(survey, header);
    let (source, target) = ends(&columns, survey, tables)?;
    if source == target {
        return Err(Error::file(
            survey.file(),
            format!("column `{}` can't be both ends of an edge", columns.name(source)),
        ));
    }
    columns.set(source, Role::Source);
    columns.set(target, Role::Target);
    // NetworkX writes a dict, in which a weight has its name.
    let is_dict = |at: &usize| {
        let first = survey.first().get(*at).map(String::as_bytes);
        !header && first.is_some_and(|first| first.starts_with(b"{") && dict_weight(first).is_some())
    };
    let weight = match &tables.weight {
        Some(wanted) => Some(columns.chosen(wanted, survey)?),
        None if header => columns.named(WEIGHTS, survey)?,
        None => columns.free().into_iter().find(is_dict),
    };
    if let Some(weight) = weight {
        if [source, target].contains(&weight) {
            let name = columns.name(weight);
            return Err(Error::file(
                survey.file(),
                format!("column `{name}` is an end of an edge, it can't be the weight"),
            ));
        }
        columns.set(weight, Role::Weight);
    }
    Ok(columns)
}

fn ends(columns: &Columns, survey: &Survey, tables: &TableOptions) -> Result<(usize, usize)> {
    let too_few = || {
        Error::file(
            survey.file(),
            format!(
                "a list of edges has two columns or more, this table has {}",
                columns.width
            ),
        )
    };
    match (&tables.source, &tables.target) {
        (Some(source), Some(target)) => {
            return Ok((columns.chosen(source, survey)?, columns.chosen(target, survey)?));
        }
        (None, None) => {}
        _ => {
            return Err(Error::file(
                survey.file(),
                "of the two ends of an edge only one column was named; name both",
            ));
        }
    }
    let named = (columns.named(SOURCES, survey)?, columns.named(TARGETS, survey)?);
    if let (Some(source), Some(target)) = named {
        return Ok((source, target));
    }
    let mut free = columns.free();
    if columns.header {
        let weight = columns.named(WEIGHTS, survey)?;
        free.retain(|at| Some(*at) != weight);
    }
    match free.as_slice() {
        [] | [_] => Err(too_few()),
        [source, target] => Ok((*source, *target)),
        [source, target, ..] if !columns.header => {
            if survey.counts_rows(0) {
                return Err(Error::file(
                    survey.file(),
                    "the first of several columns counts the rows: is it an index, or an end of the edges? \
                     Say which columns are the ends: --columns source=2,target=3 or source=1,target=2 (`TableOptions`)",
                ));
            }
            Ok((*source, *target))
        }
        _ => Err(Error::file(
            survey.file(),
            format!(
                "the header names {}; which of these are the ends of an edge? Call them source and target, or say \
                 so: --columns source=NAME,target=NAME (`TableOptions`)",
                survey.first().join(", ")
            ),
        )),
    }
}

/// The names of nodes, where there is need to know them.
pub(super) type Names<'a> = &'a dyn Fn() -> Result<HashSet<String>>;

/// What is known of the number of nodes before a table is read.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct NodeCount {
    /// Exactly this many.
    pub(super) exact: Option<usize>,
    /// At least this many.
    pub(super) least: usize,
}

impl NodeCount {
    /// Whether a table with a row for every node begins with a header; `rows` counts its first
    /// row too.
    fn implies_header(self, rows: usize) -> Option<bool> {
        match self.exact {
            Some(nodes) if rows == nodes => Some(false),
            Some(nodes) if rows == nodes + 1 => Some(true),
            _ if rows <= self.least => Some(false),
            _ => None,
        }
    }
}

/// The columns of a table of features: perhaps [`Role::Node`], perhaps
/// [`Role::Label`], and [`Role::Feature`]s. `nodes` has the names of nodes that have
/// edges, if they have names; then there must be a column of them.
pub(super) fn features(
    survey: &Survey,
    nodes: Option<Names<'_>>,
    count: NodeCount,
    options: &ReadOptions,
) -> Result<Columns> {
    let named = nodes.is_some();
    let names = |field: &str| is_one_of(field, IDS) || is_one_of(field, LABELS);
    let known = Known {
        names: &names,
        kind: Kind::Features,
    };
    let option = options.tables.header;
    let header = match (survey.has_header(option, &known), option) {
        // Numbers may be names of columns (years), and the first name no node.
        (Ok(false), Header::Auto) if named => header_by_ids(survey, nodes, None, options)?
            .ok_or_else(|| survey.ambiguous_header(Unclear::Words))?,
        (Ok(header), _) => header,
        (Err(unclear), _) => {
            let inferred = count.implies_header(survey.rows(false));
            inferred.ok_or_else(|| survey.ambiguous_header(unclear))?
        }
    };
    let mut columns = Columns::new(survey, header);
    let first_is_id = named || columns.position(Role::RowIndex) == Some(0);
    match columns.first_named(IDS).or(first_is_id.then_some(0)) {
        Some(id) => columns.set(id, Role::Node),
        None if !header && columns.width > 1 && survey.counts_rows(0) => {
            return Err(Error::file(
                survey.file(),
                "the first column counts the nodes: are these ids, or a feature? Give the table a header, \
                 with `id` above ids",
            ));
        }
        None => {}
    }
    if let Some(label) = columns.named(LABELS, survey)? {
        columns.set(label, Role::Label);
    }
    for free in columns.free() {
        columns.set(free, Role::Feature);
    }
    Ok(columns)
}

/// The columns of a table of labels: [`Role::Label`], and [`Role::Node`] unless there
/// is one for every node in order. `nodes` has the names of all nodes that are known, if
/// they have names.
pub(super) fn labels(
    survey: &Survey,
    nodes: Option<Names<'_>>,
    first_id: Option<i64>,
    count: NodeCount,
    options: &ReadOptions,
) -> Result<Columns> {
    let names = |field: &str| {
        [IDS, LABELS, ALSO_LABELS]
            .iter()
            .any(|names| is_one_of(field, names))
    };
    let known = Known {
        names: &names,
        kind: Kind::Labels,
    };
    let option = options.tables.header;
    let single_column = survey.width() == 1;
    // The number of rows is better evidence than names: `y` may mean yes.
    let counted = match single_column && option == Header::Auto && survey.rows(true) > 0 {
        true => count.implies_header(survey.rows(false)),
        false => None,
    };
    let header = match (counted, survey.has_header(option, &known)) {
        (Some(header), _) | (None, Ok(header)) => header,
        (None, Err(unclear)) => {
            let inferred = match single_column {
                true => None,
                false => header_by_ids(survey, nodes, first_id, options)?,
            };
            inferred.ok_or_else(|| survey.ambiguous_header(unclear))?
        }
    };
    let mut columns = Columns::new(survey, header);
    if single_column {
        columns.set(0, Role::Label);
        return Ok(columns);
    }
    columns.set(columns.first_named(IDS).unwrap_or(0), Role::Node);
    let label = match columns
        .first_named(LABELS)
        .or_else(|| columns.first_named(ALSO_LABELS))
    {
        Some(label) => label,
        None => match columns.free().as_slice() {
            [label] => *label,
            _ => {
                return Err(Error::file(
                    survey.file(),
                    format!(
                        "which of the {} columns has the labels? Head it `label`, and the ids `id`",
                        columns.width
                    ),
                ));
            }
        },
    };
    columns.set(label, Role::Label);
    Ok(columns)
}

/// Whether the first row of `id,label` is a header, by what its id could be.
fn header_by_ids(
    survey: &Survey,
    nodes: Option<Names<'_>>,
    first_id: Option<i64>,
    options: &ReadOptions,
) -> Result<Option<bool>> {
    let first = survey.first().first().map_or("", String::as_str);
    let Some(nodes) = nodes else {
        // `0,1`: the class of node 0, if there is such a node; a header, if node 0 has another row.
        return Ok(match survey.first_value_recurs(0) {
            true => Some(true),
            false => (first_id == Some(0)).then_some(false),
        });
    };
    let nodes = nodes()?;
    if nodes.contains(first) {
        return Ok(Some(false));
    }
    // The only id that is no node is a header.
    let mut table = Table::open(survey.file(), false, options)?;
    table.advance()?;
    while table.advance()? {
        if !nodes.contains(table.name(0)?) {
            return Ok(None);
        }
    }
    Ok(Some(true))
}

/// The columns of a table about several graphs, by its header. `None` if it names no
/// column of graphs.
pub(super) fn graph_columns(survey: &Survey) -> Result<Option<Columns>> {
    let mut columns = Columns::new(survey, true);
    let Some(graph) = columns.named(GRAPHS, survey)? else {
        return Ok(None);
    };
    columns.set(graph, Role::Graph);
    Ok(Some(columns))
}

impl Columns {
    /// With the ends and perhaps the weight of edges.
    pub(super) fn with_edges(mut self, survey: &Survey, tables: &TableOptions) -> Result<Option<Self>> {
        let (source, target) = match (&tables.source, &tables.target) {
            (Some(source), Some(target)) => (self.chosen(source, survey)?, self.chosen(target, survey)?),
            _ => match (self.named(SOURCES, survey)?, self.named(TARGETS, survey)?) {
                (Some(source), Some(target)) => (source, target),
                _ => return Ok(None),
            },
        };
        self.set(source, Role::Source);
        self.set(target, Role::Target);
        let weight = match &tables.weight {
            Some(wanted) => Some(self.chosen(wanted, survey)?),
            None => self.named(WEIGHTS, survey)?,
        };
        if let Some(weight) = weight {
            self.set(weight, Role::Weight);
        }
        Ok(Some(self))
    }

    /// With the node that each row is of, and its features.
    pub(super) fn with_nodes(mut self) -> Option<Self> {
        let node = self.first_named(IDS)?;
        self.set(node, Role::Node);
        for free in self.free() {
            self.set(free, Role::Feature);
        }
        Some(self)
    }

    /// With the label of each graph.
    pub(super) fn with_label(mut self) -> Option<Self> {
        let named = self.first_named(LABELS).or_else(|| self.first_named(ALSO_LABELS));
        let label = match (named, self.free().as_slice()) {
            (Some(label), _) => label,
            (None, [only]) => *only,
            _ => return None,
        };
        self.set(label, Role::Label);
        Some(self)
    }
}
