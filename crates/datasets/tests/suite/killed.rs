//! Fetching that is killed at random moments, or meets a full disk: whatever has its
//! final name is whole, and the next call ends the work. What is killed is this program
//! once more.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use egg_datasets::{DataFolders, Fetcher, Registry};
use sha2::{Digest, Sha256};

use crate::zipped::zipped;

#[cfg(target_os = "linux")]
#[path = "../../../graph/tests/suite/bomb.rs"]
mod bomb;
#[path = "../../../files/tests/killed/moments.rs"]
mod moments;
#[cfg(target_os = "linux")]
#[path = "../../../files/tests/killed/small_disk.rs"]
mod small_disk;

/// Has `mirror`, from which the child fetches into `to`, or into the second variable.
const PLACE: &str = "EGG_FETCHES_IN";
const TO: &str = "EGG_FETCHES_TO";

const NAMES: [&str; 2] = ["Packed", "Plain"];

/// The files of both data sets, with their paths in a data folder: 24 of 100 kB.
fn files() -> Vec<(String, Vec<u8>)> {
    let content =
        |file: u32| (0..25_000u32).flat_map(move |n| (n ^ file).wrapping_mul(2_654_435_761).to_le_bytes());
    (0..24u32)
        .map(|file| {
            let folder = if file < 12 { "P" } else { "planes" };
            (format!("{folder}/x.{file}"), content(file).collect())
        })
        .collect()
}

fn registry() -> Registry {
    let mut text = "format = 1\n".to_owned();
    for (name, layout, path) in [("Packed", "tu", "P"), ("Plain", "planetoid", "planes")] {
        text += &format!(
            "[[dataset]]\nname = '{name}'\naliases = []\ntask = 'graph-classification'\nlayout = '{layout}'\n\
             path = '{path}'\nstem = 'x'\nlicence = 'none'\ncitations = ['none']\n\
             [dataset.counts]\ngraphs = 1\nnodes = 2\nedges = 1\nfeatures = 0\nclasses = 1\n"
        );
        if name == "Packed" {
            text += "[dataset.archive]\npath = 'P.zip'\nurl = 'https://localhost/P.zip'\nroot = 'root'\n";
        }
        for (file, content) in files()
            .iter()
            .filter(|(file, _)| file.starts_with(&format!("{path}/")))
        {
            let sum: String = Sha256::digest(content)
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect();
            text += &format!(
                "[[dataset.file]]\npath = '{file}'\nsize = {}\nsha256 = '{sum}'\n",
                content.len()
            );
            if name == "Plain" {
                text += &format!("url = 'https://localhost/{file}'\n");
            }
        }
    }
    Registry::parse(&text).unwrap()
}

/// A place with a mirror, in which one data set is packed.
fn place() -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    let mirror = place.path().join("mirror");
    fs::create_dir_all(mirror.join("planes")).unwrap();
    let all = files();
    let (packed, plain) = all.split_at(12);
    let members: Vec<(String, &[u8])> = packed
        .iter()
        .map(|(path, content)| (path.replace("P/", "root/"), &content[..]))
        .collect();
    let members: Vec<(&str, &[u8])> = members
        .iter()
        .map(|(name, content)| (name.as_str(), *content))
        .collect();
    fs::write(mirror.join("P.zip"), zipped(&members)).unwrap();
    for (path, content) in plain {
        fs::write(mirror.join(path), content).unwrap();
    }
    place
}

/// No test of its own: what is killed. Says what came of it on standard output.
#[test]
#[expect(clippy::print_stdout, reason = "for the test that started it")]
fn child() {
    let Some(place) = std::env::var_os(PLACE).map(PathBuf::from) else {
        return;
    };
    let to = std::env::var_os(TO).map_or_else(|| place.join("to"), PathBuf::from);
    let registry = registry();
    let folders = DataFolders::only(to).with_mirror(Some(place.join("mirror")));
    let fetched = Fetcher::open(&folders).map(|fetcher| {
        let fetched = NAMES.map(|name| fetcher.fetch(registry.get(name).unwrap(), &mut |_| {}));
        fetched.into_iter().filter_map(Result::err).collect()
    });
    let errors = fetched.unwrap_or_else(|error| vec![error]);
    for error in &errors {
        println!("{error}");
    }
    if !errors.is_empty() {
        std::process::exit(1);
    }
}

fn fetching(place: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "killed::child", "--nocapture"])
        .env(PLACE, place)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

/// All that is in a data folder, by relative names.
fn content(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(folder).unwrap().to_string_lossy().into_owned();
            found.insert(name, fs::read(&path).unwrap());
        }
    }
    found
}

