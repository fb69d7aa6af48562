//! Cora, Citeseer and Pubmed in the Planetoid release's files.

use std::fs;
use std::path::Path;

use egg_graph::{Error, GraphDataset, ReadOptions, SelfLoops, read_planetoid};

use crate::real_data;

struct Counts {
    name: &'static str,
    nodes: usize,
    edges: usize,
    listed: u64,
    self_loops: u64,
    features: usize,
    nonzeros: usize,
    class_sizes: &'static [usize],
    train: usize,
    known: usize,
}

const COUNTS: [Counts; 3] = [
    Counts {
        name: "Cora",
        nodes: 2708,
        edges: 5278,
        listed: 10_858,
        self_loops: 0,
        features: 1433,
        nonzeros: 49_216,
        class_sizes: &[351, 217, 418, 818, 426, 298, 180],
        train: 140,
        known: 1708,
    },
    Counts {
        name: "Citeseer",
        nodes: 3327,
        edges: 4552,
        listed: 9464,
        self_loops: 124,
        features: 3703,
        nonzeros: 105_165,
        class_sizes: &[249, 590, 668, 701, 596, 508],
        train: 120,
        known: 2312,
    },
    Counts {
        name: "Pubmed",
        nodes: 19_717,
        edges: 44_324,
        listed: 88_676,
        self_loops: 3,
        features: 500,
        nonzeros: 988_031,
        class_sizes: &[4103, 7739, 7875],
        train: 60,
        known: 18_717,
    },
];

#[test]
fn the_counts_are_those_of_the_release() {
    let Some(folder) = real_data::find("planetoid") else {
        return;
    };
    for counts in COUNTS {
        let dataset = read_planetoid(&folder, counts.name, &ReadOptions::default()).unwrap();
        let name = counts.name;
        assert_eq!(dataset.name(), name);
        assert_eq!(dataset.len(), 1);
        assert_eq!(dataset.node_count(), counts.nodes, "{name}");
        assert_eq!(dataset.edge_count(), counts.edges, "{name}");
        assert_eq!(dataset.notes().listed, counts.listed, "{name}");
        assert_eq!(dataset.notes().self_loops, counts.self_loops, "{name}");
        assert_eq!(dataset.features().width(), counts.features, "{name}");
        assert_eq!(dataset.features().nonzeros(), counts.nonzeros, "{name}");
        assert!(dataset.features().as_sparse().is_some(), "{name}");
        let labels = dataset.node_labels().unwrap();
        assert_eq!(labels.class_sizes(), counts.class_sizes, "{name}");
        let split = dataset.split().unwrap();
        assert!(split.train.iter().copied().eq(0..counts.train), "{name}");
        assert!(
            split
                .validation
                .iter()
                .copied()
                .eq(counts.train..counts.train + 500),
            "{name}"
        );
        assert_eq!(split.test.len(), 1000, "{name}");
        assert!(split.test.is_sorted() && split.test[0] == counts.known, "{name}");
        assert!(
            split.test.iter().all(|node| labels.get(*node).is_some()),
            "{name}"
        );
        // Twenty of each class are for training.
        let mut sizes = vec![0; labels.class_count()];
        for node in &split.train {
            sizes[labels.get(*node).unwrap() as usize] += 1;
        }
        assert!(sizes.iter().all(|size| *size == 20), "{name}: {sizes:?}");

        let kept = ReadOptions {
            self_loops: SelfLoops::Keep,
            ..ReadOptions::default()
        };
        let kept = read_planetoid(&folder, name, &kept).unwrap();
        assert_eq!(kept.edge_count(), counts.edges);
        let loops = kept.graph(0).unwrap().to_graph().self_loop_count();
        assert_eq!(loops as u64, counts.self_loops);
    }
}

