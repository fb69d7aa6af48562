//! What a run leaves behind, and the page made of it.

use egg_report::{Record, render};

use super::Target;
use crate::outcome::Outcome;

pub(super) const TARGET: Target = Target {
    name: "record",
    run,
    words: WORDS,
    reader: None,
};

const WORDS: &[&str] = &[
    "\"format\":\"egg-record\"",
    "\"version\":1",
    "\"kind\":\"train\"",
    "\"kind\":\"sweep\"",
    "\"methods\":[",
    "\"repetitions\":[",
    "\"clusterings\":[",
    "\"sweeps\":[",
    "\"trials\":[",
    "\"embedding\":{",
    "\"confusion\":{",
    "\"ranks\":[",
    "null",
    "1e308",
    "-1e308",
    "<script>",
    "\\u0000",
    "]]",
];

fn run(input: &[u8]) -> Outcome {
    let text = String::from_utf8_lossy(input);
    let record = match Record::parse(&text, "run.json".as_ref()) {
        Ok(record) => record,
        Err(error) => return Outcome::refused(&error),
    };
    let json = record
        .to_json()
        .unwrap_or_else(|error| panic!("it can't be written: {error}"));
    let again = Record::parse(&json, "run.json".as_ref());
    let again = again.unwrap_or_else(|error| panic!("what was written can't be read: {error}"));
    // Not the values: NaN is not equal to itself.
    assert_eq!(again.to_json().ok(), Some(json));
    let sizes = [
        record.methods.len(),
        record.clusterings.len(),
        record.sweeps.len(),
        record.trials.len(),
        record.notes.len(),
    ];
    page(record);
    Outcome::read(&sizes)
}

/// A page can be made of whatever was read, and nothing of it becomes a script.
fn page(record: Record) {
    let own = "<script";
    let Ok(page) = render(&[record]) else {
        return;
    };
    assert!(
        page.matches(own).count() <= 1,
        "a record has put a script into the page"
    );
}
