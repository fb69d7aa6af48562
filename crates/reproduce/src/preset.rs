//! The settings of the paper, as the registry of data sets has them.

use egg_datasets::Registry;
use egg_graph::GraphDataset;
use egg_pool::protocol::{Experiment, Preset, Protocol};
use egg_pool::{ConvolutionConfig, PoolingConfig};

use crate::error::{Error, Result};

/// What the preset `paper` has for a data set of this name; nothing for one that is not
/// registered.
pub(crate) fn paper(dataset: &str) -> Result<Preset> {
    let Ok(entry) = Registry::builtin().get(dataset) else {
        return Ok(Preset::default());
    };
    match entry.preset("paper").classification {
        Some(preset) => serde_json::from_value(preset).map_err(Error::format(dataset.as_ref())),
        None => Ok(Preset::default()),
    }
}

/// An experiment with that preset.
///
/// # Errors
/// As [`Experiment::new`].
pub fn experiment(
    dataset: &GraphDataset,
    protocol: Protocol,
    convolution: impl Into<ConvolutionConfig>,
    pooling: PoolingConfig,
) -> Result<Experiment> {
    let mut experiment = Experiment::new(dataset, protocol, convolution, pooling)?;
    experiment.apply(&paper(dataset.name())?);
    Ok(experiment)
}
