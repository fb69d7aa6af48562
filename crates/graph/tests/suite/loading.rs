//! Layouts and caches.

use std::time::Instant;

use egg_datasets::Registry;
use egg_graph::{
    Cache, CacheUse, DataSource, Error, FeatureColumn, Layout, NodeFeatures, ReadOptions, Role, SelfLoops,
};

use crate::real_data;

/// Reads COLLAB (363 MB of text), then loads it from the cache. Times are
/// printed, not judged: `docs/GRAPHS.md` has them.
#[test]
#[expect(clippy::print_stdout, reason = "for those who ask with --nocapture")]
fn largest_data_set_is_cached() {
    let Some(path) = real_data::find("COLLAB.zip") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::In(folder.path().to_owned());
    let source = DataSource::detect(&path).unwrap();
    let start = Instant::now();
    let first = source.load(&ReadOptions::default(), &cache).unwrap();
    let read = start.elapsed();
    assert_eq!(first.cache, CacheUse::Written);
    let start = Instant::now();
    let second = source.load(&ReadOptions::default(), &cache).unwrap();
    println!(
        "COLLAB: read in {read:.2?}, from the cache in {:.2?}",
        start.elapsed()
    );
    assert_eq!(second.cache, CacheUse::Hit);
    assert_eq!(second.dataset, first.dataset);
    let entry = Registry::builtin().get("collab").unwrap();
    assert_eq!(Some(first.dataset.fingerprint()), entry.fingerprint);
}

#[test]
fn cache_key_covers_files_and_options() {
    let folder = tempfile::tempdir().unwrap();
    let write = |part: &str, text: &str| {
        std::fs::write(folder.path().join(format!("T_{part}.txt")), text).unwrap();
    };
    write("A", "1, 2\n1, 1\n");
    write("graph_indicator", "1\n1\n");
    let source = DataSource::detect(folder.path()).unwrap();
    let load = |options: &ReadOptions| source.load(options, &Cache::NextToSource).unwrap();
    let plain = ReadOptions::default();
    let looped = ReadOptions {
        self_loops: SelfLoops::Keep,
        ..ReadOptions::default()
    };
    assert_eq!(load(&plain).cache, CacheUse::Written);
    assert_eq!(load(&plain).cache, CacheUse::Hit);
    assert_eq!(load(&looped).cache, CacheUse::Written);
    assert_eq!(load(&plain).cache, CacheUse::Hit);
    // The same length, the same time of change: only the bytes differ.
    let path = folder.path().join("T_A.txt");
    let changed = std::fs::metadata(&path).unwrap().modified().unwrap();
    write("A", "1, 2\n2, 2\n");
    std::fs::File::options()
        .write(true)
        .open(&path)
        .and_then(|file| file.set_modified(changed))
        .unwrap();
    let again = load(&looped);
    assert_eq!(again.cache, CacheUse::Written);
    assert_eq!(again.dataset.graph(0).unwrap().neighbours(1), [0, 1]);
    // A file more is another source.
    write("node_labels", "1\n2\n");
    assert_eq!(load(&plain).cache, CacheUse::Written);
    assert_eq!(load(&plain).dataset.features().width(), 2);
}

#[test]
fn layouts_are_detected() {
    let folder = tempfile::tempdir().unwrap();
    let touch = |name: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "").unwrap();
    };
    for name in [
        "tu/X_graph_indicator.txt",
        "pl/ind.cora.allx",
        "ogb/raw/edge.csv.gz",
        "a.npz",
        "data.json",
    ] {
        touch(name);
    }
    for name in [
        "edges.csv",
        "b.zip",
        "c.dat",
        "two/ind.a.allx",
        "two/ind.b.allx",
        "none/x",
    ] {
        touch(name);
    }
    let detect = |name: &str| DataSource::detect(&folder.path().join(name));
    for (name, layout, stem) in [
        ("tu", Layout::Tu, "X"),
        ("pl", Layout::Planetoid, "cora"),
        ("ogb", Layout::Ogb, "ogb"),
        ("a.npz", Layout::GnnBenchmark, "a"),
        ("data.json", Layout::WikiCs, "data"),
        ("edges.csv", Layout::EdgeList, "edges"),
        ("b.zip", Layout::Tu, "b"),
    ] {
        let source = detect(name).unwrap();
        assert_eq!((source.layout, source.name.as_str()), (layout, stem));
    }
    for name in ["c.dat", "two", "none"] {
        assert!(matches!(detect(name), Err(Error::UnknownLayout { .. })), "{name}");
    }
    assert!(matches!(detect("nothing"), Err(Error::Io { .. })));
}

