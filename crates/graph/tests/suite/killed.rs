//! The writer of caches, killed at random moments: the next load reads the source or a
//! whole cache, and clears up.

use std::path::{Path, PathBuf};
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
    let loaded = source.load(&options(load), &Cache::NextToSource).unwrap();
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
fn cache_is_complete_after_a_kill() {
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

const WITHOUT_ROOM: &str = "EGG_CACHES_WITHOUT_ROOM";

/// No test of its own: a cache folder that was asked for, and the folder of the source.
#[test]
fn child_on_full_disk() {
    let Some(folder) = std::env::var_os(WITHOUT_ROOM).map(PathBuf::from) else {
        return;
    };
    let path = folder.join("net.csv");
    let source = DataSource::detect(&path).unwrap();
    let asked = source.load(&options(0), &Cache::In(folder.join("caches")));
    let refused = asked.unwrap_err().to_string();
    assert!(
        refused.contains(".eggcache: File too large") || refused.contains(".eggcache: No space left"),
        "{refused}"
    );
    let next_to_source = source.load(&options(0), &Cache::NextToSource).unwrap();
    assert_eq!(next_to_source.cache, CacheUse::NotWritable);
}

/// No file may be larger than some kilobytes, which no cache of this graph is.
#[test]
fn full_disk_is_an_error_only_for_a_requested_cache() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("caches")).unwrap();
    let edges: String = (0..5000).map(|node| format!("{node} {}\n", node + 1)).collect();
    std::fs::write(folder.path().join("net.csv"), edges).unwrap();
    // A signal would end it where an error should.
    let output = Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 8 && exec \"$@\"", "sh"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "killed::child_on_full_disk"])
        .env(WITHOUT_ROOM, folder.path())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stdout)
    );
    let names = |folder: &Path| {
        let entries = std::fs::read_dir(folder).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    assert_eq!(names(folder.path()), ["caches", "net.csv"]);
    assert!(names(&folder.path().join("caches")).is_empty());
}
