//! `egg data`: which benchmarks there are, where they are, and how to get them.

mod fetch;
mod list;
mod verify;

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use egg_gnn::datasets::{DataFolders, DatasetEntry, Registry, VARIABLE};
use serde_json::json;

use crate::console::Style;
use crate::failure::Result;

/// List, fetch and verify the benchmark data sets
#[derive(Debug, Args)]
#[command(long_about = about())]
pub(crate) struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    List(list::Arguments),
    Fetch(fetch::Arguments),
    Verify(verify::Arguments),
    Path(PathArguments),
}

fn about() -> String {
    format!(
        "List, fetch and verify the benchmark data sets\n\n\
         They are looked for in the folder that {VARIABLE} names, in datasets/prepared here or in the nearest folder \
         above, and, unless {VARIABLE} is set, in shared/datasets in the nearest folder above. What is fetched goes to \
         datasets/prepared; the others are only read from. `fetch` alone opens connections."
    )
}

/// What every command on data sets takes.
#[derive(Debug, Args)]
struct Place {
    /// One JSON object per line on standard output, and nothing else there
    #[arg(long)]
    json: bool,
    /// The data folder, and no other [default: as `egg data --help` says]
    #[arg(long, value_name = "DIR")]
    datasets: Option<PathBuf>,
}

/// Print where a data set is, or would be if it were fetched; without one, where fetched data go
#[derive(Debug, Args)]
struct PathArguments {
    #[arg(value_name = "NAME")]
    name: Option<String>,
    #[command(flatten)]
    place: Place,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    match &arguments.verb {
        Verb::List(arguments) => list::run(arguments),
        Verb::Fetch(arguments) => fetch::run(arguments),
        Verb::Verify(arguments) => verify::run(arguments),
        Verb::Path(arguments) => path(arguments),
    }
}

impl Place {
    fn style(&self) -> Style {
        Style::new(self.json)
    }

    /// Where data sets are looked for.
    fn folders(&self) -> DataFolders {
        folders(self.datasets.as_deref())
    }
}

/// The data folder that was named, or all in which data sets are looked for.
pub(crate) fn folders(named: Option<&Path>) -> DataFolders {
    named.map_or_else(DataFolders::locate, DataFolders::only)
}

/// The data sets of these names, each once, in the order of the registry; without names, all.
fn selected(names: &[String]) -> Result<Vec<&'static DatasetEntry>> {
    let registry = Registry::builtin();
    let mut wanted = Vec::new();
    for name in names {
        wanted.push(&registry.get(name)?.name);
    }
    let entries = registry.entries().iter();
    Ok(entries
        .filter(|entry| names.is_empty() || wanted.contains(&&entry.name))
        .collect())
}

fn path(arguments: &PathArguments) -> Result<()> {
    let style = arguments.place.style();
    let folders = arguments.place.folders();
    let Some(name) = &arguments.name else {
        let searched: Vec<String> = folders
            .in_order()
            .map(|folder| folder.display().to_string())
            .collect();
        style.emit(&json!({ "prepared": folders.prepared, "searched": searched }));
        style.say(folders.prepared.display().to_string());
        return Ok(());
    };
    let entry = Registry::builtin().get(name)?;
    let found = folders.find(entry);
    let here = found.is_some();
    let path = found.unwrap_or_else(|| entry.path_below(&folders.prepared));
    style.emit(&json!({ "name": entry.name, "path": path, "here": here }));
    style.say(path.display().to_string());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_sets_are_taken_once_in_the_order_of_the_registry() {
        let names = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            let entries = selected(&names)?;
            Ok::<_, crate::failure::Failure>(
                entries
                    .iter()
                    .map(|entry| entry.name.as_str())
                    .collect::<Vec<_>>(),
            )
        };
        assert_eq!(names(&["pubmed", "CORA", "Cora"]).unwrap(), ["Cora", "Pubmed"]);
        assert_eq!(names(&[]).unwrap().len(), 13);
        for name in ["../MUTAG", "MUTAG/..", "/etc/passwd", "C:\\MUTAG", "MUTAG.zip"] {
            assert!(names(&[name]).is_err(), "{name}");
        }
    }
}
