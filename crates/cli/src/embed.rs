//! `egg embed`: what a trained model sees in graphs, as arrays.

use std::path::PathBuf;

use clap::Args;
use egg_gnn::graph::write_npy;
use ndarray::Array2;
use serde_json::json;

use crate::arguments::Common;
use crate::console::{Style, counted};
use crate::data::naming;
use crate::failure::{Failure, Result};
use crate::{model, output};

/// Write the embeddings of graphs, or of their nodes, to a NumPy file
///
/// One row per graph: the flattened projector on its subspace for EGG, what was pooled for others.
/// With --nodes one row per node, with --leverage one number per node: how much of its graph's
/// subspace hangs on it, from 0 to 1. Nodes are in the order of the data.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The folder that `egg train` wrote
    #[arg(long, value_name = "DIR")]
    model: PathBuf,
    /// The graphs: a registered name, a path, or demo:covariance
    #[arg(long, value_name = "DATA")]
    data: String,
    /// Where the array goes
    #[arg(long, value_name = "FILE.npy")]
    out: PathBuf,
    /// A row per node instead
    #[arg(long)]
    nodes: bool,
    /// The leverage of each node instead; only of models that pool with EGG
    #[arg(long, conflicts_with = "nodes")]
    leverage: bool,
    #[command(flatten)]
    common: Common,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let style = Style::new(arguments.common.json);
    let trained = model::load(&arguments.model)?;
    let pooling = &trained.config().model.pooling;
    let no_subspaces = || {
        Failure::other(format!(
            "--leverage is of subspaces, and this model pools with {pooling}\nhelp: train one with --pool egg"
        ))
    };
    if arguments.leverage && pooling.rank_rule().is_none() {
        return Err(no_subspaces());
    }
    let data = model::read(&trained, &arguments.data, &arguments.common)?;
    output::check("--out", &arguments.out, &data.files)?;
    let (dataset, unseen) = naming(data.dataset.name(), model::prepare(&trained, &data))?;
    let embedding = naming(data.dataset.name(), trained.embed(dataset))?;
    let (what, rows) = if arguments.leverage {
        let subspaces = embedding.subspaces.ok_or_else(no_subspaces)?;
        let count = subspaces.leverage.len();
        let column = Array2::from_shape_vec((count, 1), subspaces.leverage);
        (
            "leverages of nodes",
            column.map_err(|error| Failure::other(error.to_string()))?,
        )
    } else if arguments.nodes {
        let nodes = embedding.nodes.ok_or_else(|| {
            Failure::other("--nodes: this model has no convolutions, so no embeddings of nodes".to_owned())
        })?;
        ("nodes", nodes)
    } else {
        ("graphs", embedding.graphs)
    };
    output::make_folder(&arguments.out)?;
    write_npy(&arguments.out, rows.view())?;
    let out = arguments.out.display().to_string();
    style.emit(&json!({
        "event": "summary",
        "of": what,
        "rows": rows.nrows(),
        "columns": rows.ncols(),
        "graphs": data.dataset.len(),
        "degrees_clamped": unseen.degrees,
        "nodes_unseen": unseen.nodes,
        "out": out,
    }));
    style.say(format!(
        "{what}: {} x {} of f32 in {out}",
        counted(rows.nrows(), "row"),
        counted(rows.ncols(), "column")
    ));
    Ok(())
}
