//! `egg data fetch`.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use egg_gnn::datasets::{Bytes, DataFolders, DatasetEntry, Event, Fetcher, Outcome, Transport};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;

use crate::console::{Style, counted, note, warn};
use crate::failure::{Failure, Result};

use super::Place;

/// How often the progress of a download is printed where there is no bar.
const REPORT: Duration = Duration::from_secs(10);

/// Get data sets: from a mirror if there is one, else over HTTPS; checked before they get their names
///
/// What is there already is left alone, and a download that was cut is resumed. A network with
/// certificates of its own names them in SSL_CERT_FILE; HTTPS_PROXY names a proxy.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// As `egg data list` shows them
    #[arg(value_name = "NAME", required_unless_present = "all", conflicts_with = "all")]
    names: Vec<String>,
    /// All of them
    #[arg(long)]
    all: bool,
    /// Don't download; say what is missing and where it goes
    #[arg(long)]
    offline: bool,
    /// A folder or an https address that has data sets in the layout of a data folder; it is only read from
    /// [default: as `egg data --help` says]
    #[arg(long, value_name = "DIR|URL")]
    mirror: Option<String>,
    /// No progress, only the result
    #[arg(long, short)]
    quiet: bool,
    #[command(flatten)]
    place: Place,
}

pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let entries = super::selected(&arguments.names)?;
    let transport = transport(arguments)?;
    let mut fetcher = Fetcher::open(&folders(arguments))?;
    if let Some(transport) = &transport {
        fetcher = fetcher.with_transport(transport.as_ref());
    }
    let style = arguments.place.style();
    let (mut fetched, mut failures) = (0, Vec::new());
    for entry in &entries {
        let mut progress = Progress::new(style, arguments.quiet, &entry.name);
        let outcome = fetcher.fetch(entry, &mut |event| progress.observe(event));
        progress.bar.finish_and_clear();
        match outcome {
            Ok(outcome) if outcome.is_here() => {
                fetched += usize::from(outcome != Outcome::AlreadyThere);
                print_summary(style, entry, &outcome, progress.begin);
            }
            Ok(outcome) => failures.push((entry, missing(arguments, entry, &outcome))),
            Err(error) => failures.push((entry, Failure::from(error))),
        }
    }
    for (entry, failure) in &failures {
        style.emit(&json!({ "event": "failed", "name": entry.name, "problem": failure.to_string() }));
    }
    style.emit(&json!({
        "event": "summary",
        "fetched": fetched,
        "already_there": entries.len() - fetched - failures.len(),
        "failed": failures.len(),
    }));
    let count = failures.len();
    match failures.pop() {
        None => Ok(()),
        Some((entry, failure)) if count == 1 => Err(Failure::In {
            data: entry.name.clone(),
            source: Box::new(failure),
        }),
        Some(last) => {
            for (entry, failure) in failures.iter().chain([&last]) {
                warn(&format!("{}: {failure}", entry.name));
            }
            let all = counted(entries.len(), "data set");
            Err(Failure::other(format!("{count} of {all} could not be fetched")))
        }
    }
}

/// Where data sets go and which mirror is a folder.
fn folders(arguments: &Arguments) -> DataFolders {
    let mut folders = DataFolders::locate();
    if let Some(folder) = &arguments.place.datasets {
        folders = folders.with_prepared(folder);
    }
    match arguments.mirror.as_deref() {
        Some(address) if is_address(address) => folders.with_mirror(None),
        Some(folder) => folders.with_mirror(Some(PathBuf::from(folder))),
        None => folders,
    }
}

fn is_address(mirror: &str) -> bool {
    mirror.contains("://")
}

/// What downloads, if anything does.
#[cfg(feature = "fetch")]
fn transport(arguments: &Arguments) -> Result<Option<Box<dyn Transport>>> {
    use egg_gnn::datasets::Https;

    Ok(match arguments.mirror.as_deref() {
        _ if arguments.offline => None,
        Some(address) if is_address(address) => Some(Box::new(Https::from_mirror(address))),
        _ => Some(Box::new(Https::default())),
    })
}

#[cfg(not(feature = "fetch"))]
fn transport(arguments: &Arguments) -> Result<Option<Box<dyn Transport>>> {
    match arguments.mirror.as_deref() {
        Some(address) if is_address(address) && !arguments.offline => Err(Failure::Usage(format!(
            "{address}: this `egg` was built without the feature `fetch` and can't download; a mirror must be a folder"
        ))),
        _ => Ok(None),
    }
}

