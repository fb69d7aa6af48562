//! Edge lists of one's own, with features and labels.

use std::fs;
use std::path::PathBuf;

use egg_graph::{
    EdgeList, EdgeListSource, Error, Features, Graph, Labels, NodeIds, ReadOptions, SelfLoops, TableOptions,
    write_edge_list, write_labels, write_npy,
};
use ndarray::{Array2, array};
use proptest::prelude::*;

struct Files(tempfile::TempDir);

impl Files {
    fn new(edges: impl AsRef<[u8]>) -> Self {
        let files = Self(tempfile::tempdir().unwrap());
        files.write("edges.csv", edges);
        files
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, content).unwrap();
        path
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn source(&self) -> EdgeListSource {
        EdgeListSource::new(self.path("edges.csv"))
    }
}

fn read(source: &EdgeListSource) -> Result<EdgeList, Error> {
    source.read(&ReadOptions::default())
}

fn edges(list: &EdgeList) -> Vec<(usize, usize)> {
    list.dataset.graph(0).unwrap().edges().collect()
}

#[test]
fn separators_and_headers_give_the_same_graph() {
    for text in [
        "1,0\n1,2\n3,1\n",
        "0\t1\n1\t2\n3\t1",
        "0 1\n1   2\n  3 1  \n",
        "0;1\n1;2\n3;1\n",
        "source,target\n0,1\n1,2\n3,1\n",
        "\u{feff}\"Source\",\"Target\"\r\n\"0\",\"1\"\r\n1,2\r\n3,1\r\n",
        "# SNAP\n# Nodes: 4 Edges: 3\n% KONECT\n0 1\n\n1 2\n,,\n3 1\n\n",
        "target,id,Source,Type\n1,7,0,Undirected\n2,8,1,Undirected\n1,9,3,Undirected\n",
        "left,right\n0,1\n1,2\n3,1\n",
        "1, 0\n1, 2\n 3 , 1 \n",
    ] {
        let list = read(&Files::new(text).source()).unwrap();
        assert_eq!(edges(&list), [(0, 1), (1, 2), (1, 3)], "{text:?}");
        assert_eq!(list.dataset.node_count(), 4);
        assert_eq!((list.dataset.name(), &list.names), ("edges", &None));
        assert!(list.dataset.edge_weights().is_none());
    }
    let one_based = read(&Files::new("1,2\n2,3\n4,2\n").source().ids(NodeIds::OneBased)).unwrap();
    assert_eq!(edges(&one_based), [(0, 1), (1, 2), (1, 3)]);
    let empty = read(&Files::new("# nodes: 0\n").source()).unwrap();
    assert_eq!(empty.dataset.node_count(), 0);
}

#[test]
fn weights_are_where_the_header_or_the_caller_says() {
    for (text, weight) in [
        ("0,1,0.5\n1,2,2\n1,0,9\n", Some("3")),
        ("0;1;0,5\n1;2;2\n1;0;9\n", Some("3")),
        ("0\t1\t0,5\n1\t2\t2\n1\t0\t9\n", Some("3")),
        ("from,to,strength\n0,1,0.5\n1,2,2\n1,0,9\n", Some("strength")),
        ("from,to,strength\n0,1,0.5\n1,2,2\n1,0,9\n", Some("STRENGTH")),
        ("weight,src,dst\n0.5,0,1\n2,1,2\n9,1,0\n", None),
        (
            "src,dst,since,Weight\n0,1,1999,0.5\n1,2,2001,2\n1,0,1990,9\n",
            None,
        ),
    ] {
        let options = ReadOptions {
            tables: TableOptions {
                weight: weight.map(String::from),
                ..TableOptions::default()
            },
            ..ReadOptions::default()
        };
        let list = Files::new(text).source().read(&options).unwrap();
        assert_eq!(
            list.dataset.edge_weights(),
            Some(&[0.5, 0.5, 2.0, 2.0][..]),
            "{text:?}"
        );
    }
}

