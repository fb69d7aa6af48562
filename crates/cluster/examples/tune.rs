//! Chooses settings for node clustering without labels, one for all the graphs that
//! are named: from the default grid, by its two criteria.
//!
//! ```text
//! cargo run --release -p egg-cluster --example tune -- cora citeseer --record docs/results/cluster
//! ```
//!
//! Data sets are found by their names. Options: `--seeds N` (3: the seeds
//! 0, 1 and 2), `--record FOLDER` (writes tuning.json there), `--revision TEXT`.

#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::error::Error;
use std::path::PathBuf;

use egg_cluster::pipeline::{Grid, Preset, tune};
use egg_cluster::vgae::Control;
use egg_datasets::DataFolders;
use egg_graph::{Cache, GraphDataset, ReadOptions};
use serde_json::json;

/// Tensors without page faults.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> Result<(), Box<dyn Error>> {
    let mut names = Vec::new();
    let (mut seeds, mut record, mut revision) = (3, None, "unknown".to_owned());
    let mut given = std::env::args().skip(1);
    while let Some(word) = given.next() {
        let mut value = || given.next().ok_or_else(|| format!("{word} needs a value"));
        match word.as_str() {
            "--seeds" => seeds = value()?.parse()?,
            "--record" => record = Some(PathBuf::from(value()?)),
            "--revision" => revision = value()?,
            word if word.starts_with('-') => return Err(format!("no such option: {word}").into()),
            _ => names.push(word),
        }
    }
    let load = |name: &String| -> Result<GraphDataset, egg_datasets::Error> {
        let source = DataFolders::locate().source(name)?;
        Ok(source.load(&ReadOptions::default(), &Cache::Off)?.dataset)
    };
    let datasets: Vec<GraphDataset> = names.iter().map(load).collect::<Result<_, _>>()?;
    let seeds: Vec<u64> = (0..seeds).collect();
    let (grid, base) = (Grid::default(), Preset::Paper.config());
    let tuning = tune(
        &datasets.iter().collect::<Vec<_>>(),
        &grid,
        &base,
        &seeds,
        &mut |progress| {
            eprintln!("{} of {} trainings", progress.done, progress.total);
            Control::Continue
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
    println!("{}", serde_json::to_string_pretty(&tuning.config)?);
    if let Some(folder) = record {
        let data = datasets
            .iter()
            .map(|dataset| json!({"name": dataset.name(), "fingerprint": dataset.fingerprint()}));
        let record = json!({
            "revision": revision,
            "data": data.collect::<Vec<_>>(),
            "seeds": seeds,
            "grid": grid,
            "base": base,
            "tuning": tuning,
        });
        std::fs::create_dir_all(&folder)?;
        let text = serde_json::to_string_pretty(&record)? + "\n";
        egg_files::write(&folder.join("tuning.json"), text.as_bytes())?;
    }
    Ok(())
}
