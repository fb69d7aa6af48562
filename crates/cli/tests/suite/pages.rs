//! Every command in the project's pages, run as a reader would.
//!
//! Blocks of ```` ```console ```` are taken: a line with `$ ` is a command, lines
//! with `> ` continue it, as does what follows a `|` or `\` at a line's end; all
//! others are what it printed. Commands of one page
//! are run in order in one empty folder. Blocks marked `console,long` are run with
//! `cargo xtask test --full`; those marked `console,data` if there are benchmark
//! data. `cargo` itself is not run from here: its commands are what runs this test,
//! or need a network or a quiet machine. Nor is what profiles a PROGRAM by hand. xtask's tests check that whatever they name
//! is there.

use std::path::{Path, PathBuf};
use std::process::Command;

use egg_datasets::{DataFolders, VARIABLE};

use crate::program::place;

/// A command and where it stands.
struct Snippet {
    line: usize,
    command: String,
    marks: String,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn pages() -> Vec<PathBuf> {
    let mut pages = vec![root().join("README.md"), root().join("datasets/README.md")];
    let mut folders = vec![root().join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "md") {
                pages.push(path);
            }
        }
    }
    for entry in std::fs::read_dir(root().join("crates")).unwrap() {
        pages.extend(Some(entry.unwrap().path().join("README.md")).filter(|page| page.is_file()));
    }
    pages.sort();
    pages
}

fn snippets(text: &str) -> Vec<Snippet> {
    let mut snippets: Vec<Snippet> = Vec::new();
    let mut block: Option<String> = None;
    for (index, line) in text.lines().enumerate() {
        match (&block, line.strip_prefix("```")) {
            (None, Some(mark)) => block = Some(mark.to_owned()),
            (Some(_), Some(_)) => block = None,
            (Some(mark), None) if mark.starts_with("console") => {
                if let Some(command) = line.strip_prefix("$ ") {
                    snippets.push(Snippet {
                        line: index + 1,
                        command: command.to_owned(),
                        marks: mark.clone(),
                    });
                } else if let (Some(more), Some(last)) = (line.strip_prefix("> "), snippets.last_mut()) {
                    last.command += "\n";
                    last.command += more;
                } else if let Some(last) = snippets.last_mut()
                    && last.command.trim_end().ends_with(['|', '\\'])
                    && last.marks == *mark
                {
                    last.command += "\n";
                    last.command += line;
                }
            }
            _ => {}
        }
    }
    snippets
}

/// Why a command is not run here.
fn skipped(snippet: &Snippet, datasets: Option<&Path>) -> Option<&'static str> {
    let marked = |mark: &str| snippet.marks.split(',').any(|own| own.trim() == mark);
    // Variables may be set for the command first.
    let program = snippet
        .command
        .split_whitespace()
        .find(|word| !word.contains('='));
    if program == Some("cargo") {
        Some("cargo: checked by xtask's tests")
    } else if program == Some("perf") || snippet.command.split_whitespace().any(|word| word == "PROGRAM") {
        Some("a profile is taken by hand")
    } else if marked("long") && std::env::var_os("EGG_TEST_FULL").is_none() {
        Some("long: cargo xtask test --full")
    } else if marked("data") && datasets.is_none() {
        Some("no data")
    } else {
        None
    }
}

/// The benchmark data, if they are here.
fn datasets() -> Option<PathBuf> {
    let folder = DataFolders::locate_from(&root()).mirror?;
    folder.is_dir().then(|| std::fs::canonicalize(folder).unwrap())
}

#[test]
#[cfg(unix)]
fn every_command_of_every_page_works() {
    let program = Path::new(env!("CARGO_BIN_EXE_egg")).parent().unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    let datasets = datasets();
    let (mut run, mut log) = (0, String::new());
    for page in pages() {
        let place = place();
        for snippet in snippets(&std::fs::read_to_string(&page).unwrap()) {
            let shown = format!("{}:{}: {}", page.display(), snippet.line, snippet.command);
            if let Some(why) = skipped(&snippet, datasets.as_deref()) {
                log += &format!("skipped ({why}): {shown}\n");
                continue;
            }
            let mut shell = Command::new("sh");
            shell
                .args(["-e", "-c", &snippet.command])
                .current_dir(place.path());
            shell.env("PATH", format!("{}:{path}", program.display()));
            shell.env_remove("EGG_STARTED").env_remove(VARIABLE);
            if let Some(datasets) = &datasets {
                shell.env(VARIABLE, datasets);
            }
            let output = shell.output().unwrap();
            let (out, err) = (
                String::from_utf8_lossy(&output.stdout),
                String::from_utf8_lossy(&output.stderr),
            );
            assert!(output.status.success(), "{shown}\n{out}\n{err}");
            run += 1;
        }
    }
    assert!(
        run >= 12,
        "only {run} commands were found; is a page missing?\n{log}"
    );
    // Seen with --nocapture, and when the test fails.
    let _ = std::io::Write::write_all(&mut std::io::stdout(), log.as_bytes());
}

#[test]
fn commands_in_pages_are_found() {
    let text = "```console\n$ egg info x # y\nprinted\n$ cat > f <<E\n> 1\n> E\n```\n```sh\n$ no\n```\n```console,long\n$ egg z\n```\n";
    let found = snippets(text);
    let commands: Vec<&str> = found.iter().map(|snippet| snippet.command.as_str()).collect();
    assert_eq!(commands, ["egg info x # y", "cat > f <<E\n1\nE", "egg z"]);
    assert_eq!((found[0].line, found[2].marks.as_str()), (2, "console,long"));
    let found = snippets("```console\n$ echo x |\n    wc -l\n1\n```\n");
    assert_eq!(found[0].command, "echo x |\n    wc -l");
}
