//! Killed writers: files are complete, and temporary files are swept.

mod moments;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use moments::Moments;

/// Where the child, which is this program once more, writes.
const FOLDER: &str = "EGG_FILES_WRITES_TO";
const ROUNDS: u8 = 12;
const BYTES: usize = 300_000;

/// No test of its own: what is killed.
#[test]
fn child() {
    let Some(folder) = std::env::var_os(FOLDER) else {
        return;
    };
    for round in 0..ROUNDS {
        egg_files::write(&Path::new(&folder).join("one"), &[round; BYTES]).unwrap();
        egg_files::write(&Path::new(&folder).join(format!("many-{round}")), &[round; BYTES]).unwrap();
    }
}

fn writer(folder: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "child"])
        .env(FOLDER, folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

#[test]
fn killed_writer_leaves_no_partial_file() {
    let whole = tempfile::tempdir().unwrap();
    let begin = Instant::now();
    assert!(writer(whole.path()).status().unwrap().success());
    let start = || {
        let folder = tempfile::tempdir().unwrap();
        (writer(folder.path()), folder)
    };
    let mut interrupted = 0;
    Moments::over(begin.elapsed()).kill(start, |folder, which| {
        for entry in std::fs::read_dir(folder.path()).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            if egg_files::is_temporary(&name) {
                interrupted += 1;
                continue;
            }
            let bytes = std::fs::read(entry.path()).unwrap();
            assert!(
                bytes.len() == BYTES && bytes.iter().all(|byte| *byte == bytes[0]),
                "{name} is not whole: {which}"
            );
        }
        egg_files::sweep(folder.path());
        for entry in std::fs::read_dir(folder.path()).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            assert!(!egg_files::is_temporary(&name), "{name} was not swept: {which}");
        }
    });
    // Most of the time goes into writing, so of many kills most must have hit it.
    assert!(interrupted > 0 || moments::count() < 50, "no kill hit a write");
}
