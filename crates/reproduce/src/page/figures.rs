//! The paper's figures, of records alone: how the accuracy depends on the threshold
//! r, and how a model learns.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use egg_results::Summary;

use super::Places;
use super::records::{find, tests};
use crate::architecture::Architecture;
use crate::curves::{Curve, Curves};
use crate::error::Result;
use crate::files;
use crate::paper::THRESHOLDS;
use crate::svg::{Chart, Series, lines};

/// Each figure with its file name; those without records are not there.
pub(super) fn drawn(results: &Path) -> Result<Vec<(String, String)>> {
    let places = Places::new(results);
    let mut drawn = Vec::new();
    let mut series = Vec::new();
    for &architecture in Architecture::ALL {
        let (mut points, mut band) = (Vec::new(), Vec::new());
        for threshold in THRESHOLDS {
            let Some(record) = find(&places.sensitivity(architecture, threshold))? else {
                continue;
            };
            if let Some(spread) = Summary::from_values(&tests(&record), 0) {
                points.push((threshold, spread.mean));
                let deviation = spread.deviation.unwrap_or(0.0);
                band.push((spread.mean - deviation, spread.mean + deviation));
            }
        }
        if !points.is_empty() {
            series.push(Series {
                name: format!("{}-EGG", architecture.name().to_uppercase()),
                points,
                band,
                dots: true,
            });
        }
    }
    if !series.is_empty() {
        let chart = Chart {
            title: "PROTEINS: accuracy over the threshold r",
            across: "threshold r",
            up: "test accuracy in percent, mean and standard deviation",
            log: false,
            series: &series,
        };
        drawn.push(("sensitivity.svg".to_owned(), lines(&chart)));
    }
    for &architecture in Architecture::ALL {
        let Some(record) = files::find::<Curves>(&places.curve(architecture))? else {
            continue;
        };
        for (what, up, factor, parts) in CURVES {
            let name = architecture.name().to_uppercase();
            let [training, validation] = parts;
            let series = [
                mean_curve(&record, training, factor, "training"),
                mean_curve(&record, validation, factor, "validation"),
            ];
            let chart = Chart {
                title: &format!("{name}-EGG on PROTEINS"),
                across: "epoch (mean of the repetitions that are still training, at least two)",
                up,
                log: false,
                series: &series,
            };
            drawn.push((format!("curves-{architecture}-{what}.svg"), lines(&chart)));
        }
    }
    Ok(drawn)
}

type Of = fn(&Curve) -> &Vec<Option<f64>>;

/// What is drawn of a curve: its name, its axis, a factor, and of training and validation.
const CURVES: [(&str, &str, f64, [Of; 2]); 2] = [
    (
        "loss",
        "mean loss of a graph",
        1.0,
        [|curve| &curve.train_loss, |curve| &curve.validation_loss],
    ),
    (
        "score",
        "accuracy in percent",
        100.0,
        [|curve| &curve.train_score, |curve| &curve.validation_score],
    ),
];

/// The mean over repetitions, epoch by epoch, with its deviation, as long as two are left.
fn mean_curve(record: &Curves, of: Of, factor: f64, name: &str) -> Series {
    let curves = record.repetitions.iter();
    let curves: Vec<Vec<f64>> = curves
        .map(|curve| of(curve).iter().flatten().copied().collect())
        .collect();
    let longest = curves.iter().map(Vec::len).max().unwrap_or(0);
    let (mut points, mut band) = (Vec::new(), Vec::new());
    for epoch in 0..longest {
        let values: Vec<f64> = curves
            .iter()
            .filter_map(|curve| Some(factor * curve.get(epoch)?))
            .collect();
        if let Some(spread) = Summary::from_values(&values, 0).filter(|_| values.len() > 1) {
            points.push((epoch as f64 + 1.0, spread.mean));
            let deviation = spread.deviation.unwrap_or(0.0);
            band.push((spread.mean - deviation, spread.mean + deviation));
        }
    }
    Series {
        name: name.to_owned(),
        points,
        band,
        dots: false,
    }
}

