//! `cargo xtask data`: lists, prepares and verifies the benchmark data sets, without a build of the
//! program (`egg data` is the same for users).

#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::fmt::Display;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::{Args, Parser, Subcommand};
use egg_datasets::{
    Bytes, DataFolders, DatasetEntry, Event, Fetcher, Grouped, Https, Outcome, Registry, Verification, verify,
};
use serde_json::json;

const ENVIRONMENT: &str = "\
Names are looked up without regard to case, `-` and `_`.
The exit code is 1 if anything is missing or wrong.

Environment:
  EGG_DATASETS=DIR     the mirror, unless --mirror says another
  SSL_CERT_FILE=FILE   certificates (PEM) to trust instead of Mozilla's, for a
                       network that has its own
  HTTPS_PROXY=URL      a proxy";

/// The benchmark data sets
#[derive(Debug, Parser)]
#[command(name = "cargo xtask data", bin_name = "cargo xtask data", after_help = ENVIRONMENT)]
struct Command {
    #[command(subcommand)]
    verb: Verb,
    #[command(flatten)]
    places: Places,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Show the data sets, with what is in them and whether they are here
    List {
        /// For programs
        #[arg(long)]
        json: bool,
    },
    /// Copy or unpack them from a mirror, or else download them; what is there already is left alone
    Prepare {
        /// Which
        #[arg(value_name = "NAME", required_unless_present = "all", conflicts_with = "all")]
        names: Vec<String>,
        /// All of them
        #[arg(long)]
        all: bool,
        /// Don't download; say what is missing and where it goes
        #[arg(long)]
        offline: bool,
    },
    /// Check the SHA-256 and the counts of what is there; without names, of all that is there
    Verify {
        /// Which
        #[arg(value_name = "NAME")]
        names: Vec<String>,
        /// Show what belongs into crates/datasets/registry.toml
        #[arg(long)]
        print_fingerprints: bool,
    },
}

#[derive(Debug, Args)]
struct Places {
    /// The data folder; datasets/prepared without it
    #[arg(long, global = true, value_name = "DIR")]
    to: Option<PathBuf>,
    /// A data folder to take from; it is never written to. `verify --mirror` verifies it
    #[arg(long, global = true, value_name = "DIR")]
    mirror: Option<PathBuf>,
}

/// What went wrong; nothing if it has been said.
type Outcomes = Result<(), Option<String>>;

fn main() -> ExitCode {
    match run(&Command::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(said) => {
            if let Some(message) = said {
                eprintln!("error: {message}");
            }
            ExitCode::FAILURE
        }
    }
}

fn run(command: &Command) -> Outcomes {
    let names: &[String] = match &command.verb {
        Verb::List { .. } => &[],
        Verb::Prepare { names, .. } | Verb::Verify { names, .. } => names,
    };
    let entries = selected(Registry::builtin(), names)?;
    // The root of the workspace.
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folders = folders(&root, &command.places)?;
    match &command.verb {
        Verb::List { json } => list(&entries, &folders, *json),
        Verb::Prepare { offline, .. } => prepare(&entries, &folders, *offline),
        Verb::Verify {
            print_fingerprints, ..
        } => {
            let folder = match (&command.places.mirror, &folders.mirror) {
                (Some(_), Some(mirror)) => mirror,
                _ => &folders.prepared,
            };
            verify_all(&entries, folder, !names.is_empty(), *print_fingerprints)
        }
    }
}

/// The data sets asked for, each once, in the order of the registry; without
/// names, all.
fn selected<'a>(registry: &'a Registry, names: &[String]) -> Result<Vec<&'a DatasetEntry>, Option<String>> {
    let mut wanted = Vec::new();
    for name in names {
        let entry = registry
            .get(name)
            .map_err(|error| failed(format!("{error}; `cargo xtask data list` shows all names")))?;
        wanted.push(&entry.name);
    }
    let entries = registry.entries().iter();
    Ok(entries
        .filter(|entry| wanted.is_empty() || wanted.contains(&&entry.name))
        .collect())
}

/// Where data are taken from and where they go.
fn folders(root: &Path, places: &Places) -> Result<DataFolders, Option<String>> {
    let absolute = |folder: &Path| {
        std::path::absolute(folder).map_err(|error| failed(format!("{}: {error}", folder.display())))
    };
    let prepared = match &places.to {
        Some(folder) => absolute(folder)?,
        None => root.canonicalize().map_err(failed)?.join("datasets/prepared"),
    };
    let mut folders = DataFolders::locate_from(root).with_prepared(prepared);
    if let Some(mirror) = &places.mirror {
        folders = folders.with_mirror(Some(absolute(mirror)?));
    }
    folders.existing_mirror().map_err(failed)?;
    Ok(folders)
}

fn failed(error: impl Display) -> Option<String> {
    Some(error.to_string())
}

