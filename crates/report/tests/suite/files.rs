//! Records on disk.

use std::path::Path;

use egg_report::{Epoch, Error, Kind, Losses, Method, Record, Repetition};

use crate::made_up;

#[test]
fn records_round_trip() {
    let folder = tempfile::tempdir().unwrap();
    for (i, record) in made_up::records().into_iter().enumerate() {
        let path = folder.path().join(format!("{i}.json"));
        record.write(&path).unwrap();
        assert_eq!(Record::read(&path).unwrap(), record);
    }
    let path = folder.path().join(egg_report::FILE_NAME);
    let record = Record::new(Kind::Demo, "in a folder");
    record.write(&path).unwrap();
    assert_eq!(Record::read(folder.path()).unwrap(), record);
    // Nothing half-written is left.
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 4);
}

#[test]
fn non_finite_numbers_round_trip() {
    let mut record = Record::new(Kind::Train, "diverged");
    let epoch = |epoch, train_loss| Epoch {
        epoch,
        train_loss,
        train_metric: None,
        validation_loss: f64::NEG_INFINITY,
        validation_metric: Some(0.5),
        seconds: 0.0,
    };
    record.methods.push(Method {
        repetitions: vec![Repetition {
            epochs: vec![epoch(1, 0.1 + 0.2), epoch(2, f64::INFINITY), epoch(3, f64::NAN)],
            ..Repetition::default()
        }],
        ..Method::default()
    });
    record.clusterings.push(egg_report::Clustering {
        losses: vec![Losses(vec![1.0, f64::NAN, f64::INFINITY])],
        ..Default::default()
    });
    let read = Record::parse(&record.to_json().unwrap(), Path::new("run.json")).unwrap();
    let epochs = &read.methods[0].repetitions[0].epochs;
    assert_eq!(
        (epochs[0].train_loss, epochs[1].train_loss),
        (0.1 + 0.2, f64::INFINITY)
    );
    assert!(epochs[2].train_loss.is_nan());
    assert_eq!(epochs[0].validation_loss, f64::NEG_INFINITY);
    let losses = &read.clusterings[0].losses[0].0;
    assert!(losses[1].is_nan() && losses[2] == f64::INFINITY);
    assert!(read.clusterings[0].acc.mean.is_nan());
}

#[test]
fn unknown_fields_are_ignored_and_missing_ones_default() {
    let text = r#"{"format": "egg-record", "version": 1, "title": "old", "from the future": [1, 2],
        "methods": [{"name": "EGG", "colour": "red", "repetitions": [{"test": 0.5, "epochs": [{"epoch": 1}]}]}]}"#;
    let record = Record::parse(text, Path::new("run.json")).unwrap();
    assert_eq!(record.title, "old");
    assert_eq!(record.methods[0].repetitions[0].test, Some(0.5));
    assert!(record.methods[0].repetitions[0].epochs[0].train_loss.is_nan());
    assert_eq!(record.ddof, 1);
}

#[test]
fn invalid_records_are_refused_naming_the_fault() {
    let parse = |text: &str| Record::parse(text, Path::new("some/run.json")).unwrap_err();
    let later = parse(r#"{"format": "egg-record", "version": 99, "methods": "new shape"}"#);
    assert!(matches!(later, Error::Version { found: 99, .. }), "{later}");
    assert!(
        later.to_string().contains("some/run.json") && later.to_string().contains("newer egg"),
        "{later}"
    );
    for text in [
        r#"{"format": "egg-record"}"#,
        r#"{"format": "egg-record", "version": -1}"#,
    ] {
        assert!(matches!(parse(text), Error::Version { found: 0, .. }));
    }
    for text in [
        r#"{"version": 1}"#,
        "[1, 2]",
        "3",
        r#"{"format": 3, "version": 1}"#,
    ] {
        assert!(
            matches!(parse(text), Error::NotARecord { .. }),
            "{text}: {}",
            parse(text)
        );
    }
    for text in ["", "{\"format\": \"egg-rec", "not json"] {
        assert!(
            matches!(parse(text), Error::Syntax { .. }),
            "{text}: {}",
            parse(text)
        );
    }
    let wrong = parse("{\"format\": \"egg-record\", \"version\": 1,\n \"methods\": 3}");
    assert!(matches!(wrong, Error::Syntax { line: 2, .. }), "{wrong}");
    let missing = Record::read(Path::new("/nowhere/at/all")).unwrap_err();
    assert!(matches!(missing, Error::Io { .. }) && missing.to_string().contains("/nowhere/at/all"));
    assert!(matches!(egg_report::render(&[]), Err(Error::Nothing)));
}
