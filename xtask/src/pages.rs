//! Commands of cargo in the project's pages, as far as they can be checked without
//! the hours that some of them take: each command, option, package, example and
//! feature that a page names is there. (`crates/cli` runs those of `egg`.)

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use clap::Parser;
use serde_json::Value;

use crate::Cli;
use crate::process::output_of;
use crate::workspace::Workspace;

/// What stands for something else in a page.
const PLACEHOLDERS: [&str; 8] = ["COMMAND", "SUITE", "NAME", "NAMES", "DIR", "CRATE", "STAGE", "N"];

fn root() -> PathBuf {
    Workspace::find().unwrap().root
}

fn pages() -> Vec<PathBuf> {
    let mut pages: Vec<PathBuf> = [
        "README.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "datasets/README.md",
    ]
    .iter()
    .map(|page| root().join(page))
    .collect();
    let mut folders = vec![root().join("docs"), root().join("crates")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if folder.ends_with("crates") {
                pages.extend(Some(path.join("README.md")).filter(|page| page.is_file()));
            } else if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "md") {
                pages.push(path);
            }
        }
    }
    pages.sort();
    pages
}

/// Calls of cargo in lines with `$ `, and between backticks.
fn commands(text: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for line in text.lines() {
        match line.strip_prefix("$ ") {
            Some(command) => found.push(command),
            None => found.extend(line.split('`').skip(1).step_by(2)),
        }
    }
    let words = |command: &str| -> Option<Vec<String>> {
        let command = command.split(" # ").next()?.split("   #").next()?;
        // Variables may be set for the command first.
        let mut words = command.split_whitespace().skip_while(|word| word.contains('='));
        (words.next() == Some("cargo")).then(|| words.map(str::to_owned).collect())
    };
    found.into_iter().filter_map(words).collect()
}

/// What is wrong with a call of cargo; `None` if nothing is.
fn problem(words: &[String]) -> Option<String> {
    if words
        .iter()
        .any(|word| PLACEHOLDERS.contains(&word.as_str()) || word.contains("..."))
    {
        return None;
    }
    match words.first().map(String::as_str)? {
        // What is passed on to another program is that one's to check.
        "xtask" => {
            let error = Cli::try_parse_from(words).err()?;
            (error.exit_code() != 0).then(|| error.to_string())
        }
        // Tools that judge dependencies: packages of others, where there is one.
        "install" if words[1..].iter().all(|word| word.starts_with("cargo-")) => None,
        "run" | "build" | "check" | "test" | "install" | "bench" | "doc" | "clippy" | "package" => {
            parts(words)
        }
        "fmt" | "tree" | "deny" | "machete" => None,
        other => Some(format!("`cargo {other}` is not known here")),
    }
}

/// Whether the package, the example and so on are there.
fn parts(words: &[String]) -> Option<String> {
    static PACKAGES: LazyLock<Vec<Value>> = LazyLock::new(|| Workspace::find().unwrap().packages().unwrap());
    let own = words.split(|word| word == "--").next()?;
    let values = |flag: &'static str| {
        let pairs = own.windows(2).filter(move |pair| pair[0] == flag);
        pairs.map(|pair| pair[1].as_str())
    };
    let manifests = values("--path").map(|path| root().join(path).join("Cargo.toml"));
    let wanted = values("-p")
        .map(|name| ("name", name.to_owned()))
        .chain(manifests.map(|path| ("manifest_path", path.display().to_string())));
    let mut packages = Vec::new();
    for (key, value) in wanted {
        // As paths: separators may differ.
        let is_wanted = |package: &&Value| package[key].as_str().map(Path::new) == Some(Path::new(&value));
        match PACKAGES.iter().find(is_wanted) {
            Some(package) => packages.push(package),
            None => return Some(format!("there is no package {value}")),
        }
    }
    let package = packages.first()?;
    for (flag, kind) in [("--example", "example"), ("--bench", "bench")] {
        for name in values(flag) {
            let mut targets = package["targets"].as_array()?.iter();
            if !targets.any(|target| target["name"] == name && target["kind"][0] == kind) {
                return Some(format!("there is no {flag} {name}"));
            }
        }
    }
    let mut features = values("--features").flat_map(|names| names.split(','));
    let missing = features.find(|name| package["features"].get(name).is_none())?;
    Some(format!("there is no feature {missing}"))
}

