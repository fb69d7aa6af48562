//! `egg predict` and `egg embed`.

use approx::{abs_diff_eq, assert_abs_diff_eq};
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
    assert_abs_diff_eq!(sum, 1.0, epsilon = 1e-9);
    assert!(ended.summary()["mean"].is_null());
    let csv = std::fs::read_to_string(at("out/new.csv")).unwrap();
    assert_eq!(csv.lines().next(), Some("graph,label,p(ring),p(star)"));
    assert_eq!(csv.lines().count(), 8);

    // Stars and rings are easily message apart.
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
    assert!(
        first > 0.5 && abs_diff_eq!(first, first.round(), epsilon = 1e-3),
        "{first}"
    );
}

#[test]
fn mismatched_inputs_are_refused() {
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
    embed(&["--data", "demo:covariance"]).refused(1, &["COVARIANCE: its feature columns have no names"]);
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

/// A model knows its columns by their names, and classes by theirs; what it has not seen
/// is counted, and the measure is the one that it was trained for.
#[test]
fn predictions_match_columns_and_classes_by_name() {
    let place = place();
    rings_and_stars(place.path(), "graphs", 40, true);
    let train = |data: &str, out: &str| {
        let words = [
            "train", "--data", data, "--pool", "sum", "--hidden", "8", "--reps", "1", "--epochs", "10",
            "--out", out,
        ];
        egg(place.path(), &words).ok()
    };
    train("graphs", "run");
    let predict = |data: &str| {
        let words = ["predict", "--model", "run", "--data", data, "--json"];
        egg(place.path(), &words).ok()
    };
    let labels = |ended: &crate::program::Ended| {
        let of = |object: &serde_json::Value| object["probabilities"].clone();
        let mut objects = ended.json();
        objects.pop();
        objects.iter().map(of).collect::<Vec<_>>()
    };
    let expected = predict("graphs");
    assert_eq!(expected.summary()["metric"], "accuracy");
    // The same columns in another order.
    let nodes = std::fs::read_to_string(place.path().join("graphs/nodes.csv")).unwrap();
    let turned: String = nodes
        .lines()
        .map(|line| {
            let fields: Vec<&str> = line.split(',').collect();
            format!(
                "{},{},{},{},{}\n",
                fields[4], fields[0], fields[3], fields[1], fields[2]
            )
        })
        .collect();
    for name in ["edges", "graphs"] {
        let text = std::fs::read_to_string(place.path().join(format!("graphs/{name}.csv"))).unwrap();
        write(place.path(), &format!("turned/{name}.csv"), &text);
        write(place.path(), &format!("other/{name}.csv"), &text);
    }
    write(place.path(), "turned/nodes.csv", &turned);
    write(place.path(), "other/nodes.csv", &nodes.replace("noise", "charge"));
    assert_eq!(labels(&predict("turned")), labels(&expected));
    egg(place.path(), &["predict", "--model", "run", "--data", "other"])
        .refused(1, &["other: column `noise` is missing", "charge"]);

    // Numbers: the measure is the root of the mean squared error.
    let graphs = std::fs::read_to_string(place.path().join("graphs/graphs.csv")).unwrap();
    write(
        place.path(),
        "turned/graphs.csv",
        &graphs
            .replace("star", "1.5")
            .replace("g7,ring", "g7,NA")
            .replace("ring", "-0.25"),
    );
    let trained = train("turned", "numbers");
    assert!(trained.err.contains("1 graph without a label"), "{}", trained.err);
    let words = ["predict", "--model", "numbers", "--data", "turned", "--json"];
    let summary = egg(place.path(), &words).ok().summary();
    assert_eq!(summary["metric"], "rmse");
    assert!(summary["mean"].as_f64().unwrap() < 2.0);
}

/// Labels of a part of a TU data set mean what they meant in training.
#[test]
fn a_part_of_a_tu_data_set_is_predicted_by_a_model_of_the_whole() {
    let place = place();
    let tu = |name: &str, graphs: std::ops::Range<usize>, strange: bool| {
        let (mut edges, mut indicator) = (String::new(), String::new());
        let (mut labels, mut classes) = (String::new(), String::new());
        let mut first = 1;
        for (at, graph) in graphs.enumerate() {
            let size = 4 + graph % 3;
            for node in 0..size {
                edges += &format!("{}, {}\n", first + node, first + (node + 1) % size);
                indicator += &format!("{}\n", at + 1);
                let label = if graph < 20 { 2 + node % 2 } else { 5 + node % 3 };
                labels += &format!("{}\n", if strange && node == 0 { 9 } else { label });
            }
            classes += &format!("{}\n", size % 2);
            first += size;
        }
        let files: [(&str, String); 4] = [
            ("A", edges),
            ("graph_indicator", indicator),
            ("node_labels", labels),
            ("graph_labels", classes),
        ];
        for (part, text) in files {
            write(place.path(), &format!("{name}/{name}_{part}.txt"), &text);
        }
    };
    tu("WHOLE", 0..40, false);
    tu("PART", 20..40, false);
    tu("STRANGE", 0..4, true);
    let words = [
        "train", "--data", "WHOLE", "--pool", "egg", "--hidden", "8", "--reps", "1", "--epochs", "5",
        "--out", "run",
    ];
    egg(place.path(), &words).ok();
    let predict = |data: &str| {
        egg(
            place.path(),
            &["predict", "--model", "run", "--data", data, "--json"],
        )
        .ok()
    };
    let probabilities = |ended: &crate::program::Ended| {
        let mut objects = ended.json();
        objects.pop();
        let of = |object: &serde_json::Value| object["probabilities"][0].as_f64().unwrap();
        objects.iter().map(of).collect::<Vec<f64>>()
    };
    let whole = probabilities(&predict("WHOLE"));
    let part = probabilities(&predict("PART"));
    for (a, b) in whole[20..].iter().zip(&part) {
        assert_abs_diff_eq!(a, b, epsilon = 1e-5);
    }
    let strange = predict("STRANGE");
    assert!(
        strange
            .err
            .contains("4 nodes with node label = 9, which the model was not trained with"),
        "{}",
        strange.err
    );
    assert_eq!(strange.summary()["nodes_unseen"], 4);
}
