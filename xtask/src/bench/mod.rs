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
mod suite;
mod train;

use std::path::Path;
use std::process::Command;

use crate::arguments::{self, Arguments};
use crate::error::{Error, Result};
use crate::setup::{self, Install};
use crate::terminal;
use crate::workspace::Workspace;

use child::{Runner, TaskChild};
use machine::Conditions;
use suite::Suite;

const HELP: &str = "\
cargo xtask bench SUITE [--rounds N] [--threads N] [--only TEXT] [--no-peers]

Suites:
  geometry       the geometry crate against SciPy, NumPy and Pymanopt
  graph          sparse products, GCN layer and batching against PyTorch and
                 PyTorch Geometric: a download of up to 3 GB, kept below target
  autodiff       the differentiable embedding, the layers and a whole step of
                 training against the same
  train          an epoch of GCN and GIN with EGG, SUM and Edge pooling against
                 PyTorch Geometric, on PROTEINS, NCI1, Mutagenicity and DD
  memory         the most memory that such an epoch needs, on PROTEINS and DD
  cluster        an epoch of a graph autoencoder against dense PyTorch, k-means
                 and its measures against scikit-learn, on Cora, Citeseer, Pubmed

`cargo xtask bench paper --help` is about the paper's tables.

Builds our side, makes a Python environment for the peers below target/bench,
and lets the two take turns. Results go to target/bench/SUITE.json and .md. The
exit code is 1 if something failed or the sides disagree about a result; a
missed target is reported but is not a failure.

Options:
  --rounds N     measurements of each side per comparison (9)
  --threads N    threads for either side (2, or the cores if fewer)
  --only TEXT    the comparisons whose name has this in it
  --no-peers     our side alone

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

struct Request {
    suite: &'static Suite,
    rounds: usize,
    threads: usize,
    peers: bool,
    only: String,
}

pub(crate) fn command(workspace: &Workspace, mut arguments: Arguments) -> Result<()> {
    if arguments.next_if("paper") {
        return paper::command(workspace, arguments);
    }
    match parse(arguments)? {
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
    let mut rounds = 9;
    let mut threads = machine::cores().min(2);
    let mut peers = true;
    let mut only = String::new();
    while let Some(word) = arguments.next() {
        match word.as_str() {
            "--rounds" => rounds = arguments.count("--rounds", HELP)?,
            "--threads" => threads = arguments.count("--threads", HELP)?,
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
    let suite = suite.ok_or_else(|| Error::usage("which suite?", HELP))?;
    Ok(Some(Request {
        suite,
        rounds,
        threads,
        peers,
        only,
    }))
}

fn run(workspace: &Workspace, request: &Request) -> Result<()> {
    let suite = request.suite;
    let chosen: Vec<_> = suite
        .comparisons
        .iter()
        .filter(|comparison| comparison.name.contains(&request.only))
        .collect();
    if chosen.is_empty() {
        return Err(Error::usage(
            format!(
                "no comparison of `{}` has \"{}\" in its name",
                suite.name, request.only
            ),
            HELP,
        ));
    }
    let backend = match suite.needs_backend {
        true => Some(setup::prepare(workspace, Install::Allowed)?),
        false => None,
    };
    let program = ours::build(workspace, suite, backend.as_ref())?;
    if suite.name == memory::SUITE.name {
        return memory::run(workspace, request, &program, backend.as_ref(), &chosen);
    }
    let inputs = workspace.scratch(&format!("bench/inputs/{}", suite.name))?;
    let mut ours =
        ours::start(&program, &inputs, backend.as_ref(), request.threads).map_err(Error::Failed)?;
    let mut peer = if request.peers {
        start_peer(workspace, request, &inputs)
    } else {
        Err("--no-peers".into())
    };
    if let Err(why) = &peer {
        println!("Our side alone: {why}");
    }

    let mut results = Vec::new();
    for comparison in chosen {
        println!("  {}", comparison.name);
        let peer = peer.as_mut().ok().map(|peer| peer as &mut dyn Runner);
        results.push(measure::compare(comparison, request.rounds, &mut ours, peer));
    }

    let conditions = Conditions {
        cpu: machine::cpu(),
        cores: machine::cores(),
        threads: request.threads,
        rounds: request.rounds,
        backend: backend.as_ref().map(machine::describe),
        ours: ours.ready.clone(),
        peer: peer
            .as_ref()
            .map(|peer| peer.ready.clone())
            .map_err(String::clone),
    };
    report::print(&conditions, &results);
    report::write(&workspace.scratch("bench")?, suite, &conditions, &results)?;
    if results.iter().any(|measured| measured.error.is_some()) {
        return Err(Error::Failed("some comparisons failed, see above".into()));
    }
    Ok(())
}

fn start_peer(
    workspace: &Workspace,
    request: &Request,
    inputs: &Path,
) -> std::result::Result<TaskChild, String> {
    TaskChild::start("the peer", &mut peer_command(workspace, request, inputs)?)
}

fn peer_command(
    workspace: &Workspace,
    request: &Request,
    inputs: &Path,
) -> std::result::Result<Command, String> {
    let python = python::environment(workspace, request.suite)?;
    let mut command = Command::new(python);
    command.arg(workspace.root.join(request.suite.script)).arg(inputs);
    // NumPy's OpenBLAS, SciPy's, and MKL in case somebody's build has it.
    for variable in ["OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"] {
        command.env(variable, request.threads.to_string());
    }
    // The script's folder is a part of the sources.
    command.env("PYTHONDONTWRITEBYTECODE", "1");
    // Meant for the system's OpenBLAS; NumPy and SciPy bring newer ones that
    // choose well by themselves.
    command.env_remove("OPENBLAS_CORETYPE");
    Ok(command)
}
