//! Whether what is in a file is what was written.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

/// SHA-256 of a value as compact JSON with sorted keys, in hexadecimal. Against mistakes and
/// edits by hand, not against forgers: they could make another one.
///
/// # Errors
/// If the value can't be written as JSON.
///
/// ```
/// let a = egg_results::checksum(&[1, 2])?;
/// assert_eq!((a.len(), &a), (64, &egg_results::checksum(&vec![1, 2])?));
/// assert_ne!(a, egg_results::checksum(&[2, 1])?);
/// # Ok::<(), serde_json::Error>(())
/// ```
pub fn checksum<T: Serialize + ?Sized>(value: &T) -> serde_json::Result<String> {
    // By way of the text: an f32 is another number as a value than as it is written.
    let value: Value = serde_json::from_str(&serde_json::to_string(value)?)?;
    Ok(hexadecimal(sorted(value).to_string().as_bytes()))
}

/// Whether a text of JSON has this checksum, whatever its layout and the order of its keys.
///
/// Earlier versions made checksums of keys in the order in which they were written; those
/// are accepted as well, so a text can be verified by a program whose types have changed.
///
/// ```
/// let checksum = egg_results::checksum(&serde_json::json!({"b": 1, "a": 0.5}))?;
/// assert!(egg_results::has_checksum("{ \"b\": 1, \"a\": 0.5 }", &checksum));
/// assert!(!egg_results::has_checksum("{ \"b\": 2, \"a\": 0.5 }", &checksum));
/// # Ok::<(), serde_json::Error>(())
/// ```
pub fn has_checksum(text: &str, checksum: &str) -> bool {
    let Ok(value) = serde_json::from_str::<Value>(text) else {
        return false;
    };
    hexadecimal(sorted(value).to_string().as_bytes()) == checksum
        || hexadecimal(compact(text).as_bytes()) == checksum
}

fn hexadecimal(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The same value with its keys in order. (Whether a map sorts by itself depends on a
/// feature of serde_json that any crate of a program may turn on.)
fn sorted(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let entries: BTreeMap<String, Value> = map.into_iter().collect();
            let entries = entries.into_iter().map(|(key, value)| (key, sorted(value)));
            Value::Object(entries.collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(sorted).collect()),
        other => other,
    }
}

/// JSON without white space between its tokens.
fn compact(text: &str) -> String {
    let (mut quoted, mut escaped) = (false, false);
    let keep = |c: &char| {
        let inside = quoted;
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ => {}
        }
        inside || !c.is_ascii_whitespace()
    };
    text.chars().filter(keep).collect()
}

#[derive(Serialize, Deserialize)]
struct Sealed<T> {
    checksum: String,
    content: T,
}

/// A value with its checksum, as JSON to be read by [`unseal`].
///
/// # Errors
/// If the value can't be written as JSON.
pub fn seal<T: Serialize>(content: &T) -> serde_json::Result<String> {
    let sealed = Sealed {
        checksum: checksum(content)?,
        content,
    };
    serde_json::to_string_pretty(&sealed).map(|text| text + "\n")
}

/// Why a sealed text was not taken.
#[derive(Debug)]
pub enum Unsealed {
    /// It is not JSON of a value with a checksum.
    Format(serde_json::Error),
    /// The value was changed after it was written.
    Changed,
}

impl std::fmt::Display for Unsealed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Format(error) => write!(f, "it is no record with a checksum ({error})"),
            Self::Changed => f.write_str("it was changed after it was written"),
        }
    }
}

impl std::error::Error for Unsealed {}

/// What [`seal`] wrote.
///
/// # Errors
/// [`Unsealed::Format`] if it is something else, [`Unsealed::Changed`] if the checksum
/// is not that of the value.
///
/// ```
/// use egg_results::{Unsealed, seal, unseal};
///
/// let text = seal(&0.75)?;
/// assert_eq!(unseal::<f64>(&text)?, 0.75);
/// assert!(matches!(unseal::<f64>(&text.replace("0.75", "7.5")), Err(Unsealed::Changed)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn unseal<T: DeserializeOwned>(text: &str) -> Result<T, Unsealed> {
    let sealed: Sealed<&RawValue> = serde_json::from_str(text).map_err(Unsealed::Format)?;
    let content = sealed.content.get();
    match has_checksum(content, &sealed.checksum) {
        true => serde_json::from_str(content).map_err(Unsealed::Format),
        false => Err(Unsealed::Changed),
    }
}
