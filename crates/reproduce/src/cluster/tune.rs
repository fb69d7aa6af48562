//! Chooses settings for node clustering without labels.

use std::num::NonZeroU64;
use std::ops::ControlFlow;
use std::path::PathBuf;

use clap::Args;
use egg_cluster::pipeline::{Grid, Preset, TuneProgress, tune};
use egg_graph::GraphDataset;
use serde_json::json;

use crate::error::Result;
use crate::{data, files, provenance};

/// Chooses settings for node clustering without labels, one for all the graphs that are named: from the default
/// grid, by its two criteria.
#[derive(Debug, Args)]
pub struct Request {
    /// Data sets.
    #[arg(required = true, value_name = "NAME")]
    datasets: Vec<String>,
    /// Trains with the seeds 0 to N - 1.
    #[arg(long, value_name = "N", default_value = "3")]
    seeds: NonZeroU64,
    /// Writes tuning.json there.
    #[arg(long, value_name = "DIR")]
    record: Option<PathBuf>,
}

/// Does it.
///
/// # Errors
/// As loading, training and writing.
pub fn run(request: &Request) -> Result<()> {
    let datasets = request.datasets.iter().map(|name| data::load(name));
    let datasets: Vec<GraphDataset> = datasets.collect::<Result<_>>()?;
    let seeds: Vec<u64> = (0..request.seeds.get()).collect();
    let (grid, base) = (Grid::default(), Preset::Paper.config());
    let tuning = tune(
        &datasets.iter().collect::<Vec<_>>(),
        &grid,
        &base,
        &seeds,
        &mut |progress: TuneProgress| {
            eprintln!("{} of {} trainings", progress.done, progress.total);
            ControlFlow::Continue(())
        },
    )?;
    println!("| features | variational | epochs | mean ROC AUC |\n|---|---|---|---|");
    for tried in &tuning.trainings {
        println!(
            "| {:?} | {} | {} | {:.4} |",
            tried.features, tried.variational, tried.epochs, tried.roc_auc
        );
    }
    println!("| links, coordinates | mean modularity |\n|---|---|");
    for tried in &tuning.clusterings {
        let (links, coordinates) = (json!(tried.links), json!(tried.coordinates));
        println!("| {links}, {coordinates} | {:.4} |", tried.modularity);
    }
    println!("{:#}", json!(tuning.config));
    if let Some(folder) = &request.record {
        let data = datasets
            .iter()
            .map(|dataset| json!({"name": dataset.name(), "fingerprint": dataset.fingerprint()}));
        let record = json!({
            "revision": provenance::revision(),
            "data": data.collect::<Vec<_>>(),
            "seeds": seeds,
            "grid": grid,
            "base": base,
            "tuning": tuning,
        });
        files::write_json(&folder.join("tuning.json"), &record)?;
    }
    Ok(())
}
