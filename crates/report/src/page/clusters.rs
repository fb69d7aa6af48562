//! Clusterings: table, scores, loss, maps.

use super::details::{map_section, maps};
use super::html::{Page, escape, named, table};
use super::words::plus_minus;
use crate::error::Result;
use crate::estimate::Estimate;
use crate::record::{Clustering, Method, Record, Repetition};
use crate::svg::{self, Unit};

type Measure = fn(&Clustering) -> &Estimate;

pub(super) fn section(page: &mut Page, record: &Record) -> Result<()> {
    if record.clusterings.is_empty() {
        return Ok(());
    }
    let title = if record.data.name.is_empty() {
        "Clusterings".to_owned()
    } else {
        format!("Clusterings of {}", record.data.name)
    };
    page.section(&title);
    scores(page, record);
    let mut figures = Vec::new();
    let colours: Vec<usize> = (0..record.clusterings.len()).collect();
    let measures: [(&str, &str, Measure); 2] = [
        ("accuracy", "Accuracy", |row| &row.acc),
        ("NMI", "NMI", |row| &row.nmi),
    ];
    for (name, title, of) in measures {
        let methods: Vec<Method> = record
            .clusterings
            .iter()
            .map(|row| as_method(row, name, of(row)))
            .collect();
        let methods: Vec<&Method> = methods.iter().collect();
        if let Some(chart) = svg::scores(name, &methods, &colours, record.ddof)? {
            let caption = "Each run a small dot, the mean a large one, the standard deviation a bar.";
            figures.push((
                chart.renamed(format!("{title} of each clustering")),
                caption.to_owned(),
            ));
        }
    }
    // Clusterings of the same autoencoder have the same losses.
    let mut drawn: Vec<&Clustering> = Vec::new();
    for row in &record.clusterings {
        if drawn.iter().any(|other| other.losses == row.losses) {
            continue;
        }
        if let Some(chart) = svg::clustering_losses(row)? {
            figures.push((
                chart,
                "Mean over runs; the band is one standard deviation each way.".to_owned(),
            ));
            drawn.push(row);
        }
    }
    page.figures(&figures);
    let of_rows = record
        .clusterings
        .iter()
        .map(|row| (row.method.as_str(), row.embedding.as_ref()));
    map_section(page, &maps(of_rows)?);
    Ok(())
}

fn as_method(row: &Clustering, metric: &str, estimate: &Estimate) -> Method {
    let values = if estimate.values.is_empty() {
        vec![estimate.mean]
    } else {
        estimate.values.clone()
    };
    let repetition = |&value: &f64| Repetition {
        test: Some(value),
        ..Repetition::default()
    };
    Method {
        name: row.method.clone(),
        metric: metric.to_owned(),
        repetitions: values.iter().map(repetition).collect(),
        ..Method::default()
    }
}

fn scores(page: &mut Page, record: &Record) {
    let rows = &record.clusterings;
    let mut others: Vec<&str> = Vec::new();
    for (name, _) in rows.iter().flat_map(|row| &row.others) {
        if !others.contains(&name.as_str()) {
            others.push(name);
        }
    }
    let columns: Vec<Vec<Option<&Estimate>>> = {
        let fixed: [Measure; 4] = [|row| &row.acc, |row| &row.nmi, |row| &row.ari, |row| &row.cs];
        let fixed = fixed
            .into_iter()
            .map(|of| rows.iter().map(|row| Some(of(row))).collect());
        let others = others.iter().map(|name| {
            let of = |row: &'_ Clustering| row.others.iter().position(|(other, _)| other == name);
            rows.iter().map(|row| of(row).map(|i| &row.others[i].1)).collect()
        });
        fixed.chain(others).collect()
    };
    let mut header = vec!["method", "accuracy (%)", "NMI (%)", "ARI (%)", "CS (%)"];
    header.extend(&others);
    let sized = rows.iter().any(|row| row.dimension.is_some());
    let captured = rows.iter().any(|row| row.captured.is_some());
    header.extend(sized.then_some("columns"));
    header.extend(captured.then_some("captured (%)"));
    let mut numbers = vec![true; header.len()];
    numbers[0] = false;
    // Only of the four that are better the larger they are.
    let best = |column: usize| {
        let means = columns[column]
            .iter()
            .map(|estimate| estimate.map_or(f64::NAN, |estimate| estimate.mean));
        means
            .filter(|mean| mean.is_finite())
            .fold(f64::NEG_INFINITY, f64::max)
    };
    let lines: Vec<Vec<String>> = rows
        .iter()
        .enumerate()
        .map(|(i, row)| {
            let mut cells = vec![named(&row.method, i)];
            for (column, estimates) in columns.iter().enumerate() {
                let Some(estimate) = estimates[i] else {
                    cells.push("\u{2013}".to_owned());
                    continue;
                };
                let unit = if column < 4 { Unit::Percent } else { Unit::Plain };
                let text = escape(&plus_minus(estimate, unit));
                let first = column < 4 && rows.len() > 1 && estimate.mean == best(column);
                cells.push(if first {
                    format!("<span class=\"best\">{text}</span>")
                } else {
                    text
                });
            }
            let dash = || "\u{2013}".to_owned();
            if sized {
                cells.push(row.dimension.map_or_else(dash, |dimension| dimension.to_string()));
            }
            if captured {
                cells.push(row.captured.map_or_else(dash, |share| Unit::Percent.show(share)));
            }
            cells
        })
        .collect();
    page.add(&table(&header, &numbers, &lines));
    let runs = rows
        .iter()
        .map(|row| row.acc.values.len().max(row.nmi.values.len()))
        .max()
        .unwrap_or(0);
    let over = match runs {
        0 => String::new(),
        1 => " of one run".to_owned(),
        runs => format!(" over {runs} runs"),
    };
    let caption = format!(
        "Mean \u{b1} standard deviation{over}; the highest mean of each measure is bold, whether or not the difference is more than noise. \
         Accuracy is by optimal assignment of clusters to classes; NMI is normalised mutual information, ARI the adjusted Rand \
         index, CS completeness; captured is the share of the sum of the singular values."
    );
    page.paragraph("dim small", &caption);
}
