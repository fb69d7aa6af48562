//! Nothing is written outside the folder that was asked for, whatever archives, data sets
//! and run folders are called or link to.

#![cfg(unix)]

use std::collections::BTreeMap;
use std::io::{Cursor, Write};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use zip::write::{SimpleFileOptions, ZipWriter};

use crate::program::{egg, place, rings_and_stars, write};

/// A place with folders around the one in which the program is called, and things in them
/// that must stay as they are.
struct Sandbox {
    place: TempDir,
    before: BTreeMap<PathBuf, Vec<u8>>,
}

/// Where the program is called.
const WORK: &str = "outer/inner/work";

impl Sandbox {
    fn new() -> Self {
        let place = place();
        for folder in ["", "outer", "outer/inner"] {
            write(place.path(), &format!("{folder}/precious.txt"), "precious\n");
        }
        write(place.path(), "outer/empty/keep.txt", "");
        std::fs::create_dir_all(place.path().join(WORK)).unwrap();
        let before = around(place.path());
        Self { place, before }
    }

    fn work(&self) -> PathBuf {
        self.place.path().join(WORK)
    }

    /// Fails if anything around the folder is new, gone or another.
    fn assert_untouched(&self, after: &str) {
        assert_eq!(around(self.place.path()), self.before, "{after}");
    }
}

/// Everything but what is in the folder of work, folders included.
fn around(place: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![place.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.ends_with(WORK) {
                continue;
            }
            if path.is_dir() && !path.is_symlink() {
                found.insert(path.clone(), Vec::new());
                folders.push(path);
            } else {
                let content = std::fs::read(&path).unwrap();
                found.insert(path, content);
            }
        }
    }
    found
}

/// TU files of two triangles and two edges under this stem, which is changed in the
/// archive's bytes: a careful writer might mend it.
fn archive(stem: &str) -> Vec<u8> {
    let harmless = "x".repeat(stem.len());
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let mut edges = String::new();
    let mut nodes = String::new();
    let mut labels = String::new();
    for graph in 1..=20 {
        let first = 3 * graph - 2;
        edges += &format!("{first}, {}\n{}, {}\n", first + 1, first + 1, first + 2);
        if graph % 2 == 0 {
            edges += &format!("{}, {first}\n", first + 2);
        }
        nodes += &format!("{graph}\n{graph}\n{graph}\n");
        labels += &format!("{}\n", graph % 2);
    }
    for (part, text) in [("A", edges), ("graph_indicator", nodes), ("graph_labels", labels)] {
        let name = format!("{harmless}_{part}.txt");
        writer.start_file(name, SimpleFileOptions::default()).unwrap();
        writer.write_all(text.as_bytes()).unwrap();
    }
    let mut bytes = writer.finish().unwrap().into_inner();
    let places: Vec<usize> = (0..bytes.len() - stem.len())
        .filter(|at| bytes[*at..].starts_with(harmless.as_bytes()))
        .collect();
    assert!(places.len() >= 6);
    for at in places {
        bytes[at..at + stem.len()].copy_from_slice(stem.as_bytes());
    }
    bytes
}

#[test]
fn archive_members_outside_the_folder_are_refused() {
    for stem in [
        "../../escaped",
        "../escaped/",
        "/tmp/egg-escaped",
        "..\\..\\escaped",
        "C:\\escaped",
        "a/../../../escaped",
        "x/..",
        "plain",
    ] {
        let sandbox = Sandbox::new();
        std::fs::write(sandbox.work().join("data.zip"), archive(stem)).unwrap();
        let ended = egg(
            &sandbox.work(),
            &["train", "--data", "data.zip", "--reps", "1", "--epochs", "1"],
        );
        sandbox.assert_untouched(stem);
        let mut left: Vec<_> = std::fs::read_dir(sandbox.work())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        // It is data all the same, or refused.
        match ended.code {
            0 => {
                assert_eq!(left, ["data.zip", "runs"], "{stem}");
                assert_eq!(
                    std::fs::read_dir(sandbox.work().join("runs")).unwrap().count(),
                    1,
                    "{stem}"
                );
            }
            _ => {
                ended.refused(1, &["data.zip"]);
                assert_eq!(left, ["data.zip"], "{stem}");
            }
        }
        assert!(!Path::new("/tmp/egg-escaped-gcn-egg").exists());
        assert!(stem != "plain" || ended.code == 0, "{}", ended.err);
    }
}

#[test]
fn links_in_archives_are_not_followed() {
    let sandbox = Sandbox::new();
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default();
    // Were it followed, it would lead to an edge.
    write(&sandbox.work(), "edges.txt", "1, 2\n");
    writer.add_symlink("L_A.txt", "edges.txt", options).unwrap();
    writer.start_file("L_graph_indicator.txt", options).unwrap();
    writer.write_all(b"1\n1\n").unwrap();
    let bytes = writer.finish().unwrap().into_inner();
    std::fs::write(sandbox.work().join("links.zip"), bytes).unwrap();
    egg(&sandbox.work(), &["info", "links.zip"]).refused(1, &["L_A.txt", "line 1", "expected 2"]);
    sandbox.assert_untouched("links.zip");
}

