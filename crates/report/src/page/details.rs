//! Details of classifiers: maps of embeddings, ranks, confusion matrices.

use super::cohort::Cohort;
use super::html::Page;
use super::words::thousands;
use crate::embedding::Embedding;
use crate::error::Result;
use crate::record::Ranks;
use crate::svg::{self, Chart};

/// Charts with captions.
type Figures = Vec<(Chart, String)>;

const MAP_WARNING: &str = "Near points have near embeddings; large distances, directions and the sizes of groups mean \
                           nothing in such a map.";

/// In separate sections, or in one if there are few.
pub(super) fn section(page: &mut Page, cohort: &Cohort<'_>) -> Result<()> {
    let maps = maps(
        cohort
            .methods
            .iter()
            .map(|method| (method.name.as_str(), method.embedding.as_ref())),
    )?;
    let ranks = ranks(cohort)?;
    let confusions = confusions(cohort)?;
    if maps.len() > 1 || ranks.len() > 1 || confusions.len() > 1 {
        map_section(page, &maps);
        for (title, figures) in [
            ("How many directions were kept", ranks),
            ("What was taken for what", confusions),
        ] {
            if !figures.is_empty() {
                page.heading(title);
                page.figures(&figures);
            }
        }
        return Ok(());
    }
    let mut figures = Vec::new();
    for (chart, caption) in maps {
        let title = format!("{}: where embeddings lie", chart.title());
        figures.push((chart.renamed(title), format!("{caption} {MAP_WARNING}")));
    }
    for (chart, caption) in confusions {
        let title = format!("{}: what was taken for what", chart.title());
        figures.push((chart.renamed(title), caption));
    }
    figures.extend(ranks);
    if !figures.is_empty() {
        page.heading("A closer look");
        page.figures(&figures);
    }
    Ok(())
}

/// Maps of embeddings, each under the name of its method.
pub(super) fn maps<'a>(
    embeddings: impl Iterator<Item = (&'a str, Option<&'a Embedding>)>,
) -> Result<Figures> {
    let mut figures = Vec::new();
    for (name, embedding) in embeddings {
        let Some(embedding) = embedding else { continue };
        if let Some(chart) = svg::map(name, embedding)? {
            figures.push((chart, map_caption(embedding)));
        }
    }
    Ok(figures)
}

/// Adds the figures under a heading.
pub(super) fn map_section(page: &mut Page, figures: &[(Chart, String)]) {
    if !figures.is_empty() {
        page.heading("Where embeddings lie");
        page.paragraph("dim small", MAP_WARNING);
        page.figures(figures);
    }
}

fn map_caption(embedding: &Embedding) -> String {
    let what = if embedding.subject.is_empty() {
        "rows"
    } else {
        &embedding.subject
    };
    let mut caption = String::new();
    if let Some(map) = &embedding.map {
        caption += &if map.x.len() < map.rows {
            format!("{} of {} {what}, drawn at random", map.x.len(), map.rows)
        } else {
            format!("{} {what}", map.x.len())
        };
        if !embedding.note.is_empty() {
            caption += &format!(" ({})", embedding.note);
        }
        if !map.method.is_empty() {
            caption += &format!("; {}", map.method);
        }
        caption.push('.');
    }
    caption
}

fn ranks(cohort: &Cohort<'_>) -> Result<Figures> {
    let mut figures = Vec::new();
    for method in &cohort.methods {
        for ranks in &method.ranks {
            if let Some(chart) = svg::ranks(ranks)? {
                let title = format!("{}: {}", method.name, chart.title());
                figures.push((chart.renamed(title), rank_caption(ranks)));
            }
        }
    }
    Ok(figures)
}

fn rank_caption(ranks: &Ranks) -> String {
    let counts = ranks.bins.iter().map(|bin| bin.graphs);
    let graphs = counts.fold(0, u64::saturating_add);
    let mean = ranks
        .bins
        .iter()
        .map(|bin| bin.rank as f64 * bin.graphs as f64)
        .sum::<f64>()
        / graphs as f64;
    let mut caption = format!("{} graphs, p = {mean:.1} on average", thousands(graphs));
    if let Some(columns) = ranks.columns {
        caption += &format!(" of {columns}");
    }
    let known = || {
        let share = ranks
            .bins
            .iter()
            .filter_map(|bin| Some((bin.captured?, bin.graphs as f64)));
        share.filter(|(share, _)| share.is_finite())
    };
    let weight: f64 = known().map(|(_, graphs)| graphs).sum();
    if weight > 0.0 {
        let share = known().map(|(share, graphs)| share * graphs).sum::<f64>() / weight;
        caption += &format!(
            "; they capture {:.1}% of the sum of the singular values",
            100.0 * share
        );
    }
    caption.push('.');
    caption
}

fn confusions(cohort: &Cohort<'_>) -> Result<Figures> {
    let mut figures = Vec::new();
    for method in &cohort.methods {
        let Some(confusion) = &method.confusion else {
            continue;
        };
        if let Some(chart) = svg::confusion(confusion)? {
            let caption = "Test parts of all runs together; shaded by the share of the row.";
            figures.push((chart.renamed(method.name.clone()), caption.to_owned()));
        }
    }
    Ok(figures)
}
