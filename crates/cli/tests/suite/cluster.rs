//! `egg cluster`.

use serde_json::Value;

use crate::program::{egg, place, write};

#[test]
fn the_summary_has_a_row_for_each_method() {
    let place = place();
    let words = [
        "cluster",
        "--preset",
        "paper",
        "--data",
        "demo:karate",
        "--epochs",
        "30",
        "--reps",
        "2",
        "--json",
        "--out",
        "run",
        "--labels-out",
        "labels.csv",
    ];
    let ended = egg(place.path(), &words).ok();
    assert!(ended.err.is_empty(), "{}", ended.err);
    let epochs = ended
        .json()
        .into_iter()
        .filter(|object| object["event"] == "epoch")
        .count();
    assert_eq!(epochs, 60);
    let summary = ended.summary();
    let rows = summary["rows"].as_array().unwrap();
    let methods: Vec<&str> = rows.iter().map(|row| row["method"].as_str().unwrap()).collect();
    assert_eq!(
        methods,
        ["k-means", "k-means+EGG 0.8", "k-means+EGG 0.8 spectral:1"]
    );
    for row in rows {
        for measure in ["acc", "nmi", "ari", "cs"] {
            assert!(row[measure].as_f64().unwrap() <= 1.0, "{row}");
        }
        assert!(row["acc"].as_f64().unwrap() >= 0.5, "{row}");
    }
    let csv = std::fs::read_to_string(place.path().join("labels.csv")).unwrap();
    assert_eq!(
        (csv.lines().next(), csv.lines().count()),
        (Some("node,cluster"), 35)
    );
}

#[test]
fn nodes_without_labels_or_features_are_clustered_by_their_names() {
    let place = place();
    let clique = |name: &str| {
        let pairs = (0..5).flat_map(|a| (0..a).map(move |b| (a, b)));
        pairs
            .map(|(a, b)| format!("{name}{a},{name}{b}\n"))
            .collect::<String>()
    };
    write(
        place.path(),
        "net.csv",
        &format!("source,target\n{}{}x0,y0\n", clique("x"), clique("y")),
    );
    let cluster = |more: &[&str]| {
        egg(
            place.path(),
            &[&["cluster", "--data", "net.csv", "--quiet"][..], more].concat(),
        )
    };
    cluster(&["--out", "a"]).refused(2, &["--clusters K"]);
    let ended = cluster(&[
        "--clusters",
        "2",
        "--labels-out",
        "found.csv",
        "--weighting",
        "spectral:1",
        "--out",
        "a",
    ])
    .ok();
    assert!(
        ended.out.contains("modularity") && !ended.out.contains("nmi"),
        "{}",
        ended.out
    );
    let csv = std::fs::read_to_string(place.path().join("found.csv")).unwrap();
    let of = |name: &str| {
        csv.lines()
            .find_map(|line| line.strip_prefix(&format!("{name},")))
            .unwrap()
            .to_owned()
    };
    assert!(
        (0..5).all(|i| of(&format!("x{i}")) == of("x0") && of(&format!("y{i}")) == of("y0")),
        "{csv}"
    );
    assert_ne!(of("x0"), of("y0"));
}

#[test]
fn settings_are_chosen_by_default_and_options_of_an_autoencoder_are_refused() {
    let place = place();
    let words = ["cluster", "--data", "demo:karate", "--out", "run"];
    let ended = egg(place.path(), &words).ok();
    let first = ended.out.lines().next().unwrap();
    assert!(
        first.contains("preset auto, ") && first.contains("lazy_walk of "),
        "{first}"
    );
    assert!(first.contains("settings tried"), "{first}");
    let summary = egg(place.path(), &[&words[..4], &["again", "--json"]].concat())
        .ok()
        .summary();
    assert_eq!(summary["preset"], "auto");
    let rows = summary["rows"].as_array().unwrap();
    for row in &rows[..2] {
        assert!(row["acc"].as_f64().unwrap() > 0.9, "{row}");
    }
    let last: Vec<&Value> = rows[3..].iter().map(|row| &row["method"]).collect();
    assert_eq!(last, ["spectral clustering", "k-means on features"]);
    for option in [["--epochs", "5"], ["--likelihood", "sampled"]] {
        let words = [&words[..4], &["other"], &option].concat();
        egg(place.path(), &words).refused(2, &[option[0], "--preset tuned"]);
        assert!(!place.path().join("other").exists());
    }
}

#[test]
fn settings_are_taken_and_the_sampled_likelihood_works() {
    let place = place();
    let words = [
        "cluster",
        "--data",
        "demo:sbm:100",
        "--clusters",
        "3",
        "--rank",
        "fixed:2",
        "--weighting",
        "flat",
        "--likelihood",
        "sampled",
        "--epochs",
        "5",
        "--seed",
        "3",
        "--preset",
        "paper",
        "--threads",
        "1",
        "--json",
        "--out",
        "run",
    ];
    let summary = egg(place.path(), &words).ok().summary();
    let rows = summary["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 2);
    assert_eq!(
        (&rows[1]["method"], &rows[1]["dimension"]),
        (&Value::from("k-means+EGG fixed:2"), &Value::from(2))
    );
}
