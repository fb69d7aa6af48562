//! `cargo xtask bench paper`: the paper's tables on real data, as records on disk,
//! and pages made of the records alone.

mod cells;
mod classification;
mod cluster;
mod figures;
mod grid;
mod maps;
mod pooled;
mod records;
mod verdicts;
mod words;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::arguments::{self, Arguments};
use crate::error::{Error, Result};
use crate::process::output_of;
use crate::setup::{self, Install};
use crate::terminal;
use crate::workspace::Workspace;

const HELP: &str = "\
cargo xtask bench paper --table gcn,gin [--dataset A,B] [--pool X,Y] [--protocol paper|fair] [--reps N] [--budget 60m]
cargo xtask bench paper --table grid [--dataset A,B] [--pool X,Y] [--reps N] [--budget 60m]
cargo xtask bench paper --table cluster [--dataset A,B] [--preset NAME] [--reps N] [--budget 60m]
cargo xtask bench paper --figure sensitivity,curves,tsne-graphs,tsne-nodes [--reps N] [--budget 60m]
cargo xtask bench paper --render

Runs the paper's experiments and keeps every repetition in docs/results/, one file per
cell, written as it goes. What is there is not repeated: call again to go on. --render
makes docs/RESULTS.md and docs/results/figures of the records.

Options:
  --table NAMES      gcn: Table 2, gin: Table 3, graph classification; grid: the paper's
                     grid of settings for some of their cells, chosen by the validation
                     loss, then tested; cluster: Table 5, k-means on VGAE embeddings, with
                     EGG and without
  --figure NAMES     sensitivity: accuracy over the threshold r, curves: loss and accuracy
                     by epoch; both of GCN-EGG and GIN-EGG on PROTEINS. tsne-graphs: maps
                     of COLLAB's graphs, tsne-nodes: of the nodes of Cora, Citeseer, Pubmed
  --dataset NAMES    MUTAG, PROTEINS, Mutagenicity, NCI1, DD, COLLAB, ogbg-molhiv; of
                     clustering Cora, Citeseer, Pubmed, Coauthor-CS, Wiki-CS; all that are
                     there if not given, of the grid PROTEINS and NCI1
  --pool NAMES       topk, sag, edge, pan, sum, avg, max, attention, egg; soft-egg, random,
                     blind. The paper's nine if not given, of the grid egg and sum
  --protocol NAME    paper, fair (paper); docs/TRAINING.md says how they differ
  --preset NAME      of clustering: paper, tuned (paper); with -sampled at its end, the
                     likelihood of as many sampled non-edges as edges
  --reps N           repetitions, the same whatever N is (10)
  --budget TIME      30s, 60m, 2h: begin no repetition after that

Environment:
  EGG_DATASETS=DIR   the folder of the data sets
  RAYON_NUM_THREADS  threads; the numbers don't depend on it
";

const CLUSTERED: [&str; 5] = ["Cora", "Citeseer", "Pubmed", "Coauthor-CS", "Wiki-CS"];

#[derive(Debug)]
struct Request {
    tables: Vec<String>,
    figures: Vec<String>,
    datasets: Vec<String>,
    poolings: Vec<String>,
    protocol: String,
    preset: String,
    repetitions: usize,
    /// In seconds.
    budget: Option<u64>,
    begin: Instant,
    render: bool,
}

impl Request {
    /// The poolings that were asked for, or those of a table.
    fn poolings_or(&self, all: &[&str]) -> Vec<String> {
        match self.poolings.is_empty() {
            true => all.iter().copied().map(String::from).collect(),
            false => self.poolings.clone(),
        }
    }

    /// Of the budget.
    fn seconds_left(&self) -> Option<u64> {
        let budget = self.budget?;
        Some(budget.saturating_sub(self.begin.elapsed().as_secs()))
    }
}

pub(super) fn command(workspace: &Workspace, arguments: Arguments) -> Result<()> {
    let Some(mut request) = parse(arguments)? else {
        terminal::show(HELP.as_bytes());
        return Ok(());
    };
    let named = !request.datasets.is_empty();
    for table in std::mem::take(&mut request.tables) {
        if !named {
            let all: &[&str] = match table.as_str() {
                "cluster" => &CLUSTERED,
                "grid" => &grid::DATASETS,
                _ => &cells::DATASETS,
            };
            request.datasets = all.iter().copied().map(String::from).collect();
            // Its file is not to be had everywhere. Named, it is an error that says so.
            request
                .datasets
                .retain(|name| name != "Wiki-CS" || has_wiki_cs(workspace));
        }
        match table.as_str() {
            "cluster" => run_clustering(workspace, &request)?,
            "grid" => grid::run(workspace, &request)?,
            table => cells::run(workspace, &request, table)?,
        }
    }
    for figure in std::mem::take(&mut request.figures) {
        match maps::NAMES.contains(&figure.as_str()) {
            true => maps::run(workspace, &request, &figure)?,
            false => figures::run(workspace, &request, &figure)?,
        }
    }
    if request.render {
        let page = workspace.root.join("docs/RESULTS.md");
        let results = workspace.root.join("docs/results");
        super::report::save(&page, &rendered(&results)?)?;
        figures::write(&results)?;
        println!("Wrote {}", page.display());
    }
    Ok(())
}

