//! Test scores of methods, repetition by repetition.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::chart::{Canvas, Chart, Hit, HitShape, anchored, filled, shorten, stroke};
use super::curves::unit;
use super::ink::Ink;
use super::lines::frame;
use super::pixels::{to_pixel_count, to_subpixels};
use super::scale::{Scale, Unit, drawable};
use crate::error::Result;
use crate::estimate::Estimate;
use crate::record::Method;

/// A row for each method: repetitions as dots, the mean as a larger one, the
/// standard deviation (with `ddof`) as a bar.
///
/// # Errors
/// If it can't be drawn.
pub fn test_scores(methods: &[&Method], colours: &[usize], ddof: usize) -> Result<Option<Chart>> {
    let metric = methods.first().map_or("metric", |method| method.metric());
    scores(&format!("test {metric}"), methods, colours, ddof)
}

/// The same for any score, by its name.
pub(crate) fn scores(
    metric: &str,
    methods: &[&Method],
    colours: &[usize],
    ddof: usize,
) -> Result<Option<Chart>> {
    const WIDTH: u32 = 440;
    const ROW: u32 = 30;
    let names: Vec<String> = methods.iter().map(|method| shorten(&method.name, 24)).collect();
    let longest = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let left = (20 + to_pixel_count(longest) * 13 / 2).clamp(60, 174);
    let scores: Vec<Vec<f64>> = methods
        .iter()
        .map(|method| {
            let tests = method.repetitions.iter().filter_map(|repetition| repetition.test);
            tests.filter(|&test| drawable(test)).collect()
        })
        .collect();
    let unit = unit(methods.iter().copied());
    let Some(x) = Scale::around(scores.iter().flatten().copied(), unit, 5) else {
        return Ok(None);
    };
    // Shares lie between 0 and 1.
    let x = match unit {
        Unit::Percent => {
            let (low, high) = (x.low.max(0.0), x.high.min(1.0));
            x.trimmed(low, high)
        }
        _ => x,
    };
    let label = if unit == Unit::Percent {
        format!("{metric} (%)")
    } else {
        metric.to_owned()
    };
    let count = methods.len() as f64;
    let y = Scale::new(0.0, count, Unit::Whole, 1)
        .trimmed(0.0, count)
        .without_ticks();
    let draw = |canvas: &Canvas<'_>| {
        let mut chart = frame(canvas, (&x, &label), (&y, ""), left)?;
        let mut hits = Vec::new();
        let (top, bottom) = (y.high, y.low);
        for &tick in &x.ticks {
            let line = PathElement::new(vec![(tick, bottom), (tick, top)], stroke(Ink::Grid, 10));
            chart.draw_series([line]).map_err(|error| error.to_string())?;
        }
        for (i, (method, scores)) in methods.iter().zip(&scores).enumerate() {
            let colour = colours.get(i).copied().unwrap_or(i);
            let level = count - i as f64 - 0.5;
            let (_, row) = chart.backend_coord(&(x.low, level));
            let name = Text::new(
                names[i].clone(),
                (to_subpixels(left - 8), row),
                anchored(11.5, Ink::Text, HPos::Right, VPos::Center),
            );
            canvas.draw(&name).map_err(|error| error.to_string())?;
            for &score in scores {
                let place = chart.backend_coord(&(score, level));
                let dot = Circle::new(place, 32, filled(Ink::Series(colour), 0.4));
                canvas.draw(&dot).map_err(|error| error.to_string())?;
            }
            let estimate = Estimate::from_values(scores, ddof);
            if !estimate.is_known() {
                continue;
            }
            let spread = estimate.deviation.unwrap_or(0.0);
            let ends = vec![
                (x.clamp(estimate.mean - spread), level),
                (x.clamp(estimate.mean + spread), level),
            ];
            let bar = PathElement::new(ends, stroke(Ink::Series(colour), 24));
            chart.draw_series([bar]).map_err(|error| error.to_string())?;
            let place = chart.backend_coord(&(estimate.mean, level));
            let halo = Circle::new(place, 64, filled(Ink::Surface, 1.0));
            canvas.draw(&halo).map_err(|error| error.to_string())?;
            let dot = Circle::new(place, 50, filled(Ink::Series(colour), 1.0));
            canvas.draw(&dot).map_err(|error| error.to_string())?;
            let each: Vec<String> = scores.iter().map(|&score| unit.show(score)).collect();
            let spread = estimate
                .spread()
                .map_or(String::new(), |d| format!(" \u{b1} {}", unit.show(d)));
            hits.push(Hit {
                shape: HitShape::Rectangle {
                    x: to_subpixels(4),
                    y: row - to_subpixels(ROW) / 2,
                    width: to_subpixels(WIDTH - 8),
                    height: to_subpixels(ROW),
                },
                words: format!(
                    "{}: {}{spread}\neach: {}",
                    method.name,
                    unit.show(estimate.mean),
                    each.join(", ")
                ),
            });
        }
        Ok(hits)
    };
    let height = 48 + ROW * to_pixel_count(methods.len());
    Chart::draw(format!("{metric} of each method"), (WIDTH, height), draw).map(Some)
}
