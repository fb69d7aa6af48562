//! Packed files that unpack to gigabytes, made in no time. (Taken in by
//! `crates/datasets/tests/suite/killed.rs` as well.)

use std::fs::File;
use std::io::Write;
use std::path::Path;

use flate2::write::{DeflateEncoder, GzEncoder};
use flate2::{Compression, Crc};

/// Bytes of a block, which is packed once and repeated.
const BLOCK: usize = 16 << 20;

/// A zip archive of one member: `head`, then `line` again and again until there are so
/// many bytes or a block more. It claims `claim` bytes, or the truth.
pub(crate) fn zip(path: &Path, member: &str, head: &[u8], line: &[u8], bytes: u64, claim: Option<u64>) {
    let block = line.repeat(BLOCK / line.len());
    let blocks = bytes.div_ceil(block.len() as u64);
    let (first, again) = (deflated(head), deflated(&block));
    let sum = |bytes: &[u8]| {
        let mut crc = Crc::new();
        crc.update(bytes);
        crc
    };
    let (mut crc, of_block) = (sum(head), sum(&block));
    (0..blocks).for_each(|_| crc.combine(&of_block));
    // An empty block is the last.
    let last = [3, 0];
    let packed = (first.len() + last.len()) as u64 + again.len() as u64 * blocks;
    let unpacked = claim.unwrap_or(head.len() as u64 + block.len() as u64 * blocks);

    // Both sizes are in the extra field of 64 bits.
    let mut common = Vec::new();
    common.extend([45, 0, 0, 0, 8, 0, 0, 0, 0x21, 0]); // version, flags, deflate, time, date
    common.extend(crc.sum().to_le_bytes());
    common.extend([0xff; 8]);
    common.extend(u16::try_from(member.len()).unwrap().to_le_bytes());
    common.extend(20u16.to_le_bytes());
    let mut extra = vec![1, 0, 16, 0];
    extra.extend(unpacked.to_le_bytes());
    extra.extend(packed.to_le_bytes());

    let mut out = File::create(path).unwrap();
    let local = [b"PK\x03\x04", &common[..], member.as_bytes(), &extra].concat();
    out.write_all(&local).unwrap();
    out.write_all(&first).unwrap();
    (0..blocks).for_each(|_| out.write_all(&again).unwrap());
    out.write_all(&last).unwrap();
    // No comment, disk 0, no attributes, at the beginning of the file.
    let central = [
        b"PK\x01\x02\x2d\x00",
        &common[..],
        &[0; 14],
        member.as_bytes(),
        &extra,
    ]
    .concat();
    out.write_all(&central).unwrap();
    let mut end = b"PK\x05\x06\0\0\0\0\x01\0\x01\0".to_vec();
    end.extend(u32::try_from(central.len()).unwrap().to_le_bytes());
    end.extend(u32::try_from(local.len() as u64 + packed).unwrap().to_le_bytes());
    end.extend([0, 0]);
    out.write_all(&end).unwrap();
}

/// A gzip file, of a member for each block.
#[allow(dead_code, reason = "egg-datasets meets archives only")]
pub(crate) fn gzip(path: &Path, line: &[u8], bytes: u64) {
    let block = line.repeat(BLOCK / line.len());
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    packed.write_all(&block).unwrap();
    let packed = packed.finish().unwrap();
    let mut out = File::create(path).unwrap();
    for _ in 0..bytes.div_ceil(block.len() as u64) {
        out.write_all(&packed).unwrap();
    }
}

/// Deflated on its own, whole bytes of it, with no end: more may follow.
fn deflated(bytes: &[u8]) -> Vec<u8> {
    let mut packed = DeflateEncoder::new(Vec::new(), Compression::best());
    packed.write_all(bytes).unwrap();
    packed.flush().unwrap();
    packed.get_ref().clone()
}
