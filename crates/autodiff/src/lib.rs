//! stub
mod batch;
mod element;
mod embed;
mod error;
mod leverage;
mod pool;
mod projector;

pub use egg_geometry::{Flatten, RankChoice, RankRule};
pub use embed::{Embedder, GraphSpectrum, grassmann_embed};
pub use error::{Error, Result};
pub use leverage::leverage;
pub use projector::projector;
