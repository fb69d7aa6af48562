//! Running the cells of Tables 2 and 3: a data set, a convolution, a pooling.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use super::{Request, revision};
use crate::backend::Backend;
use crate::error::{Error, Result};
use crate::setup::{self, Install};
use crate::workspace::Workspace;

/// In the order in which they are run if none is named.
pub(super) const DATASETS: [&str; 7] = [
    "MUTAG",
    "PROTEINS",
    "Mutagenicity",
    "NCI1",
    "DD",
    "COLLAB",
    "ogbg-molhiv",
];

/// The paper's rows.
pub(super) const POOLINGS: [&str; 9] = [
    "topk",
    "sag",
    "edge",
    "pan",
    "sum",
    "avg",
    "max",
    "attention",
    "egg",
];

/// Not in the paper: EGG without a cut, nodes chosen by chance, and no edges at all.
pub(super) const OURS: [&str; 3] = ["soft-egg", "random", "blind"];

/// The paper searches a grid for each cell. Here each cell has one setting: what
/// trials on validation parts chose for EGG, for every pooling alike. (EGG's
/// preset of GIN on PROTEINS was later chosen again, without dropout.)
pub(super) const SETTING: [(&str, &str); 4] = [
    ("--lr", "5e-3"),
    ("--wd", "5e-4"),
    ("--hidden", "32"),
    ("--dropout", "0.5"),
];

/// Where the trials of EGG chose something else, the others get it too.
const EXCEPTIONS: [(&str, &str, (&str, &str)); 1] = [("Mutagenicity", "gin", ("--lr", "1e-3"))];

/// EGG has presets of its own there, and takes them by itself.
const PRESETS: [&str; 2] = ["PROTEINS", "Mutagenicity"];

/// One cell.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cell<'a> {
    pub(super) dataset: &'a str,
    pub(super) architecture: &'a str,
    pub(super) pooling: &'a str,
    pub(super) protocol: &'a str,
}

impl Cell<'_> {
    /// The file of its record, without the folder.
    pub(super) fn file(&self) -> String {
        let end = if self.protocol == "paper" { "" } else { "-fair" };
        let dataset = self.dataset.to_lowercase();
        format!("{dataset}-{}-{}{end}.json", self.architecture, self.pooling)
    }

    /// The words after the program's name.
    fn words(&self, repetitions: usize) -> Vec<String> {
        // The control has no convolutions, whatever the table.
        let architecture = match self.pooling {
            "blind" => "blind",
            _ => self.architecture,
        };
        let mut words = vec![self.dataset, architecture, self.pooling];
        words.extend(["--protocol", self.protocol, "--quiet"]);
        let preset = self.pooling == "egg" && self.protocol == "paper" && PRESETS.contains(&self.dataset);
        if !preset {
            words.extend(SETTING.iter().flat_map(|(name, value)| [*name, *value]));
            let here = |one: &&(&str, &str, _)| (one.0, one.1) == (self.dataset, self.architecture);
            // The last of two counts.
            words.extend(
                EXCEPTIONS
                    .iter()
                    .filter(here)
                    .flat_map(|(_, _, (name, value))| [*name, *value]),
            );
        }
        let mut words: Vec<String> = words.into_iter().map(String::from).collect();
        words.extend(["--repetitions".into(), repetitions.to_string()]);
        words
    }
}

/// An example that is built once, and what every call of it needs.
pub(super) struct Runner<'a> {
    workspace: &'a Workspace,
    request: &'a Request,
    backend: Backend,
    program: PathBuf,
    revision: String,
}

impl<'a> Runner<'a> {
    /// Of the program that trains.
    pub(super) fn new(workspace: &'a Workspace, request: &'a Request) -> Result<Self> {
        Self::of(workspace, request, "egg-pool", "train")
    }

    /// Of an example of a package.
    pub(super) fn of(
        workspace: &'a Workspace,
        request: &'a Request,
        package: &str,
        example: &str,
    ) -> Result<Self> {
        let backend = setup::prepare(workspace, Install::Allowed)?;
        let program = build(workspace, &backend, package, example)?;
        Ok(Self {
            workspace,
            request,
            backend,
            program,
            revision: revision(workspace),
        })
    }

