//! Settings as one short text, and back: `threshold=0.8,flatten=isometric`.
//!
//! The grammar, on top of the settings' JSON:
//! - `setting=value`, separated by commas; what is left out has its default;
//! - a value is JSON, or a bare word, which is a string;
//! - a list may be written `a+b`, with `[...]` around items that have commas;
//! - where a setting is one of several named numbers, as a rank rule is
//!   (`{"rank": {"threshold": 0.8}}`), its name alone will do: `threshold=0.8`.
//!
//! What [`write`] gives in full, [`read`] takes, for any settings; the short form is used where it comes back too.

use serde_json::{Map, Value};

/// How deep brackets may nest: reading a component inside a component is recursive.
const MOST_BRACKETS: usize = 8;

/// Settings that differ from the defaults. In the short form a variant's name stands for that of its setting; it does
/// not come back where two settings have such a variant.
pub(crate) fn write(settings: &Map<String, Value>, defaults: &Map<String, Value>, is_short: bool) -> String {
    let differing = settings
        .iter()
        .filter(|(key, value)| defaults.get(*key) != Some(value));
    let pairs: Vec<String> = differing
        .map(|(key, value)| match variant(value) {
            Some((name, value)) if is_short && !settings.contains_key(name) => {
                format!("{name}={}", value_text(value, is_short))
            }
            _ => format!("{key}={}", value_text(value, is_short)),
        })
        .collect();
    pairs.join(",")
}

/// The name and content of a value that is an enum's variant with one number or word.
fn variant(value: &Value) -> Option<(&str, &Value)> {
    let map = value.as_object().filter(|map| map.len() == 1)?;
    let (name, value) = map.iter().next()?;
    (is_plain(name) && (value.is_number() || value.is_string())).then_some((name, value))
}

/// Whether a string needs no quotes.
fn is_plain(text: &str) -> bool {
    let special = |c: char| matches!(c, ',' | '+' | '[' | ']' | '{' | '}' | '"') || c.is_whitespace();
    !text.is_empty() && !text.contains(special) && serde_json::from_str::<Value>(text).is_err()
}

fn value_text(value: &Value, is_short: bool) -> String {
    match value {
        Value::String(text) if is_plain(text) => text.clone(),
        // Two or more: a single one looks like a plain value.
        Value::Array(items) if items.len() > 1 => {
            let texts: Option<Vec<String>> = items.iter().map(|item| item_text(item, is_short)).collect();
            texts.map_or_else(|| value.to_string(), |texts| texts.join("+"))
        }
        other => other.to_string(),
    }
}

/// An item of a list that is a string or a component.
fn item_text(item: &Value, is_short: bool) -> Option<String> {
    let nested = match item {
        Value::String(text) => text.clone(),
        Value::Object(settings) => component(settings, is_short)?,
        _ => return None,
    };
    match item {
        _ if is_plain(&nested) => Some(nested),
        // Balanced brackets without quotes: a component's own text.
        _ if is_nested(&nested) => Some(format!("[{nested}]")),
        Value::String(_) => Some(item.to_string()),
        _ => None,
    }
}

/// The text of a component inside another's settings, with all its settings.
fn component(settings: &Map<String, Value>, is_short: bool) -> Option<String> {
    let name = settings.get(super::KIND)?.as_str()?;
    let mut settings = settings.clone();
    settings.remove(super::KIND);
    Some(match settings.is_empty() {
        true => name.to_owned(),
        false => format!("{name}:{}", write(&settings, &Map::new(), is_short)),
    })
}

/// Whether a text can stand between brackets as it is.
fn is_nested(text: &str) -> bool {
    let plain = !text.contains(['"', '{', '}']) && !text.contains(char::is_whitespace);
    plain && !text.is_empty() && split(text, '\0').is_ok_and(|parts| parts.len() == 1)
}

/// Says why settings are not ones of the component.
type Check<'a> = &'a dyn Fn(&Map<String, Value>) -> Result<(), String>;

