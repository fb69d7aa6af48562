//! The paper's models, and what a model of one's own must do.
//!
//! [`ModelConfig`] is all that a model is built from, and can be written down.
//! A model that is not here implements [`GraphModel`] and is trained just the
//! same: [`Model::new`] takes it with its parameters.

mod classifier;
mod config;
mod graph_model;
mod head;
mod saved_config;
mod size;
mod virtual_node;

pub use classifier::GraphClassifier;
pub use config::{LayerDefaults, ModelConfig};
pub use egg_graph::conv::JumpingKnowledge;
pub use graph_model::{Embedded, GraphModel, Model, Output};
pub use head::{Head, HeadConfig};
