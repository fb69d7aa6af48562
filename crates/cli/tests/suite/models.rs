//! `egg predict` and `egg embed`.

use serde_json::json;

use crate::program::{TRAIN, egg, place, rings_and_stars, write};

/// Rows and columns of an array that the program wrote.
fn shape(path: &std::path::Path) -> (usize, usize) {
    let array = egg_gnn::graph::read_npy(path, &egg_gnn::graph::ReadOptions::default()).unwrap();
    (array.shape()[0], array.shape()[1])
}

#[test]
fn a_model_predicts_and_embeds_graphs_without_labels() {
    let place = place();
    let at = |name: &str| place.path().join(name);
    rings_and_stars(place.path(), "graphs", 60, true);
    rings_and_stars(place.path(), "new", 7, false);
    let more = [
        "--rank",
        "relative:0.1",
        "--epochs",
        "60",
        "--patience",
        "60",
        "--lr",
        "0.02",
    ];
    let words = [&TRAIN[..9], &more, &["--out", "run", "--quiet"]].concat();
    egg(place.path(), &words).ok();

    let words = [
        "predict",
        "--model",
        "run",
        "--data",
        "new",
        "--out",
        "out/new.csv",
        "--json",
    ];
    let ended = egg(place.path(), &words).ok();
    let objects = ended.json();
    assert_eq!(objects.len(), 7 + 1);
    assert_eq!(
        (&objects[0]["graph"], &objects[0]["event"]),
        (&json!("g0"), &json!("prediction"))
    );
    let sum: f64 = objects[0]["probabilities"]
        .as_array()
        .unwrap()
        .iter()
        .map(|p| p.as_f64().unwrap())
        .sum();
    assert!((sum - 1.0).abs() < 1e-9);
    assert!(ended.summary()["mean"].is_null());
    let csv = std::fs::read_to_string(at("out/new.csv")).unwrap();
    assert_eq!(csv.lines().next(), Some("graph,label,p(ring),p(star)"));
    assert_eq!(csv.lines().count(), 8);

    // Stars and rings are easily told apart.
    let seen = egg(
        place.path(),
        &["predict", "--model", "run/model", "--data", "graphs", "--json"],
    )
    .ok();
    assert!(
        seen.summary()["mean"].as_f64().unwrap() > 0.8,
        "{}",
        seen.summary()
    );

    egg(
        place.path(),
        &[
            "embed",
            "--model",
            "run",
            "--data",
            "new",
            "--out",
            "e/graphs.npy",
        ],
    )
    .ok();
    assert_eq!(shape(&at("e/graphs.npy")), (7, 8 * 9 / 2));
    let words = [
        "embed",
        "--model",
        "run",
        "--data",
        "new",
        "--nodes",
        "--out",
        "nodes.npy",
        "--json",
    ];
    let nodes = egg(place.path(), &words).ok().summary();
    assert_eq!(
        shape(&at("nodes.npy")),
        (nodes["rows"].as_u64().unwrap() as usize, 8)
    );
    egg(
        place.path(),
        &[
            "embed",
            "--model",
            "run",
            "--data",
            "new",
            "--leverage",
            "--out",
            "l.npy",
        ],
    )
    .ok();
    let options = egg_gnn::graph::ReadOptions::default();
    let leverage = egg_gnn::graph::read_npy(&at("l.npy"), &options)
        .unwrap()
        .to_matrix()
        .unwrap();
    assert_eq!(leverage.dim(), (nodes["rows"].as_u64().unwrap() as usize, 1));
    assert!(leverage.iter().all(|share| (-1e-4..=1.0001).contains(share)));
    // The first graph's add up to a whole number: its p.
    let first: f32 = leverage.iter().take(4).sum();
    assert!(first > 0.5 && (first - first.round()).abs() < 1e-3, "{first}");
}

#[test]
fn what_does_not_fit_is_refused() {
    let place = place();
    rings_and_stars(place.path(), "graphs", 40, true);
    let words = [
        "train", "--data", "graphs", "--pool", "sum", "--hidden", "4", "--reps", "1", "--epochs", "1",
        "--out", "run",
    ];
    egg(place.path(), &words).ok();
    let embed = |more: &[&str]| {
        egg(
            place.path(),
            &[&["embed", "--model", "run", "--out", "x.npy"][..], more].concat(),
        )
    };
    embed(&["--data", "graphs", "--leverage"]).refused(1, &["sum", "--pool egg"]);
    embed(&["--data", "demo:covariance"]).refused(1, &["3 node features", "10"]);
    assert!(!place.path().join("x.npy").exists());
}

/// Graphs whose label is empty are no use in training, and are what predictions are
/// for. Without nodes.csv degrees are the features, and new graphs may have others.
#[test]
fn graphs_without_labels_and_degrees_without_columns() {
    let place = place();
    rings_and_stars(place.path(), "graphs", 40, true);
    std::fs::remove_file(place.path().join("graphs/nodes.csv")).unwrap();
    let labels = std::fs::read_to_string(place.path().join("graphs/graphs.csv")).unwrap();
    let unlabelled = |line: &str| match line.split_once(',') {
        Some((graph @ ("g7" | "g8"), _)) => format!("{graph},\n"),
        _ => format!("{line}\n"),
    };
    let labels: String = labels.lines().map(unlabelled).collect();
    write(place.path(), "graphs/graphs.csv", &labels);
    let train = egg(
        place.path(),
        &[&TRAIN[..], &["--out", "run", "--quiet", "--json"]].concat(),
    )
    .ok();
    assert!(
        train.err.contains("2 graphs without a label are left out"),
        "{}",
        train.err
    );
    assert_eq!(train.summary()["unlabelled"], 2);
    let predict = |data: &str| {
        let ended = egg(
            place.path(),
            &["predict", "--model", "run", "--data", data, "--json"],
        );
        ended.ok()
    };
    let all = predict("graphs");
    assert_eq!((all.json().len(), all.err.as_str()), (41, ""));
    let edges: String = (0..30).map(|leaf| format!("x,hub,leaf{leaf}\n")).collect();
    write(
        place.path(),
        "new/edges.csv",
        &format!("graph,source,target\n{edges}"),
    );
    let new = predict("new");
    assert!(new.err.contains("1 node with more than"), "{}", new.err);
    assert_eq!(new.summary()["degrees_clamped"], 1);
}
