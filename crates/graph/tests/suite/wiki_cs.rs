//! Small files of Wiki-CS's shape; the data set itself is not available.

use std::fs;

use egg_graph::{Error, ReadOptions, WikiCs, read_wiki_cs, read_wiki_cs_splits};
use serde_json::{Value, json};

/// Four nodes, two splits.
fn small() -> Value {
    json!({
        "features": [[0.5, 1], [-2e-3, 0], [0, 0], [1, 1]],
        "labels": [3, 0, 3, 1],
        "links": [[1, 2, 1], [0], [], [3, 0]],
        "node_ids": ["ignored"],
        "train_masks": [[true, false, false, false], [0, 1, 0, 0]],
        "val_masks": [[false, true, false, false], [true, false, false, false]],
        "stopping_masks": [[false, false, true, false], [false, false, true, false]],
        "test_mask": [false, false, false, true],
    })
}

fn read_text(text: &[u8]) -> Result<WikiCs, Error> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.json");
    fs::write(&path, text).unwrap();
    read_wiki_cs_splits(&path, &ReadOptions::default())
}

fn read(content: &Value) -> Result<WikiCs, Error> {
    read_text(content.to_string().as_bytes())
}

#[test]
fn small_file_matches_hand_calculation() {
    let wiki = read(&small()).unwrap();
    let dataset = &wiki.dataset;
    assert_eq!(dataset.name(), "Wiki-CS");
    assert_eq!(
        dataset.graph(0).unwrap().edges().collect::<Vec<_>>(),
        [(0, 1), (0, 2), (0, 3)]
    );
    let notes = dataset.notes();
    assert_eq!(
        (notes.listed, notes.duplicates, notes.one_way, notes.self_loops),
        (6, 1, 2, 1)
    );
    assert_eq!(
        dataset.features().to_dense(),
        ndarray::array![[0.5, 1.0], [-2e-3, 0.0], [0.0, 0.0], [1.0, 1.0]]
    );
    assert_eq!(dataset.node_labels().unwrap().class_sizes(), [1, 1, 2]);
    assert_eq!(dataset.split(), wiki.splits.first());
    assert_eq!(
        (&wiki.splits[0].train[..], &wiki.splits[1].train[..]),
        (&[0][..], &[1][..])
    );
    assert_eq!(
        (&wiki.splits[1].validation[..], &wiki.splits[1].test[..]),
        (&[0][..], &[3][..])
    );
    assert_eq!(wiki.stopping, [[2], [2]]);
    let other = wiki.dataset.clone().with_split(wiki.splits[1].clone()).unwrap();
    assert_eq!(other.split().unwrap().train, [1]);
}

#[test]
fn every_truncation_is_refused_with_the_line() {
    let text = small().to_string();
    for length in 0..text.len() {
        match read_text(&text.as_bytes()[..length]) {
            Err(Error::Line { line, file, .. }) => {
                assert!(line <= 1 && file.ends_with("data.json"));
            }
            other => panic!("cut at {length}: {other:?}"),
        }
    }
}

#[test]
fn invalid_json_is_refused_with_its_problem() {
    for (key, value, words) in [
        (
            "features",
            json!([[1, 2], [3], [4, 5], [6, 7]]),
            "row 1 has 1 features",
        ),
        (
            "features",
            json!([[1, 2], ["x", 3], [4, 5], [6, 7]]),
            "invalid type",
        ),
        ("features", json!([[1, 2]]), "features has 1 rows"),
        ("features", json!([[1e300, 2], [1, 2], [1, 2], [1, 2]]), ""),
        ("labels", json!([1, 2, 3]), "labels has 3 rows"),
        ("labels", json!([1, 2, 3, 1.5]), "invalid type"),
        ("links", json!([[1], [0], [4], []]), "node 2 links to 4"),
        ("links", json!([[1], [0], [-1], []]), "node 2 links to -1"),
        (
            "links",
            json!([[1], [0], [9_223_372_036_854_775_808u64], []]),
            "integer",
        ),
        ("links", json!([[1], [0]]), "but links has 2 nodes"),
        ("links", json!([[1], [0], 3, []]), "invalid type"),
        ("train_masks", json!([]), "0"),
        ("train_masks", json!([[true], [true]]), "train_masks has 1 rows"),
        (
            "train_masks",
            json!([[2, 0, 0, 0], [0, 0, 0, 0]]),
            "true, false, 1 or 0",
        ),
        (
            "val_masks",
            json!([[false, false, false, false]]),
            "val_masks has 1 splits",
        ),
        ("test_mask", json!([true, false, false, true]), "split 1"),
        ("test_mask", json!([true]), "test_mask has 1 rows"),
    ] {
        let mut content = small();
        content[key] = value;
        let error = read(&content).unwrap_err().to_string();
        assert!(error.contains(words), "{key}: {error}");
        assert!(error.contains("data.json"), "{error}");
    }
    let mut lacking = small();
    lacking.as_object_mut().unwrap().remove("links");
    let error = read(&lacking).unwrap_err().to_string();
    assert!(error.contains("missing field `links`"), "{error}");
    let error = read_text(b"{\n\"labels\": [1,\n 2, NaN]}").unwrap_err();
    assert!(matches!(error, Error::Line { line: 3, .. }), "{error}");
    assert!(error.to_string().contains("column"), "{error}");
}

#[test]
fn file_size_is_limited() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.json");
    fs::write(&path, small().to_string()).unwrap();
    let options = ReadOptions {
        max_bytes: 50,
        ..ReadOptions::default()
    };
    assert!(matches!(
        read_wiki_cs(&path, &options),
        Err(Error::OverLimit { .. })
    ));
    assert!(read_wiki_cs(&path, &ReadOptions::default()).is_ok());
    assert!(matches!(
        read_wiki_cs("nowhere.json".as_ref(), &ReadOptions::default()),
        Err(Error::Io { .. })
    ));
}
