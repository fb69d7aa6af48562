//! Losses of a batch as one number: cross entropy, binary cross entropy, squared and absolute errors.
//! Each is one operation whose value and gradient are finite for every finite logit.

mod bce;
mod cross_entropy;
mod pair_loss;
mod reduction;
mod regression;

pub use bce::{bce_with_logits, bce_with_logits_value};
pub use cross_entropy::{cross_entropy, cross_entropy_value};
pub use reduction::Reduction;
pub use regression::{mae, mse};
