//! The TU collection: every count of the real data sets, and the quirks of the
//! layout.

use std::path::Path;

use egg_graph::{
    Features, Graph, GraphDataset, Labels, NodeFeatures, ReadOptions, SelfLoops, Targets, read_tu, write_tu,
};
use ndarray::array;
use proptest::prelude::*;

use crate::real_data;

/// What the collection's README says of a data set.
struct Known {
    name: &'static str,
    graphs: usize,
    nodes: usize,
    edges: usize,
    features: usize,
    isolated: Option<usize>,
    classes: &'static [(&'static str, usize)],
}

const KNOWN: [Known; 7] = [
    Known {
        name: "MUTAG",
        graphs: 188,
        nodes: 3_371,
        edges: 3_721,
        features: 7,
        isolated: None,
        classes: &[("-1", 63), ("1", 125)],
    },
    Known {
        name: "PROTEINS",
        graphs: 1_113,
        nodes: 43_471,
        edges: 81_044,
        features: 3,
        isolated: Some(5),
        classes: &[("1", 663), ("2", 450)],
    },
    Known {
        name: "NCI1",
        graphs: 4_110,
        nodes: 122_747,
        edges: 132_753,
        features: 37,
        isolated: Some(428),
        classes: &[("0", 2_053), ("1", 2_057)],
    },
    Known {
        name: "Mutagenicity",
        graphs: 4_337,
        nodes: 131_488,
        edges: 133_447,
        features: 14,
        isolated: Some(2_401),
        classes: &[("0", 2_401), ("1", 1_936)],
    },
    Known {
        name: "DD",
        graphs: 1_178,
        nodes: 334_925,
        edges: 843_046,
        features: 89,
        isolated: None,
        classes: &[("1", 691), ("2", 487)],
    },
    Known {
        name: "IMDB-BINARY",
        graphs: 1_000,
        nodes: 19_773,
        edges: 96_531,
        features: 0,
        isolated: None,
        classes: &[("0", 500), ("1", 500)],
    },
    Known {
        name: "COLLAB",
        graphs: 5_000,
        nodes: 372_474,
        edges: 12_286_079,
        features: 0,
        isolated: None,
        classes: &[("0", 2_600), ("1", 775), ("2", 1_625)],
    },
];

#[test]
fn counts_match_the_published_ones() {
    for known in &KNOWN {
        let Some(path) = real_data::find(&format!("{}.zip", known.name)) else {
            return;
        };
        let dataset = read_tu(&path, &ReadOptions::default()).unwrap();
        let name = known.name;
        assert_eq!(dataset.name(), name);
        assert_eq!(dataset.len(), known.graphs, "{name}");
        assert_eq!(dataset.node_count(), known.nodes, "{name}");
        assert_eq!(dataset.edge_count(), known.edges, "{name}");
        assert_eq!(dataset.features().width(), known.features, "{name}");
        let classes = dataset.classes().unwrap();
        let found: Vec<_> = classes
            .names()
            .iter()
            .map(String::as_str)
            .zip(classes.class_sizes())
            .collect();
        assert_eq!(found, known.classes, "{name}");
        if let Some(isolated) = known.isolated {
            let lonely = dataset
                .graphs()
                .flat_map(|graph| (0..graph.node_count()).filter(move |node| graph.degree(*node) == 0));
            assert_eq!(lonely.count(), isolated, "{name}");
        }
        let notes = dataset.notes();
        assert_eq!(notes.one_way, 0, "{name}");
        match name {
            "IMDB-BINARY" => assert_eq!((notes.listed, notes.duplicates), (386_124, 193_062)),
            "COLLAB" => assert_eq!((notes.listed, notes.self_loops), (24_574_995, 2_837)),
            _ => assert_eq!((notes.duplicates, notes.self_loops), (0, 0), "{name}"),
        }
        if name == "DD" {
            let used: std::collections::HashSet<_> =
                dataset.features().as_sparse().unwrap().columns().iter().collect();
            assert_eq!(used.len(), 82);
        }
    }
}

