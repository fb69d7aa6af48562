//! A data set in one binary file, next to its source or in a cache folder, so that the second
//! load takes a fraction of the first.
//!
//! The file holds the flat arrays of the data set behind a header: a magic
//! word, the version of this layout, a digest of the source's bytes and of the
//! options it was read with, and a digest of everything that follows. A file
//! whose version, source or content does not match is not an error: it is read
//! as if it were not there, and written anew. What is loaded is checked like
//! any other input, so that a forged file can at worst be refused.

// Numbers in a file are no index: what they point at may not be there.
#![warn(clippy::indexing_slicing)]

mod decode;
mod encode;

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::Xxh3;

use crate::dataset::GraphDataset;
use crate::error::{Error, Result};

/// Starts every cache file.
const MAGIC: &[u8; 8] = b"EGGcache";
/// Raised whenever the layout, or what a reader makes of a file, changes.
const VERSION: u32 = 3;
/// Magic, version, padding, digest of the source, digest of the content.
const HEADER: usize = 8 + 4 + 4 + 16 + 16;

/// Where cached data sets go.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cache {
    /// In the folder of the source, as a hidden file. If the folder can't be written to,
    /// the data set is loaded all the same and nothing is kept.
    #[default]
    NextToSource,
    /// In a folder of their own, which must exist.
    In(PathBuf),
    /// Nowhere.
    Off,
}

/// Whether the data set came from the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CacheUse {
    /// The data set came from the cache.
    Hit,
    /// It was read from its source and cached for the next time.
    Written,
    /// It was read from its source, and could not be cached there.
    NotWritable,
    /// No cache was wanted.
    Off,
}

/// What identifies a source: the bytes of its files and how they are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SourceDigest(u128);

impl SourceDigest {
    /// Digests files in this order, their paths within the source, and a
    /// description of the reader and its options.
    ///
    /// The bytes, not the times of change: those can be the same for different
    /// contents, and reading is a hundred times faster than parsing.
    pub(crate) fn new(source: &Path, files: &[PathBuf], reading: &str) -> Result<Self> {
        let mut hash = Xxh3::new();
        hash.update(reading.as_bytes());
        let mut buffer = vec![0u8; 1 << 18];
        for path in files {
            // In folders a file's name says what it is for; a source that is a
            // file may be called anything.
            let name = path
                .strip_prefix(source)
                .unwrap_or(Path::new(""))
                .to_string_lossy();
            hash.update(name.as_bytes());
            hash.update(&[0]);
            let mut file = File::open(path).map_err(Error::io(path))?;
            let mut total = 0u64;
            loop {
                let read = file.read(&mut buffer).map_err(Error::io(path))?;
                if read == 0 {
                    break;
                }
                total += read as u64;
                hash.update(buffer.get(..read).unwrap_or_default());
            }
            hash.update(&total.to_le_bytes());
        }
        Ok(Self(hash.digest128()))
    }
}

/// Loads a data set from its cache, or by `read` and then caches it.
///
/// `files` are all files that `read` opens, `reading` a text that differs whenever the same files
/// would be read differently.
pub(crate) fn through(
    cache: &Cache,
    source: &Path,
    files: &[PathBuf],
    reading: &str,
    read: impl FnOnce() -> Result<GraphDataset>,
) -> Result<(GraphDataset, CacheUse)> {
    let Some(path) = path_of(cache, source, reading) else {
        return Ok((read()?, CacheUse::Off));
    };
    let digest = SourceDigest::new(source, files, reading)?;
    if let Some(dataset) = load(&path, digest) {
        return Ok((dataset, CacheUse::Hit));
    }
    let dataset = read()?;
    let written = match save(&path, digest, &dataset) {
        Ok(()) => CacheUse::Written,
        // A cache folder that was asked for must be writable; the folder of the source need
        // not be.
        Err(error) if matches!(cache, Cache::In(_)) => return Err(error),
        Err(_) => CacheUse::NotWritable,
    };
    Ok((dataset, written))
}

