//! The example that lays out the paper's maps, on data of its own.

use std::path::Path;

use serde_json::Value;

// The example itself; its `main` is not called here.
#[expect(dead_code, reason = "a program")]
#[path = "../../examples/maps/main.rs"]
mod program;

fn record(path: &Path, words: &str) -> Value {
    let words = words.split_whitespace().map(String::from);
    let out = ["--record".to_owned(), path.display().to_string()];
    program::run(words.chain(out)).unwrap();
    let mut record: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    record["about"]["seconds"] = Value::Null;
    record
}

fn numbers(value: &Value) -> Vec<i64> {
    value
        .as_array()
        .unwrap()
        .iter()
        .map(|number| number.as_i64().unwrap())
        .collect()
}

#[test]
fn maps_have_a_place_for_every_point_and_are_repeated() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deeper/maps.json");
    for (words, points, names) in [
        (
            "graphs 40 gcn --epochs 1 --points 30",
            30,
            vec!["GCN-EGG, untrained", "GCN-EGG, trained"],
        ),
        (
            "graphs 40 gin --epochs 1",
            40,
            vec!["GIN-EGG, trained, its layers side by side"],
        ),
        (
            "nodes 200 --epochs 2 --points 50",
            50,
            vec!["H, means of the VGAE", "EGG(0.8) of H"],
        ),
    ] {
        let first = record(&path, words);
        let maps = first["maps"].as_array().unwrap();
        let found: Vec<&str> = maps.iter().map(|map| map["name"].as_str().unwrap()).collect();
        assert_eq!(found, names);
        assert_eq!(numbers(&first["classes"]).len(), points);
        for map in maps {
            let (x, y) = (numbers(&map["x"]), numbers(&map["y"]));
            assert_eq!((x.len(), y.len()), (points, points));
            // One scale for both: the longer side is filled.
            assert!(x.iter().chain(&y).all(|place| (0..=1000).contains(place)));
            assert!(
                [x, y]
                    .iter()
                    .any(|side| side.contains(&0) && side.contains(&1000))
            );
            for share in ["right", "right_in_map"] {
                assert!((0.0..=1.0).contains(&map[share].as_f64().unwrap()));
            }
        }
        assert!(first["about"]["fingerprint"].as_str().unwrap().len() == 64);
        assert_eq!(record(&path, words), first, "{words}");
    }
    // The layers of GIN side by side are four times as wide as GCN's one.
    assert_eq!(
        record(&path, "graphs 40 gin --epochs 1")["maps"][0]["columns"],
        4 * 528
    );
}

#[test]
fn what_is_not_understood_makes_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("maps.json");
    for words in [
        "",
        "graphs 40",
        "graphs 40 gat",
        "nodes 200 --epochs many",
        "edges 3",
    ] {
        let words = words.split_whitespace().map(String::from);
        let out = ["--record".to_owned(), path.display().to_string()];
        assert!(program::run(words.chain(out)).is_err());
    }
    assert!(program::run(["nodes".to_owned(), "60".to_owned()].into_iter()).is_err());
    assert!(!path.exists());
}
