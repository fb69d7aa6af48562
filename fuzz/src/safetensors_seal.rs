//! The checksum that a checkpoint's header should hold.

use std::collections::{BTreeMap, HashMap};

use safetensors::SafeTensors;
use safetensors::tensor::TensorView;
use xxhash_rust::xxh3::Xxh3;

const KEY: &str = "egg-checkpoint";

/// The same checkpoint with the checksum of what is in it. `None` if it is so
/// broken that it has none.
pub(crate) fn seal(bytes: &[u8]) -> Option<Vec<u8>> {
    // The safetensors crate adds up the ends of tensors unchecked.
    let length = usize::try_from(u64::from_le_bytes(*bytes.first_chunk()?)).ok()?;
    let end = length.checked_add(8)?;
    let text = std::str::from_utf8(bytes.get(8..end)?).ok()?;
    let entries: HashMap<String, serde_json::Value> = serde_json::from_str(text).ok()?;
    for entry in entries.values() {
        let ends = entry.get("data_offsets").and_then(serde_json::Value::as_array);
        let far = |end: &serde_json::Value| end.as_u64().is_some_and(|end| end > bytes.len() as u64);
        if ends.is_some_and(|ends| ends.iter().any(far)) {
            return None;
        }
    }
    let header = entries.get("__metadata__")?.get(KEY)?.as_str()?;
    let (_, state) = header.split_once("\"state\":")?;
    let state = state.strip_suffix('}')?;
    let old = header.split_once("\"checksum\":\"")?.1.split_once('"')?.0;
    let tensors = SafeTensors::deserialize(bytes).ok()?;
    let views: BTreeMap<&str, TensorView<'_>> = tensors.iter().collect();
    let new = checksum(state, &views);
    if old.len() != new.len() {
        return None;
    }
    let at = text.find(old)?;
    let mut sealed = bytes.to_vec();
    sealed
        .get_mut(8 + at..8 + at + new.len())?
        .copy_from_slice(new.as_bytes());
    Some(sealed)
}

/// As egg-nn works it out, for a state that is written as it writes it.
fn checksum(state: &str, views: &BTreeMap<&str, TensorView<'_>>) -> String {
    let mut hash = Xxh3::new();
    let mut add = |bytes: &[u8]| {
        hash.update(&(bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    for (name, view) in views {
        add(name.as_bytes());
        add(view.dtype().to_string().as_bytes());
        add(format!("{:?}", view.shape()).as_bytes());
        add(view.data());
    }
    add(state.as_bytes());
    format!("{:016x}", hash.digest())
}