    /// Calls it to keep its result at `path`; says whether there was time left to begin.
    pub(super) fn run(&self, words: &[impl AsRef<OsStr>], keep: &str, path: &Path) -> Result<bool> {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let left = self.request.seconds_left();
        if left == Some(0) {
            println!("Time is up before {name}: call again to go on");
            return Ok(false);
        }
        println!("{name}");
        let mut command = Command::new(&self.program);
        command.args(words).arg(keep).arg(path);
        if let Some(left) = left {
            command.args(["--budget", &left.to_string()]);
        }
        self.backend.apply(&mut command);
        command
            .current_dir(&self.workspace.root)
            .env("EGG_REVISION", &self.revision);
        super::environment(self.workspace, &mut command);
        let begin = Instant::now();
        let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status();
        let status = status.map_err(|e| Error::while_doing(self.program.display(), e))?;
        println!("  {:.0} s", begin.elapsed().as_secs_f64());
        match status.success() {
            true => Ok(true),
            false => Err(Error::Failed(format!("{name}: see above"))),
        }
    }
}

pub(super) fn run(workspace: &Workspace, request: &Request, table: &str) -> Result<()> {
    let runner = Runner::new(workspace, request)?;
    let folder = workspace.root.join("docs/results/training");
    let mut failed = Vec::new();
    for dataset in &request.datasets {
        for pooling in request.poolings_or(&POOLINGS) {
            let cell = Cell {
                dataset,
                architecture: table,
                pooling: &pooling,
                protocol: &request.protocol,
            };
            match runner.run(
                &cell.words(request.repetitions),
                "--record",
                &folder.join(cell.file()),
            ) {
                Ok(true) => {}
                Ok(false) => return finish(&failed),
                // One cell that fails is no reason not to run the others.
                Err(error) => failed.push(error.to_string()),
            }
        }
    }
    finish(&failed)
}

fn finish(failed: &[String]) -> Result<()> {
    match failed {
        [] => Ok(()),
        failed => Err(Error::Failed(failed.join("\n"))),
    }
}

/// Built once and called by itself, so that nothing that is compiled meanwhile
/// gets into a run.
fn build(workspace: &Workspace, backend: &Backend, package: &str, example: &str) -> Result<PathBuf> {
    let mut cargo = workspace.cargo();
    cargo.args(["build", "--release", "-p", package, "--example", example]);
    cargo.args(backend.cargo_flags());
    backend.apply(&mut cargo);
    let status = cargo
        .status()
        .map_err(|e| Error::while_doing("could not start cargo", e))?;
    if !status.success() {
        return Err(Error::Failed(format!(
            "the example `{example}` of {package} does not build"
        )));
    }
    let name = format!("{example}{}", std::env::consts::EXE_SUFFIX);
    let built = workspace.target.join("release/examples").join(&name);
    let folder = workspace.scratch("bench/paper")?;
    let copy = folder.join(&name);
    // Whole under a name of its own first: an earlier copy may be running, and another
    // call may be about to start this one.
    let new = folder.join(format!("{name}.{}", std::process::id()));
    let placed = std::fs::copy(&built, &new).and_then(|_| std::fs::rename(&new, &copy));
    placed.map_err(|e| Error::while_doing(built.display(), e))?;
    Ok(copy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_a_file_and_a_call() {
        let cell = Cell {
            dataset: "Mutagenicity",
            architecture: "gin",
            pooling: "sum",
            protocol: "paper",
        };
        assert_eq!(cell.file(), "mutagenicity-gin-sum.json");
        let words = cell.words(10).join(" ");
        assert!(
            words.starts_with("Mutagenicity gin sum --protocol paper"),
            "{words}"
        );
        assert!(
            words.contains("--lr 5e-3") && words.ends_with("--lr 1e-3 --repetitions 10"),
            "{words}"
        );
        let egg = Cell {
            pooling: "egg",
            ..cell
        };
        assert!(!egg.words(10).contains(&"--lr".to_owned()));
        let fair = Cell {
            protocol: "fair",
            pooling: "blind",
            ..cell
        };
        assert_eq!(fair.file(), "mutagenicity-gin-blind-fair.json");
        assert!(fair.words(3).join(" ").starts_with("Mutagenicity blind blind"));
    }
}