/// The settings of a text.
pub(crate) fn read(
    text: &str,
    defaults: &Map<String, Value>,
    check: Check<'_>,
) -> Result<Map<String, Value>, String> {
    let mut settings = Map::new();
    if text.trim().is_empty() {
        return Ok(settings);
    }
    for pair in split(text, ',')? {
        let (key, value) = pair
            .split_once('=')
            .ok_or_else(|| format!("{:?} is no setting: write name=value", pair.trim()))?;
        let (key, value) = (key.trim(), value.trim());
        let (key, value) = match defaults.get(key) {
            Some(Value::Array(_)) => (key.to_owned(), list(value)?),
            Some(_) => (key.to_owned(), scalar(value)),
            None => owner(key, scalar(value), defaults, check)?,
        };
        if settings.insert(key.clone(), value).is_some() {
            return Err(format!("the setting {key} is there twice"));
        }
    }
    Ok(settings)
}

/// The setting that `name` is a variant of.
fn owner(
    name: &str,
    value: Value,
    defaults: &Map<String, Value>,
    check: Check<'_>,
) -> Result<(String, Value), String> {
    let inner = Value::Object(Map::from_iter([(name.to_owned(), value)]));
    let (mut owners, mut wrong_value) = (Vec::new(), None);
    for key in defaults.keys() {
        match check(&Map::from_iter([(key.clone(), inner.clone())])) {
            Ok(()) => owners.push(key.clone()),
            // What serde says of a setting without such a variant; all else is about the value.
            Err(reason)
                if ["unknown variant", "invalid type: map"]
                    .iter()
                    .any(|no| reason.starts_with(no)) => {}
            Err(reason) => wrong_value = Some(reason),
        }
    }
    match (&owners[..], wrong_value) {
        ([owner], _) => Ok((owner.clone(), inner)),
        ([], Some(reason)) => Err(format!("{name}: {reason}")),
        ([], None) if defaults.is_empty() => Err(format!("there is no setting {name}: it has none")),
        ([], None) => {
            let known: Vec<&str> = defaults.keys().map(String::as_str).collect();
            Err(format!(
                "there is no such setting as {name}; there are {}",
                known.join(", ")
            ))
        }
        (owners, _) => Err(format!(
            "{name} may be of {}: write {}={inner}",
            owners.join(" or "),
            owners[0]
        )),
    }
}

fn scalar(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
}

fn list(text: &str) -> Result<Value, String> {
    if let Ok(value @ Value::Array(_)) = serde_json::from_str(text) {
        return Ok(value);
    }
    let items = split(text, '+')?.into_iter().map(|item| {
        let item = item.trim();
        match item.strip_prefix('[').and_then(|item| item.strip_suffix(']')) {
            Some(item) => Value::String(item.to_owned()),
            None => scalar(item),
        }
    });
    Ok(Value::Array(items.collect()))
}

