//! Line charts with bands, and the axes that other charts share.

use plotters::prelude::*;

use super::chart::{Canvas, Chart, Hit, HitShape, filled, font, stroke};
use super::ink::Ink;
use super::legend::{self, Key};
use super::pixels::{to_pixel_count, to_subpixels};
use super::scale::{Scale, Unit, drawable};
use crate::error::Result;

/// A point of a line, with the band around it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) y: f64,
    /// Half the height of the band; 0 for none.
    pub(crate) spread: f64,
}

/// A line with its name.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub(crate) name: String,
    pub(crate) ink: Ink,
    pub(crate) points: Vec<Point>,
    pub(crate) marked: bool,
}

/// What an axis measures.
#[derive(Debug, Clone)]
pub(crate) struct Axis {
    pub(crate) title: String,
    pub(crate) unit: Unit,
}

pub(crate) type Frame<'a> = ChartContext<'a, SVGBackend<'a>, Cartesian2d<Scale, Scale>>;

/// Axes with labels and a grid. `left` is the room for labels, in pixels.
pub(crate) fn frame<'a>(
    canvas: &Canvas<'a>,
    (x, x_title): (&Scale, &str),
    (y, y_title): (&Scale, &str),
    left: u32,
) -> std::result::Result<Frame<'a>, String> {
    // Half of the last label is beyond its tick. (Of a bare scale too, which may have
    // to line up with one that is not.)
    let last = to_pixel_count(x.label(x.high).chars().count());
    let right = 14.max(4 + last * 7 / 2);
    let mut builder = ChartBuilder::on(canvas);
    builder
        .margin_top(to_subpixels(8))
        .margin_right(to_subpixels(right))
        // Letters of the vertical title are higher than the library assumes.
        .margin_left(to_subpixels(4))
        .margin_bottom(to_subpixels(2))
        .set_label_area_size(LabelAreaPosition::Left, to_subpixels(left))
        .set_label_area_size(
            LabelAreaPosition::Bottom,
            to_subpixels(if x_title.is_empty() { 20 } else { 38 }),
        );
    let mut chart = builder
        .build_cartesian_2d(x.clone(), y.clone())
        .map_err(|error| error.to_string())?;
    let mut mesh = chart.configure_mesh();
    mesh.disable_x_mesh()
        .axis_style(stroke(Ink::Grid, 10))
        .bold_line_style(stroke(Ink::Grid, 10))
        .light_line_style(TRANSPARENT)
        .label_style(font(11.0, Ink::Muted))
        .axis_desc_style(font(11.5, Ink::Muted))
        .set_all_tick_mark_size(to_subpixels(3));
    if !x_title.is_empty() {
        mesh.x_desc(x_title);
    }
    if !y_title.is_empty() {
        mesh.y_desc(y_title);
    }
    mesh.draw().map_err(|error| error.to_string())?;
    drop(mesh);
    Ok(chart)
}

/// Draws lines; `None` if no line has a point.
pub(crate) fn chart(title: &str, x_axis: &Axis, y_axis: &Axis, lines: &[Line]) -> Result<Option<Chart>> {
    const SIZE: (u32, u32) = (440, 270);
    let shown = |point: &&Point| drawable(point.x) && drawable(point.y);
    let points = || lines.iter().flat_map(|line| &line.points).filter(shown);
    let Some(x) = Scale::around(points().map(|point| point.x), x_axis.unit, 6) else {
        return Ok(None);
    };
    let (first, last) = points().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), point| {
        (low.min(point.x), high.max(point.x))
    });
    let x = if first < last {
        let room = 0.015 * (last - first);
        x.trimmed(first - room, last + room)
    } else {
        x
    };
    let Some(y) = height(&points().copied().collect::<Vec<_>>(), y_axis.unit) else {
        return Ok(None);
    };
    let entries: Vec<(String, Key)> = lines
        .iter()
        .filter(|line| line.points.iter().any(|point| shown(&point)))
        .map(|line| (line.name.clone(), Key::Line(line.ink)))
        .collect();
    let above = legend::height(&entries, SIZE.0);
    let draw = |canvas: &Canvas<'_>| {
        legend::draw(canvas, &entries, SIZE.0)?;
        let (_, below) = canvas.split_vertically(to_subpixels(above));
        let mut chart = frame(&below, (&x, &x_axis.title), (&y, &y_axis.title), 50)?;
        for line in lines {
            draw_line(&mut chart, canvas, line, &y)?;
        }
        Ok(strips(&chart, lines, x_axis, y_axis, &y))
    };
    Chart::draw(title, (SIZE.0, SIZE.1 + above), draw).map(Some)
}

