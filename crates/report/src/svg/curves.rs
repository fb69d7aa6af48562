//! Learning behaviour: the paper's curves, over repetitions.

use std::collections::BTreeMap;

use super::chart::Chart;
use super::ink::Ink;
use super::lines::{self, Axis, Line, Point};
use super::scale::Unit;
use crate::error::Result;
use crate::estimate::Estimate;
use crate::record::{Clustering, Epoch, Method};

/// Whether scores are shares, which are shown in percent.
pub(crate) fn unit<'a>(methods: impl IntoIterator<Item = &'a Method>) -> Unit {
    let share = |value: f64| !value.is_finite() || (0.0..=1.0).contains(&value);
    let percent = methods.into_iter().all(|method| {
        !method.lower_is_better
            && method.repetitions.iter().all(|repetition| {
                let epochs = repetition.epochs.iter();
                let scores = epochs.flat_map(|epoch| [epoch.train_metric, epoch.validation_metric]);
                scores
                    .chain([repetition.test, repetition.validation])
                    .flatten()
                    .all(share)
            })
    });
    if percent { Unit::Percent } else { Unit::Plain }
}

/// The loss by epoch, mean and standard deviation over repetitions. Of one
/// method the training and the validation part; of several the validation part.
/// `colours` gives the colour of each.
///
/// # Errors
/// If it can't be drawn.
pub fn loss_curves(methods: &[&Method], colours: &[usize]) -> Result<Option<Chart>> {
    let y = Axis {
        title: if methods.len() > 1 {
            "validation loss".to_owned()
        } else {
            "loss".to_owned()
        },
        unit: Unit::Plain,
    };
    let title = format!("{} by epoch", y.title);
    let train = |epoch: &Epoch| epoch.train_loss;
    let validation = |epoch: &Epoch| epoch.validation_loss;
    curves(&title, methods, colours, y, train, validation)
}

/// The metric by epoch, as [`loss_curves`].
///
/// # Errors
/// If it can't be drawn.
pub fn metric_curves(methods: &[&Method], colours: &[usize]) -> Result<Option<Chart>> {
    let unit = unit(methods.iter().copied());
    let metric = methods.first().map_or("metric", |method| method.metric());
    let what = if methods.len() > 1 {
        format!("validation {metric}")
    } else {
        metric.to_owned()
    };
    let title = format!("{what} by epoch");
    let y = Axis {
        title: if unit == Unit::Percent {
            format!("{what} (%)")
        } else {
            what
        },
        unit,
    };
    let train = |epoch: &Epoch| epoch.train_metric.unwrap_or(f64::NAN);
    let validation = |epoch: &Epoch| epoch.validation_metric.unwrap_or(f64::NAN);
    curves(&title, methods, colours, y, train, validation)
}

fn curves(
    title: &str,
    methods: &[&Method],
    colours: &[usize],
    y: Axis,
    train: impl Fn(&Epoch) -> f64 + Copy,
    validation: impl Fn(&Epoch) -> f64 + Copy,
) -> Result<Option<Chart>> {
    let x = Axis {
        title: "epoch".to_owned(),
        unit: Unit::Whole,
    };
    let colour = |i: usize| colours.get(i).copied().unwrap_or(i);
    let lines: Vec<Line> = if let [method] = methods {
        let line = |name: &str, ink, points| Line {
            name: name.to_owned(),
            ink,
            points,
            marked: false,
        };
        vec![
            line("training", Ink::Dashed(1), mean(method, train)),
            line("validation", Ink::Series(0), mean(method, validation)),
        ]
    } else {
        let numbered = methods.iter().enumerate();
        let line = |(i, method): (usize, &&Method)| Line {
            name: method.name.clone(),
            // Where colours repeat, dashes distinguish the lines.
            ink: if colour(i) < super::ink::SERIES {
                Ink::Series(colour(i))
            } else {
                Ink::Dashed(colour(i))
            },
            points: mean(method, validation),
            marked: false,
        };
        numbered.map(line).collect()
    };
    lines::chart(title, &x, &y, &lines)
}

/// The mean by epoch, as long as at least half of the repetitions have that epoch.
fn mean(method: &Method, of: impl Fn(&Epoch) -> f64) -> Vec<Point> {
    let mut by_epoch: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    let mut begun = 0;
    for repetition in &method.repetitions {
        begun += usize::from(!repetition.epochs.is_empty());
        for epoch in &repetition.epochs {
            by_epoch.entry(epoch.epoch).or_default().push(of(epoch));
        }
    }
    let enough = |(_, values): &(u64, Vec<f64>)| 2 * values.len() >= begun;
    let point = |(epoch, values): (u64, Vec<f64>)| {
        let estimate = Estimate::from_values(&values, 1);
        Point {
            x: epoch as f64,
            y: estimate.mean,
            spread: estimate.deviation.unwrap_or(0.0),
        }
    };
    by_epoch.into_iter().filter(enough).map(point).collect()
}

/// The loss of the autoencoder by epoch, mean and standard deviation over
/// repetitions.
///
/// # Errors
/// If it can't be drawn.
pub fn clustering_losses(clustering: &Clustering) -> Result<Option<Chart>> {
    let longest = clustering
        .losses
        .iter()
        .map(|losses| losses.0.len())
        .max()
        .unwrap_or(0);
    let points = (0..longest).map(|epoch| {
        let values: Vec<f64> = clustering
            .losses
            .iter()
            .filter_map(|losses| losses.0.get(epoch).copied())
            .collect();
        let estimate = Estimate::from_values(&values, 1);
        Point {
            x: (epoch + 1) as f64,
            y: estimate.mean,
            spread: estimate.deviation.unwrap_or(0.0),
        }
    });
    let line = Line {
        name: "autoencoder".to_owned(),
        ink: Ink::Series(0),
        points: points.collect(),
        marked: false,
    };
    let axis = |title: &str, unit| Axis {
        title: title.to_owned(),
        unit,
    };
    lines::chart(
        "loss of the autoencoder by epoch",
        &axis("epoch", Unit::Whole),
        &axis("loss", Unit::Plain),
        &[line],
    )
}
