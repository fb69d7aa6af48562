//! Searches over settings.

use super::html::{Page, escape, table};
use super::words::plus_minus;
use crate::error::Result;
use crate::record::{Record, Trial};
use crate::svg::{self, Unit};

/// The most trials that are listed.
const MOST: usize = 10;

pub(super) fn section(page: &mut Page, record: &Record) -> Result<()> {
    let mut figures = Vec::new();
    for sweep in &record.sweeps {
        if let Some(chart) = svg::sweep(sweep)? {
            figures.push((
                chart,
                "Mean over runs; bars are one standard deviation each way.".to_owned(),
            ));
        }
    }
    if figures.is_empty() && record.trials.is_empty() {
        return Ok(());
    }
    let title = match (figures.is_empty(), record.data.name.is_empty()) {
        (false, true) => "Sensitivity".to_owned(),
        (false, false) => format!("Sensitivity on {}", record.data.name),
        (true, _) => "Settings that were tried".to_owned(),
    };
    page.section(&title);
    page.figures(&figures);
    if !record.trials.is_empty() {
        trials(page, &record.trials);
    }
    Ok(())
}

fn trials(page: &mut Page, trials: &[Trial]) {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in trials.iter().flat_map(|trial| &trial.settings) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let share = |mean: f64| !mean.is_finite() || (0.0..=1.0).contains(&mean);
    let shares = trials
        .iter()
        .all(|trial| share(trial.validation.mean) && trial.test.as_ref().is_none_or(|test| share(test.mean)));
    let unit = if shares { Unit::Percent } else { Unit::Plain };
    let mut header = vec!["place"];
    header.extend(&names);
    header.extend(["validation", "test"]);
    let numbers: Vec<bool> = (0..header.len()).map(|i| i > names.len()).collect();
    let shown = trials
        .iter()
        .enumerate()
        .filter(|(i, trial)| *i < MOST || trial.chosen);
    let rows: Vec<Vec<String>> = shown
        .map(|(i, trial)| {
            let mark = if trial.chosen { " \u{2713} chosen" } else { "" };
            let mut row = vec![format!("{}{mark}", i + 1)];
            for name in &names {
                let value = trial.settings.iter().find(|(other, _)| other == name);
                row.push(value.map_or("\u{2013}".to_owned(), |(_, value)| escape(value)));
            }
            row.push(plus_minus(&trial.validation, unit));
            row.push(
                trial
                    .test
                    .as_ref()
                    .map_or("\u{2013}".to_owned(), |test| plus_minus(test, unit)),
            );
            row
        })
        .collect();
    page.heading("Settings that were tried");
    page.add(&table(&header, &numbers, &rows));
    let percent = if unit == Unit::Percent { ", in percent" } else { "" };
    let caption = if trials.len() > MOST {
        format!(
            "The first {MOST} of {} settings{percent}. Nothing was chosen by the test part.",
            trials.len()
        )
    } else {
        format!(
            "{} settings{percent}. Nothing was chosen by the test part.",
            trials.len()
        )
    };
    page.paragraph("dim small", &caption);
}
