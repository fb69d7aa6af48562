//! Where a run is kept: checkpoints while it lasts, then its model and record.

// Numbers in a file are no index: what they point at may not be there.
#![warn(clippy::indexing_slicing)]

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use crate::failure::{Failure, Result};

/// Below which runs without `--out` go.
const RUNS: &str = "runs";

/// What folders are called in which egg-pool makes a model ready.
const MODEL_IN_THE_MAKING: &str = ".egg-model-";

/// ```text
/// DIR/checkpoints/   what a run is resumed from
/// DIR/model/         the trained model, for predict and embed
/// DIR/run.json       the record, for report
/// ```
/// A folder that was made for a run, but nothing was kept in, is removed again. One
/// program at a time works in it; what one that was killed had not finished is
/// removed by the next.
#[derive(Debug)]
pub(crate) struct RunFolder {
    path: PathBuf,
    /// Whether it was not there before.
    new: bool,
    /// On the folder, for as long as this lives; none where there are no locks.
    _lock: Option<File>,
}

impl RunFolder {
    /// The folder that the user named, or one by its name below `runs`; a new one,
    /// or with `resume` one that is there.
    pub(crate) fn open(named: Option<&Path>, default: &str, resume: bool) -> Result<Self> {
        let path = match named {
            Some(path) => path.to_owned(),
            None => below(Path::new(RUNS), &plain_name(default), resume),
        };
        let shown = path.display();
        match (holds_a_run(&path), resume) {
            (true, false) => Err(Failure::other(format!(
                "{shown} holds a run already\nhelp: add --resume to continue it, or name another folder with --out"
            ))),
            (false, true) => Err(Failure::other(format!(
                "there is no run to resume in {shown}\nhelp: leave --resume out to begin one"
            ))),
            (false, false) if path.is_file() => Err(Failure::other(format!(
                "{shown} is a file\nhelp: name a new folder with --out"
            ))),
            (false, false) if path.exists() && !is_left_over(&path) => Err(Failure::other(format!(
                "{shown} has something else in it\nhelp: name a new folder with --out"
            ))),
            _ => {
                let new = !path.exists();
                let checkpoints = path.join("checkpoints");
                std::fs::create_dir_all(&checkpoints).map_err(Failure::file(checkpoints))?;
                let lock = lock(&path)?;
                refuse_links(&path)?;
                sweep(&path);
                Ok(Self {
                    path,
                    new,
                    _lock: lock,
                })
            }
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn checkpoints(&self) -> PathBuf {
        self.path.join("checkpoints")
    }

    pub(crate) fn model(&self) -> PathBuf {
        self.path.join("model")
    }

    pub(crate) fn record(&self) -> PathBuf {
        self.path.join(egg_report::FILE_NAME)
    }

    /// Whether a run could be resumed here.
    pub(crate) fn has_something(&self) -> bool {
        holds_a_run(&self.path)
    }

    /// The command that draws what is here, once it is.
    pub(crate) fn report_command(&self) -> String {
        let path = self.path.display().to_string();
        egg_report::shell_command(["egg".to_owned(), "report".to_owned(), path])
    }

    /// After Ctrl-C: what is kept here, and how to resume.
    pub(crate) fn interrupted(&self, kept: &str) -> Failure {
        Failure::Interrupted(match self.has_something() {
            true => format!(
                "{kept} kept in {}\nto resume: {}",
                self.path.display(),
                self.resume_command()
            ),
            false => "nothing was finished that could be kept\nthe same command begins anew".to_owned(),
        })
    }

    /// The command that resumes the run in this folder.
    fn resume_command(&self) -> String {
        let mut words: Vec<String> = std::env::args().collect();
        if let Some(program) = words.first_mut() {
            let name = Path::new(&*program)
                .file_stem()
                .map(|name| name.to_string_lossy().into_owned());
            *program = name.unwrap_or_else(|| "egg".into());
        }
        let has = |words: &[String], option: &str| {
            words
                .iter()
                .any(|word| word == option || word.starts_with(&format!("{option}=")))
        };
        if !has(&words, "--out") {
            words.extend(["--out".to_owned(), self.path.display().to_string()]);
        }
        if !has(&words, "--resume") {
            words.push("--resume".to_owned());
        }
        egg_report::shell_command(words)
    }
}

impl Drop for RunFolder {
    fn drop(&mut self) {
        if self.has_something() {
            return;
        }
        remove_empty(&self.checkpoints());
        if self.new {
            // Not if something else has come into it.
            let _ = std::fs::remove_dir(&self.path);
        }
    }
}

/// Refuses a folder in which another program is at work.
fn lock(folder: &Path) -> Result<Option<File>> {
    // Not every system opens folders.
    let Ok(file) = File::open(folder) else {
        return Ok(None);
    };
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Err(Failure::other(format!(
            "another egg is at work in {}\nhelp: wait for it, or name another folder with --out",
            folder.display()
        ))),
        Err(TryLockError::Error(_)) => Ok(None),
    }
}

/// What is written here must stay here, also in a folder that somebody else made.
fn refuse_links(folder: &Path) -> Result<()> {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, Ok(kind)) = (entry.path(), entry.file_type()) else {
            continue;
        };
        if kind.is_symlink() {
            return Err(Failure::other(format!(
                "{} is a link, and what is written to a run would go where it leads\nhelp: remove it, or name another folder with --out",
                path.display()
            )));
        }
        if kind.is_dir() {
            refuse_links(&path)?;
        }
    }
    Ok(())
}

