//! Cache files: the input is the content, behind a header that fits it.

use std::fs;
use std::path::PathBuf;

use egg_graph::{Cache, CacheUse, DataSource, GraphDataset, Layout, ReadOptions};
use xxhash_rust::xxh3::xxh3_128;

use super::Target;
use crate::dataset::judge;
use crate::files::Folder;
use crate::outcome::Outcome;

pub(super) const TARGET: Target = Target {
    name: "cache",
    run,
    words: &[],
    reader: None,
};

/// Magic word, version, padding and the digest of the source. The digest of the
/// content comes after it.
const HEADER: usize = 32;

/// A data set with a cache, as it was written.
struct Cached {
    source: DataSource,
    cache: Cache,
    /// Holds the files; removed when this is dropped.
    _folder: Folder,
    file: PathBuf,
    header: Vec<u8>,
    dataset: GraphDataset,
}

impl Cached {
    fn new() -> Result<Self, Box<dyn std::error::Error>> {
        let folder = Folder::new("cache");
        let path = folder.file("pair.csv", b"1,0\n");
        let caches = folder.emptied("caches");
        let source = DataSource::new(path, Layout::EdgeList, "pair");
        let cache = Cache::In(caches.clone());
        let dataset = source.load(&ReadOptions::default(), &cache)?.dataset;
        let file = fs::read_dir(&caches)?
            .next()
            .ok_or("no cache was written")??
            .path();
        let mut header = fs::read(&file)?;
        header.truncate(HEADER);
        Ok(Self {
            source,
            _folder: folder,
            cache,
            file,
            header,
            dataset,
        })
    }
}

thread_local! {
    static CACHED: Cached = match Cached::new() {
        Ok(cached) => cached,
        Err(error) => panic!("no cache to begin with: {error}"),
    };
}

fn run(input: &[u8]) -> Outcome {
    CACHED.with(|cached| {
        let digest = xxh3_128(input).to_le_bytes();
        let written = fs::write(&cached.file, [&cached.header[..], &digest, input].concat());
        assert!(written.is_ok(), "{written:?}");
        match cached.source.load(&ReadOptions::default(), &cached.cache) {
            Ok(loaded) if loaded.cache == CacheUse::Hit => judge(&Ok(loaded.dataset)),
            // It was read as if it were not there, and written anew.
            Ok(loaded) => {
                assert_eq!(loaded.cache, CacheUse::Written);
                assert_eq!(loaded.dataset, cached.dataset);
                Outcome::refused(&"not a cache")
            }
            Err(error) => panic!("a bad cache is no error: {error}"),
        }
    })
}
