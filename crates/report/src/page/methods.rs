//! Classifiers: table, curves, maps, ranks, confusion.

use super::cohort::Cohort;
use super::html::{Page, escape, figure, named, table};
use super::words::{in_short, plus_minus, probability, thousands};
use crate::embedding::Embedding;
use crate::error::Result;
use crate::estimate::Estimate;
use crate::record::{Method, Ranks};
use crate::significance::{Comparison, Verdict, compare, holm};
use crate::svg::{self, Unit};

/// The test scores of each method.
pub(super) fn tests(cohort: &Cohort<'_>) -> (Vec<Estimate>, Unit) {
    let estimate = |method: &Method| {
        let scores: Vec<f64> = method
            .repetitions
            .iter()
            .filter_map(|repetition| repetition.test)
            .collect();
        Estimate::of(&scores, cohort.record.ddof)
    };
    let unit = svg::unit(&cohort.methods);
    (cohort.methods.iter().map(estimate).collect(), unit)
}

/// Each method against the reference, with Holm's probability.
pub(super) fn compared(cohort: &Cohort<'_>) -> Vec<Option<(Comparison, f64, Verdict)>> {
    let reference = cohort.reference();
    let comparisons: Vec<Option<Comparison>> = cohort
        .methods
        .iter()
        .enumerate()
        .map(|(i, method)| (i != reference).then(|| compare(method, &cohort.methods[reference]))?)
        .collect();
    let plain: Vec<f64> = comparisons
        .iter()
        .map(|comparison| comparison.as_ref().map_or(f64::NAN, |comparison| comparison.p))
        .collect();
    let corrected = holm(&plain);
    let judged = comparisons.into_iter().zip(corrected).map(|(comparison, p)| {
        let comparison = comparison?;
        let verdict = comparison.verdict(p, cohort.lower_is_better);
        Some((comparison, p, verdict))
    });
    judged.collect()
}

pub(super) fn section(page: &mut Page, cohort: &Cohort<'_>) -> Result<()> {
    let data = &cohort.record.data.name;
    let title = match (data.is_empty(), cohort.group.is_empty()) {
        (true, true) => "Results".to_owned(),
        (true, false) => cohort.group.to_owned(),
        (false, true) => format!("Results on {data}"),
        (false, false) => format!("{data}, {}", cohort.group),
    };
    page.section(&title);
    let sentences = in_short(cohort);
    if !sentences.is_empty() {
        page.paragraph("say", &sentences.join(" "));
    }
    let reading = score_table(page, cohort);
    curves(page, cohort, &reading)?;
    maps(
        page,
        cohort
            .methods
            .iter()
            .map(|method| (method.name.as_str(), method.embedding.as_ref())),
    )?;
    rank_charts(page, cohort)?;
    confusions(page, cohort)
}

/// Adds the table, and returns how to read it.
fn score_table(page: &mut Page, cohort: &Cohort<'_>) -> String {
    let (estimates, unit) = tests(cohort);
    let reference = cohort.reference();
    let several = cohort.methods.len() > 1;
    let comparisons = compared(cohort);
    let percent = if unit == Unit::Percent { " (%)" } else { "" };
    let score = format!("test {}{percent}", cohort.metric);
    let difference = format!("against {}", cohort.methods[reference].name);
    let seconds: Vec<Option<f64>> = cohort.methods.iter().map(seconds_per_epoch).collect();
    let timed = seconds.iter().any(Option::is_some);
    let counted = cohort.methods.iter().any(|method| method.parameters.is_some());

    let mut header = vec!["method", &score, "runs"];
    let mut numbers = vec![false, true, true];
    if several {
        header.extend([difference.as_str(), "p", "in words"]);
        numbers.extend([true, true, false]);
    }
    if counted {
        header.push("parameters");
        numbers.push(true);
    }
    if timed {
        header.push("s / epoch");
        numbers.push(true);
    }
    let rows: Vec<Vec<String>> = (0..cohort.methods.len())
        .map(|i| {
            let method = &cohort.methods[i];
            let mut row = vec![
                named(&method.name, cohort.colours[i]),
                plus_minus(&estimates[i], unit),
                estimates[i].values.len().to_string(),
            ];
            if several {
                row.extend(against(comparisons[i].as_ref(), i == reference, unit));
            }
            if counted {
                row.push(method.parameters.map_or("\u{2013}".to_owned(), thousands));
            }
            if timed {
                row.push(seconds[i].map_or("\u{2013}".to_owned(), |seconds| format!("{seconds:.3}")));
            }
            row
        })
        .collect();
    page.add(&table(&header, &numbers, &rows));
    let ddof = cohort.record.ddof;
    let mut caption = format!(
        "Mean \u{b1} standard deviation (ddof {ddof}) over runs, each tested once, at its best validation epoch."
    );
    let met: Vec<&Comparison> = comparisons
        .iter()
        .flatten()
        .map(|(comparison, ..)| comparison)
        .collect();
    if !met.is_empty() {
        caption += " Differences are paired split by split; p is two-sided, from a t-test whose variance is corrected for \
                    overlapping training parts (Nadeau and Bengio: 1/k + test/train)";
        caption += if met.len() > 1 {
            ", and for several comparisons by Holm's rule."
        } else {
            "."
        };
        caption += " Below 0.05 a difference is called one.";
        if met.iter().any(|comparison| comparison.splits < comparison.pairs) {
            caption += " Runs share splits: what is said holds for these splits and other starts, not for other splits.";
        }
    }
    caption
}

