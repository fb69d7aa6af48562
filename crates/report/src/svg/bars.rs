//! The histogram of ranks, and the share of the spectrum that they capture.

use plotters::prelude::*;

use super::chart::{Canvas, Chart, Hit, HitShape, filled, stroke};
use super::ink::Ink;
use super::lines::frame;
use super::marker;
use super::pixels::to_subpixels;
use super::scale::{Scale, Unit};
use crate::error::Result;
use crate::record::{RankBin, Ranks};

/// The histogram of ranks p, under the share of the singular values that they
/// capture.
///
/// # Errors
/// If it can't be drawn.
pub fn ranks(ranks: &Ranks) -> Result<Option<Chart>> {
    const WIDTH: u32 = 440;
    const SHARES: u32 = 96;
    const BARS: u32 = 200;
    const LEFT: u32 = 56;
    let mut bins: Vec<RankBin> = ranks.bins.iter().copied().filter(|bin| bin.graphs > 0).collect();
    bins.sort_by_key(|bin| bin.rank);
    let (Some(first), Some(last)) = (bins.first(), bins.last()) else {
        return Ok(None);
    };
    // A larger number is damage, not a rank.
    if last.rank > 1_000_000_000 {
        return Ok(None);
    }
    let (low, high) = (first.rank as f64 - 0.7, last.rank as f64 + 0.7);
    let x = Scale::new(first.rank as f64, last.rank as f64, Unit::Whole, 9).trimmed(low, high);
    let most = bins.iter().map(|bin| bin.graphs).max().unwrap_or(1);
    let y = Scale::new(0.0, most as f64, Unit::Whole, 4).trimmed(0.0, 1.06 * most as f64);
    let captured = |bin: &RankBin| bin.captured.filter(|share| (0.0..=1.0).contains(share));
    let least = bins.iter().filter_map(captured).fold(1.0, f64::min);
    let room = (0.1 * (1.0 - least)).max(0.005);
    let shares = Some(Scale::new(least, 1.0, Unit::Percent, 2).trimmed(least - room, 1.0 + room));
    let shares = shares.filter(|_| bins.iter().any(|bin| captured(bin).is_some()));
    let above = if shares.is_some() { SHARES } else { 0 };
    // Wide enough to be visible for any range of ranks.
    let half = 0.4f64.max((high - low) / 400.0);
    let total: u128 = bins.iter().map(|bin| u128::from(bin.graphs)).sum();
    let draw = |canvas: &Canvas<'_>| {
        let (upper, lower) = canvas.split_vertically(to_subpixels(above));
        if let Some(shares) = &shares {
            let bare = x.clone().without_ticks();
            let chart = frame(&upper, (&bare, ""), (shares, "captured (%)"), LEFT)?;
            for bin in &bins {
                if let Some(share) = captured(bin) {
                    let place = chart.backend_coord(&(bin.rank as f64, share));
                    marker::draw(canvas, Some(1), place, 3.2, 1.0)?;
                }
            }
        }
        let mut chart = frame(&lower, (&x, "rank p (directions kept)"), (&y, "graphs"), LEFT)?;
        let mut hits = Vec::new();
        for bin in &bins {
            let (rank, graphs) = (bin.rank as f64, bin.graphs as f64);
            let corners = [(rank - half, 0.0), (rank + half, graphs)];
            let bar = Rectangle::new(corners, filled(Ink::Series(0), 0.85));
            chart.draw_series([bar]).map_err(|error| error.to_string())?;
            let (left, _) = chart.backend_coord(&corners[0]);
            let (right, _) = chart.backend_coord(&corners[1]);
            let share = 100.0 * bin.graphs as f64 / total as f64;
            let mut words = format!("p = {}: {} graphs ({share:.1}%)", bin.rank, bin.graphs);
            if let Some(share) = captured(bin) {
                words += &format!("\ncaptured: {}%", Unit::Percent.show(share));
            }
            hits.push(Hit {
                shape: HitShape::Rectangle {
                    x: left,
                    y: to_subpixels(8),
                    width: (right - left).max(10),
                    height: to_subpixels(above + BARS - 48),
                },
                words,
            });
        }
        let base = PathElement::new(vec![(x.low, 0.0), (x.high, 0.0)], stroke(Ink::Muted, 10));
        chart.draw_series([base]).map_err(|error| error.to_string())?;
        Ok(hits)
    };
    let title = if ranks.name.is_empty() {
        "ranks p".to_owned()
    } else {
        format!("ranks p, {}", ranks.name)
    };
    Chart::draw(title, (WIDTH, above + BARS), draw).map(Some)
}
