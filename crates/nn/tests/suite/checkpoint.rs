//! Checkpoints: resuming bit for bit, and damaged or foreign files.

use std::path::{Path, PathBuf};
use std::slice::from_ref;

use candle_core::{DType, Device, Tensor};
use egg_nn::{Checkpoint, Error};
use proptest::prelude::*;

use crate::fixture::flat;
use crate::training::Run;

fn saved() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.safetensors");
    let mut run = Run::new(DType::F32, 5).unwrap();
    run.train(2).unwrap();
    run.checkpoint().unwrap().save(&path).unwrap();
    (folder, path)
}

fn bits(tensors: &[Tensor]) -> Vec<Vec<u64>> {
    tensors
        .iter()
        .map(|t| flat(t).iter().map(|v| v.to_bits()).collect())
        .collect()
}

#[test]
fn resumed_run_matches_uninterrupted_run_bit_for_bit() {
    for dtype in [DType::F32, DType::F64] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.safetensors");
        let mut straight = Run::new(dtype, 5).unwrap();
        straight.train(6).unwrap();

        let mut first = Run::new(dtype, 5).unwrap();
        first.train(3).unwrap();
        first.checkpoint().unwrap().save(&path).unwrap();
        drop(first);
        let mut second = Run::resume(dtype, &path).unwrap();
        second.train(3).unwrap();

        assert!(bits(&second.tensors()) == bits(&straight.tensors()));
        let (one, two) = (straight.checkpoint().unwrap(), second.checkpoint().unwrap());
        assert_eq!(one.epoch, two.epoch);
        assert_eq!(one.plateau, two.plateau);
        assert_eq!(one.early_stopping, two.early_stopping);
        assert_eq!(one.generator, two.generator);
        assert_eq!(one.metadata, two.metadata);
        assert_eq!(one.adam.unwrap().config, two.adam.unwrap().config);
    }
}

#[test]
fn saving_replaces_the_file_and_leaves_no_temporary_file() {
    let (folder, path) = saved();
    let first = std::fs::read(&path).unwrap();
    let loaded = Checkpoint::load(&path).unwrap();
    loaded.save(&path).unwrap();
    assert!(
        std::fs::read(&path).unwrap() == first,
        "the same state has the same bytes"
    );
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn checkpoint_without_optional_parts_round_trips() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bare");
    let values = Tensor::new(
        &[[f32::NAN, f32::INFINITY], [-0.0, f32::MIN_POSITIVE]],
        &Device::Cpu,
    )
    .unwrap();
    let empty = Tensor::zeros((0, 3), DType::F64, &Device::Cpu).unwrap();
    let strided = values.t().unwrap();
    let model = [("odd", values), ("empty", empty), ("strided", strided)];
    let model = model.map(|(name, tensor)| (name.to_owned(), tensor));
    let checkpoint = Checkpoint::new(u64::MAX, model.into());
    checkpoint.save(&path).unwrap();
    let loaded = Checkpoint::load(&path).unwrap();
    assert_eq!(loaded.epoch, u64::MAX);
    assert!(loaded.adam.is_none() && loaded.best.is_none() && loaded.generator.is_none());
    for (name, tensor) in &checkpoint.model {
        assert_eq!(
            (tensor.dims(), tensor.dtype()),
            (loaded.model[name].dims(), loaded.model[name].dtype())
        );
        let loaded = &loaded.model[name];
        assert_eq!(bits(from_ref(tensor)), bits(from_ref(loaded)), "{name}");
    }
}

#[test]
fn failed_save_is_refused_and_keeps_the_old_file() {
    let (folder, path) = saved();
    let before = std::fs::read(&path).unwrap();
    let model = [(
        "n".to_owned(),
        Tensor::zeros(3, DType::U32, &Device::Cpu).unwrap(),
    )];
    let refused = Checkpoint::new(0, model.into()).save(&path);
    assert!(matches!(refused, Err(Error::DType { .. })));
    assert!(std::fs::read(&path).unwrap() == before);
    let nowhere = folder.path().join("no such folder").join("run");
    let refused = Checkpoint::new(0, Default::default()).save(&nowhere);
    assert!(matches!(refused, Err(Error::File { path, .. }) if path == nowhere));
    assert!(matches!(Checkpoint::load(&nowhere), Err(Error::File { .. })));
}

