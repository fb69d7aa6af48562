//! The archives that `cargo package` makes: one for each crate, none of them large.

use std::fs;

use serde_json::Value;

use crate::error::Error;
use crate::workspace::Workspace;

/// Compressed bytes. The largest has a quarter of it; more means that something
/// went in that does not belong there.
const MOST: u64 = 1 << 20;

/// The largest archive, for the table; or what is missing or too large.
pub(super) fn check(workspace: &Workspace) -> Result<String, String> {
    let packages = published(workspace).map_err(|e| e.to_string())?;
    let archives = workspace.target.join("package");
    let mut largest = (0, "");
    for package in &packages {
        let name = package["name"].as_str().unwrap_or_default();
        let archive = archives.join(format!("{name}-{}.crate", env!("CARGO_PKG_VERSION")));
        let size = fs::metadata(&archive)
            .map_err(|e| format!("{}: {e}", archive.display()))?
            .len();
        if size > MOST {
            return Err(format!(
                "{name} packs to {size} bytes, more than {MOST}; `cargo package -p {name} --list` says with what"
            ));
        }
        largest = largest.max((size, name));
    }
    let (size, name) = largest;
    Ok(format!(
        "{} crates, at most {} kB ({name})",
        packages.len(),
        size / 1000
    ))
}

fn published(workspace: &Workspace) -> Result<Vec<Value>, Error> {
    let mut packages = workspace.packages()?;
    // An empty list of registries: not to be published.
    packages.retain(|package| package["publish"].is_null());
    Ok(packages)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// What a registry shows of a crate, and what its licences ask for.
    #[test]
    fn every_crate_says_what_it_is_and_brings_its_licences() {
        let workspace = Workspace::find().unwrap();
        let packages = published(&workspace).unwrap();
        assert!(packages.len() > 10, "{}", packages.len());
        for package in packages {
            let name = package["name"].as_str().unwrap();
            assert_eq!(package["license"], "MIT OR Apache-2.0", "{name}");
            let description = package["description"].as_str().unwrap_or_default();
            assert!((30..300).contains(&description.len()), "{name}: {description:?}");
            for (field, most) in [("keywords", 5), ("categories", 5)] {
                let count = package[field].as_array().unwrap().len();
                assert!((1..=most).contains(&count), "{name}: {count} {field}");
            }
            assert_eq!(package["readme"], "README.md", "{name}");
            let docs_rs = &package["metadata"]["docs"]["rs"];
            // All features, or on the backend that docs.rs can build.
            let is_pure = docs_rs["no-default-features"] == true
                && docs_rs["features"]
                    .as_array()
                    .unwrap()
                    .contains(&"pure-rust".into());
            assert!(docs_rs["all-features"] == true || is_pure, "{name}: {docs_rs}");
            let folder = Path::new(package["manifest_path"].as_str().unwrap())
                .parent()
                .unwrap();
            for file in ["LICENSE-MIT", "LICENSE-APACHE"] {
                let theirs = fs::read(folder.join(file)).unwrap_or_else(|e| panic!("{name}, {file}: {e}"));
                assert!(
                    theirs == fs::read(workspace.root.join(file)).unwrap(),
                    "{name}, {file}"
                );
            }
        }
    }

    /// The oldest compiler is the one the tests run on; a page that says another
    /// number would be wrong.
    #[test]
    fn the_oldest_compiler_is_the_same_everywhere() {
        let workspace = Workspace::find().unwrap();
        let packages = workspace.packages().unwrap();
        let mut versions: Vec<_> = packages
            .iter()
            .map(|p| p["rust_version"].as_str().unwrap())
            .collect();
        versions.dedup();
        let [version] = versions[..] else {
            panic!("different ones: {versions:?}");
        };
        for page in ["README.md", "docs/HARDENING.md"] {
            let text = fs::read_to_string(workspace.root.join(page)).unwrap();
            assert!(text.contains(&format!("Rust {version}")), "{page}");
        }
    }
}
