//! What `cargo package` left: an archive for each crate, none of them large.

use std::fs;
use std::path::Path;

use crate::workspace::Workspace;

/// Compressed bytes. The largest has a quarter of it; more means that something
/// went in which nobody wants.
const MOST: u64 = 1 << 20;

/// The largest archive, for the table; or what is missing or too large.
pub(super) fn check(workspace: &Workspace) -> Result<String, String> {
    let names = published(&workspace.root)?;
    let archives = workspace.target.join("package");
    let mut largest = (0, String::new());
    for name in &names {
        let archive = archives.join(format!("{name}-{}.crate", env!("CARGO_PKG_VERSION")));
        let size = fs::metadata(&archive)
            .map_err(|e| format!("{}: {e}", archive.display()))?
            .len();
        if size > MOST {
            return Err(format!(
                "{name} packs to {size} bytes, more than {MOST}; `cargo package -p {name} --list` says with what"
            ));
        }
        largest = largest.max((size, name.clone()));
    }
    let (size, name) = largest;
    Ok(format!(
        "{} crates, at most {} kB ({name})",
        names.len(),
        size / 1000
    ))
}

/// The names of the packages below `crates/` that are published.
fn published(root: &Path) -> Result<Vec<String>, String> {
    let mut names = Vec::new();
    for entry in fs::read_dir(root.join("crates")).map_err(|e| format!("crates: {e}"))? {
        let manifest = entry.map_err(|e| e.to_string())?.path().join("Cargo.toml");
        let Ok(text) = fs::read_to_string(&manifest) else {
            continue;
        };
        if text.lines().any(|line| line == "publish = false") {
            continue;
        }
        let name = text.lines().find_map(|line| line.strip_prefix("name = \""));
        let name = name.and_then(|rest| rest.strip_suffix('"'));
        names.push(
            name.ok_or_else(|| format!("{}: no name", manifest.display()))?
                .to_owned(),
        );
    }
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn metadata() -> Value {
        let mut cargo = Workspace::find().unwrap().cargo();
        let output = cargo
            .args(["metadata", "--no-deps", "--format-version", "1"])
            .output()
            .unwrap();
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// What a registry shows of a crate, and what its licences ask for.
    #[test]
    fn every_crate_says_what_it_is_and_brings_its_licences() {
        let metadata = metadata();
        let packages = metadata["packages"].as_array().unwrap();
        let root = Workspace::find().unwrap().root;
        let mut seen = Vec::new();
        // An empty list of registries: not to be published.
        for package in packages.iter().filter(|package| package["publish"].is_null()) {
            let name = package["name"].as_str().unwrap();
            seen.push(name.to_owned());
            assert_eq!(package["license"], "MIT OR Apache-2.0", "{name}");
            let description = package["description"].as_str().unwrap_or_default();
            assert!((30..300).contains(&description.len()), "{name}: {description:?}");
            for (field, most) in [("keywords", 5), ("categories", 5)] {
                let count = package[field].as_array().unwrap().len();
                assert!((1..=most).contains(&count), "{name}: {count} {field}");
            }
            assert_eq!(package["readme"], "README.md", "{name}");
            let folder = Path::new(package["manifest_path"].as_str().unwrap())
                .parent()
                .unwrap();
            for file in ["LICENSE-MIT", "LICENSE-APACHE"] {
                let theirs = fs::read(folder.join(file)).unwrap_or_else(|e| panic!("{name}, {file}: {e}"));
                assert!(theirs == fs::read(root.join(file)).unwrap(), "{name}, {file}");
            }
        }
        seen.sort();
        assert_eq!(seen, published(&root).unwrap());
    }

    /// The oldest compiler is the one the tests run on; a page that says another
    /// number would be wrong.
    #[test]
    fn the_oldest_compiler_is_the_same_everywhere() {
        let metadata = metadata();
        let versions = metadata["packages"].as_array().unwrap().iter();
        let mut versions: Vec<&str> = versions.map(|p| p["rust_version"].as_str().unwrap()).collect();
        versions.dedup();
        let [version] = versions[..] else {
            panic!("different ones: {versions:?}");
        };
        let root = Workspace::find().unwrap().root;
        for page in ["README.md", "docs/HARDENING.md"] {
            let text = fs::read_to_string(root.join(page)).unwrap();
            assert!(text.contains(&format!("Rust {version}")), "{page}");
        }
    }
}
