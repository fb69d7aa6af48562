//! SHA-256 of what passes by, and whether it is what the registry expects.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::error::{Error, Result};
use crate::registry::FileEntry;

const BLOCK: usize = 1 << 18;

/// How many bytes passed, and their SHA-256 in hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Summed {
    pub(crate) bytes: u64,
    pub(crate) sha256: String,
}

/// Copies all, summing.
pub(crate) fn copy(from: &mut impl Read, to: &mut impl Write) -> io::Result<Summed> {
    let mut hash = Sha256::new();
    let mut block = vec![0; BLOCK];
    let mut bytes = 0;
    loop {
        let read = match from.read(&mut block) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        hash.update(&block[..read]);
        to.write_all(&block[..read])?;
        bytes += read as u64;
    }
    let sha256 = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(Summed { bytes, sha256 })
}

pub(crate) fn of_file(path: &Path) -> Result<Summed> {
    let sum = || copy(&mut File::open(path)?, &mut io::sink());
    sum().map_err(Error::io(path))
}

/// What a checksum says of a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Good,
    /// The registry knows no checksum.
    Unknown,
    /// It may be upstream's, with rows in another order: the content decides.
    Reordered,
    Bad(String),
}

pub(crate) fn judge(file: &FileEntry, found: &Summed) -> Verdict {
    let Some(expected) = &file.sha256 else {
        return Verdict::Unknown;
    };
    if *expected == found.sha256 {
        return Verdict::Good;
    }
    if file.reordered {
        return Verdict::Reordered;
    }
    let sizes = match file.size {
        Some(size) if size != found.bytes => format!("has {} bytes, expected {size}; ", found.bytes),
        _ => String::new(),
    };
    Verdict::Bad(format!(
        "{} {sizes}has SHA-256 {}, expected {expected}",
        file.path, found.sha256
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Registry;

    #[test]
    fn sha256_matches_the_published_vectors() {
        let mut copied = Vec::new();
        let summed = copy(&mut &b"abc"[..], &mut copied).unwrap();
        assert_eq!(copied, b"abc");
        assert_eq!(summed.bytes, 3);
        // FIPS 180-2, appendix B.1.
        assert_eq!(
            summed.sha256,
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }

    #[test]
    fn only_the_expected_checksum_is_accepted() {
        let file = |name: &str| Registry::builtin().get(name).unwrap().files[0].clone();
        let found = |sha256: &str| Summed {
            bytes: 3,
            sha256: sha256.into(),
        };
        let mutag = file("MUTAG");
        assert_eq!(
            judge(&mutag, &found(mutag.sha256.as_deref().unwrap())),
            Verdict::Good
        );
        let Verdict::Bad(why) = judge(&mutag, &found("0")) else {
            panic!("another sum")
        };
        assert!(why.contains("3 bytes, expected 76940"), "{why}");
        assert_eq!(judge(&file("DD"), &found("0")), Verdict::Reordered);
        assert_eq!(judge(&file("Wiki-CS"), &found("0")), Verdict::Unknown);
    }
}
