//! Ctrl-C keeps the epoch, and the resumed run has the same numbers.

#![cfg(unix)]

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::program::{command, egg, place, rings_and_stars};

/// Starts the program, waits for some lines, presses Ctrl-C. Gives the exit code
/// and what was said on standard error.
fn interrupt(folder: &Path, words: &[&str], lines: usize) -> (Option<i32>, String) {
    let mut child = command(folder)
        .args(words)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    for _ in 0..lines {
        let mut line = String::new();
        assert!(
            out.read_line(&mut line).unwrap() > 0,
            "it ended before it could be interrupted"
        );
    }
    let sent = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(sent.success());
    out.read_to_end(&mut Vec::new()).unwrap();
    let mut err = String::new();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    (child.wait().unwrap().code(), err)
}

/// Without what depends on the clock and the folder.
fn lasting(mut summary: Value) -> Value {
    let object = summary.as_object_mut().unwrap();
    for passing in ["seconds", "out", "model", "labels_out"] {
        object.remove(passing);
    }
    summary
}

#[test]
fn a_killed_training_resumes_to_the_same_summary() {
    let place = place();
    rings_and_stars(place.path(), "graphs", 60, true);
    let words = |out: &'static str| {
        vec![
            "train",
            "--data",
            "graphs",
            "--hidden",
            "16",
            "--reps",
            "2",
            "--epochs",
            "150",
            "--patience",
            "1000",
            "--json",
            "--out",
            out,
        ]
    };
    let whole = egg(place.path(), &words("whole")).ok().summary();
    let (code, said) = interrupt(place.path(), &words("broken"), 3);
    assert_eq!(code, Some(130), "{said}");
    assert!(
        said.contains("--out broken --resume") && said.contains("finishing this epoch"),
        "{said}"
    );
    // Of those that had begun: which of the two is first is the scheduler's matter.
    let checkpoints = std::fs::read_dir(place.path().join("broken/checkpoints")).unwrap();
    assert!(checkpoints.count() > 0);
    assert!(!place.path().join("broken/run.json").exists());
    egg(place.path(), &["report", "broken"]).refused(1, &["broken", "resume"]);

    let mut again = words("broken");
    again.push("--resume");
    let resumed = egg(place.path(), &again).ok();
    let epochs = resumed
        .json()
        .iter()
        .filter(|object| object["event"] == "epoch")
        .count();
    assert!(epochs < 300, "{epochs} epochs were trained again");
    assert_eq!(lasting(resumed.summary()), lasting(whole));

    // Other settings are another run.
    let other = [&again[..], &["--lr", "0.1"]].concat();
    egg(place.path(), &other).refused(1, &["another run", "--out"]);
}

#[test]
fn a_killed_clustering_resumes_to_the_same_summary() {
    let place = place();
    let words = |out: &'static str| {
        vec![
            "cluster",
            "--preset",
            "paper",
            "--data",
            "demo:sbm:200",
            "--epochs",
            "400",
            "--reps",
            "1",
            "--json",
            "--out",
            out,
        ]
    };
    let whole = egg(place.path(), &words("whole")).ok().summary();
    let (code, said) = interrupt(place.path(), &words("broken"), 5);
    assert_eq!(code, Some(130), "{said}");
    assert!(said.contains("--resume"), "{said}");
    let mut again = words("broken");
    again.push("--resume");
    assert_eq!(lasting(egg(place.path(), &again).ok().summary()), lasting(whole));
}

#[test]
fn an_interrupted_sweep_keeps_finished_combinations() {
    let place = place();
    rings_and_stars(place.path(), "graphs", 30, true);
    let config = "data = \"graphs\"\nreps = 1\nepochs = 60\npatience = 60\nout = \"swept\"\n\
                  [grid]\nlr = [0.01, 0.02, 0.03, 0.04, 0.05, 0.06]\nweight_decay = [0.0]\nhidden = [16]\n\
                  dropout = [0.0]\nthreshold = [0.5]\n";
    crate::program::write(place.path(), "grid.toml", config);
    let words = ["sweep", "grid.toml", "--json", "--jobs", "1"];
    let (code, said) = interrupt(place.path(), &words, 1);
    assert_eq!(code, Some(130), "{said}");
    assert!(
        said.contains("kept in swept") && said.contains("--out swept --resume"),
        "{said}"
    );
    let again = egg(place.path(), &[&words[..], &["--resume"]].concat()).ok();
    let cells = again.json().len() - 1;
    assert!((1..6).contains(&cells), "{cells} combinations were trained again");
}

/// `egg train | head -1`
#[test]
fn a_training_finishes_when_its_output_is_closed() {
    let place = place();
    rings_and_stars(place.path(), "graphs", 40, true);
    let words = [
        "train", "--data", "graphs", "--reps", "1", "--epochs", "20", "--json", "--out", "run",
    ];
    let mut child = command(place.path())
        .args(words)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    lines.read_line(&mut String::new()).unwrap();
    drop(lines);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(place.path().join("run/run.json").exists());
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_behind_standard_output_is_an_error() {
    let place = place();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = command(place.path())
        .args(["info", "demo:karate"])
        .stdout(full)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("standard output"));
}
