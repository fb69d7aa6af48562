//! ogbg-molhiv, and small folders of the same layout.

use std::fs;
use std::io::Write;
use std::path::Path;

use egg_graph::{Error, GraphDataset, ReadOptions, Targets, read_ogb};
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::real_data;

/// The sums were made with NumPy from the same tables (`np.loadtxt`):
/// `nf.sum(0)`, `ef.sum(0)`, `(g * e.sum(1)).sum()` with g the graph of each
/// edge, `(e.sum(1) * ef[:, 0]).sum()`,
/// `((arange(len(nf)) % 1000)[:, None] * nf).sum()`.
#[test]
fn molhiv_is_what_numpy_reads() {
    let Some(folder) = real_data::find("ogbg_molhiv") else {
        return;
    };
    let dataset = read_ogb(&folder, &ReadOptions::default()).unwrap();
    assert_eq!(dataset.name(), "ogbg_molhiv");
    assert_eq!(dataset.len(), 41_127);
    assert_eq!(dataset.node_count(), 1_049_163);
    assert_eq!(dataset.edge_count(), 1_129_688);
    let notes = dataset.notes();
    assert_eq!(
        (notes.listed, notes.one_way, notes.duplicates, notes.self_loops),
        (1_129_688, 1_129_688, 0, 0)
    );
    let average = |total: usize| (total as f64 / 41_127.0 * 100.0).round() / 100.0;
    assert_eq!((average(1_049_163), average(1_129_688)), (25.51, 27.47));

    let classes = dataset.classes().unwrap();
    assert_eq!(classes.names(), ["0", "1"]);
    assert_eq!(classes.class_sizes(), [41_127 - 1443, 1443]);
    let split = dataset.split().unwrap();
    for (part, size, actives) in [
        (&split.train, 32_901, 1232),
        (&split.validation, 4113, 81),
        (&split.test, 4113, 130),
    ] {
        assert_eq!(part.len(), size);
        assert!(part.is_sorted());
        assert_eq!(
            part.iter()
                .filter(|graph| classes.get(**graph) == Some(1))
                .count(),
            actives
        );
    }

    let features = dataset.features().as_dense().unwrap();
    assert_eq!(features.dim(), (1_049_163, 9));
    let sums: Vec<f64> = features
        .columns()
        .into_iter()
        .map(|column| column.iter().map(|x| f64::from(*x)).sum())
        .collect();
    assert_eq!(
        sums,
        [
            6_103_027.0,
            0.0,
            3_089_907.0,
            5_246_871.0,
            830_531.0,
            8.0,
            1_365_827.0,
            456_828.0,
            635_927.0
        ]
    );
    let placed: f64 = features
        .rows()
        .into_iter()
        .enumerate()
        .map(|(row, values)| (row % 1000) as f64 * f64::from(values.sum()))
        .sum();
    assert_eq!(placed, 8_854_821_542.0);
    assert_eq!(
        features.row(123_456).to_vec(),
        [5.0, 0.0, 3.0, 5.0, 1.0, 0.0, 1.0, 0.0, 0.0]
    );

    let attributes = dataset.edge_attributes().unwrap();
    assert_eq!(attributes.dim(), (2_259_376, 3));
    let sums: Vec<f64> = attributes
        .columns()
        .into_iter()
        .map(|column| column.iter().map(|x| f64::from(*x)).sum::<f64>() / 2.0)
        .collect();
    assert_eq!(sums, [1_523_531.0, 0.0, 713_206.0]);
    let (mut by_graph, mut by_kind, mut entry) = (0usize, 0.0, 0);
    for (index, graph) in dataset.graphs().enumerate() {
        for node in 0..graph.node_count() {
            for neighbour in graph.neighbours(node) {
                let ends = node + *neighbour as usize;
                by_graph += index * ends;
                by_kind += ends as f64 * f64::from(attributes[[entry, 0]]);
                entry += 1;
            }
        }
    }
    assert_eq!((by_graph / 2, by_kind / 2.0), (739_505_976_293, 48_099_734.0));
}

/// Three graphs: a path of three nodes, one node, a pair.
struct Small(tempfile::TempDir);

