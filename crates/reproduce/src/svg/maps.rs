//! Points in classes, a panel for each map.
//!
//! A class is a colour and a number: the number stands in the legend and in the
//! middle of the class's points.

use super::drawing::{Anchor, COLOURS, Drawing, FAINT};

pub(crate) struct Panel {
    pub(crate) title: String,
    pub(crate) note: String,
    /// Places in a square of side 1000, and the class.
    pub(crate) points: Vec<(i64, i64, usize)>,
}

const SIDE: f64 = 300.0;
const GAP: f64 = 24.0;
/// Title, note and legend of a panel.
const ABOVE: f64 = 60.0;
const TOP: f64 = 34.0;

/// So many panels in a row.
pub(crate) fn maps(title: &str, panels: &[Panel], columns: usize) -> String {
    let columns = columns.clamp(1, panels.len().max(1));
    let rows = panels.len().div_ceil(columns);
    let place = |at: usize| {
        let (row, column) = ((at / columns) as f64, (at % columns) as f64);
        (GAP + column * (SIDE + GAP), TOP + row * (SIDE + ABOVE + GAP))
    };
    let width = GAP + columns as f64 * (SIDE + GAP);
    let mut drawing = Drawing::new(width, TOP + rows as f64 * (SIDE + ABOVE + GAP));
    drawing.text(GAP, 22.0, Anchor::Start, 15.0, title);
    for (at, panel) in panels.iter().enumerate() {
        let (x, y) = place(at);
        drawing.text(x, y + 18.0, Anchor::Start, 13.0, &panel.title);
        drawing.text(x, y + 34.0, Anchor::Start, 11.0, &panel.note);
        let corner = (x, y + ABOVE);
        for (a, b) in [((0.0, 0.0), (1.0, 0.0)), ((1.0, 0.0), (1.0, 1.0))] {
            let end = |(u, v): (f64, f64)| (corner.0 + SIDE * u, corner.1 + SIDE * v);
            drawing.line(end(a), end(b), FAINT, 1.0, "");
            drawing.line(end((a.1, a.0)), end((b.1, b.0)), FAINT, 1.0, "");
        }
        let classes = panel.points.iter().map(|point| point.2 + 1).max().unwrap_or(0);
        for class in 0..classes {
            let colour = COLOURS[class % COLOURS.len()];
            let points = panel.points.iter().filter(|point| point.2 == class);
            let points: Vec<(i64, i64)> = points.map(|&(x, y, _)| (x, y)).collect();
            drawing.points(corner, SIDE / 1000.0, &points, colour);
            let key = x + 30.0 * class as f64;
            drawing.rect(key, y + 44.0, 8.0, 8.0, colour);
            drawing.text(key + 11.0, y + 52.0, Anchor::Start, 11.0, &class.to_string());
        }
        // Above all points.
        for class in 0..classes {
            let points = || panel.points.iter().filter(|point| point.2 == class);
            let middle = |of: fn(&(i64, i64, usize)) -> i64| {
                let mut numbers: Vec<i64> = points().map(of).collect();
                numbers.sort_unstable();
                numbers
                    .get(numbers.len() / 2)
                    .map(|number| *number as f64 * SIDE / 1000.0)
            };
            if let (Some(x), Some(y)) = (middle(|point| point.0), middle(|point| point.1)) {
                drawing.label(corner.0 + x, corner.1 + y, &class.to_string());
            }
        }
    }
    drawing.finish(title)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_is_drawn_in_its_panel_and_class() {
        let panel = |points: Vec<(i64, i64, usize)>| Panel {
            title: "a & b".into(),
            note: "10 neighbours".into(),
            points,
        };
        let panels = [
            panel(vec![(0, 0, 0), (1000, 500, 1), (7, 8, 1)]),
            panel(vec![(3, 4, 2)]),
            panel(Vec::new()),
        ];
        let file = maps("maps", &panels, 2);
        assert_eq!(file.matches("h0").count(), 4);
        assert!(file.contains("M1000 500h0M7 8h0"), "{file}");
        assert!(file.contains("M3 4h0") && file.contains("a &amp; b"));
        assert_eq!(file.matches("<g transform").count(), 3);
        assert_eq!(file.matches("10 neighbours").count(), 3);
        assert!(!file.contains("NaN"));
        assert!(maps("none", &[], 3).contains("<title>none</title>"));
    }
}
