//! Which files belong to a list of edges, and what its ids are.

use std::path::{Path, PathBuf};

use super::columns::Columns;
use super::graphs::find_table;
use super::table::Table;
use super::{EdgeListSource, NodeIds};
use crate::error::{Error, Result};
use crate::read::options::ReadOptions;

/// Ids that leave out more than this many times as many as they use are names.
const GAPS: i64 = 16;

pub(super) fn find(path: &Path, options: &ReadOptions) -> Result<EdgeListSource> {
    let (edges, features, labels) = if path.is_dir() {
        let edges = find_table(path, "edges").ok_or_else(|| Error::Missing {
            file: path.join("edges.csv"),
            why: "it lists the edges, two node ids per line",
        })?;
        let npy = Some(path.join("features.npy")).filter(|path| path.is_file());
        let table = || find_table(path, "features").or_else(|| find_table(path, "nodes"));
        (edges, npy.or_else(table), find_table(path, "labels"))
    } else {
        let beside = |what: &str| {
            let stem = path.file_stem()?.to_string_lossy().into_owned();
            let folder = path.parent().unwrap_or(Path::new(""));
            let npy = folder.join(format!("{stem}.{what}.npy"));
            match npy.is_file() {
                true => Some(npy),
                false => find_table(folder, &format!("{stem}.{what}")),
            }
        };
        (path.to_owned(), beside("features"), beside("labels"))
    };
    let is_npy = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "npy");
    let ids = match ids(&edges, options)? {
        // An isolated node 0 has no edge, but it has a row.
        NodeIds::OneBased if features.as_ref().is_some_and(is_npy) => NodeIds::ZeroBased,
        ids => ids,
    };
    Ok(EdgeListSource {
        edges,
        features,
        labels,
        ids,
    })
}

/// What the ids in a file of edges are.
fn ids(path: &Path, options: &ReadOptions) -> Result<NodeIds> {
    let mut table = Table::open(path, true, options)?;
    let mut columns: Option<Columns> = None;
    let (mut least, mut most, mut rows) = (i64::MAX, i64::MIN, 0i64);
    while table.advance()? {
        let Some(Columns { source, target, .. }) = columns else {
            // A first row without a number may be a header or two names; the
            // rest tells.
            let (found, is_header) = Columns::of_first_row(&table, NodeIds::ZeroBased)?;
            columns = Some(found);
            if is_header {
                continue;
            }
            if !(table.is_integer(found.source) && table.is_integer(found.target)) {
                return Ok(NodeIds::Named);
            }
            (least, most, rows) = bounds(&table, found, (least, most, rows));
            continue;
        };
        if !(table.is_integer(source) && table.is_integer(target)) {
            return Ok(NodeIds::Named);
        }
        let found = Columns {
            source,
            target,
            weight: None,
            width: 0,
        };
        (least, most, rows) = bounds(&table, found, (least, most, rows));
    }
    let declared = table.declared_nodes.is_some();
    Ok(match least {
        // No edges at all, or the file says how many nodes there are.
        _ if rows == 0 || (declared && least >= 0) => NodeIds::ZeroBased,
        0 | 1 if most > rows.saturating_mul(GAPS) => NodeIds::Named,
        0 => NodeIds::ZeroBased,
        1 => NodeIds::OneBased,
        _ => NodeIds::Named,
    })
}

fn bounds<R: std::io::BufRead>(
    table: &Table<R>,
    columns: Columns,
    (least, most, rows): (i64, i64, i64),
) -> (i64, i64, i64) {
    let id = |column: usize| {
        let text = std::str::from_utf8(table.field(column)).ok();
        // Too long for a number is too long for a position.
        text.and_then(|text| text.parse::<i64>().ok()).unwrap_or(i64::MAX)
    };
    let (a, b) = (id(columns.source), id(columns.target));
    (least.min(a).min(b), most.max(a).max(b), rows + 1)
}
