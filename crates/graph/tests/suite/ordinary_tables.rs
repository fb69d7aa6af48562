//! Tables as pandas, R and NetworkX write them, each with the graph that it means; and
//! those that could mean two, which are refused with a remedy.

use std::fs;
use std::path::Path;

use egg_graph::{
    EdgeList, EdgeListSource, Error, Header, NodeIds, ReadOptions, Role, TableOptions, Targets,
    read_graph_tables, write_npy,
};
use ndarray::{Array2, array};

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

fn with(tables: TableOptions) -> ReadOptions {
    ReadOptions {
        tables,
        ..ReadOptions::default()
    }
}

fn header(header: Header) -> ReadOptions {
    with(TableOptions {
        header,
        ..TableOptions::default()
    })
}

fn ids(ids: NodeIds) -> ReadOptions {
    with(TableOptions {
        ids: Some(ids),
        ..TableOptions::default()
    })
}

fn read_as(path: &Path, options: &ReadOptions) -> Result<EdgeList, Error> {
    EdgeListSource::find(path)?.read(options)
}

fn read(files: &[(&str, &str)]) -> EdgeList {
    let folder = folder(files);
    read_as(folder.path(), &ReadOptions::default()).unwrap_or_else(|error| panic!("{files:?}: {error}"))
}

/// Edges by the names or ids that the file gives.
fn edges(list: &EdgeList) -> Vec<(String, String)> {
    let first = usize::from(list.ids == NodeIds::OneBased);
    let name = |node: usize| match &list.names {
        Some(names) => names[node].clone(),
        None => (node + first).to_string(),
    };
    let edges = list.dataset.graph(0).unwrap().edges().map(|(a, b)| {
        let (a, b) = (name(a), name(b));
        if a <= b { (a, b) } else { (b, a) }
    });
    let mut edges: Vec<_> = edges.collect();
    edges.sort();
    edges
}

fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs
        .iter()
        .map(|(a, b)| ((*a).to_owned(), (*b).to_owned()))
        .collect()
}

fn roles(list: &EdgeList, table: usize) -> Vec<Role> {
    let columns = &list.dataset.reading().tables[table].columns;
    columns.iter().map(|column| column.role).collect()
}

/// Asserts that a folder is refused, with these words.
fn refused(files: &[(&str, &str)], words: &[&str]) -> tempfile::TempDir {
    let folder = folder(files);
    let error = match read_as(folder.path(), &ReadOptions::default()) {
        Err(error) => error.to_string(),
        Ok(list) => panic!("{files:?} is read as {:?}", edges(&list)),
    };
    for words in words {
        assert!(error.contains(words), "{files:?}: {error}");
    }
    folder
}

#[test]
fn edges_written_by_pandas_are_read() {
    let expected = pairs(&[("1", "2"), ("1", "4"), ("2", "3")]);
    for text in [
        // df.to_csv(), index=False, header=False and index=False, sep="\t"
        ",source,target\n0,1,2\n1,2,3\n2,4,1\n",
        "source,target\n1,2\n2,3\n4,1\n",
        "1,2\n2,3\n4,1\n",
        "\tsource\ttarget\n0\t1\t2\n1\t2\t3\n2\t4\t1\n",
        // read and written again, index and all
        ",Unnamed: 0,source,target\n0,0,1,2\n1,1,2,3\n2,2,4,1\n",
        "Unnamed: 0,from,to\n0,1,2\n1,2,3\n2,4,1\n",
        "index,src,dst\n7,1,2\n8,2,3\n9,4,1\n",
        // columns that only pandas could distinguish from ids
        "source,target,time\n1,2,1700000000\n2,3,1700000001\n4,1,1700000002\n",
        "source,target,kind\n1,2,0.5\n2,3,0.25\n4,1,1.5\n",
        "person_a,person_b\n1,2\n2,3\n4,1\n",
    ] {
        let list = read(&[("edges.csv", text)]);
        assert_eq!(edges(&list), expected, "{text:?}");
        assert_eq!(list.dataset.edge_weights(), None, "{text:?}");
        assert_eq!(list.dataset.node_count(), 4, "{text:?}");
    }
    let index = read(&[("edges.csv", ",source,target\n0,1,2\n1,2,3\n2,4,1\n")]);
    assert_eq!(roles(&index, 0), [Role::RowIndex, Role::Source, Role::Target]);
    let time = read(&[("edges.csv", "source,target,time\n1,2,17\n2,3,18\n")]);
    assert_eq!(roles(&time, 0), [Role::Source, Role::Target, Role::Unused]);
    assert_eq!(
        time.dataset.reading().unused().collect::<Vec<_>>(),
        [("edges.csv", "time")]
    );
}

