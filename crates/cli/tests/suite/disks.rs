//! Disks that are full or can only be read: an error that says which file and what to
//! do, nothing half written, and what was kept is resumed once there is room.

#![cfg(target_os = "linux")]

use std::path::Path;

use crate::kept::{assert_same, assert_sound, files, lasting};
use crate::program::{egg, place, rings_and_stars, write};
use crate::small_disk::on_a_disk;

/// A shell function `egg NAME WORDS`: its output goes to NAME.out and NAME.err, its exit
/// code to NAME.code.
fn with_egg(script: &str) -> String {
    let program = env!("CARGO_BIN_EXE_egg");
    format!(
        "unset {} EGG_STARTED\negg() {{ name=$1; shift; code=0; '{program}' \"$@\" >$name.out \
         2>$name.err || code=$?; echo $code >$name.code; }}\n{script}",
        egg_datasets::VARIABLE
    )
}

/// What a call in the script said, which must have ended with this code.
#[track_caller]
fn said(place: &Path, name: &str, code: &str) -> String {
    let read = |ending: &str| std::fs::read_to_string(place.join(format!("{name}.{ending}"))).unwrap();
    let err = read("err");
    assert_eq!(read("code").trim(), code, "{name}: {err}");
    err
}

/// On a disk that has room for `share` of what a run keeps: it fails, keeps what was
/// whole, and is resumed when there is room.
fn fills_the_disk(words: &[&str], share: f64, prepare: impl Fn(&Path)) {
    let fresh = || {
        let place = place();
        prepare(place.path());
        std::fs::create_dir(place.path().join("disk")).unwrap();
        place
    };
    let words = [words, &["--quiet", "--out", "disk/run"]].concat();
    let whole = fresh();
    egg(whole.path(), &words).ok();
    let expected = lasting(&whole.path().join("disk/run"));
    let size = |folder: &Path| -> u64 {
        let names = files(folder);
        // In pages, as a tmpfs counts.
        let pages = |name: &String| std::fs::metadata(folder.join(name)).unwrap().len().div_ceil(4096);
        names.iter().map(pages).sum::<u64>() * 4
    };
    let kib = (size(&whole.path().join("disk/run/checkpoints")) as f64 * share) as u64;

    let place = fresh();
    let line = words.join(" ");
    let script = format!(
        "egg full {line}\ncp -r disk/run kept\nlarger\negg again {line} --resume\ncp -r disk/run run"
    );
    if !on_a_disk(place.path(), kib, &with_egg(&script)) {
        return;
    }
    let err = said(place.path(), "full", "1");
    for word in ["disk/run/", "No space left", "help: make room", "--resume"] {
        assert!(err.contains(word), "{word:?} is not in {err}");
    }
    assert_eq!(err.trim_end().lines().count(), 2, "{err}");
    let kept = place.path().join("kept");
    assert_sound(&kept, "on a full disk");
    let names = files(&kept);
    assert!(!names.is_empty(), "nothing was kept");
    assert!(names.iter().all(|name| !name.contains(".egg-")), "{names:?}");
    said(place.path(), "again", "0");
    assert_same(
        &lasting(&place.path().join("run")),
        &expected,
        "after a full disk",
    );
}

#[test]
fn training_on_a_full_disk_is_an_error_and_resumes() {
    #[rustfmt::skip] // They are pairs.
    let words = ["train", "--data", "graphs", "--hidden", "16", "--reps", "2", "--epochs", "60", "--patience", "1000"];
    fills_the_disk(&words, 0.9, |place| rings_and_stars(place, "graphs", 30, true));
}

#[test]
fn clustering_on_a_full_disk_is_an_error_and_resumes() {
    let words = [
        "cluster",
        "--preset",
        "paper",
        "--data",
        "demo:sbm:200",
        "--epochs",
        "120",
        "--reps",
        "2",
    ];
    fills_the_disk(&words, 0.9, |_| {});
}

