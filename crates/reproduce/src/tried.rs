//! A table of trials, by validation alone: tests are not looked at.

use std::path::PathBuf;

use clap::Args;
use egg_pool::convolution::Gcn;
use egg_pool::protocol::RunRecord;
use egg_pool::train::BatchLoss;
use egg_results::Summary;

use crate::error::{Error, Result};

/// A table of the trials in folders of records that `trial --record` wrote, by validation alone.
#[derive(Debug, Args)]
pub(crate) struct Request {
    /// Folders of records.
    #[arg(required = true, value_name = "DIR")]
    folders: Vec<PathBuf>,
    /// With the test column: for settings that are chosen.
    #[arg(long)]
    test: bool,
}

/// Prints it.
pub(crate) fn run(request: &Request) -> Result<()> {
    let mut records = Vec::new();
    for folder in &request.folders {
        for entry in std::fs::read_dir(folder).map_err(Error::file(folder))? {
            let path = entry.map_err(Error::file(folder))?.path();
            if path.extension().is_some_and(|extension| extension == "json") {
                records.push(RunRecord::load(path)?);
            }
        }
    }
    let loss = |record: &RunRecord| record.validation_loss.map_or(f64::INFINITY, |loss| loss.mean);
    let group = |record: &RunRecord| {
        let model = &record.experiment.model;
        (record.dataset.clone(), model.convolution.name())
    };
    records.sort_by(|a, b| group(a).cmp(&group(b)).then(loss(a).total_cmp(&loss(b))));

    let percent = |summary: Option<Summary>| summary.map_or("-".to_owned(), |summary| summary.percent());
    let test = if request.test { " test |" } else { "" };
    println!(
        "| data | model | pooling | rate | decay | width | dropout | other | p | epochs | runs | validation loss | accuracy |{test}"
    );
    println!(
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|{}",
        if request.test { "---|" } else { "" }
    );
    for record in &records {
        let (model, training) = (&record.experiment.model, &record.experiment.training);
        let count = record.repetitions.len() as f64;
        let epochs = record
            .repetitions
            .iter()
            .map(|run| run.epochs as f64)
            .sum::<f64>()
            / count;
        let ranks = record.repetitions.iter().flat_map(|run| &run.ranks);
        let (sum, poolings) = ranks.fold((0.0, 0), |(sum, n), ranks| (sum + ranks.mean, n + 1));
        let p = match poolings {
            0 => "-".to_owned(),
            n => format!("{:.1}", sum / f64::from(n)),
        };
        let mut others = Vec::new();
        if training.batch_loss == BatchLoss::Mean {
            others.push("mean loss");
        }
        if model.node_norm {
            others.push("norm before pooling");
        }
        if !model.head.output_norm {
            others.push("no norm of scores");
        }
        if model.convolution.get::<Gcn>().is_some() && !model.activation {
            others.push("linear");
        }
        let test = if request.test {
            format!(" {} |", percent(record.test))
        } else {
            String::new()
        };
        println!(
            "| {} | {} | {} | {} | {} | {} | {} | {} | {p} | {epochs:.0} | {count} | {:.4} | {} |{test}",
            record.dataset,
            model.convolution,
            model.pooling,
            training.learning_rate,
            training.weight_decay,
            model.hidden,
            model.head.dropout,
            others.join(", "),
            loss(record),
            percent(record.validation),
        );
    }
    Ok(())
}
