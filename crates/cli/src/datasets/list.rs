//! `egg data list`.

use clap::Args;
use egg_gnn::datasets::{Bytes, DataFolders, DatasetEntry, Grouped, Status};
use serde_json::json;

use crate::failure::{Failure, Result};
use crate::table::Table;

use super::Place;

/// Show the data sets: what is in them, how large they are, and whether they are here
#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    place: Place,
}

pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let (style, folders) = (arguments.place.style(), arguments.place.folders());
    let mut table = Table::new(["name", "graphs", "nodes", "size", "used for", "state"]);
    for entry in super::selected(&[])? {
        let state = state(entry, &folders);
        let mut object = serde_json::to_value(entry)
            .map_err(|error| Failure::other(format!("{}: {error}", entry.name)))?;
        if let Some(object) = object.as_object_mut() {
            object.insert("size".into(), json!(entry.size()));
            object.insert("state".into(), json!(state));
            object.insert("found".into(), json!(folders.find(entry)));
        }
        style.emit(&object);
        let size = entry
            .size()
            .map_or_else(|| "?".into(), |size| Bytes(size).to_string());
        table.row([
            entry.name.clone(),
            Grouped(entry.counts.graphs).to_string(),
            Grouped(entry.counts.nodes).to_string(),
            size,
            entry.task.name().to_owned(),
            state.to_owned(),
        ]);
    }
    style.say(table.text());
    style.say(format!(
        "\n`egg data fetch NAME` puts data sets into {}",
        folders.prepared.display()
    ));
    Ok(())
}

/// In a mirror there may be an archive that must be unpacked first: `fetch` does that.
fn state(entry: &DatasetEntry, folders: &DataFolders) -> &'static str {
    match (folders.find(entry), folders.status(entry)) {
        (Some(_), _) => "here",
        (None, Status::InMirror) => "packed",
        (None, _) => "missing",
    }
}
