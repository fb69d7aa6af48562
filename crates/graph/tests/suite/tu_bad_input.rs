//! TU files that are wrong: a typed error with file and line, never a panic.

use egg_graph::{Error, LineProblem, ReadOptions, read_tu};
use proptest::prelude::*;

use crate::tu::read;

const GOOD: [(&str, &str); 7] = [
    ("A", "1, 2\n2, 1\n3, 4\n4, 3\n"),
    ("graph_indicator", "1\n1\n2\n2\n"),
    ("graph_labels", "1\n-1\n"),
    ("node_labels", "0\n1\n2\n1\n"),
    ("node_attributes", "0.5, 1\n1.5, 2\n2.5, 3\n3.5, 4\n"),
    ("edge_labels", "0\n0\n1\n1\n"),
    ("edge_attributes", "1.5\n1.5\n2.5\n2.5\n"),
];

fn with(part: &str, text: &str) -> Error {
    let mut parts = GOOD;
    for entry in &mut parts {
        if entry.0 == part {
            entry.1 = text;
        }
    }
    let options = ReadOptions {
        node_features: egg_graph::NodeFeatures::Both,
        ..ReadOptions::default()
    };
    read(&parts, &options).expect_err(text)
}

/// The line and the problem, after checking that the file is named.
fn problem(part: &str, text: &str) -> (u64, LineProblem) {
    match with(part, text) {
        Error::Line { file, line, problem } => {
            let name = file.file_name().unwrap().to_string_lossy().into_owned();
            assert_eq!(name, format!("T_{part}.txt"));
            (line, problem)
        }
        other => panic!("{part} {text:?}: {other}"),
    }
}

#[test]
fn valid_files_are_read() {
    assert!(read(&GOOD, &ReadOptions::default()).is_ok());
}

/// A file, its text, the line at fault, and what should be said of it.
type Case = (&'static str, &'static str, u64, fn(&LineProblem) -> bool);

#[test]
fn each_mistake_is_named_with_its_line() {
    use LineProblem::{AcrossGraphs, Blank, FieldCount, LineCount, NotANumber, OutOfRange};
    let cases: [Case; 25] = [
        ("A", "1, 2\n2, x\n", 2, |p| matches!(p, NotANumber { .. })),
        ("A", "1, 2\n2\n", 2, |p| {
            matches!(
                p,
                FieldCount {
                    expected: 2,
                    found: 1
                }
            )
        }),
        ("A", "1, 2, 3\n", 1, |p| {
            matches!(
                p,
                FieldCount {
                    expected: 2,
                    found: 3
                }
            )
        }),
        ("A", "1, 2\n\n3, 4\n", 2, |p| matches!(p, Blank)),
        ("A", "0, 1\n", 1, |p| {
            matches!(
                p,
                OutOfRange {
                    least: 1,
                    most: 4,
                    ..
                }
            )
        }),
        ("A", "1, 5\n", 1, |p| matches!(p, OutOfRange { .. })),
        ("A", "-1, 2\n", 1, |p| matches!(p, OutOfRange { .. })),
        ("A", "9223372036854775808, 2\n", 1, |p| {
            matches!(p, OutOfRange { .. } | NotANumber { .. })
        }),
        ("A", "99999999999999999999999, 2\n", 1, |p| {
            matches!(p, OutOfRange { .. } | NotANumber { .. })
        }),
        ("A", "1.0, 2\n", 1, |p| matches!(p, NotANumber { .. })),
        ("A", "1 2\n", 1, |p| matches!(p, FieldCount { .. })),
        ("A", "1, 2\n2, 1\n3, 2\n", 3, |p| {
            matches!(
                p,
                AcrossGraphs {
                    left: 3,
                    left_graph: 2,
                    right: 2,
                    right_graph: 1
                }
            )
        }),
        ("graph_indicator", "1\n1\n2\n3\n", 4, |p| {
            matches!(p, OutOfRange { most: 2, .. })
        }),
        ("graph_indicator", "1\n1\n2\n0\n", 4, |p| {
            matches!(p, OutOfRange { .. })
        }),
        ("graph_indicator", "1\n\n2\n2\n", 2, |p| matches!(p, Blank)),
        ("graph_indicator", "1\none\n2\n2\n", 2, |p| {
            matches!(p, NotANumber { .. })
        }),
        ("graph_labels", "1\nminus one\n", 2, |p| {
            matches!(p, NotANumber { .. })
        }),
        ("graph_labels", "1, 2\n-1\n", 1, |p| {
            matches!(p, FieldCount { .. })
        }),
        ("node_labels", "0\n1\n2\n", 3, |p| {
            matches!(
                p,
                LineCount {
                    expected: 4,
                    found: 3,
                    ..
                }
            )
        }),
        ("node_labels", "0\n1, 2\n2\n1\n", 2, |p| {
            matches!(p, FieldCount { .. })
        }),
        ("node_labels", "0\n1\n2\n1\n1\n", 5, |p| {
            matches!(p, LineCount { .. })
        }),
        ("node_attributes", "0.5, 1\n1.5\n2.5, 3\n3.5, 4\n", 2, |p| {
            matches!(p, FieldCount { .. })
        }),
        ("node_attributes", "0.5, 1\n1.5, NaN\n2.5, 3\n3.5, 4\n", 2, |p| {
            matches!(p, NotANumber { .. })
        }),
        ("edge_labels", "0\n0\n1\n", 3, |p| {
            matches!(p, LineCount { expected: 4, .. })
        }),
        ("edge_attributes", "1.5\n1.5\n2.5\ninf\n", 4, |p| {
            matches!(p, NotANumber { .. })
        }),
    ];
    for (part, text, line, expected) in cases {
        let (found, problem) = problem(part, text);
        assert!(expected(&problem), "{part} {text:?}: {problem:?}");
        assert_eq!(found, line, "{part} {text:?}: {problem}");
    }
}

