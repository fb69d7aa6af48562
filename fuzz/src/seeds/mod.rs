//! Small sound inputs, which the drivers begin with. `corpus/` has them as
//! files: `cargo test -p egg-fuzz --test fuzz -- --write-seeds` wrote those.

#[cfg(feature = "models")]
mod models;
pub(crate) mod numpy;
pub(crate) mod python;

use std::path::Path;

use egg_graph::{Cache, DataSource, ReadOptions};

use numpy::{floats, npy, words};

use crate::files::{Folder, Sections};
use crate::targets::TARGETS;

/// A seed: its target, its file's name, its bytes.
pub type Seed = (&'static str, &'static str, Vec<u8>);

pub(crate) type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// All of them.
///
/// # Errors
/// Those of the writers that make them.
pub fn all() -> Result<Vec<Seed>> {
    let mut seeds = arrays();
    for target in TARGETS {
        if let Some(reader) = &target.reader {
            let named = (reader.seeds)()?.into_iter();
            seeds.extend(named.map(|(name, bytes)| (target.name, name, bytes)));
        }
    }
    seeds.extend(pickles());
    #[cfg(feature = "geometry")]
    seeds.extend(matrices());
    seeds.extend(lists());
    seeds.extend(caches()?);
    #[cfg(feature = "models")]
    seeds.extend(models::all()?);
    Ok(seeds)
}

/// An input of files of text.
pub(crate) fn text(files: &[(&str, &str)]) -> Vec<u8> {
    Sections::join(files.iter().map(|(name, text)| (*name, text.as_bytes())))
}

fn arrays() -> Vec<Seed> {
    let list = |values: &[i32]| npy("<i4", "False", &format!("({},)", values.len()), &words(values));
    vec![
        (
            "npy",
            "matrix",
            npy(
                "<f4",
                "False",
                "(2, 3)",
                &floats(&[1.0, 2.0, 3.0, -4.0, 0.5, 1e-40]),
            ),
        ),
        (
            "npy",
            "fortran",
            npy(
                ">f8",
                "True",
                "(1, 2)",
                &[1.5f64, -2.0].map(f64::to_be_bytes).concat(),
            ),
        ),
        ("npy", "integers", list(&[3, -1, 7])),
        (
            "npy",
            "text",
            npy("<U2", "False", "(2,)", &words(&[97, 98, 228, 0])),
        ),
        ("npy", "empty", npy("|b1", "False", "(0, 5)", &[])),
    ]
}

fn pickles() -> Vec<Seed> {
    use python::{array, csr, graph};
    let allx = csr([3, 2], &[0, 1, 1, 3], &[0, 1, 0], &[1.0, 3.0, 2.0]);
    let lists = graph(&[(2, &[1, 4]), (0, &[1, 1]), (4, &[2, 4]), (1, &[0, 2]), (3, &[])]);
    vec![
        ("pickle", "csr", allx),
        ("pickle", "lists", lists),
        ("pickle", "array", array(&[3, 2], &[1, 0, 0, 1, 1, 0])),
        ("pickle", "text", b"(dp0\nS'a\\x41'\np1\n(lp2\nI1\naL2L\naF0.5\nasVtext\\u00e4\n(I01\nNtp3\ns.".to_vec()),
        (
            "pickle",
            "frames",
            b"\x80\x04\x95\x14\x00\x00\x00\x00\x00\x00\x00}\x94(\x8c\x01a\x94]\x94(K\x01\x88Gu\0\0\0\0\0\0\0eu.".to_vec(),
        ),
    ]
}

