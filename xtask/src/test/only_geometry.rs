//! The README's example of the geometry as a crate of its own, outside the
//! workspace: what somebody has who depends on `egg-geometry` and nothing else.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::stage::{Step, unwanted};
use crate::workspace::Workspace;

/// The part of the README that has its manifest and its program.
const SECTION: &str = "## Only the geometry\n";

/// Writes the crate below the target directory, with the workspace's own choice
/// of versions, and says where.
pub(super) fn write(workspace: &Workspace) -> Result<PathBuf, String> {
    let readme = workspace.root.join("README.md");
    let readme = fs::read_to_string(&readme).map_err(|e| format!("{}: {e}", readme.display()))?;
    let folder = folder(workspace);
    let (manifest, program) = from_readme(&readme, &workspace.root)?;
    let lock = fs::read(workspace.root.join("Cargo.lock")).map_err(|e| format!("Cargo.lock: {e}"))?;
    fs::create_dir_all(folder.join("src")).map_err(|e| format!("{}: {e}", folder.display()))?;
    for (name, text) in [
        ("Cargo.toml", manifest.as_bytes()),
        ("Cargo.lock", &lock),
        ("src/main.rs", program.as_bytes()),
    ] {
        fs::write(folder.join(name), text).map_err(|e| format!("{}/{name}: {e}", folder.display()))?;
    }
    Ok(folder)
}

pub(super) fn folder(workspace: &Workspace) -> PathBuf {
    workspace.target.join("only-geometry")
}

/// Manifest and program of the example, on the backend that needs no system
/// library.
fn from_readme(readme: &str, root: &Path) -> Result<(String, String), String> {
    let missing = |what: &str| format!("README.md has no {what} under `{}`", SECTION.trim_end());
    let (_, section) = readme.split_once(SECTION).ok_or_else(|| missing("text"))?;
    let section = section.split("\n## ").next().unwrap_or(section);
    let dependencies = block(section, "toml").ok_or_else(|| missing("manifest"))?;
    let program = block(section, "rust").ok_or_else(|| missing("program"))?;
    // Two lines name the crate, the second as a comment: that one is meant.
    let pure = dependencies
        .lines()
        .find_map(|line| line.strip_prefix("# egg-geometry = "))
        .filter(|line| line.contains("pure-rust"))
        .ok_or_else(|| missing("line `# egg-geometry = ...` with `pure-rust`"))?;
    let others: Vec<&str> = dependencies
        .lines()
        .filter(|line| !line.starts_with('#') && !line.starts_with("egg-geometry"))
        .collect();
    let crates = root.join("crates").display().to_string().replace('\\', "/");
    let manifest = format!(
        "[package]\nname = \"only-geometry\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
         [workspace]\n\n[profile.dev]\ndebug = false\n\n{}\negg-geometry = {}\n",
        others.join("\n"),
        pure.replace("\"crates/", &format!("\"{crates}/")),
    );
    Ok((manifest, program.to_owned()))
}

/// What stands between ```` ```LANGUAGE ```` and the next fence.
fn block<'a>(text: &'a str, language: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(&format!("```{language}\n"))?;
    Some(rest.split_once("```")?.0)
}

/// What is wrong with what a step of the stage said: packages that the crate it was asked
/// about must do without, or a program that does not say what it is there to say.
pub(super) fn judge(step: &Step, said: &[String]) -> Result<(), String> {
    if step.runs() {
        return match has_both_results(said) {
            true => Ok(()),
            false => Err("the README's example of the geometry did not print angles and a distance".into()),
        };
    }
    let heavy: BTreeSet<_> = said.iter().filter_map(|line| unwanted(line, step)).collect();
    match heavy.is_empty() {
        true => Ok(()),
        false => Err(format!("depends on {}", Vec::from_iter(heavy).join(", "))),
    }
}

/// Whether the program said what it is there to say: the angles and a distance
/// that is one, between 0 and that of perpendicular planes.
fn has_both_results(lines: &[String]) -> bool {
    let distance = lines.iter().find_map(|line| line.strip_prefix("geodesic "));
    let distance = distance.and_then(|number| number.parse::<f64>().ok());
    lines.iter().any(|line| line.starts_with("angles ["))
        && distance.is_some_and(|distance| distance > 0.0 && distance < 3.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_readme_has_a_crate_that_needs_no_system_library() {
        let workspace = Workspace::find().unwrap();
        let readme = fs::read_to_string(workspace.root.join("README.md")).unwrap();
        let (manifest, program) = from_readme(&readme, &workspace.root).unwrap();
        assert_eq!(manifest.matches("egg-geometry").count(), 1, "{manifest}");
        assert!(manifest.contains("default-features = false"), "{manifest}");
        assert!(manifest.contains("\nndarray = "), "{manifest}");
        let path = manifest
            .split("path = \"")
            .nth(1)
            .unwrap()
            .split('"')
            .next()
            .unwrap();
        assert!(Path::new(path).join("Cargo.toml").is_file(), "{path}");
        assert!(program.contains("fn main()"));
        assert!(from_readme("# A page\n", &workspace.root).is_err());
    }

    #[test]
    fn what_the_program_says_is_looked_at() {
        let lines = |text: &str| text.lines().map(String::from).collect::<Vec<_>>();
        assert!(has_both_results(&lines("angles [0.0, 0.4]\ngeodesic 0.4")));
        assert!(!has_both_results(&lines("angles [0.0, 0.4]\ngeodesic NaN")));
        assert!(!has_both_results(&lines("geodesic 0.4")));
        assert!(!has_both_results(&[]));
    }
}
