//! The paper's model for each of its data sets.

use super::config::{Architecture, ModelConfig};
use crate::data::InputFeatures;
use crate::pooling::PoolingConfig;

impl ModelConfig {
    /// The paper's model for a data set, by the name the registry of
    /// `egg-graph` has for it (or its short form, `molhiv`), in any case:
    ///
    /// | data set | GCN layers | GIN layers | features | |
    /// |---|---|---|---|---|
    /// | NCI1 | 3 | 4 | their own | |
    /// | ogbg-molhiv | 4 | 4 | OGB's atoms, encoded | virtual node |
    /// | COLLAB | 2 | 4 | degree, one-hot, 1,001 columns | |
    /// | IMDB-BINARY (not the paper's) | 2 | 4 | degree, one-hot, 136 columns | |
    /// | any other | 2 | 4 | their own | |
    ///
    /// The public code that goes with the paper is of an earlier submission, without
    /// ogbg-molhiv and without TopK, SAG, Edge and PAN: what these have here is the paper's text,
    /// and where it is silent OGB's and PyTorch Geometric's own models.
    ///
    /// Widths and dropout are to be searched for
    /// ([`Grid::paper`](crate::protocol::Grid::paper)).
    ///
    /// ```
    /// use egg_pool::model::{Architecture, ModelConfig};
    /// let config = ModelConfig::paper("NCI1", Architecture::Gcn, "egg".parse()?);
    /// assert_eq!(config.layers, 3);
    /// # Ok::<(), egg_pool::Error>(())
    /// ```
    pub fn paper(dataset: &str, architecture: Architecture, pooling: PoolingConfig) -> Self {
        let mut config = Self::new(architecture, pooling);
        match dataset.to_ascii_lowercase().replace('_', "-").as_str() {
            "nci1" if architecture == Architecture::Gcn => config.layers = 3,
            "ogbg-molhiv" | "molhiv" => {
                config.layers = 4;
                config.virtual_node = true;
                config.features = InputFeatures::OgbAtoms;
            }
            "collab" => config.features = InputFeatures::Degree { most: 1000 },
            // The largest degree of any actor.
            "imdb-binary" => config.features = InputFeatures::Degree { most: 135 },
            _ => {}
        }
        config
    }
}
