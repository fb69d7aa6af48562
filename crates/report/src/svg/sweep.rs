//! A score against a setting: the paper's sensitivity figure.

use super::chart::Chart;
use super::ink::{Ink, SERIES};
use super::lines::{self, Axis, Line, Point};
use super::scale::Unit;
use crate::error::Result;
use crate::record::Sweep;

/// Means as points, standard deviations as bars.
///
/// # Errors
/// If it can't be drawn.
pub fn sweep(sweep: &Sweep) -> Result<Option<Chart>> {
    let scores = || {
        sweep
            .series
            .iter()
            .flat_map(|series| &series.points)
            .map(|point| &point.score)
    };
    let share = |value: f64| !value.is_finite() || (0.0..=1.0).contains(&value);
    let unit = if scores().all(|score| share(score.mean)) {
        Unit::Percent
    } else {
        Unit::Plain
    };
    let or = |text: &str, other: &str| {
        if text.is_empty() {
            other.to_owned()
        } else {
            text.to_owned()
        }
    };
    let metric = or(&sweep.metric, "score");
    let x = Axis {
        title: or(&sweep.parameter, "setting"),
        unit: Unit::Plain,
    };
    let y = Axis {
        title: if unit == Unit::Percent {
            format!("{metric} (%)")
        } else {
            metric.clone()
        },
        unit,
    };
    let numbered = sweep.series.iter().enumerate();
    let line = |(i, series): (usize, &crate::record::SweepSeries)| {
        let mut points: Vec<Point> = series
            .points
            .iter()
            .map(|point| Point {
                x: point.at,
                y: point.score.mean,
                spread: point.score.spread().unwrap_or(0.0),
            })
            .collect();
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        Line {
            name: or(&series.name, "mean"),
            ink: if i < SERIES {
                Ink::Series(i)
            } else {
                Ink::Dashed(i)
            },
            points,
            marked: true,
        }
    };
    let lines: Vec<Line> = numbered.map(line).collect();
    lines::chart(&format!("{metric} against {}", x.title), &x, &y, &lines)
}