#[test]
fn edges_written_by_r_are_read() {
    let expected = pairs(&[("1", "2"), ("1", "4"), ("2", "3")]);
    for text in [
        // write.csv(df), write.csv(df, row.names = FALSE)
        "\"\",\"from\",\"to\"\n\"1\",1,2\n\"2\",2,3\n\"3\",4,1\n",
        "\"from\",\"to\"\n1,2\n2,3\n4,1\n",
        // write.table(df): rows have a field more than the header
        "\"from\" \"to\"\n\"1\" 1 2\n\"2\" 2 3\n\"3\" 4 1\n",
        // write.csv2
        "\"\";\"from\";\"to\"\n\"1\";1;2\n\"2\";2;3\n\"3\";4;1\n",
    ] {
        let list = read(&[("edges.csv", text)]);
        assert_eq!(edges(&list), expected, "{text:?}");
        assert_eq!(list.dataset.edge_weights(), None, "{text:?}");
    }
    // as_data_frame(graph) of igraph with weights, by write.table
    let weighted = read(&[(
        "edges.txt",
        "\"from\" \"to\" \"weight\"\n\"1\" \"Ada\" \"Grace\" 0.5\n\"2\" \"Grace\" \"Emmy\" 2\n",
    )]);
    assert_eq!(edges(&weighted), pairs(&[("Ada", "Grace"), ("Emmy", "Grace")]));
    assert_eq!(weighted.dataset.edge_weights(), Some(&[0.5, 0.5, 2.0, 2.0][..]));
    assert_eq!(weighted.dataset.reading().weight(), Some("weight"));
}

#[test]
fn edges_written_by_networkx_are_read() {
    for (text, weights) in [
        ("0 1\n1 2\n", None),
        ("0 1 {}\n1 2 {}\n", None),
        ("0 1 {'since': 1999}\n1 2 {'since': 2001}\n", None),
        (
            "0 1 {'weight': 0.5}\n1 2 {'weight': 2}\n",
            Some([0.5, 0.5, 2.0, 2.0]),
        ),
        (
            "0 1 {'since': 1999, 'weight': 0.5}\n1 2 {'weight': 2, 'since': 3}\n",
            Some([0.5, 0.5, 2.0, 2.0]),
        ),
        // write_weighted_edgelist: nothing says that these are weights.
        ("0 1 0.5\n1 2 2\n", None),
    ] {
        let list = read(&[("edges.txt", text)]);
        assert_eq!(edges(&list), pairs(&[("0", "1"), ("1", "2")]), "{text:?}");
        let weights = weights.as_ref().map(|weights| &weights[..]);
        assert_eq!(list.dataset.edge_weights(), weights, "{text:?}");
    }
    let folder = folder(&[("edges.txt", "0 1 0.5\n1 2 2\n")]);
    let options = with(TableOptions {
        weight: Some("3".into()),
        ..TableOptions::default()
    });
    let list = read_as(folder.path(), &options).unwrap();
    assert_eq!(list.dataset.edge_weights(), Some(&[0.5, 0.5, 2.0, 2.0][..]));
    // An edge without one among others that have one.
    refused(
        &[("edges.txt", "0 1 {'weight': 0.5}\n1 2 {}\n")],
        &["line 2", "no 'weight'"],
    );
}

