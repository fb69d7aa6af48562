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

#[cfg(feature = "serde")]
mod checksum;
mod compare;
mod machine;
mod markdown;
mod openblas_kernels;
mod ranking;
mod sign_test;
mod student;
mod summary;

#[cfg(feature = "serde")]
pub use checksum::{Unsealed, checksum, has_checksum, seal, unseal};
pub use compare::{Comparison, Pair, Verdict, holm, paired, welch};
pub use machine::{Machine, cores, processor};
pub use markdown::markdown_table;
pub use openblas_kernels::better_openblas_kernels;
pub use ranking::Ranking;
pub use sign_test::sign_test;
pub use student::two_sided_p;
pub use summary::{Summary, median};
