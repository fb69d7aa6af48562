//! Checkpoints: safetensors with a state and a checksum in the header.

use std::collections::BTreeMap;

use candle_core::{DType, Device, Tensor};
use egg_nn::{Adam, Checkpoint, Init, Parameters};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::Target;
use crate::files::Folder;
use crate::outcome::Outcome;
use crate::safetensors_seal::seal;

pub(super) const TARGET: Target = Target {
    name: "checkpoint",
    run,
    words: WORDS,
    reader: None,
};

const WORDS: &[&str] = &[
    "{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}",
    "\"dtype\":\"F64\"",
    "\"dtype\":\"U8\"",
    "\"shape\":[0,18446744073709551615]",
    "\"data_offsets\":[0,18446744073709551615]",
    "\"model.a\":",
    "\"best.a\":",
    "\"adam.first.a\":",
    "\"adam.second.a\":",
    "\\\"version\\\":1",
    "\\\"has_best\\\":true",
    "\\\"adam\\\":null",
    "\\\"plateau\\\":null",
    "\\\"generator\\\":null",
    "\\\"epoch\\\":18446744073709551615",
    "null",
    "1e999",
    "-0.0",
];

thread_local! {
    static FOLDER: Folder = Folder::new("checkpoint");
}

/// The input with the checksum that it should have, where it can have one: else
/// nothing behind that check would ever be seen.
pub(crate) fn sealed(input: &[u8]) -> Vec<u8> {
    seal(input).unwrap_or_else(|| input.to_vec())
}

fn run(input: &[u8]) -> Outcome {
    let (path, back) = FOLDER.with(|folder| {
        (
            folder.file("c.safetensors", &sealed(input)),
            folder.path().join("back.safetensors"),
        )
    });
    let checkpoint = match Checkpoint::load(&path) {
        Ok(checkpoint) => checkpoint,
        Err(error) => return Outcome::refused(&error),
    };
    if let Some(adam) = &checkpoint.adam {
        let made = parameters(&checkpoint.model).and_then(|parameters| Adam::new(&parameters, adam.config));
        let _ = made.map(|mut optimiser| optimiser.load_state(adam));
    }
    let saved = checkpoint.save(&back);
    assert!(saved.is_ok(), "{saved:?}");
    let again =
        Checkpoint::load(&back).unwrap_or_else(|error| panic!("what was saved can't be loaded: {error}"));
    assert_eq!(again.epoch, checkpoint.epoch);
    assert_eq!(again.metadata, checkpoint.metadata);
    assert!(again.model.keys().eq(checkpoint.model.keys()));
    let saved = again.save(&path);
    assert!(saved.is_ok(), "{saved:?}");
    let read = |path| std::fs::read(path).unwrap_or_default();
    assert_eq!(read(&path), read(&back), "the same checkpoint in other bytes");
    Outcome::read(&[
        checkpoint.model.len(),
        checkpoint.best.map_or(0, |best| best.len() + 1),
        checkpoint.adam.map_or(0, |adam| adam.moments.len() + 1),
        usize::from(checkpoint.plateau.is_some()),
        usize::from(checkpoint.early_stopping.is_some()),
        usize::from(checkpoint.generator.is_some()),
        checkpoint.metadata.len(),
    ])
}

/// A model with parameters of these names and shapes.
fn parameters(values: &BTreeMap<String, Tensor>) -> egg_nn::Result<Parameters> {
    let mut rng = ChaCha8Rng::seed_from_u64(0);
    let mut parameters = Parameters::new(DType::F32, &Device::Cpu)?;
    for (name, value) in values {
        parameters
            .root(&mut rng)
            .parameter(name, value.shape().clone(), Init::Ones)?;
    }
    parameters.load(values)?;
    Ok(parameters)
}