#[test]
fn ambiguous_first_row_is_refused() {
    // Two names that occur nowhere else: a header, or an edge of two nodes by themselves.
    let folder = refused(
        &[("edges.csv", "person_a,person_b\nAda,Grace\nGrace,Emmy\n")],
        &["`person_a,person_b`", "--header yes", "--header no"],
    );
    let named = read_as(folder.path(), &header(Header::Yes)).unwrap();
    assert_eq!(edges(&named), pairs(&[("Ada", "Grace"), ("Emmy", "Grace")]));
    let data = read_as(folder.path(), &header(Header::No)).unwrap();
    assert_eq!(data.dataset.node_count(), 5);

    // DataFrame([[1, 2], [2, 3]]).to_csv(index=False), or an edge from 0 to 1.
    let folder = refused(&[("edges.csv", "0,1\n1,2\n2,3\n")], &["`0,1`", "pandas"]);
    let pandas = read_as(folder.path(), &header(Header::Yes)).unwrap();
    assert_eq!(edges(&pandas), pairs(&[("1", "2"), ("2", "3")]));
    refused(&[("edges.csv", "0,1\n0,1\n1,2\n2,0\n")], &["`0,1`"]);
    // With another edge of node 0, or as no table is written by default, it is an edge.
    let triangle = read(&[("edges.csv", "0,1\n1,2\n2,0\n")]);
    assert_eq!(triangle.dataset.edge_count(), 3);

    // df.to_csv(header=False): an index that could be an end.
    let folder = refused(
        &[("edges.csv", "0,5,2\n1,2,3\n2,4,1\n")],
        &["counts the rows", "source=2,target=3"],
    );
    let chosen = |source: &str, target: &str| {
        with(TableOptions {
            source: Some(source.into()),
            target: Some(target.into()),
            ..TableOptions::default()
        })
    };
    let list = read_as(folder.path(), &chosen("2", "3")).unwrap();
    assert_eq!(edges(&list), pairs(&[("1", "4"), ("2", "3"), ("2", "5")]));
    refused(
        &[("edges.csv", "0,1,2\n1,2,3\n2,4,1\n")],
        &["`0,1,2`", "--header"],
    );
    // Three columns of which two could be the ends.
    let folder = refused(
        &[("edges.csv", "giver,taker,amount\n1,2,9\n2,3,8\n")],
        &["giver, taker, amount", "--columns source=NAME,target=NAME"],
    );
    let list = read_as(folder.path(), &chosen("giver", "taker")).unwrap();
    assert_eq!(edges(&list), pairs(&[("1", "2"), ("2", "3")]));
    for (source, target, words) in [
        ("giver", "given", "no column `given`"),
        ("giver", "4", "no column `4`"),
        ("giver", "giver", "both ends"),
    ] {
        let error = read_as(folder.path(), &chosen(source, target))
            .unwrap_err()
            .to_string();
        assert!(error.contains(words), "{error}");
    }
}

/// An isolated node 0, and features by position: read as ids from 1, everything is
/// shifted by one.
#[test]
fn ambiguous_id_base_is_refused() {
    let features = array![[10.0f32], [11.0], [12.0], [13.0]];
    let file = |edges: &str| {
        let folder = folder(&[("edges.csv", edges)]);
        write_npy(&folder.path().join("features.npy"), features.view()).unwrap();
        folder
    };
    let folder = file("source,target\n1,2\n2,3\n");
    let error = read_as(folder.path(), &ReadOptions::default())
        .unwrap_err()
        .to_string();
    assert!(error.contains("--ids-from 0 or --ids-from 1"), "{error}");
    let zero = read_as(folder.path(), &ids(NodeIds::ZeroBased)).unwrap();
    assert_eq!(edges(&zero), pairs(&[("1", "2"), ("2", "3")]));
    assert_eq!(zero.dataset.graph(0).unwrap().neighbours(0), [0u32; 0]);
    let one = read_as(folder.path(), &ids(NodeIds::OneBased)).unwrap();
    assert_eq!(one.dataset.graph(0).unwrap().neighbours(3), [0u32; 0]);

    // Where the last row must be the largest id, it is decided.
    let folder = file("source,target\n1,2\n2,4\n");
    let one = read_as(folder.path(), &ReadOptions::default()).unwrap();
    assert_eq!(one.ids, NodeIds::OneBased);
    let folder = file("source,target\n0,2\n2,3\n");
    assert_eq!(
        read_as(folder.path(), &ReadOptions::default()).unwrap().ids,
        NodeIds::ZeroBased
    );
    // The same by a table without ids, and only by labels.
    let table = [
        ("edges.csv", "source,target\n1,2\n2,3\n"),
        ("features.csv", "x\n1\n2\n3\n4\n"),
    ];
    refused(&table, &["--ids-from"]);
    let labels = [
        ("edges.csv", "source,target\n1,2\n2,3\n"),
        ("labels.csv", "label\na\nb\na\nb\n"),
    ];
    refused(&labels, &["--ids-from"]);
    // With ids in the tables there is nothing to ask.
    let by_id = read(&[
        ("edges.csv", "source,target\n1,2\n2,3\n"),
        ("features.csv", "id,x\n3,13\n0,10\n2,12\n1,11\n"),
        ("labels.csv", "id,label\n0,a\n3,b\n"),
    ]);
    assert_eq!(by_id.ids, NodeIds::ZeroBased);
    assert_eq!(by_id.dataset.features().to_dense(), features);
    // A comment that counts nodes, as `write_edge_list` writes it, counts from 0.
    let declared = file("# nodes: 4\nsource,target\n1,2\n2,3\n");
    assert_eq!(
        read_as(declared.path(), &ReadOptions::default()).unwrap().ids,
        NodeIds::ZeroBased
    );
    refused(
        &[("edges.csv", "# nodes: 4\n0,2\n2,4\n")],
        &["comment says 4 nodes", "0 to 4"],
    );
}

