//! `.npy` files and `.npz` archives.

use std::fs;
use std::path::{Path, PathBuf};

use egg_graph::{ElementType, Error, Npz, ReadOptions, read_npy, write_npy};
use ndarray::{Array2, array};
use proptest::prelude::*;

fn fixture(name: &str) -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/numpy")).join(name)
}

fn grid() -> Array2<f32> {
    array![[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
}

/// The fixtures are written by NumPy, in `fixtures/numpy/make.py`.
#[test]
fn numpy_files_are_read() {
    for name in ["version1.npy", "version2.npy", "version3.npy"] {
        let array = read_npy(&fixture(name), &ReadOptions::default()).unwrap();
        assert_eq!(array.to_matrix().unwrap(), grid());
        assert_eq!(array.element_type(), ElementType::F32);
        assert!(array.to_floats().is_err() && array.to_integers().is_err() && array.to_texts().is_err());
    }
    let mut archive = Npz::open(&fixture("arrays.npz"), &ReadOptions::default()).unwrap();
    for name in ["f4", "f8_fortran", "big_i2"] {
        assert_eq!(
            archive.array(name).unwrap().to_matrix().unwrap(),
            grid(),
            "{name}"
        );
    }
    assert_eq!(archive.array("u1").unwrap().to_integers().unwrap(), [0, 1, 2]);
    assert_eq!(archive.array("u1").unwrap().to_floats().unwrap(), [0.0, 1.0, 2.0]);
    assert_eq!(archive.array("bool").unwrap().to_integers().unwrap(), [1, 0]);
    assert_eq!(
        archive.array("text").unwrap().to_texts().unwrap(),
        ["a", "café", ""]
    );
    let too_large = archive.array("u8").unwrap().to_integers().unwrap_err();
    assert!(too_large.to_string().contains("2^63"), "{too_large}");
    for name in ["object", "record"] {
        let refused = archive.array(name).unwrap_err();
        assert!(matches!(refused, Error::Refused { .. }), "{refused}");
        assert!(refused.to_string().contains("arrays.npz"), "{refused}");
    }
    assert!(archive.contains("f4") && !archive.contains("f5"));
    assert_eq!(archive.names().next(), Some("big_i2"));
    let missing = archive.array("f5").unwrap_err();
    assert!(missing.to_string().contains("no array `f5`"), "{missing}");
}

#[test]
fn total_unpacked_bytes_are_limited() {
    let options = ReadOptions {
        max_bytes: 40,
        ..ReadOptions::default()
    };
    let mut archive = Npz::open(&fixture("arrays.npz"), &options).unwrap();
    assert!(archive.array("f4").is_ok());
    assert!(matches!(
        archive.array("f4"),
        Err(Error::OverLimit { limit: 40, .. })
    ));
    let options = ReadOptions {
        max_bytes: 23,
        ..ReadOptions::default()
    };
    let refused = read_npy(&fixture("version1.npy"), &options);
    assert!(matches!(refused, Err(Error::OverLimit { limit: 23, .. })));
}

#[test]
fn truncations_and_bit_flips_do_not_panic() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.npy");
    let whole = fs::read(fixture("version1.npy")).unwrap();
    for length in 0..whole.len() {
        fs::write(&path, &whole[..length]).unwrap();
        match read_npy(&path, &ReadOptions::default()) {
            Err(Error::Binary { offset, file, .. }) => {
                assert_eq!((offset, &file), (length as u64, &path));
            }
            other => panic!("cut at {length}: {other:?}"),
        }
    }
    for at in 0..whole.len() {
        for flip in [0x01, 0x08, 0x80] {
            let mut bytes = whole.clone();
            bytes[at] ^= flip;
            fs::write(&path, &bytes).unwrap();
            if let Ok(array) = read_npy(&path, &ReadOptions::default()) {
                let _ = array.to_matrix();
            }
        }
    }
    let archive = folder.path().join("cut.npz");
    let whole = fs::read(fixture("arrays.npz")).unwrap();
    for length in (0..whole.len()).step_by(7) {
        fs::write(&archive, &whole[..length]).unwrap();
        assert!(
            Npz::open(&archive, &ReadOptions::default()).is_err(),
            "cut at {length}"
        );
    }
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x11;
        fs::write(&archive, &bytes).unwrap();
        if let Ok(mut archive) = Npz::open(&archive, &ReadOptions::default()) {
            for name in ["f4", "u1", "text"] {
                let _ = archive.array(name);
            }
        }
    }
}

fn with_header(header: &str) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(header.len()).unwrap().to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes
}

#[test]
fn header_sizes_do_not_drive_allocation() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("claims.npy");
    for (header, words) in [
        ("", "where \"{\" belongs"),
        ("{}", "lacks"),
        (
            "{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000,)}",
            "too early",
        ),
        (
            "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
            "where a length belongs",
        ),
        (
            "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 16)}",
            "limit",
        ),
        (
            "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
            "where a length belongs",
        ),
        (
            "{'descr': '<U9223372036854775807', 'fortran_order': False, 'shape': (1,)}",
            "limit",
        ),
        (
            "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (1,)}",
            "\"True\" belongs",
        ),
        (
            "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x",
            "after its closing brace",
        ),
        ("{'descr': '<f4', 'colour': 'red'}", "unknown key"),
        ("{'descr': '<f4", "does not end"),
        (
            "{'descr': '|O', 'fortran_order': False, 'shape': (1,)}",
            "refused to load `elements of type |O`",
        ),
        (
            "{'descr': '<c16', 'fortran_order': False, 'shape': (1,)}",
            "refused",
        ),
    ] {
        fs::write(&path, with_header(header)).unwrap();
        let error = read_npy(&path, &ReadOptions::default()).unwrap_err().to_string();
        assert!(error.contains(words), "{header}: {error}");
        assert!(error.contains("claims.npy"), "{error}");
    }
    let mut bytes = with_header("{\"shape\": (1L, ), 'fortran_order':True,'descr':'>i2'}\n");
    bytes.extend([1, 2]);
    fs::write(&path, &bytes).unwrap();
    assert_eq!(
        read_npy(&path, &ReadOptions::default())
            .unwrap()
            .to_integers()
            .unwrap(),
        [258]
    );
    bytes.push(0);
    fs::write(&path, &bytes).unwrap();
    let error = read_npy(&path, &ReadOptions::default()).unwrap_err().to_string();
    assert!(error.contains("there is more"), "{error}");
    fs::write(&path, b"\x93NUMPY\x02\x00\xff\xff\xff\xff").unwrap();
    let error = read_npy(&path, &ReadOptions::default()).unwrap_err().to_string();
    assert!(error.contains("too long"), "{error}");
}

proptest! {
    #[test]
    fn matrix_round_trips(rows in 0usize..6, columns in 0usize..6, seed in any::<u32>(), turn in any::<bool>()) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("matrix.npy");
        let matrix = Array2::from_shape_fn((rows, columns), |(r, c)| {
            f32::from_bits(seed.wrapping_mul(0x9e37_79b9).wrapping_add((r * 7 + c) as u32 * 0x0123_4567) & 0x7f7f_ffff)
        });
        let view = if turn { matrix.t() } else { matrix.view() };
        write_npy(&path, view).unwrap();
        let read = read_npy(&path, &ReadOptions::default()).unwrap();
        prop_assert_eq!(read.to_matrix().unwrap(), view);
        // Nothing but the file is left, and the data are aligned.
        prop_assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        prop_assert_eq!((fs::metadata(&path).unwrap().len() - 4 * matrix.len() as u64) % 64, 0);
    }
}