#[test]
fn names_and_claimed_paths_are_those_of_the_layout() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        DataSource::detect(&path).unwrap()
    };
    let options = ReadOptions::default();

    let numbered = write("numbered.csv", "source,target\n1,2\n2,3\n4,2\n");
    let read = numbered.read_named(&options).unwrap();
    assert_eq!((read.first_node, read.node_names), (1, None));
    let claimed = numbered.claimed_paths();
    for name in ["numbered.csv", "numbered.features.npy", "numbered.labels.csv"] {
        assert!(claimed.contains(&folder.path().join(name)), "{name}");
    }
    let named = write("named.csv", "source,target\nAda,Grace\n");
    let names = named.read_named(&options).unwrap().node_names.unwrap();
    assert_eq!(names, ["Ada", "Grace"]);

    write("tables/edges.csv", "graph,source,target\nwater,O,H\nair,a,b\n");
    let tables = DataSource::detect(&folder.path().join("tables")).unwrap();
    let names = tables.read_named(&options).unwrap().graph_names.unwrap();
    assert_eq!(names, ["water", "air"]);
    let claimed = tables.claimed_paths();
    assert!(claimed.contains(&folder.path().join("tables/graphs.tsv")));

    // Layouts that say nothing of it: the path of the source, and no names.
    write("tu/X_graph_indicator.txt", "1\n1\n");
    write("tu/X_A.txt", "1, 2\n");
    let tu = DataSource::detect(&folder.path().join("tu")).unwrap();
    let read = tu.read_named(&options).unwrap();
    assert_eq!(
        (read.graph_names, read.node_names, read.first_node),
        (None, None, 0)
    );
    assert_eq!(tu.claimed_paths(), [folder.path().join("tu")]);
}

#[test]
fn cache_key_covers_folder_names() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    for (name, text) in [
        ("raw/num-node-list.csv", "1\n1\n1\n"),
        ("raw/num-edge-list.csv", "0\n0\n0\n"),
        ("raw/edge.csv", ""),
        ("raw/node-feat.csv", "1\n2\n3\n"),
        ("raw/graph-label.csv", "0\n1\n0\n"),
    ] {
        write(name, text);
    }
    for (split, order) in [("b", ["0", "1", "2"]), ("scaffold", ["2", "1", "0"])] {
        for (part, index) in ["train", "valid", "test"].iter().zip(order) {
            write(&format!("split/{split}/{part}.csv"), &format!("{index}\n"));
        }
    }
    let source = DataSource::detect(folder.path()).unwrap();
    let train = || {
        let loaded = source
            .load(&ReadOptions::default(), &Cache::NextToSource)
            .unwrap();
        loaded.dataset.split().unwrap().train.clone()
    };
    assert_eq!(train(), [2]);
    std::fs::rename(
        folder.path().join("split/scaffold"),
        folder.path().join("split/z"),
    )
    .unwrap();
    assert_eq!(train(), [0]);
}

/// Node labels of a TU data set are categories: what a column means is in its name, which the
/// cache keeps.
#[test]
fn columns_of_a_tu_data_set_have_names() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("A", "1, 2\n2, 1\n"),
        ("graph_indicator", "1\n1\n"),
        ("node_labels", "3\n5\n"),
        ("node_attributes", "0.5, 7\n1.5, 8\n"),
    ] {
        std::fs::write(folder.path().join(format!("PAIR_{name}.txt")), text).unwrap();
    }
    let source = DataSource::detect(folder.path()).unwrap();
    let label = |value: &str| FeatureColumn::category("node label", value);
    let labels = [label("3"), label("4"), label("5")];
    let attributes = ["node attribute 1", "node attribute 2"].map(FeatureColumn::number);
    for (node_features, expected, unused) in [
        (NodeFeatures::Auto, labels.to_vec(), 2),
        (NodeFeatures::Attributes, attributes.to_vec(), 1),
        (NodeFeatures::Both, [&attributes[..], &labels].concat(), 0),
    ] {
        let options = ReadOptions {
            node_features,
            ..ReadOptions::default()
        };
        let read = source.load(&options, &Cache::NextToSource).unwrap();
        let cached = source.load(&options, &Cache::NextToSource).unwrap();
        assert_eq!((read.cache, cached.cache), (CacheUse::Written, CacheUse::Hit));
        assert_eq!(read.dataset, cached.dataset);
        assert_eq!(cached.dataset.feature_columns(), Some(&expected[..]));
        assert_eq!(cached.dataset.reading().unused().count(), unused);
        let used = |role: &Role| *role == Role::Feature;
        let roles = cached
            .dataset
            .reading()
            .tables
            .iter()
            .flat_map(|table| &table.columns);
        assert_eq!(roles.filter(|column| used(&column.role)).count(), 3 - unused);
    }
}
