//! What may be asked for.

use std::num::NonZeroUsize;

use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use egg_pool::protocol::Protocol;

use crate::budget::Length;
use crate::cell::{DATASETS, OURS, POOLINGS};
use crate::cluster::{self, PresetName};
use crate::command::known;
use crate::{data, maps};

/// Runs the paper's experiments and keeps every repetition in docs/results/, one file per cell, written as it
/// goes; makes docs/RESULTS.md and docs/results/DETAILS.md of them.
///
/// What is there is not repeated: call again to continue. Nothing but the time depends on the number of threads
/// (RAYON_NUM_THREADS).
#[derive(Debug, Args)]
#[command(group(clap::ArgGroup::new("what").required(true).multiple(true).args(["table", "figure", "render"])))]
pub struct Request {
    /// Which tables to continue with.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', ignore_case = true)]
    pub(super) table: Vec<Table>,
    /// Which figures to continue with.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', ignore_case = true)]
    pub(super) figure: Vec<Figure>,
    /// MUTAG, PROTEINS, Mutagenicity, NCI1, DD, COLLAB, ogbg-molhiv; of clustering Cora, Citeseer, Pubmed,
    /// Coauthor-CS, Wiki-CS. All that are there if not given, of the grid PROTEINS and NCI1.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = dataset)]
    dataset: Vec<&'static str>,
    /// topk, sag, edge, pan, sum, avg, max, attention, egg; soft-egg, random, blind. The paper's nine if not
    /// given, of the grid egg and sum.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = pooling)]
    pool: Vec<&'static str>,
    /// paper or fair; docs/TRAINING.md says how they differ.
    #[arg(long, value_name = "NAME", default_value = "paper")]
    pub(super) protocol: Protocol,
    /// Of clustering: paper or tuned; with -sampled at its end, the likelihood of as many sampled non-edges as
    /// edges; with -raw, features as they are.
    #[arg(long, value_name = "NAME", default_value = "paper")]
    pub(super) preset: PresetName,
    /// Repetitions; each is the same whatever N is.
    #[arg(long, value_name = "N", default_value = "10")]
    pub(super) reps: NonZeroUsize,
    /// 30s, 60m, 2h: begin no repetition after that.
    #[arg(long, value_name = "TIME")]
    pub(super) budget: Option<Length>,
    /// Make docs/RESULTS.md, docs/results/DETAILS.md and docs/results/figures of the records.
    #[arg(long)]
    pub(super) render: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Table {
    /// Table 2, graph classification with GCN
    Gcn,
    /// Table 3, with GIN
    Gin,
    /// The paper's grid of settings for some of their cells, chosen by the validation loss, then tested
    Grid,
    /// Table 5, k-means on VGAE embeddings, with EGG and without
    Cluster,
}

/// A figure of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Figure {
    Sensitivity,
    Curves,
    Maps(maps::Figure),
}

impl ValueEnum for Figure {
    fn value_variants<'a>() -> &'a [Self] {
        &[
            Self::Sensitivity,
            Self::Curves,
            Self::Maps(maps::Figure::Graphs),
            Self::Maps(maps::Figure::Nodes),
        ]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let (name, help) = match self {
            Self::Sensitivity => ("sensitivity", "Accuracy over the threshold r, on PROTEINS"),
            Self::Curves => ("curves", "Loss and accuracy by epoch, on PROTEINS"),
            Self::Maps(figure @ maps::Figure::Graphs) => (figure.name(), "Maps of COLLAB's graphs"),
            Self::Maps(figure @ maps::Figure::Nodes) => {
                (figure.name(), "Maps of the nodes of Cora, Citeseer, Pubmed")
            }
        };
        Some(PossibleValue::new(name).help(help))
    }
}

fn dataset(name: &str) -> std::result::Result<&'static str, String> {
    known("data set", name, &[&DATASETS[..], &cluster::DATASETS].concat())
}

fn pooling(name: &str) -> std::result::Result<&'static str, String> {
    known("pooling", name, &[&POOLINGS[..], &OURS].concat())
}

impl Request {
    /// The poolings that were asked for, or those of a table.
    pub(super) fn poolings_or<'a>(&'a self, all: &'a [&'static str]) -> &'a [&'static str] {
        match self.pool.is_empty() {
            true => all,
            false => &self.pool,
        }
    }

    /// The data sets that were asked for, or those of a table.
    pub(super) fn datasets_or(&self, all: &[&'static str]) -> Vec<&'static str> {
        if !self.dataset.is_empty() {
            return self.dataset.clone();
        }
        // Its file is not to be had everywhere. Named, it is an error that says so.
        let here = |name: &&str| {
            let here = *name != "Wiki-CS" || data::is_here(name);
            if !here {
                println!("{name}: no data; `egg data fetch {name}` gets it");
            }
            here
        };
        all.iter().copied().filter(here).collect()
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::command::Command;

    #[derive(Debug, Parser)]
    struct Alone {
        #[command(flatten)]
        request: Request,
    }

    fn parsed(line: &str) -> std::result::Result<Request, clap::Error> {
        let words = std::iter::once("paper").chain(line.split_whitespace());
        Alone::try_parse_from(words).map(|alone| alone.request)
    }

    #[test]
    fn request_is_parsed_from_arguments() {
        let request = parsed("--table cluster --dataset cora --reps 3 --budget 60m").unwrap();
        assert_eq!(request.dataset, ["Cora"]);
        assert_eq!(request.reps.get(), 3);
        assert_eq!(request.budget.unwrap().0.as_secs(), 3600);
        let request =
            parsed("--table gcn,gin --dataset MUTAG,proteins --dataset DD --pool sum,egg --protocol fair")
                .unwrap();
        assert_eq!(request.table, [Table::Gcn, Table::Gin]);
        assert_eq!(request.dataset, ["MUTAG", "PROTEINS", "DD"]);
        assert_eq!(request.poolings_or(&POOLINGS), ["sum", "egg"]);
        let request = parsed("--table gin,grid --figure tsne-nodes").unwrap();
        assert_eq!(request.poolings_or(&POOLINGS).len(), 9);
        assert_eq!(request.figure, [Figure::Maps(maps::Figure::Nodes)]);
        assert!(parsed("--render").unwrap().table.is_empty());
        for bad in [
            "",
            "--table gat",
            "--figure 1",
            "--table gcn --pool best",
            "--table gcn --protocol mine",
            "--table gcn --dataset PROTIENS",
            "--table cluster --preset paper-sampled-tuned",
            "--table cluster --budget 60",
            "--budget m",
            "--table gcn --reps 0",
        ] {
            assert!(parsed(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_command_line_is_sound() {
        use clap::CommandFactory;
        Command::command().debug_assert();
    }
}