/// Difference, probability and words.
fn against(comparison: Option<&(Comparison, f64, Verdict)>, reference: bool, unit: Unit) -> [String; 3] {
    let dash = || "\u{2013}".to_owned();
    if reference {
        return [dash(), dash(), "what others are compared with".to_owned()];
    }
    let Some((comparison, p, verdict)) = comparison else {
        return [dash(), dash(), "no split in common".to_owned()];
    };
    let words = match verdict {
        Verdict::Unknown if comparison.pairs < 2 => "can\u{2019}t be told from one split",
        Verdict::Unknown => "can\u{2019}t be told: sizes of the parts unknown",
        Verdict::Same => "the same on every split",
        Verdict::Noise => "difference within the noise",
        Verdict::Better => "<span class=\"good\">\u{25b2} better</span>",
        Verdict::Worse => "<span class=\"bad\">\u{25bc} worse</span>",
    };
    let sign = if comparison.difference >= 0.0 {
        "+"
    } else {
        "\u{2212}"
    };
    let difference = format!("{sign}{}", unit.show(comparison.difference.abs()));
    [difference, escape(&probability(*p)), words.to_owned()]
}

fn seconds_per_epoch(method: &Method) -> Option<f64> {
    let epochs = || {
        method
            .repetitions
            .iter()
            .flat_map(|repetition| &repetition.epochs)
    };
    let seconds: f64 = epochs().map(|epoch| epoch.seconds).sum();
    (seconds.is_finite() && seconds > 0.0).then(|| seconds / epochs().count() as f64)
}

fn curves(page: &mut Page, cohort: &Cohort<'_>, reading: &str) -> Result<()> {
    let methods = cohort.methods();
    let several = methods.len() > 1;
    let scores = if several {
        svg::test_scores(&methods, &cohort.colours, cohort.record.ddof)?
    } else {
        None
    };
    match scores {
        Some(chart) => {
            let caption = "Each run a small dot, the mean a large one, the standard deviation a bar.";
            page.add(&format!(
                "<div class=\"grid\">{}<aside class=\"small\"><h4>How to read the table</h4><p>{}</p></aside></div>",
                figure(&chart, caption),
                escape(reading)
            ));
        }
        None => page.paragraph("dim small", reading),
    }
    let mut figures = Vec::new();
    let caption = "Mean over runs, drawn while at least half of them are still training; the band is one standard deviation each way.";
    figures.extend(svg::loss_curves(&methods, &cohort.colours)?.map(|chart| (chart, caption.to_owned())));
    figures.extend(svg::metric_curves(&methods, &cohort.colours)?.map(|chart| (chart, caption.to_owned())));
    page.figures(&figures);
    if !several {
        return Ok(());
    }
    let mut each = String::new();
    for method in methods {
        let charts = [
            svg::loss_curves(&[method], &[])?,
            svg::metric_curves(&[method], &[])?,
        ];
        for chart in charts.into_iter().flatten() {
            each += &figure(&chart.renamed(format!("{}: {}", method.name, chart.title())), "");
        }
    }
    if !each.is_empty() {
        page.add(&format!(
            "<details><summary>Training and validation of each method</summary><div class=\"grid\">{each}</div></details>"
        ));
    }
    Ok(())
}

/// Maps of embeddings, each under the name of its method.
pub(super) fn maps<'a>(
    page: &mut Page,
    embeddings: impl Iterator<Item = (&'a str, Option<&'a Embedding>)>,
) -> Result<()> {
    let mut figures = Vec::new();
    for (name, embedding) in embeddings {
        let Some(embedding) = embedding else { continue };
        let Some(chart) = svg::map(name, embedding)? else {
            continue;
        };
        figures.push((chart, map_caption(embedding)));
    }
    if figures.is_empty() {
        return Ok(());
    }
    page.heading("Where embeddings lie");
    page.paragraph(
        "dim small",
        "Near points have near embeddings; large distances, directions and the sizes of groups mean nothing in such a map.",
    );
    page.figures(&figures);
    Ok(())
}

fn map_caption(embedding: &Embedding) -> String {
    let what = if embedding.of.is_empty() {
        "rows"
    } else {
        &embedding.of
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

fn rank_charts(page: &mut Page, cohort: &Cohort<'_>) -> Result<()> {
    let mut figures = Vec::new();
    for method in &cohort.methods {
        for ranks in &method.ranks {
            if let Some(chart) = svg::ranks(ranks)? {
                let title = format!("{}: {}", method.name, chart.title());
                figures.push((chart.renamed(title), rank_caption(ranks)));
            }
        }
    }
    if !figures.is_empty() {
        page.heading("How many directions were kept");
        page.figures(&figures);
    }
    Ok(())
}

fn rank_caption(ranks: &Ranks) -> String {
    let graphs: f64 = ranks.bins.iter().map(|bin| bin.graphs as f64).sum();
    let mean = ranks
        .bins
        .iter()
        .map(|bin| bin.rank as f64 * bin.graphs as f64)
        .sum::<f64>()
        / graphs;
    let mut caption = format!("{graphs:.0} graphs, p = {mean:.1} on average");
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

fn confusions(page: &mut Page, cohort: &Cohort<'_>) -> Result<()> {
    let mut figures = Vec::new();
    for method in &cohort.methods {
        let Some(confusion) = &method.confusion else {
            continue;
        };
        if let Some(chart) = svg::confusion(confusion)? {
            let chart = chart.renamed(method.name.clone());
            figures.push((
                chart,
                "Test parts of all runs together; shaded by the share of the row.".to_owned(),
            ));
        }
    }
    if !figures.is_empty() {
        page.heading("What was taken for what");
        page.figures(&figures);
    }
    Ok(())
}