#[test]
fn citeseer_has_fifteen_nodes_without_features_and_label() {
    let Some(folder) = real_data::find("planetoid") else {
        return;
    };
    let dataset = read_planetoid(&folder, "citeseer", &ReadOptions::default()).unwrap();
    let labels = dataset.node_labels().unwrap();
    let split = dataset.split().unwrap();
    let features = dataset.features().as_sparse().unwrap();
    let unknown: Vec<usize> = (0..3327).filter(|node| labels.get(*node).is_none()).collect();
    assert_eq!(unknown.len(), 15);
    for node in unknown {
        assert_eq!(features.row(node).len(), 0);
        // They are often called isolated, but each has a neighbour, one has two.
        let degree = dataset.graph(0).unwrap().degree(node);
        assert_eq!(degree, 1 + usize::from(node == 3212));
        assert!(!split.test.contains(&node));
    }
}

/// Sums that depend on where every entry is, made with NumPy and SciPy: the
/// pickles loaded with `encoding='latin1'`, `tx` placed at `test.index` in a
/// LIL matrix F, classes by `argmax` in Y (-1 if unknown), neighbours set in
/// both directions in A without its diagonal; then `(arange(n) * A.sum(1)).sum()`,
/// `(arange(n) * Y)[Y >= 0].sum()`, `F.tocoo().col.sum()`, `F.tocoo().row.sum()`.
#[test]
fn the_values_are_those_that_scipy_reads() {
    let Some(folder) = real_data::find("planetoid") else {
        return;
    };
    for (name, degrees, classes, columns, rows) in [
        ("Cora", 13_820_218, 10_506_393, 39_016_843, 66_204_708),
        ("Citeseer", 14_854_896, 14_890_602, 191_362_100, 174_708_694),
        ("Pubmed", 864_444_687, 231_019_752, 184_613_746, 9_719_781_859),
    ] {
        let dataset = read_planetoid(&folder, name, &ReadOptions::default()).unwrap();
        let view = dataset.graph(0).unwrap();
        let labels = dataset.node_labels().unwrap();
        let features = dataset.features().as_sparse().unwrap();
        let (mut found, nodes) = ([0usize; 4], dataset.node_count());
        for node in 0..nodes {
            found[0] += node * view.degree(node);
            found[1] += node * labels.get(node).unwrap_or(0) as usize;
            for (column, _) in features.row(node) {
                found[2] += column;
                found[3] += node;
            }
        }
        assert_eq!(found, [degrees, classes, columns, rows], "{name}");
    }
    // The first test node of Pubmed, and the sum of all features.
    let pubmed = read_planetoid(&folder, "Pubmed", &ReadOptions::default()).unwrap();
    let features = pubmed.features().as_sparse().unwrap();
    let first: Vec<(usize, f32)> = features.row(18_747).take(3).collect();
    assert_eq!(first, [(2, 0.019_343_76), (7, 0.014_437_437), (9, 0.017_186_409)]);
    let sum: f64 = features.values().iter().map(|value| f64::from(*value)).sum();
    approx::assert_relative_eq!(sum, 38_716.295_094_509_38, max_relative = 1e-12);
    assert_eq!(pubmed.node_labels().unwrap().get(18_747), Some(1));
}

/// A folder with a data set of five nodes: three known, of which one is for
/// training, one for testing (node 4), and node 3 of which nothing is known.
/// The files were written by hand, in the instructions that the release's use.
struct Small(tempfile::TempDir);

impl Small {
    fn new() -> Self {
        let small = Self(tempfile::tempdir().unwrap());
        small.write("x", &csr(1, 2, &[0, 1], &[0], &[1.0]));
        small.write("allx", &csr(3, 2, &[0, 1, 1, 3], &[0, 1, 0], &[1.0, 3.0, 2.0]));
        small.write("tx", &csr(1, 2, &[0, 1], &[1], &[5.0]));
        small.write("y", &array(&[1, 2], &[1, 0]));
        small.write("ally", &array(&[3, 2], &[1, 0, 0, 1, 1, 0]));
        small.write("ty", &array(&[1, 2], &[0, 1]));
        small.write(
            "graph",
            &graph(&[(2, &[1, 4]), (0, &[1, 1]), (4, &[2, 4]), (1, &[0, 2]), (3, &[])]),
        );
        small.write("test.index", b"4\n");
        small
    }

    fn write(&self, part: &str, bytes: &[u8]) {
        fs::write(self.path(part), bytes).unwrap();
    }

