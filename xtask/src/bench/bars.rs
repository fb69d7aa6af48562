//! Ratios as bars on a logarithmic axis, as SVG: twice as fast is as far from 1 as half as fast.

/// One comparison.
pub(super) struct Bar {
    pub(super) label: String,
    pub(super) ratio: f64,
    /// What the ratio would be if the one side had its worst time and the other its best.
    pub(super) spread: Option<(f64, f64)>,
    pub(super) target: Option<f64>,
}

const ROW: f64 = 22.0;
const PLOT: f64 = 460.0;
const TOP: f64 = 74.0;
/// Blue and orange that people who see fewer colours can distinguish too; no colour says what its place doesn't.
const FASTER: &str = "#0072B2";
const SLOWER: &str = "#D55E00";

/// A chart of ratios, with lines that say of what.
pub(super) fn bars(title: &str, about: &[&str], bars: &[Bar]) -> String {
    let longest = bars.iter().map(|bar| bar.label.chars().count()).max();
    let left = 16.0 + longest.unwrap_or(0) as f64 * 6.7;
    let (width, bottom) = ((left + PLOT + 64.0).max(640.0), TOP + bars.len() as f64 * ROW);
    let numbers = bars.iter().flat_map(|bar| {
        let (low, high) = bar.spread.unwrap_or((bar.ratio, bar.ratio));
        [bar.ratio, low, high, bar.target.unwrap_or(1.0)]
    });
    let logs = numbers.map(f64::log10).filter(|log| log.is_finite());
    let (low, high) = logs.fold((-0.05f64, 0.05f64), |(low, high), log| {
        (low.min(log), high.max(log))
    });
    let at = |number: f64| left + 0.04 * PLOT + (number.log10() - low) / (high - low) * 0.92 * PLOT;

    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{:.0}\" role=\"img\" \
         font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\" fill=\"#222222\">\n<title>{}</title>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
        bottom + 34.0,
        escaped(title)
    );
    let text = |x: f64, y: f64, anchor: &str, text: &str| {
        let text = escaped(text);
        format!("<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{text}</text>\n")
    };
    let line = |x: (f64, f64), y: (f64, f64), pen: &str| {
        let (x1, x2, y1, y2) = (x.0, x.1, y.0, y.1);
        format!("<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" {pen}/>\n")
    };
    svg += &text(12.0, 22.0, "start", title);
    for (row, words) in about.iter().enumerate() {
        svg += &text(12.0, 40.0 + 15.0 * row as f64, "start", words);
    }
    let marks = (low.floor() as i32..=high.ceil() as i32)
        .flat_map(|power| [1.0, 2.0, 5.0].map(|factor| factor * 10f64.powi(power)));
    for mark in marks.filter(|mark| (low - 0.02..=high + 0.02).contains(&mark.log10())) {
        let x = at(mark);
        svg += &line((x, x), (TOP - 4.0, bottom), r##"stroke="#d9d9d9""##);
        svg += &text(x, bottom + 16.0, "middle", &mark.to_string());
    }
    let one = at(1.0);
    for (row, bar) in bars.iter().enumerate() {
        let (end, middle) = (at(bar.ratio), TOP + (row as f64 + 0.5) * ROW);
        svg += &text(left - 8.0, middle + 4.0, "end", &bar.label);
        let (x, y, width) = (one.min(end), middle - 6.0, (end - one).abs().max(1.0));
        let colour = if bar.ratio >= 1.0 { FASTER } else { SLOWER };
        svg += &format!(
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"12\" fill=\"{colour}\"/>\n"
        );
        if let Some((low, high)) = bar.spread {
            let pen = r##"stroke="#222222" stroke-width="1.2""##;
            svg += &line((at(low), at(high)), (middle, middle), pen);
        }
        if let Some(x) = bar.target.map(at) {
            let pen = r##"stroke="#222222" stroke-width="2.5""##;
            svg += &line((x, x), (middle - 9.0, middle + 9.0), pen);
        }
        svg += &text(
            left + PLOT + 8.0,
            middle + 4.0,
            "start",
            &format!("{:.2}", bar.ratio),
        );
    }
    svg += &line((one, one), (TOP - 4.0, bottom), r##"stroke="#222222""##);
    svg + "</svg>\n"
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;")
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
        let file = bars("train", &[], &[bar("GCN-EGG", 5.5), bar("a < b", 0.9)]);
        assert!(file.contains(">GCN-EGG</text>") && file.contains(">5.50</text>"));
        assert!(file.contains(">a &lt; b</text>"));
        assert_eq!(file.matches(&format!("fill=\"{FASTER}\"")).count(), 1);
        assert_eq!(file.matches(&format!("fill=\"{SLOWER}\"")).count(), 1);
        assert_eq!(file.matches("stroke-width=\"2.5\"").count(), 2);
        assert_eq!(file.matches("stroke-width=\"1.2\"").count(), 2);
        assert!(!file.contains("NaN"));
        assert!(bars("nothing", &[], &[]).ends_with("</svg>\n"));
    }
}
