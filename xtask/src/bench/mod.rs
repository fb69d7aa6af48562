//! `cargo xtask bench`: how much faster or slower than others, as ratios from
//! one run in which the two sides take turns. Absolute times are shown but
//! never judged.

mod autodiff;
mod child;
mod cluster;
mod geometry;
mod graph;
mod machine;
mod measure;
mod memory;
mod ours;
mod paper;
mod python;
mod report;
mod scale;
mod smoke;
mod suite;
mod svg;
mod train;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use crate::arguments::{self, Arguments};
use crate::error::{Error, Result};
use crate::setup::{self, Install};
use crate::terminal;
use crate::workspace::Workspace;

use child::{Runner, SideBySide};
use machine::Conditions;
use report::Section;
use suite::{Comparison, Suite};

const HELP: &str = "\
cargo xtask bench [SUITE] [--rounds N] [--threads N] [--processes N] [--only TEXT] [--no-peers]

Without a suite: a few comparisons each of geometry, graph, autodiff, train and
cluster, in one table, in less than ten minutes once all is built.

Suites:
  geometry       the geometry crate against SciPy, NumPy and Pymanopt
  graph          sparse products, GCN layer and batching against PyTorch and
                 PyTorch Geometric: a download of up to 3 GB, kept below target
  autodiff       the differentiable embedding, the layers and a whole step of
                 training against the same
  train          an epoch of GCN and GIN with EGG, SUM and Edge pooling against
                 PyTorch Geometric, on PROTEINS, NCI1, Mutagenicity and DD
  memory         the most memory that such an epoch needs, on PROTEINS and DD, and
                 an epoch of clustering on Pubmed (the peer's takes 8 GB)
  cluster        an epoch of a graph autoencoder against dense PyTorch, k-means
                 and its measures against scikit-learn, on Cora, Citeseer, Pubmed
  scale          no comparison: how the time grows with nodes, graphs, width, edges

`cargo xtask bench paper --help` is about the paper's tables.

Builds our side, makes a Python environment for the peers below target/bench,
and lets the two take turns. Results go to target/bench/SUITE.json, .md and .svg
(quick.* without a suite). What needs data that is not here is skipped. The exit
code is 1 if something failed or the sides disagree about a result; a missed target
is reported but is not a failure.

Options:
  --rounds N     measurements of each side per comparison (9; 3 without a suite)
  --threads N    threads of each process of either side (2, or the cores if fewer)
  --processes N  every task by N processes at once, on either side (1): as runs of
                 an experiment are made side by side; the slowest of them counts
  --only TEXT    the comparisons whose name has this in it
  --no-peers     our side alone

`cargo xtask bench --smoke` does every task of ours once, on tiny inputs, without
peers or data: a check that all of it still runs.

Environment:
  EGG_BACKEND=openblas|pure-rust   the backend of our side
  EGG_DATASETS=DIR                 a folder that has the data sets
  PIP_INDEX_URL=URL, ...           as pip reads them. PyTorch without the parts
                                   for GPUs is far smaller: on Linux set
                                   PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu
";

const SUITES: &[&Suite] = &[
    &geometry::SUITE,
    &graph::SUITE,
    &autodiff::SUITE,
    &train::SUITE,
    &memory::SUITE,
    &cluster::SUITE,
];

/// What is measured if no suite is named.
const QUICK: &[&Suite] = &[
    &geometry::SUITE,
    &graph::SUITE,
    &autodiff::SUITE,
    &train::SUITE,
    &cluster::SUITE,
];

struct Request {
    /// `None`: the quick part of several.
    suite: Option<&'static Suite>,
    rounds: usize,
    /// Of each process.
    threads: usize,
    /// Of each side, at the same time.
    processes: usize,
    peers: bool,
    only: String,
}

/// Names the only data sets that our side loads, with commas.
const ONLY: &str = "EGG_BENCH_DATA";

/// Tells both sides how many seconds a turn lasts at least.
const TURN: &str = "EGG_BENCH_TURN";

/// Tells our side to write nothing for the peer.
const NO_EXPORT: &str = "EGG_BENCH_NO_EXPORT";

pub(crate) fn command(workspace: &Workspace, mut arguments: Arguments) -> Result<()> {
    if arguments.next_if("paper") {
        return paper::command(workspace, arguments);
    }
    if arguments.next_if("--smoke") {
        return match arguments.next() {
            None => smoke::run(workspace),
            Some(word) if arguments::is_help(&word) => {
                terminal::show(HELP.as_bytes());
                Ok(())
            }
            Some(word) => Err(arguments::unknown(&word, HELP)),
        };
    }
    let scale = arguments.next_if("scale");
    match parse(arguments)? {
        Some(request) if scale && request.suite.is_some() => Err(Error::usage("one suite at a time", HELP)),
        Some(request)
            if request.processes > 1
                && (scale
                    || request
                        .suite
                        .is_some_and(|suite| suite.name == memory::SUITE.name)) =>
        {
            let message = "--processes is for times; `scale` and `memory` are of one process";
            Err(Error::usage(message, HELP))
        }
        Some(request) if scale => scale::run(workspace, &request),
        Some(request) => run(workspace, &request),
        None => {
            terminal::show(HELP.as_bytes());
            Ok(())
        }
    }
}

/// `None` is a request for help.
fn parse(mut arguments: Arguments) -> Result<Option<Request>> {
    let mut suite = None;
    let mut rounds = None;
    let mut threads = machine::cores().min(2);
    let mut processes = 1;
    let mut peers = true;
    let mut only = String::new();
    while let Some(word) = arguments.next() {
        match word.as_str() {
            "--rounds" => rounds = Some(arguments.count("--rounds", HELP)?),
            "--threads" => threads = arguments.count("--threads", HELP)?,
            "--processes" => processes = arguments.count("--processes", HELP)?,
            "--only" => only = arguments.value("--only", HELP)?,
            "--no-peers" => peers = false,
            word if arguments::is_help(word) => return Ok(None),
            word if suite.is_none() && !word.starts_with('-') => {
                let named = SUITES.iter().find(|suite| suite.name == word);
                suite =
                    Some(*named.ok_or_else(|| {
                        Error::usage(format!("there is no benchmark suite `{word}`"), HELP)
                    })?);
            }
            word => return Err(arguments::unknown(word, HELP)),
        }
    }
    Ok(Some(Request {
        suite,
        rounds: rounds.unwrap_or(if suite.is_some() { 9 } else { 3 }),
        threads,
        processes,
        peers,
        only,
    }))
}

fn run(workspace: &Workspace, request: &Request) -> Result<()> {
    let suites = match &request.suite {
        Some(suite) => std::slice::from_ref(suite),
        None => QUICK,
    };
    let chosen: Vec<_> = suites
        .iter()
        .map(|suite| (*suite, chosen(suite, request)))
        .filter(|(_, comparisons)| !comparisons.is_empty())
        .collect();
    if chosen.is_empty() {
        let message = format!("no comparison has \"{}\" in its name", request.only);
        return Err(Error::usage(message, HELP));
    }
    if let [(suite, comparisons)] = chosen.as_slice()
        && suite.name == memory::SUITE.name
    {
        return memory::run(workspace, request, comparisons);
    }
    let (mut sections, mut failures) = (Vec::new(), Vec::new());
    for (suite, comparisons) in chosen {
        match measured(workspace, request, suite, &comparisons) {
            Ok(section) => sections.push(section),
            // One suite that can't be measured is no reason to lose the others.
            Err(error @ Error::Failed(_)) if suites.len() > 1 => {
                println!("{}", terminal::bad(&format!("error: {}: {error}", suite.name)));
                failures.push(suite.name);
            }
            Err(error) => return Err(error),
        }
    }
    let (name, command) = match request.suite {
        Some(suite) => (suite.name, format!("cargo xtask bench {}", suite.name)),
        None => ("quick", "cargo xtask bench".to_owned()),
    };
    report::print(&sections);
    report::write(&workspace.scratch("bench")?, name, &command, &sections)?;
    if !failures.is_empty() {
        return Err(Error::Failed(format!("{}: see above", failures.join(", "))));
    }
    let mut results = sections.iter().flat_map(|section| &section.results);
    if results.any(|measured| measured.error.is_some()) {
        return Err(Error::Failed("some comparisons failed, see above".into()));
    }
    Ok(())
}

fn chosen(suite: &'static Suite, request: &Request) -> Vec<&'static Comparison> {
    suite
        .comparisons
        .iter()
        .filter(|comparison| request.suite.is_some() || comparison.quick)
        .filter(|comparison| comparison.name.contains(&request.only))
        .collect()
}

/// Builds and starts both sides of a suite and lets them take turns.
fn measured(
    workspace: &Workspace,
    request: &Request,
    suite: &'static Suite,
    chosen: &[&'static Comparison],
) -> Result<Section> {
    println!("{}", terminal::bold(suite.name));
    let backend = match suite.needs_backend {
        true => Some(setup::prepare(workspace, Install::Allowed)?),
        false => None,
    };
    let program = ours::build(workspace, suite, backend.as_ref())?;
    let inputs = workspace.scratch(&format!("bench/inputs/{}", suite.name))?;
    // The peer reads what the first writes.
    let unread = workspace.scratch("bench/inputs/unread")?;
    let needed: BTreeSet<&str> = chosen.iter().filter_map(|one| suite.dataset_of(one)).collect();
    let needed = Vec::from_iter(needed).join(",");
    let our_command = |number| {
        let inputs = if number == 0 { &inputs } else { &unread };
        let mut command = ours::command(&program, inputs, backend.as_ref(), request.threads);
        if !needed.is_empty() {
            command.env(ONLY, &needed);
        }
        command.env(TURN, suite.turn.to_string());
        command
    };
    let mut ours = SideBySide::start("our side", request.processes, our_command).map_err(Error::Failed)?;
    let here = ours.ready()["data"].as_str().unwrap_or_default();
    let (chosen, skipped) = with_data(suite, chosen, here);
    skipped.iter().for_each(|why| println!("  skipped: {why}"));
    let mut peer = match (request.peers, chosen.is_empty()) {
        (false, _) => Err("--no-peers".into()),
        (true, true) => Err("nothing to compare".into()),
        (true, false) => python::environment(workspace, suite).and_then(|python| {
            let command = |_| {
                let mut command = peer_command(&python, workspace, suite, request.threads, &inputs);
                command.env(TURN, suite.turn.to_string());
                command
            };
            SideBySide::start("the peer", request.processes, command)
        }),
    };
    if let Err(why) = &peer {
        println!("  our side alone: {why}");
    }

    let mut results = Vec::new();
    for comparison in chosen {
        println!("  {}", comparison.name);
        let peer = peer.as_mut().ok().map(|peer| peer as &mut dyn Runner);
        let settle = measure::SETTLE;
        results.push(measure::compare(
            comparison,
            request.rounds,
            settle,
            &mut ours,
            peer,
        ));
    }
    let conditions = Conditions {
        cpu: machine::cpu(),
        cores: machine::cores(),
        threads: request.threads,
        processes: request.processes,
        rounds: request.rounds,
        turn: suite.turn,
        backend: backend.as_ref().map(machine::describe),
        ours: ours.ready().clone(),
        peer: peer
            .as_ref()
            .map(|peer| peer.ready().clone())
            .map_err(String::clone),
    };
    Ok(Section {
        suite: suite.name,
        conditions,
        results,
        skipped,
    })
}

/// Those comparisons whose data are `here`, as our side says, and what to say of the
/// others.
fn with_data(
    suite: &Suite,
    chosen: &[&'static Comparison],
    here: &str,
) -> (Vec<&'static Comparison>, Vec<String>) {
    let (mut kept, mut skipped) = (Vec::new(), Vec::new());
    for comparison in chosen {
        match suite.dataset_of(comparison) {
            Some(dataset) if !here.split(", ").any(|name| name == dataset) => skipped.push(format!(
                "{}: {dataset} is not here; set EGG_DATASETS to the folder that has it",
                comparison.name
            )),
            _ => kept.push(*comparison),
        }
    }
    (kept, skipped)
}

fn peer_command(
    python: &Path,
    workspace: &Workspace,
    suite: &Suite,
    threads: usize,
    inputs: &Path,
) -> Command {
    let mut command = Command::new(python);
    command.arg(workspace.root.join(suite.script)).arg(inputs);
    // NumPy's OpenBLAS, SciPy's, and MKL in case somebody's build has it.
    for variable in ["OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"] {
        command.env(variable, threads.to_string());
    }
    // The script's folder is a part of the sources.
    command.env("PYTHONDONTWRITEBYTECODE", "1");
    // Meant for the system's OpenBLAS; NumPy and SciPy bring newer ones that
    // choose well by themselves.
    command.env_remove("OPENBLAS_CORETYPE");
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Request {
        let words = line.split_whitespace().map(String::from);
        parse(Arguments::new(words)).unwrap().unwrap()
    }

    #[test]
    fn without_a_suite_there_is_a_little_of_each() {
        let request = parsed("--no-peers");
        assert!(request.suite.is_none() && request.rounds == 3 && !request.peers);
        for suite in QUICK {
            let quick = chosen(suite, &request);
            assert!(quick.len() >= 3, "{}", suite.name);
            assert!(quick.len() < suite.comparisons.len(), "{}", suite.name);
        }
        assert_eq!(request.processes, 1);
        let request = parsed("train --rounds 2 --only DD --processes 2 --threads 1");
        assert_eq!((request.processes, request.threads), (2, 1));
        assert_eq!((request.rounds, chosen(&train::SUITE, &request).len()), (2, 4));
    }

    #[test]
    fn what_has_no_data_is_skipped_with_a_reason() {
        let all: Vec<_> = cluster::SUITE.comparisons.iter().collect();
        let (kept, skipped) = with_data(&cluster::SUITE, &all, "Cora, Citeseer");
        assert_eq!((kept.len(), skipped.len()), (3, 3));
        assert!(
            skipped[0].contains("Pubmed is not here; set EGG_DATASETS"),
            "{skipped:?}"
        );
        let (kept, skipped) = with_data(&geometry::SUITE, &[&geometry::SUITE.comparisons[0]], "");
        assert_eq!((kept.len(), skipped.len()), (1, 0));
    }
}
