//! Where a run is kept: checkpoints while it lasts, then its model and record.

use std::path::{Path, PathBuf};

use crate::failure::{Failure, Result};

/// Below which runs without `--out` go.
const RUNS: &str = "runs";

/// ```text
/// DIR/checkpoints/   what a run goes on from
/// DIR/model/         the trained model, for predict and embed
/// DIR/run.json       the record, for report
/// ```
#[derive(Debug, Clone)]
pub(crate) struct RunFolder {
    path: PathBuf,
}

impl RunFolder {
    /// The folder that the user named, or one by its name below `runs`; a new one,
    /// or with `resume` one that is there.
    pub(crate) fn open(named: Option<&Path>, default: &str, resume: bool) -> Result<Self> {
        let folder = match named {
            Some(path) => Self {
                path: path.to_owned(),
            },
            None => Self::below(Path::new(RUNS), default, resume),
        };
        let shown = folder.path.display();
        match (folder.holds_a_run(), resume) {
            (true, false) => Err(Failure::other(format!(
                "{shown} holds a run already\nhelp: add --resume to go on with it, or name another folder with --out"
            ))),
            (false, true) => Err(Failure::other(format!(
                "there is no run to resume in {shown}\nhelp: leave --resume out to begin one"
            ))),
            (false, false) if folder.path.exists() && !is_empty(&folder.path) => Err(Failure::other(
                format!("{shown} has something else in it\nhelp: name a new folder with --out"),
            )),
            _ => {
                let checkpoints = folder.checkpoints();
                std::fs::create_dir_all(&checkpoints).map_err(Failure::file(checkpoints))?;
                Ok(folder)
            }
        }
    }

    /// `runs/NAME`, `runs/NAME-2`, ...: the first that is free, or the last that
    /// is not.
    fn below(parent: &Path, name: &str, resume: bool) -> Self {
        let numbered = |number: usize| match number {
            1 => parent.join(name),
            _ => parent.join(format!("{name}-{number}")),
        };
        let mut number = 1;
        while numbered(number).exists() {
            number += 1;
        }
        let chosen = if resume {
            number.saturating_sub(1).max(1)
        } else {
            number
        };
        Self {
            path: numbered(chosen),
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

    /// The command that goes on with the run in this folder.
    pub(crate) fn resume_command(&self) -> String {
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

    fn holds_a_run(&self) -> bool {
        self.record().exists() || self.checkpoints().exists() || self.model().exists()
    }
}

fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none())
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
        open(false).unwrap();
        assert!(open(false).unwrap_err().to_string().contains("--resume"));
        open(true).unwrap();
        std::fs::write(place.path().join("b"), "").unwrap();
        let other = RunFolder::open(Some(place.path()), "", false).unwrap_err();
        assert!(other.to_string().contains("something else"));
    }

    #[test]
    fn unnamed_runs_are_numbered() {
        let place = tempfile::tempdir().unwrap();
        let below = |resume| RunFolder::below(place.path(), "x", resume).path;
        assert_eq!(below(false), place.path().join("x"));
        std::fs::create_dir(place.path().join("x")).unwrap();
        assert_eq!(
            (below(false), below(true)),
            (place.path().join("x-2"), place.path().join("x"))
        );
    }
}
