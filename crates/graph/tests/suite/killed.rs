//! The writer of caches, killed at random moments: the next load reads the source or a
//! whole cache, and clears up.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use egg_graph::synthetic::BlockModel;
use egg_graph::{Cache, CacheUse, DataSource, ReadOptions, write_edge_list};
use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};

use crate::moments::Moments;

const SOURCE: &str = "EGG_CACHES";
/// Loads of the child, each with an option of its own, so that there is always something to write.
const LOADS: u64 = 8;

fn options(load: u64) -> ReadOptions {
    ReadOptions {
        max_bytes: (1 << 30) + load,
        ..ReadOptions::default()
    }
}

fn load(path: &Path, load: u64) -> (String, CacheUse) {
    let source = DataSource::detect(path).unwrap();
    let loaded = source.load(&options(load), &Cache::Beside).unwrap();
    (loaded.dataset.fingerprint(), loaded.cache)
}

/// No test of its own: what is killed.
#[test]
fn child() {
    if let Some(path) = std::env::var_os(SOURCE) {
        (0..LOADS).for_each(|number| drop(load(Path::new(&path), number)));
    }
}

fn writer(path: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "killed::child"])
        .env(SOURCE, path)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

#[test]
fn a_cache_is_whole_or_read_again() {
    let model = BlockModel {
        nodes: 3000,
        ..BlockModel::default()
    };
    let dataset = model.generate(&mut ChaCha8Rng::seed_from_u64(1)).unwrap();
    let fresh = || {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("net.csv");
        write_edge_list(&path, &dataset.graph(0).unwrap().to_graph()).unwrap();
        (writer(&path), folder)
    };
    let (mut command, whole) = fresh();
    let begin = Instant::now();
    assert!(command.status().unwrap().success());
    let length = begin.elapsed();
    let path = whole.path().join("net.csv");
    let expected: Vec<String> = (0..LOADS)
        .map(|number| {
            let (fingerprint, used) = load(&path, number);
            assert_eq!(used, CacheUse::Hit);
            fingerprint
        })
        .collect();

    let (mut hits, mut written) = (0, 0);
    Moments::over(length).kill(fresh, |folder, which| {
        let path = folder.path().join("net.csv");
        let caches = || {
            let entries = std::fs::read_dir(folder.path()).unwrap();
            let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
            names
                .filter(|name| name != "net.csv")
                .partition::<Vec<_>, _>(|name| name.ends_with(".eggcache"))
        };
        // Whatever has the name of a cache is one, and is used.
        let (whole, _) = caches();
        let mut used = [0, 0];
        for (number, expected) in (0..LOADS).zip(&expected) {
            let (fingerprint, how) = load(&path, number);
            assert_eq!(fingerprint, *expected, "{which}");
            used[usize::from(how == CacheUse::Written)] += 1;
        }
        assert_eq!(used[0], whole.len(), "a cache is not whole: {which}");
        let (_, others) = caches();
        assert!(others.is_empty(), "{others:?} stayed: {which}");
        hits += used[0];
        written += used[1];
    });
    assert!(hits > 0 && written > 0, "{hits} caches were there, {written} not");
}
