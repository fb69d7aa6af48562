//! Classifiers: the table of scores and the learning curves.

use egg_results::{Comparison, Verdict, holm};

use super::cohort::Cohort;
use super::details;
use super::html::{Page, escape, figure, named, table};
use super::words::{plus_minus, probability, summary, thousands};
use crate::error::Result;
use crate::estimate::Estimate;
use crate::record::Method;
use crate::significance::compare;
use crate::svg::{self, Unit};

/// The test scores of each method.
pub(super) fn tests(cohort: &Cohort<'_>) -> (Vec<Estimate>, Unit) {
    let estimate = |method: &Method| {
        let scores: Vec<f64> = method
            .repetitions
            .iter()
            .filter_map(|repetition| repetition.test)
            .collect();
        Estimate::from_values(&scores, cohort.record.ddof)
    };
    let unit = svg::unit(&cohort.methods);
    (cohort.methods.iter().map(estimate).collect(), unit)
}

/// The comparison of each method with the reference, with Holm's correction.
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
    let sentences = summary(cohort);
    if !sentences.is_empty() {
        page.paragraph("say", &sentences.join(" "));
    }
    let reading = score_table(page, cohort);
    curves(page, cohort, &reading)?;
    details::section(page, cohort)
}

/// Adds the table; returns its explanatory notes.
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
    let single = estimates.iter().all(|estimate| estimate.values.len() <= 1);
    let mut caption = match single {
        true => "One run, tested once, at its best validation epoch.".to_owned(),
        false => format!(
            "Mean \u{b1} standard deviation (ddof {ddof}) over runs, each tested once, at its best validation epoch."
        ),
    };
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

/// The difference, its probability and the verdict.
fn against(comparison: Option<&(Comparison, f64, Verdict)>, reference: bool, unit: Unit) -> [String; 3] {
    let dash = || "\u{2013}".to_owned();
    if reference {
        return [dash(), dash(), "the reference".to_owned()];
    }
    let Some((comparison, p, verdict)) = comparison else {
        return [dash(), dash(), "no split in common".to_owned()];
    };
    let words = match verdict {
        Verdict::Unknown if comparison.pairs < 2 => "can\u{2019}t be tested on one split",
        Verdict::Unknown => "can\u{2019}t be tested: sizes of the parts unknown",
        Verdict::Same => "the same on every split",
        Verdict::Noise => "not distinguished",
        Verdict::Better => "<span class=\"good\">\u{25b2} better</span>",
        Verdict::Worse => "<span class=\"bad\">\u{25bc} worse</span>",
    };
    let sign = match comparison.difference {
        0.0 => "",
        more if more > 0.0 => "+",
        _ => "\u{2212}",
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
    let caption = match methods.iter().all(|method| method.repetitions.len() <= 1) {
        true => "One run.",
        false => {
            "Mean over runs, drawn while at least half of them are still training; the band is one standard deviation each way."
        }
    };
    // Otherwise a training loss above the validation loss looks like a mistake.
    let caption = format!(
        "{caption} Training is measured in its own steps, with dropout and while parameters move; validation after each epoch, without."
    );
    figures.extend(svg::loss_curves(&methods, &cohort.colours)?.map(|chart| (chart, caption.clone())));
    figures.extend(svg::metric_curves(&methods, &cohort.colours)?.map(|chart| (chart, caption.clone())));
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
