//! `egg predict`: what a trained model says of graphs.

use std::path::PathBuf;

use clap::Args;
use egg_gnn::pool::folder::{Prediction, TrainedModel};
use serde_json::json;

use crate::arguments::Common;
use crate::console::{Style, counted, note};
use crate::data::{Data, naming};
use crate::failure::{Failure, Result};
use crate::model::{self, csv_field};
use crate::output;
use crate::table::Table;

/// How many predictions a table shows; a file has all.
const SHOWN: usize = 20;

/// Predict the labels of graphs with a trained model
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The folder that `egg train` wrote
    #[arg(long, value_name = "DIR")]
    model: PathBuf,
    /// The graphs: a registered name, a path, or demo:covariance
    #[arg(long, value_name = "DATA")]
    data: String,
    /// A CSV file for the predictions, one row per graph
    #[arg(long, value_name = "FILE.csv")]
    out: Option<PathBuf>,
    #[command(flatten)]
    common: Common,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let style = Style::new(arguments.common.json);
    let trained = model::load(&arguments.model)?;
    let data = model::read(&trained, &arguments.data, &arguments.common)?;
    if let Some(path) = &arguments.out {
        output::check("--out", path, &data.files)?;
    }
    let (dataset, unseen) = naming(data.dataset.name(), model::prepare(&trained, &data))?;
    let predictions = naming(data.dataset.name(), trained.predict(dataset))?;
    for (graph, prediction) in predictions.iter().enumerate() {
        style.emit(&match prediction {
            Prediction::Class {
                class,
                label,
                probabilities,
            } => json!({
                "event": "prediction",
                "graph": data.graph_name(graph),
                "class": class,
                "label": label,
                "probabilities": probabilities,
            }),
            Prediction::Numbers(values) => json!({
                "event": "prediction",
                "graph": data.graph_name(graph),
                "values": values,
            }),
        });
    }
    if let Some(path) = &arguments.out {
        output::write(path, csv(&trained, &data, &predictions).as_bytes())?;
    }
    let scored = naming(
        data.dataset.name(),
        trained.score(&predictions, &data.dataset).map_err(Failure::from),
    )?;
    let metric = trained.config().training.metric;
    let score = scored
        .as_ref()
        .and_then(|scored| scored.scores.as_ref()?.get(metric));
    style.emit(&json!({
        "event": "summary",
        "graphs": predictions.len(),
        "data": data.dataset.name(),
        "metric": score.map(|_| metric.name()),
        "mean": score,
        "unknown_classes": scored.as_ref().map(|scored| scored.unknown_classes),
        "degrees_clamped": unseen.degrees,
        "nodes_unseen": unseen.nodes,
        "out": arguments.out.as_ref().map(|path| path.display().to_string()),
    }));
    if let Some(unknown) = scored
        .map(|scored| scored.unknown_classes)
        .filter(|unknown| *unknown > 0)
    {
        note(&format!(
            "{}: {} with a label that the model does not know; not measured",
            data.dataset.name(),
            counted(unknown, "graph")
        ));
    }
    let shown = score.map(|score| format!("{metric} {score:.4}"));
    print_summary(style, arguments, &data, &predictions, shown);
    Ok(())
}

fn csv(trained: &TrainedModel, data: &Data, predictions: &[Prediction]) -> String {
    let config = trained.config();
    let mut header = vec!["graph".to_owned()];
    if config.training.objective.of_classes() {
        header.push("label".to_owned());
        header.extend(
            config
                .data
                .classes
                .iter()
                .map(|class| csv_field(&format!("p({class})"))),
        );
    } else {
        header.extend((1..=config.outputs).map(|column| format!("value{column}")));
    }
    let mut text = header.join(",") + "\n";
    for (graph, prediction) in predictions.iter().enumerate() {
        let mut row = vec![csv_field(&data.graph_name(graph))];
        match prediction {
            Prediction::Class {
                label, probabilities, ..
            } => {
                row.push(csv_field(label));
                row.extend(probabilities.iter().map(|p| format!("{p:.6}")));
            }
            Prediction::Numbers(values) => row.extend(values.iter().map(|value| format!("{value}"))),
        }
        text += &row.join(",");
        text.push('\n');
    }
    text
}

fn print_summary(
    style: Style,
    arguments: &Arguments,
    data: &Data,
    predictions: &[Prediction],
    score: Option<String>,
) {
    let mut table = Table::new(["graph", "label", "probability"]);
    for (graph, prediction) in predictions.iter().enumerate().take(SHOWN) {
        let (label, probability) = match prediction {
            Prediction::Class {
                class,
                label,
                probabilities,
            } => (
                label.clone(),
                probabilities
                    .get(*class as usize)
                    .map_or_else(String::new, |p| format!("{p:.4}")),
            ),
            Prediction::Numbers(values) => (format!("{values:.4?}"), String::new()),
        };
        table.row([data.graph_name(graph), label, probability]);
    }
    style.say(table.text());
    if predictions.len() > SHOWN {
        style.say(format!("  ... and {} more", predictions.len() - SHOWN));
    }
    style.say(format!(
        "\n{} of {}",
        counted(predictions.len(), "graph"),
        data.dataset.name()
    ));
    if let Some(score) = score {
        style.say(format!(
            "{score} on the labels that are known (the model may have been trained on some of them)"
        ));
    }
    match &arguments.out {
        Some(path) => style.say(format!("all of them in {}", path.display())),
        None => style.say("--out FILE.csv writes all of them"),
    }
}
