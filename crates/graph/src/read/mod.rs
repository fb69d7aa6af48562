//! Readers, one file per layout, and what they have in common.

mod csr;
mod gnn_benchmark;
mod npy;
mod npz;
mod numpy;
mod options;
pub mod pickle;
mod planetoid;
mod text;
mod whole;

pub use gnn_benchmark::read_gnn_benchmark;
pub use npy::{read_npy, write_npy};
pub use npz::Npz;
pub use numpy::{ElementType, NumpyArray};
pub use options::{NodeFeatures, ReadOptions};
pub use planetoid::read_planetoid;
