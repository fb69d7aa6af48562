//! A chart as SVG, to put into a page or to write as a file.

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::ink::{self, Ink};
use super::pixels::{FINE, to_pixel_count, to_subpixels};
use crate::error::{Error, Result};
use crate::page::escape;

pub(crate) type Canvas<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// A chart as SVG. Hovering shows values where the page or the viewer does.
///
/// ```
/// use egg_report::{Ranks, RankBin, svg};
///
/// let bins = vec![RankBin { rank: 3, graphs: 40, captured: Some(0.9) }];
/// let chart = svg::ranks(&Ranks { bins, ..Ranks::default() }).unwrap().unwrap();
/// assert!(chart.standalone().starts_with("<svg"));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    width: u32,
    height: u32,
    title: String,
    body: String,
}

/// An area that shows a text when a pointer is over it.
#[derive(Debug, Clone)]
pub(crate) struct Hit {
    pub(crate) shape: HitShape,
    pub(crate) words: String,
}

/// In fine pixels.
#[derive(Debug, Clone, Copy)]
pub(crate) enum HitShape {
    Circle { x: i32, y: i32, radius: i32 },
    Rectangle { x: i32, y: i32, width: i32, height: i32 },
}

impl Chart {
    /// Draws on a canvas of `width` x `height` pixels; `draw` returns what to
    /// show on hovering.
    pub(crate) fn draw(
        title: impl Into<String>,
        (width, height): (u32, u32),
        draw: impl FnOnce(&Canvas<'_>) -> std::result::Result<Vec<Hit>, String>,
    ) -> Result<Self> {
        let title = capital(&title.into());
        let mut svg = String::new();
        let size = (width * FINE as u32, height * FINE as u32);
        let hits = {
            let canvas = SVGBackend::with_string(&mut svg, size).into_drawing_area();
            let hits = draw(&canvas).and_then(|hits| {
                canvas.present().map_err(|error| error.to_string())?;
                Ok(hits)
            });
            hits.map_err(|message| Error::Drawing {
                chart: title.clone(),
                message,
            })?
        };
        // Without the `svg` element itself, which depends on where the chart is put.
        let inner = svg.find('>').map_or("", |end| &svg[end + 1..]);
        let inner = inner.trim_end().strip_suffix("</svg>").unwrap_or(inner);
        let mut body = compact(&ink::replace_stand_ins(inner));
        if !hits.is_empty() {
            body += "<g class=\"hits\" fill=\"#000\" fill-opacity=\"0\">";
            for hit in hits {
                let words = escape(&hit.words);
                body += &match hit.shape {
                    HitShape::Circle { x, y, radius } => {
                        format!(
                            "<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\"><title>{words}</title></circle>\n"
                        )
                    }
                    HitShape::Rectangle { x, y, width, height } => format!(
                        "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"><title>{words}</title></rect>\n"
                    ),
                };
            }
            body += "</g>";
        }
        Ok(Self {
            width,
            height,
            title,
            body,
        })
    }

    /// What it shows, in a few words.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// The same under another title.
    pub fn renamed(&self, title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            ..self.clone()
        }
    }

    /// For a page that has the style sheet.
    pub(crate) fn inline(&self) -> String {
        format!(
            "<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">{}</svg>",
            to_subpixels(self.width),
            to_subpixels(self.height),
            escape(&self.title),
            self.body
        )
    }

    /// As a file of its own, light or dark as its reader prefers.
    pub fn standalone(&self) -> String {
        side_by_side(&[self], 1)
    }
}