/// Sizes, rule and entries; see the targets.
#[cfg(feature = "geometry")]
fn matrices() -> Vec<Seed> {
    let seed = |head: &[u8], values: &[f32]| [head, &floats(values)].concat();
    let double = |head: &[u8], values: &[f64]| {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        [head, &bytes].concat()
    };
    let tied = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    let mixed = [f32::MAX, 1e-45, -1.0, 0.25, f32::MIN_POSITIVE, -f32::MAX, 3.5];
    vec![
        ("decomposition", "tied", seed(&[2, 2, 1], &tied)),
        ("decomposition", "mixed", seed(&[4, 2, 8], &mixed)),
        (
            "decomposition",
            "wide",
            seed(&[1, 7, 3], &[0.5, 2.0, -1.5, 3.0, 0.125]),
        ),
        (
            "decomposition",
            "double",
            double(&[3, 3, 130], &[1.0, 1e-200, -2.5, 1e200, 0.0]),
        ),
        (
            "decomposition",
            "large",
            seed(&[244, 243, 9], &[0.5, 2.0, -1.5, 3.0, 0.125, -0.75, 1.0]),
        ),
        (
            "decomposition",
            "not-finite",
            seed(&[1, 1, 0], &[1.0, f32::NAN, f32::INFINITY]),
        ),
        (
            "subspaces",
            "planes",
            seed(&[1, 1, 3, 1], &[1.0, 0.0, 0.5, 0.25, 0.0, 1.0, 2.0, 0.0]),
        ),
        (
            "subspaces",
            "lines",
            double(&[0, 0, 2, 130], &[1.0, 0.0, 0.0, 1.0, 1.0, 1.0]),
        ),
        ("subspaces", "mixed", seed(&[4, 3, 5, 10], &mixed)),
    ]
}

fn lists() -> Vec<Seed> {
    let registry = r#"format = 1

[[dataset]]
name = "TINY"
aliases = ["small-one"]
task = "graph-classification"
layout = "tu"
path = "TINY"
stem = "TINY"
licence = "none"
citations = ["Nobody"]

[dataset.counts]
graphs = 2
nodes = 5
edges = 2
features = 3
classes = 2

[[dataset.file]]
path = "TINY/TINY_A.txt"
url = "https://example.org/TINY_A.txt"
size = 12
"#;
    vec![("registry", "one", registry.as_bytes().to_vec())]
}

fn first_file(folder: &Path) -> Option<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).ok()?;
    entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| path.is_file())
}

/// The content of cache files, behind their header.
fn caches() -> Result<Vec<Seed>> {
    let header = 48;
    let folder = Folder::new("seeds-of-caches");
    let mut seeds = Vec::new();
    for (target, seed, name) in [
        ("tu", "two-graphs", "tu"),
        ("edge_list", "numbers", "edge-list"),
        ("ogb", "three-graphs", "ogb"),
    ] {
        let reader = crate::target(target).and_then(|target| target.reader.as_ref());
        let reader = reader.ok_or("no such reader")?;
        let mut inputs = (reader.seeds)()?.into_iter().filter(|(known, _)| *known == seed);
        let (_, input) = inputs.next().ok_or("no such seed")?;
        let source = folder.emptied("source");
        for (file, content) in Sections::everything(&input) {
            let path = source.join(file);
            std::fs::create_dir_all(path.parent().unwrap_or(&source))?;
            std::fs::write(path, content)?;
        }
        let caches = folder.emptied("caches");
        let source = DataSource::new(source, reader.layout, "DS");
        source.load(&ReadOptions::default(), &Cache::In(caches.clone()))?;
        let file = first_file(&caches).ok_or("no cache was written")?;
        seeds.push(("cache", name, std::fs::read(file)?.split_off(header)));
    }
    Ok(seeds)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A seed that is refused at once leads nowhere.
    #[test]
    fn every_target_has_seeds_that_are_read() {
        let seeds = all().unwrap();
        for target in TARGETS {
            assert!(
                seeds.iter().any(|(name, ..)| *name == target.name),
                "{}",
                target.name
            );
        }
        for (name, seed, bytes) in seeds {
            let outcome = (crate::target(name).unwrap().run)(&bytes).to_string();
            let read = match (name, seed) {
                ("decomposition", "not-finite") => outcome == "not finite",
                ("pickle", _) => ["an array", "a CSR matrix", "a dict"]
                    .iter()
                    .any(|kind| outcome.contains(kind)),
                // One of several kinds, or the text of a rank rule.
                ("settings", _) => outcome.contains("read") || seed == "rank",
                _ => outcome.starts_with("read"),
            };
            assert!(read, "{name}/{seed}: {outcome}");
            assert!(bytes.len() <= crate::mutate::LONGEST, "{name}/{seed}");
        }
    }
}