#[test]
fn names_are_numbered_by_first_appearance() {
    let files = Files::new("Source,Target\n\"Müller, Jo\",\"say \"\"hi\"\"\"\n007,\"Müller, Jo\"\n");
    let list = read(&files.source().ids(NodeIds::Named)).unwrap();
    assert_eq!(
        list.names.as_deref().unwrap(),
        ["Müller, Jo", "say \"hi\"", "007"]
    );
    assert_eq!(edges(&list), [(0, 1), (0, 2)]);

    // Nodes that only a comment counts have none. (Found by random input.)
    let declared = read(&Files::new("# nodes: 4\na b\n").source().ids(NodeIds::Named)).unwrap();
    assert_eq!(declared.dataset.node_count(), 4);
    assert_eq!(declared.names.as_deref().unwrap(), ["a", "b", "", ""]);

    // A pair of nodes that could be mistaken for the names of columns.
    let letters = read(&Files::new("u,v\nv,w\n").source().ids(NodeIds::Named)).unwrap();
    assert_eq!(letters.names.as_deref().unwrap(), ["u", "v", "w"]);

    let labels = files.write("labels.csv", "id,label\nlonely,b\n007,a\n");
    let list = read(&files.source().ids(NodeIds::Named).labels(labels)).unwrap();
    assert_eq!(
        list.names.as_deref().unwrap(),
        ["lonely", "007", "Müller, Jo", "say \"hi\""]
    );
    let classes: Vec<_> = list.dataset.node_labels().unwrap().iter().collect();
    assert_eq!(classes, [Some(1), Some(0), None, None]);

    let features = files.write(
        "features.csv",
        "name,x\n007,1\n\"Müller, Jo\",2\n\"say \"\"hi\"\"\",3\nlonely,4\n",
    );
    let list = read(&files.source().ids(NodeIds::Named).features(&features)).unwrap();
    assert_eq!(list.names.as_deref().unwrap()[3], "lonely");
    assert_eq!(
        list.dataset.features().to_dense(),
        array![[1.0], [2.0], [3.0], [4.0]]
    );

    let few = files.write("few.csv", "007,1\n\"Müller, Jo\",2\n");
    let error = read(&files.source().ids(NodeIds::Named).features(few)).unwrap_err();
    assert!(matches!(error, Error::Line { line: 2, .. }), "{error}");
    assert!(error.to_string().contains("has no row of features"), "{error}");
}

#[test]
fn features_and_labels_count_the_nodes() {
    let files = Files::new("0,1\n");
    let npy = files.path("features.npy");
    write_npy(&npy, array![[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]].view()).unwrap();
    let table = files.write("features.csv", "a,b\r\n1,2\r\n3,4\r\n5,6\r\n\r\n");
    let unordered = files.write("unordered.csv", "node,a,b\n2,5,6\n0,1,2\n1,3,4\n");
    for path in [npy, table, unordered] {
        let list = read(&files.source().features(&path)).unwrap();
        assert_eq!(list.dataset.node_count(), 3);
        let expected = array![[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]];
        assert_eq!(list.dataset.features().to_dense(), expected, "{path:?}");
    }
    for (text, names, expected) in [
        ("10\n9\n10\n", &["9", "10"][..], [Some(1), Some(0), Some(1)]),
        ("label\nb\na\nb\n", &["a", "b"], [Some(1), Some(0), Some(1)]),
        ("label\nb\n\"\"\na\n", &["a", "b"], [Some(1), None, Some(0)]),
        ("007\n7\n7\n", &["007", "7"], [Some(0), Some(1), Some(1)]),
        ("id,class\n2,x\n0,y\n", &["x", "y"], [Some(1), None, Some(0)]),
        ("2,x\n0,y\n", &["x", "y"], [Some(1), None, Some(0)]),
    ] {
        let labels = files.write("labels.csv", text);
        let list = read(&files.source().labels(labels)).unwrap();
        let found = list.dataset.node_labels().unwrap();
        assert_eq!(found.names(), names, "{text:?}");
        assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{text:?}");
    }
}

