//! Layers: each registers its parameters in a [`Scope`](crate::Scope) and runs forward and backward as
//! one operation, in training or in evaluation as the [`Pass`] says.

mod batch_norm;
mod dropout;
mod linear;
mod mlp;
mod module;
mod pass;
mod relu;
mod seeded;
mod segment;

pub use batch_norm::BatchNorm1d;
pub use dropout::Dropout;
pub use linear::{Linear, linear_product};
pub use mlp::{Mlp, MlpConfig};
pub use pass::Pass;
pub use relu::relu;
pub use seeded::Seeded;
pub use segment::Segments;
