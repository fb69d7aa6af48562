//! Graph convolutions on candle, in f32 and f64, on the CPU.
//!
//! No adjacency is ever dense: a layer is a product with a [`SparseMatrix`],
//! whose transpose, needed for the gradient, is made once. Every sum runs over
//! the entries of one row in their order, whatever the number of threads, so
//! results are the same to the bit on any number of them.

mod gcn;
mod gcn_layer;
mod gin;
mod input;
mod jumping_knowledge;
mod kernel;
mod matrix;
mod outer;
mod spmm;
mod virtual_node;

pub use gcn::GcnConv;
pub use gin::GinConv;
pub use input::NodeInput;
pub use jumping_knowledge::JumpingKnowledge;
pub use matrix::SparseMatrix;
pub use spmm::spmm;
pub use virtual_node::{VirtualNode, VirtualNodeState};