/// The error for a file with these bytes.
fn load(folder: &Path, bytes: &[u8]) -> Result<Checkpoint, Error> {
    let path = folder.join("other");
    std::fs::write(&path, bytes).unwrap();
    Checkpoint::load(&path)
}

/// A safetensors file with this header.
fn with_header(header: &str, data: &[u8]) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes(), header.as_bytes(), data].concat()
}

#[test]
fn truncated_files_are_reported_as_damaged() {
    let (folder, path) = saved();
    let bytes = std::fs::read(&path).unwrap();
    for length in (0..200)
        .chain((200..bytes.len()).step_by(997))
        .chain([bytes.len() - 1])
    {
        let refused = load(folder.path(), &bytes[..length]);
        assert!(
            matches!(refused, Err(Error::DamagedFile { .. })),
            "{length} bytes"
        );
    }
    let longer = [bytes.as_slice(), &[0]].concat();
    assert!(matches!(
        load(folder.path(), &longer),
        Err(Error::DamagedFile { .. })
    ));
}

#[test]
fn foreign_files_are_reported_as_foreign() {
    let folder = tempfile::tempdir().unwrap();
    let foreign = with_header(
        r#"{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}"#,
        &[0; 4],
    );
    assert!(matches!(
        load(folder.path(), &foreign),
        Err(Error::ForeignFile { .. })
    ));
    let newer = with_header(
        r#"{"__metadata__":{"egg-checkpoint":"{\"version\":2,\"new\":[]}"}}"#,
        &[],
    );
    let refused = load(folder.path(), &newer);
    assert!(matches!(
        refused,
        Err(Error::CheckpointVersion {
            found: 2,
            expected: 1,
            ..
        })
    ));
    for text in ["", "{", "{}", "PK\u{3}\u{4}", "a,b,c\n1,2,3\n"] {
        let refused = load(folder.path(), text.as_bytes());
        assert!(matches!(refused, Err(Error::DamagedFile { .. })), "{text:?}");
    }
}

#[test]
fn inconsistent_headers_are_reported_as_damaged() {
    let folder = tempfile::tempdir().unwrap();
    // A header of 2^64 - 1 and of 2^62 bytes.
    for length in [u64::MAX, 1 << 62, 99_999_999] {
        let bytes = [&length.to_le_bytes()[..], b"{}"].concat();
        assert!(matches!(
            load(folder.path(), &bytes),
            Err(Error::DamagedFile { .. })
        ));
    }
    // Sixteen tensors that end at 2^64 - 1, and shapes whose product overflows.
    let size = 1u64 << 60;
    let entries = (0..16).map(|i| {
        let (start, end) = (i * size, (i * size).saturating_add(size - u64::from(i == 15)));
        format!(
            r#""t{i:02}":{{"dtype":"U8","shape":[{}],"data_offsets":[{start},{end}]}}"#,
            end - start
        )
    });
    let wide = format!("{{{}}}", entries.collect::<Vec<_>>().join(","));
    let shape = r#"{"t":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}}"#;
    for header in [wide.as_str(), shape] {
        let refused = load(folder.path(), &with_header(header, &[]));
        assert!(matches!(refused, Err(Error::DamagedFile { .. })), "{header}");
    }
    let deep = format!("{{\"a\":{}", "[".repeat(100_000));
    assert!(matches!(
        load(folder.path(), &with_header(&deep, &[])),
        Err(Error::DamagedFile { .. })
    ));
}

#[test]
fn flipped_bytes_are_detected_or_harmless() {
    let (folder, path) = saved();
    let bytes = std::fs::read(&path).unwrap();
    let original = Checkpoint::load(&path).unwrap();
    for at in (0..4096).step_by(7).chain((4096..bytes.len()).step_by(1009)) {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        match load(folder.path(), &changed) {
            Err(Error::DamagedFile { .. } | Error::ForeignFile { .. } | Error::CheckpointVersion { .. }) => {}
            Err(other) => panic!("byte {at}: {other}"),
            // Only where the change has no meaning, such as white space.
            Ok(same) => {
                assert_eq!(same.epoch, original.epoch);
                assert!(
                    same.model
                        .iter()
                        .all(|(name, t)| flat(t) == flat(&original.model[name])),
                    "byte {at}"
                );
            }
        }
    }
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), header: String) {
        let folder = tempfile::tempdir().unwrap();
        prop_assert!(load(folder.path(), &bytes).is_err());
        prop_assert!(load(folder.path(), &with_header(&header, &bytes)).is_err());
    }
}