#[test]
fn features_written_by_pandas_and_r_are_read() {
    let edges = ("edges.csv", "source,target\n0,1\n1,2\n");
    let expected = array![[0.5f32, 1.0], [2.0, 3.25], [4.0, 5.0]];
    for text in [
        // DataFrame(X).to_csv(index=False): the header is 0,1
        "0,1\n0.5,1.0\n2.0,3.25\n4.0,5.0\n",
        // DataFrame(X).to_csv(), and with names
        ",0,1\n0,0.5,1.0\n1,2.0,3.25\n2,4.0,5.0\n",
        ",a,b\n2,4.0,5.0\n0,0.5,1.0\n1,2.0,3.25\n",
        "a,b\n0.5,1.0\n2.0,3.25\n4.0,5.0\n",
        "index,a,b\n0,0.5,1.0\n1,2.0,3.25\n2,4.0,5.0\n",
        "vertex,a,b\n1,2.0,3.25\n0,0.5,1.0\n2,4.0,5.0\n",
        "a,b,node\n2.0,3.25,1\n0.5,1.0,0\n4.0,5.0,2\n",
        "0.5,1.0\n2.0,3.25\n4.0,5.0\n",
    ] {
        let list = read(&[edges, ("features.csv", text)]);
        assert_eq!(list.dataset.features().to_dense(), expected, "{text:?}");
    }
    // Whole numbers below 0,1: as many rows as nodes decide it. With one more, node 2 may be isolated.
    let whole = read(&[edges, ("features.csv", "0,1\n1,0\n0,1\n")]);
    assert_eq!(whole.dataset.features().to_dense().row(0).to_vec(), [0.0, 1.0]);
    refused(
        &[edges, ("features.csv", "0,1\n1,0\n0,1\n5,6\n")],
        &["features.csv", "`0,1`", "--header"],
    );
    // R counts rows from 1, and so do ids that R wrote.
    let one_based = read(&[
        ("edges.csv", "\"\",\"from\",\"to\"\n\"1\",1,2\n\"2\",2,3\n"),
        ("features.csv", "\"\",\"x\"\n\"1\",10\n\"2\",20\n\"3\",30\n"),
    ]);
    assert_eq!(
        one_based.dataset.features().to_dense(),
        array![[10.0], [20.0], [30.0]]
    );
    // A first column that counts the nodes, without a header.
    refused(
        &[edges, ("features.csv", "0,0.5\n1,0.25\n2,0.75\n")],
        &["counts the nodes", "header"],
    );
    // A label is no feature.
    let labelled = read(&[edges, ("nodes.csv", "id,x,label\n0,0.5,a\n1,0.25,b\n2,0.75,a\n")]);
    assert_eq!(labelled.dataset.features().width(), 1);
    assert_eq!(labelled.dataset.node_labels().unwrap().class_sizes(), [2, 1]);
    refused(
        &[
            edges,
            ("features.csv", "id,x,label\n0,0.5,a\n1,0.25,b\n2,0.75,a\n"),
            ("labels.csv", "id,label\n0,a\n"),
        ],
        &["keep one of them"],
    );
    let names = labelled.dataset.feature_columns().unwrap();
    assert_eq!(names.iter().map(ToString::to_string).collect::<Vec<_>>(), ["x"]);
    refused(
        &[edges, ("features.csv", "x,x\n1,2\n3,4\n5,6\n")],
        &["two columns are called `x`"],
    );
}