impl Small {
    fn new() -> Self {
        let small = Self(tempfile::tempdir().unwrap());
        small.write("raw/num-node-list.csv", "3\n1\n2\n");
        small.write("raw/num-edge-list.csv", "2\n0\n1\n");
        small.write("raw/edge.csv", "1,0\n1,2\n0,1\n");
        small.write("raw/node-feat.csv", "1,10\n2,0\n3,0\n4,0\n5,0\n6,7.5\n");
        small.write("raw/edge-feat.csv", "1,2\n3,4\n5,6\n");
        small.write("raw/graph-label.csv", "7\n-1\n7\n");
        small.write("split/random/train.csv", "2\n");
        small.write("split/random/valid.csv", "1\n");
        small.write("split/random/test.csv", "0\n");
        small
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.0.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn pack(&self, name: &str) {
        let path = self.0.path().join(name);
        let mut packed = GzEncoder::new(Vec::new(), Compression::default());
        packed.write_all(&fs::read(&path).unwrap()).unwrap();
        fs::write(path.with_extension("csv.gz"), packed.finish().unwrap()).unwrap();
        fs::remove_file(path).unwrap();
    }

    fn read(&self) -> Result<GraphDataset, Error> {
        read_ogb(self.0.path(), &ReadOptions::default())
    }
}

#[test]
fn small_folder_matches_hand_calculation() {
    let small = Small::new();
    let dataset = small.read().unwrap();
    assert_eq!(dataset.node_offsets(), [0, 3, 4, 6]);
    assert_eq!(dataset.graph(0).unwrap().neighbours(1), [0, 2]);
    assert_eq!(dataset.graph(2).unwrap().neighbours(0), [1]);
    assert_eq!(
        dataset.edge_attributes().unwrap(),
        ndarray::array![
            [1.0, 2.0],
            [1.0, 2.0],
            [3.0, 4.0],
            [3.0, 4.0],
            [5.0, 6.0],
            [5.0, 6.0]
        ]
    );
    assert_eq!(dataset.features().to_dense()[[5, 1]], 7.5);
    assert_eq!(dataset.classes().unwrap().names(), ["-1", "7"]);
    assert_eq!(dataset.split().unwrap().train, [2]);

    // The scaffold split comes first, packed tables say the same.
    small.write("split/scaffold/train.csv", "0\n1\n");
    small.write("split/scaffold/valid.csv", "");
    small.write("split/scaffold/test.csv", "2\n");
    for name in [
        "num-node-list",
        "num-edge-list",
        "edge",
        "node-feat",
        "edge-feat",
        "graph-label",
    ] {
        small.pack(&format!("raw/{name}.csv"));
    }
    let packed = small.read().unwrap();
    assert_eq!(packed.fingerprint(), dataset.fingerprint());
    assert_eq!(packed.split().unwrap().train, [0, 1]);

    // Only the structure is needed.
    for name in ["node-feat.csv.gz", "edge-feat.csv.gz", "graph-label.csv.gz"] {
        fs::remove_file(small.0.path().join("raw").join(name)).unwrap();
    }
    fs::remove_dir_all(small.0.path().join("split")).unwrap();
    let bare = small.read().unwrap();
    assert_eq!((bare.features().width(), bare.edge_count()), (0, 3));
    assert!(bare.targets().is_none() && bare.split().is_none() && bare.edge_attributes().is_none());
}

#[test]
fn labels_that_are_not_classes_are_values() {
    let small = Small::new();
    for (text, expected) in [
        ("1,0\n,1\n0,nan\n", [[1.0, 0.0], [f32::NAN, 1.0], [0.0, f32::NAN]]),
        ("0.5,1\n1,1\n1,1\n", [[0.5, 1.0], [1.0, 1.0], [1.0, 1.0]]),
    ] {
        small.write("raw/graph-label.csv", text);
        let dataset = small.read().unwrap();
        let Some(Targets::Values(values)) = dataset.targets() else {
            panic!("not values")
        };
        for (found, expected) in values.iter().zip(expected.as_flattened()) {
            assert!(found == expected || found.is_nan() && expected.is_nan());
        }
    }
    small.write("raw/graph-label.csv", "1\n\"\"\n0\n");
    assert!(
        matches!(small.read().unwrap().targets(), Some(Targets::Values(values)) if values[[1, 0]].is_nan())
    );
    small.write("raw/graph-label.csv", "1\n1.5\n0\n");
    assert!(matches!(
        small.read().unwrap().targets(),
        Some(Targets::Values(_))
    ));
}

#[test]
fn a_bad_line_is_refused_with_file_and_line() {
    for (name, text, at, words) in [
        ("raw/num-node-list.csv", "3\nx\n2\n", 2, "not a whole number"),
        ("raw/num-node-list.csv", "3\n-1\n2\n", 2, "between 0"),
        (
            "raw/num-node-list.csv",
            "3\n9223372036854775808\n2\n",
            2,
            "between 0",
        ),
        ("raw/num-node-list.csv", "3\n\n1\n2\n", 2, "blank"),
        ("raw/num-node-list.csv", "3,1\n1\n2\n", 1, "2 fields, expected 1"),
        ("raw/num-node-list.csv", "2\n1\n2\n", 2, "between 0 and 1"),
        ("raw/num-node-list.csv", "3\n1\n3\n", 6, "num-node-list has 7"),
        ("raw/num-edge-list.csv", "2\n0\n2\n", 3, "num-edge-list has 4"),
        ("raw/num-edge-list.csv", "2\n0\n0\n", 3, "num-edge-list has 2"),
        ("raw/num-edge-list.csv", "2\n1\n0\n", 3, "between 0 and 0"),
        (
            "raw/edge.csv",
            "1,0\n1,3\n0,1\n",
            2,
            "node id 3 is not between 0 and 2",
        ),
        ("raw/edge.csv", "1,0\n-1,2\n0,1\n", 2, "node id -1"),
        (
            "raw/edge.csv",
            "1,0\n1,9223372036854775808\n0,1\n",
            2,
            "node id 9223372036854775808",
        ),
        ("raw/edge.csv", "1,0\n1;2\n0,1\n", 2, "1 fields, expected 2"),
        ("raw/edge.csv", "1,0\n1,2,3\n0,1\n", 2, "3 fields"),
        (
            "raw/edge.csv",
            "0,1\n1,0\n1,2\n",
            3,
            "node id 2 is not between 0 and 1",
        ),
        ("raw/edge.csv", "", 0, "0 lines"),
        (
            "raw/node-feat.csv",
            "1,10\n2,0\n3,0\n4\n5,0\n6,7\n",
            4,
            "1 fields, expected 2",
        ),
        (
            "raw/node-feat.csv",
            "1,10\n2,0\n3,0\n4,inf\n5,0\n6,7\n",
            4,
            "not a finite number",
        ),
        (
            "raw/node-feat.csv",
            "1,10\n2,\n3,0\n4,0\n5,0\n6,7\n",
            2,
            "not a finite number",
        ),
        ("raw/node-feat.csv", "", 0, "0 lines"),
        (
            "raw/edge-feat.csv",
            "1,2\n3,4\n5,6\n7,8\n",
            4,
            "num-edge-list has 3",
        ),
        ("raw/graph-label.csv", "1\n2\n", 2, "num-node-list has 3"),
        ("raw/graph-label.csv", "1\n2\n3\n4\n", 4, "num-node-list has 3"),
        ("raw/graph-label.csv", "1\nyes\n3\n", 2, "not a finite number"),
        (
            "split/random/test.csv",
            "3\n",
            1,
            "graph 3 is not between 0 and 2",
        ),
    ] {
        let small = Small::new();
        small.write(name, text);
        match small.read() {
            Err(error @ Error::Line { line, .. }) => {
                assert_eq!(line, at, "{error}");
                assert!(error.to_string().contains(words), "{error}");
            }
            other => panic!("{name} {text:?}: {other:?}"),
        }
    }
    for (name, text, words) in [
        ("raw/num-edge-list.csv", "2\n0\n", "num-edge-list 2"),
        ("raw/num-node-list.csv", "", "0 graphs"),
        ("split/random/test.csv", "2\n", "twice"),
    ] {
        let small = Small::new();
        small.write(name, text);
        let error = small.read().unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    // Nodes of which nothing is in the files are not laid out by the million.
    let small = Small::new();
    small.write("raw/num-node-list.csv", "3\n2000000000\n2\n");
    fs::remove_file(small.0.path().join("raw/node-feat.csv")).unwrap();
    let error = small.read().unwrap_err().to_string();
    assert!(error.contains("only 3 entries"), "{error}");
}

#[test]
fn missing_and_damaged_files_are_named() {
    let small = Small::new();
    fs::remove_file(small.0.path().join("raw/edge.csv")).unwrap();
    assert!(matches!(small.read(), Err(Error::Missing { file, .. }) if file.ends_with("raw/edge.csv.gz")));
    assert!(matches!(
        read_ogb(Path::new("nowhere"), &ReadOptions::default()),
        Err(Error::Missing { .. })
    ));

    let small = Small::new();
    small.pack("raw/node-feat.csv");
    let path = small.0.path().join("raw/node-feat.csv.gz");
    let whole = fs::read(&path).unwrap();
    for length in 0..whole.len() {
        fs::write(&path, &whole[..length]).unwrap();
        match small.read() {
            Err(Error::Io { path: found, .. } | Error::Line { file: found, .. }) => assert_eq!(found, path),
            other => panic!("cut at {length}: {other:?}"),
        }
    }
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x10;
        fs::write(&path, &bytes).unwrap();
        let _ = small.read();
    }
    fs::write(&path, &whole).unwrap();
    let options = ReadOptions {
        max_bytes: 20,
        ..ReadOptions::default()
    };
    assert!(matches!(
        read_ogb(small.0.path(), &options),
        Err(Error::OverLimit { limit: 20, .. })
    ));
}
