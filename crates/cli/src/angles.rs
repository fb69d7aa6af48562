//! `egg angles`: two subspaces, compared in every way.

use std::path::{Path, PathBuf};

use clap::Args;
use egg_gnn::geometry::{Distance, Error, Extension, GrassmannPoint, RankRule, principal_angles};
use egg_gnn::graph::{ReadOptions, read_npy};
use serde_json::{Map, Value, json};

use crate::arguments;
use crate::console::{Style, counted};
use crate::failure::{Failure, Result};
use crate::table::Table;

/// Principal angles and every distance between the column spaces of two matrices
///
/// Each file holds an m x p matrix whose columns span a subspace of R^m; p may differ. With --rank
/// each holds data instead, one sample of R^m per row, and the rule says how many directions count.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[arg(value_name = "A.npy")]
    a: PathBuf,
    #[arg(value_name = "B.npy")]
    b: PathBuf,
    /// Take rows as samples, and keep so many directions: ratio:X, relative:X, energy:X, squares:X, threshold:X or fixed:P
    #[arg(long, value_name = "RULE", value_parser = arguments::rank)]
    rank: Option<RankRule>,
    /// One JSON object on standard output
    #[arg(long)]
    json: bool,
}

/// What is wrong with a matrix, and what to do on the command line about it.
fn refused(path: &Path, (rows, columns): (usize, usize), error: Error) -> Failure {
    let (what, help) = match error {
        Error::DimensionOutOfRange { .. } => (
            format!("its {columns} columns can't be independent in R^{rows}"),
            "columns span the subspace, so transpose the matrix; or, if its rows are samples, say with --rank how \
             many directions count",
        ),
        Error::RankDeficient { rank: 0, .. } | Error::ZeroSubspace => (
            "a zero matrix spans no subspace".to_owned(),
            "give one that has a direction",
        ),
        Error::RankDeficient { rank, columns } => (
            format!("its {columns} columns span only {}", counted(rank, "dimension")),
            "leave out columns that depend on others",
        ),
        other => {
            return Failure::In {
                data: path.display().to_string(),
                source: Box::new(Failure::Geometry(other)),
            };
        }
    };
    Failure::other(format!("{}: {what}\nhelp: {help}", path.display()))
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let style = Style::new(arguments.json);
    let read = |path: &PathBuf| {
        let matrix = read_npy(path, &ReadOptions::default())?.to_matrix_f64()?;
        let point = match arguments.rank {
            Some(rule) => GrassmannPoint::from_data(matrix.view(), rule),
            None => GrassmannPoint::from_spanning(matrix.view()),
        };
        point.map_err(|error| refused(path, matrix.dim(), error))
    };
    let (a, b) = (read(&arguments.a)?, read(&arguments.b)?);
    if a.ambient() != b.ambient() {
        return Err(Failure::other(format!(
            "{} has subspaces of R^{}, {} of R^{}: they can't be compared\nhelp: {} must be as many in both",
            arguments.a.display(),
            a.ambient(),
            arguments.b.display(),
            b.ambient(),
            if arguments.rank.is_some() {
                "columns"
            } else {
                "rows"
            }
        )));
    }
    let angles = principal_angles(&a, &b)?;
    let missing = a.dimension().abs_diff(b.dimension());
    let extended = Extension::YeLim.extend(angles.clone(), missing);

    // JSON has no infinity: Martin's, of subspaces with a right angle.
    let number = |value: f64| match value.is_finite() {
        true => json!(value),
        false => Value::Null,
    };
    let distances: Map<String, Value> = Distance::ALL
        .iter()
        .map(|distance| (distance.name().to_owned(), number(distance.of_angles(&extended))))
        .collect();
    style.emit(&json!({ "angles": angles.to_vec(), "distances": distances }));

    let mut table = Table::new(["angle", "radians", "degrees"]);
    for (index, angle) in angles.iter().enumerate() {
        table.row([
            (index + 1).to_string(),
            format!("{angle:.12e}"),
            format!("{:.6}", angle.to_degrees()),
        ]);
    }
    style.say(format!(
        "subspaces of R^{} of dimension {} and {}",
        a.ambient(),
        a.dimension(),
        b.dimension()
    ));
    style.say(table.text());
    let mut table = Table::new(["distance", "value", "metric"]);
    for &distance in Distance::ALL {
        let metric = if distance.is_metric() { "yes" } else { "no" };
        table.row([
            distance.name().to_owned(),
            format!("{:.12}", distance.of_angles(&extended)),
            metric.to_owned(),
        ]);
    }
    style.say(format!("\n{}", table.text()));
    if missing > 0 {
        style.say("each missing angle counts as pi/2 (Ye and Lim)");
    }
    Ok(())
}
