//! The paper's figures, of records alone: how the accuracy depends on the threshold
//! r, and how a model learns.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use egg_results::Summary;
use serde_json::Value;

use super::cells::{Runner, SETTING};
use super::records::{find, tests};
use super::{Request, maps};
use crate::bench::report::save;
use crate::bench::svg::{Chart, Series, lines};
use crate::error::{Error, Result};
use crate::workspace::Workspace;

const ARCHITECTURES: [&str; 2] = ["gcn", "gin"];

/// The thresholds r of the sensitivity, as the files are named.
const THRESHOLDS: [&str; 7] = ["0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9"];

pub(super) const NAMES: [&str; 2] = ["sensitivity", "curves"];

/// Runs what a figure lacks.
pub(super) fn run(workspace: &Workspace, request: &Request, figure: &str) -> Result<()> {
    let results = workspace.root.join("docs/results");
    let runner = Runner::new(workspace, request)?;
    let folder = results.join(figure);
    std::fs::create_dir_all(&folder).map_err(|e| Error::while_doing(folder.display(), e))?;
    let setting = || SETTING.iter().flat_map(|(name, value)| [*name, *value]);
    let repetitions = request.repetitions.to_string();
    for architecture in ARCHITECTURES {
        let mut words = vec![
            "PROTEINS",
            architecture,
            "egg",
            "--quiet",
            "--repetitions",
            &repetitions,
        ];
        if figure == "curves" {
            // The settings of the table, which are EGG's own there.
            let path = curve(&results, architecture);
            if !path.exists() && !runner.run(&words, "--curves", &path)? {
                return Ok(());
            }
            continue;
        }
        words.extend(setting());
        for threshold in THRESHOLDS {
            let rule = format!("threshold={threshold}");
            let mut words = words.clone();
            words.extend(["--rank", &rule]);
            if !runner.run(
                &words,
                "--record",
                &sensitivity(&results, architecture, threshold),
            )? {
                return Ok(());
            }
        }
    }
    Ok(())
}

fn sensitivity(results: &Path, architecture: &str, threshold: &str) -> PathBuf {
    results.join(format!("sensitivity/proteins-{architecture}-{threshold}.json"))
}

fn curve(results: &Path, architecture: &str) -> PathBuf {
    results.join(format!("curves/proteins-{architecture}-egg.json"))
}

/// Each figure with its file name; those without records are not there.
pub(super) fn drawn(results: &Path) -> Result<Vec<(String, String)>> {
    let mut drawn = Vec::new();
    let mut series = Vec::new();
    for architecture in ARCHITECTURES {
        let (mut points, mut band) = (Vec::new(), Vec::new());
        for threshold in THRESHOLDS {
            let Some(record) = find(&sensitivity(results, architecture, threshold))? else {
                continue;
            };
            if let (Some(spread), Ok(r)) = (Summary::of(&tests(&record), 0), threshold.parse()) {
                points.push((r, spread.mean));
                let deviation = spread.deviation.unwrap_or(0.0);
                band.push((spread.mean - deviation, spread.mean + deviation));
            }
        }
        if !points.is_empty() {
            series.push(Series {
                name: format!("{}-EGG", architecture.to_uppercase()),
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
    for architecture in ARCHITECTURES {
        let Some(record) = find(&curve(results, architecture))? else {
            continue;
        };
        for (what, up) in [("loss", "mean loss of a graph"), ("score", "accuracy in percent")] {
            let name = architecture.to_uppercase();
            let series = [("train", "training"), ("validation", "validation")]
                .map(|(part, label)| mean_curve(&record, &format!("{part}_{what}"), label));
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

/// The mean over repetitions, epoch by epoch, with its deviation, as long as two are left.
fn mean_curve(record: &Value, of: &str, name: &str) -> Series {
    let factor = if of.ends_with("score") { 100.0 } else { 1.0 };
    let curves: Vec<Vec<f64>> = record["repetitions"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|one| {
            one[of]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_f64)
                .collect()
        })
        .collect();
    let longest = curves.iter().map(Vec::len).max().unwrap_or(0);
    let (mut points, mut band) = (Vec::new(), Vec::new());
    for epoch in 0..longest {
        let values: Vec<f64> = curves
            .iter()
            .filter_map(|curve| Some(factor * curve.get(epoch)?))
            .collect();
        if let Some(spread) = Summary::of(&values, 0).filter(|_| values.len() > 1) {
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

/// Writes the figures.
pub(super) fn write(results: &Path) -> Result<()> {
    let folder = results.join("figures");
    std::fs::create_dir_all(&folder).map_err(|e| Error::while_doing(folder.display(), e))?;
    for (name, file) in drawn(results)?.into_iter().chain(maps::drawn(results)?) {
        save(&folder.join(name), &file)?;
    }
    Ok(())
}

/// The part of the page about figures.
pub(super) fn section(results: &Path) -> Result<String> {
    let mut page = String::from(
        "## Figures\n\n`cargo xtask bench paper --figure sensitivity,curves` runs what they need, `--render` draws them. Protocol `paper`, PROTEINS.\n\
         Training curves are running ones: the mean over an epoch's batches as they were met, with dropout, while the parameters moved; validation is\n\
         measured after the epoch, without dropout. So the training loss can lie above the validation loss.\n",
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
    let mut table = format!(
        "\n| r | {} |\n|---|{}\n",
        THRESHOLDS.join(" | "),
        "---|".repeat(THRESHOLDS.len())
    );
    for architecture in ARCHITECTURES {
        let _ = write!(table, "| {}-EGG |", architecture.to_uppercase());
        for threshold in THRESHOLDS {
            let record = find(&sensitivity(results, architecture, threshold))?;
            let ours = record.and_then(|record| Summary::of(&tests(&record), 0));
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
    let mut paths = Vec::new();
    for architecture in ARCHITECTURES {
        if name == "sensitivity.svg" {
            paths.extend(THRESHOLDS.map(|threshold| sensitivity(results, architecture, threshold)));
        } else if name.contains(architecture) {
            paths.push(curve(results, architecture));
        }
    }
    let mut counts = BTreeSet::new();
    for path in paths {
        let record = find(&path)?;
        counts.extend(record.and_then(|record| Some(record["repetitions"].as_array()?.len())));
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
    use super::*;
    use serde_json::json;

    #[test]
    fn curves_are_means_as_long_as_two_are_left() {
        let record = json!({"repetitions": [{"train_loss": [3.0, 2.0, 1.0]}, {"train_loss": [1.0, 2.0]}]});
        let curve = mean_curve(&record, "train_loss", "training");
        assert_eq!(curve.points, [(1.0, 2.0), (2.0, 2.0)]);
        assert_eq!(curve.band, [(1.0, 3.0), (2.0, 2.0)]);
    }

    #[test]
    fn without_records_there_are_no_figures() {
        let folder = std::env::temp_dir().join(format!("egg-figures-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        assert!(drawn(&folder).unwrap().is_empty());
        assert_eq!(section(&folder).unwrap().matches("missing").count(), 5);
        let path = sensitivity(&folder, "gin", "0.5");
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let part = |accuracy: f64| json!({"test": {"scores": {"accuracy": accuracy}}});
        let record = json!({"repetitions": [part(0.7), part(0.8)]});
        std::fs::write(&path, record.to_string()).unwrap();
        let page = section(&folder).unwrap();
        assert!(
            page.contains("| GIN-EGG | missing | missing | 75.00 ± 5.00 | missing |"),
            "{page}"
        );
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