fn print_summary(style: Style, entry: &DatasetEntry, outcome: &Outcome, begin: Instant) {
    let (name, seconds) = (&entry.name, begin.elapsed().as_secs_f64());
    let (from, notes) = match outcome {
        Outcome::Fetched { from, notes } => (Some(from), notes.as_slice()),
        _ => (None, &[][..]),
    };
    style.emit(&json!({
        "event": if from.is_some() { "fetched" } else { "already_there" },
        "name": name,
        "from": from,
        "notes": notes,
        "seconds": seconds,
    }));
    let size = entry
        .size()
        .map_or_else(String::new, |size| format!("{}, ", Bytes(size)));
    match from {
        Some(_) => style.say(format!("{name}: {outcome} ({size}{seconds:.1} s)")),
        None => style.say(format!("{name}: {outcome}")),
    }
    if !style.is_json() {
        notes.iter().for_each(|line| note(&format!("{name}: {line}")));
    }
}

/// Nothing could be downloaded: what to get by hand.
fn missing(arguments: &Arguments, entry: &DatasetEntry, outcome: &Outcome) -> Failure {
    let why = match arguments.offline {
        true => "not downloaded, as --offline says",
        false => "this `egg` was built without the feature `fetch` and can't download",
    };
    Failure::other(format!("{why}\nhelp: {} is {outcome}", entry.name))
}

/// How far a data set is: a bar on a terminal, lines elsewhere, objects for programs.
struct Progress<'a> {
    style: Style,
    quiet: bool,
    name: &'a str,
    begin: Instant,
    reported: Instant,
    bar: ProgressBar,
}

impl<'a> Progress<'a> {
    fn new(style: Style, quiet: bool, name: &'a str) -> Self {
        let bar = match style {
            Style::Terminal if !quiet => ProgressBar::no_length(),
            _ => ProgressBar::hidden(),
        };
        bar.set_prefix(name.to_owned());
        bar.enable_steady_tick(Duration::from_millis(250));
        if let Ok(style) = ProgressStyle::with_template("{prefix} {spinner} {wide_msg}") {
            bar.set_style(style);
        }
        Self {
            style,
            quiet,
            name,
            begin: Instant::now(),
            reported: Instant::now(),
            bar,
        }
    }

    fn observe(&mut self, event: Event<'_>) {
        match event {
            Event::Downloading { url, bytes, total } => {
                if self.bar.length() != total {
                    self.resize(total);
                }
                self.bar.set_position(bytes);
                self.bar.set_message(file_name(url).to_owned());
                if !self.quiet && self.reported.elapsed() >= REPORT {
                    self.reported = Instant::now();
                    self.print_progress(url, bytes, total);
                }
            }
            Event::Retrying { url, problem, pause } => {
                let line = format!(
                    "{}: {url}: {problem}; again in {:.0} s",
                    self.name,
                    pause.as_secs_f64()
                );
                if !self.quiet {
                    self.bar.suspend(|| note(&line));
                }
            }
            Event::Checking => {
                self.resize(None);
                self.bar.set_message("is checked");
            }
            _ => {}
        }
    }

    /// A bar as long as the file, or none.
    fn resize(&self, total: Option<u64>) {
        let template = match total {
            Some(_) => {
                "{prefix} [{bar:24}] {decimal_bytes}/{decimal_total_bytes}, {decimal_bytes_per_sec}, {eta} left  {wide_msg}"
            }
            None => "{prefix} {spinner} {wide_msg}",
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            self.bar.set_style(style.progress_chars("=> "));
        }
        match total {
            Some(total) => self.bar.set_length(total),
            None => self.bar.unset_length(),
        }
    }

    fn print_progress(&self, url: &str, bytes: u64, total: Option<u64>) {
        let name = self.name;
        self.style
            .emit(&json!({ "event": "download", "name": name, "url": url, "bytes": bytes, "total": total }));
        if self.style == Style::Plain {
            let of = total.map_or_else(String::new, |total| format!(" of {}", Bytes(total)));
            self.style.say(format!("{name}: {}{of}", Bytes(bytes)));
        }
    }
}

fn file_name(url: &str) -> &str {
    url.rsplit('/').next().unwrap_or(url)
}