/// The whole page.
fn rendered(results: &Path) -> Result<String> {
    let path = results.join("words.md");
    let words = std::fs::read_to_string(&path).map_err(|e| Error::while_doing(path.display(), e))?;
    let mut page = words::fill(results, &words)?;
    for part in [
        classification::section(results, "gcn")?,
        classification::section(results, "gin")?,
        pooled::section(results)?,
        grid::section(results)?,
        cluster::section(results)?,
        figures::section(results)?,
        maps::section(results)?,
    ] {
        page.push('\n');
        page.push_str(part.trim_end());
        page.push('\n');
    }
    Ok(page)
}

/// `None` is a request for help.
fn parse(mut arguments: Arguments) -> Result<Option<Request>> {
    let mut request = Request {
        tables: Vec::new(),
        figures: Vec::new(),
        datasets: Vec::new(),
        poolings: Vec::new(),
        protocol: "paper".into(),
        preset: "paper".into(),
        repetitions: 10,
        budget: None,
        begin: Instant::now(),
        render: false,
    };
    while let Some(word) = arguments.next() {
        match word.as_str() {
            "--table" => request.tables.extend(list(&arguments.value("--table", HELP)?)),
            "--figure" => request.figures.extend(list(&arguments.value("--figure", HELP)?)),
            "--dataset" => request
                .datasets
                .extend(list(&arguments.value("--dataset", HELP)?)),
            "--pool" => request.poolings.extend(list(&arguments.value("--pool", HELP)?)),
            "--protocol" => request.protocol = arguments.value("--protocol", HELP)?,
            "--preset" => request.preset = arguments.value("--preset", HELP)?,
            "--reps" => request.repetitions = arguments.count("--reps", HELP)?,
            "--budget" => request.budget = Some(seconds(&arguments.value("--budget", HELP)?)?),
            "--render" => request.render = true,
            word if arguments::is_help(word) => return Ok(None),
            word => return Err(arguments::unknown(word, HELP)),
        }
    }
    if request.tables.is_empty() && request.figures.is_empty() && !request.render {
        return Err(Error::usage("which table or figure?", HELP));
    }
    known("table", &mut request.tables, &["gcn", "gin", "grid", "cluster"])?;
    let figures = [figures::NAMES, maps::NAMES].concat();
    known("figure", &mut request.figures, &figures)?;
    let poolings = [&cells::POOLINGS[..], &cells::OURS].concat();
    known("pooling", &mut request.poolings, &poolings)?;
    known(
        "protocol",
        std::slice::from_mut(&mut request.protocol),
        &["paper", "fair"],
    )?;
    let datasets = [&cells::DATASETS[..], &CLUSTERED].concat();
    known("data set", &mut request.datasets, &datasets)?;
    Ok(Some(request))
}

/// `A,B`.
fn list(text: &str) -> impl Iterator<Item = String> {
    let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
    names.map(String::from)
}

/// Names as they are written here, whatever the case they were typed in.
fn known(what: &str, names: &mut [String], all: &[&str]) -> Result<()> {
    for name in names {
        let found = all.iter().find(|known| known.eq_ignore_ascii_case(name));
        let Some(found) = found else {
            let all = all.join(", ");
            return Err(Error::usage(
                format!("there is no {what} `{name}`, but {all}"),
                HELP,
            ));
        };
        *name = (*found).to_owned();
    }
    Ok(())
}

/// `30s`, `60m` or `2h`.
fn seconds(text: &str) -> Result<u64> {
    let parsed = text.char_indices().last().and_then(|(end, unit)| {
        let unit = match unit {
            's' => 1,
            'm' => 60,
            'h' => 3600,
            _ => return None,
        };
        text[..end].parse::<u64>().ok()?.checked_mul(unit)
    });
    parsed.ok_or_else(|| {
        Error::usage(
            format!("--budget needs a time like 30s, 60m or 2h, not `{text}`"),
            HELP,
        )
    })
}

/// Where data sets are looked for.
fn data_folder(workspace: &Workspace) -> PathBuf {
    match std::env::var_os("EGG_DATASETS") {
        Some(folder) => folder.into(),
        None => workspace.root.join("datasets/prepared"),
    }
}

fn has_wiki_cs(workspace: &Workspace) -> bool {
    let found = data_folder(workspace).join("wiki_cs/data.json").exists();
    if !found {
        println!("Wiki-CS: no data; `cargo xtask data prepare Wiki-CS` gets it");
    }
    found
}

/// What a program that trains needs to know.
fn environment(workspace: &Workspace, command: &mut Command) {
    if std::env::var_os("CANDLE_NUM_THREADS").is_none() {
        command.env("CANDLE_NUM_THREADS", "1");
    }
    command.env("EGG_DATASETS", data_folder(workspace));
}