/// The cache file of a source; readings with other options have another one.
fn path_of(cache: &Cache, source: &Path, reading: &str) -> Option<PathBuf> {
    // `DIR/.` and `.` have no file name of their own.
    let absolute = std::path::absolute(source).ok()?;
    let name = absolute.file_name()?.to_string_lossy().into_owned();
    let which = xxhash_rust::xxh3::xxh3_64(reading.as_bytes());
    let file = format!(".{name}.{which:016x}.eggcache");
    match cache {
        Cache::NextToSource => Some(absolute.parent()?.join(file)),
        Cache::In(folder) => Some(folder.join(file)),
        Cache::Off => None,
    }
}

fn save(path: &Path, source: SourceDigest, dataset: &GraphDataset) -> Result<()> {
    let body = encode::dataset(dataset);
    // Temporary files of writers that were killed.
    if let Some(folder) = path.parent() {
        egg_files::sweep(folder);
    }
    egg_files::write_with(path, |out| {
        out.write_all(MAGIC)?;
        out.write_all(&VERSION.to_le_bytes())?;
        out.write_all(&[0; 4])?;
        out.write_all(&source.0.to_le_bytes())?;
        out.write_all(&body.digest().to_le_bytes())?;
        body.write(out)
    })
    .map_err(Error::io(path))
}

