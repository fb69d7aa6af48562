//! `cargo xtask bench`: how much faster or slower than others, as ratios from
//! one run in which the two sides take turns. Absolute times are shown but
//! never judged.

mod bars;
mod child;
mod machine;
mod measure;
mod memory;
mod ours;
mod python;
mod report;
mod smoke;
mod suite;
mod suites;

use std::collections::BTreeSet;
use std::num::NonZeroUsize;

use clap::{Args, Subcommand};

use crate::error::{Error, Result};
use crate::program;
use crate::setup::{self, Install};
use crate::terminal;
use crate::workspace::Workspace;

use child::SideBySide;
use machine::Conditions;
use measure::Runner;
use report::{Section, Unit};
use suite::{Comparison, Suite};
use suites::{MEMORY, TIMED};

const ABOUT: &str = "\
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

Builds our side, makes a Python environment for the peers below target/bench,
and lets the two take turns. Results go to target/bench/SUITE.json, .md and .svg
(quick.* without a suite). What needs data that is not here is skipped. The exit
code is 1 if something failed or the sides disagree about a result; a missed target
is reported but is not a failure.

Environment:
  EGG_BACKEND=openblas|pure-rust   the backend of our side
  EGG_DATASETS=DIR                 a folder that has the data sets
  PIP_INDEX_URL=URL, ...           as pip reads them. PyTorch without the parts
                                   for GPUs is far smaller: on Linux set
                                   PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu";

/// Measure against other libraries, interleaved, as ratios
#[derive(Debug, Args)]
#[command(after_help = ABOUT, args_conflicts_with_subcommands = true)]
pub(crate) struct Options {
    #[command(subcommand)]
    passed_on: Option<PassedOn>,
    /// What to measure; a little of each if not given
    #[arg(value_parser = named)]
    suite: Option<&'static Suite>,
    /// Measurements of each side per comparison (9; 3 without a suite)
    #[arg(long, value_name = "N")]
    rounds: Option<NonZeroUsize>,
    /// Threads of each process of either side (2, or the cores if fewer)
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// Every task by N processes at once, on either side, as runs of an experiment are made side by side; the slowest
    /// of them counts
    #[arg(long, value_name = "N", default_value = "1")]
    processes: NonZeroUsize,
    /// The comparisons whose name has this in it
    #[arg(long, value_name = "TEXT", default_value = "")]
    only: String,
    /// Our side alone
    #[arg(long)]
    no_peers: bool,
    /// Do every task of ours once, on tiny inputs, without peers or data: a check that all of it still runs
    #[arg(long, exclusive = true)]
    smoke: bool,
}

/// What `egg-reproduce` does.
#[derive(Debug, Subcommand)]
enum PassedOn {
    /// The paper's tables and figures: run what records lack, make docs/RESULTS.md
    #[command(disable_help_flag = true)]
    Paper(Words),
    /// No comparison: how the time grows with nodes, graphs, width, edges
    #[command(disable_help_flag = true)]
    Scale(Words),
}

/// Whatever follows; `--help` too.
#[derive(Debug, Args)]
pub(crate) struct Words {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "OPTIONS")]
    pub(crate) words: Vec<String>,
}

impl Options {
    fn rounds(&self) -> usize {
        let usual = if self.suite.is_some() { 9 } else { 3 };
        self.rounds.map_or(usual, NonZeroUsize::get)
    }

    fn threads(&self) -> usize {
        self.threads
            .map_or_else(|| egg_results::cores().min(2), NonZeroUsize::get)
    }
}

fn named(name: &str) -> std::result::Result<&'static Suite, String> {
    let mut suites = TIMED.into_iter().chain([&MEMORY]);
    suites
        .find(|suite| suite.name == name)
        .ok_or_else(|| "there is no such suite".to_owned())
}

/// Tells both sides how many seconds a turn lasts at least.
const TURN: &str = "EGG_BENCH_TURN";

/// Names the only data sets that our side loads, with commas.
const ONLY: &str = "EGG_BENCH_DATA";

/// Tells our side to write nothing for the peer.
const NO_EXPORT: &str = "EGG_BENCH_NO_EXPORT";

/// What makes the paper's tables and figures.
const REPRODUCE: [&str; 2] = ["-p", "egg-reproduce"];

pub(crate) fn command(workspace: &Workspace, options: &Options) -> Result<()> {
    match &options.passed_on {
        Some(PassedOn::Paper(words)) => program::run(workspace, &REPRODUCE, &["paper"], &words.words),
        Some(PassedOn::Scale(words)) => {
            let folder = workspace.scratch("bench")?;
            let ours = ["scale".as_ref(), "--out".as_ref(), folder.as_os_str()];
            program::run(workspace, &REPRODUCE, &ours, &words.words)
        }
        None if options.smoke => smoke::run(workspace),
        None => run(workspace, options),
    }
}

fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    let suites = match &options.suite {
        Some(suite) => std::slice::from_ref(suite),
        None => &TIMED,
    };
    let chosen: Vec<_> = suites
        .iter()
        .map(|suite| (*suite, chosen(suite, options)))
        .filter(|(_, comparisons)| !comparisons.is_empty())
        .collect();
    if chosen.is_empty() {
        let message = format!("no comparison has \"{}\" in its name", options.only);
        return Err(Error::Failed(message));
    }
    let (mut sections, mut failures) = (Vec::new(), Vec::new());
    for (suite, comparisons) in chosen {
        let section = match suite.name == MEMORY.name {
            true => memory::measured(workspace, options, &comparisons),
            false => measured(workspace, options, suite, &comparisons),
        };
        match section {
            Ok(section) => sections.push(section),
            // One suite that can't be measured is no reason to lose the others.
            Err(error @ Error::Failed(_)) if suites.len() > 1 => {
                println!("{}", terminal::bad(&format!("error: {}: {error}", suite.name)));
                failures.push(suite.name);
            }
            Err(error) => return Err(error),
        }
    }
    let (name, command) = match options.suite {
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

fn chosen(suite: &'static Suite, options: &Options) -> Vec<&'static Comparison> {
    suite
        .comparisons
        .iter()
        .filter(|comparison| options.suite.is_some() || comparison.quick)
        .filter(|comparison| comparison.name.contains(&options.only))
        .collect()
}

/// Builds and starts both sides of a suite and lets them take turns.
fn measured(
    workspace: &Workspace,
    options: &Options,
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
        let mut command = ours::command(&program, inputs, backend.as_ref(), options.threads(), suite.turn);
        if !needed.is_empty() {
            command.env(ONLY, &needed);
        }
        command
    };
    let mut ours =
        SideBySide::start("our side", options.processes.get(), our_command).map_err(Error::Failed)?;
    let here = ours.ready["data"].as_str().unwrap_or_default();
    let (chosen, skipped) = with_data(suite, chosen, here);
    skipped.iter().for_each(|why| println!("  skipped: {why}"));
    let mut peer = match (!options.no_peers, chosen.is_empty()) {
        (false, _) => Err("--no-peers".into()),
        (true, true) => Err("nothing to compare".into()),
        (true, false) => python::environment(workspace, suite).and_then(|python| {
            let script = workspace.root.join(suite.script);
            let command = |_| python::command(&python, &script, &inputs, options.threads(), suite.turn);
            SideBySide::start("the peer", options.processes.get(), command)
        }),
    };
    if let Err(why) = &peer {
        println!("  only our side: {why}");
    }

    let mut results = Vec::new();
    for comparison in chosen {
        println!("  {}", comparison.name);
        let mut ours = |task: &str| ours.run(task);
        let mut peer = peer.as_mut().ok().map(|peer| |task: &str| peer.run(task));
        let peer = peer.as_mut().map(|peer| peer as &mut Runner<'_>);
        let (rounds, pause) = (options.rounds(), measure::PAUSE);
        results.push(measure::compare(comparison, rounds, pause, &mut ours, peer));
    }
    let peer = peer.as_ref().map(|peer| &peer.ready);
    let conditions = Conditions::new(options, suite, backend.as_ref(), &ours.ready, peer);
    Ok(Section {
        suite: suite.name,
        unit: Unit::Seconds,
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

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::suites::{CLUSTER, GEOMETRY, TRAIN};
    use super::*;

    #[derive(Debug, clap::Parser)]
    struct Alone {
        #[command(flatten)]
        options: Options,
    }

    fn parsed(line: &str) -> Options {
        let words = std::iter::once("bench").chain(line.split_whitespace());
        Alone::try_parse_from(words).unwrap().options
    }

    #[test]
    fn the_quick_run_samples_every_suite() {
        let options = parsed("--no-peers");
        assert!(options.suite.is_none() && options.rounds() == 3 && options.no_peers);
        for suite in TIMED {
            let quick = chosen(suite, &options);
            assert!(quick.len() >= 3, "{}", suite.name);
            assert!(quick.len() < suite.comparisons.len(), "{}", suite.name);
        }
        assert_eq!(options.processes.get(), 1);
        let options = parsed("train --rounds 2 --only DD --processes 2 --threads 1");
        assert_eq!((options.processes.get(), options.threads()), (2, 1));
        assert_eq!((options.rounds(), chosen(&TRAIN, &options).len()), (2, 4));
    }

    #[test]
    fn suites_without_data_are_skipped_with_a_reason() {
        let all: Vec<_> = CLUSTER.comparisons.iter().collect();
        let (kept, skipped) = with_data(&CLUSTER, &all, "Cora, Citeseer");
        assert_eq!((kept.len(), skipped.len()), (3, 3));
        assert!(
            skipped[0].contains("Pubmed is not here; set EGG_DATASETS"),
            "{skipped:?}"
        );
        let (kept, skipped) = with_data(&GEOMETRY, &[&GEOMETRY.comparisons[0]], "");
        assert_eq!((kept.len(), skipped.len()), (1, 0));
    }
}