#[test]
fn every_command_of_cargo_in_every_page_is_there() {
    let (mut checked, mut wrong) = (0, Vec::new());
    for page in pages() {
        for words in commands(&std::fs::read_to_string(&page).unwrap()) {
            checked += 1;
            if let Some(problem) = problem(&words) {
                wrong.push(format!(
                    "{}: cargo {}: {problem}",
                    page.display(),
                    words.join(" ")
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(
        checked > 20,
        "only {checked} commands were found; is a page missing?"
    );
}

/// Tests that a page names, known by their length: `module::the_property_that_is_tested`.
#[test]
fn every_test_that_a_page_names_is_there() {
    let is_code =
        |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || "_:".contains(letter);
    let sources = output_of(
        Command::new("git")
            .args(["grep", "-hoE", "fn [a-z0-9_]+", "--", "*.rs"])
            .current_dir(root()),
    );
    let functions: HashSet<String> = sources.unwrap().lines().map(str::to_owned).collect();
    let mut checked = 0;
    for page in pages().into_iter().chain([root().join("CONTRIBUTING.md")]) {
        let text = std::fs::read_to_string(&page).unwrap();
        for name in text.lines().flat_map(|line| line.split('`').skip(1).step_by(2)) {
            let test = name.rsplit("::").next().unwrap_or_default();
            if test.matches('_').count() >= 3 && name.chars().all(is_code) {
                checked += 1;
                assert!(
                    functions.contains(&format!("fn {test}")),
                    "{}: {name}",
                    page.display()
                );
            }
        }
    }
    assert!(checked >= 5, "only {checked} names of tests were found");
}

#[test]
fn missing_commands_and_packages_are_reported() {
    let problem = |command: &str| problem(&commands(&format!("$ {command}\n"))[0]);
    for fine in [
        "cargo xtask demo    # shows it",
        "A=1 cargo run --release -p egg-report --example gallery -- PROTEINS --no-such-option",
        "cargo install --path crates/cli --no-default-features --features pure-rust",
        "cargo xtask bench geometry --rounds 3",
        "cargo xtask bench SUITE --help",
    ] {
        assert_eq!(problem(fine), None, "{fine}");
    }
    for wrong in [
        "cargo xtask dmeo",
        "cargo xtask bench geometry --round 3",
        "cargo xtask bench geology",
        "cargo run -p egg-repot --example gallery",
        "cargo run -p egg-report --example galery",
        "cargo install --path crates/clo",
        "cargo install --path crates/cli --features pure",
        "cargo make",
    ] {
        assert!(problem(wrong).is_some(), "{wrong}");
    }
    let inline = commands("Run `cargo xtask demo`, or `egg info`.\n");
    assert_eq!(inline, [["xtask", "demo"]]);
}

/// Paths with a text of each.
type Texts = Vec<(String, String)>;

/// The diffs of CONTRIBUTING.md: files that are new, and hunks before they are applied.
fn diffs() -> (Texts, Texts) {
    let page = std::fs::read_to_string(root().join("CONTRIBUTING.md")).unwrap();
    let blocks = page.split("```diff\n").skip(1);
    let blocks = blocks.map(|block| block.split("```").next().unwrap());
    let (mut files, mut hunks) = (Vec::new(), Vec::new());
    for diff in blocks.flat_map(|block| block.split("--- ").skip(1)) {
        let mut lines = diff.lines();
        let is_new = lines.next() == Some("/dev/null");
        let path = lines.next().unwrap().strip_prefix("+++ b/").unwrap();
        let lines: Vec<&str> = lines.collect();
        for hunk in lines
            .split(|line| line.starts_with("@@"))
            .filter(|hunk| !hunk.is_empty())
        {
            let kept = hunk.iter().filter(|line| line.starts_with('+') == is_new);
            let text: String = kept
                .map(|line| format!("{}\n", line.get(1..).unwrap_or("")))
                .collect();
            let list = if is_new { &mut files } else { &mut hunks };
            list.push((path.to_owned(), text));
        }
    }
    (files, hunks)
}

#[test]
fn diffs_of_contributing_fit_the_sources() {
    let (files, hunks) = diffs();
    assert!(files.len() >= 6 && hunks.len() >= 10);
    for (path, _) in files {
        assert!(!root().join(&path).exists(), "{path}");
        assert!(root().join(&path).parent().unwrap().is_dir(), "{path}");
    }
    for (path, text) in hunks {
        let source = std::fs::read_to_string(root().join(&path)).unwrap();
        assert_eq!(source.matches(&text).count(), 1, "{path}: {text}");
    }
}

#[test]
fn diffs_of_contributing_are_what_the_crate_outside_has() {
    let (files, _) = diffs();
    // What is imported differs, and how a metric is named.
    let body = |text: &str, start: &str| -> String {
        let text = &text[text.find(start).unwrap()..];
        text.lines()
            .filter(|line| !line.starts_with("use "))
            .collect::<Vec<_>>()
            .join("\n")
    };
    for (name, start) in [
        ("deviation.rs", "///"),
        ("graph_conv.rs", "///"),
        ("f1.rs", "fn f1("),
    ] {
        let outside = root().join("docs/tutorials/own-components/src").join(name);
        let outside = std::fs::read_to_string(outside).unwrap();
        let (_, inside) = files.iter().find(|(path, _)| path.ends_with(name)).unwrap();
        assert_eq!(body(inside, start), body(&outside, start), "{name}");
    }
}
