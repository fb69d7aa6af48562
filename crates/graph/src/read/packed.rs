//! Packed files from untrusted sources: how much they may unpack to.
//!
//! A megabyte of deflated zeros unpacks to a gigabyte. What is packed for use shrinks
//! by 31 at most among the benchmarks (the node features of ogbg-molhiv), whole
//! archives by 8.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use zip::ZipArchive;

use crate::error::{Error, Result};

/// What any packed file or archive may unpack to, in bytes: 64 MiB.
pub const UNPACKED_ALWAYS: u64 = 64 << 20;

/// How many times its own size a packed file or archive may unpack to beyond
/// [`UNPACKED_ALWAYS`].
pub const UNPACKED_RATIO: u64 = 100;

/// The most bytes that a packed file of `packed` bytes may unpack to.
pub(crate) fn most_unpacked(packed: u64) -> u64 {
    packed.saturating_mul(UNPACKED_RATIO).max(UNPACKED_ALWAYS)
}

/// Opens a zip archive, unless its members claim to unpack to more than they may.
/// (That they unpack to no more than they claim is for `zip` to see.)
pub(crate) fn open_zip(
    path: &Path,
    damaged: impl Fn(&Path, zip::result::ZipError) -> Error,
) -> Result<ZipArchive<BufReader<File>>> {
    let file = File::open(path).map_err(Error::io(path))?;
    let packed = file.metadata().map_err(Error::io(path))?.len();
    let mut archive = ZipArchive::new(BufReader::new(file)).map_err(|error| damaged(path, error))?;
    let most = most_unpacked(packed);
    let mut total = 0u64;
    for index in 0..archive.len() {
        let member = archive
            .by_index_raw(index)
            .map_err(|error| damaged(path, error))?;
        total = total.saturating_add(member.size());
        if total > most {
            return Err(Error::Inflated {
                file: path.to_owned(),
                packed,
                limit: most,
            });
        }
    }
    Ok(archive)
}