/// The cached data set, if there is one, it is whole, and it is of this source.
fn load(path: &Path, source: SourceDigest) -> Option<GraphDataset> {
    let bytes = std::fs::read(path).ok()?;
    let (header, body) = bytes.split_at_checked(HEADER)?;
    let mut expected = Vec::with_capacity(HEADER);
    expected.extend_from_slice(MAGIC);
    expected.extend_from_slice(&VERSION.to_le_bytes());
    expected.extend_from_slice(&[0; 4]);
    expected.extend_from_slice(&source.0.to_le_bytes());
    // Cheapest first: another version or source needs no check of the content.
    if !header.starts_with(&expected) {
        return None;
    }
    let digest = xxhash_rust::xxh3::xxh3_128(body);
    if !header.ends_with(&digest.to_le_bytes()) {
        return None;
    }
    decode::dataset(body)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Features, Graph, Labels, Split, Targets};
    use ndarray::array;

    fn full() -> GraphDataset {
        let graph = |value: f32| {
            Graph::from_edges(3, &[(0, 1), (1, 2)])
                .and_then(|graph| graph.with_features(Features::one_hot(vec![0, 1, 4], 5)?))
                .and_then(|graph| graph.with_edge_weights(vec![0.5, 0.5, value, value]))
                .and_then(|graph| graph.with_edge_attributes(array![[1., 2.], [1., 2.], [3., 4.], [3., 4.]]))
                .and_then(|graph| {
                    let names = vec!["a".into(), "böse".into()];
                    graph.with_node_labels(Labels::new(&[Some(0), None, Some(1)], names)?)
                })
                .unwrap()
        };
        let split = Split {
            train: vec![1],
            validation: vec![],
            test: vec![0],
        };
        GraphDataset::from_graphs("full", &[graph(1.0), graph(2.0)])
            .and_then(|dataset| dataset.with_targets(Targets::Values(array![[1.5], [f32::NAN]])))
            .and_then(|dataset| dataset.with_split(split))
            .unwrap()
    }

    /// NaN targets are not equal to themselves.
    fn same(a: &GraphDataset, b: &GraphDataset) -> bool {
        a.name() == b.name()
            && a.fingerprint() == b.fingerprint()
            && a.split() == b.split()
            && a.notes() == b.notes()
            && a.node_labels() == b.node_labels()
    }

    fn source(folder: &Path, text: &str) -> PathBuf {
        let path = folder.join("data.txt");
        std::fs::write(&path, text).unwrap();
        path
    }

    fn through_once(cache: &Cache, source: &Path, dataset: &GraphDataset) -> (GraphDataset, CacheUse) {
        through(
            cache,
            source,
            &[source.to_owned()],
            "test",
            || Ok(dataset.clone()),
        )
        .unwrap()
    }

    #[test]
    fn cache_round_trips_only_for_the_same_source() {
        let folder = tempfile::tempdir().unwrap();
        let path = source(folder.path(), "one");
        let classes = full().with_targets(Targets::Classes(Labels::from_values(&[3, -1])));
        let dense = GraphDataset::single(
            "dense",
            Graph::from_edges(2, &[(0, 1)])
                .unwrap()
                .with_features(Features::dense(array![[1.0, 2.0], [3.0, 4.0]]).unwrap())
                .unwrap(),
        );
        for (text, dataset) in ["one", "two", "three"]
            .iter()
            .zip([full(), classes.unwrap(), dense])
        {
            source(folder.path(), text);
            let (first, used) = through_once(&Cache::NextToSource, &path, &dataset);
            assert_eq!(used, CacheUse::Written, "{text}");
            let (second, used) = through(
                &Cache::NextToSource,
                &path,
                std::slice::from_ref(&path),
                "test",
                || panic!("read again"),
            )
            .unwrap();
            assert_eq!(used, CacheUse::Hit);
            assert!(same(&first, &dataset) && same(&second, &dataset));
        }
        // Same bytes, other options.
        let other = through(
            &Cache::NextToSource,
            &path,
            std::slice::from_ref(&path),
            "other",
            || Ok(full()),
        )
        .unwrap();
        assert_eq!(other.1, CacheUse::Written);
    }

    #[test]
    fn a_damaged_cache_is_rebuilt() {
        let folder = tempfile::tempdir().unwrap();
        let path = source(folder.path(), "one");
        let dataset = full();
        through_once(&Cache::NextToSource, &path, &dataset);
        let file = path_of(&Cache::NextToSource, &path, "test").unwrap();
        let good = std::fs::read(&file).unwrap();
        for at in 0..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 1;
            // The four bytes of padding are compared too.
            std::fs::write(&file, &bad).unwrap();
            let (loaded, used) = through_once(&Cache::NextToSource, &path, &dataset);
            assert_eq!(used, CacheUse::Written, "byte {at}");
            assert!(same(&loaded, &dataset));
        }
        for length in 0..good.len() {
            std::fs::write(&file, &good[..length]).unwrap();
            assert_eq!(
                through_once(&Cache::NextToSource, &path, &dataset).1,
                CacheUse::Written
            );
        }
        assert_eq!(
            through_once(&Cache::NextToSource, &path, &dataset).1,
            CacheUse::Hit
        );
    }

    #[test]
    fn forged_content_is_validated() {
        let digest = SourceDigest(7);
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("forged");
        save(&file, digest, &full()).unwrap();
        let good = std::fs::read(&file).unwrap();
        assert!(load(&file, digest).is_some());
        let mut refused = 0;
        for at in HEADER..good.len() {
            for bit in [0, 3, 7] {
                let mut bad = good.clone();
                bad[at] ^= 1 << bit;
                let sum = xxhash_rust::xxh3::xxh3_128(&bad[HEADER..]);
                bad[HEADER - 16..HEADER].copy_from_slice(&sum.to_le_bytes());
                std::fs::write(&file, &bad).unwrap();
                // Whatever comes back went through the same checks as a file.
                match load(&file, digest) {
                    Some(dataset) => dataset.store().check().unwrap(),
                    None => refused += 1,
                }
            }
        }
        assert!(refused > 500, "{refused}");
    }

    #[test]
    fn unwritable_cache_folder_is_an_error_only_if_requested() {
        let folder = tempfile::tempdir().unwrap();
        let path = source(folder.path(), "one");
        let missing = Cache::In(folder.path().join("not there"));
        let refused = through(
            &missing,
            &path,
            std::slice::from_ref(&path),
            "test",
            || Ok(full()),
        );
        assert!(matches!(refused, Err(Error::Io { .. })));
        assert_eq!(through_once(&Cache::Off, &path, &full()).1, CacheUse::Off);
    }
}