#[test]
fn node_features_of_proteins_have_the_published_columns() {
    let Some(path) = real_data::find("PROTEINS.zip") else {
        return;
    };
    let width = |node_features| {
        let options = ReadOptions {
            node_features,
            ..ReadOptions::default()
        };
        read_tu(&path, &options).unwrap().features().width()
    };
    assert_eq!(width(NodeFeatures::Labels), 3);
    assert_eq!(width(NodeFeatures::Attributes), 1);
    assert_eq!(width(NodeFeatures::Both), 4);
    let mutag = real_data::find("MUTAG.zip").unwrap();
    let dataset = read_tu(&mutag, &ReadOptions::default()).unwrap();
    let bonds = dataset.edge_attributes().unwrap();
    assert_eq!(bonds.dim(), (2 * 3_721, 1));
}

/// Writes `T_PART.txt` files and reads them back.
pub(crate) fn read(parts: &[(&str, &str)], options: &ReadOptions) -> egg_graph::Result<GraphDataset> {
    let folder = tempfile::tempdir().unwrap();
    for (part, text) in parts {
        std::fs::write(folder.path().join(format!("T_{part}.txt")), text).unwrap();
    }
    read_tu(folder.path(), options)
}

#[test]
fn separators_line_ends_and_blank_lines_at_the_end() {
    let usual = read(
        &[
            ("A", "1, 2\n2, 1\n"),
            ("graph_indicator", "1\n1\n2\n"),
            ("graph_labels", "0\n1\n"),
        ],
        &ReadOptions::default(),
    )
    .unwrap();
    for (edges, indicator, labels) in [
        ("1,2\n2,1", "1\n1\n2", "0\n1"),
        ("1, 2\r\n2 ,1\r\n", "1\r\n1\r\n2\r\n", "0\r\n1\r\n"),
        ("  1,\t2\n2,1\n\n \n", "1\n1\n2\n\n", " 0\n+1 \n\n"),
        ("2,1\n2,1\n", "1\n1\n2\n", "-7\n30\n"),
    ] {
        let parts = [
            ("A", edges),
            ("graph_indicator", indicator),
            ("graph_labels", labels),
        ];
        let dataset = read(&parts, &ReadOptions::default()).unwrap();
        assert_eq!(dataset.fingerprint(), usual.fingerprint(), "{edges:?}");
    }
}

#[test]
fn byte_order_marks_and_system_files_are_ignored() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("T_A.txt", "\u{feff}1, 2\n"),
        ("T_graph_indicator.txt", "\u{feff}1\n1\n"),
        ("._T_graph_indicator.txt", "of macOS"),
    ] {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let dataset = read_tu(folder.path(), &ReadOptions::default()).unwrap();
    assert_eq!((dataset.name(), dataset.edge_count()), ("T", 1));
}

#[test]
fn nodes_of_a_graph_need_not_be_contiguous() {
    let dataset = read(
        &[
            ("A", "1, 3\n3, 5\n2, 4\n"),
            ("graph_indicator", "2\n1\n2\n1\n2\n"),
            ("graph_labels", "5\n6\n"),
            ("node_labels", "10\n11\n12\n13\n14\n"),
            (
                "node_attributes",
                "1.0, 0.1\n2.0, 0.2\n3.0, 0.3\n4.0, 0.4\n5.0, 0.5\n",
            ),
        ],
        &ReadOptions {
            node_features: NodeFeatures::Both,
            ..ReadOptions::default()
        },
    )
    .unwrap();
    assert_eq!(dataset.node_offsets(), [0, 2, 5]);
    assert!(dataset.graph(0).unwrap().edges().eq([(0, 1)]));
    assert!(dataset.graph(1).unwrap().edges().eq([(0, 1), (1, 2)]));
    let features = dataset.features().to_dense();
    assert_eq!(features.row(0).to_vec(), [2.0, 0.2, 0.0, 1.0, 0.0, 0.0, 0.0]);
    assert_eq!(features.row(4).to_vec(), [5.0, 0.5, 0.0, 0.0, 0.0, 0.0, 1.0]);
}

#[test]
fn edge_values_follow_their_edges_in_both_directions() {
    let dataset = read(
        &[
            ("A", "2, 3\n1, 2\n2, 1\n"),
            ("graph_indicator", "1\n1\n1\n"),
            ("edge_labels", "7\n8\n9\n"),
            ("edge_attributes", "0.5\n1.5\n2.5\n"),
        ],
        &ReadOptions::default(),
    )
    .unwrap();
    // 0: 1; 1: 0, 2; 2: 1. The first of two rows of an edge counts.
    let expected = array![[1.5, 8.0], [1.5, 8.0], [0.5, 7.0], [0.5, 7.0]];
    assert_eq!(dataset.edge_attributes(), Some(&expected));
}

