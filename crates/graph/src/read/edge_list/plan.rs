//! A first pass over all files: what their columns are, and what the ids are.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::columns::{self, Columns, Names, NodeCount};
use super::ids::{self, Evidence};
use super::survey::{Range, Survey};
use super::table::Table;
use super::{EdgeListSource, NodeIds};
use crate::error::{Error, Result};
use crate::read::notes::{ReadNotes, Role};
use crate::read::npy::read_npy;
use crate::read::options::ReadOptions;

/// What the files hold.
pub(super) struct Plan {
    pub(super) edges: Columns,
    pub(super) features: Option<FeaturePlan>,
    pub(super) labels: Option<Columns>,
    pub(super) ids: NodeIds,
    /// The number of nodes that a comment declares.
    pub(super) declared: Option<usize>,
}

pub(super) enum FeaturePlan {
    /// Row k is node k.
    Array(ndarray::Array2<f32>),
    Table(Columns),
}

impl Plan {
    pub(super) fn notes(&self) -> ReadNotes {
        let features = match &self.features {
            Some(FeaturePlan::Table(columns)) => Some(columns.notes()),
            _ => None,
        };
        let labels = self.labels.as_ref().map(Columns::notes);
        let tables = [Some(self.edges.notes()), features, labels];
        ReadNotes {
            ids: Some(self.ids),
            tables: tables.into_iter().flatten().collect(),
        }
    }
}

impl EdgeListSource {
    /// What each file holds, before any id is resolved.
    pub(super) fn plan(&self, options: &ReadOptions) -> Result<Plan> {
        let survey = Survey::read(&self.edges, true, options)?;
        let edges = columns::edges(&survey, options)?;
        let option = options.tables.ids.or(self.ids);
        let rows = survey.rows(edges.header);
        let declared = survey.declared_nodes;
        let column = |role| edges.position(role).unwrap_or(0);
        let range = |role| survey.integers(column(role), edges.header);
        let mut ids = IdRange::default();
        if rows > 0 {
            ids.add(range(Role::Source));
            ids.add(range(Role::Target));
        }
        let named = option == Some(NodeIds::Named) || (option.is_none() && ids.words);
        let mut count = NodeCount {
            exact: declared,
            least: ids.least_nodes(option),
        };

        let features = match &self.features {
            None => None,
            Some(path) if is_npy(path) => {
                let values = read_npy(path, options)?.to_matrix()?;
                if values.ncols() == 0 {
                    return Err(Error::file(path, "there are rows but no columns"));
                }
                Some(FeaturePlan::Array(values))
            }
            Some(path) => {
                let survey = Survey::read(path, false, options)?;
                if survey.width() == 0 {
                    return Err(Error::file(path, "there are no features in this table"));
                }
                let names = || self.names(&edges, None, options);
                let names: Names<'_> = &names;
                let columns = columns::features(&survey, named.then_some(names), count, options)?;
                match columns.position(Role::Node) {
                    Some(id) => ids.add(survey.integers(id, columns.header)),
                    None => ids.in_order = Some((survey.rows(columns.header), path)),
                }
                count.exact = Some(survey.rows(columns.header));
                Some(FeaturePlan::Table(columns))
            }
        };
        if let (Some(FeaturePlan::Array(values)), Some(path)) = (&features, &self.features) {
            count.exact = Some(values.nrows());
            ids.in_order = Some((values.nrows(), path));
        }

        let labels = match &self.labels {
            None => None,
            Some(path) => {
                let survey = Survey::read(path, false, options)?;
                if survey.width() == 0 {
                    return Err(Error::file(path, "there are no labels in this file"));
                }
                let names = || self.names(&edges, features.as_ref(), options);
                let names: Names<'_> = &names;
                let first_id = ids.range.map(|range| range.least);
                let columns = columns::labels(&survey, named.then_some(names), first_id, count, options)?;
                match columns.position(Role::Node) {
                    Some(id) => ids.add(survey.integers(id, columns.header)),
                    None if ids.in_order.is_none() => {
                        ids.in_order = Some((survey.rows(columns.header), path));
                    }
                    None => {}
                }
                Some(columns)
            }
        };
        let decided = match option {
            Some(option) => option,
            None => ids::decide(Evidence {
                range: ids.range.filter(|_| !ids.words),
                edges: rows,
                rows: ids.in_order.map(|(rows, _)| rows),
                declared,
            })
            .map_err(|problem| Error::file(&self.edges, problem))?,
        };
        if let (NodeIds::Named, Some((_, path))) = (decided, ids.in_order) {
            return Err(Error::file(
                path,
                "nodes have names, and these rows have none; give a table with a column of ids, `id`",
            ));
        }
        Ok(Plan {
            edges,
            features,
            labels,
            ids: decided,
            declared,
        })
    }

    /// The names of all nodes that edges and features name.
    fn names(
        &self,
        edges: &Columns,
        features: Option<&FeaturePlan>,
        options: &ReadOptions,
    ) -> Result<HashSet<String>> {
        let mut names = HashSet::new();
        let mut add = |path: &Path, columns: &Columns, ids: &[usize], skip_blank| -> Result<()> {
            let mut table = Table::open(path, skip_blank, options)?;
            if columns.header {
                table.advance()?;
            }
            while table.advance()? {
                for id in ids {
                    let name = table.name(*id)?;
                    if !names.contains(name) {
                        names.insert(name.to_owned());
                    }
                }
            }
            Ok(())
        };
        let endpoints: Vec<usize> = [Role::Source, Role::Target]
            .into_iter()
            .filter_map(|role| edges.position(role))
            .collect();
        add(&self.edges, edges, &endpoints, true)?;
        if let (Some(path), Some(FeaturePlan::Table(columns))) = (&self.features, features) {
            add(path, columns, &columns.positions(Role::Node), false)?;
        }
        Ok(names)
    }
}

fn is_npy(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("npy"))
}

/// What is known of ids so far.
#[derive(Default)]
struct IdRange<'a> {
    range: Option<Range>,
    /// Some are no whole numbers.
    words: bool,
    /// A table that has a row for each node, in order.
    in_order: Option<(usize, &'a PathBuf)>,
}

impl IdRange<'_> {
    fn add(&mut self, more: Option<Range>) {
        self.range = match (self.range, more) {
            (Some(a), Some(b)) => Some(Range {
                least: a.least.min(b.least),
                most: a.most.max(b.most),
            }),
            (a, b) => a.or(b),
        };
        self.words |= more.is_none();
    }

    /// How many nodes there must be.
    fn least_nodes(&self, option: Option<NodeIds>) -> usize {
        let Some(range) = self
            .range
            .filter(|_| !self.words && option != Some(NodeIds::Named))
        else {
            return 0;
        };
        let from_zero = range.least == 0 || option == Some(NodeIds::ZeroBased);
        let most = usize::try_from(range.most).unwrap_or(0);
        most.saturating_add(usize::from(from_zero))
    }
}
