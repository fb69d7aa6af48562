//! Ratios as bars on a logarithmic axis: twice as fast is as far from 1 as half as
//! fast.

use super::axis::{Axis, label};
use super::drawing::{Anchor, BLUE, Drawing, FAINT, INK, LETTER, TEXT, VERMILION};

pub(in super::super) struct Bar {
    pub(in super::super) label: String,
    pub(in super::super) ratio: f64,
    /// What the ratio would be if the one side had its worst time and the other its best.
    pub(in super::super) spread: Option<(f64, f64)>,
    pub(in super::super) target: Option<f64>,
}

const ROW: f64 = 22.0;
const BAR: f64 = 12.0;
const PLOT: f64 = 460.0;
const TOP: f64 = 74.0;

/// A chart of ratios other / ours of times.
pub(in super::super) fn bars(title: &str, bars: &[Bar]) -> String {
    let about = [
        "Times as fast as the other side, of medians. Right of 1 (blue): ours is faster; left (orange): slower.",
        "Thin line: from our worst round against their best to the reverse. Black mark: the target.",
    ];
    bars_about(title, &about, bars)
}

/// A chart of ratios, with lines that say of what.
pub(in super::super) fn bars_about(title: &str, about: &[&str], bars: &[Bar]) -> String {
    let longest = bars
        .iter()
        .map(|bar| bar.label.chars().count())
        .max()
        .unwrap_or(0);
    let left = 16.0 + longest as f64 * TEXT * LETTER;
    let right = left + PLOT;
    let bottom = TOP + bars.len() as f64 * ROW;
    let numbers = bars.iter().flat_map(|bar| {
        let (low, high) = bar.spread.unwrap_or((bar.ratio, bar.ratio));
        [bar.ratio, low, high, bar.target.unwrap_or(1.0)]
    });
    let axis = Axis::over(numbers.chain([1.0]), true, left, right);

    let mut drawing = Drawing::new((right + 64.0).max(640.0), bottom + 34.0);
    drawing.text(12.0, 22.0, Anchor::Start, 15.0, title);
    for (at, line) in about.iter().enumerate() {
        drawing.text(12.0, 40.0 + 15.0 * at as f64, Anchor::Start, 11.0, line);
    }
    for mark in axis.marks() {
        let x = axis.at(mark);
        drawing.line((x, TOP - 4.0), (x, bottom), FAINT, 1.0, "");
        drawing.text(x, bottom + 16.0, Anchor::Middle, 11.0, &label(mark));
    }
    for (row, bar) in bars.iter().enumerate() {
        let middle = TOP + (row as f64 + 0.5) * ROW;
        drawing.text(left - 8.0, middle + 4.0, Anchor::End, TEXT, &bar.label);
        let (one, end) = (axis.at(1.0), axis.at(bar.ratio));
        let colour = if bar.ratio >= 1.0 { BLUE } else { VERMILION };
        drawing.rect(
            one.min(end),
            middle - BAR / 2.0,
            (end - one).abs().max(1.0),
            BAR,
            colour,
        );
        if let Some((low, high)) = bar.spread {
            drawing.line((axis.at(low), middle), (axis.at(high), middle), INK, 1.2, "");
        }
        if let Some(target) = bar.target {
            let x = axis.at(target);
            drawing.line((x, middle - 9.0), (x, middle + 9.0), INK, 2.5, "");
        }
        drawing.text(
            right + 8.0,
            middle + 4.0,
            Anchor::Start,
            TEXT,
            &format!("{:.2}", bar.ratio),
        );
    }
    drawing.line((axis.at(1.0), TOP - 4.0), (axis.at(1.0), bottom), INK, 1.0, "");
    drawing.finish(title)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_comparison_has_a_bar_a_spread_and_its_target() {
        let bar = |label: &str, ratio| Bar {
            label: label.into(),
            ratio,
            spread: Some((ratio / 2.0, ratio * 2.0)),
            target: Some(3.0),
        };
        let file = bars("train", &[bar("GCN-EGG", 5.5), bar("batch norm", 0.9)]);
        assert!(file.contains(">GCN-EGG</text>") && file.contains(">5.50</text>"));
        assert_eq!(file.matches(&format!("fill=\"{BLUE}\"")).count(), 1);
        assert_eq!(file.matches(&format!("fill=\"{VERMILION}\"")).count(), 1);
        assert_eq!(file.matches("stroke-width=\"2.5\"").count(), 2);
        assert_eq!(file.matches("stroke-width=\"1.2\"").count(), 2);
        assert!(!file.contains("NaN"));
        assert!(bars("nothing", &[]).ends_with("</svg>\n"));
    }
}
