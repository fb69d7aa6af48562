#![doc = include_str!("../README.md")]
// Input is never trusted: what may fail returns an error. Exceptions say why.
#![warn(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss
)]
#![cfg_attr(
    test,
    allow(
        clippy::cast_possible_truncation,
        clippy::cast_possible_wrap,
        clippy::cast_sign_loss,
        reason = "numbers that tests make up"
    )
)]

pub mod affine;
mod backward;
pub mod blocks;
pub mod columns;
mod element;
mod operation;
mod prefetch;
pub mod product;
mod slices;
pub mod sums;
pub mod threads;
mod tracked;
mod vectorised;

pub use backward::backward;
pub use element::Element;
pub use operation::{Backward, Forward, Operand, Operation, apply, apply_and_inspect};
pub use prefetch::prefetch;
pub use slices::{row_major, with_slices};
pub use tracked::Tracked;

/// What the macros of this crate name.
#[doc(hidden)]
pub mod macros {
    pub use crate::element::unsupported;
    pub use candle_core::DType;
    pub use pulp::{Arch, Simd, WithSimd};
}
