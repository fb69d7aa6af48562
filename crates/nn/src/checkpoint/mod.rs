//! One file with everything that training needs to resume bit for bit.

// Numbers read from a file must not be used as indices unchecked.
#![warn(clippy::indexing_slicing)]

mod file;

use std::collections::BTreeMap;
use std::path::Path;

use candle_core::Tensor;

use crate::{AdamState, EarlyStopping, GeneratorState, Plateau, Result};

/// A training run between two epochs: parameters, optimiser, schedule, early
/// stopping, generator, and metadata of the caller.
///
/// [`Checkpoint::save`] writes one [safetensors] file atomically: a crash leaves the old file or
/// the new one. Its tensors are called `model.NAME`,
/// `best.NAME`, `adam.first.NAME` and `adam.second.NAME`; the rest is JSON under
/// `egg-checkpoint` in the header, with a format version and a checksum.
///
/// [safetensors]: https://github.com/huggingface/safetensors
///
/// # Example
/// ```
/// use candle_core::{DType, Device};
/// use egg_nn::{Checkpoint, GeneratorState, Mlp, MlpConfig, Parameters};
/// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("run.safetensors");
/// let mut rng = ChaCha8Rng::seed_from_u64(1);
/// let mut parameters = Parameters::new(DType::F32, &Device::Cpu)?;
/// Mlp::new(&mut parameters.root(&mut rng), &MlpConfig::new(&[3, 4, 2]))?;
///
/// let mut checkpoint = Checkpoint::new(12, parameters.snapshot()?);
/// checkpoint.generator = Some(GeneratorState::from_rng(&rng));
/// checkpoint.metadata.insert("data set".into(), "PROTEINS".into());
/// checkpoint.save(&path)?;
///
/// let loaded = Checkpoint::load(&path)?;
/// assert_eq!((loaded.epoch, loaded.metadata["data set"].as_str()), (12, "PROTEINS"));
/// parameters.load(&loaded.model)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Checkpoint {
    /// How many epochs are done.
    pub epoch: u64,
    /// Parameters and buffers, as
    /// [`Parameters::snapshot`](crate::Parameters::snapshot) gives them.
    pub model: BTreeMap<String, Tensor>,
    /// Parameters and buffers of the best epoch so far, if they are kept.
    pub best: Option<BTreeMap<String, Tensor>>,
    /// The optimiser.
    pub adam: Option<AdamState>,
    /// The learning rate's schedule.
    pub plateau: Option<Plateau>,
    /// Early stopping.
    pub early_stopping: Option<EarlyStopping>,
    /// The generator.
    pub generator: Option<GeneratorState>,
    /// Anything else: settings, the name of the data set, the split.
    pub metadata: BTreeMap<String, String>,
}

impl Checkpoint {
    /// A checkpoint with a model and nothing else yet.
    pub fn new(epoch: u64, model: BTreeMap<String, Tensor>) -> Self {
        Self {
            epoch,
            model,
            best: None,
            adam: None,
            plateau: None,
            early_stopping: None,
            generator: None,
            metadata: BTreeMap::new(),
        }
    }

    /// Writes the checkpoint to `path`, in place of what is there.
    ///
    /// # Errors
    /// [`Error::File`](crate::Error::File) if the folder does not exist or the
    /// disk is full; the old file is then still there.
    /// [`Error::DType`](crate::Error::DType) for a tensor that is neither f32
    /// nor f64.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        egg_files::write(path, &file::encode(self)?).map_err(|source| file::failed(path, source))
    }

    /// Reads a checkpoint. What it holds is checked against itself, not against
    /// a model: that is for [`Parameters::load`](crate::Parameters::load) and
    /// [`Adam::load_state`](crate::Adam::load_state).
    ///
    /// # Errors
    /// [`Error::File`](crate::Error::File) if the file can't be read,
    /// [`Error::ForeignFile`](crate::Error::ForeignFile) if it is a sound
    /// safetensors file of someone else's,
    /// [`Error::CheckpointVersion`](crate::Error::CheckpointVersion) if it has a
    /// version this crate can't read,
    /// [`Error::DamagedFile`](crate::Error::DamagedFile) for anything else.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let bytes = std::fs::read(path).map_err(|source| file::failed(path, source))?;
        file::decode(path, &bytes)
    }
}
