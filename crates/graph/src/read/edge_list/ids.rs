//! What the ids of nodes are, and which node each stands for.

use std::collections::HashMap;
use std::io::BufRead;

use super::NodeIds;
use super::survey::Range;
use super::table::Table;
use crate::adjacency::MAX_NODES;
use crate::error::Result;
use crate::read::text::shown;

/// Ids that leave out more than this many times as many as they use are names.
const GAPS: i64 = 16;

/// What the files show about ids.
#[derive(Debug, Clone, Copy)]
pub(super) struct Evidence {
    /// Of all ids, in edges and in tables that have ids; `None` if some are words.
    pub(super) range: Option<Range>,
    /// How many edges there are.
    pub(super) edges: usize,
    /// The rows of tables that have one for each node, in order.
    pub(super) rows: Option<usize>,
    /// What a comment `# nodes: n` says. It counts from 0.
    pub(super) declared: Option<usize>,
}

/// What ids are, or why that is ambiguous.
pub(super) fn decide(evidence: Evidence) -> std::result::Result<NodeIds, String> {
    let Some(Range { least, most }) = evidence.range else {
        // Words, or no ids at all.
        return Ok(match evidence.edges {
            0 => NodeIds::ZeroBased,
            _ => NodeIds::Named,
        });
    };
    let as_i64 = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
    if let Some(declared) = evidence.declared.map(as_i64) {
        return match least {
            0.. if most < declared => Ok(NodeIds::ZeroBased),
            1.. if most == declared => Ok(NodeIds::OneBased),
            _ => Err(format!(
                "a comment says {declared} nodes, but ids go from {least} to {most}"
            )),
        };
    }
    if let Some(rows) = evidence.rows {
        return match least {
            0 => Ok(NodeIds::ZeroBased),
            1.. if most >= as_i64(rows) => Ok(NodeIds::OneBased),
            1.. => Err(format!(
                "ids go from {least} to {most}, and there are {rows} rows of features or labels: is the first row \
                 that of node 0 or of node 1? Say which: --ids-from 0 or --ids-from 1 (`TableOptions::ids`)"
            )),
            _ => Ok(NodeIds::Named),
        };
    }
    Ok(match least {
        0 | 1 if most > as_i64(evidence.edges).saturating_mul(GAPS) => NodeIds::Named,
        0 => NodeIds::ZeroBased,
        1 => NodeIds::OneBased,
        _ => NodeIds::Named,
    })
}

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

    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// One for each node; `nodes` is at least the number of those that were named.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn decided(
        least: i64,
        most: i64,
        rows: Option<usize>,
        declared: Option<usize>,
    ) -> std::result::Result<NodeIds, String> {
        decide(Evidence {
            range: Some(Range { least, most }),
            edges: 10,
            rows,
            declared,
        })
    }

    #[test]
    fn id_base_is_inferred_or_an_error() {
        use NodeIds::{Named, OneBased, ZeroBased};
        for (least, most, rows, declared, expected) in [
            (0, 9, None, None, Some(ZeroBased)),
            (1, 9, None, None, Some(OneBased)),
            (2, 9, None, None, Some(Named)),
            (-3, 9, None, None, Some(Named)),
            (0, 10_000, None, None, Some(Named)),
            // Rows in order.
            (0, 9, Some(10), None, Some(ZeroBased)),
            (0, 9, Some(12), None, Some(ZeroBased)),
            (1, 9, Some(9), None, Some(OneBased)),
            (1, 9, Some(10), None, None),
            (1, 9, Some(11), None, None),
            (2, 9, Some(9), None, Some(OneBased)),
            (3, 9, Some(10), None, None),
            // A comment that counts nodes from 0.
            (1, 9, Some(10), Some(10), Some(ZeroBased)),
            (3, 9, None, Some(12), Some(ZeroBased)),
            (1, 10, None, Some(10), Some(OneBased)),
            (0, 10, None, Some(10), None),
            (1, 11, None, Some(10), None),
        ] {
            let found = decided(least, most, rows, declared);
            assert_eq!(
                found.as_ref().ok().copied(),
                expected,
                "{least} {most} {rows:?} {declared:?} {found:?}"
            );
        }
    }
}