/// Several charts as one file, in rows of `columns`, each under its title.
///
/// ```
/// use egg_report::{RankBin, Ranks, svg};
/// let bins = vec![RankBin { rank: 3, graphs: 40, captured: None }];
/// let chart = svg::ranks(&Ranks { bins, ..Ranks::default() }).unwrap().unwrap();
/// let file = svg::side_by_side(&[&chart, &chart], 2);
/// assert_eq!(file.matches("<title>").count(), 4);
/// ```
pub fn side_by_side(charts: &[&Chart], columns: usize) -> String {
    const TITLE: u32 = 26;
    let columns = columns.clamp(1, charts.len().max(1));
    let width = charts.iter().map(|chart| chart.width).max().unwrap_or(1);
    let heights: Vec<u32> = charts
        .chunks(columns)
        .map(|row| {
            row.iter()
                .map(|chart| chart.height)
                .max()
                .unwrap_or(0)
                .saturating_add(TITLE)
        })
        .collect();
    let total_width = width.saturating_mul(to_pixel_count(columns));
    let total_height = heights
        .iter()
        .fold(0, |sum: u32, height| sum.saturating_add(*height));
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{total_width}\" height=\"{total_height}\" \
         viewBox=\"0 0 {} {}\" font-family=\"system-ui, sans-serif\">\n<style>\n{}</style>\n\
         <rect width=\"100%\" height=\"100%\" class=\"f-surface\" fill=\"#ffffff\"/>\n",
        to_subpixels(total_width),
        to_subpixels(total_height),
        ink::style_sheet("svg"),
    );
    let mut top = 0;
    for (row, height) in charts.chunks(columns).zip(&heights) {
        for (column, chart) in row.iter().enumerate() {
            svg += &format!(
                "<g transform=\"translate({} {})\" role=\"img\"><title>{title}</title>\
                 <text x=\"{}\" y=\"180\" font-size=\"145\" font-weight=\"600\" text-anchor=\"middle\" \
                 class=\"f-text\" fill=\"#1b1f24\">{title}</text>\
                 <g transform=\"translate(0 {})\">{}</g></g>\n",
                to_subpixels(width.saturating_mul(to_pixel_count(column))),
                to_subpixels(top),
                to_subpixels(chart.width) / 2,
                to_subpixels(TITLE),
                chart.body,
                title = escape(&chart.title),
            );
        }
        top = top.saturating_add(*height);
    }
    svg + "</svg>\n"
}

/// Removes attributes that the backend repeats and the style sheet sets once.
fn compact(svg: &str) -> String {
    svg.replace(" opacity=\"1\"", "")
        .replace(" font-family=\"sans-serif\"", "")
        .replace(" stroke=\"none\" stroke-width=\"1\"", "")
        .replace(" fill=\"none\" stroke=\"none\"", " fill=\"none\"")
        .replace(" \"/>", "\"/>")
        .replace(">\n", ">")
        .replace("\n</text>", "</text>")
        .replace("><", ">\n<")
}

/// A font of `size` pixels.
pub(crate) fn font(pixels: f64, ink: Ink) -> TextStyle<'static> {
    // The backend divides by 1.24.
    let size = pixels * f64::from(FINE) * 1.24;
    ("sans-serif", size).into_font().color(&ink.stand_in())
}

/// The same, placed by its middle, its left or its right end.
pub(crate) fn anchored(pixels: f64, ink: Ink, horizontal: HPos, vertical: VPos) -> TextStyle<'static> {
    font(pixels, ink).pos(Pos::new(horizontal, vertical))
}

/// A line, its width in tenths of a pixel.
pub(crate) fn stroke(ink: Ink, width: u32) -> ShapeStyle {
    ShapeStyle {
        color: ink.stand_in().to_rgba(),
        filled: false,
        stroke_width: width,
    }
}

/// A filled shape.
pub(crate) fn filled(ink: Ink, opacity: f64) -> ShapeStyle {
    ShapeStyle {
        color: ink.stand_in().mix(opacity),
        filled: true,
        stroke_width: 1,
    }
}

/// Truncates to a number of characters.
pub(crate) fn shorten(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(most.saturating_sub(1)).collect();
    short.push('\u{2026}');
    short
}

/// Capitalises the first letter.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}
