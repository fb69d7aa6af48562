//! Numbers over numbers, as dots and lines.

use super::axis::{Axis, label};
use super::drawing::{Anchor, COLOURS, Drawing, FAINT, INK, LETTER};

pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) points: Vec<(f64, f64)>,
    /// How far each point may be off, down and up; empty or as many as points.
    pub(crate) band: Vec<(f64, f64)>,
    /// Dots for measurements, a line alone for what has many points.
    pub(crate) dots: bool,
}

pub(crate) struct Chart<'a> {
    pub(crate) title: &'a str,
    pub(crate) across: &'a str,
    pub(crate) up: &'a str,
    pub(crate) log: bool,
    pub(crate) series: &'a [Series],
}

const LEFT: f64 = 70.0;
const TOP: f64 = 58.0;
const WIDTH: f64 = 420.0;
const HEIGHT: f64 = 280.0;

pub(crate) fn lines(chart: &Chart<'_>) -> String {
    let all = || chart.series.iter().flat_map(|series| &series.points);
    let edges = chart
        .series
        .iter()
        .flat_map(|series| &series.band)
        .flat_map(|(low, high)| [*low, *high]);
    let (right, bottom) = (LEFT + WIDTH, TOP + HEIGHT);
    let across = Axis::over(all().map(|point| point.0), chart.log, LEFT, right);
    let up = Axis::over(all().map(|point| point.1).chain(edges), chart.log, bottom, TOP);
    let longest = chart
        .series
        .iter()
        .map(|series| series.name.chars().count())
        .max();
    // Names in capitals are wider than letters are on average.
    let legend = 40.0 + longest.unwrap_or(0) as f64 * 12.0 * LETTER * 1.3;

    let mut drawing = Drawing::new(right + legend, bottom + 50.0);
    drawing.text(12.0, 22.0, Anchor::Start, 15.0, chart.title);
    drawing.text(12.0, 42.0, Anchor::Start, 11.0, chart.up);
    drawing.text(
        LEFT + WIDTH / 2.0,
        bottom + 38.0,
        Anchor::Middle,
        11.0,
        chart.across,
    );
    for mark in across.marks() {
        let x = across.at(mark);
        drawing.line((x, TOP), (x, bottom), FAINT, 1.0, "");
        drawing.text(x, bottom + 18.0, Anchor::Middle, 11.0, &label(mark));
    }
    for mark in up.marks() {
        let y = up.at(mark);
        drawing.line((LEFT, y), (right, y), FAINT, 1.0, "");
        drawing.text(LEFT - 6.0, y + 4.0, Anchor::End, 11.0, &label(mark));
    }
    drawing.line((LEFT, bottom), (right, bottom), INK, 1.0, "");
    drawing.line((LEFT, TOP), (LEFT, bottom), INK, 1.0, "");
    for (at, series) in chart.series.iter().enumerate() {
        let colour = COLOURS[at % COLOURS.len()];
        let place = |x: f64, y: f64| (across.at(x), up.at(y));
        if series.band.len() == series.points.len() {
            let edge = |of: fn(&(f64, f64)) -> f64| {
                let pairs = series.points.iter().zip(&series.band);
                pairs
                    .map(move |(point, band)| place(point.0, of(band)))
                    .collect::<Vec<_>>()
            };
            let mut area = edge(|band| band.0);
            area.extend(edge(|band| band.1).into_iter().rev());
            drawing.area(&area, colour);
        }
        let points: Vec<_> = series.points.iter().map(|(x, y)| place(*x, *y)).collect();
        // Colours that come a second time are broken lines.
        let dashes = if at < COLOURS.len() { "" } else { "6 4" };
        drawing.path(&points, colour, dashes);
        if series.dots {
            points.iter().for_each(|point| drawing.dot(*point, colour));
        }
        let y = TOP + 14.0 + at as f64 * 20.0;
        drawing.line(
            (right + 10.0, y - 4.0),
            (right + 26.0, y - 4.0),
            colour,
            3.0,
            dashes,
        );
        drawing.text(right + 32.0, y, Anchor::Start, 12.0, &series.name);
    }
    drawing.finish(chart.title)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_series_is_drawn_and_named() {
        let series = |name: &str, dots| Series {
            name: name.into(),
            points: vec![(1.0, 2.0), (10.0, 20.0), (100.0, 150.0)],
            band: vec![(1.0, 3.0), (18.0, 22.0), (140.0, 160.0)],
            dots,
        };
        let file = lines(&Chart {
            title: "time",
            across: "nodes",
            up: "seconds",
            log: true,
            series: &[series("n^0.97", true), series("fit", false)],
        });
        assert_eq!(file.matches("<circle").count(), 3);
        assert_eq!(file.matches("<polyline").count(), 2);
        assert_eq!(file.matches("<polygon").count(), 2);
        assert!(file.contains(">n^0.97</text>") && !file.contains("NaN"));
    }
}
