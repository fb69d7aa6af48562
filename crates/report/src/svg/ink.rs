//! Colours by meaning, so that a page can choose light or dark ones.
//!
//! Charts are drawn in colours that stand for an [`Ink`]; afterwards each is
//! replaced by its light value and a class that a style sheet may override. Without a style sheet
//! the light values apply.
//!
//! Series have the colours of Okabe and Ito, which most colour-blind readers
//! can distinguish, in an order in which neighbours differ in lightness too;
//! lines also differ in dashes and points in shape.

use plotters::style::RGBColor;

/// The meaning of a colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ink {
    /// Main text.
    Text,
    /// Secondary text.
    Muted,
    /// Grid lines.
    Grid,
    /// The background.
    Surface,
    /// The n-th series.
    Series(usize),
    /// The n-th series, dashed.
    Dashed(usize),
}

/// How many colours there are for series.
pub(crate) const SERIES: usize = 8;

/// Name of the class, light value, dark value.
const FIXED: [(&str, &str, &str); 4] = [
    ("text", "#1b1f24", "#e8eaed"),
    ("muted", "#57606a", "#a0a7b1"),
    ("grid", "#e2e5e9", "#343a42"),
    ("surface", "#ffffff", "#16191d"),
];
const COLOURS: [(&str, &str, &str); SERIES] = [
    ("s0", "#0072b2", "#4aa8e8"),
    ("s1", "#d55e00", "#ff8c42"),
    ("s2", "#009e73", "#2fc99a"),
    ("s3", "#b8578f", "#e8a0c8"),
    ("s4", "#c98a00", "#f2bd4b"),
    ("s5", "#3ba3e0", "#9ad4fb"),
    ("s6", "#5b5f66", "#b9bec6"),
    ("s7", "#5e4fa2", "#ab9df2"),
];

fn inks() -> impl Iterator<Item = (Ink, (&'static str, &'static str, &'static str))> {
    let fixed = [Ink::Text, Ink::Muted, Ink::Grid, Ink::Surface]
        .into_iter()
        .zip(FIXED);
    let series = COLOURS.into_iter().enumerate();
    let dashed = series.clone().map(|(i, colour)| (Ink::Dashed(i), colour));
    fixed
        .chain(series.map(|(i, colour)| (Ink::Series(i), colour)))
        .chain(dashed)
}

/// The position among the colours, as a fraction.
fn series(i: usize) -> u8 {
    u8::try_from(i % SERIES).unwrap_or(0)
}

impl Ink {
    /// The stand-in colour that it is drawn in.
    pub(crate) fn stand_in(self) -> RGBColor {
        match self {
            Self::Text => RGBColor(1, 0, 0),
            Self::Muted => RGBColor(1, 0, 1),
            Self::Grid => RGBColor(1, 0, 2),
            Self::Surface => RGBColor(1, 0, 3),
            Self::Series(i) => RGBColor(2, 0, series(i)),
            Self::Dashed(i) => RGBColor(3, 0, series(i)),
        }
    }
}

/// Replaces stand-ins in attributes. Text can't be taken for one: its quotation
/// marks are escaped.
pub(crate) fn replace_stand_ins(svg: &str) -> String {
    let mut svg = svg.to_owned();
    for (ink, (class, light, _)) in inks() {
        let RGBColor(r, g, b) = ink.stand_in();
        let dash = match ink {
            Ink::Dashed(_) => " stroke-dasharray=\"50 36\"",
            _ => "",
        };
        for (attribute, kind) in [("fill", "f"), ("stroke", "l")] {
            let stand_in = format!("{attribute}=\"#{r:02X}{g:02X}{b:02X}\"");
            if svg.contains(&stand_in) {
                let colour = format!("class=\"{kind}-{class}\" {attribute}=\"{light}\"{dash}");
                svg = svg.replace(&stand_in, &colour);
            }
        }
    }
    svg
}

/// The rules of all classes, for `scope` (as `:root` or `svg`).
pub(crate) fn style_sheet(scope: &str) -> String {
    let colours = || FIXED.into_iter().chain(COLOURS);
    let mut sheet = String::new();
    for (dark, before, after) in [
        (false, "", ""),
        (true, "@media screen and (prefers-color-scheme: dark){", "}"),
    ] {
        sheet += before;
        sheet += scope;
        sheet += "{";
        for (class, light, dark_value) in colours() {
            let value = if dark { dark_value } else { light };
            sheet += &format!("--{class}:{value};");
        }
        sheet += "}";
        sheet += after;
        sheet += "\n";
    }
    for (class, ..) in colours() {
        sheet += &format!(".f-{class}{{fill:var(--{class})}}.l-{class}{{stroke:var(--{class})}}");
    }
    sheet + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stand_in_colours_are_distinct_and_all_replaced() {
        let mut seen = std::collections::BTreeSet::new();
        let mut svg = String::new();
        for (ink, _) in inks() {
            let RGBColor(r, g, b) = ink.stand_in();
            assert!(seen.insert((r, g, b)), "{ink:?}");
            svg +=
                &format!("<line stroke=\"#{r:02X}{g:02X}{b:02X}\"/><text fill=\"#{r:02X}{g:02X}{b:02X}\"/>");
        }
        let replaced = replace_stand_ins(&svg);
        for (r, g, b) in &seen {
            assert!(
                !replaced.contains(&format!("#{r:02X}{g:02X}{b:02X}")),
                "{replaced}"
            );
        }
        assert_eq!(replaced.matches("class=").count(), 2 * seen.len());
    }
}