/// The parts between separators that are neither in brackets nor in quotes.
fn split(text: &str, separator: char) -> Result<Vec<&str>, String> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0usize);
    let (mut quoted, mut escaped) = (false, false);
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ if quoted => {}
            '[' | '{' if depth == MOST_BRACKETS => {
                return Err(format!("brackets nest more than {MOST_BRACKETS} deep"));
            }
            '[' | '{' => depth += 1,
            ']' | '}' => {
                depth = depth
                    .checked_sub(1)
                    .ok_or_else(|| format!("{text:?} closes a bracket that was not opened"))?;
            }
            c if c == separator && depth == 0 => {
                parts.push(&text[start..at]);
                start = at + c.len_utf8();
            }
            _ => {}
        }
    }
    if depth > 0 || quoted {
        return Err(format!("{text:?} ends within a bracket or a quotation"));
    }
    parts.push(&text[start..]);
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::{Deserialize, Serialize};

    use super::*;

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Rule {
        Above(f64),
        First(usize),
        All,
    }

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    struct Example {
        rule: Rule,
        other: Rule,
        word: String,
        on: bool,
        share: Option<f64>,
        parts: Vec<String>,
        pairs: Vec<(u32, f64)>,
    }

    impl Default for Example {
        fn default() -> Self {
            Self {
                rule: Rule::Above(0.5),
                other: Rule::All,
                word: "plain".to_owned(),
                on: false,
                share: None,
                parts: vec!["a".to_owned()],
                pairs: Vec::new(),
            }
        }
    }

    fn map(example: &Example) -> Map<String, Value> {
        match serde_json::to_value(example).unwrap() {
            Value::Object(map) => map,
            _ => unreachable!(),
        }
    }

    fn parse(text: &str) -> Result<Example, String> {
        let of = |map: &Map<String, Value>| {
            let read = serde_json::from_value::<Example>(Value::Object(map.clone()));
            read.map_err(|error| error.to_string())
        };
        let settings = read(text, &map(&Example::default()), &|map| of(map).map(|_| ()))?;
        of(&settings)
    }

    fn any_word() -> impl Strategy<Value = String> {
        prop_oneof![
            "[a-z]{1,6}",
            "[ -~]{0,8}",
            Just("egg:threshold=0.5,flatten=isometric".to_owned()),
            Just("concat:parts=avg+[egg:ratio=0.2,flatten=upper]".to_owned()),
            Just("true".to_owned()),
            Just("1e5".to_owned()),
        ]
    }

    fn any_rule() -> impl Strategy<Value = Rule> {
        let number = any::<f64>().prop_filter("finite", |x| x.is_finite());
        prop_oneof![
            number.prop_map(Rule::Above),
            any::<usize>().prop_map(Rule::First),
            Just(Rule::All)
        ]
    }

    proptest! {
        #[test]
        fn any_settings_come_back_from_their_full_text(
            rule in any_rule(),
            other in any_rule(),
            word in any_word(),
            on in any::<bool>(),
            share in proptest::option::of(-1e9..1e9),
            parts in proptest::collection::vec(any_word(), 0..4),
            pairs in proptest::collection::vec((any::<u32>(), -1.0..1.0), 0..3),
        ) {
            let example = Example { rule, other, word, on, share, parts, pairs };
            let text = write(&map(&example), &map(&Example::default()), false);
            prop_assert_eq!(parse(&text), Ok(example), "{}", text);
        }

        #[test]
        fn no_text_panics(text in "[ -~]{0,40}") {
            let _ = parse(&text);
        }
    }

    #[test]
    fn texts_are_short() {
        let text = |example: &Example| write(&map(example), &map(&Example::default()), true);
        let example = Example::default();
        assert_eq!(text(&example), "");
        let rule = Rule::Above(0.8);
        assert_eq!(
            text(&Example {
                rule,
                ..example.clone()
            }),
            "above=0.8"
        );
        assert_eq!(
            text(&Example {
                rule: Rule::All,
                ..example.clone()
            }),
            "rule=all"
        );
        let parts = vec!["avg".to_owned(), "egg:ratio=0.2,flatten=upper".to_owned()];
        assert_eq!(
            text(&Example { parts, ..example }),
            "parts=avg+[egg:ratio=0.2,flatten=upper]"
        );
    }

    #[test]
    fn mistakes_are_named() {
        for (text, part) in [
            ("word", "write name=value"),
            (
                "colour=red",
                "no such setting as colour; there are on, other, pairs, parts",
            ),
            ("on=true,on=false", "twice"),
            (
                "above=0.5",
                "above may be of other or rule: write other={\"above\":0.5}",
            ),
            ("above=half", "above: invalid type: string \"half\", expected f64"),
            (&format!("parts={}", "[".repeat(9)), "more than 8 deep"),
            ("parts=[a", "within a bracket"),
            ("on=maybe", "expected a boolean"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
