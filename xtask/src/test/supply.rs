//! Tools that judge the dependencies. They don't come with cargo: what is not
//! there is left out, and said.

use std::process::Stdio;
use std::time::Duration;

use crate::process::{self, Ended};
use crate::workspace::Workspace;

/// Fetching takes seconds where it can be done at all.
const PATIENCE: Duration = Duration::from_secs(20);

/// What a step needs that may not be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    /// A subcommand of cargo, by the name of its package: `cargo-NAME`.
    Tool(&'static str),
    /// cargo-deny, and the database of known vulnerabilities.
    Advisories,
}

impl Need {
    /// What to do about it, if it is not there.
    pub(super) fn missing(self, workspace: &Workspace) -> Option<String> {
        let tool = match self {
            Self::Tool(tool) => tool,
            Self::Advisories => "cargo-deny",
        };
        if !is_installed(workspace, tool) {
            return Some(format!("{tool} is not installed; cargo install {tool}"));
        }
        (self == Self::Advisories && !fetches_advisories(workspace))
            .then(|| "no advisories: `cargo deny fetch db` can't get the database".to_owned())
    }
}

fn is_installed(workspace: &Workspace, tool: &str) -> bool {
    let subcommand = tool.trim_start_matches("cargo-");
    process::output_of(workspace.cargo().args([subcommand, "--version"])).is_some()
}

fn fetches_advisories(workspace: &Workspace) -> bool {
    let mut cargo = workspace.cargo();
    cargo.args(["deny", "fetch", "db"]).stderr(Stdio::null());
    matches!(process::run(&mut cargo, PATIENCE, |_| {}), Ok(Ended::Well))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_that_is_not_there_is_named_with_the_way_to_get_it() {
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
