//! Getting data sets: from the mirror, from an archive put there by hand, or from upstream;
//! checked in a staging folder, then given their names.

use std::fmt;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use crate::checksum::{self, Summed, Verdict};
use crate::counts;
use crate::destination::{Destination, NewFile};
use crate::error::{Error, Result};
use crate::folders::DataFolders;
use crate::registry::{DatasetEntry, FileEntry};
use crate::transport::{Download, DownloadError, Event, Transport};
use crate::unpack::{self, Limits};
use crate::verify;

/// Gets data sets into the folder for them.
///
/// Files come from the mirror if it has them, else from an archive that somebody put into the
/// folder, else by a [`Transport`] if there is one. None has its final name before all of the
/// data set is here and is what the registry says. One program at a time can fetch into a folder;
/// the next completes what a killed one began.
///
/// ```no_run
/// use egg_datasets::{DataFolders, Fetcher, Registry};
///
/// let fetcher = Fetcher::open(&DataFolders::locate())?; // .with_transport(&Https::default())
/// let outcome = fetcher.fetch(Registry::builtin().get("MUTAG")?, &mut |_| {})?;
/// assert!(outcome.is_here());
/// # Ok::<(), egg_datasets::Error>(())
/// ```
pub struct Fetcher<'a> {
    destination: Destination,
    mirror: Option<PathBuf>,
    transport: Option<&'a dyn Transport>,
}

/// The result of fetching a data set.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// It was in the folder, and it is what the registry says.
    AlreadyThere,
    /// It was fetched.
    Fetched {
        /// Where it came from, in words.
        from: &'static str,
        /// What the user should know.
        notes: Vec<String>,
    },
    /// It is nowhere, and there is no transport.
    Missing {
        /// Addresses of the files to get, and where to put them.
        files: Vec<(String, PathBuf)>,
    },
}

impl Outcome {
    /// Whether the data set is in the folder now.
    pub fn is_here(&self) -> bool {
        !matches!(self, Self::Missing { .. })
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AlreadyThere => f.write_str("already there"),
            Self::Fetched { from, .. } => write!(f, "fetched from {from}"),
            Self::Missing { files } => {
                f.write_str("missing")?;
                for (url, path) in files {
                    write!(f, "; get {url} and put it at {}", path.display())?;
                }
                Ok(())
            }
        }
    }
}

impl<'a> Fetcher<'a> {
    /// Creates the folder if needed, and locks it against other programs. Nothing is downloaded
    /// without a transport.
    ///
    /// # Errors
    /// [`Error::NoMirror`], [`Error::InsideMirror`], [`Error::Busy`] or [`Error::Io`].
    pub fn open(folders: &DataFolders) -> Result<Self> {
        let mirror = folders.existing_mirror()?;
        Ok(Self {
            destination: Destination::open(&folders.prepared, mirror)?,
            mirror: mirror.map(Path::to_owned),
            transport: None,
        })
    }

    /// What is nowhere on this machine is downloaded by this.
    #[must_use]
    pub fn with_transport(mut self, transport: &'a dyn Transport) -> Self {
        self.transport = Some(transport);
        self
    }

