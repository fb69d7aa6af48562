//! `cargo xtask data prepare`: from the mirror, from an archive put there by
//! hand, or from upstream; checked in a staging folder, then given its names.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Instant;

use egg_graph::{DatasetEntry, FileEntry};

use crate::error::{Error, Result};
use crate::terminal;

use super::checksum::{self, Summed, Verdict};
use super::counts;
use super::destination::{Destination, NewFile};
use super::download::{self, Download, Patience};
use super::folders::Folders;
use super::unpack::{self, Limits};
use super::verify;
use super::{Request, size};

/// How a file is fetched from upstream. Tests have other ways.
type Fetch<'a> = &'a dyn Fn(&Download<'_>) -> Result<()>;

struct Preparation<'a> {
    destination: Destination,
    mirror: Option<&'a Path>,
    /// `None` offline.
    fetch: Option<Fetch<'a>>,
}

#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    AlreadyThere,
    Prepared {
        from: &'static str,
        notes: Vec<String>,
    },
    /// What to get, and where to put it.
    Missing(Vec<(String, PathBuf)>),
}

pub(super) fn run(entries: &[&DatasetEntry], folders: &Folders, request: &Request) -> Result<()> {
    let usual = |download: &Download<'_>| download::fetch(download, &Patience::USUAL);
    let mirror = folders.mirror.as_deref();
    let preparation = Preparation {
        destination: Destination::open(&folders.to, mirror)?,
        mirror,
        fetch: if request.offline { None } else { Some(&usual) },
    };
    let mut lacking = 0;
    for entry in entries {
        let start = Instant::now();
        let outcome = preparation.prepare(entry);
        lacking += usize::from(!matches!(
            outcome,
            Ok(Outcome::AlreadyThere | Outcome::Prepared { .. })
        ));
        report(entry, &outcome, start);
    }
    if lacking > 0 {
        println!("{lacking} of {} not prepared", entries.len());
        return Err(Error::Reported);
    }
    Ok(())
}

fn report(entry: &DatasetEntry, outcome: &Result<Outcome>, start: Instant) {
    let name = &entry.name;
    match outcome {
        Ok(Outcome::AlreadyThere) => println!("{name:<14} already there"),
        Ok(Outcome::Prepared { from, notes }) => {
            let size = entry
                .size()
                .map_or_else(String::new, |bytes| size::bytes(bytes) + ", ");
            let seconds = start.elapsed().as_secs_f64();
            println!(
                "{name:<14} {} from {from} ({size}{seconds:.1} s)",
                terminal::good("prepared")
            );
            for note in notes {
                println!("{:<14} {}", "", terminal::doubtful(&format!("note: {note}")));
            }
        }
        Ok(Outcome::Missing(files)) => {
            println!("{name:<14} {}", terminal::bad("missing"));
            for (url, path) in files {
                println!("{:<14} get {url}\n{:<14} put it at {}", "", "", path.display());
            }
        }
        Err(error) => println!("{name:<14} {}: {error}", terminal::bad("failed")),
    }
}

impl Preparation<'_> {
    fn prepare(&self, entry: &DatasetEntry) -> Result<Outcome> {
        let folder = self.destination.folder();
        if entry.is_complete_below(folder) {
            // What was put there by hand has been checked by nobody.
            return match verify::sound(entry, folder) {
                Ok(()) => Ok(Outcome::AlreadyThere),
                Err(why) => Err(Error::Failed(format!(
                    "what is there is not the data set: {why}\n{:<14} remove it, and prepare it again",
                    ""
                ))),
            };
        }
        let staging = self.destination.stage()?;
        let staged = Staged::new(entry, staging.path());
        if let Some(mirror) = self.mirror
            && entry.is_complete_below(mirror)
        {
            return self.finish(staged.copied(mirror)?, "the mirror");
        }
        if entry.archive.is_none() {
            return self.file_by_file(staged);
        }
        self.by_archive(staged)
    }

    fn by_archive(&self, staged: Staged<'_>) -> Result<Outcome> {
        let folder = self.destination.folder();
        let Some(archive) = &staged.entry.archive else {
            return Ok(Outcome::Missing(Vec::new()));
        };
        let by_hand = archive.path_below(folder);
        let mirrored = self.mirror.map(|mirror| archive.path_below(mirror));
        if let Some(path) = mirrored.filter(|path| path.is_file()) {
            return self.finish(staged.unpacked(&path)?, "the mirror's archive");
        }
        if by_hand.is_file() {
            return self.finish(staged.unpacked(&by_hand)?, "the archive in the folder");
        }
        let Some(fetch) = self.fetch else {
            return Ok(Outcome::Missing(vec![(archive.url.clone(), by_hand)]));
        };
        // Of upstream's archive no checksum is known; what is in it has them.
        let path = self.destination.downloads()?.join(file_name(&archive.path));
        if !path.is_file() {
            fetch(&Download {
                url: &archive.url,
                to: &path,
                size: None,
                sha256: None,
            })
            .map_err(|error| by_hand_instead(error, &by_hand))?;
        }
        let outcome = staged
            .unpacked(&path)
            .and_then(|staged| self.finish(staged, "upstream"));
        // A good one is of no more use, and a bad one would fail for ever.
        let _ = fs::remove_file(&path);
        outcome
    }

    fn file_by_file(&self, mut staged: Staged<'_>) -> Result<Outcome> {
        let folder = self.destination.folder();
        let mut missing = Vec::new();
        let mut from = "the mirror";
        let needed: Vec<&FileEntry> = staged
            .entry
            .files
            .iter()
            .filter(|file| !file.optional && !file.is_below(folder))
            .collect();
        for file in needed {
            let Some(url) = &file.url else { continue };
            let mirrored = self.mirror.map(|mirror| file.path_below(mirror));
            if let Some(path) = mirrored.filter(|path| path.is_file()) {
                staged.copy(file, &path)?;
                continue;
            }
            let Some(fetch) = self.fetch else {
                missing.push((url.clone(), file.path_below(folder)));
                continue;
            };
            from = "upstream";
            let path = self.destination.downloads()?.join(file_name(&file.path));
            fetch(&Download {
                url,
                to: &path,
                size: file.size,
                sha256: file.sha256.as_deref(),
            })
            .map_err(|error| by_hand_instead(error, &file.path_below(folder)))?;
            staged.copy(file, &path)?;
            let _ = fs::remove_file(&path);
        }
        if missing.is_empty() {
            self.finish(staged, from)
        } else {
            Ok(Outcome::Missing(missing))
        }
    }

    /// Checks all that is staged, then installs it.
    fn finish(&self, staged: Staged<'_>, from: &'static str) -> Result<Outcome> {
        let (files, notes) = staged.judged()?;
        for file in files {
            let path = file.path_below(self.destination.folder());
            self.destination.install(&file.path_below(staged.folder), &path)?;
        }
        if !staged.entry.is_complete_below(self.destination.folder()) {
            return Err(Error::Failed(format!(
                "{} lacks a file of {} that the registry lists",
                from, staged.entry.name
            )));
        }
        Ok(Outcome::Prepared { from, notes })
    }
}

