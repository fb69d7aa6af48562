//! Charts as SVG, written by hand: xtask has no drawing library to wait for.
//!
//! `drawing.rs` is paper and pen, `axis.rs` scales and their marks; `bars.rs`,
//! `lines.rs` and `maps.rs` are a kind of chart each. Colours are Okabe and Ito's, which
//! people who see fewer colours can tell apart too, and none says anything that
//! its place or a mark doesn't.

mod axis;
mod bars;
mod drawing;
mod lines;
mod maps;

pub(super) use bars::{Bar, bars, bars_about};
pub(super) use lines::{Chart, Series, lines};
pub(super) use maps::{Panel, maps};
