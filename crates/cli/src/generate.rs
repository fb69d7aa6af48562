//! `egg completions` and `egg man`: what shells and manuals need to know.

use std::path::PathBuf;

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::arguments::Cli;
use crate::console;
use crate::failure::{Failure, Result};

/// Print completions for a shell
///
/// For bash: `egg completions bash > ~/.local/share/bash-completion/completions/egg`.
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// bash, elvish, fish, powershell or zsh
    shell: Shell,
}

/// Write manual pages into a folder
///
/// One page for the program and one for each command; read them with `man -l DIR/egg-train.1`.
#[derive(Debug, Args)]
pub(crate) struct Man {
    /// Made if it is not there
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

pub(crate) fn completions(arguments: &Completions) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), "egg", &mut script);
    console::print(String::from_utf8_lossy(&script).trim_end());
    Ok(())
}

pub(crate) fn man(arguments: &Man) -> Result<()> {
    let folder = &arguments.folder;
    std::fs::create_dir_all(folder).map_err(Failure::file(folder))?;
    clap_mangen::generate_to(Cli::command(), folder).map_err(Failure::file(folder))
}
