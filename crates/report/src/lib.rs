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

mod embedding;
mod error;
mod estimate;
mod neighbours;
mod number;
mod page;
mod record;
mod significance;
pub mod svg;
mod tsne;

pub use egg_results::{Comparison, Verdict, holm};
pub use embedding::{Embedding, Map, Rows};
pub use error::{Error, Result};
pub use estimate::Estimate;
pub use page::{render, write_html};
pub use record::{
    Clustering, Confusion, Data, Epoch, FILE_NAME, Kind, Losses, Method, RankBin, Ranks, Record, Repetition,
    Sweep, SweepPoint, SweepSeries, Trial, VERSION, Versions, shell_command,
};
pub use significance::compare;