#[test]
fn labels_written_by_pandas_and_r_are_read() {
    let numbered = ("edges.csv", "source,target\n0,1\n1,2\n");
    let classes = |files: &[(&str, &str)]| {
        let list = read(files);
        let labels = list.dataset.node_labels().unwrap();
        let name = |class: u32| labels.names()[class as usize].clone();
        labels.iter().map(|class| class.map(name)).collect::<Vec<_>>()
    };
    let abc = |names: &[&str]| {
        let known = |name: &&str| (!name.is_empty()).then(|| (*name).to_owned());
        names.iter().map(known).collect::<Vec<_>>()
    };
    for text in [
        // Series.to_csv() with and without a name, one label missing
        ",0\n0,a\n1,b\n2,\n",
        ",party\n0,a\n1,b\n2,\n",
        "user,party\n0,a\n1,b\n2,NA\n",
        "\"\",\"x\"\n\"0\",\"a\"\n\"1\",\"b\"\n\"2\",NA\n",
        "id,party,age\n",
    ]
    .iter()
    .take(4)
    {
        assert_eq!(
            classes(&[numbered, ("labels.csv", text)]),
            abc(&["a", "b", ""]),
            "{text:?}"
        );
    }
    // A label that R writes in quotes is one: North America is not missing.
    let text = "\"id\",\"label\"\n0,\"EU\"\n1,\"NA\"\n2,NA\n";
    assert_eq!(classes(&[numbered, ("labels.csv", text)]), abc(&["EU", "NA", ""]));
    // One for each node: by how many there are.
    for (text, expected) in [
        ("y\na\nb\na\n", ["a", "b", "a"]),
        ("party\na\nb\na\n", ["a", "b", "a"]),
        ("y\nn\nn\n", ["y", "n", "n"]),
        ("0\na\nb\na\n", ["a", "b", "a"]),
    ] {
        let features = ("features.csv", "x\n1\n2\n3\n");
        let found = classes(&[numbered, features, ("labels.csv", text)]);
        assert_eq!(found, abc(&expected), "{text:?}");
    }
    // Without features a fourth line may be an isolated node.
    refused(
        &[numbered, ("labels.csv", "party\na\nb\na\n")],
        &["labels.csv", "`party`"],
    );
    refused(
        &[numbered, ("labels.csv", "0\n0\n1\n0\n")],
        &["labels.csv", "`0`"],
    );
    assert_eq!(
        classes(&[numbered, ("labels.csv", "y\nn\nn\n")]),
        abc(&["y", "n", "n"])
    );
    assert_eq!(
        classes(&[numbered, ("labels.csv", "0,1\n1,0\n2,1\n")]),
        abc(&["1", "0", "1"])
    );

    // Nodes with names.
    let named = ("edges.csv", "source,target\nAda,Grace\nGrace,Emmy\n");
    for text in [
        "user,party\nAda,a\nEmmy,b\n",
        "who,side\nAda,a\nEmmy,b\n",
        "Ada,a\nEmmy,b\n",
    ] {
        let list = read(&[named, ("labels.csv", text)]);
        assert_eq!(list.dataset.node_count(), 3, "{text:?}");
        assert_eq!(list.dataset.node_labels().unwrap().known(), 2, "{text:?}");
    }
    // `who` may be an isolated node, as Zoe is.
    refused(
        &[named, ("labels.csv", "who,side\nAda,a\nZoe,b\n")],
        &["`who,side`", "--header"],
    );
}

