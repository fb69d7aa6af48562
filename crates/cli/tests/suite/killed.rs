//! Programs that are killed (SIGKILL) at random moments: whatever has a name is whole,
//! and the run resumes bit for bit, or begins anew.

#![cfg(unix)]

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use tempfile::TempDir;

use crate::kept::{assert_same, assert_sound, lasting};
use crate::moments::Moments;
use crate::program::{command, egg, place, rings_and_stars, write};

/// The folder of every run: in a place of its own.
const RUN: &str = "run";

/// Kills a command that keeps its run in [`RUN`], resumes it, and compares with a run
/// that was not disturbed.
fn killed_and_resumed(words: &[&str], prepare: impl Fn(&Path)) {
    let fresh = || {
        let place = place();
        prepare(place.path());
        place
    };
    let whole = fresh();
    let begin = Instant::now();
    egg(whole.path(), words).ok();
    let length = begin.elapsed();
    let expected = lasting(whole.path());

    let start = || {
        let place = fresh();
        let mut command: Command = command(place.path());
        command.args(words).stdout(Stdio::null()).stderr(Stdio::null());
        (command, place)
    };
    let (mut resumed, mut anew) = (0, 0);
    Moments::over(length).kill(start, |place: TempDir, which| {
        assert_sound(place.path(), which);
        // As the user would: on with it, or from the beginning if there is nothing.
        let ended = match egg(place.path(), &[words, &["--resume"]].concat()) {
            ended if ended.err.contains("no run to resume") => {
                anew += 1;
                egg(place.path(), words)
            }
            ended => {
                resumed += 1;
                ended
            }
        };
        assert_eq!(ended.code, 0, "{which}: {}", ended.err);
        assert_same(&lasting(place.path()), &expected, which);
    });
    assert!(resumed > 0, "none of {anew} kills left anything to resume from");
}

#[test]
fn a_killed_training_leaves_no_damaged_file() {
    #[rustfmt::skip] // They are pairs.
    let words = [
        "train", "--data", "graphs", "--hidden", "16", "--reps", "2", "--epochs", "80", "--patience", "1000",
        "--quiet", "--out", RUN,
    ];
    killed_and_resumed(&words, |place| rings_and_stars(place, "graphs", 40, true));
}

#[test]
fn a_killed_clustering_leaves_no_damaged_file() {
    #[rustfmt::skip] // They are pairs.
    let words = [
        "cluster", "--preset", "paper", "--data", "demo:sbm:200", "--epochs", "300", "--reps", "2", "--quiet", "--labels-out",
        "labels.csv", "--out", RUN,
    ];
    killed_and_resumed(&words, |_| {});
}

#[test]
fn a_killed_sweep_leaves_no_damaged_file() {
    let config = "data = \"graphs\"\npool = [\"egg\", \"sum\"]\nreps = 1\nepochs = 20\npatience = 20\n\
                  [grid]\nlr = [0.01, 0.02, 0.03]\nweight_decay = [0.0]\nhidden = [8, 16]\n\
                  dropout = [0.0]\nthreshold = [0.5]\n";
    killed_and_resumed(&["sweep", "grid.toml", "--quiet", "--out", RUN], |place| {
        rings_and_stars(place, "graphs", 30, true);
        write(place, "grid.toml", config);
    });
}
