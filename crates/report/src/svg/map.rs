//! Maps of embeddings: the paper's embedding figures.

use super::chart::{Canvas, Chart, Hit, HitShape};
use super::legend::{self, Key};
use super::marker;
use super::pixels::{nearest, to_subpixels};
use crate::embedding::Embedding;
use crate::error::Result;

/// Every row a point, coloured and shaped by its class; `None` without a map
/// ([`Embedding::reduce`]).
///
/// # Errors
/// If it can't be drawn.
pub fn map(title: &str, embedding: &Embedding) -> Result<Option<Chart>> {
    const SIDE: u32 = 400;
    const EDGE: f64 = 12.0;
    let Some(map) = &embedding.map else {
        return Ok(None);
    };
    let points: Vec<(f64, f64, Option<u32>)> = map
        .x
        .iter()
        .zip(&map.y)
        .enumerate()
        .map(|(i, (&x, &y))| {
            (
                f64::from(x),
                f64::from(y),
                embedding.classes.get(i).copied().flatten(),
            )
        })
        .filter(|(x, y, _)| x.is_finite() && y.is_finite())
        .collect();
    if points.is_empty() {
        return Ok(None);
    }
    let ends = |of: fn(&(f64, f64, Option<u32>)) -> f64| {
        let (low, high) = points
            .iter()
            .map(of)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| {
                (low.min(x), high.max(x))
            });
        ((low + high) / 2.0, high - low)
    };
    // One scale for both directions: distances have a meaning, axes don't.
    let ((x_middle, x_span), (y_middle, y_span)) = (ends(|point| point.0), ends(|point| point.1));
    let span = x_span.max(y_span).max(1e-12);
    let room = f64::from(SIDE) - 2.0 * EDGE;
    let pixels = |value: f64| nearest(10.0 * value);

    let mut classes: Vec<Option<u32>> = points.iter().map(|point| point.2).collect();
    classes.sort_unstable_by_key(|class| class.map_or(u64::MAX, u64::from));
    classes.dedup();
    let name = |class: Option<u32>| match class {
        None => "no class".to_owned(),
        Some(class) => match embedding.class_names.get(class as usize) {
            Some(name) if !name.is_empty() => name.clone(),
            _ => format!("class {class}"),
        },
    };
    let number = |class: Option<u32>| class.map(|class| class as usize);
    // A longer legend is of no use.
    let entries: Vec<(String, Key)> = if classes.len() <= 16 {
        classes
            .iter()
            .map(|&class| (name(class), Key::Marker(number(class))))
            .collect()
    } else {
        Vec::new()
    };
    let above = legend::height(&entries, SIDE);
    let radius = if points.len() > 800 {
        2.2
    } else if points.len() > 200 {
        2.8
    } else {
        4.0
    };
    let opacity = if points.len() > 200 { 0.7 } else { 0.85 };
    let draw = |canvas: &Canvas<'_>| {
        legend::draw(canvas, &entries, SIDE)?;
        let mut hits = Vec::new();
        for &(x, y, class) in &points {
            let place = (
                pixels(EDGE + room * (0.5 + (x - x_middle) / span)),
                to_subpixels(above) + pixels(EDGE + room * (0.5 - (y - y_middle) / span)),
            );
            marker::draw(canvas, number(class), place, radius, opacity)?;
            hits.push(Hit {
                shape: HitShape::Circle {
                    x: place.0,
                    y: place.1,
                    radius: pixels(radius + 1.5),
                },
                words: name(class),
            });
        }
        Ok(hits)
    };
    // A name is left as it is written.
    let chart = Chart::draw(title, (SIDE, SIDE + above), draw)?;
    Ok(Some(chart.renamed(title)))
}