    fn path(&self, part: &str) -> std::path::PathBuf {
        self.0.path().join(format!("ind.small.{part}"))
    }

    fn read(&self) -> Result<GraphDataset, Error> {
        read_planetoid(self.0.path(), "Small", &ReadOptions::default())
    }
}

const RECONSTRUCT: &[u8] = b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R";

fn small_int(value: i64) -> Vec<u8> {
    let mut bytes = vec![0x8a, 8];
    bytes.extend(value.to_le_bytes());
    bytes
}

fn body(shape: &[i64], notation: &[u8; 2], data: &[u8]) -> Vec<u8> {
    let mut bytes = RECONSTRUCT.to_vec();
    bytes.extend(b"(K\x01(");
    for length in shape {
        bytes.extend(small_int(*length));
    }
    bytes.extend(b"tcnumpy\ndtype\nU\x02");
    bytes.extend(notation);
    bytes.extend(b"K\x00K\x01\x87R(K\x03U\x01<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89T");
    bytes.extend(i32::try_from(data.len()).unwrap().to_le_bytes());
    bytes.extend(data);
    bytes.extend(b"tb");
    bytes
}

fn array(shape: &[i64], values: &[i32]) -> Vec<u8> {
    let data: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    [b"\x80\x02", &body(shape, b"i4", &data)[..], b"."].concat()
}

fn csr(rows: i64, columns: i64, offsets: &[i32], ids: &[i32], values: &[f32]) -> Vec<u8> {
    let bytes = |values: &[i32]| {
        values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect::<Vec<u8>>()
    };
    let data: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let length = |list: usize| i64::try_from(list).unwrap();
    [
        b"\x80\x02cscipy.sparse.csr\ncsr_matrix\n)\x81}(U\x06_shape",
        &small_int(rows)[..],
        &small_int(columns),
        b"\x86U\x06indptr",
        &body(&[length(offsets.len())], b"i4", &bytes(offsets)),
        b"U\x07indices",
        &body(&[length(ids.len())], b"i4", &bytes(ids)),
        b"U\x04data",
        &body(&[length(values.len())], b"f4", &data),
        b"ub.",
    ]
    .concat()
}

fn graph(lists: &[(i64, &[i64])]) -> Vec<u8> {
    let mut bytes = b"\x80\x02ccollections\ndefaultdict\nc__builtin__\nlist\n\x85R(".to_vec();
    for (node, neighbours) in lists {
        bytes.extend(small_int(*node));
        bytes.extend(b"](");
        for neighbour in *neighbours {
            bytes.extend(small_int(*neighbour));
        }
        bytes.push(b'e');
    }
    bytes.extend(b"u.");
    bytes
}

#[test]
fn small_data_set_matches_hand_calculation() {
    let dataset = Small::new().read().unwrap();
    assert_eq!((dataset.name(), dataset.node_count()), ("Small", 5));
    let view = dataset.graph(0).unwrap();
    assert_eq!(view.edges().collect::<Vec<_>>(), [(0, 1), (1, 2), (2, 4)]);
    let notes = dataset.notes();
    assert_eq!(
        (notes.listed, notes.duplicates, notes.self_loops, notes.one_way),
        (8, 1, 1, 0)
    );
    assert_eq!(
        dataset.features().to_dense(),
        ndarray::array![[1.0, 0.0], [0.0, 0.0], [2.0, 3.0], [0.0, 0.0], [0.0, 5.0]]
    );
    let labels: Vec<Option<u32>> = dataset.node_labels().unwrap().iter().collect();
    assert_eq!(labels, [Some(0), Some(1), Some(0), None, Some(1)]);
    let split = dataset.split().unwrap();
    assert_eq!(
        (&split.train[..], &split.validation[..], &split.test[..]),
        (&[0][..], &[1, 2][..], &[4][..])
    );
}

