//! Random input for everything that reads files, and for the decomposition.
//!
//! A [`Target`] is a function of bytes: it makes files or matrices of them,
//! passes these to a public reader with small limits, and panics if the reader
//! does, or if what was read breaks a promise of its type. A refusal is fine.
//! Two drivers call it: `tests/fuzz` (any compiler, `cargo xtask fuzz`) and
//! `libfuzzer/` (nightly, sanitizers, coverage).
//!
//! ```
//! let target = egg_fuzz::target("pickle").unwrap();
//! let nothing = (target.run)(b"");
//! let number = (target.run)(b"K\x07.");
//! assert_ne!(nothing, number);
//! ```

mod dataset;
mod files;
pub mod mutate;
mod outcome;
#[cfg(feature = "models")]
mod safetensors_seal;
pub mod seeds;
mod targets;

pub use files::Sections;
pub use outcome::Outcome;
pub use targets::{NamedSeed, Reader, TARGETS, Target, target};
