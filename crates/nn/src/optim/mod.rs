//! What moves parameters and decides when to stop: Adam and AdamW, gradient clipping, a plateau
//! schedule and early stopping.

mod adam;
mod clip;
mod early_stopping;
mod schedule;

pub use adam::{Adam, AdamConfig, AdamMoments, AdamState, Decay};
pub use clip::clip_gradient_norm;
pub use early_stopping::{EarlyStopping, Goal, Verdict};
pub use schedule::{Plateau, PlateauConfig};
