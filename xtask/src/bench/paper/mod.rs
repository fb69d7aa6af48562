//! `cargo xtask bench paper`: the paper's tables on real data, as records on disk,
//! and pages made of the records alone.

mod cluster;
mod statistics;

use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::arguments::{self, Arguments};
use crate::error::{Error, Result};
use crate::process::output_of;
use crate::setup::{self, Install};
use crate::terminal;
use crate::workspace::Workspace;

const HELP: &str = "\
cargo xtask bench paper --table cluster [--dataset NAME]... [--preset NAME] [--reps N] [--budget 60m]
cargo xtask bench paper --render

Runs the paper's experiments and keeps every repetition in docs/results/, one file per
data set and preset, written as it goes. What is there is not repeated: call again to
go on. --render makes docs/RESULTS-CLUSTERING.md of the records.

Options:
  --table cluster    Table 5: k-means on VGAE embeddings, with EGG and without
  --dataset NAME     Cora, Citeseer, Pubmed, Coauthor-CS; all of them if not given
  --preset NAME      paper, tuned (paper)
  --reps N           repetitions, of which the first has seed 0 (10)
  --budget TIME      30s, 60m, 2h: begin no repetition after that

Environment:
  EGG_DATASETS=DIR   the folder of the data sets
  RAYON_NUM_THREADS  threads; the numbers don't depend on it
";

const DATASETS: [&str; 4] = ["Cora", "Citeseer", "Pubmed", "Coauthor-CS"];

#[derive(Debug, Default, PartialEq)]
struct Request {
    table: Option<String>,
    datasets: Vec<String>,
    preset: String,
    repetitions: usize,
    /// In seconds.
    budget: Option<u64>,
    render: bool,
}

pub(super) fn command(workspace: &Workspace, arguments: Arguments) -> Result<()> {
    let Some(request) = parse(arguments)? else {
        terminal::show(HELP.as_bytes());
        return Ok(());
    };
    if request.table.is_some() {
        run(workspace, &request)?;
    }
    if request.render {
        let results = workspace.root.join("docs/results");
        let page = workspace.root.join("docs/RESULTS-CLUSTERING.md");
        std::fs::write(&page, cluster::page(&results)?).map_err(|e| Error::while_doing(page.display(), e))?;
        println!("Wrote {}", page.display());
    }
    Ok(())
}

/// `None` is a request for help.
fn parse(mut arguments: Arguments) -> Result<Option<Request>> {
    let mut request = Request {
        preset: "paper".into(),
        repetitions: 10,
        ..Request::default()
    };
    while let Some(word) = arguments.next() {
        match word.as_str() {
            "--table" => request.table = Some(arguments.value("--table", HELP)?),
            "--dataset" => request.datasets.push(arguments.value("--dataset", HELP)?),
            "--preset" => request.preset = arguments.value("--preset", HELP)?,
            "--reps" => request.repetitions = arguments.count("--reps", HELP)?,
            "--budget" => request.budget = Some(seconds(&arguments.value("--budget", HELP)?)?),
            "--render" => request.render = true,
            word if arguments::is_help(word) => return Ok(None),
            word => return Err(arguments::unknown(word, HELP)),
        }
    }
    match request.table.as_deref() {
        None if !request.render => return Err(Error::usage("which table?", HELP)),
        None | Some("cluster") => {}
        Some(other) => return Err(Error::usage(format!("there is no table `{other}` yet"), HELP)),
    }
    if request.datasets.is_empty() {
        request.datasets = DATASETS.map(String::from).to_vec();
    }
    Ok(Some(request))
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

fn run(workspace: &Workspace, request: &Request) -> Result<()> {
    let backend = setup::prepare(workspace, Install::Allowed)?;
    let revision = revision(workspace);
    let begin = std::time::Instant::now();
    for dataset in &request.datasets {
        let mut cargo = workspace.cargo();
        cargo.args(["run", "--release", "-p", "egg-cluster", "--example", "cluster"]);
        cargo.args(backend.cargo_flags());
        backend.apply(&mut cargo);
        if std::env::var_os("CANDLE_NUM_THREADS").is_none() {
            cargo.env("CANDLE_NUM_THREADS", "1");
        }
        if std::env::var_os("EGG_DATASETS").is_none() {
            cargo.env("EGG_DATASETS", workspace.root.join("datasets/prepared"));
        }
        cargo.args([
            "--",
            dataset,
            "--preset",
            &request.preset,
            "--revision",
            &revision,
        ]);
        cargo.args(["--repetitions", &request.repetitions.to_string()]);
        cargo.arg("--record").arg(records(workspace));
        if let Some(budget) = request.budget {
            let left = budget.saturating_sub(begin.elapsed().as_secs());
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
        let request = parsed("--table cluster --dataset Cora --reps 3 --budget 60m")
            .unwrap()
            .unwrap();
        assert_eq!(request.datasets, ["Cora"]);
        assert_eq!((request.repetitions, request.budget), (3, Some(3600)));
        let all = parsed("--table cluster").unwrap().unwrap();
        assert_eq!(all.datasets.len(), 4);
        assert!(parsed("--render").unwrap().unwrap().table.is_none());
        assert!(parsed("--help").unwrap().is_none());
        for bad in [
            "",
            "--table gcn",
            "--table cluster --budget 60",
            "--budget m",
            "--reps 0",
        ] {
            assert!(matches!(parsed(bad), Err(Error::Usage { .. })), "{bad}");
        }
    }

    #[test]
    fn times_have_units() {
        assert_eq!(seconds("30s").unwrap(), 30);
        assert_eq!(seconds("2h").unwrap(), 7200);
        assert!(seconds("2d").is_err() && seconds("é").is_err() && seconds("").is_err());
    }
}