fn list(entries: &[&DatasetEntry], folders: &DataFolders, json: bool) -> Outcomes {
    let text = match json {
        true => as_json(entries, folders).map_err(failed)?,
        false => as_table(entries, folders),
    };
    // A reader such as `head` may cut it short.
    let _ = std::io::stdout().write_all(text.as_bytes());
    Ok(())
}

fn as_table(entries: &[&DatasetEntry], folders: &DataFolders) -> String {
    let row = |cells: [&str; 9]| {
        let [name, task, graphs, nodes, edges, classes, size, licence, state] = cells;
        format!(
            "{name:<12}  {task:<20}  {graphs:>6}  {nodes:>9}  {edges:>10}  {classes:>7}  {size:>8}  {licence:<29}  {state}\n"
        )
    };
    let mut text = row([
        "name", "task", "graphs", "nodes", "edges", "classes", "size", "licence", "state",
    ]);
    for entry in entries {
        let counts = &entry.counts;
        let edges = match (counts.edges, counts.quoted_edges) {
            (Some(edges), _) => Grouped(edges).to_string(),
            (None, quoted) => quoted.map_or_else(|| "?".into(), |edges| format!("~{}", Grouped(edges))),
        };
        let size = entry
            .size()
            .map_or_else(|| "?".into(), |size| Bytes(size).to_string());
        text += &row([
            &entry.name,
            entry.task.name(),
            &Grouped(counts.graphs).to_string(),
            &Grouped(counts.nodes).to_string(),
            &edges,
            &counts.classes.to_string(),
            &size,
            &entry.licence,
            &folders.status(entry).to_string(),
        ]);
    }
    let mirror = folders.mirror.as_ref();
    let mirror = mirror.map_or_else(|| "none".into(), |mirror| mirror.display().to_string());
    text + &format!(
        "\nprepared in {}\nmirror      {mirror}\n",
        folders.prepared.display()
    )
}

fn as_json(entries: &[&DatasetEntry], folders: &DataFolders) -> serde_json::Result<String> {
    let mut list = Vec::new();
    for entry in entries {
        let mut value = serde_json::to_value(entry)?;
        value["size"] = json!(entry.size());
        value["state"] = json!(folders.status(entry).to_string());
        list.push(value);
    }
    Ok(serde_json::to_string_pretty(&list)? + "\n")
}

fn prepare(entries: &[&DatasetEntry], folders: &DataFolders, offline: bool) -> Outcomes {
    let https = Https::default();
    let mut fetcher = Fetcher::open(folders).map_err(failed)?;
    if !offline {
        fetcher = fetcher.with_transport(&https);
    }
    let mut lacking = 0;
    for entry in entries {
        let start = Instant::now();
        let mut progress = Progress::default();
        let outcome = fetcher.fetch(entry, &mut |event| progress.observe(event));
        drop(progress);
        lacking += usize::from(!outcome.as_ref().is_ok_and(Outcome::is_here));
        let name = &entry.name;
        match outcome {
            Ok(Outcome::Fetched { from, notes }) => {
                let size = entry
                    .size()
                    .map_or_else(String::new, |size| format!("{}, ", Bytes(size)));
                let seconds = start.elapsed().as_secs_f64();
                println!(
                    "{name:<14} {} from {from} ({size}{seconds:.1} s)",
                    paint("32", "prepared")
                );
                show_notes(&notes);
            }
            Ok(outcome) if outcome.is_here() => println!("{name:<14} {outcome}"),
            Ok(outcome) => println!("{name:<14} {}", paint("1;31", &outcome.to_string())),
            Err(error) => println!("{name:<14} {}: {error}", paint("1;31", "failed")),
        }
    }
    if lacking > 0 {
        println!("{lacking} of {} not prepared", entries.len());
        return Err(None);
    }
    Ok(())
}

/// In colour for a person at a terminal.
fn paint(code: &str, text: &str) -> String {
    let plain = !std::io::stdout().is_terminal() || ["CI", "NO_COLOR"].map(std::env::var_os) != [None, None];
    match plain {
        true => text.to_owned(),
        false => format!("\x1b[{code}m{text}\x1b[0m"),
    }
}

fn show_notes(notes: &[String]) {
    for note in notes {
        println!("{:<14} {}", "", paint("33", &format!("note: {note}")));
    }
}

/// How far a download is: a line that changes at a terminal, a line now and then elsewhere.
struct Progress {
    terminal: bool,
    shown: Instant,
    written: bool,
}

impl Default for Progress {
    fn default() -> Self {
        Self {
            terminal: std::io::stderr().is_terminal() && !cfg!(test),
            shown: Instant::now(),
            written: false,
        }
    }
}

impl Progress {
    fn observe(&mut self, event: Event<'_>) {
        let pause = Duration::from_millis(if self.terminal { 100 } else { 10_000 });
        let Event::Downloading { url, bytes, total } = event else {
            return;
        };
        if self.shown.elapsed() < pause {
            return;
        }
        self.shown = Instant::now();
        let of = total.map_or_else(String::new, |total| format!(" of {}", Bytes(total)));
        let (start, end) = if self.terminal {
            ("\r\x1b[K", "")
        } else {
            ("", "\n")
        };
        self.written = self.terminal;
        let mut out = std::io::stderr().lock();
        let _ = write!(out, "{start}{url}  {}{of}{end}", Bytes(bytes)).and_then(|()| out.flush());
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.written {
            eprint!("\r\x1b[K");
        }
    }
}