/// Files of a data set in a folder laid out like a data folder.
struct Staged<'a> {
    entry: &'a DatasetEntry,
    folder: &'a Path,
    files: Vec<(&'a FileEntry, Summed)>,
}

impl<'a> Staged<'a> {
    fn new(entry: &'a DatasetEntry, folder: &'a Path) -> Self {
        Self {
            entry,
            folder,
            files: Vec::new(),
        }
    }

    fn copied(mut self, mirror: &Path) -> Result<Self> {
        for file in &self.entry.files {
            let path = file.path_below(mirror);
            if path.is_file() {
                self.copy(file, &path)?;
            }
        }
        Ok(self)
    }

    fn copy(&mut self, file: &'a FileEntry, from: &Path) -> Result<()> {
        let to = file.path_below(self.folder);
        let copy = || {
            let mut written = NewFile::create(&to)?;
            let summed = checksum::copy(&mut File::open(from)?, &mut written)?;
            written.sync()?;
            Ok::<_, std::io::Error>(summed)
        };
        let summed = copy().map_err(|e| Error::while_doing(from.display(), e))?;
        self.files.push((file, summed));
        Ok(())
    }

    /// Takes only what the registry lists.
    fn unpacked(mut self, archive: &Path) -> Result<Self> {
        let named = |name: &str| {
            let mut files = self.entry.files.iter();
            files.find(|file| self.entry.member(file).as_deref() == Some(name))
        };
        let taken = unpack::unpack(archive, &Limits::DATASET, |name| {
            named(name).map(|file| file.path_below(self.folder))
        })?;
        let files = taken
            .into_iter()
            .filter_map(|(name, summed)| Some((named(&name)?, summed)));
        let files: Vec<_> = files.collect();
        for file in self.entry.files.iter().filter(|file| !file.optional) {
            if !files.iter().any(|(taken, _)| *taken == file) {
                return Err(Error::Failed(format!(
                    "{} has no {}",
                    archive.display(),
                    self.entry.member(file).unwrap_or_default()
                )));
            }
        }
        self.files = files;
        Ok(self)
    }

    /// What is to be installed, and what the user should know.
    fn judged(&self) -> Result<(Vec<&'a FileEntry>, Vec<String>)> {
        let failed = |why: String| Error::Failed(format!("{why}; nothing was installed"));
        let mut good = Vec::new();
        let mut notes = Vec::new();
        let (mut unknown, mut reordered) = (false, false);
        for (file, summed) in &self.files {
            match checksum::judge(file, summed) {
                Verdict::Good => {}
                Verdict::Unknown => unknown = true,
                Verdict::Reordered => reordered = true,
                Verdict::Bad(_) if file.optional => {
                    notes.push(format!(
                        "{} is another than the registry's and was left out",
                        file.path
                    ));
                    continue;
                }
                Verdict::Bad(why) => return Err(failed(why)),
            }
            good.push(*file);
        }
        let path = self.entry.path_below(self.folder);
        if reordered {
            counts::same_content(self.entry, &path).map_err(failed)?;
            notes.push("rows are in another order than the mirror's; the content is the same".into());
        }
        if unknown {
            counts::check(self.entry, &path).map_err(failed)?;
            notes.push("no checksum is known; the counts are as expected".into());
        }
        Ok((good, notes))
    }
}

fn by_hand_instead(error: Error, path: &Path) -> Error {
    Error::Failed(format!(
        "{error}\n{:<14} or get it by other means and put it at {}",
        "",
        path.display()
    ))
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
#[path = "prepare_tests.rs"]
mod tests;

#[cfg(all(test, unix))]
#[path = "prepare_killed.rs"]
mod killed;
