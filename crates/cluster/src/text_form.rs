//! The text form of settings, from their serde form: `"flat"` is `flat`, `{"spectral": 0.5}` is
//! `spectral:0.5`.

use std::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// Writes an enum whose variants have one number or nothing.
pub(crate) fn write<T: Serialize>(value: &T, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    match serde_json::to_value(value).map_err(|_| fmt::Error)? {
        Value::String(name) => out.write_str(&name),
        Value::Object(variant) => variant.iter().try_for_each(|(name, value)| match value.as_f64() {
            // A whole number without ".0".
            Some(number) => write!(out, "{name}:{number}"),
            None => write!(out, "{name}:{value}"),
        }),
        other => write!(out, "{other}"),
    }
}

/// Reads what [`write`] writes, with `=` in place of `:` if preferred. Numbers are finite.
pub(crate) fn read<T: DeserializeOwned>(text: &str) -> Option<T> {
    let value = match text.split_once([':', '=']) {
        None => Value::from(text),
        Some((name, number)) => {
            let number = serde_json::Number::from_f64(number.parse().ok()?)?;
            Value::Object(Map::from_iter([(name.to_owned(), Value::Number(number))]))
        }
    };
    serde_json::from_value(value).ok()
}