/// Removes what a program that was killed had not finished, here and below.
fn sweep(folder: &Path) {
    egg_files::sweep(folder);
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        // Of the folder itself, not of what a link leads to.
        if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        match is_unfinished(&entry.path()) {
            true => drop(std::fs::remove_dir_all(entry.path())),
            false => sweep(&entry.path()),
        }
    }
}

/// Whether what is there has not got its name yet, so that it counts for nothing.
fn is_unfinished(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    egg_files::is_temporary(&name) || name.starts_with(MODEL_IN_THE_MAKING)
}

/// A data set may call itself anything; as the name of a folder that stays below
/// [`RUNS`] it has no separators, and does not begin with a dot.
fn plain_name(name: &str) -> String {
    let plain = |c: char| {
        if c.is_control() || "/\\:".contains(c) {
            '-'
        } else {
            c
        }
    };
    let name: String = name.chars().map(plain).collect();
    match name.strip_prefix('.') {
        Some(rest) => format!("-{rest}"),
        None => name,
    }
}

/// `runs/NAME`, `runs/NAME-2`, ...: the first that is free, or the last that
/// holds a run.
fn below(parent: &Path, name: &str, resume: bool) -> PathBuf {
    let numbered = |number: usize| match number {
        1 => parent.join(name),
        _ => parent.join(format!("{name}-{number}")),
    };
    let is_free = |path: &Path| !path.exists() || is_left_over(path);
    let mut number = 1;
    while !is_free(&numbered(number)) {
        number += 1;
    }
    match resume {
        true => numbered(number.saturating_sub(1).max(1)),
        false => numbered(number),
    }
}

fn holds_a_run(folder: &Path) -> bool {
    let record = folder.join(egg_report::FILE_NAME);
    record.exists() || folder.join("model").exists() || !has_no_files(&folder.join("checkpoints"))
}

/// Whether a folder is empty, or as a run left it that was not even begun.
fn is_left_over(folder: &Path) -> bool {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return false;
    };
    let mut entries = entries.flatten().map(|entry| entry.path());
    entries.all(|path| {
        is_unfinished(&path) || (path.ends_with("checkpoints") && path.is_dir() && has_no_files(&path))
    })
}

/// Neither in the folder nor below; there may be no such folder.
fn has_no_files(folder: &Path) -> bool {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return !folder.exists();
    };
    let mut entries = entries.flatten().map(|entry| entry.path());
    entries.all(|path| is_unfinished(&path) || (path.is_dir() && has_no_files(&path)))
}

