//! Nodes as the autoencoder sees them, and as EGG does.

use std::time::Instant;

use egg_cluster::Silent;
use egg_cluster::pipeline::{NodeClustering, NodeClusteringConfig};
use egg_graph::GraphDataset;
use ndarray::{Array2, Axis};
use serde_json::json;

use super::chosen;
use super::record::{Drawn, MapRecord, about};
use crate::error::{Error, Result};

/// The maps of one graph. At most `points` nodes are drawn.
///
/// # Errors
/// If the nodes have no classes; as training and [`MapRecord::add`].
pub fn maps(
    dataset: &GraphDataset,
    config: NodeClusteringConfig,
    points: usize,
    revision: &str,
) -> Result<MapRecord> {
    let begin = Instant::now();
    let unfit = |lacking| Error::Unfit {
        dataset: dataset.name().to_owned(),
        lacking,
    };
    let labels = dataset
        .node_labels()
        .ok_or_else(|| unfit("the nodes have no classes"))?;
    let found = NodeClustering::new(config)?.run(dataset, None, &mut Silent)?;
    let coordinates = found
        .coordinates
        .ok_or_else(|| unfit("the settings have no coordinates of EGG"))?;
    let chosen = chosen(dataset.node_count(), points, config.seed);
    let classes = chosen.iter().map(|&node| labels.get(node)).collect();
    let subject = json!({
        "figure": super::Figure::Nodes.name(),
        "dataset": dataset.name(),
        "nodes": dataset.node_count(),
        "fingerprint": dataset.fingerprint(),
        "config": config,
        "epochs": found.history.len(),
        "captured": found.report.captured,
    });
    let mut record = MapRecord::new(about(subject, revision, begin.elapsed()), classes);
    for (name, rows) in [
        ("H, means of the VGAE", &found.embedding),
        ("EGG(0.8) of H", &coordinates),
    ] {
        record.add("nodes", of_chosen(name, rows, &chosen), &[], config.seed)?;
    }
    Ok(record)
}

fn of_chosen(name: &str, rows: &Array2<f64>, chosen: &[usize]) -> Drawn {
    let rows = rows.select(Axis(0), chosen);
    Drawn {
        name: name.to_owned(),
        columns: rows.ncols(),
        values: rows.iter().map(|&number| number as f32).collect(),
    }
}
