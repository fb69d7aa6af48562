//! The loops of batch normalisation and of segment operations, on slices in row-major order.
//! They know neither tensors nor the tape; the layers of the same names call them.

pub(crate) mod batch_norm;
pub(crate) mod segment;