    /// Gets a data set, unless it is in the folder and sound.
    ///
    /// # Errors
    /// [`Error::Damaged`] if something else is in its place; [`Error::Download`], [`Error::Archive`],
    /// [`Error::Content`] or [`Error::Io`] if it could not be got. Nothing is installed
    /// then, but the next call resumes the download.
    pub fn fetch(&self, entry: &DatasetEntry, observe: &mut dyn FnMut(Event<'_>)) -> Result<Outcome> {
        let folder = self.destination.folder();
        if entry.is_complete_below(folder) {
            // What was put there by hand has not been checked yet.
            observe(Event::Checking);
            return match verify::sound(entry, folder) {
                Ok(()) => Ok(Outcome::AlreadyThere),
                Err(problem) => Err(Error::Damaged {
                    name: entry.name.clone(),
                    problem,
                }),
            };
        }
        let staging = self.destination.stage()?;
        let staged = Staged::new(entry, staging.path());
        if let Some(mirror) = &self.mirror
            && entry.is_complete_below(mirror)
        {
            observe(Event::Checking);
            return self.finish(staged.copied(mirror)?, "the mirror");
        }
        if entry.archive.is_none() {
            return self.file_by_file(staged, observe);
        }
        self.by_archive(staged, observe)
    }

    fn by_archive(&self, staged: Staged<'_>, observe: &mut dyn FnMut(Event<'_>)) -> Result<Outcome> {
        let folder = self.destination.folder();
        let Some(archive) = &staged.entry.archive else {
            return Ok(Outcome::Missing { files: Vec::new() });
        };
        let by_hand = archive.path_below(folder);
        let mirrored = self.mirror.as_ref().map(|mirror| archive.path_below(mirror));
        if let Some(path) = mirrored.filter(|path| path.is_file()) {
            observe(Event::Checking);
            return self.finish(staged.unpacked(&path)?, "the mirror's archive");
        }
        if by_hand.is_file() {
            observe(Event::Checking);
            return self.finish(staged.unpacked(&by_hand)?, "the archive in the folder");
        }
        let Some(transport) = self.transport else {
            return Ok(Outcome::Missing {
                files: vec![(archive.url.clone(), by_hand)],
            });
        };
        // Of upstream's archive no checksum is known; what is in it has them.
        let path = self.destination.downloads()?.join(file_name(&archive.path));
        if !path.is_file() {
            let download = Download {
                url: &archive.url,
                path: &archive.path,
                to: &path,
                size: None,
                sha256: None,
            };
            let done = transport.download(&download, observe);
            done.map_err(not_downloaded(by_hand))?;
        }
        observe(Event::Checking);
        let outcome = staged
            .unpacked(&path)
            .and_then(|staged| self.finish(staged, "upstream"));
        // A good one is of no more use, and a bad one would fail for ever.
        let _ = fs::remove_file(&path);
        outcome
    }

    fn file_by_file(&self, mut staged: Staged<'_>, observe: &mut dyn FnMut(Event<'_>)) -> Result<Outcome> {
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
            let mirrored = self.mirror.as_ref().map(|mirror| file.path_below(mirror));
            if let Some(path) = mirrored.filter(|path| path.is_file()) {
                staged.copy(file, &path)?;
                continue;
            }
            let Some(transport) = self.transport else {
                missing.push((url.clone(), file.path_below(folder)));
                continue;
            };
            from = "upstream";
            let path = self.destination.downloads()?.join(file_name(&file.path));
            let download = Download {
                url,
                path: &file.path,
                to: &path,
                size: file.size,
                sha256: file.sha256.as_deref(),
            };
            let done = transport.download(&download, observe);
            done.map_err(not_downloaded(file.path_below(folder)))?;
            staged.copy(file, &path)?;
            let _ = fs::remove_file(&path);
        }
        if missing.is_empty() {
            observe(Event::Checking);
            self.finish(staged, from)
        } else {
            Ok(Outcome::Missing { files: missing })
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
            return Err(Error::Content {
                problem: format!(
                    "{from} lacks a file of {} that the registry lists",
                    staged.entry.name
                ),
            });
        }
        Ok(Outcome::Fetched { from, notes })
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
        let summed = copy().map_err(Error::io(from))?;
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
                return Err(Error::Archive {
                    path: archive.to_owned(),
                    problem: format!(
                        "there is no {} in it",
                        self.entry.member(file).unwrap_or_default()
                    ),
                });
            }
        }
        self.files = files;
        Ok(self)
    }

    /// What is to be installed, and what the user should know.
    fn judged(&self) -> Result<(Vec<&'a FileEntry>, Vec<String>)> {
        let failed = |problem: String| Error::Content { problem };
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

/// With the way out: where a file that was got by other means is found.
fn not_downloaded(put_at: PathBuf) -> impl FnOnce(DownloadError) -> Error {
    |DownloadError { url, problem }| Error::Download { url, problem, put_at }
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests;
