//! Paper and pen.

use std::fmt::Write;

pub(super) const INK: &str = "#222222";
pub(super) const FAINT: &str = "#d9d9d9";
pub(super) const BLUE: &str = "#0072B2";
pub(super) const VERMILION: &str = "#D55E00";
/// In the order in which series get them.
pub(super) const COLOURS: [&str; 7] = [BLUE, VERMILION, "#009E73", "#CC79A7", "#E69F00", "#56B4E9", INK];

/// How wide a letter is at most, about, in sizes of the text.
pub(super) const LETTER: f64 = 0.56;

#[derive(Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

pub(super) struct Drawing {
    width: f64,
    height: f64,
    body: String,
}

impl Drawing {
    pub(super) fn new(width: f64, height: f64) -> Self {
        Self {
            width,
            height,
            body: String::new(),
        }
    }

    pub(super) fn text(&mut self, x: f64, y: f64, anchor: Anchor, size: f64, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let text = escaped(text);
        let _ = writeln!(
            self.body,
            r#"<text x="{x:.1}" y="{y:.1}" text-anchor="{anchor}" font-size="{size}" fill="{INK}">{text}</text>"#
        );
    }

    pub(super) fn line(&mut self, from: (f64, f64), to: (f64, f64), colour: &str, width: f64, dashes: &str) {
        let _ = writeln!(
            self.body,
            r#"<line x1="{:.1}" y1="{:.1}" x2="{:.1}" y2="{:.1}" stroke="{colour}" stroke-width="{width}" stroke-dasharray="{dashes}"/>"#,
            from.0, from.1, to.0, to.1
        );
    }

    pub(super) fn rect(&mut self, x: f64, y: f64, width: f64, height: f64, colour: &str) {
        let _ = writeln!(
            self.body,
            r#"<rect x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{height:.1}" fill="{colour}"/>"#
        );
    }

    pub(super) fn dot(&mut self, (x, y): (f64, f64), colour: &str) {
        let _ = writeln!(
            self.body,
            r#"<circle cx="{x:.1}" cy="{y:.1}" r="3.5" fill="{colour}"/>"#
        );
    }

    /// Many small dots: one path, so that thousands make a file of some kilobytes.
    pub(super) fn points(&mut self, corner: (f64, f64), scale: f64, points: &[(i64, i64)], colour: &str) {
        if points.is_empty() {
            return;
        }
        let _ = write!(
            self.body,
            r#"<g transform="translate({:.1} {:.1}) scale({scale})"><path d=""#,
            corner.0, corner.1
        );
        for (x, y) in points {
            let _ = write!(self.body, "M{x} {y}h0");
        }
        let _ = writeln!(
            self.body,
            r#"" fill="none" stroke="{colour}" stroke-width="{:.0}" stroke-linecap="round" stroke-opacity="0.55"/></g>"#,
            2.6 / scale
        );
    }

    /// A word that can be read on top of anything.
    pub(super) fn label(&mut self, x: f64, y: f64, text: &str) {
        let text = escaped(text);
        let _ = writeln!(
            self.body,
            r##"<text x="{x:.1}" y="{:.1}" text-anchor="middle" font-size="13" font-weight="bold" fill="{INK}" stroke="#ffffff" stroke-width="3" paint-order="stroke">{text}</text>"##,
            y + 4.5
        );
    }

    pub(super) fn path(&mut self, points: &[(f64, f64)], colour: &str, dashes: &str) {
        let points: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let points = points.join(" ");
        let _ = writeln!(
            self.body,
            r#"<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dashes}"/>"#
        );
    }

    pub(super) fn area(&mut self, points: &[(f64, f64)], colour: &str) {
        let points: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let points = points.join(" ");
        let _ = writeln!(
            self.body,
            r#"<polygon points="{points}" fill="{colour}" fill-opacity="0.18"/>"#
        );
    }

    /// The whole file; `title` is what screen readers say.
    pub(super) fn finish(self, title: &str) -> String {
        let Self { width, height, body } = self;
        let title = escaped(title);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" height=\"{height:.0}\" \
             font-family=\"Helvetica, Arial, sans-serif\" role=\"img\">\n<title>{title}</title>\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n{body}</svg>\n"
        )
    }
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_escaped() {
        let mut drawing = Drawing::new(10.0, 10.0);
        drawing.text(1.0, 1.0, Anchor::Start, 12.0, "a < b & \"c\"");
        let file = drawing.finish("<title>");
        assert!(file.contains("a &lt; b &amp; &quot;c&quot;"));
        assert!(file.contains("<title>&lt;title&gt;</title>"));
    }
}
