//! `egg info`: what is in a data set, or which there are.

use clap::Args;
use egg_gnn::datasets::Registry;
use egg_gnn::graph::{ColumnNotes, GraphDataset, NodeIds, Targets};
use serde_json::json;

use crate::arguments::Common;
use crate::console::Style;
use crate::data::{DEMOS, Data};
use crate::failure::Result;
use crate::record::class_count;
use crate::table::Table;

/// Show what is in a data set; without one, list the names that are known
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[arg(value_name = "DATA")]
    data: Option<String>,
    #[command(flatten)]
    common: Common,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let style = Style::new(arguments.common.json);
    let Some(name) = &arguments.data else {
        list(style);
        return Ok(());
    };
    let data = Data::load(name, &arguments.common)?;
    let dataset = &data.dataset;
    style.emit(&json!({
        "name": dataset.name(),
        "graphs": dataset.len(),
        "nodes": dataset.node_count(),
        "edges": dataset.edge_count(),
        "features": dataset.features().width(),
        "classes": class_count(dataset),
        "unlabelled": unlabelled(dataset),
        "edge_weights": dataset.edge_weights().is_some(),
        "feature_columns": dataset.feature_columns(),
        "edges_read": dataset.notes(),
        "reading": dataset.reading(),
    }));
    let mut table = Table::new([dataset.name(), ""]).of_words();
    for (what, value) in lines(&data) {
        table.row([what.to_owned(), value]);
    }
    style.say(table.text());
    Ok(())
}

fn lines(data: &Data) -> Vec<(&'static str, String)> {
    let dataset = &data.dataset;
    let mean = |total: usize| total as f64 / dataset.len().max(1) as f64;
    let (nodes, edges) = (dataset.node_count(), dataset.edge_count());
    let mut lines = vec![("graphs", dataset.len().to_string())];
    if dataset.len() > 1 {
        lines.push(("nodes", format!("{nodes} ({:.1} a graph)", mean(nodes))));
        lines.push(("edges", format!("{edges} ({:.1} a graph)", mean(edges))));
    } else {
        lines.push(("nodes", nodes.to_string()));
        lines.push(("edges", edges.to_string()));
    }
    lines.push(("features of a node", features(dataset)));
    lines.push(("to predict", targets(dataset)));
    if let Some(count) = unlabelled(dataset).filter(|count| *count > 0) {
        lines.push(("labels not known", count.to_string()));
    }
    lines.push(("read from", data.source.clone()));
    lines.extend(reading(dataset));
    lines
}

fn features(dataset: &GraphDataset) -> String {
    const SHOWN: usize = 8;
    let width = dataset.features().width();
    let Some(columns) = dataset.feature_columns() else {
        return width.to_string();
    };
    let names: Vec<String> = columns.iter().take(SHOWN).map(ToString::to_string).collect();
    let more = if width > SHOWN { ", ..." } else { "" };
    format!("{width} ({}{more})", names.join(", "))
}

/// How many graphs, or nodes of the one graph, have no label, where others have.
fn unlabelled(dataset: &GraphDataset) -> Option<usize> {
    match (dataset.targets(), dataset.node_labels()) {
        (Some(targets), _) => Some(
            (0..dataset.len())
                .filter(|graph| !targets.is_known(*graph))
                .count(),
        ),
        (None, Some(labels)) => Some(labels.len() - labels.known()),
        (None, None) => None,
    }
}

/// Everything that was understood of the files.
fn reading(dataset: &GraphDataset) -> Vec<(&'static str, String)> {
    let (reading, notes) = (dataset.reading(), dataset.notes());
    let mut lines = Vec::new();
    if let Some(ids) = reading.ids {
        let ids = match ids {
            NodeIds::ZeroBased => "numbers from 0",
            NodeIds::OneBased => "numbers from 1",
            NodeIds::Named => "names",
        };
        lines.push(("ids of nodes", ids.to_owned()));
    }
    for table in &reading.tables {
        let header = if table.header { "with" } else { "without" };
        let columns: Vec<String> = match table.header {
            true => table.columns.iter().map(named_column).collect(),
            false => grouped(&table.columns),
        };
        lines.push((
            "table",
            format!("{}, {header} a header: {}", table.file, columns.join(", ")),
        ));
    }
    if notes.listed > 0 {
        let edges = dataset.edge_count() as u64;
        let both = edges.saturating_sub(notes.one_way);
        let direction = match (both, notes.one_way) {
            (_, 0) => "each in both directions".to_owned(),
            (0, _) => "each in one direction".to_owned(),
            (both, one_way) => format!("{both} in both directions, {one_way} in one"),
        };
        lines.push((
            "rows of edges",
            format!(
                "{}; {direction}, read without direction; {} repeated, {} from a node to itself removed",
                notes.listed, notes.duplicates, notes.self_loops
            ),
        ));
    }
    let weights = match dataset.edge_weights() {
        Some(_) => reading
            .weight()
            .map_or("yes".to_owned(), |column| format!("from column {column}")),
        None => "none".to_owned(),
    };
    lines.push(("weights of edges", weights));
    lines
}

fn named_column(column: &ColumnNotes) -> String {
    let name = if column.name.is_empty() {
        "(no name)"
    } else {
        &column.name
    };
    format!("{name} ({})", column.role)
}

/// `columns 1 to 3 (feature)`.
fn grouped(columns: &[ColumnNotes]) -> Vec<String> {
    let groups = columns.chunk_by(|a, b| a.role == b.role);
    let shown = |group: &[ColumnNotes]| match group {
        [only] => format!("column {} ({})", only.name, only.role),
        [first, .., last] => format!("columns {} to {} ({})", first.name, last.name, first.role),
        [] => String::new(),
    };
    groups.map(shown).collect()
}

fn targets(dataset: &GraphDataset) -> String {
    let named = |labels: &egg_gnn::graph::Labels, of: &str| {
        let sizes = labels.names().iter().zip(labels.class_sizes());
        let sizes: Vec<String> = sizes
            .take(8)
            .map(|(name, size)| format!("{name}: {size}"))
            .collect();
        let more = if labels.class_count() > 8 { ", ..." } else { "" };
        format!(
            "{} classes of {of} ({}{more})",
            labels.class_count(),
            sizes.join(", ")
        )
    };
    match (dataset.targets(), dataset.node_labels()) {
        (Some(Targets::Classes(labels)), _) => named(labels, "graphs"),
        (Some(Targets::Values(values)), _) => format!("{} numbers of each graph", values.ncols()),
        (None, Some(labels)) => named(labels, "nodes"),
        (None, None) => "nothing is labelled".to_owned(),
    }
}

fn list(style: Style) {
    let mut table = Table::new(["name", "graphs", "nodes", "used for"]);
    for entry in Registry::builtin().entries() {
        let counts = entry.counts;
        style.emit(&json!({ "name": entry.name, "graphs": counts.graphs, "nodes": counts.nodes }));
        table.row([
            entry.name.clone(),
            counts.graphs.to_string(),
            counts.nodes.to_string(),
            entry.task.name().to_owned(),
        ]);
    }
    for demo in DEMOS {
        style.emit(&json!({ "name": demo }));
        table.row([demo, "", "", "made on the spot"]);
    }
    style.say(table.text());
}
