//! `cargo xtask data`: lists, prepares and verifies the benchmark data sets. What it does is in
//! egg-datasets; this is how it is called and what it prints. (`egg data` is the same for users.)

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use egg_datasets::{
    Bytes, DataFolders, DatasetEntry, Event, Fetcher, Grouped, Https, Outcome, Registry, Verification, verify,
};
use serde_json::json;

use crate::arguments::{self, Arguments};
use crate::error::{Error, Result};
use crate::terminal;
use crate::workspace::Workspace;

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
                         Without it EGG_DATASETS, or shared/datasets above the
                         workspace. `verify --mirror` verifies the mirror.
  --offline              don't download; say what is missing and where it goes
  --json                 for programs
  --print-fingerprints   what belongs into crates/datasets/registry.toml

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
        "list" => list,
        "prepare" => prepare,
        "verify" => verify_all,
        _ => return Err(arguments::unknown(&verb, HELP)),
    };
    let Some(request) = parse(&verb, arguments)? else {
        terminal::show(HELP.as_bytes());
        return Ok(());
    };
    let registry = Registry::builtin();
    let entries = selected(registry, &request)?;
    let folders = folders(&workspace.root, &request)?;
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

/// Where data are taken from and where they go.
fn folders(root: &Path, request: &Request) -> Result<DataFolders> {
    let absolute =
        |folder: &Path| std::path::absolute(folder).map_err(|e| Error::while_doing(folder.display(), e));
    let prepared = match &request.to {
        Some(folder) => absolute(folder)?,
        None => root.join("datasets").join("prepared"),
    };
    let mut folders = DataFolders::locate_from(root).with_prepared(prepared);
    if let Some(mirror) = &request.mirror {
        folders = folders.with_mirror(Some(absolute(mirror)?));
    }
    folders.existing_mirror().map_err(failed)?;
    Ok(folders)
}

fn failed(error: egg_datasets::Error) -> Error {
    Error::Failed(error.to_string())
}

fn list(entries: &[&DatasetEntry], folders: &DataFolders, request: &Request) -> Result<()> {
    let text = match request.json {
        true => as_json(entries, folders)?,
        false => as_table(entries, folders),
    };
    terminal::show(text.as_bytes());
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

fn as_json(entries: &[&DatasetEntry], folders: &DataFolders) -> Result<String> {
    let mut list = Vec::new();
    for entry in entries {
        let mut value = serde_json::to_value(entry).map_err(|e| Error::while_doing(&entry.name, e))?;
        value["size"] = json!(entry.size());
        value["state"] = json!(folders.status(entry).to_string());
        list.push(value);
    }
    let text = serde_json::to_string_pretty(&list).map_err(|e| Error::while_doing("the list", e))?;
    Ok(text + "\n")
}

fn prepare(entries: &[&DatasetEntry], folders: &DataFolders, request: &Request) -> Result<()> {
    let https = Https::default();
    let mut fetcher = Fetcher::open(folders).map_err(failed)?;
    if !request.offline {
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
                    terminal::good("prepared")
                );
                show_notes(&notes);
            }
            Ok(outcome) if outcome.is_here() => println!("{name:<14} {outcome}"),
            Ok(outcome) => println!("{name:<14} {}", terminal::bad(&outcome.to_string())),
            Err(error) => println!("{name:<14} {}: {error}", terminal::bad("failed")),
        }
    }
    if lacking > 0 {
        println!("{lacking} of {} not prepared", entries.len());
        return Err(Error::Reported);
    }
    Ok(())
}

fn show_notes(notes: &[String]) {
    for note in notes {
        println!("{:<14} {}", "", terminal::doubtful(&format!("note: {note}")));
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

fn verify_all(entries: &[&DatasetEntry], folders: &DataFolders, request: &Request) -> Result<()> {
    let folder = match (&request.mirror, &folders.mirror) {
        (Some(_), Some(mirror)) => mirror,
        _ => &folders.prepared,
    };
    println!("in {}", folder.display());
    let (mut good, mut bad) = (0, 0);
    for entry in entries {
        let name = &entry.name;
        match verify(entry, folder) {
            Verification::Right(verified) => {
                println!("{name:<14} {} {verified}", terminal::good("right"));
                show_notes(&verified.notes);
                let unread = request.print_fingerprints && verified.fingerprint.is_none();
                bad += usize::from(unread);
                good += usize::from(!unread);
                if request.print_fingerprints {
                    match &verified.fingerprint {
                        Some(fingerprint) => println!("{:<14} fingerprint = \"{fingerprint}\"", ""),
                        None => println!("{:<14} no fingerprint: prepare it first", ""),
                    }
                }
            }
            Verification::Wrong { problems } => {
                bad += 1;
                for problem in problems {
                    println!("{name:<14} {}: {problem}", terminal::bad("wrong"));
                }
            }
            _ => {
                // Without names, only what is there is verified.
                bad += usize::from(!request.names.is_empty());
                println!("{name:<14} not there");
            }
        }
    }
    if good + bad == 0 {
        println!("nothing to verify; `cargo xtask data prepare --all` gets it");
        return Err(Error::Reported);
    }
    println!("{good} right, {bad} wrong or missing");
    if bad > 0 { Err(Error::Reported) } else { Ok(()) }
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

    #[test]
    fn the_list_has_every_data_set_with_its_state() {
        let place = std::env::temp_dir().join(format!("egg-xtask-data-{}", std::process::id()));
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
        let named = |names: &[&str]| Request {
            names: names.iter().map(|name| name.to_string()).collect(),
            ..Request::default()
        };
        let cora = [Registry::builtin().get("Cora").unwrap()];
        assert!(verify_all(&cora, &folders, &named(&["Cora"])).is_err());
        assert!(verify_all(&cora, &folders, &named(&[])).is_err());
        let _ = std::fs::remove_dir_all(place);
    }
}
