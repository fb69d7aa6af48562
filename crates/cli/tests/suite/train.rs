//! `egg train`.

use approx::assert_abs_diff_eq;
use serde_json::Value;

use crate::program::{TRAIN, egg, place, rings_and_stars, write};

#[test]
fn json_has_an_object_a_line_and_a_summary_last() {
    let place = place();
    rings_and_stars(place.path(), "graphs", 40, true);
    let ended = egg(place.path(), &[&TRAIN[..], &["--json", "--out", "run"]].concat()).ok();
    assert!(ended.err.is_empty(), "{}", ended.err);
    let objects = ended.json();
    let epochs: Vec<&Value> = objects
        .iter()
        .filter(|object| object["event"] == "epoch")
        .collect();
    assert_eq!(epochs.len(), 2 * 4);
    for epoch in epochs {
        let keys: Vec<&String> = epoch.as_object().unwrap().keys().collect();
        let expected = [
            "epoch",
            "event",
            "rep",
            "train_loss",
            "train_metric",
            "train_seconds",
            "val_loss",
            "val_metric",
        ];
        assert_eq!(keys, expected);
        assert!((1..=2).contains(&epoch["rep"].as_u64().unwrap()));
        assert!((1..=4).contains(&epoch["epoch"].as_u64().unwrap()));
        assert!(epoch["train_loss"].as_f64().unwrap() > 0.0);
        assert!((0.0..=1.0).contains(&epoch["val_metric"].as_f64().unwrap()));
    }
    let summary = ended.summary();
    assert_eq!(
        (summary["metric"].as_str(), summary["ddof"].as_u64()),
        (Some("accuracy"), Some(0))
    );
    let values: Vec<f64> = summary["values"]
        .as_array()
        .unwrap()
        .iter()
        .map(|v| v.as_f64().unwrap())
        .collect();
    assert_eq!(values.len(), 2);
    let mean = (values[0] + values[1]) / 2.0;
    assert_abs_diff_eq!(summary["mean"].as_f64().unwrap(), mean, epsilon = 1e-12);
    assert_abs_diff_eq!(
        summary["std"].as_f64().unwrap(),
        (values[0] - mean).abs(),
        epsilon = 1e-12
    );
}

#[test]
fn piped_output_is_plain_lines() {
    let place = place();
    rings_and_stars(place.path(), "graphs", 40, true);
    let ended = egg(
        place.path(),
        &[&TRAIN[..], &["--conv", "gin", "--out", "run"]].concat(),
    )
    .ok();
    assert!(!ended.out.contains('\x1b') && !ended.err.contains('\x1b') && !ended.out.contains('\r'));
    assert!(
        ended.out.contains("rep  1  epoch   1  train loss"),
        "{}",
        ended.out
    );
    assert!(
        ended.out.contains("test accuracy 0.") && ended.out.contains("+-"),
        "{}",
        ended.out
    );
    let quiet = egg(
        place.path(),
        &[&TRAIN[..], &["--quiet", "--out", "quiet"]].concat(),
    )
    .ok();
    assert!(
        !quiet.out.contains("epoch   1") && quiet.out.contains("test accuracy"),
        "{}",
        quiet.out
    );
}

#[test]
fn results_are_the_same_bits_on_any_number_of_threads() {
    let place = place();
    rings_and_stars(place.path(), "graphs", 40, true);
    let values = |threads: &str| {
        let words = [&TRAIN[..], &["--json", "--threads", threads, "--out", threads]].concat();
        let summary = egg(place.path(), &words).ok().summary();
        (
            summary["values"].clone(),
            summary["val_mean"].clone(),
            summary["fingerprint"].clone(),
        )
    };
    assert_eq!(values("1"), values("3"));
}

#[test]
fn every_pooling_trains_and_so_does_the_fair_protocol() {
    let place = place();
    rings_and_stars(place.path(), "graphs", 30, true);
    for pool in egg_gnn::pool::PoolingConfig::names().into_iter().chain(["blind"]) {
        let words = [
            "train",
            "--data",
            "graphs",
            "--pool",
            pool,
            "--hidden",
            "4",
            "--reps",
            "1",
            "--epochs",
            "1",
            "--protocol",
            "fair",
            "--json",
            "--out",
            pool,
        ];
        let summary = egg(place.path(), &words).ok().summary();
        assert_eq!(
            (summary["protocol"].as_str(), summary["ddof"].as_u64()),
            (Some("fair"), Some(1))
        );
        assert!(
            summary["std"].is_null(),
            "one number has no deviation with ddof 1"
        );
    }
}

