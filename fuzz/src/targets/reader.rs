//! What the targets of readers of data sets have in common.

use std::path::PathBuf;

use egg_graph::{DataSource, GraphDataset, Layout};

use crate::dataset::options;
use crate::seeds::Result;

/// The name of a seed's file, and its bytes.
pub type NamedSeed = (&'static str, Vec<u8>);

/// One reader of egg-graph, and how an input becomes files that it reads.
pub struct Reader {
    /// Whose reader it is.
    pub layout: Layout,
    /// Writes the files of an input, in place of those of the last one: the path to read.
    pub write: fn(&[u8]) -> PathBuf,
    /// Sound inputs to begin with; together they have every kind of file that the reader opens.
    pub seeds: fn() -> Result<Vec<NamedSeed>>,
}

impl Reader {
    /// Where the files of an input are, once they are written.
    pub fn source(&self, input: &[u8]) -> DataSource {
        DataSource::new((self.write)(input), self.layout, "DS")
    }

    /// Reads the files of an input, with options that depend on it.
    pub(super) fn read(&self, input: &[u8]) -> egg_graph::Result<GraphDataset> {
        self.source(input).read(&options(input))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use egg_graph::ReadOptions;

    use super::*;
    use crate::targets::TARGETS;

    fn readers() -> impl Iterator<Item = (&'static str, &'static Reader)> {
        TARGETS
            .iter()
            .filter_map(|target| Some((target.name, target.reader.as_ref()?)))
    }

    #[test]
    fn every_layout_has_a_target_with_seeds() {
        for layout in Layout::ALL {
            let mut known = readers().filter(|(_, reader)| reader.layout == *layout);
            let Some((name, reader)) = known.next() else {
                panic!("no target in fuzz/src/targets has the reader of {layout}");
            };
            assert!(!(reader.seeds)().unwrap().is_empty(), "{name} has no seeds");
        }
    }

    #[test]
    fn every_target_has_saved_seeds_and_a_program_for_libfuzzer() {
        let package = Path::new(env!("CARGO_MANIFEST_DIR"));
        let manifest = fs::read_to_string(package.join("libfuzzer/Cargo.toml")).unwrap();
        for target in TARGETS {
            let name = target.name;
            let corpus = package.join("corpus").join(name);
            let saved = fs::read_dir(&corpus).map_or(0, Iterator::count);
            assert!(
                saved > 0,
                "corpus/{name} is empty: run the test fuzz with --write-seeds"
            );
            let program = format!("fuzz_targets/{name}.rs");
            let call = format!("run(\"{name}\", input)");
            let text = fs::read_to_string(package.join("libfuzzer").join(&program)).unwrap_or_default();
            assert!(text.contains(&call), "libfuzzer/{program} does not {call}");
            assert!(
                manifest.contains(&program),
                "libfuzzer/Cargo.toml has no {program}"
            );
        }
    }

    #[test]
    fn names_fit_the_data_and_every_file_is_claimed() {
        for (name, reader) in readers() {
            for (seed, input) in (reader.seeds)().unwrap() {
                let source = reader.source(&input);
                let plain = source.read(&ReadOptions::default()).unwrap();
                let named = source.read_named(&ReadOptions::default()).unwrap();
                assert_eq!(named.dataset.fingerprint(), plain.fingerprint(), "{name}/{seed}");
                let graphs = named.graph_names.map_or(plain.len(), |names| names.len());
                let nodes = named.node_names.map_or(plain.node_count(), |names| names.len());
                assert_eq!(
                    (graphs, nodes),
                    (plain.len(), plain.node_count()),
                    "{name}/{seed}"
                );
                let claimed = source.claimed_paths();
                for file in source.files().unwrap() {
                    let is_claimed = claimed.iter().any(|path| file.starts_with(path));
                    assert!(is_claimed, "{name}/{seed}: {}", file.display());
                }
            }
        }
    }

    /// A file that a reader opens but does not list could change without the cache noticing.
    #[test]
    fn readers_open_only_the_files_they_list() {
        for (name, reader) in readers() {
            for (seed, input) in (reader.seeds)().unwrap() {
                let source = reader.source(&input);
                let files = source.files().unwrap();
                // A folder keeps its name, which may be that of the data set.
                let parent = source.path.parent().unwrap();
                let copy = tempfile::tempdir().unwrap();
                let elsewhere = |path: &Path| copy.path().join(path.strip_prefix(parent).unwrap());
                for file in &files {
                    let path = elsewhere(file);
                    fs::create_dir_all(path.parent().unwrap()).unwrap();
                    fs::copy(file, path).unwrap();
                }
                let copied = DataSource::new(elsewhere(&source.path), reader.layout, "DS");
                let read = |source: &DataSource| source.read(&ReadOptions::default()).unwrap();
                let (all, listed) = (read(&source), read(&copied));
                assert_eq!(all.fingerprint(), listed.fingerprint(), "{name}/{seed}");
                assert_eq!(all.split(), listed.split(), "{name}/{seed}");
                assert_eq!(all.reading(), listed.reading(), "{name}/{seed}");
            }
        }
    }
}
