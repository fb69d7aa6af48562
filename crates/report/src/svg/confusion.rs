//! Confusion matrices.

use plotters::prelude::*;
use plotters::style::FontTransform;
use plotters::style::text_anchor::{HPos, VPos};

use super::chart::{Canvas, Chart, Hit, HitShape, anchored, filled, shorten};
use super::ink::Ink;
use super::pixels::{to_pixel_count, to_subpixels};
use crate::error::Result;
use crate::record::Confusion;

/// A row for each class, a column for each prediction, shaded by the share of
/// the row; `None` for more than 24 classes, which no one could read.
///
/// # Errors
/// If it can't be drawn.
pub fn confusion(confusion: &Confusion) -> Result<Option<Chart>> {
    const TOP: u32 = 44;
    let columns = confusion.counts.iter().map(Vec::len).max().unwrap_or(0);
    let side = confusion.counts.len().max(columns);
    let count = |truth: usize, guess: usize| {
        let row = confusion.counts.get(truth);
        row.and_then(|row| row.get(guess)).copied().unwrap_or(0)
    };
    let total = |truth: usize| {
        (0..side)
            .map(|guess| u128::from(count(truth, guess)))
            .sum::<u128>()
    };
    if side == 0 || side > 24 || (0..side).all(|truth| total(truth) == 0) {
        return Ok(None);
    }
    let cell = (312 / to_pixel_count(side)).clamp(22, 78);
    let text = if cell >= 56 {
        13.0
    } else if cell >= 36 {
        10.5
    } else {
        7.5
    };
    let name = |class: usize| match confusion.classes.get(class) {
        Some(name) if !name.is_empty() => name.clone(),
        _ => format!("class {class}"),
    };
    let longest = (0..side)
        .map(|class| name(class).chars().count())
        .max()
        .unwrap_or(0);
    let left = (24 + to_pixel_count(longest) * 13 / 2).clamp(44, 112);
    let draw = |canvas: &Canvas<'_>| {
        let write = |words: String, place: (u32, u32), style: TextStyle<'_>| {
            let text = Text::new(words, (to_subpixels(place.0), to_subpixels(place.1)), style);
            canvas.draw(&text).map_err(|error| error.to_string())
        };
        let small = |horizontal| anchored(11.0, Ink::Muted, horizontal, VPos::Center);
        write(
            "predicted".to_owned(),
            (left + to_pixel_count(side) * cell / 2, 10),
            small(HPos::Center),
        )?;
        let upright = small(HPos::Center).transform(FontTransform::Rotate270);
        write(
            "true class".to_owned(),
            (8, TOP + to_pixel_count(side) * cell / 2),
            upright,
        )?;
        let fits = (cell as usize * 10 / 62).max(3);
        let mut hits = Vec::new();
        for class in 0..side {
            let middle = to_pixel_count(class) * cell + cell / 2;
            let style = anchored(11.0, Ink::Text, HPos::Right, VPos::Center);
            write(shorten(&name(class), 14), (left - 7, TOP + middle), style)?;
            let style = anchored(11.0, Ink::Text, HPos::Center, VPos::Center);
            write(shorten(&name(class), fits), (left + middle, TOP - 10), style)?;
        }
        for truth in 0..side {
            for guess in 0..side {
                let share = count(truth, guess) as f64 / (total(truth) as f64).max(1.0);
                let (x, y) = (
                    left + to_pixel_count(guess) * cell,
                    TOP + to_pixel_count(truth) * cell,
                );
                let corners = [
                    (to_subpixels(x) + 5, to_subpixels(y) + 5),
                    (to_subpixels(x + cell) - 5, to_subpixels(y + cell) - 5),
                ];
                for style in [filled(Ink::Grid, 0.45), filled(Ink::Series(0), share)] {
                    let shade = Rectangle::new(corners, style);
                    canvas.draw(&shade).map_err(|error| error.to_string())?;
                }
                let ink = if share > 0.55 { Ink::Surface } else { Ink::Text };
                let (middle, half) = (x + cell / 2, y + cell / 2);
                let lift = if cell >= 44 { 7 } else { 0 };
                let style = anchored(text, ink, HPos::Center, VPos::Center);
                write(count(truth, guess).to_string(), (middle, half - lift), style)?;
                if cell >= 44 {
                    let style = anchored(text - 2.5, ink, HPos::Center, VPos::Center);
                    write(format!("{:.0}%", 100.0 * share), (middle, half + 9), style)?;
                }
                hits.push(Hit {
                    shape: HitShape::Rectangle {
                        x: to_subpixels(x),
                        y: to_subpixels(y),
                        width: to_subpixels(cell),
                        height: to_subpixels(cell),
                    },
                    words: format!(
                        "{} taken for {}: {} of {} ({:.1}%)",
                        name(truth),
                        name(guess),
                        count(truth, guess),
                        total(truth),
                        100.0 * share
                    ),
                });
            }
        }
        Ok(hits)
    };
    let (width, height) = (
        left + to_pixel_count(side) * cell + 12,
        TOP + to_pixel_count(side) * cell + 8,
    );
    Chart::draw("confusion matrix", (width.max(300), height), draw).map(Some)
}
