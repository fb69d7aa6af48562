//! Markers of classes that differ in shape, not only in colour.

use std::f64::consts::FRAC_1_SQRT_2;

use plotters::prelude::*;

use super::chart::{Canvas, filled};
use super::ink::{Ink, SERIES};
use super::pixels::{FINE, nearest};

/// Corners of a shape around 0 with radius 1, in order; none for a circle.
fn corners(shape: usize) -> Vec<(f64, f64)> {
    let turned = |count: usize, offset: f64| {
        let turn = std::f64::consts::TAU / count as f64;
        (0..count)
            .map(|i| ((i as f64 + offset) * turn).sin_cos())
            .map(|(sin, cos)| (sin, -cos))
            .collect::<Vec<_>>()
    };
    let scaled = |points: Vec<(f64, f64)>, factor: f64| {
        points
            .into_iter()
            .map(|(x, y)| (factor * x, factor * y))
            .collect::<Vec<_>>()
    };
    match shape % 6 {
        0 => Vec::new(),
        1 => scaled(turned(3, 0.0), 1.25),
        2 => scaled(turned(4, 0.5), 1.25),
        3 => scaled(turned(4, 0.0), 1.25),
        4 => scaled(turned(3, 0.5), 1.25),
        _ => {
            // A plus.
            let (a, b) = (0.4, 1.2);
            vec![
                (-a, -b),
                (a, -b),
                (a, -a),
                (b, -a),
                (b, a),
                (a, a),
                (a, b),
                (-a, b),
                (-a, a),
                (-b, a),
                (-b, -a),
                (-a, -a),
            ]
        }
    }
}

/// A cross, for what has no class: no class has this shape or this grey.
fn cross() -> Vec<(f64, f64)> {
    let turned = |(x, y): (f64, f64)| (FRAC_1_SQRT_2 * (x - y), FRAC_1_SQRT_2 * (x + y));
    corners(5).into_iter().map(turned).collect()
}

/// Draws the marker of a class, or of none, `radius` in pixels.
pub(crate) fn draw(
    canvas: &Canvas<'_>,
    class: Option<usize>,
    (x, y): (i32, i32),
    radius: f64,
    opacity: f64,
) -> std::result::Result<(), String> {
    let (ink, corners) = match class {
        // Where colours repeat, shapes don't.
        Some(class) => (Ink::Series(class % SERIES), corners(class % 6 + class / SERIES)),
        None => (Ink::Muted, cross()),
    };
    let style = filled(ink, opacity);
    let radius = radius * f64::from(FINE);
    let drawn = if corners.is_empty() {
        canvas.draw(&Circle::new((x, y), nearest(radius.floor()), style))
    } else {
        let place = |(dx, dy): (f64, f64)| (x + nearest(radius * dx), y + nearest(radius * dy));
        canvas.draw(&Polygon::new(
            corners.into_iter().map(place).collect::<Vec<_>>(),
            style,
        ))
    };
    drawn.map_err(|error| error.to_string())
}