/// Every file that has its final name is whole. Gives how many there are.
fn assert_sound(folder: &Path, which: &str) -> usize {
    let expected: BTreeMap<String, Vec<u8>> = files().into_iter().collect();
    let found = content(folder);
    let named = found
        .iter()
        .filter(|(name, _)| !name.starts_with(".staging-") && *name != ".lock");
    let mut count = 0;
    for (name, bytes) in named {
        assert!(expected.get(name) == Some(bytes), "{name} is not whole: {which}");
        count += 1;
    }
    count
}

fn assert_fetched(folder: &Path, which: &str) {
    let mut found = content(folder);
    found.remove(".lock");
    assert!(
        found == files().into_iter().collect(),
        "{:?}: {which}",
        found.keys()
    );
}

#[test]
fn killed_fetch_is_completed_by_the_next() {
    let whole = place();
    let begin = Instant::now();
    assert!(fetching(whole.path()).status().unwrap().success());
    let length = begin.elapsed();
    assert_fetched(&whole.path().join("to"), "undisturbed");
    let mirror = content(&whole.path().join("mirror"));
    let start = || {
        let place = place();
        (fetching(place.path()), place)
    };
    let mut partly = 0;
    moments::Moments::over(length).kill(start, |place, which| {
        let to = place.path().join("to");
        let named = assert_sound(&to, which);
        partly += usize::from(named > 0 && named < 24);
        assert!(fetching(place.path()).status().unwrap().success(), "{which}");
        assert_fetched(&to, which);
        assert!(
            content(&place.path().join("mirror")) == mirror,
            "the mirror changed: {which}"
        );
        let mut entries: Vec<_> = fs::read_dir(place.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        entries.sort();
        assert_eq!(entries, ["mirror", "to"], "{which}");
    });
    // Of few kills it may be that none was there: how long the files take in it all
    // depends on the machine.
    assert!(
        partly > 0 || moments::count() < 50,
        "no kill was between the first and the last file"
    );
}

/// A disk with room for one of the two data sets and some of the other; then one that
/// can only be read.
#[cfg(target_os = "linux")]
#[test]
fn full_or_read_only_disk_is_an_error() {
    let place = place();
    let program = std::env::current_exe().unwrap();
    let child = format!(
        "fetch() {{ code=0; {PLACE}=. {TO}=disk '{}' --exact killed::child --nocapture \
         >$1.out 2>&1 || code=$?; echo $code >$1.code; }}\n",
        program.display()
    );
    let script = "fetch full
        cp -a disk full
        larger
        fetch again
        cp -a disk again
        rm -r disk/planes
        read_only
        fetch read-only
        cp -a disk read-only";
    if !small_disk::on_a_disk(place.path(), 2000, &(child + script)) {
        return;
    }
    let output = |name: &str, code: &str| {
        let read = |ending: &str| fs::read_to_string(place.path().join(format!("{name}.{ending}"))).unwrap();
        let out = read("out");
        assert_eq!(read("code").trim(), code, "{out}");
        out
    };
    let out = output("full", "1");
    for word in [
        "disk/",
        "can't be written: No space left",
        "make room",
        "another disk",
    ] {
        assert!(out.contains(word), "{word:?} is not in {out}");
    }
    let full = place.path().join("full");
    assert_eq!(assert_sound(&full, "on a full disk"), 12);
    assert!(content(&full).keys().all(|name| !name.starts_with(".staging-")));
    output("again", "0");
    assert_fetched(&place.path().join("again"), "with room");
    let out = output("read-only", "1");
    for word in ["disk/", "Read-only file system", "can be written to"] {
        assert!(out.contains(word), "{word:?} is not in {out}");
    }
    assert_eq!(assert_sound(&place.path().join("read-only"), "read-only"), 12);
}

/// 10 GB of zeros in 10 MB, which `ulimit -v` would not let into memory, and which do not
/// get to the disk either: whether it owns up to them or claims to be small.
#[cfg(target_os = "linux")]
#[test]
fn zip_bomb_is_refused_in_bounded_memory() {
    for (claim, word) in [
        (None, "more than 4294967296"),
        (Some(100_000), "larger than its declared"),
    ] {
        let place = place();
        let archive = place.path().join("mirror/P.zip");
        bomb::zip(&archive, "root/x.0", b"", b"\0", 10_000_000_000, claim);
        let child = fetching(place.path());
        let mut limited = Command::new("sh");
        limited
            .args(["-c", "ulimit -v 262144 && exec \"$@\"", "sh"])
            .arg(child.get_program())
            .args(child.get_args())
            .env(PLACE, place.path());
        let output = limited.output().unwrap();
        let out = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(1), "{out}");
        assert!(out.contains(word), "{word:?} is not in {out}");
        // The other data set is fetched all the same.
        assert_eq!(assert_sound(&place.path().join("to"), word), 12);
    }
}
