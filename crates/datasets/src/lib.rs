//! Graph benchmarks by name: find, fetch, verify and read them.
//!
//! ```no_run
//! use egg_datasets::DataFolders;
//! use egg_graph::{Cache, ReadOptions};
//!
//! let source = DataFolders::locate().source("PROTEINS")?;
//! let proteins = source.load(&ReadOptions::default(), &Cache::Off)?.dataset;
//! assert_eq!(proteins.len(), 1113);
//! # Ok::<(), egg_datasets::Error>(())
//! ```
//!
//! - [`Registry`] lists the data sets: names, files, checksums, counts, licences, citations.
//! - [`DataFolders`] decides where they are searched, and nothing else does.
//! - [`Fetcher`] fetches missing ones, from a mirror or by a [`Transport`]; files are verified before they get their final name.
//! - [`verify`] compares local files with the registry.
//!
//! # Features
//!
//! | feature | what | needs |
//! |---|---|---|
//! | `fetch` | `Https`, the transport that downloads | ureq, rustls |
//!
//! Only `Https` opens a connection, and only a [`Fetcher`] that was passed it calls it. The crate never prints.

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

mod checksum;
mod counts;
mod destination;
mod error;
mod fetch;
mod folders;
#[cfg(feature = "fetch")]
mod https;
mod registry;
#[cfg(all(test, feature = "fetch"))]
#[allow(clippy::unwrap_used, reason = "for tests")]
#[path = "../tests/shared/server.rs"]
mod server;
mod size;
mod status;
mod transport;
mod unpack;
mod verify;
#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "for tests")]
#[path = "../tests/shared/zipped.rs"]
mod zipped;

pub use error::{Error, Result};
pub use fetch::{Fetcher, Outcome};
pub use folders::{DataFolders, VARIABLE};
#[cfg(feature = "fetch")]
pub use https::Https;
pub use registry::{ArchiveEntry, Counts, DatasetEntry, EntryPreset, FileEntry, Registry, Task};
pub use size::{Bytes, Grouped};
pub use status::Status;
pub use transport::{Download, DownloadError, Event, Transport};
pub use verify::{Verification, Verified, verify};

/// Runs the example of the package's front page.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct FrontPage;
