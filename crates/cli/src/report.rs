//! `egg report`: one HTML page of one run, or of several.

// Numbers in a file are no index: what they point at may not be there.
#![warn(clippy::indexing_slicing)]

use std::path::{Path, PathBuf};

use clap::Args;
use egg_report::Record;

use crate::console::Style;
use crate::failure::{Failure, Result};
use crate::output;

/// Draw the report of a run, or of all runs below a folder, as one HTML page
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The folder of a run, or one that holds such folders
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Where the page goes [default: report.html in the folder]
    #[arg(long, value_name = "FILE.html")]
    out: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let folders = folders(&arguments.folder)?;
    let out = match &arguments.out {
        Some(out) => out.clone(),
        None => {
            let own = arguments.folder.join("report.html");
            // The folder may be somebody else's; what is written to it stays in it.
            if own.is_symlink() {
                return Err(Failure::other(format!(
                    "{} is a link, and the page would go where it leads\nhelp: remove it, or say where the page goes with --out",
                    own.display()
                )));
            }
            own
        }
    };
    let files: Vec<PathBuf> = folders
        .iter()
        .map(|folder| folder.join(egg_report::FILE_NAME))
        .collect();
    output::check("--out", &out, &files)?;
    let mut records = Vec::new();
    for folder in &folders {
        records.push(Record::read(folder)?);
    }
    output::make_folder(&out)?;
    egg_report::write_html(&out, &records)?;
    Style::new(false).say(out.display().to_string());
    Ok(())
}

/// A folder that has a record, or those in it that have one, by name.
fn folders(folder: &Path) -> Result<Vec<PathBuf>> {
    let has_record = |folder: &Path| folder.join(egg_report::FILE_NAME).is_file();
    if has_record(folder) {
        return Ok(vec![folder.to_owned()]);
    }
    let mut folders = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(Failure::file(folder))? {
        let path = entry.map_err(Failure::file(folder))?.path();
        if has_record(&path) {
            folders.push(path);
        }
    }
    folders.sort();
    if folders.is_empty() {
        return Err(Failure::other(format!(
            "{}: there is no record of a run here (no {})\nhelp: give the --out folder of `egg train`, `egg \
             cluster` or `egg sweep`; a run that was interrupted has none until it is resumed",
            folder.display(),
            egg_report::FILE_NAME
        )));
    }
    Ok(folders)
}