#[test]
fn data_set_names_that_are_paths_are_refused() {
    let sandbox = Sandbox::new();
    for name in [
        "../MUTAG",
        "MUTAG/../../escaped",
        "..",
        "/MUTAG",
        "MUTAG\0x",
        "a\\..\\b",
        "demo:../karate",
    ] {
        // NUL can't be given to a program.
        let name = name.replace('\0', "/");
        for words in [
            vec!["train", "--data", &name, "--epochs", "1"],
            vec![
                "cluster",
                "--preset",
                "paper",
                "--data",
                &name,
                "--epochs",
                "1",
                "--clusters",
                "2",
            ],
            vec!["train", "--data", "MUTAG", "--datasets", &name, "--epochs", "1"],
        ] {
            let ended = egg(&sandbox.work(), &words);
            assert!(ended.code == 1 || ended.code == 2, "{words:?}: {}", ended.err);
            sandbox.assert_untouched(&format!("{words:?}"));
            assert_eq!(std::fs::read_dir(sandbox.work()).unwrap().count(), 0, "{words:?}");
        }
    }
    // A folder may be called what it likes.
    for name in ["..data", "a:b", "-x", "a b"] {
        rings_and_stars(&sandbox.work(), name, 20, true);
        let path = format!("./{name}");
        egg(
            &sandbox.work(),
            &["train", "--data", &path, "--reps", "1", "--epochs", "1"],
        )
        .ok();
        sandbox.assert_untouched(name);
    }
    assert_eq!(std::fs::read_dir(sandbox.work().join("runs")).unwrap().count(), 4);
}

/// A run that came from somebody else, with links in it.
#[test]
fn links_out_of_a_run_folder_are_not_followed() {
    let sandbox = Sandbox::new();
    let work = sandbox.work();
    rings_and_stars(&work, "graphs", 20, true);
    #[rustfmt::skip] // They are pairs.
    let train = ["train", "--data", "graphs", "--hidden", "8", "--reps", "1", "--patience", "100", "--quiet", "--out", "run"];
    let precious = sandbox.place.path().join("outer/precious.txt");
    let fresh = || {
        let _ = std::fs::remove_dir_all(work.join("run"));
        egg(&work, &[&train[..], &["--epochs", "2"]].concat()).ok();
    };
    let again = [&train[..], &["--epochs", "4", "--resume"]].concat();

    for name in [
        "run.json",
        "checkpoints/repetition-1.safetensors",
        "model/config.json",
    ] {
        fresh();
        std::fs::remove_file(work.join("run").join(name)).unwrap();
        symlink(&precious, work.join("run").join(name)).unwrap();
        egg(&work, &again).refused(1, &[name, "is a link", "remove it"]);
        sandbox.assert_untouched(name);
    }
    fresh();
    std::fs::remove_dir_all(work.join("run/checkpoints")).unwrap();
    symlink(
        sandbox.place.path().join("outer/empty"),
        work.join("run/checkpoints"),
    )
    .unwrap();
    egg(&work, &again).refused(1, &["checkpoints", "is a link"]);
    sandbox.assert_untouched("checkpoints");

    fresh();
    symlink(&precious, work.join("run/report.html")).unwrap();
    egg(&work, &["report", "run"]).refused(1, &["report.html", "is a link", "--out"]);
    sandbox.assert_untouched("report.html");
    // By name it is what the user wants.
    egg(&work, &["report", "run", "--out", "page.html"]).ok();
    sandbox.assert_untouched("page.html");
}

#[test]
fn existing_folders_are_not_replaced() {
    let sandbox = Sandbox::new();
    let work = sandbox.work();
    rings_and_stars(&work, "graphs", 20, true);
    write(&work, "mine/notes.txt", "mine");
    write(&work, "mine/checkpoints/notes.txt", "mine");
    write(&work, "file", "mine");
    let content = || {
        (
            around(&work.join("mine")),
            std::fs::read(work.join("file")).unwrap(),
        )
    };
    let before = content();
    for out in [
        "mine",
        "mine/",
        "./mine",
        "file",
        "file/below",
        ".",
        "..",
        "graphs",
    ] {
        let train = [
            "train", "--data", "graphs", "--reps", "1", "--epochs", "1", "--out", out,
        ];
        let cluster = [
            "cluster",
            "--preset",
            "paper",
            "--data",
            "demo:karate",
            "--epochs",
            "1",
            "--out",
            out,
        ];
        for words in [&train[..], &cluster[..]] {
            let ended = egg(&work, words);
            assert_eq!(ended.code, 1, "{words:?}: {}", ended.err);
            assert!(ended.err.lines().count() <= 2, "{}", ended.err);
        }
        assert_eq!(content(), before, "{out}");
        sandbox.assert_untouched(out);
    }
}
