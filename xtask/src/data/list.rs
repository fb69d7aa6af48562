//! `cargo xtask data list`.

use std::path::Path;

use egg_graph::DatasetEntry;
use serde_json::json;

use crate::error::{Error, Result};
use crate::terminal;

use super::folders::Folders;
use super::{Request, size};

pub(super) fn run(entries: &[&DatasetEntry], folders: &Folders, request: &Request) -> Result<()> {
    let text = if request.json {
        as_json(entries, folders)?
    } else {
        as_table(entries, folders)
    };
    terminal::show(text.as_bytes());
    Ok(())
}

/// By names and sizes only; `verify` looks closer.
fn state(entry: &DatasetEntry, folders: &Folders) -> &'static str {
    if entry.is_complete_below(&folders.to) {
        "prepared"
    } else if folders
        .mirror
        .as_deref()
        .is_some_and(|mirror| offers(entry, mirror))
    {
        "in mirror"
    } else {
        "missing"
    }
}

/// Whether a data folder has a data set, unpacked or in its archive.
pub(super) fn offers(entry: &DatasetEntry, folder: &Path) -> bool {
    let archive = entry.archive.as_ref();
    entry.is_complete_below(folder) || archive.is_some_and(|archive| archive.path_below(folder).is_file())
}

const HEADINGS: [&str; 9] = [
    "name", "task", "graphs", "nodes", "edges", "classes", "size", "licence", "state",
];

fn as_table(entries: &[&DatasetEntry], folders: &Folders) -> String {
    let mut rows = vec![HEADINGS.map(String::from)];
    for entry in entries {
        let counts = &entry.counts;
        rows.push([
            entry.name.clone(),
            entry.task.name().into(),
            size::grouped(counts.graphs),
            size::grouped(counts.nodes),
            match (counts.edges, counts.quoted_edges) {
                (Some(edges), _) => size::grouped(edges),
                (None, Some(edges)) => format!("~{}", size::grouped(edges)),
                (None, None) => "?".into(),
            },
            counts.classes.to_string(),
            entry.size().map_or_else(|| "?".into(), size::bytes),
            entry.licence.clone(),
            state(entry, folders).into(),
        ]);
    }
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let widths: [usize; HEADINGS.len()] = std::array::from_fn(width);
    let mut text = String::new();
    for row in &rows {
        let mut line = String::new();
        for (column, (cell, width)) in row.iter().zip(widths).enumerate() {
            // Numbers to the right.
            if (2..7).contains(&column) {
                line += &format!("{cell:>width$}  ");
            } else {
                line += &format!("{cell:<width$}  ");
            }
        }
        text += line.trim_end();
        text.push('\n');
    }
    let mirror = folders.mirror.as_ref();
    text += &format!(
        "\nprepared in {}\nmirror      {}\n",
        folders.to.display(),
        mirror.map_or_else(|| "none".into(), |mirror| mirror.display().to_string())
    );
    text
}

fn as_json(entries: &[&DatasetEntry], folders: &Folders) -> Result<String> {
    let mut list = Vec::new();
    for entry in entries {
        let mut value = serde_json::to_value(entry).map_err(|e| Error::while_doing(&entry.name, e))?;
        value["size"] = json!(entry.size());
        value["state"] = json!(state(entry, folders));
        list.push(value);
    }
    let text = serde_json::to_string_pretty(&list).map_err(|e| Error::while_doing("the list", e))?;
    Ok(text + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use egg_graph::Registry;

    fn entries() -> Vec<&'static DatasetEntry> {
        Registry::builtin().entries().iter().collect()
    }

    #[test]
    fn the_table_has_a_row_per_data_set_with_its_state() {
        let (to, mirror) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::write(mirror.path().join("MUTAG.zip"), "x").unwrap();
        std::fs::create_dir(to.path().join("wiki_cs")).unwrap();
        std::fs::write(to.path().join("wiki_cs/data.json"), "x").unwrap();
        let folders = Folders {
            to: to.path().into(),
            mirror: Some(mirror.path().into()),
        };
        let table = as_table(&entries(), &folders);
        let row = |name: &str| table.lines().find(|line| line.starts_with(name)).unwrap();
        assert!(row("MUTAG").ends_with("in mirror"));
        assert!(row("Wiki-CS").ends_with("prepared") && row("Wiki-CS").contains("~216,123"));
        assert!(row("Cora").ends_with("missing") && row("Cora").contains("5,278"));

        let json: serde_json::Value = serde_json::from_str(&as_json(&entries(), &folders).unwrap()).unwrap();
        assert_eq!(json.as_array().unwrap().len(), 13);
        assert_eq!(json[0]["state"], "in mirror");
        assert_eq!(json[0]["counts"]["graphs"], 188);
    }
}