#[test]
fn self_loops_are_noted_and_kept_on_request() {
    let parts = [("A", "1, 1\n1, 2\n2, 1\n"), ("graph_indicator", "1\n1\n")];
    let dataset = read(&parts, &ReadOptions::default()).unwrap();
    assert_eq!(
        (
            dataset.notes().self_loops,
            dataset.graph(0).unwrap().neighbours(0)
        ),
        (1, &[1][..])
    );
    let options = ReadOptions {
        self_loops: SelfLoops::Keep,
        ..ReadOptions::default()
    };
    assert_eq!(
        read(&parts, &options).unwrap().graph(0).unwrap().neighbours(0),
        [0, 1]
    );
}

#[test]
fn regression_targets_and_graphs_without_nodes_are_read() {
    let dataset = read(
        &[
            ("A", ""),
            ("graph_indicator", "1\n3\n"),
            ("graph_attributes", "0.5, 1\n-1e3, 2\n7, 3\n"),
        ],
        &ReadOptions::default(),
    )
    .unwrap();
    assert_eq!(dataset.node_offsets(), [0, 1, 1, 2]);
    let expected = array![[0.5, 1.0], [-1000.0, 2.0], [7.0, 3.0]];
    assert_eq!(dataset.targets(), Some(&Targets::Values(expected)));
}

#[test]
fn folder_and_archive_give_the_same_data_set() {
    let Some(path) = real_data::find("MUTAG.zip") else {
        return;
    };
    let archive = read_tu(&path, &ReadOptions::default()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    write_tu(folder.path(), &archive).unwrap();
    let written = read_tu(folder.path(), &ReadOptions::default()).unwrap();
    assert_eq!(written.fingerprint(), archive.fingerprint());
    assert_eq!(written.classes(), archive.classes());
    assert!(file_is_whole(&folder.path().join("MUTAG_A.txt")));
}

fn file_is_whole(path: &Path) -> bool {
    std::fs::read_to_string(path).is_ok_and(|text| text.ends_with('\n'))
}

#[test]
fn data_the_tu_layout_cannot_hold_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let pair = Graph::from_edges(2, &[(0, 1)]).unwrap();
    let weighted = pair.clone().with_edge_weights(vec![2.0, 2.0]).unwrap();
    let unknown = Labels::new(&[None], vec!["a".into()]).unwrap();
    for dataset in [
        GraphDataset::single("W", weighted),
        GraphDataset::single("../T", pair.clone()),
        GraphDataset::single("", pair.clone()),
        GraphDataset::single("U", pair)
            .with_targets(Targets::Classes(unknown))
            .unwrap(),
    ] {
        assert!(write_tu(folder.path(), &dataset).is_err(), "{}", dataset.name());
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

fn graph() -> impl Strategy<Value = Graph> {
    (1usize..6)
        .prop_flat_map(|nodes| {
            let edges = prop::collection::vec((0..nodes, 0..nodes), 0..10);
            let features = prop::collection::vec(-1e6f32..1e6, nodes * 2);
            (Just(nodes), edges, features)
        })
        .prop_map(|(nodes, edges, features)| {
            let features = ndarray::Array2::from_shape_vec((nodes, 2), features).unwrap();
            Graph::from_edges(nodes, &edges)
                .and_then(|graph| graph.with_features(Features::dense(features)?))
                .unwrap()
        })
}

proptest! {
    #[test]
    fn tu_round_trips(
        (graphs, labels) in prop::collection::vec((graph(), -3i64..3), 1..6).prop_map(|both| both.into_iter().unzip::<_, _, Vec<_>, Vec<_>>()),
    ) {
        let dataset = GraphDataset::from_graphs("R", &graphs)
            .unwrap()
            .with_targets(Targets::Classes(Labels::from_values(&labels)))
            .unwrap();
        let folder = tempfile::tempdir().unwrap();
        write_tu(folder.path(), &dataset).unwrap();
        let back = read_tu(folder.path(), &ReadOptions::default()).unwrap();
        prop_assert_eq!(back.fingerprint(), dataset.fingerprint());
        prop_assert_eq!(back.classes(), dataset.classes());
    }
}