fn run_clustering(workspace: &Workspace, request: &Request) -> Result<()> {
    let backend = setup::prepare(workspace, Install::Allowed)?;
    let revision = revision(workspace);
    for dataset in &request.datasets {
        println!("{dataset}");
        let mut cargo = workspace.cargo();
        cargo.args(["run", "--release", "-p", "egg-cluster", "--example", "cluster"]);
        cargo.args(backend.cargo_flags());
        backend.apply(&mut cargo);
        environment(workspace, &mut cargo);
        let (preset, sampled) = match request.preset.strip_suffix("-sampled") {
            Some(preset) => (preset, &["--sampled"][..]),
            None => (request.preset.as_str(), &[][..]),
        };
        cargo.args(["--", dataset, "--preset", preset, "--revision", &revision]);
        cargo.args(sampled);
        cargo.args(["--repetitions", &request.repetitions.to_string()]);
        cargo.arg("--record").arg(records(workspace));
        if let Some(left) = request.seconds_left() {
            cargo.args(["--budget", &left.to_string()]);
        }
        let status = cargo
            .stderr(Stdio::inherit())
            .status()
            .map_err(|e| Error::while_doing("could not start cargo", e))?;
        if !status.success() {
            return Err(Error::Failed(format!("{dataset}: see above")));
        }
    }
    Ok(())
}

fn records(workspace: &Workspace) -> PathBuf {
    workspace.root.join("docs/results/cluster")
}

/// Of the sources; with a mark if they were changed since.
fn revision(workspace: &Workspace) -> String {
    // For a program that was built earlier than the sources are now.
    if let Ok(revision) = std::env::var("EGG_REVISION") {
        return revision;
    }
    let git = |words: &[&str]| output_of(Command::new("git").current_dir(&workspace.root).args(words));
    let Some(revision) = git(&["rev-parse", "--short=12", "HEAD"]) else {
        return "unknown".into();
    };
    let changes = git(&[
        "status",
        "--porcelain",
        "--untracked-files=no",
        "--",
        "crates",
        "Cargo.lock",
    ]);
    match changes {
        Some(changes) if changes.is_empty() => revision,
        _ => format!("{revision}-changed"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Option<Request>> {
        parse(Arguments::new(line.split_whitespace().map(String::from)))
    }

    #[test]
    fn requests_are_read() {
        let request = parsed("--table cluster --dataset cora --reps 3 --budget 60m")
            .unwrap()
            .unwrap();
        assert_eq!(request.datasets, ["Cora"]);
        assert_eq!((request.repetitions, request.budget), (3, Some(3600)));
        let request =
            parsed("--table gcn,gin --dataset MUTAG,proteins --dataset DD --pool sum,egg --protocol fair")
                .unwrap()
                .unwrap();
        assert_eq!(request.tables, ["gcn", "gin"]);
        assert_eq!(request.datasets, ["MUTAG", "PROTEINS", "DD"]);
        assert_eq!(request.poolings, ["sum", "egg"]);
        assert_eq!(request.poolings_or(&cells::POOLINGS), ["sum", "egg"]);
        let request = parsed("--table gin,grid --figure tsne-nodes").unwrap().unwrap();
        assert_eq!(request.poolings_or(&cells::POOLINGS).len(), 9);
        assert_eq!(request.figures, ["tsne-nodes"]);
        assert!(parsed("--render").unwrap().unwrap().tables.is_empty());
        assert!(parsed("--help").unwrap().is_none());
        for bad in [
            "",
            "--table gat",
            "--figure 1",
            "--table gcn --pool best",
            "--table gcn --protocol mine",
            "--table gcn --dataset PROTIENS",
            "--table cluster --budget 60",
            "--budget m",
            "--reps 0",
        ] {
            assert!(matches!(parsed(bad), Err(Error::Usage { .. })), "{bad}");
        }
    }

    #[test]
    fn the_page_is_what_the_records_make() {
        let docs = Workspace::find().unwrap().root.join("docs");
        let page = std::fs::read_to_string(docs.join("RESULTS.md")).unwrap();
        assert!(
            rendered(&docs.join("results")).unwrap() == page,
            "docs/RESULTS.md is not what its records make: `cargo xtask bench paper --render`"
        );
        let results = docs.join("results");
        let figures = figures::drawn(&results).unwrap();
        for (name, file) in figures.into_iter().chain(maps::drawn(&results).unwrap()) {
            // They are part of every checkout.
            assert!(file.len() < 400_000, "{name} has {} bytes", file.len());
            let drawn = std::fs::read_to_string(docs.join("results/figures").join(&name)).unwrap();
            assert!(
                drawn == file,
                "{name} is not what its records make: `cargo xtask bench paper --render`"
            );
        }
    }

    #[test]
    fn times_have_units() {
        assert_eq!(seconds("30s").unwrap(), 30);
        assert_eq!(seconds("2h").unwrap(), 7200);
        assert!(seconds("2d").is_err() && seconds("é").is_err() && seconds("").is_err());
    }
}