#[test]
fn a_bad_line_is_refused_with_file_and_line() {
    for (text, at, words) in [
        ("3,1\nx,2\n", 2, "`x` is not a whole number"),
        ("3,1\n1,\n", 2, "`` is not a whole number"),
        ("0,x\n", 1, "`x` is not a whole number"),
        ("3,1\n-1,2\n", 2, "node id -1"),
        ("3,1\n9223372036854775808,2\n", 2, "node id 9223372036854775808"),
        ("3,1\n2147483647,2\n", 2, "node id 2147483647"),
        ("3,1\n1.5,2\n", 2, "`1.5` is not a whole number"),
        ("3,1\n1\n", 2, "1 fields, expected 2"),
        ("3,1\n1,2,3\n", 2, "3 fields, expected 2"),
        (
            "source,target,weight\n0,1,heavy\n",
            2,
            "`heavy` is not a finite number",
        ),
        ("source,target,weight\n0,1,1e39\n", 2, "not a finite number"),
        ("source,target,weight\n0,1,nan\n", 2, "not a finite number"),
        ("# one\n3,1\n\"1,2\n", 3, "does not end on its line"),
        ("\"0\"1,2\n", 1, "between a quoted field and the next"),
        ("# nodes: -4\n3,1\n", 1, "number of nodes -4"),
        ("a,b\n0,1\na,b\n", 1, "not a whole number"),
    ] {
        let files = Files::new(text);
        match read(&files.source()) {
            Err(error @ Error::Line { line, .. }) => {
                assert_eq!(line, at, "{text:?}: {error}");
                assert!(error.to_string().contains(words), "{text:?}: {error}");
                assert!(error.to_string().contains("edges.csv"), "{error}");
            }
            other => panic!("{text:?}: {other:?}"),
        }
    }
    let narrow = read(&Files::new("0\n1\n").source()).unwrap_err().to_string();
    assert!(narrow.contains("two columns or more"), "{narrow}");
    let one_based = read(&Files::new("1,2\n0,1\n").source().ids(NodeIds::OneBased));
    assert!(matches!(one_based, Err(Error::Line { line: 2, .. })));
    let nameless = read(&Files::new("a,b\n\"\",b\n").source().ids(NodeIds::Named));
    assert!(matches!(nameless, Err(Error::Line { line: 2, .. })));
    let latin1 = read(&Files::new(b"a,b\n\xe9,b\n").source().ids(NodeIds::Named)).unwrap_err();
    assert!(latin1.to_string().contains("UTF-8"), "{latin1}");
    let utf16 = read(&Files::new(b"\xff\xfe0\0,\x001\x00\n\0").source()).unwrap_err();
    assert!(utf16.to_string().contains("UTF-16"), "{utf16}");
}

#[test]
fn ids_far_apart_do_not_take_memory() {
    let error = read(&Files::new("0,2147483646\n").source())
        .unwrap_err()
        .to_string();
    assert!(error.contains("NodeIds::Named"), "{error}");
    let error = read(&Files::new("# nodes: 2147483647\n0,1\n").source())
        .unwrap_err()
        .to_string();
    assert!(error.contains("only 1 entries"), "{error}");
    let named = read(&Files::new("0,2147483646\n").source().ids(NodeIds::Named)).unwrap();
    assert_eq!(named.dataset.node_count(), 2);
    let options = ReadOptions {
        max_bytes: 10,
        ..ReadOptions::default()
    };
    let refused = Files::new("0,1\n1,2\n2,3\n").source().read(&options);
    assert!(matches!(refused, Err(Error::OverLimit { limit: 10, .. })));
}

