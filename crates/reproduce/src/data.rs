//! Data sets by what a command calls them.

use std::path::Path;

use egg_datasets::DataFolders;
use egg_graph::synthetic::{BlockModel, CovarianceSet};
use egg_graph::{Cache, DataSource, GraphDataset, ReadOptions};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::error::Result;

/// A benchmark data set by its name. A path to a file or folder will do as well, and
/// `covariance` is made on the spot.
pub(crate) fn load(name: &str) -> Result<GraphDataset> {
    if name.eq_ignore_ascii_case("covariance") {
        return Ok(CovarianceSet::standard()?);
    }
    let source = match Path::new(name).exists() {
        true => DataSource::detect(Path::new(name))?,
        false => DataFolders::locate().source(name)?,
    };
    Ok(source.load(&ReadOptions::default(), &Cache::Off)?.dataset)
}

/// Whether a benchmark data set is where data are looked for.
pub(crate) fn is_here(name: &str) -> bool {
    DataFolders::locate().source(name).is_ok()
}

/// A graph of nodes: a block model of so many, or a data set by its name.
pub(crate) fn nodes(name: &str) -> Result<GraphDataset> {
    match name.parse() {
        Ok(nodes) => {
            let model = BlockModel {
                nodes,
                ..BlockModel::default()
            };
            Ok(model.generate(&mut ChaCha8Rng::seed_from_u64(0))?)
        }
        Err(_) => load(name),
    }
}
