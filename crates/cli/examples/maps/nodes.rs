//! Nodes as the autoencoder sees them, and as EGG does.

use std::time::Instant;

use egg_gnn::cluster::pipeline::{NodeClustering, Preset};
use egg_gnn::prelude::{BlockModel, Control};
use ndarray::{Array2, Axis};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use serde_json::json;

use super::graphs::chosen;
use super::record::{Drawn, Record, about};
use super::{Arguments, Failure, registered};

/// The maps of one graph.
pub(crate) fn maps(name: &str, arguments: &Arguments) -> Result<Record, Failure> {
    let begin = Instant::now();
    let dataset = match name.parse() {
        Ok(nodes) => BlockModel {
            nodes,
            ..BlockModel::default()
        }
        .generate(&mut ChaCha8Rng::seed_from_u64(0))?,
        Err(_) => registered(name)?,
    };
    let mut config = Preset::Paper.config();
    arguments.set("seed", &mut config.seed)?;
    arguments.set("epochs", &mut config.autoencoder.epochs)?;
    let mut points = 4000;
    arguments.set("points", &mut points)?;
    let labels = dataset.node_labels().ok_or("the nodes have no classes")?;

    let found = NodeClustering::new(config)?.run(&dataset, None, &mut |_| Control::Continue)?;
    let coordinates = found.coordinates.ok_or("the paper's coordinates are EGG's")?;
    let chosen = chosen(dataset.node_count(), points, config.seed);
    let classes = chosen.iter().map(|&node| labels.get(node)).collect();
    let subject = json!({
        "figure": "tsne-nodes",
        "dataset": dataset.name(),
        "nodes": dataset.node_count(),
        "fingerprint": dataset.fingerprint(),
        "config": config,
        "epochs": found.history.len(),
        "captured": found.report.captured,
    });
    let mut record = Record::new(about(subject, begin.elapsed().as_secs_f64()), classes);
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