/// The range of the lines and of most of their bands: one bad start must not
/// flatten everything else.
fn height(points: &[Point], unit: Unit) -> Option<Scale> {
    let mut ends: Vec<f64> = points
        .iter()
        .flat_map(|point| {
            let spread = if drawable(point.spread) { point.spread } else { 0.0 };
            let (low, high) = (point.y - spread, point.y + spread);
            // Shares are at most 1.
            if unit == Unit::Percent && (0.0..=1.0).contains(&point.y) {
                [low.max(0.0), high.min(1.0)]
            } else {
                [low, high]
            }
        })
        .collect();
    ends.sort_by(f64::total_cmp);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of a count, rounded down"
    )]
    let quantile = |share: f64| {
        ends.get(((ends.len().checked_sub(1)?) as f64 * share) as usize)
            .copied()
    };
    let (mut low, high) = (quantile(0.0)?, quantile(1.0)?);
    // Bands reach below zero although no value does.
    if points.iter().all(|point| point.y >= 0.0) {
        low = low.max(0.0);
    }
    let (quarter, most) = (quantile(0.25)?, quantile(0.97)?);
    // The last 3% may be cut off if they are several times as far out as the rest.
    let high = if high - most > 2.0 * (most - quarter) && most > quarter {
        most
    } else {
        high
    };
    // Some margin, but not up to the next round number.
    let room = 0.04 * (high - low);
    let floor = if low >= 0.0 { 0.0 } else { f64::NEG_INFINITY };
    Some(Scale::new(low, high, unit, 5).trimmed((low - room).max(floor), high + room))
}

fn draw_line(
    chart: &mut Frame<'_>,
    canvas: &Canvas<'_>,
    line: &Line,
    y: &Scale,
) -> std::result::Result<(), String> {
    let runs = line
        .points
        .split(|point| !(drawable(point.x) && drawable(point.y)))
        .filter(|run| !run.is_empty());
    for run in runs {
        let side = |sign: f64| {
            move |point: &Point| {
                let spread = if drawable(point.spread) { point.spread } else { 0.0 };
                (point.x, y.bound(point.y + sign * spread))
            }
        };
        if !line.marked && run.iter().any(|point| point.spread > 0.0) && run.len() > 1 {
            let mut outline: Vec<(f64, f64)> = run.iter().map(side(1.0)).collect();
            outline.extend(run.iter().rev().map(side(-1.0)));
            let fill = match line.ink {
                Ink::Dashed(i) => Ink::Series(i),
                ink => ink,
            };
            let band = Polygon::new(outline, filled(fill, 0.14));
            chart.draw_series([band]).map_err(|error| error.to_string())?;
        }
        let path: Vec<(f64, f64)> = run.iter().map(side(0.0)).collect();
        if path.len() > 1 {
            let path = PathElement::new(path.clone(), stroke(line.ink, 19));
            chart.draw_series([path]).map_err(|error| error.to_string())?;
        }
        if line.marked || path.len() == 1 {
            let (Ink::Series(i) | Ink::Dashed(i)) = line.ink else {
                continue;
            };
            for place in &path {
                super::marker::draw(canvas, Some(i), chart.backend_coord(place), 3.6, 1.0)?;
            }
        }
        if line.marked {
            for point in run.iter().filter(|point| point.spread > 0.0) {
                let bar = vec![side(-1.0)(point), side(1.0)(point)];
                let bar = PathElement::new(bar, stroke(line.ink, 11));
                chart.draw_series([bar]).map_err(|error| error.to_string())?;
            }
        }
    }
    Ok(())
}

/// Vertical strips, at most 60, that show the values of all lines at their x on hovering.
fn strips(chart: &Frame<'_>, lines: &[Line], x_axis: &Axis, y_axis: &Axis, y: &Scale) -> Vec<Hit> {
    let mut places: Vec<f64> = lines
        .iter()
        .flat_map(|line| &line.points)
        .filter(|point| drawable(point.x) && drawable(point.y))
        .map(|point| point.x)
        .collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    let every = places.len().div_ceil(60).max(1);
    let places: Vec<f64> = places.into_iter().step_by(every).collect();
    let at: Vec<i32> = places
        .iter()
        .map(|&x| chart.backend_coord(&(x, y.low)).0)
        .collect();
    let (top, bottom) = (
        chart.backend_coord(&(0.0, y.high)).1,
        chart.backend_coord(&(0.0, y.low)).1,
    );
    let half = to_subpixels(12);
    let hit = |(i, &x): (usize, &f64)| {
        let left = if i == 0 {
            at[i] - half
        } else {
            (at[i - 1] + at[i]) / 2
        };
        let right = at.get(i + 1).map_or(at[i] + half, |next| (at[i] + next) / 2);
        let mut words = format!("{} {}", x_axis.title, x_axis.unit.show(x));
        for line in lines {
            if let Some(point) = line.points.iter().find(|point| point.x == x) {
                words += &format!("\n{}: {}", line.name, y_axis.unit.show(point.y));
                if point.spread > 0.0 {
                    words += &format!(" \u{b1} {}", y_axis.unit.show(point.spread));
                }
            }
        }
        Hit {
            shape: HitShape::Rectangle {
                x: left,
                y: top,
                width: (right - left).max(1),
                height: bottom - top,
            },
            words,
        }
    };
    places.iter().enumerate().map(hit).collect()
}
