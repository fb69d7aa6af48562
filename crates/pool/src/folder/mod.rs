//! A trained model as a folder, and back.
//!
//! | file | what |
//! |---|---|
//! | `config.json` | the model, what it was trained on (name, fingerprint, classes) and how |
//! | `model.safetensors` | the parameters and running statistics |
//! | `metrics.json` | every epoch, and validation and test at the best |
//! | `README.md` | the same for people: a model card |

// Numbers in a file are no index: what they point at may not be there.
#![warn(clippy::indexing_slicing)]

mod card;
mod embed;
mod predict;
mod saved;

pub use embed::{Embedding, Subspaces};
pub use predict::{Prediction, Scored};
pub use saved::{SavedConfig, TrainedModel, TrainedOn};
