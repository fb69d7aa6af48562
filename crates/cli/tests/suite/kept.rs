//! What a run keeps on disk: whether it is whole, and what of it lasts.

use std::collections::BTreeMap;
use std::path::Path;

use egg_gnn::nn::Checkpoint;
use egg_gnn::pool::folder::TrainedModel;
use egg_report::Record;
use serde_json::Value;

/// What depends on the clock. (A checksum covers the times.)
const PASSING: [&str; 4] = ["seconds", "train_seconds", "finished", "checksum"];

/// All files below a folder, by their relative names.
pub(crate) fn files(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).into_iter().flatten() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false => {
                    let name = path.strip_prefix(folder).unwrap();
                    found.push(name.to_str().unwrap().to_owned());
                }
            }
        }
    }
    found.sort();
    found
}

/// Fails unless everything below a folder that has its name is whole.
pub(crate) fn assert_sound(folder: &Path, which: &str) {
    for name in files(folder) {
        // What was being written, and folders of models that were being made.
        if name.split('/').any(|part| part.starts_with(".egg-")) {
            continue;
        }
        let path = folder.join(&name);
        let folder = path.parent().unwrap();
        let checked = match path.extension().and_then(|ending| ending.to_str()) {
            // The name of a model is that of its folder, in which all belongs together.
            Some("safetensors") if path.ends_with("model/model.safetensors") => TrainedModel::load(folder)
                .map(drop)
                .map_err(|error| error.to_string()),
            Some("safetensors") => Checkpoint::load(&path)
                .map(drop)
                .map_err(|error| error.to_string()),
            Some("json") if path.ends_with(egg_report::FILE_NAME) => {
                Record::read(folder).map(drop).map_err(|error| error.to_string())
            }
            Some("json") => serde_json::from_slice::<Value>(&std::fs::read(&path).unwrap())
                .map(drop)
                .map_err(|error| error.to_string()),
            Some("csv" | "md" | "toml") => match std::fs::read(&path).unwrap().ends_with(b"\n") {
                true => Ok(()),
                false => Err("it is cut short".to_owned()),
            },
            _ => Err("no program writes this".to_owned()),
        };
        if let Err(error) = checked {
            panic!("{name} is broken, {which}: {error}");
        }
    }
}

/// The content of every file that a run left, without the time.
pub(crate) fn lasting(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let content = |name: &String| {
        let bytes = std::fs::read(folder.join(name)).unwrap();
        if name.ends_with(".json") {
            return timeless(serde_json::from_slice(&bytes).unwrap())
                .to_string()
                .into_bytes();
        }
        if !name.ends_with(".safetensors") {
            return bytes;
        }
        // The length of the header, the header, the numbers.
        let (length, rest) = bytes.split_first_chunk::<8>().unwrap();
        let (header, numbers) = rest.split_at(usize::try_from(u64::from_le_bytes(*length)).unwrap());
        let header = timeless(serde_json::from_slice(header).unwrap()).to_string();
        [header.as_bytes(), numbers].concat()
    };
    let all = files(folder);
    all.iter().map(|name| (name.clone(), content(name))).collect()
}

/// Fails unless two folders hold the same.
pub(crate) fn assert_same(
    found: &BTreeMap<String, Vec<u8>>,
    expected: &BTreeMap<String, Vec<u8>>,
    which: &str,
) {
    let names = |files: &BTreeMap<String, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(found), names(expected), "{which}");
    for (name, bytes) in expected {
        assert!(
            found[name] == *bytes,
            "{name} is another than undisturbed: {which}"
        );
    }
}

/// JSON without what depends on the clock, in texts that are JSON too.
fn timeless(value: Value) -> Value {
    match value {
        Value::Object(entries) => Value::Object(
            entries
                .into_iter()
                .filter(|(key, _)| !PASSING.contains(&key.as_str()))
                .map(|(key, value)| (key, timeless(value)))
                .collect(),
        ),
        Value::Array(items) => Value::Array(items.into_iter().map(timeless).collect()),
        Value::String(text) if text.starts_with(['{', '[']) => match serde_json::from_str(&text) {
            Ok(inner) => timeless(inner),
            Err(_) => Value::String(text),
        },
        other => other,
    }
}
