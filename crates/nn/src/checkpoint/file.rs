//! The file format of checkpoints; everything that is read is validated.

// Numbers read from a file must not be used as indices unchecked.
#![warn(clippy::indexing_slicing)]

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use candle_core::{DType, Device, Tensor};
use egg_tensor::with_slices;
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use crate::{
    AdamConfig, AdamMoments, AdamState, Checkpoint, EarlyStopping, Error, GeneratorState, Plateau, Result,
};

/// The one entry of the header's metadata: a map of several would be written in
/// a random order.
const KEY: &str = "egg-checkpoint";

/// The format written, and the only one read.
const VERSION: u64 = 1;

const MODEL: &str = "model.";
const BEST: &str = "best.";
const FIRST: &str = "adam.first.";
const SECOND: &str = "adam.second.";

#[derive(Serialize, Deserialize)]
struct Header {
    version: u64,
    /// Of the tensors and the state, in hexadecimal.
    checksum: String,
    state: State,
}

#[derive(Deserialize)]
struct Version {
    version: u64,
}

/// All that is not a tensor.
#[derive(Serialize, Deserialize)]
struct State {
    epoch: u64,
    has_best: bool,
    adam: Option<Steps>,
    plateau: Option<Plateau>,
    early_stopping: Option<EarlyStopping>,
    generator: Option<GeneratorState>,
    metadata: BTreeMap<String, String>,
}

/// The state of an optimiser other than its moments.
#[derive(Serialize, Deserialize)]
struct Steps {
    config: AdamConfig,
    steps: BTreeMap<String, u64>,
}

