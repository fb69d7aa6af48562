//! Where results go: checked before the work, never what is read, links and devices
//! left as they are.

#![cfg(unix)]

use std::os::unix::fs::{FileTypeExt, symlink};

use crate::program::{TRAIN, egg, place, rings_and_stars, write};

const NET: &str = "source,target\na,b\nb,c\nc,a\nc,d\nd,e\ne,f\nf,d\n";

#[test]
fn unwritable_outputs_are_refused_before_training() {
    let place = place();
    write(place.path(), "net.csv", NET);
    write(place.path(), "file", "");
    let cluster = |out: &str| {
        let words = [
            "cluster",
            "--data",
            "net.csv",
            "--clusters",
            "2",
            "--labels-out",
            out,
        ];
        egg(place.path(), &words)
    };
    for wrong in ["file/below.csv", ".", "/proc/labels.csv"] {
        let ended = cluster(wrong);
        ended.refused(1, &[wrong]);
        assert!(!ended.err.contains(".part"), "{}", ended.err);
    }
    for own in ["net.csv", "./net.csv", "net.labels.csv", "net.features.csv"] {
        cluster(own).refused(1, &[own, "belongs to the data", "another file"]);
    }
    assert!(!place.path().join("runs").exists(), "nothing was begun");
    assert_eq!(
        std::fs::read_to_string(place.path().join("net.csv")).unwrap(),
        NET
    );
}

#[test]
fn output_through_links_and_devices_keeps_them() {
    let place = place();
    let at = |name: &str| place.path().join(name);
    rings_and_stars(place.path(), "graphs", 20, true);
    egg(place.path(), &[&TRAIN[..], &["--out", "run", "--quiet"]].concat()).ok();
    let predict = |out: &str| {
        egg(
            place.path(),
            &["predict", "--model", "run", "--data", "graphs", "--out", out],
        )
    };
    write(place.path(), "real.csv", "old");
    symlink("real.csv", at("link.csv")).unwrap();
    predict("link.csv").ok();
    assert!(std::fs::symlink_metadata(at("link.csv")).unwrap().is_symlink());
    let rows = std::fs::read_to_string(at("real.csv")).unwrap();
    assert!(rows.starts_with("graph,label,"), "{rows}");
    // Into the middle of what is printed, in order.
    let printed = predict("/dev/stdout").ok().out;
    assert!(
        printed.starts_with(&rows) && printed.contains("20 graphs"),
        "{printed}"
    );
    let embed = [
        "embed",
        "--model",
        "run",
        "--data",
        "graphs",
        "--out",
        "/dev/null",
    ];
    egg(place.path(), &embed).ok();
    assert!(
        std::fs::metadata("/dev/null")
            .unwrap()
            .file_type()
            .is_char_device()
    );
    predict("graphs/nodes.csv").refused(1, &["belongs to the data"]);
    predict("graphs/found.csv").ok();
    egg(place.path(), &["report", "run", "--out", "run/run.json"]).refused(1, &["run.json"]);
    egg(place.path(), &["report", "run", "--out", "deep/er/page.html"]).ok();
    assert!(at("deep/er/page.html").is_file());
}

/// The record of a run that was resumed says how to make it, not how to resume it.
#[test]
fn a_failed_run_leaves_no_folder() {
    let place = place();
    rings_and_stars(place.path(), "graphs", 20, true);
    let with = |more: &[&str]| egg(place.path(), &[&TRAIN[..], &["--out", "a b"], more].concat());
    with(&["--lr", "1e30", "--quiet"]).refused(1, &["--lr"]);
    assert!(!place.path().join("a b").exists());
    let ended = with(&["--quiet"]).ok();
    assert!(ended.out.contains("`egg report 'a b'`"), "{}", ended.out);
    let again = with(&["--resume", "--json", "--quiet"]).ok();
    assert_eq!(again.json().len(), 1, "{}", again.out);
    let record = std::fs::read_to_string(place.path().join("a b/run.json")).unwrap();
    assert!(
        record.contains("--out 'a b'") && !record.contains("--resume"),
        "{record}"
    );

    let pairs = (0..8).flat_map(|a| (0..a).map(move |b| format!("{a},{b}\n")));
    let complete: String = pairs.collect();
    write(
        place.path(),
        "complete.csv",
        &format!("source,target\n{complete}"),
    );
    let cluster = |data: &str, out: &str| {
        let words = [
            "cluster",
            "--preset",
            "paper",
            "--data",
            data,
            "--clusters",
            "2",
            "--epochs",
            "3",
            "--out",
            out,
            "--quiet",
        ];
        egg(place.path(), &words)
    };
    cluster("complete.csv", "c").refused(1, &["complete", "weakest edges"]);
    assert!(!place.path().join("c").exists());
    // Far fewer pairs that are no edge than edges.
    let dense = complete.replacen("1,0\n", "", 1).replacen("7,6\n", "", 1);
    write(place.path(), "dense.csv", &format!("source,target\n{dense}"));
    cluster("dense.csv", "c").ok();
}
