//! Crates outside the workspace, as users have them: the README's example of the geometry, and
//! `docs/tutorials/own-components`, which adds components of its own.
//!
//! Both are written below the target directory with the workspace's versions and profiles, so that the packages of
//! others are those that the tests have compiled.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::stage::{Check, Step, unwanted};
use crate::workspace::Workspace;

/// The part of the README that has the manifest and the program of the geometry's example.
const SECTION: &str = "## Only the geometry\n";

const OWN: &str = "docs/tutorials/own-components";

/// Writes the crate that a stage is about and returns its folder; `None` for a stage that is about none.
pub(super) fn write(workspace: &Workspace, check: Check) -> Result<Option<PathBuf>, String> {
    let read = |path: &Path| fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()));
    let root = &workspace.root;
    let (folder, manifest, sources) = match check {
        Check::GeometryOnly => {
            let (manifest, program) = from_readme(&read(&root.join("README.md"))?)?;
            ("geometry-only", manifest, vec![("main.rs".into(), program)])
        }
        Check::Own => {
            let own = root.join(OWN);
            if !own.join("Cargo.toml").is_file() {
                return Err(format!(
                    "{OWN} is missing: the crate that shows how to add components"
                ));
            }
            let mut sources = Vec::new();
            for entry in fs::read_dir(own.join("src")).map_err(|e| format!("{OWN}/src: {e}"))? {
                let path = entry.map_err(|e| format!("{OWN}/src: {e}"))?.path();
                let name = path
                    .file_name()
                    .unwrap_or_default()
                    .to_string_lossy()
                    .into_owned();
                sources.push((name, read(&path)?));
            }
            ("own", read(&own.join("Cargo.toml"))?, sources)
        }
        _ => return Ok(None),
    };
    let folder = workspace.target.join(folder);
    let manifest = in_workspaces_place(&manifest, &read(&root.join("Cargo.toml"))?, root);
    let lock = read(&root.join("Cargo.lock"))?;
    fs::create_dir_all(folder.join("src")).map_err(|e| format!("{}: {e}", folder.display()))?;
    let sources = sources
        .into_iter()
        .map(|(name, text)| (format!("src/{name}"), text));
    let files = [
        ("Cargo.toml".to_owned(), manifest),
        ("Cargo.lock".to_owned(), lock),
    ];
    for (name, text) in files.into_iter().chain(sources) {
        fs::write(folder.join(&name), text).map_err(|e| format!("{}/{name}: {e}", folder.display()))?;
    }
    Ok(Some(folder))
}

/// The manifest with absolute paths to the crates, and with the workspace's profiles instead of its own.
fn in_workspaces_place(manifest: &str, workspace: &str, root: &Path) -> String {
    let crates = format!(
        "path = \"{}/crates/",
        root.display().to_string().replace('\\', "/")
    );
    let own = sections(manifest, |name| {
        name != "[workspace]" && !name.starts_with("[profile.")
    });
    let own = own.replace("path = \"crates/", &crates);
    let own = own.replace("path = \"../../../crates/", &crates);
    let profiles = sections(workspace, |name| name.starts_with("[profile."));
    format!("{own}\n[workspace]\n\n{profiles}")
}

/// The sections of a manifest whose name is one of those asked for.
fn sections(manifest: &str, is_wanted: impl Fn(&str) -> bool) -> String {
    let mut is_in = is_wanted("");
    let lines = manifest.split_inclusive('\n').filter(|line| {
        if line.starts_with('[') {
            is_in = is_wanted(line.trim_end());
        }
        is_in
    });
    lines.collect()
}

/// Manifest and program of the example, on the backend that needs no system
/// library.
fn from_readme(readme: &str) -> Result<(String, String), String> {
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
    let manifest = format!(
        "[package]\nname = \"geometry-only\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n{}\negg-geometry = {pure}\n",
        others.join("\n"),
    );
    Ok((manifest, program.to_owned()))
}

/// What stands between ```` ```LANGUAGE ```` and the next fence.
fn block<'a>(text: &'a str, language: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(&format!("```{language}\n"))?;
    Some(rest.split_once("```")?.0)
}

/// What is wrong with the output of a step of `geometry-only`: packages that the crate in question must not need, or a
/// program without its results.
pub(super) fn judge(step: &Step, output: &[String]) -> Result<(), String> {
    if step.runs() {
        return match has_both_results(output) {
            true => Ok(()),
            false => Err("the README's example of the geometry did not print angles and a distance".into()),
        };
    }
    let heavy: BTreeSet<_> = output.iter().filter_map(|line| unwanted(line, step)).collect();
    match heavy.is_empty() {
        true => Ok(()),
        false => Err(format!("depends on {}", Vec::from_iter(heavy).join(", "))),
    }
}

/// Whether the program printed the angles and a distance, between 0 and that of perpendicular planes.
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
    fn the_example_in_the_readme_needs_no_system_library() {
        let workspace = Workspace::find().unwrap();
        let readme = fs::read_to_string(workspace.root.join("README.md")).unwrap();
        let (manifest, program) = from_readme(&readme).unwrap();
        let root = fs::read_to_string(workspace.root.join("Cargo.toml")).unwrap();
        let manifest = in_workspaces_place(&manifest, &root, &workspace.root);
        assert_eq!(manifest.matches("\negg-geometry").count(), 1, "{manifest}");
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
        assert!(from_readme("# A page\n").is_err());
    }

    #[test]
    fn profiles_are_the_workspaces_and_paths_are_absolute() {
        let own = "[package]\nname = \"a\"\n\n[profile.dev]\nopt-level = 3\n\n[workspace]\n\n[dependencies]\n\
                   egg-gnn = { path = \"../../../crates/egg\" }\n";
        let root = "[workspace]\nmembers = []\n\n[profile.dev]\nopt-level = 1\n\n[profile.dev.package.b]\nopt-level = 2\n";
        assert_eq!(
            in_workspaces_place(own, root, Path::new("/here")),
            "[package]\nname = \"a\"\n\n[dependencies]\negg-gnn = { path = \"/here/crates/egg\" }\n\n[workspace]\n\n\
             [profile.dev]\nopt-level = 1\n\n[profile.dev.package.b]\nopt-level = 2\n"
        );
    }

    #[test]
    fn angles_and_a_distance_must_be_in_the_output() {
        let lines = |text: &str| text.lines().map(String::from).collect::<Vec<_>>();
        assert!(has_both_results(&lines("angles [0.0, 0.4]\ngeodesic 0.4")));
        assert!(!has_both_results(&lines("angles [0.0, 0.4]\ngeodesic NaN")));
        assert!(!has_both_results(&lines("geodesic 0.4")));
        assert!(!has_both_results(&[]));
    }
}
