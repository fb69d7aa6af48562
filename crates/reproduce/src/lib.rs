//! The paper's tables and figures, from the libraries that users call.
//!
//! [`command`] is what the program understands. [`paper`] runs what records lack: [`cell`] says what
//! a cell of Tables 2 and 3 is, [`growing`] keeps its repetitions, [`halving`] searches the grid,
//! [`cluster`] is Table 5, [`curves`] and [`maps`] are for the figures. [`page`] makes
//! `docs/RESULTS.md`, `docs/results/DETAILS.md` and their figures of the records alone. [`scale`] fits how the cost grows.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "the inside of a program for people"
)]

pub mod architecture;
pub mod budget;
pub mod cell;
pub mod cluster;
pub mod command;
mod covariance;
pub mod curves;
pub mod data;
mod error;
mod files;
pub mod growing;
pub mod halving;
pub mod maps;
pub mod page;
pub mod paper;
pub mod preset;
mod provenance;
pub mod scale;
mod svg;
mod trial;
mod tried;

pub use error::{Error, Result};