#[test]
fn bad_features_and_labels_are_refused() {
    let files = Files::new("0,1\n");
    for (text, words) in [
        ("", "no features"),
        ("a,b\n", "no features"),
        ("1,2\n3\n", "line 2: 1 fields, expected 2"),
        ("1,2\n3,x\n", "line 2: `x` is not a finite number"),
        ("1,x\n3,4\n", "line 1: `x` is not a finite number"),
        ("1,2\n\n3,4\n", "line 2: the line is blank"),
        ("1,2\n", "node id 1 is not between 0 and 0"),
        ("id,a\n0,1\n0,2\n", "line 3: the node has features already"),
        ("id,a\n0,1\n2,2\n", "no features"),
        ("id,a\n0,1\n-2,2\n", "line 3: node id -2"),
    ] {
        let features = files.write("features.csv", text);
        let error = read(&files.source().features(features)).unwrap_err().to_string();
        assert!(error.contains(words), "{text:?}: {error}");
    }
    for (text, words) in [
        ("", "no labels"),
        ("label\n", "no labels"),
        ("a\n", "node id 1 is not between 0 and 0"),
        ("0,a\n0,b\n", "line 2: the node has a label already"),
        ("0,a\nb\n", "line 2: 1 fields, expected 2"),
        ("0,a,b\n", "which of the 3 columns has the labels"),
        ("x,a\n", "`x` is not a whole number"),
        ("a\n\nb\n", "line 2: the line is blank"),
    ] {
        let labels = files.write("labels.csv", text);
        let error = read(&files.source().labels(labels)).unwrap_err().to_string();
        assert!(error.contains(words), "{text:?}: {error}");
    }
    let features = files.write("features.csv", "1\n2\n3\n");
    let labels = files.write("labels.csv", "a\nb\n");
    let error = read(&files.source().features(&features).labels(labels)).unwrap_err();
    assert!(error.to_string().contains("2 labels, but"), "{error}");
    let out_of_range = files.write("labels.csv", "3,a\n");
    let error = read(&files.source().features(&features).labels(out_of_range)).unwrap_err();
    assert!(error.to_string().contains("line 1: node id 3"), "{error}");
    let npy = files.path("features.npy");
    write_npy(&npy, Array2::zeros((1 << 40, 0)).view()).unwrap();
    assert!(
        read(&files.source().features(&npy))
            .unwrap_err()
            .to_string()
            .contains("no columns")
    );
    write_npy(&npy, array![[1.0], [2.0]].view()).unwrap();
    let error = read(&files.source().ids(NodeIds::Named).features(&npy)).unwrap_err();
    assert!(error.to_string().contains("these rows have none"), "{error}");
    let declared = Files::new("# nodes: 5\n0,1\n");
    let error = read(&declared.source().features(features)).unwrap_err();
    assert!(error.to_string().contains("a comment says 5"), "{error}");
}

