//! Commands of this program in the project's pages are understood. (`xtask/src/pages.rs` looks at the others.)

use std::path::PathBuf;

use clap::Parser;
use egg_reproduce::command::Command;

use crate::data::root;

fn pages() -> Vec<PathBuf> {
    let folders = [
        "docs",
        "docs/results",
        "crates/reproduce",
        "crates/reproduce/notebook",
    ];
    let files = folders.iter().flat_map(|folder| {
        let files = std::fs::read_dir(root().join(folder)).unwrap();
        files.map(|entry| entry.unwrap().path())
    });
    let mut pages: Vec<PathBuf> = files
        .filter(|path| path.extension().is_some_and(|ending| ending == "md"))
        .collect();
    pages.push(root().join("README.md"));
    pages
}

/// What a line has for this program, by way of xtask or of cargo.
fn words(line: &str) -> Option<Vec<String>> {
    let line = line.split("   #").next()?.split(" # ").next()?;
    let (_, command) = line.split_once("cargo ")?;
    let words = match command.strip_prefix("xtask bench ") {
        Some(words) if words.starts_with("paper") || words.starts_with("scale") => words,
        Some(_) => return None,
        None => command.split_once("-p egg-reproduce -- ")?.1,
    };
    Some(words.split_whitespace().map(String::from).collect())
}

#[test]
fn every_command_in_every_page_is_understood() {
    let mut checked = 0;
    for page in pages() {
        let text = std::fs::read_to_string(&page).unwrap();
        for line in text.lines() {
            let commands: Vec<&str> = match line.strip_prefix("$ ") {
                Some(command) => vec![command],
                None => line.split('`').skip(1).step_by(2).collect(),
            };
            for words in commands.into_iter().filter_map(words) {
                // Alone it stands for what it does.
                if words.len() == 1 || words.iter().any(|word| word == "--help") {
                    continue;
                }
                checked += 1;
                let program = std::iter::once("egg-reproduce".to_owned());
                let parsed = Command::try_parse_from(program.chain(words.clone()));
                assert!(parsed.is_ok(), "{}: {words:?}: {parsed:?}", page.display());
            }
        }
    }
    assert!(checked > 8, "only {checked} commands were found");
}