/// Folders in which there is no file.
fn remove_empty(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        remove_empty(&entry.path());
    }
    let _ = std::fs::remove_dir(folder);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_new_or_resumed_never_replaced() {
        let place = tempfile::tempdir().unwrap();
        let named = place.path().join("a");
        let open = |resume| RunFolder::open(Some(&named), "", resume);
        assert!(open(true).unwrap_err().to_string().contains("no run to resume"));
        let folder = open(false).unwrap();
        std::fs::write(folder.checkpoints().join("repetition-1.safetensors"), "").unwrap();
        drop(folder);
        assert!(open(false).unwrap_err().to_string().contains("--resume"));
        open(true).unwrap();
        std::fs::write(place.path().join("b"), "").unwrap();
        let other = |path: &Path| RunFolder::open(Some(path), "", false).unwrap_err().to_string();
        assert!(other(place.path()).contains("something else"));
        assert!(other(&place.path().join("b")).contains("is a file"));
    }

    #[test]
    fn an_empty_run_folder_is_removed_and_reusable() {
        let place = tempfile::tempdir().unwrap();
        let named = place.path().join("a");
        let open = || RunFolder::open(Some(&named), "", false);
        let folder = open().unwrap();
        std::fs::create_dir(folder.checkpoints().join("egg")).unwrap();
        assert!(
            folder
                .interrupted("x")
                .to_string()
                .contains("nothing was finished")
        );
        drop(folder);
        assert!(!named.exists());
        // A folder of the user's stays, whatever an earlier run left in it.
        std::fs::create_dir_all(named.join("checkpoints/egg")).unwrap();
        drop(open().unwrap());
        assert!(named.is_dir() && is_left_over(&named));
    }

    #[test]
    fn a_run_folder_is_locked_and_stale_files_are_removed() {
        let place = tempfile::tempdir().unwrap();
        let named = place.path().join("a");
        let open = |resume| RunFolder::open(Some(&named), "", resume);
        let first = open(false).unwrap();
        let half = first.checkpoints().join("egg");
        std::fs::create_dir(&half).unwrap();
        std::fs::write(half.join(".egg-dead.part"), "half of").unwrap();
        std::fs::create_dir_all(named.join(".egg-model-dead/new")).unwrap();
        let refused = open(false).unwrap_err().to_string();
        assert!(refused.contains("another egg is at work"), "{refused}");
        drop(first);
        // As one leaves it that was killed.
        std::fs::create_dir_all(&half).unwrap();
        std::fs::write(half.join(".egg-dead.part"), "half of").unwrap();
        assert!(open(true).unwrap_err().to_string().contains("no run to resume"));
        let next = open(false).unwrap();
        assert!(half.is_dir() && !half.join(".egg-dead.part").exists());
        assert!(!named.join(".egg-model-dead").exists());
        std::fs::write(half.join("cell.json"), "{}").unwrap();
        drop(next);
        open(true).unwrap();
    }

    #[test]
    fn data_set_names_make_safe_folder_names() {
        for (name, plain) in [
            ("../../evil-gcn", "-.-..-evil-gcn"),
            ("/etc/x", "-etc-x"),
            ("a\\..\\b", "a-..-b"),
            ("C:x\n", "C-x-"),
            ("..", "-."),
            (".hidden", "-hidden"),
            ("ogbg-molhiv.v2", "ogbg-molhiv.v2"),
        ] {
            assert_eq!(plain_name(name), plain);
            assert_eq!(Path::new(plain).components().count(), 1);
        }
    }

    #[test]
    fn unnamed_runs_are_numbered() {
        let place = tempfile::tempdir().unwrap();
        let below = |resume| super::below(place.path(), "x", resume);
        assert_eq!(below(false), place.path().join("x"));
        std::fs::create_dir_all(place.path().join("x/checkpoints")).unwrap();
        assert_eq!(below(false), place.path().join("x"));
        std::fs::write(place.path().join("x/run.json"), "").unwrap();
        assert_eq!(
            (below(false), below(true)),
            (place.path().join("x-2"), place.path().join("x"))
        );
    }
}