proptest! {
    #[test]
    fn edge_list_round_trips(
        nodes in 1usize..12,
        pairs in prop::collection::vec((0usize..12, 0usize..12, -1e3f32..1e3), 0..30),
        weighted in any::<bool>(),
        classes in prop::collection::vec(prop::option::of(0i64..3), 12),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("edges.csv");
        let listed: Vec<_> = pairs.iter().map(|(a, b, w)| (a % nodes, b % nodes, *w)).collect();
        let mut graph = if weighted && !listed.is_empty() {
            Graph::from_weighted_edges(nodes, &listed).unwrap()
        } else {
            Graph::from_edges(nodes, &listed.iter().map(|(a, b, _)| (*a, *b)).collect::<Vec<_>>()).unwrap()
        };
        write_edge_list(&path, &graph).unwrap();
        let read = EdgeListSource::new(&path).read(&ReadOptions::default()).unwrap();
        prop_assert_eq!(&read.dataset.graph(0).unwrap().to_graph(), &graph);

        let (features, labels) = (folder.path().join("x.npy"), folder.path().join("y.csv"));
        let matrix = Array2::from_shape_fn((nodes, 2), |(row, column)| (row * 3 + column) as f32 / 7.0);
        write_npy(&features, matrix.view()).unwrap();
        graph = graph.with_features(Features::dense(matrix).unwrap()).unwrap();
        let names: std::collections::BTreeSet<i64> = classes[..nodes].iter().flatten().copied().collect();
        let class = |value: i64| names.iter().position(|name| *name == value).map(|at| at as u32);
        let known: Vec<Option<u32>> = classes[..nodes].iter().map(|value| value.and_then(class)).collect();
        let texts = names.iter().map(|name| format!("class, \"{name}\"")).collect();
        let known = Labels::new(&known, texts).unwrap();
        write_labels(&labels, &known).unwrap();
        graph = graph.with_node_labels(known).unwrap();
        let source = EdgeListSource::new(&path).features(&features).labels(&labels);
        let read = source.read(&ReadOptions::default()).unwrap();
        prop_assert_eq!(&read.dataset.graph(0).unwrap().to_graph(), &graph);
    }

    #[test]
    fn arbitrary_bytes_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..60), named in any::<bool>()) {
        let files = Files::new(&bytes);
        let labels = files.write("labels.csv", &bytes);
        let ids = if named { NodeIds::Named } else { NodeIds::ZeroBased };
        let _ = read(&files.source().ids(ids));
        let _ = read(&files.source().ids(ids).labels(&labels));
        let _ = read(&files.source().ids(ids).features(&labels));
    }

    #[test]
    fn arbitrary_tables_do_not_panic(text in "[0-9a,;\t\" #\n.-]{0,60}", named in any::<bool>()) {
        let files = Files::new(&text);
        let labels = files.write("labels.csv", &text);
        let ids = if named { NodeIds::Named } else { NodeIds::OneBased };
        let _ = read(&files.source().ids(ids));
        let _ = read(&files.source().ids(ids).labels(&labels));
        let _ = read(&files.source().ids(ids).features(&labels));
    }
}

#[test]
fn self_loops_are_kept_on_request() {
    let files = Files::new("source,target,weight\n0,0,2\n0,1,3\n");
    let options = ReadOptions {
        self_loops: SelfLoops::Keep,
        ..ReadOptions::default()
    };
    let kept = files.source().read(&options).unwrap();
    assert_eq!(kept.dataset.edge_weights(), Some(&[2.0, 3.0, 3.0][..]));
    let graph = kept.dataset.graph(0).unwrap().to_graph();
    let path = files.path("again.csv");
    write_edge_list(&path, &graph).unwrap();
    let again = EdgeListSource::new(path).read(&options).unwrap();
    assert_eq!(again.dataset.graph(0).unwrap().to_graph(), graph);
    assert_eq!(read(&files.source()).unwrap().dataset.notes().self_loops, 1);
}

#[test]
fn headers_are_distinguished_from_data() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    // A header whose second name says nothing to us.
    let edges = path("named.csv", "a,b\nb,c\n");
    let labels = path("named-labels.csv", "id,group\na,x\nb,y\nc,x\n");
    let read = EdgeListSource::new(&edges)
        .ids(NodeIds::Named)
        .labels(&labels)
        .read(&ReadOptions::default())
        .unwrap();
    assert_eq!(read.dataset.node_count(), 3);
    // A label that could be a name.
    let edges = path("numbers.csv", "1,0\n1,2\n");
    let labels = path("yes-no.txt", "y\nn\ny\n");
    let read = EdgeListSource::new(&edges)
        .labels(&labels)
        .read(&ReadOptions::default())
        .unwrap();
    assert_eq!(read.dataset.node_labels().unwrap().class_sizes(), [1, 2]);
    // Numbers that are none are bad features, not a header.
    let features = path("nan.csv", "nan,nan\n1,2\n3,4\n5,6\n");
    let refused = EdgeListSource::new(&edges)
        .features(&features)
        .read(&ReadOptions::default());
    assert!(matches!(refused, Err(Error::Line { line: 1, .. })));
    let empty = path("empty.csv", "");
    let refused = EdgeListSource::new(&empty).read(&ReadOptions::default());
    assert!(matches!(refused, Err(Error::File { .. })));
}