/// The part of the page about figures.
pub(super) fn section(results: &Path) -> Result<String> {
    let mut page = String::from(
        "## Figures\n\n`cargo xtask bench paper --figure sensitivity,curves` runs what they need, `--render` draws them. Protocol `paper`, PROTEINS.\n\
         Training curves are means over the batches of an epoch, with dropout; validation is measured after the epoch, without dropout.\n",
    );
    let drawn = drawn(results)?;
    let wanted = [
        "sensitivity.svg",
        "curves-gcn-loss.svg",
        "curves-gcn-score.svg",
        "curves-gin-loss.svg",
        "curves-gin-score.svg",
    ];
    for name in wanted {
        let here = drawn.iter().any(|(drawn, _)| drawn == name);
        let _ = match here {
            true => write!(
                page,
                "\n![{}](results/figures/{name})\n\n{}: {} repetitions.\n",
                alternative(name),
                alternative(name),
                repetitions(results, name)?
            ),
            false => write!(page, "\n{name}: missing.\n"),
        };
        if here && name == "sensitivity.svg" {
            page.push_str(&by_threshold(results)?);
        }
    }
    Ok(page)
}

/// The numbers of the sensitivity.
fn by_threshold(results: &Path) -> Result<String> {
    let places = Places::new(results);
    let mut table = format!(
        "\n| r | {} |\n|---|{}\n",
        THRESHOLDS.map(|threshold| threshold.to_string()).join(" | "),
        "---|".repeat(THRESHOLDS.len())
    );
    for &architecture in Architecture::ALL {
        let _ = write!(table, "| {}-EGG |", architecture.name().to_uppercase());
        for threshold in THRESHOLDS {
            let record = find(&places.sensitivity(architecture, threshold))?;
            let ours = record.and_then(|record| Summary::from_values(&tests(&record), 0));
            let _ = write!(
                table,
                " {} |",
                ours.map_or("missing".into(), |ours| format!("{ours:.2}"))
            );
        }
        table.push('\n');
    }
    Ok(table)
}

/// How many repetitions each point or curve of a figure is the mean of: `10`, or
/// `3 or 10`.
fn repetitions(results: &Path, name: &str) -> Result<String> {
    let places = Places::new(results);
    let mut counts = BTreeSet::new();
    for &architecture in Architecture::ALL {
        if name == "sensitivity.svg" {
            for threshold in THRESHOLDS {
                let record = find(&places.sensitivity(architecture, threshold))?;
                counts.extend(record.map(|record| record.repetitions.len()));
            }
        } else if name.contains(architecture.name()) {
            let record = files::find::<Curves>(&places.curve(architecture))?;
            counts.extend(record.map(|record| record.repetitions.len()));
        }
    }
    let counts: Vec<String> = counts.iter().map(usize::to_string).collect();
    Ok(counts.join(" or "))
}

fn alternative(name: &str) -> &'static str {
    match name {
        "sensitivity.svg" => "Test accuracy of GCN-EGG and GIN-EGG on PROTEINS over the threshold r",
        "curves-gcn-loss.svg" => "GCN-EGG, training and validation loss by epoch",
        "curves-gcn-score.svg" => "GCN-EGG, training and validation accuracy by epoch",
        "curves-gin-loss.svg" => "GIN-EGG, training and validation loss by epoch",
        _ => "GIN-EGG, training and validation accuracy by epoch",
    }
}

#[cfg(test)]
mod tests_of_figures {
    use crate::architecture::Architecture;

    use super::super::made_up;
    use super::*;

    #[test]
    fn curves_are_means_as_long_as_two_are_left() {
        let curve = |losses: &[f64]| Curve {
            train_loss: losses.iter().copied().map(Some).collect(),
            ..Curve::default()
        };
        let record = Curves {
            repetitions: vec![curve(&[3.0, 2.0, 1.0]), curve(&[1.0, 2.0])],
        };
        let curve = mean_curve(&record, |curve| &curve.train_loss, 1.0, "training");
        assert_eq!(curve.points, [(1.0, 2.0), (2.0, 2.0)]);
        assert_eq!(curve.band, [(1.0, 3.0), (2.0, 2.0)]);
    }

    #[test]
    fn without_records_there_are_no_figures() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        assert!(drawn(folder).unwrap().is_empty());
        assert_eq!(section(folder).unwrap().matches("missing").count(), 5);
        let path = Places::new(folder).sensitivity(Architecture::Gin, 0.5);
        made_up::record(&[0.7, 0.8]).save(&path).unwrap();
        let page = section(folder).unwrap();
        assert!(
            page.contains("| GIN-EGG | missing | missing | 75.00 ± 5.00 | missing |"),
            "{page}"
        );
    }
}
