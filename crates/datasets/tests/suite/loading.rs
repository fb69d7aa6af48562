//! From names to data sets.

use egg_datasets::{DataFolders, Registry};
use egg_graph::{Cache, CacheUse, Error, NodeFeatures, ReadOptions};

use crate::real_data;

#[test]
fn registered_data_sets_match_the_registry() {
    let Some(folder) = real_data::folder("all") else {
        return;
    };
    for entry in Registry::builtin().entries() {
        // COLLAB has a test of its own; Wiki-CS is not available.
        if ["COLLAB", "Wiki-CS"].contains(&entry.name.as_str()) {
            continue;
        }
        let source = DataFolders::only(&folder).source(&entry.name).unwrap();
        let dataset = source.read(&ReadOptions::default()).unwrap();
        let name = &entry.name;
        let labels = dataset.classes().or(dataset.node_labels()).unwrap();
        assert_eq!(dataset.len() as u64, entry.counts.graphs, "{name}");
        assert_eq!(dataset.node_count() as u64, entry.counts.nodes, "{name}");
        assert_eq!(Some(dataset.edge_count() as u64), entry.counts.edges, "{name}");
        assert_eq!(dataset.features().width() as u64, entry.counts.features, "{name}");
        assert_eq!(labels.class_count() as u64, entry.counts.classes, "{name}");
        assert_eq!(Some(dataset.fingerprint()), entry.fingerprint, "{name}");
    }
}

/// What lies under a registered name may have been changed, or be something else.
#[test]
fn registered_data_are_checked_by_their_fingerprint() {
    let folder = tempfile::tempdir().unwrap();
    let files = folder.path().join("MUTAG");
    std::fs::create_dir(&files).unwrap();
    for (name, text) in [
        ("A", "1, 2\n2, 1\n"),
        ("graph_indicator", "1\n1\n"),
        ("graph_labels", "1\n"),
        ("node_labels", "0\n6\n"),
        ("node_attributes", "0.5\n1.5\n"),
    ] {
        std::fs::write(files.join(format!("MUTAG_{name}.txt")), text).unwrap();
    }
    let both = ReadOptions {
        node_features: NodeFeatures::Both,
        ..ReadOptions::default()
    };
    let entry = Registry::builtin().get("MUTAG").unwrap();
    let source = entry.source_at(files);
    let caches = tempfile::tempdir().unwrap();
    for cache in [Cache::Off, Cache::In(caches.path().to_owned())] {
        for options in [ReadOptions::default(), both.clone()] {
            let fingerprint = source.read(&ReadOptions::default()).unwrap().fingerprint();
            let refused = source.load(&options, &cache).unwrap_err();
            let Error::Modified { expected, found, .. } = &refused else {
                panic!("{refused}");
            };
            assert_eq!(
                (Some(expected), found),
                (entry.fingerprint.as_ref(), &fingerprint)
            );
            let words = refused.to_string();
            assert!(words.contains(expected) && words.contains(found), "{words}");
            let allowed = source.clone().allow_modified().load(&options, &cache).unwrap();
            assert_eq!(allowed.dataset.node_count(), 2);
        }
        // What was allowed once is not what is registered.
        assert!(source.load(&ReadOptions::default(), &cache).is_err());
    }
    if let Some(path) = real_data::folder("MUTAG") {
        let source = DataFolders::only(path).source("MUTAG").unwrap();
        for options in [ReadOptions::default(), both] {
            let cache = Cache::In(caches.path().to_owned());
            for used in [CacheUse::Written, CacheUse::Hit] {
                let loaded = source.load(&options, &cache).unwrap();
                assert_eq!((loaded.cache, loaded.dataset.len()), (used, 188));
            }
        }
    }
}
