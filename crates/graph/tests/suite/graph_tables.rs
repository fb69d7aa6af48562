//! Many graphs in tables, and the files that belong to one.

use std::path::Path;

use egg_graph::{
    Cache, DataSource, EdgeListSource, Error, GraphTables, Layout, NodeIds, ReadOptions, Targets,
    read_graph_tables,
};

fn write(folder: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        std::fs::write(folder.join(name), text).unwrap();
    }
}

fn read(files: &[(&str, &str)]) -> Result<GraphTables, Error> {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), files);
    read_graph_tables(folder.path(), &ReadOptions::default())
}

fn refused(files: &[(&str, &str)]) -> String {
    read(files).unwrap_err().to_string()
}

const EDGES: (&str, &str) = ("edges.csv", "graph,source,target\nb,1,2\na,x,y\nb,2,3\n");

#[test]
fn graphs_are_in_the_order_of_the_first_table_that_names_them() {
    let edges_only = read(&[EDGES]).unwrap();
    assert_eq!(edges_only.names, ["b", "a"]);
    assert_eq!(
        (edges_only.dataset.node_count(), edges_only.dataset.edge_count()),
        (5, 3)
    );
    assert!(edges_only.dataset.targets().is_none());
    let labelled = read(&[EDGES, ("graphs.csv", "graph;label\na;yes\nb;\n")]).unwrap();
    assert_eq!(labelled.names, ["a", "b"]);
    let classes = labelled.dataset.classes().unwrap();
    assert_eq!((classes.get(0), classes.get(1)), (Some(0), None));
}

#[test]
fn node_table_gives_features_and_isolated_nodes() {
    let nodes = "graph,node,height,weight\na,y,1,2\na,x,3,4\nb,1,5,6\nb,2,7,8\nb,3,9,10\nb,alone,11,12\n";
    let found = read(&[EDGES, ("nodes.tsv", &nodes.replace(',', "\t"))]).unwrap();
    assert_eq!(found.names, ["a", "b"]);
    assert_eq!(found.dataset.node_offsets(), [0, 2, 6]);
    let features = found.dataset.features().to_dense();
    assert_eq!(features.row(1).to_vec(), [3.0, 4.0]);
    assert_eq!(features.row(5).to_vec(), [11.0, 12.0]);
    // Node y of graph a has the first row.
    assert_eq!(found.dataset.graph(0).unwrap().neighbours(0), [1]);
}

#[test]
fn fractions_are_numbers_to_predict_and_weights_are_kept() {
    let edges = (
        "edges.csv",
        "weight,target,source,graph,comment\n0.5,2,1,a,x\n2,2,1,b,y\n",
    );
    let found = read(&[edges, ("graphs.csv", "graph,label\na,1.5\nb,\n")]).unwrap();
    let Some(Targets::Values(values)) = found.dataset.targets() else {
        panic!("numbers");
    };
    assert!(values[(0, 0)] == 1.5 && values[(1, 0)].is_nan());
    assert_eq!(found.dataset.edge_weights(), Some(&[0.5, 0.5, 2.0, 2.0][..]));
    let empty = read(&[EDGES, ("graphs.csv", "graph,label\na,\nb,\n")]).unwrap();
    assert!(empty.dataset.targets().is_none());
}

#[test]
fn contradictory_content_is_refused_with_its_line() {
    let with = |file: (&str, &str)| refused(&[EDGES, file]);
    assert!(
        with(("graphs.csv", "graph,label\na,1\n"))
            .contains("edges.csv, line 2: graph `b` has no row in graphs.csv")
    );
    assert!(with(("graphs.csv", "graph,label\na,1\na,2\nb,1\n")).contains("graphs.csv, line 3"));
    assert!(with(("graphs.csv", "a,1\nb,2\n")).contains("columns graph and label"));
    assert!(with(("graphs.csv", "graph,label\na,1\nb,2\nc,3\n")).contains("graph `c` has no nodes"));
    assert!(with(("nodes.csv", "graph,node,h\na,x,1\na,x,2\n")).contains("nodes.csv, line 3"));
    assert!(
        with(("nodes.csv", "graph,node,h\nb,1,1\n"))
            .contains("node `2` of this graph has no row in nodes.csv")
    );
    assert!(with(("nodes.csv", "graph,node,h\nb,1,tall\n")).contains("nodes.csv, line 2"));
    assert!(with(("nodes.csv", "graph,node,h\nb,1,1,2\n")).contains("nodes.csv, line 2"));
    assert!(refused(&[("edges.csv", "graph,source,target\na,,2\n")]).contains("the id of a node is empty"));
    assert!(refused(&[("edges.csv", "a,1,2\n")]).contains("graph, source and target"));
    assert!(refused(&[]).contains("edges.csv is missing"));
}

#[test]
fn graph_tables_and_edge_lists_are_distinguished() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[EDGES]);
    let source = DataSource::detect(folder.path()).unwrap();
    assert_eq!(source.layout, Layout::GraphTables);
    let dataset = source
        .load(&ReadOptions::default(), &Cache::NextToSource)
        .unwrap()
        .dataset;
    assert_eq!(dataset.len(), 2);
    write(folder.path(), &[("edges.csv", "source,target\n0,1\n")]);
    assert_eq!(
        DataSource::detect(folder.path()).unwrap().layout,
        Layout::EdgeList
    );
}

#[test]
fn id_kind_is_inferred_from_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let ids = |text: &str| {
        write(folder.path(), &[("edges.csv", text)]);
        EdgeListSource::find(folder.path())
            .unwrap()
            .read(&ReadOptions::default())
            .unwrap()
            .ids
    };
    assert_eq!(ids("source,target\n0,1\n1,2\n"), NodeIds::ZeroBased);
    assert_eq!(ids("1 2\n2 3\n"), NodeIds::OneBased);
    assert_eq!(ids("# nodes: 5\n1 2\n2 3\n"), NodeIds::ZeroBased);
    assert_eq!(ids("1000234 1000235\n1000235 1000999\n"), NodeIds::Named);
    assert_eq!(ids("0 900000\n"), NodeIds::Named);
    assert_eq!(ids("Ada,Grace\nGrace,Emmy\n"), NodeIds::Named);
    assert_eq!(ids("1,2\n2,B\n"), NodeIds::Named);
}

#[test]
fn companion_files_of_an_edge_list_are_found() {
    let folder = tempfile::tempdir().unwrap();
    write(
        folder.path(),
        &[
            ("net.csv", "1,2\n2,3\n"),
            ("net.features.csv", "id,x\n3,30\n1,10\n2,20\n"),
            ("net.labels.csv", "id,label\n2,b\n1,a\n"),
            ("other.labels.csv", "id,label\n9,b\n"),
        ],
    );
    let options = ReadOptions::default();
    let read = EdgeListSource::find(&folder.path().join("net.csv"))
        .unwrap()
        .read(&options)
        .unwrap();
    assert_eq!(
        read.dataset.features().to_dense().column(0).to_vec(),
        [10.0, 20.0, 30.0]
    );
    assert_eq!(read.dataset.node_labels().unwrap().known(), 2);
    let missing = EdgeListSource::find(&folder.path().join("none"));
    assert!(missing.unwrap().read(&options).is_err());
}