#[test]
fn sweep_on_a_full_disk_is_an_error_and_resumes() {
    let config = "data = \"graphs\"\nreps = 1\nepochs = 5\npatience = 5\n[grid]\nlr = [0.01, 0.02, 0.03, 0.04]\n\
                  weight_decay = [0.0]\nhidden = [8]\ndropout = [0.0]\nthreshold = [0.5]\n";
    fills_the_disk(&["sweep", "grid.toml", "--jobs", "1"], 0.6, |place| {
        rings_and_stars(place, "graphs", 30, true);
        write(place, "grid.toml", config);
    });
}

/// What is written at the end: the page, the predictions, the embeddings, the clusters.
#[test]
fn outputs_that_do_not_fit_on_the_disk_are_errors() {
    let place = place();
    rings_and_stars(place.path(), "graphs", 200, true);
    #[rustfmt::skip] // They are pairs.
    let words = ["train", "--data", "graphs", "--hidden", "16", "--reps", "1", "--epochs", "2", "--quiet", "--out", "run"];
    egg(place.path(), &words).ok();
    let script = "echo old >disk/page.html
        egg page report run --out disk/page.html
        egg predicted predict --model run --data graphs --out disk/predicted.csv
        egg embedded embed --model run --data graphs --out disk/rows.npy
        egg clustered cluster --data demo:sbm:2000 --preset paper --epochs 1 --quiet --out clustered --labels-out disk/labels.csv
        cp -r disk left
        larger
        egg page-again report run --out disk/page.html
        egg clustered-again cluster --data demo:sbm:2000 --preset paper --epochs 1 --quiet --out clustered --labels-out \
        disk/labels.csv --resume";
    if !on_a_disk(place.path(), 8, &with_egg(script)) {
        return;
    }
    for (call, file) in [
        ("page", "disk/page.html"),
        ("predicted", "disk/predicted.csv"),
        ("embedded", "disk/rows.npy"),
        ("clustered", "disk/labels.csv"),
    ] {
        let err = said(place.path(), call, "1");
        for word in [file, "No space left", "help: make room"] {
            assert!(err.contains(word), "{word:?} is not in {err}");
        }
    }
    // The old page is as it was, and nothing has come.
    assert_eq!(files(&place.path().join("left")), ["page.html"]);
    assert_eq!(
        std::fs::read(place.path().join("left/page.html")).unwrap(),
        b"old\n"
    );
    said(place.path(), "page-again", "0");
    said(place.path(), "clustered-again", "0");
}

#[test]
fn a_read_only_disk_is_an_error() {
    let place = place();
    rings_and_stars(place.path(), "graphs", 30, true);
    let train = "train --data graphs --hidden 8 --reps 1 --patience 100 --quiet";
    let script = format!(
        "egg first {train} --epochs 12 --out disk/run
        cp -r disk before
        read_only
        egg longer {train} --epochs 30 --out disk/run --resume
        egg new {train} --epochs 2 --out disk/new
        egg clustered cluster --data demo:karate --quiet --out disk/clustered
        egg labels cluster --data demo:karate --quiet --out clustered --labels-out disk/labels.csv
        egg page report disk/run
        egg elsewhere report disk/run --out page.html
        cp -r disk after"
    );
    if !on_a_disk(place.path(), 10_000, &with_egg(&script)) {
        return;
    }
    said(place.path(), "first", "0");
    for (call, file) in [
        ("longer", "disk/run/checkpoints/repetition-1.safetensors"),
        ("new", "disk/new"),
        ("clustered", "disk/clustered"),
        ("labels", "disk/labels.csv"),
        ("page", "disk/run/report.html"),
    ] {
        let err = said(place.path(), call, "1");
        for word in [file, "Read-only file system", "help: this disk can only be read"] {
            assert!(err.contains(word), "{call}: {word:?} is not in {err}");
        }
    }
    said(place.path(), "elsewhere", "0");
    assert!(!place.path().join("clustered").exists(), "nothing was begun");
    let content = |name: &str| lasting(&place.path().join(name));
    assert_same(
        &content("after"),
        &content("before"),
        "on a disk that can only be read",
    );
}
