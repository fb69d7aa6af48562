//! Tools that check the dependencies and don't come with cargo. cargo-machete builds in under a minute and is
//! installed below the target directory; cargo-deny takes twice as long and is used where it is installed.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::process::{self, Ended};
use crate::workspace::Workspace;

/// Fetching takes seconds where it can be done at all.
const FETCH_LIMIT: Duration = Duration::from_secs(20);
/// Four times what it takes on two cores.
const INSTALL_LIMIT: Duration = Duration::from_secs(180);

/// A tool that a step needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    /// A subcommand of cargo, by the name of its package: `cargo-NAME`.
    Tool(&'static str),
    /// The same, installed in this version if it is missing.
    Installed(&'static str, &'static str),
    /// cargo-deny, and the database of known vulnerabilities.
    Advisories,
}

impl Need {
    /// Why the step can't be run, and what to do about it.
    pub(super) fn missing(self, workspace: &Workspace) -> Option<String> {
        let tool = match self {
            Self::Tool(tool) | Self::Installed(tool, _) => tool,
            Self::Advisories => "cargo-deny",
        };
        let is_there = is_installed(workspace, tool)
            || matches!(self, Self::Installed(_, version) if install(workspace, tool, version));
        if !is_there {
            return Some(format!("{tool} is not installed; cargo install {tool}"));
        }
        (self == Self::Advisories && !fetches_advisories(workspace))
            .then(|| "no advisories: `cargo deny fetch db` can't get the database".to_owned())
    }
}

/// Lets cargo find the tools that were installed here.
pub(super) fn add_tools(workspace: &Workspace, cargo: &mut Command) {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain([tools(workspace).join("bin")]);
    // One that can't be joined can't be searched either.
    if let Ok(path) = std::env::join_paths(folders) {
        cargo.env("PATH", path);
    }
}

fn tools(workspace: &Workspace) -> PathBuf {
    workspace.target.join("tools")
}

fn is_installed(workspace: &Workspace, tool: &str) -> bool {
    let mut cargo = workspace.cargo();
    add_tools(workspace, &mut cargo);
    let subcommand = tool.trim_start_matches("cargo-");
    process::output_of(cargo.args([subcommand, "--version"])).is_some()
}

/// Without optimisation and debug information: it runs for seconds, and is built anew on a new machine.
fn install(workspace: &Workspace, tool: &str, version: &str) -> bool {
    let (root, build) = (tools(workspace), tools(workspace).join("build"));
    println!("Installing {tool} {version} below {}", root.display());
    let mut cargo = workspace.cargo();
    cargo.args([
        "install",
        tool,
        "--version",
        version,
        "--locked",
        "--debug",
        "--quiet",
    ]);
    cargo.arg("--root").arg(&root).env("CARGO_PROFILE_DEV_DEBUG", "0");
    cargo.env("CARGO_TARGET_DIR", &build);
    let is_built = matches!(process::run(&mut cargo, INSTALL_LIMIT, |_| {}), Ok(Ended::Well));
    let _ = std::fs::remove_dir_all(build);
    is_built
}

fn fetches_advisories(workspace: &Workspace) -> bool {
    let mut cargo = workspace.cargo();
    cargo.args(["deny", "fetch", "db"]).stderr(Stdio::null());
    add_tools(workspace, &mut cargo);
    matches!(process::run(&mut cargo, FETCH_LIMIT, |_| {}), Ok(Ended::Well))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_tool_is_named_with_the_command_that_installs_it() {
        let workspace = Workspace::find().unwrap();
        let missing = Need::Tool("cargo-no-such-tool").missing(&workspace);
        assert_eq!(
            missing.as_deref(),
            Some("cargo-no-such-tool is not installed; cargo install cargo-no-such-tool")
        );
        // cargo's own answer as any other subcommand does.
        assert_eq!(Need::Tool("cargo-tree").missing(&workspace), None);
    }
}
