//! `egg info`: what is in a data set, or which there are.

use clap::Args;
use egg_gnn::graph::{GraphDataset, Registry, Targets};
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
    let style = Style::of(arguments.common.json);
    let Some(name) = &arguments.data else {
        list(style);
        return Ok(());
    };
    let data = Data::load(name, arguments.common.datasets.as_deref())?;
    let dataset = &data.dataset;
    style.emit(&json!({
        "name": dataset.name(),
        "graphs": dataset.len(),
        "nodes": dataset.node_count(),
        "edges": dataset.edge_count(),
        "features": dataset.features().width(),
        "classes": class_count(dataset),
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
    lines.push(("features of a node", dataset.features().width().to_string()));
    lines.push(("to predict", targets(dataset)));
    lines.push(("read from", data.source.clone()));
    lines
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
