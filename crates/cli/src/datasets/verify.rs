//! `egg data verify`.

use clap::Args;
use egg_gnn::datasets::{DataFolders, DatasetEntry, Verification, verify};
use serde_json::json;

use crate::console::{Style, counted, note};
use crate::failure::{Failure, Result};

use super::Place;

/// Check the SHA-256 of every file and what reading them gives; without names, of all that is here
#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    #[command(flatten)]
    place: Place,
}

pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let (style, folders) = (arguments.place.style(), arguments.place.folders());
    let (mut right, mut wrong, mut missing) = (0, 0, Vec::new());
    for entry in super::selected(&arguments.names)? {
        match inspect(entry, &folders, style) {
            Some(true) => right += 1,
            Some(false) => wrong += 1,
            None => missing.push(entry.name.as_str()),
        }
    }
    // Without names, only what is here is verified.
    let named = !arguments.names.is_empty();
    match (right, wrong) {
        (_, 1..) => Err(Failure::other(format!(
            "{} not what the registry says\nhelp: remove what is wrong; `egg data fetch NAME` gets it anew",
            are(wrong)
        ))),
        _ if named && !missing.is_empty() => Err(Failure::other(format!(
            "{} not here\nhelp: `egg data fetch {}` fetches {}",
            are(missing.len()),
            missing.join(" "),
            if missing.len() == 1 { "it" } else { "them" },
        ))),
        (0, 0) => Err(Failure::other(format!(
            "{}: there is no data set to verify\nhelp: `egg data fetch NAME` fetches one, `egg data list` shows the \
             names",
            folders.prepared.display()
        ))),
        _ => {
            style.say(format!("{} right", counted(right, "data set")));
            Ok(())
        }
    }
}

fn are(count: usize) -> String {
    let verb = if count == 1 { "is" } else { "are" };
    format!("{} {verb}", counted(count, "data set"))
}

/// Whether a data set is right, in the first folder that has any of it.
fn inspect(entry: &DatasetEntry, folders: &DataFolders, style: Style) -> Option<bool> {
    let name = &entry.name;
    for folder in folders.in_order() {
        match verify(entry, folder) {
            Verification::Right(verified) => {
                style.say(format!("{name}: right, {verified} (in {})", folder.display()));
                for line in &verified.notes {
                    note(&format!("{name}: {line}"));
                }
                style.emit(&json!({
                    "name": name,
                    "folder": folder,
                    "verdict": "right",
                    "checksums": verified.checked,
                    "fingerprint": verified.fingerprint,
                    "notes": verified.notes,
                }));
                return Some(true);
            }
            Verification::Wrong { problems } => {
                for problem in &problems {
                    style.say(format!("{name}: wrong: {problem} (in {})", folder.display()));
                }
                style.emit(&json!({
                    "name": name,
                    "folder": folder,
                    "verdict": "wrong",
                    "problems": problems,
                }));
                return Some(false);
            }
            _ => {}
        }
    }
    style.emit(&json!({ "name": name, "verdict": "missing" }));
    None
}
