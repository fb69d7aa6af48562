//! Node labels and attributes of a TU data set, as features.

use std::io::BufRead;

use ndarray::Array2;

use super::{Files, Nodes, check_count, check_width, for_each_line, read_floats};
use crate::error::{Error, Result};
use crate::feature_columns::FeatureColumn;
use crate::features::Features;
use crate::read::notes::{ColumnNotes, ReadNotes, Role, TableNotes};
use crate::read::options::NodeFeatures;
use crate::read::text::Lines;
use crate::sparse::CsrMatrix;

/// The widest one-hot encoding of node labels: beyond it the labels are ids,
/// not kinds.
const WIDEST: i64 = 1 << 20;

/// Features, what their columns are, and what became of each file.
pub(super) struct NodeData {
    pub(super) features: Features,
    pub(super) columns: Vec<FeatureColumn>,
    pub(super) notes: ReadNotes,
}

pub(super) fn read(files: &mut Files<'_>, nodes: &Nodes) -> Result<NodeData> {
    let wanted = files.options.node_features;
    let label_width = width(files, "node_labels")?;
    let attribute_width = width(files, "node_attributes")?;
    let use_labels = label_width.is_some() && wanted != NodeFeatures::Attributes;
    let use_attributes = attribute_width.is_some()
        && match wanted {
            NodeFeatures::Auto => !use_labels,
            NodeFeatures::Labels => false,
            NodeFeatures::Attributes | NodeFeatures::Both => true,
        };
    let mut columns = Vec::new();
    let attributes = match files.lines("node_attributes")? {
        Some(lines) if use_attributes => {
            let values = read_floats(lines, nodes.count(), &nodes.file)?;
            let (rows, width) = values.dim();
            let numbers = 1..=width;
            columns.extend(numbers.map(|number| FeatureColumn::number(format!("node attribute {number}"))));
            let sorted = nodes.sort_rows(values.into_raw_vec_and_offset().0, width);
            Some(Features::dense(
                Array2::from_shape_vec((rows, width), sorted).unwrap_or_default(),
            )?)
        }
        _ => None,
    };
    let labels = match files.lines("node_labels")? {
        Some(lines) if use_labels => Some(read_labels(lines, nodes, &mut columns)?),
        _ => None,
    };
    let features = match (attributes, labels) {
        (Some(attributes), Some(labels)) => attributes.hstack(&labels)?,
        (Some(features), None) | (None, Some(features)) => features,
        (None, None) => Features::none(nodes.count()),
    };
    let table = |part: &str, width: Option<usize>, used: bool| {
        let role = if used { Role::Feature } else { Role::Unused };
        width.map(|width| TableNotes {
            file: format!("{}_{part}.txt", files.name),
            header: false,
            columns: (1..=width)
                .map(|number| ColumnNotes {
                    name: number.to_string(),
                    role,
                })
                .collect(),
        })
    };
    let tables = [
        table("node_labels", label_width, use_labels),
        table("node_attributes", attribute_width, use_attributes),
    ];
    Ok(NodeData {
        features,
        columns,
        notes: ReadNotes {
            ids: None,
            tables: tables.into_iter().flatten().collect(),
        },
    })
}

/// How many columns a file has, by its first line; `None` if there is no such file.
fn width(files: &mut Files<'_>, part: &str) -> Result<Option<usize>> {
    let Some(mut lines) = files.lines(part)? else {
        return Ok(None);
    };
    Ok(Some(match lines.advance()? {
        true => lines.fields().count(),
        false => 0,
    }))
}

/// Each column of labels one-hot over its range, side by side.
fn read_labels<R: BufRead>(
    mut lines: Lines<R>,
    nodes: &Nodes,
    names: &mut Vec<FeatureColumn>,
) -> Result<Features> {
    let mut values: Vec<i64> = Vec::with_capacity(nodes.count());
    let mut width = None;
    for_each_line(&mut lines, |lines| {
        let before = values.len();
        for field in lines.fields() {
            values.push(lines.integer(field)?);
        }
        check_width(lines, &mut width, values.len() - before)
    })?;
    let width = width.unwrap_or(1);
    check_count(&lines, nodes.count(), values.len() / width, &nodes.file)?;
    let values = nodes.sort_rows(values, width);

    let mut starts = Vec::with_capacity(width);
    let mut total = 0i64;
    for column in 0..width {
        let of = match width {
            1 => "node label".to_owned(),
            _ => format!("node label {}", column + 1),
        };
        let column = values.iter().skip(column).step_by(width);
        let (least, most) = (
            column.clone().min().copied().unwrap_or(0),
            column.max().copied().unwrap_or(0),
        );
        let range = most.checked_sub(least).and_then(|range| range.checked_add(1));
        starts.push((least, total));
        total = match range.and_then(|range| total.checked_add(range)) {
            Some(total) if total <= WIDEST => total,
            _ => {
                return Err(Error::file(
                    lines.file(),
                    format!(
                        "labels from {least} to {most} make one-hot features of over {WIDEST} columns; \
                         put them into the node attributes if they are numbers"
                    ),
                ));
            }
        };
        names.extend((least..=most).map(|value| FeatureColumn::category(&of, value.to_string())));
    }
    let columns = values
        .chunks_exact(width)
        .flat_map(|row| row.iter().zip(&starts))
        .map(|(value, (least, start))| u32::try_from(value - least + start).unwrap_or(u32::MAX))
        .collect();
    let offsets = (0..=nodes.count()).map(|row| row * width).collect();
    let ones = vec![1.0; values.len()];
    let total = usize::try_from(total).unwrap_or(usize::MAX);
    CsrMatrix::new(offsets, columns, ones, total).map(Features::sparse)
}