#[test]
fn every_truncation_of_every_file_is_refused() {
    let small = Small::new();
    for part in ["x", "y", "allx", "ally", "tx", "ty", "graph", "test.index"] {
        let whole = fs::read(small.path(part)).unwrap();
        // The last line of a text need not end.
        let shortest = whole.len() - usize::from(part == "test.index");
        for length in 0..shortest {
            small.write(part, &whole[..length]);
            match small.read() {
                Err(Error::Binary { file, offset, .. }) => {
                    assert_eq!(file, small.path(part));
                    assert!(offset <= length as u64);
                }
                Err(Error::Line { file, .. }) if part == "test.index" => assert_eq!(file, small.path(part)),
                other => panic!("{part} cut at {length}: {other:?}"),
            }
        }
        small.write(part, &whole);
    }
    assert!(small.read().is_ok());
}

#[test]
fn flipped_bytes_do_not_panic() {
    let small = Small::new();
    for part in ["allx", "ally", "graph"] {
        let whole = fs::read(small.path(part)).unwrap();
        for at in 0..whole.len() {
            for flip in [0x01, 0x80, 0xff] {
                let mut bytes = whole.clone();
                bytes[at] ^= flip;
                small.write(part, &bytes);
                let _ = small.read();
            }
        }
        small.write(part, &whole);
    }
}

#[test]
fn contradictory_content_is_refused_with_the_file() {
    let huge = i64::MAX;
    let cases: Vec<(&str, Vec<u8>, &str)> = vec![
        (
            "graph",
            graph(&[(0, &[1]), (1, &[0]), (2, &[]), (3, &[]), (4, &[5])]),
            "neighbour 5",
        ),
        (
            "graph",
            graph(&[(0, &[-1]), (1, &[]), (2, &[]), (3, &[]), (4, &[])]),
            "neighbour -1",
        ),
        (
            "graph",
            graph(&[(0, &[huge]), (1, &[]), (2, &[]), (3, &[]), (4, &[])]),
            "9223372036854775807",
        ),
        (
            "graph",
            graph(&[(0, &[]), (1, &[]), (2, &[]), (4, &[])]),
            "4 is not a node",
        ),
        (
            "graph",
            graph(&[(0, &[]), (0, &[]), (2, &[]), (3, &[]), (4, &[])]),
            "node 0 is there twice",
        ),
        ("graph", graph(&[(0, &[]), (1, &[])]), "allx"),
        ("graph", array(&[1], &[1]), "dict"),
        (
            "graph",
            b"\x80\x02}K\x00K\x01s.".to_vec(),
            "a whole number for its neighbours",
        ),
        ("allx", array(&[1], &[1]), "CSR matrix"),
        (
            "allx",
            csr(3, 2, &[0, 1, 1, 3], &[0, 2, 0], &[1.0, 3.0, 2.0]),
            "column 2",
        ),
        (
            "allx",
            csr(3, 2, &[0, 1, 1, 3], &[0, -1, 0], &[1.0, 3.0, 2.0]),
            "negative",
        ),
        (
            "allx",
            csr(3, 2, &[0, 4, 1, 3], &[0, 1, 0], &[1.0, 3.0, 2.0]),
            "row 0",
        ),
        (
            "allx",
            csr(3, 2, &[0, 1, 3], &[0, 1, 0], &[1.0, 3.0, 2.0]),
            "row positions",
        ),
        (
            "allx",
            csr(3, 2, &[0, 1, 1, 3], &[0, 1, 0], &[1.0, f32::NAN, 2.0]),
            "finite",
        ),
        (
            "allx",
            csr(3, huge, &[0, 1, 1, 3], &[0, 1, 0], &[1.0, 3.0, 2.0]),
            "columns",
        ),
        (
            "allx",
            csr(huge, 2, &[0, 1, 1, 3], &[0, 1, 0], &[1.0, 3.0, 2.0]),
            "row positions",
        ),
        ("x", csr(1, 3, &[0, 1], &[0], &[1.0]), "features"),
        ("ally", array(&[2, 2], &[1, 0, 0, 1]), "rows of classes"),
        (
            "ally",
            array(&[3, 2], &[1, 1, 0, 1, 1, 0]),
            "row 0 has more than one class",
        ),
        ("ally", array(&[6], &[1, 0, 0, 1, 1, 0]), "expected a matrix"),
        ("ally", array(&[1 << 40, 1 << 40], &[1]), "does not fit"),
    ];
    for (part, bytes, words) in cases {
        let small = Small::new();
        small.write(part, &bytes);
        let error = small.read().unwrap_err().to_string();
        assert!(error.contains(words), "{words}: {error}");
        assert!(error.contains("ind.small."), "{error}");
    }
    let small = Small::new();
    small.write("x", &csr(4, 2, &[0, 0, 0, 0, 0], &[], &[]));
    small.write("y", &array(&[4, 2], &[0; 8]));
    let error = small.read().unwrap_err().to_string();
    assert!(error.contains("which begins with them"), "{error}");
}