#[test]
fn every_training_setting_is_applied() {
    let place = place();
    rings_and_stars(place.path(), "graphs", 40, true);
    let words = [
        "train",
        "--data",
        "graphs",
        "--conv",
        "gin",
        "--pool",
        "egg",
        "--rank",
        "energy:0.9",
        "--hidden",
        "6",
        "--layers",
        "2",
        "--lr",
        "0.01",
        "--weight-decay",
        "0.001",
        "--dropout",
        "0.1",
        "--batch",
        "8",
        "--epochs",
        "3",
        "--patience",
        "2",
        "--reps",
        "1",
        "--seed",
        "7",
        "--protocol",
        "paper",
        "--threads",
        "2",
        "--out",
        "run",
        "--json",
    ];
    let summary = egg(place.path(), &words).ok().summary();
    assert_eq!(
        (summary["pool"].as_str(), summary["seed"].as_u64()),
        (Some("egg:energy=0.9"), Some(7))
    );
    let config = std::fs::read_to_string(place.path().join("run/model/config.json")).unwrap();
    let config: Value = serde_json::from_str(&config).unwrap();
    let (model, training) = (&config["model"], &config["training"]);
    assert_eq!(
        (model["hidden"].as_u64(), model["layers"].as_u64()),
        (Some(6), Some(2))
    );
    assert_eq!(model["pooling"]["rank"]["energy"], 0.9);
    assert_eq!(model["head"]["dropout"], 0.1);
    assert_eq!(
        (training["batch_size"].as_u64(), training["patience"].as_u64()),
        (Some(8), Some(2))
    );
    assert_eq!(
        (
            training["learning_rate"].as_f64(),
            training["weight_decay"].as_f64()
        ),
        (Some(0.01), Some(0.001))
    );
}

#[test]
fn runs_without_a_name_are_numbered_and_none_is_overwritten() {
    let place = place();
    rings_and_stars(place.path(), "graphs", 40, true);
    let words = [&TRAIN[..], &["--json"]].concat();
    let out = || {
        egg(place.path(), &words).ok().summary()["out"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(
        (out().as_str(), out().as_str()),
        ("runs/graphs-gcn-egg", "runs/graphs-gcn-egg-2")
    );
    let again = [&TRAIN[..], &["--out", "runs/graphs-gcn-egg"]].concat();
    egg(place.path(), &again).refused(1, &["runs/graphs-gcn-egg", "--resume"]);
    let empty = [&TRAIN[..], &["--out", "nowhere", "--resume"]].concat();
    egg(place.path(), &empty).refused(1, &["nowhere", "no run to resume"]);
}

/// A run is resumed as it was begun, or longer; with any other setting it is refused, and
/// what was there stays.
#[test]
fn a_run_resumes_only_with_the_same_settings() {
    let place = place();
    rings_and_stars(place.path(), "graphs", 40, true);
    let begin = |more: &[&str], epochs: &str| {
        let words = [
            "train", "--data", "graphs", "--pool", "egg", "--hidden", "4", "--reps", "2", "--out", "run",
            "--json", "--epochs", epochs,
        ];
        // The last of two counts.
        let mut all: Vec<&str> = words.to_vec();
        for pair in more.chunks(2) {
            if let Some(at) = all.iter().position(|word| *word == pair[0]) {
                all.drain(at..at + 2);
            }
            all.extend(pair);
        }
        egg(place.path(), &all)
    };
    begin(&[], "5").ok();
    let record = || std::fs::read_to_string(place.path().join("run/run.json")).unwrap();
    let before = record();
    rings_and_stars(place.path(), "others", 40, true);
    write(
        place.path(),
        "others/graphs.csv",
        &std::fs::read_to_string(place.path().join("graphs/graphs.csv"))
            .unwrap()
            .replace("g0,star", "g0,ring"),
    );
    for (more, words) in [
        (&["--lr", "0.5"][..], "other settings"),
        (&["--weight-decay", "0.1"], "other settings"),
        (&["--batch", "7"], "other settings"),
        (&["--patience", "3"], "other settings"),
        (&["--hidden", "5"], "another model"),
        (&["--layers", "3"], "another model"),
        (&["--dropout", "0.1"], "another model"),
        (&["--rank", "relative:0.5"], "another model"),
        (&["--pool", "sum"], "another model"),
        (&["--conv", "gin"], "another"),
        (&["--seed", "5"], "another s"),
        (&["--protocol", "fair"], "another split"),
        (&["--data", "others"], "other data"),
        (&["--epochs", "3"], "trained for 5 epochs, more than the 3"),
    ] {
        let ended = begin(&[more, &["--resume"]].concat(), "5");
        assert_eq!(ended.code, 1, "{more:?}: {}", ended.out);
        assert!(ended.err.contains(words), "{more:?}: {}", ended.err);
        assert_eq!(record(), before, "{more:?}");
    }
    // Fewer or more repetitions, and more epochs, are what a fresh run gives.
    let lasting = |mut summary: serde_json::Value| {
        for key in ["seconds", "out", "model"] {
            summary.as_object_mut().unwrap().remove(key);
        }
        summary
    };
    for more in [&["--reps", "1"][..], &["--reps", "3"], &["--epochs", "8"]] {
        let resumed = begin(&[more, &["--resume"]].concat(), "5").ok().summary();
        let fresh = begin(&[more, &["--out", "fresh"]].concat(), "5").ok().summary();
        assert_eq!(lasting(resumed), lasting(fresh), "{more:?}");
        std::fs::remove_dir_all(place.path().join("fresh")).unwrap();
    }
}