/// A tensor as it is in the file.
struct Stored {
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

/// The whole file.
pub(crate) fn encode(checkpoint: &Checkpoint) -> Result<Vec<u8>> {
    let mut tensors = BTreeMap::new();
    let mut add = |prefix: &str, name: &str, tensor: &Tensor| -> Result<()> {
        tensors.insert(format!("{prefix}{name}"), store(name, tensor)?);
        Ok(())
    };
    for (name, tensor) in &checkpoint.model {
        add(MODEL, name, tensor)?;
    }
    for (name, tensor) in checkpoint.best.iter().flatten() {
        add(BEST, name, tensor)?;
    }
    for (name, moments) in checkpoint.adam.iter().flat_map(|adam| &adam.moments) {
        add(FIRST, name, &moments.first)?;
        add(SECOND, name, &moments.second)?;
    }
    let state = State {
        epoch: checkpoint.epoch,
        has_best: checkpoint.best.is_some(),
        adam: checkpoint.adam.as_ref().map(|adam| Steps {
            config: adam.config,
            steps: adam
                .moments
                .iter()
                .map(|(name, moments)| (name.clone(), moments.steps))
                .collect(),
        }),
        plateau: checkpoint.plateau.clone(),
        early_stopping: checkpoint.early_stopping.clone(),
        generator: checkpoint.generator.clone(),
        metadata: checkpoint.metadata.clone(),
    };
    let views = tensors.iter().map(|(name, stored)| {
        let view = TensorView::new(stored.dtype, stored.shape.clone(), &stored.bytes);
        Ok((name.as_str(), view.map_err(unencodable)?))
    });
    let views = views.collect::<Result<BTreeMap<_, _>>>()?;
    let header = Header {
        version: VERSION,
        checksum: checksum(&state, &views)?,
        state,
    };
    let header = serde_json::to_string(&header).map_err(unencodable)?;
    let metadata = HashMap::from([(KEY.to_owned(), header)]);
    safetensors::serialize(views, Some(metadata)).map_err(unencodable)
}

fn unencodable(source: impl std::error::Error) -> Error {
    Error::Candle(candle_core::Error::Msg(format!(
        "a checkpoint can't be encoded: {source}"
    )))
}

fn store(name: &str, tensor: &Tensor) -> Result<Stored> {
    let (dtype, bytes) = match tensor.dtype() {
        DType::F32 => {
            let bytes = |[values]: [&[f32]; 1]| Ok(values.iter().flat_map(|v| v.to_le_bytes()).collect());
            (Dtype::F32, with_slices([tensor], bytes)?)
        }
        DType::F64 => {
            let bytes = |[values]: [&[f64]; 1]| Ok(values.iter().flat_map(|v| v.to_le_bytes()).collect());
            (Dtype::F64, with_slices([tensor], bytes)?)
        }
        found => {
            return Err(Error::DType {
                what: format!("{name:?} of a checkpoint"),
                found,
                expected: "f32 or f64",
            });
        }
    };
    let shape = tensor.dims().to_vec();
    Ok(Stored { dtype, shape, bytes })
}

/// The checksum of every name, type, shape and number, and of the state as JSON.
fn checksum(state: &State, views: &BTreeMap<&str, TensorView<'_>>) -> Result<String> {
    let mut hash = Xxh3::new();
    let mut add = |bytes: &[u8]| {
        // The length first, so that different lists of parts never give the same bytes.
        hash.update(&(bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    for (name, view) in views {
        add(name.as_bytes());
        add(view.dtype().to_string().as_bytes());
        add(format!("{:?}", view.shape()).as_bytes());
        add(view.data());
    }
    add(&serde_json::to_vec(state).map_err(unencodable)?);
    Ok(format!("{:016x}", hash.digest()))
}

pub(crate) fn failed(path: &Path, source: std::io::Error) -> Error {
    Error::File {
        path: path.to_owned(),
        source,
    }
}

/// The checkpoint in the bytes of the file at `path`.
pub(crate) fn decode(path: &Path, bytes: &[u8]) -> Result<Checkpoint> {
    let damaged = |reason: String| Error::DamagedFile {
        path: path.to_owned(),
        reason,
    };
    check_extent(bytes).map_err(damaged)?;
    let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(|e| damaged(e.to_string()))?;
    let header = metadata.metadata().as_ref().and_then(|entries| entries.get(KEY));
    let Some(header) = header else {
        return Err(Error::ForeignFile {
            path: path.to_owned(),
        });
    };
    let unreadable = |e: serde_json::Error| damaged(format!("its state can't be read: {e}"));
    let Version { version } = serde_json::from_str(header).map_err(unreadable)?;
    if version != VERSION {
        return Err(Error::CheckpointVersion {
            path: path.to_owned(),
            found: version,
            expected: VERSION,
        });
    }
    let header: Header = serde_json::from_str(header).map_err(unreadable)?;
    let tensors = SafeTensors::deserialize(bytes).map_err(|e| damaged(e.to_string()))?;
    let views: BTreeMap<&str, TensorView<'_>> = tensors.iter().collect();
    if checksum(&header.state, &views)? != header.checksum {
        return Err(damaged("its checksum does not match its content".to_owned()));
    }
    assemble(header.state, &views).map_err(damaged)
}

/// Refuses tensors that extend past the end of the file. The safetensors crate adds the ends up
/// unchecked, and numbers near 2^64 would overflow.
fn check_extent(bytes: &[u8]) -> std::result::Result<(), String> {
    #[derive(Deserialize)]
    struct Extent {
        data_offsets: (u64, u64),
    }
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Entry {
        Tensor(Extent),
        Other(IgnoredAny),
    }
    let header = bytes
        .split_first_chunk()
        .and_then(|(length, rest)| rest.get(..usize::try_from(u64::from_le_bytes(*length)).ok()?))
        .ok_or("it is shorter than its header says")?;
    let entries: HashMap<String, Entry> =
        serde_json::from_slice(header).map_err(|e| format!("its header can't be read: {e}"))?;
    for (name, entry) in &entries {
        match entry {
            Entry::Tensor(Extent {
                data_offsets: (_, end),
            }) if *end > bytes.len() as u64 => {
                return Err(format!("{name:?} extends past its end"));
            }
            Entry::Tensor(_) | Entry::Other(_) => {}
        }
    }
    Ok(())
}

/// Sorts the tensors by part: model, best epoch, moments.
fn assemble(state: State, views: &BTreeMap<&str, TensorView<'_>>) -> std::result::Result<Checkpoint, String> {
    let mut of: BTreeMap<&str, BTreeMap<String, Tensor>> = BTreeMap::new();
    for (full, view) in views {
        let part = [MODEL, BEST, FIRST, SECOND]
            .into_iter()
            .find_map(|part| Some((part, full.strip_prefix(part)?)));
        let Some((part, name)) = part else {
            return Err(format!("{full:?} belongs to no known part"));
        };
        of.entry(part)
            .or_default()
            .insert(name.to_owned(), tensor(full, view)?);
    }
    let mut take = |part: &str| of.remove(part).unwrap_or_default();
    let (model, best, mut first, mut second) = (take(MODEL), take(BEST), take(FIRST), take(SECOND));
    let adam = state.adam.map(|Steps { config, steps }| {
        let moments = steps.into_iter().map(|(name, steps)| {
            let (Some(first), Some(second)) = (first.remove(&name), second.remove(&name)) else {
                return Err(format!("a moment of {name:?} is missing"));
            };
            Ok((name, AdamMoments { steps, first, second }))
        });
        let moments = moments.collect::<std::result::Result<_, String>>()?;
        Ok::<_, String>(AdamState { config, moments })
    });
    let adam = adam.transpose()?;
    if let Some(name) = first.keys().chain(second.keys()).next() {
        return Err(format!("{name:?} has a moment but no count of steps"));
    }
    if !state.has_best && !best.is_empty() {
        return Err("it has parameters of a best epoch, but its header says that it has none".to_owned());
    }
    Ok(Checkpoint {
        epoch: state.epoch,
        model,
        best: state.has_best.then_some(best),
        adam,
        plateau: state.plateau,
        early_stopping: state.early_stopping,
        generator: state.generator,
        metadata: state.metadata,
    })
}

fn tensor(name: &str, view: &TensorView<'_>) -> std::result::Result<Tensor, String> {
    let (data, shape) = (view.data(), view.shape());
    // Empty tensors pass every other check, but candle multiplies their sizes.
    let sizes = shape.iter().filter(|size| **size > 0);
    if sizes.copied().try_fold(1, usize::checked_mul).is_none() {
        return Err(format!("{name:?} has shape {shape:?}, too large to address"));
    }
    let tensor = match view.dtype() {
        Dtype::F32 => {
            let values = data.as_chunks().0.iter().map(|v| f32::from_le_bytes(*v));
            Tensor::from_iter(values, &Device::Cpu)
        }
        Dtype::F64 => {
            let values = data.as_chunks().0.iter().map(|v| f64::from_le_bytes(*v));
            Tensor::from_iter(values, &Device::Cpu)
        }
        found => return Err(format!("{name:?} is {found}, neither F32 nor F64")),
    };
    let tensor = tensor.and_then(|tensor| tensor.reshape(shape));
    tensor.map_err(|e| format!("{name:?} can't be made a tensor: {e}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_tensors_with_huge_sides_are_refused() {
        let view = TensorView::new(Dtype::F32, vec![0, usize::MAX, usize::MAX], &[]).unwrap();
        assert!(tensor("t", &view).is_err());
        let view = TensorView::new(Dtype::F32, vec![0, 5], &[]).unwrap();
        assert_eq!(tensor("t", &view).unwrap().dims(), [0, 5]);
    }

    #[test]
    fn other_types_and_parts_are_refused() {
        let state = || State {
            epoch: 0,
            has_best: false,
            adam: None,
            plateau: None,
            early_stopping: None,
            generator: None,
            metadata: BTreeMap::new(),
        };
        let bytes = [0u8; 4];
        let float = TensorView::new(Dtype::F32, vec![1], &bytes).unwrap();
        let word = TensorView::new(Dtype::U32, vec![1], &bytes).unwrap();
        for (name, view) in [
            ("model.w", &word),
            ("other.w", &float),
            ("best.w", &float),
            ("adam.first.w", &float),
        ] {
            assert!(
                assemble(state(), &BTreeMap::from([(name, view.clone())])).is_err(),
                "{name}"
            );
        }
        let sound = assemble(state(), &BTreeMap::from([("model.w", float)])).unwrap();
        assert_eq!(sound.model["w"].dims(), [1]);
    }
}