#[test]
fn a_bad_test_index_is_refused_with_the_line() {
    for (text, line, words) in [
        ("", 0, "0 lines"),
        ("5\n", 1, "between 3 and 4"),
        ("2\n", 1, "between 3 and 4"),
        ("-1\n", 1, "between 3 and 4"),
        ("9223372036854775808\n", 1, "between 3 and 4"),
        ("four\n", 1, "not a whole number"),
        ("4\n3\n", 2, "2 lines"),
        ("4\n4\n", 2, "listed twice"),
        ("4\n\n3\n", 2, "blank"),
    ] {
        let small = Small::new();
        small.write("test.index", text.as_bytes());
        match small.read() {
            Err(error @ Error::Line { line: found, .. }) => {
                assert_eq!(found, line, "{text:?}");
                assert!(error.to_string().contains(words), "{error}");
            }
            other => panic!("{text:?}: {other:?}"),
        }
    }
    let small = Small::new();
    small.write("test.index", b"04\r\n\n\n");
    assert!(small.read().is_ok());
}

#[test]
fn missing_file_is_named() {
    let small = Small::new();
    fs::remove_file(small.path("ty")).unwrap();
    assert!(matches!(small.read(), Err(Error::Missing { file, .. }) if file == small.path("ty")));
    let nowhere = read_planetoid(Path::new("nowhere"), "cora", &ReadOptions::default());
    assert!(matches!(nowhere, Err(Error::Missing { .. })));
    let limited = ReadOptions {
        max_bytes: 100,
        ..ReadOptions::default()
    };
    let small = Small::new();
    let refused = read_planetoid(small.0.path(), "small", &limited);
    assert!(matches!(refused, Err(Error::OverLimit { limit: 100, .. })));
}

#[test]
fn shared_neighbour_list_is_limited() {
    let small = Small::new();
    // { 0: L, 1: L, ... } with L = [0, 1, ...]: nodes^2 neighbours in 12 bytes a node.
    let nodes = 300u16;
    let mut bytes = b"\x80\x02}(".to_vec();
    for node in 0..nodes {
        bytes.push(b'M');
        bytes.extend(node.to_le_bytes());
        if node == 0 {
            bytes.extend(b"]q\x00(");
            for other in 0..nodes {
                bytes.push(b'M');
                bytes.extend(other.to_le_bytes());
            }
            bytes.push(b'e');
        } else {
            bytes.extend(b"h\x00");
        }
    }
    bytes.extend(b"u.");
    small.write("graph", &bytes);
    let refused = small.read().unwrap_err();
    assert!(matches!(refused, Error::OverLimit { .. }), "{refused}");
}

#[test]
fn arrays_made_of_one_string_are_charged_for_each_copy() {
    // A protocol 0 string, memoised, that a hundred arrays take as their data.
    let mut bytes = [b"S'", &vec![b'a'; 8000][..], b"'\np0\n("].concat();
    for _ in 0..100 {
        let mut array = body(&[8000], b"u1", b"");
        // In place of the empty string at its end, the memoised one.
        array.truncate(array.len() - b"T\0\0\0\0tb".len());
        bytes.extend(array);
        bytes.extend(b"g0\ntb");
    }
    bytes.extend(b"l.");
    let read = |max_bytes| {
        let options = ReadOptions {
            max_bytes,
            ..ReadOptions::default()
        };
        egg_graph::pickle::Pickle::from_bytes(bytes.clone(), "shared".as_ref(), &options)
    };
    read(10_000_000).unwrap();
    let refused = read(400_000).unwrap_err().to_string();
    assert!(refused.contains("higher limit"), "{refused}");
}
