//! Legends: the colours, dashes and shapes of a chart, drawn above it.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::chart::{Canvas, anchored, shorten, stroke};
use super::ink::Ink;
use super::marker;
use super::pixels::{FINE, nearest};

/// How a series is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Key {
    Line(Ink),
    /// The marker of a class, or of no class.
    Marker(Option<usize>),
}

const LEFT: f64 = 14.0;
const SWATCH: f64 = 22.0;
const GAP: f64 = 14.0;
const ROW: f64 = 17.0;
const LETTER: f64 = 6.7;
const MOST: usize = 26;

/// The position of each entry, and the height of all rows, in pixels.
fn places(names: &[String], width: f64) -> (Vec<(f64, f64)>, f64) {
    let (mut x, mut y) = (LEFT, 0.0);
    let mut places = Vec::new();
    for name in names {
        let length = SWATCH + 5.0 + LETTER * name.chars().count() as f64;
        if x > LEFT && x + length > width {
            (x, y) = (LEFT, y + ROW);
        }
        places.push((x, y));
        x += length + GAP;
    }
    let height = if names.is_empty() { 0.0 } else { y + ROW + 5.0 };
    (places, height)
}

/// The height of the legend, in pixels.
pub(crate) fn height(entries: &[(String, Key)], width: u32) -> u32 {
    let names: Vec<String> = entries.iter().map(|(name, _)| shorten(name, MOST)).collect();
    nearest(places(&names, f64::from(width)).1.ceil()).unsigned_abs()
}

/// Draws the legend at the top.
pub(crate) fn draw(
    canvas: &Canvas<'_>,
    entries: &[(String, Key)],
    width: u32,
) -> std::result::Result<(), String> {
    let names: Vec<String> = entries.iter().map(|(name, _)| shorten(name, MOST)).collect();
    let (places, _) = places(&names, f64::from(width));
    let to_subpixels = |pixels: f64| nearest(pixels * f64::from(FINE));
    for ((name, (_, key)), (x, y)) in names.iter().zip(entries).zip(places) {
        let middle = to_subpixels(y + ROW / 2.0 + 2.0);
        match *key {
            Key::Line(ink) => {
                let ends = vec![(to_subpixels(x), middle), (to_subpixels(x + SWATCH), middle)];
                canvas
                    .draw(&PathElement::new(ends, stroke(ink, 22)))
                    .map_err(|error| error.to_string())?;
            }
            Key::Marker(class) => {
                marker::draw(canvas, class, (to_subpixels(x + SWATCH - 8.0), middle), 4.5, 1.0)?;
            }
        }
        let style = anchored(11.5, Ink::Text, HPos::Left, VPos::Center);
        let text = Text::new(name.clone(), (to_subpixels(x + SWATCH + 5.0), middle), style);
        canvas.draw(&text).map_err(|error| error.to_string())?;
    }
    Ok(())
}
