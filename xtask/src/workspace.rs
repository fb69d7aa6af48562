//! Where the workspace is, and how cargo is called in it.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::backend::Backend;
use crate::error::{Error, Result};
use crate::process::output_of;
use crate::terminal;

pub(crate) struct Workspace {
    pub(crate) root: PathBuf,
    /// Absolute, so that it means the same to children that run in `root`.
    pub(crate) target: PathBuf,
    cargo: OsString,
}

impl Workspace {
    pub(crate) fn find() -> Result<Self> {
        // Asked at run time: a path baked in at compile time would be wrong
        // once the checkout moves.
        let start = match env::var_os("CARGO_MANIFEST_DIR") {
            Some(directory) => PathBuf::from(directory),
            None => env::current_dir().map_err(|e| Error::while_doing("the current directory", e))?,
        };
        let root = start
            .ancestors()
            .find(|directory| is_root(directory))
            .ok_or_else(|| Error::Failed("run this inside the workspace: `cargo xtask`".into()))?
            .to_path_buf();
        let target = match env::var_os("CARGO_TARGET_DIR") {
            Some(directory) => {
                std::path::absolute(directory).map_err(|e| Error::while_doing("CARGO_TARGET_DIR", e))?
            }
            None => root.join("target"),
        };
        Ok(Self {
            root,
            target,
            cargo: env::var_os("CARGO").unwrap_or_else(|| "cargo".into()),
        })
    }

    /// A cargo that neither reads our standard input nor inherits what the
    /// `cargo run` around us says about the package xtask: some build scripts
    /// watch those variables and would run again.
    pub(crate) fn cargo(&self) -> Command {
        let mut command = Command::new(&self.cargo);
        command.current_dir(&self.root).stdin(Stdio::null());
        for (name, _) in env::vars_os() {
            let text = name.to_string_lossy();
            if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
                command.env_remove(&name);
            }
        }
        if env::var_os("CARGO_TARGET_DIR").is_some() {
            command.env("CARGO_TARGET_DIR", &self.target);
        }
        if !terminal::coloured() {
            command.env("CARGO_TERM_COLOR", "never");
        }
        command
    }

    /// The packages, as `cargo metadata` describes them.
    pub(crate) fn packages(&self) -> Result<Vec<Value>> {
        let mut cargo = self.cargo();
        cargo.args(["metadata", "--no-deps", "--format-version", "1"]);
        let text = output_of(cargo.stderr(Stdio::inherit()));
        let metadata = text.and_then(|text| serde_json::from_str::<Value>(&text).ok());
        let packages = metadata.and_then(|metadata| metadata["packages"].as_array().cloned());
        packages.ok_or_else(|| Error::Failed("`cargo metadata` does not say which packages there are".into()))
    }

    /// Builds the targets of a cargo command and returns what cargo says of each: one JSON object an artifact.
    pub(crate) fn artifacts(&self, words: &[&str], backend: Option<&Backend>) -> Result<Vec<Value>> {
        let mut cargo = self.cargo();
        cargo
            .args(words)
            .args(["--no-run", "--message-format=json-render-diagnostics"]);
        if let Some(backend) = backend {
            cargo.args(backend.cargo_flags());
            backend.apply(&mut cargo);
        }
        let text = output_of(cargo.stderr(Stdio::inherit())).ok_or_else(|| {
            Error::Failed("the programs do not build; the compiler's messages are above".into())
        })?;
        Ok(text
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect())
    }

    /// A directory below the target directory, made if need be.
    pub(crate) fn scratch(&self, name: &str) -> Result<PathBuf> {
        let directory = self.target.join(name);
        std::fs::create_dir_all(&directory).map_err(|e| Error::while_doing(directory.display(), e))?;
        Ok(directory)
    }
}

/// Writes a file atomically: another program may be reading it.
pub(crate) fn write(path: &Path, text: &str) -> Result<()> {
    // The process id keeps two runs at the same time apart.
    let mut partial = path.as_os_str().to_owned();
    partial.push(format!(".{}", std::process::id()));
    std::fs::write(&partial, text)
        .and_then(|()| std::fs::rename(&partial, path))
        .map_err(|e| Error::while_doing(path.display(), e))
}

fn is_root(directory: &Path) -> bool {
    std::fs::read_to_string(directory.join("Cargo.toml"))
        .is_ok_and(|text| text.lines().any(|line| line.trim() == "[workspace]"))
}
