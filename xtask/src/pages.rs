//! Commands of cargo in the project's pages, as far as they can be checked without
//! the hours that some of them take: each command, option, package, example and
//! feature that a page names is there. (`crates/cli` runs those of `egg`.)

use std::path::{Path, PathBuf};

use clap::Parser;

use crate::Cli;

/// What stands for something else in a page.
const PLACEHOLDERS: [&str; 8] = ["COMMAND", "SUITE", "NAME", "NAMES", "DIR", "CRATE", "STAGE", "N"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn pages() -> Vec<PathBuf> {
    let mut pages: Vec<PathBuf> = ["README.md", "SECURITY.md", "datasets/README.md"]
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

/// A package of the workspace: its folder and its manifest.
fn package(name: &str) -> Option<(PathBuf, String)> {
    let crates = std::fs::read_dir(root().join("crates")).unwrap();
    let folders = crates
        .map(|entry| entry.unwrap().path())
        .chain([root().join("fuzz"), root().join("xtask")]);
    folders
        .filter_map(|folder| Some((std::fs::read_to_string(folder.join("Cargo.toml")).ok()?, folder)))
        .find(|(manifest, _)| manifest.contains(&format!("name = \"{name}\"\n")))
        .map(|(manifest, folder)| (folder, manifest))
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
        "run" | "build" | "test" | "install" | "bench" | "doc" | "clippy" | "package" => parts(words),
        "fmt" | "tree" | "deny" | "machete" => None,
        other => Some(format!("`cargo {other}` is not known here")),
    }
}

/// Whether the package, the example and so on are there.
fn parts(words: &[String]) -> Option<String> {
    let own = words.iter().position(|word| word == "--").unwrap_or(words.len());
    let words = &words[..own];
    let value = |flag: &str| {
        let at = words.iter().position(|word| word == flag)?;
        words.get(at + 1).cloned()
    };
    let packages: Vec<&String> = words
        .windows(2)
        .filter_map(|pair| (pair[0] == "-p").then_some(&pair[1]))
        .collect();
    let missing = packages.iter().find(|name| package(name).is_none());
    if let Some(missing) = missing {
        return Some(format!("there is no package {missing}"));
    }
    let (folder, manifest) = match (packages.first(), value("--path")) {
        (Some(name), _) => package(name)?,
        (None, Some(path)) => {
            let folder = root().join(path);
            match std::fs::read_to_string(folder.join("Cargo.toml")) {
                Ok(manifest) => (folder, manifest),
                Err(error) => return Some(format!("{}: {error}", folder.display())),
            }
        }
        (None, None) => return None,
    };
    for (flag, place) in [("--example", "examples"), ("--bench", "benches")] {
        if let Some(name) = value(flag) {
            let place = folder.join(place);
            if !place.join(format!("{name}.rs")).is_file() && !place.join(&name).join("main.rs").is_file() {
                return Some(format!("there is no {flag} {name}"));
            }
        }
    }
    for feature in value("--features")
        .unwrap_or_default()
        .split(',')
        .filter(|name| !name.is_empty())
    {
        if !manifest
            .lines()
            .any(|line| line.starts_with(&format!("{feature} = [")))
        {
            return Some(format!("there is no feature {feature}"));
        }
    }
    None
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

#[test]
fn what_is_not_there_is_found() {
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