#[test]
fn wide_label_range_is_refused_before_allocation() {
    let error = with("node_labels", "0\n1\n9000000000000000000\n-9000000000000000000\n").to_string();
    assert!(error.contains("node attributes"), "{error}");
    let error = with("node_labels", "0\n1\n2\n2000000\n").to_string();
    assert!(error.contains("one-hot"), "{error}");
}

#[test]
fn graph_id_beyond_the_nodes_is_refused() {
    let parts = [("A", ""), ("graph_indicator", "2000000000\n")];
    match read(&parts, &ReadOptions::default()).unwrap_err() {
        Error::Line {
            line: 1,
            problem: LineProblem::OutOfRange { most: 1, .. },
            ..
        } => {}
        other => panic!("{other}"),
    }
}

#[test]
fn missing_and_duplicate_files_are_refused() {
    for missing in ["A", "graph_indicator"] {
        let parts: Vec<_> = GOOD.into_iter().filter(|(part, _)| *part != missing).collect();
        let error = read(&parts, &ReadOptions::default()).unwrap_err();
        assert!(matches!(error, Error::Missing { .. }), "{error}");
    }
    let folder = tempfile::tempdir().unwrap();
    for name in ["X", "Y"] {
        std::fs::write(folder.path().join(format!("{name}_graph_indicator.txt")), "1\n").unwrap();
    }
    let error = read_tu(folder.path(), &ReadOptions::default())
        .unwrap_err()
        .to_string();
    assert!(error.contains("several data sets (X, Y)"), "{error}");
    let nowhere = read_tu(&folder.path().join("nowhere"), &ReadOptions::default());
    assert!(matches!(nowhere, Err(Error::Io { .. })));
    let no_zip = folder.path().join("no.zip");
    std::fs::write(&no_zip, "PK is not enough").unwrap();
    assert!(matches!(
        read_tu(&no_zip, &ReadOptions::default()),
        Err(Error::File { .. })
    ));
}

#[test]
fn byte_limits_are_enforced() {
    let options = ReadOptions {
        max_bytes: 10,
        ..ReadOptions::default()
    };
    assert!(matches!(
        read(&GOOD, &options),
        Err(Error::OverLimit { limit: 10, .. })
    ));
    let long = "1".repeat(2 << 20);
    let error = with("A", &long);
    let too_long = matches!(
        error,
        Error::Line {
            line: 1,
            problem: LineProblem::TooLong { .. },
            ..
        }
    );
    assert!(too_long, "{error}");
}

#[test]
fn truncation_is_an_error_or_a_smaller_data_set() {
    for (index, (part, text)) in GOOD.into_iter().enumerate() {
        for length in 0..text.len() {
            let mut parts = GOOD;
            parts[index] = (part, &text[..length]);
            // Whatever comes back, it came back.
            let _ = read(&parts, &ReadOptions::default());
        }
    }
}

proptest! {
    #[test]
    fn arbitrary_bytes_do_not_panic(
        part in 0..GOOD.len(),
        text in "[-0-9,. \n\r\texN+]{0,40}",
        raw in prop::collection::vec(any::<u8>(), 0..40),
        use_raw in any::<bool>(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        for (index, (name, good)) in GOOD.into_iter().enumerate() {
            let bytes = match index == part {
                true if use_raw => raw.clone(),
                true => text.clone().into_bytes(),
                false => good.as_bytes().to_vec(),
            };
            std::fs::write(folder.path().join(format!("T_{name}.txt")), bytes).unwrap();
        }
        let _ = read_tu(folder.path(), &ReadOptions::default());
    }
}

#[test]
fn an_indicator_without_nodes_is_refused() {
    for parts in [
        [("A", ""), ("graph_indicator", ""), ("graph_labels", "1\n2\n")],
        [("A", ""), ("graph_indicator", "\n\n"), ("graph_labels", "")],
    ] {
        let error = read(&parts, &ReadOptions::default()).unwrap_err().to_string();
        assert!(error.contains("T_graph_indicator.txt: is empty"), "{error}");
    }
}
