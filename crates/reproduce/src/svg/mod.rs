//! Charts as SVG, byte for byte the same wherever they are drawn.
//!
//! `drawing.rs` is paper and pen, `axis.rs` scales and their marks; `lines.rs` and `maps.rs` are
//! a kind of chart each. Colours are Okabe and Ito's, which people who see fewer colours can distinguish
//! apart too, and none says anything that its place or a mark doesn't.

mod axis;
mod drawing;
mod lines;
mod maps;

pub(crate) use lines::{Chart, Series, lines};
pub(crate) use maps::{Panel, maps};