/// `named`: what is not there is wrong.
fn verify_all(entries: &[&DatasetEntry], folder: &Path, named: bool, print_fingerprints: bool) -> Outcomes {
    println!("in {}", folder.display());
    let (mut good, mut bad) = (0, 0);
    for entry in entries {
        let name = &entry.name;
        match verify(entry, folder) {
            Verification::Right(verified) => {
                println!("{name:<14} {} {verified}", paint("32", "right"));
                show_notes(&verified.notes);
                let unread = print_fingerprints && verified.fingerprint.is_none();
                bad += usize::from(unread);
                good += usize::from(!unread);
                if print_fingerprints {
                    match &verified.fingerprint {
                        Some(fingerprint) => println!("{:<14} fingerprint = \"{fingerprint}\"", ""),
                        None => println!("{:<14} no fingerprint: prepare it first", ""),
                    }
                }
            }
            Verification::Wrong { problems } => {
                bad += 1;
                for problem in problems {
                    println!("{name:<14} {}: {problem}", paint("1;31", "wrong"));
                }
            }
            _ => {
                // Without names, only what is there is verified.
                bad += usize::from(named);
                println!("{name:<14} not there");
            }
        }
    }
    if good + bad == 0 {
        println!("nothing to verify; `cargo xtask data prepare --all` gets it");
        return Err(None);
    }
    println!("{good} right, {bad} wrong or missing");
    if bad > 0 { Err(None) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Command, clap::Error> {
        Command::try_parse_from(std::iter::once("data").chain(line.split_whitespace()))
    }

    #[test]
    fn options_belong_to_their_verbs() {
        let command = parsed("prepare cora dd --to=x --offline").unwrap();
        assert_eq!(command.places.to, Some("x".into()));
        assert!(
            matches!(command.verb, Verb::Prepare { names, all: false, offline: true } if names == ["cora", "dd"])
        );
        for line in [
            "",
            "fetch",
            "prepare",
            "prepare cora --all",
            "prepare cora --json",
            "list cora",
            "verify --all",
            "verify --to",
        ] {
            assert_eq!(parsed(line).unwrap_err().exit_code(), 2, "{line}");
        }
    }

    #[test]
    fn data_sets_are_taken_once_in_the_order_of_the_registry() {
        let names = |line: &str| {
            let names: Vec<String> = line.split_whitespace().map(String::from).collect();
            let entries = selected(Registry::builtin(), &names)?;
            Ok::<_, Option<String>>(entries.iter().map(|entry| entry.name.clone()).collect::<Vec<_>>())
        };
        assert_eq!(names("pubmed CORA Cora").unwrap(), ["Cora", "Pubmed"]);
        assert_eq!(names("").unwrap().len(), 13);
        for name in [
            "../MUTAG",
            "MUTAG/..",
            "/etc/passwd",
            "C:\\MUTAG",
            "MUTAG.zip",
            "PROTIENS",
        ] {
            assert!(names(name).is_err(), "{name}");
        }
    }

    #[test]
    fn the_list_has_every_data_set_with_its_state() {
        let place = std::env::temp_dir().join(format!("egg-data-example-{}", std::process::id()));
        let (to, mirror) = (place.join("to"), place.join("mirror"));
        std::fs::create_dir_all(to.join("wiki_cs")).unwrap();
        std::fs::create_dir_all(&mirror).unwrap();
        std::fs::write(mirror.join("MUTAG.zip"), "x").unwrap();
        std::fs::write(to.join("wiki_cs/data.json"), "x").unwrap();
        let folders = DataFolders::only(&to).with_mirror(Some(mirror));
        let entries: Vec<_> = Registry::builtin().entries().iter().collect();
        let table = as_table(&entries, &folders);
        let row = |name: &str| table.lines().find(|line| line.starts_with(name)).unwrap();
        assert!(row("MUTAG").ends_with("in mirror"));
        assert!(row("Wiki-CS").ends_with("prepared") && row("Wiki-CS").contains("~216,123"));
        assert!(row("Cora").ends_with("missing") && row("Cora").contains("5,278"));

        let json: serde_json::Value = serde_json::from_str(&as_json(&entries, &folders).unwrap()).unwrap();
        assert_eq!(json.as_array().unwrap().len(), 13);
        assert_eq!(json[0]["state"], "in mirror");
        assert_eq!(json[0]["counts"]["graphs"], 188);

        // What is asked for by name must be there, and nothing at all is not a success either.
        let cora = [Registry::builtin().get("Cora").unwrap()];
        for named in [true, false] {
            assert!(verify_all(&cora, &folders.prepared, named, false).is_err());
        }
        let _ = std::fs::remove_dir_all(place);
    }
}
