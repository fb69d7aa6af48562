//! The paper's models, and what a model of one's own must do.
//!
//! [`ModelConfig`] is all that a model is built from, and can be written down.
//! A model that is not here implements [`GraphModel`] and is trained just the
//! same: [`Model::new`] takes it with its parameters.

mod blind;
mod config;
mod gcn;
mod gin;
mod graph_model;
mod head;
mod preset;
mod size;
mod virtual_node;

pub use blind::BlindClassifier;
pub use config::{Architecture, ModelConfig};
pub use gcn::GcnClassifier;
pub use gin::GinClassifier;
pub use graph_model::{Embedded, GraphModel, Model, Output};
pub use head::{Head, HeadConfig};
