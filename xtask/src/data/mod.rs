//! `cargo xtask data`: lists, prepares and verifies the benchmark data sets.

mod checksum;
mod connection;
mod counts;
mod destination;
mod download;
mod folders;
mod list;
mod part;
mod prepare;
mod progress;
#[cfg(test)]
mod server;
mod size;
mod unpack;
mod verify;

use std::path::PathBuf;

use egg_graph::{DatasetEntry, Registry};

use crate::arguments::{self, Arguments};
use crate::error::{Error, Result};
use crate::terminal;
use crate::workspace::Workspace;

use folders::Folders;

const HELP: &str = "\
cargo xtask data list [--json]
cargo xtask data prepare NAME...|--all [--offline]
cargo xtask data verify [NAME...] [--print-fingerprints]

  list      the data sets, with what is in them and whether they are here
  prepare   copies or unpacks them from a mirror, or else downloads them;
            what is there already is left alone
  verify    checks the SHA-256 and the counts of what is there; without names,
            of all that is there

Names are looked up without regard to case, `-` and `_`.

Options:
  --to DIR               the data folder; datasets/prepared without it
  --mirror DIR           a data folder to take from; it is never written to.
                         Without it EGG_DATASETS, or shared/datasets beside the
                         workspace. `verify --mirror` verifies the mirror.
  --offline              don't download; say what is missing and where it goes
  --json                 for programs
  --print-fingerprints   what belongs into datasets/registry.toml

The exit code is 1 if anything is missing or wrong.

Environment:
  EGG_DATASETS=DIR     the mirror, unless --mirror says another
  SSL_CERT_FILE=FILE   certificates (PEM) to trust instead of Mozilla's, for a
                       network that has its own
  HTTPS_PROXY=URL      a proxy
";

/// What was asked for on the command line.
#[derive(Debug, Default, PartialEq)]
struct Request {
    names: Vec<String>,
    all: bool,
    offline: bool,
    json: bool,
    print_fingerprints: bool,
    to: Option<PathBuf>,
    mirror: Option<PathBuf>,
}

pub(crate) fn command(workspace: &Workspace, mut arguments: Arguments) -> Result<()> {
    let Some(verb) = arguments.next() else {
        return Err(Error::usage("list, prepare or verify?", HELP));
    };
    if arguments::is_help(&verb) {
        terminal::show(HELP.as_bytes());
        return Ok(());
    }
    let run = match verb.as_str() {
        "list" => list::run,
        "prepare" => prepare::run,
        "verify" => verify::run,
        _ => return Err(arguments::unknown(&verb, HELP)),
    };
    let Some(request) = parse(&verb, arguments)? else {
        terminal::show(HELP.as_bytes());
        return Ok(());
    };
    let registry = Registry::builtin();
    let entries = selected(registry, &request)?;
    let folders = Folders::find(workspace, &request)?;
    run(&entries, &folders, &request)
}

/// `None` if help was asked for.
fn parse(verb: &str, mut arguments: Arguments) -> Result<Option<Request>> {
    let mut request = Request::default();
    while let Some(word) = arguments.next() {
        match (word.as_str(), verb) {
            ("--all", "prepare") => request.all = true,
            ("--offline", "prepare") => request.offline = true,
            ("--json", "list") => request.json = true,
            ("--print-fingerprints", "verify") => request.print_fingerprints = true,
            ("--to", _) => request.to = Some(arguments.value("--to", HELP)?.into()),
            ("--mirror", _) => request.mirror = Some(arguments.value("--mirror", HELP)?.into()),
            (word, _) if arguments::is_help(word) => return Ok(None),
            (word, _) if word.starts_with('-') || verb == "list" => {
                return Err(arguments::unknown(word, HELP));
            }
            (name, _) => request.names.push(name.to_owned()),
        }
    }
    if verb == "prepare" && request.all != request.names.is_empty() {
        return Err(Error::usage("name the data sets, or say --all", HELP));
    }
    if verb == "verify" && request.to.is_some() && request.mirror.is_some() {
        return Err(Error::usage("verify looks in one place: --to or --mirror", HELP));
    }
    Ok(Some(request))
}

/// The data sets asked for, each once, in the order of the registry; without
/// names, all.
fn selected<'a>(registry: &'a Registry, request: &Request) -> Result<Vec<&'a DatasetEntry>> {
    let mut wanted = Vec::new();
    for name in &request.names {
        let entry = registry
            .get(name)
            .map_err(|error| Error::usage(error.to_string(), "`cargo xtask data list` shows all names."))?;
        wanted.push(&entry.name);
    }
    let entries = registry.entries().iter();
    Ok(entries
        .filter(|entry| wanted.is_empty() || wanted.contains(&&entry.name))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Option<Request>> {
        let mut arguments = Arguments::new(line.split_whitespace().map(String::from));
        let verb = arguments.next().unwrap();
        parse(&verb, arguments)
    }

    #[test]
    fn options_belong_to_their_verbs() {
        let request = parsed("prepare cora dd --to=x --offline").unwrap().unwrap();
        assert_eq!(request.names, ["cora", "dd"]);
        assert_eq!(request.to, Some("x".into()));
        assert!(request.offline && !request.all);
        for line in [
            "prepare",
            "prepare cora --all",
            "prepare cora --json",
            "list cora",
            "verify --all",
            "verify --to x --mirror y",
            "verify --to",
        ] {
            assert!(matches!(parsed(line), Err(Error::Usage { .. })), "{line}");
        }
    }

    #[test]
    fn data_sets_are_taken_once_in_the_order_of_the_registry() {
        let names = |line: &str| {
            let request = parsed(line).unwrap().unwrap();
            let entries = selected(Registry::builtin(), &request)?;
            Ok::<_, Error>(entries.iter().map(|entry| entry.name.clone()).collect::<Vec<_>>())
        };
        assert_eq!(names("prepare pubmed CORA Cora").unwrap(), ["Cora", "Pubmed"]);
        assert_eq!(names("prepare --all").unwrap().len(), 13);
        for name in ["../MUTAG", "MUTAG/..", "/etc/passwd", "C:\\MUTAG", "MUTAG.zip"] {
            assert!(
                matches!(names(&format!("prepare {name}")), Err(Error::Usage { .. })),
                "{name}"
            );
        }
    }
}