#[test]
fn read_notes_describe_every_column() {
    let list = read(&[
        (
            "edges.csv",
            "source,target,weight,since\n0,0,1,1\n0,1,2,1\n1,0,3,1\n1,2,4,1\n1,2,5,2\n",
        ),
        ("features.csv", "id,x\n0,1\n1,2\n2,3\n"),
        ("labels.csv", "id,label\n0,a\n2,nan\n"),
    ]);
    let notes = list.dataset.notes();
    assert_eq!(
        (notes.listed, notes.self_loops, notes.duplicates, notes.one_way),
        (5, 1, 1, 1)
    );
    let reading = list.dataset.reading();
    assert_eq!(reading.ids, Some(NodeIds::ZeroBased));
    assert_eq!(reading.weight(), Some("weight"));
    assert_eq!(reading.unused().collect::<Vec<_>>(), [("edges.csv", "since")]);
    assert!(reading.tables.iter().all(|table| table.header));
    assert_eq!(list.dataset.node_labels().unwrap().known(), 1);
}

#[test]
fn missing_label_is_not_a_class() {
    let tables = |labels: &str| {
        let folder = folder(&[
            (
                "edges.csv",
                ",graph,source,target\n0,g,1,2\n1,h,1,2\n2,i,1,2\n3,k,1,2\n",
            ),
            ("graphs.csv", labels),
        ]);
        read_graph_tables(folder.path(), &ReadOptions::default())
            .unwrap()
            .dataset
    };
    for missing in ["", "nan", "NaN", "NA", "N/A", "<NA>", "null"] {
        let dataset = tables(&format!("graph,label\ng,1.5\nh,{missing}\ni,-2.25\nk,3\n"));
        match dataset.targets() {
            Some(Targets::Values(values)) => {
                assert!(values[[1, 0]].is_nan() && values[[2, 0]] == -2.25, "{missing}");
            }
            other => panic!("{missing}: {other:?}"),
        }
        let dataset = tables(&format!(
            ",graph,label\n0,g,wet\n1,h,{missing}\n2,i,dry\n3,k,wet\n"
        ));
        let classes = dataset.classes().unwrap();
        assert_eq!(
            (classes.known(), classes.class_sizes()),
            (3, vec![1, 2]),
            "{missing}"
        );
    }
    let dataset = tables("\"graph\",\"label\"\n\"g\",\"NA\"\n\"h\",NA\n\"i\",\"EU\"\n\"k\",\"EU\"\n");
    assert_eq!(dataset.classes().unwrap().names(), ["EU", "NA"]);
    assert_eq!(dataset.classes().unwrap().known(), 3);
}

#[test]
fn read_notes_describe_tables_of_graphs() {
    let folder = folder(&[
        (
            "edges.csv",
            ",graph,source,target,bond\n0,g,a,b,2\n1,g,b,a,2\n2,g,b,b,1\n3,h,a,b,1\n",
        ),
        (
            "nodes.csv",
            "graph,charge,node,mass\ng,0.5,a,1\ng,1.5,b,2\nh,2.5,a,3\nh,3.5,b,4\n",
        ),
        ("graphs.csv", "graph,smiles,label\ng,CO,1\nh,CC,0\n"),
    ]);
    let read = read_graph_tables(folder.path(), &ReadOptions::default())
        .unwrap()
        .dataset;
    let columns = read.feature_columns().unwrap();
    assert_eq!(
        columns.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["charge", "mass"]
    );
    let expected: Array2<f32> = array![[0.5, 1.0], [1.5, 2.0], [2.5, 3.0], [3.5, 4.0]];
    assert_eq!(read.features().to_dense(), expected);
    assert_eq!(read.edge_weights(), None);
    let unused: Vec<_> = read.reading().unused().collect();
    assert_eq!(unused, [("edges.csv", "bond"), ("graphs.csv", "smiles")]);
    assert_eq!((read.notes().self_loops, read.notes().one_way), (1, 1));
    let options = with(TableOptions {
        weight: Some("bond".into()),
        ..TableOptions::default()
    });
    let read = read_graph_tables(folder.path(), &options).unwrap().dataset;
    assert_eq!(read.edge_weights(), Some(&[2.0, 2.0, 1.0, 1.0][..]));
}
