//! What came of it: the record, the table, the summary.

use egg_gnn::cluster::pipeline::{ClusterReport, NodeClusteringConfig, NodeEmbedding};
use egg_gnn::results::Summary;
use egg_report::{Clustering, Embedding, Estimate, Kind, Losses, Record};
use serde_json::{Value, json};

use super::Arguments;
use crate::console::Style;
use crate::data::Data;
use crate::failure::Result;
use crate::model::csv_field;
use crate::record;
use crate::run_folder::RunFolder;
use crate::table::Table;

/// Of the standard deviations.
const DDOF: usize = 0;

/// A row of the table.
pub(super) struct Row {
    pub(super) method: String,
    pub(super) reports: Vec<ClusterReport>,
    pub(super) embedding: Option<Embedding>,
}

/// The nodes by their class, or by the cluster they are in.
pub(super) fn map(embedding: &NodeEmbedding, labels: &[u32], data: &Data, seed: u64) -> Result<Embedding> {
    #[expect(clippy::cast_possible_truncation, reason = "a picture")]
    let values = embedding.h.iter().map(|value| *value as f32).collect();
    let known = data.dataset.node_labels().filter(|labels| labels.known() > 0);
    let classes = match known {
        Some(labels) => labels.iter().collect(),
        None => labels.iter().copied().map(Some).collect(),
    };
    let mut map = Embedding::new("nodes", embedding.h.ncols(), values, classes)?;
    map.class_names = known.map_or_else(Vec::new, |labels| labels.names().to_vec());
    let by = if known.is_some() { "class" } else { "cluster" };
    map.note = format!("H of repetition 1, coloured by {by}");
    map.reduce(record::MAP_ROWS, seed);
    Ok(map)
}

pub(super) fn labels_csv(data: &Data, labels: &[u32]) -> String {
    let rows = labels.iter().enumerate();
    let rows = rows.map(|(node, cluster)| format!("{},{cluster}\n", csv_field(&data.node_name(node))));
    std::iter::once("node,cluster\n".to_owned()).chain(rows).collect()
}

/// The values of a measure in all repetitions; none where it is not defined.
fn values(row: &Row, measure: impl Fn(&ClusterReport) -> Option<f64>) -> Vec<f64> {
    row.reports.iter().filter_map(measure).collect()
}

type Measure = fn(&ClusterReport) -> Option<f64>;

/// The paper's four, against the classes.
const AGREEMENT: [(&str, Measure); 4] = [
    ("acc", |report| Some(report.agreement?.accuracy)),
    ("nmi", |report| {
        Some(report.agreement?.normalised_mutual_information)
    }),
    ("ari", |report| Some(report.agreement?.adjusted_rand)),
    ("cs", |report| Some(report.agreement?.completeness)),
];

/// Those that need no classes.
const OTHERS: [(&str, Measure); 2] = [
    ("modularity", |report| report.modularity),
    ("conductance", |report| report.conductance),
];

pub(super) fn record_of(
    arguments: &Arguments,
    config: &NodeClusteringConfig,
    data: &Data,
    fingerprint: &str,
    rows: &[Row],
    losses: &[Losses],
) -> Record {
    let title = format!("Clusters of {}", data.dataset.name());
    let mut record = record::begin(Kind::Cluster, title, data, fingerprint);
    record.config = serde_json::to_value(config).unwrap_or_default();
    record.seed = Some(arguments.seed);
    record.ddof = DDOF;
    record.protocol = arguments.preset.name().to_owned();
    for (index, row) in rows.iter().enumerate() {
        let estimate = |measure: Measure| Estimate::from_values(&values(row, measure), DDOF);
        let [acc, nmi, ari, cs] = AGREEMENT.map(|(_, measure)| estimate(measure));
        let captured = values(row, |report| Some(report.captured));
        record.clusterings.push(Clustering {
            method: row.method.clone(),
            acc,
            nmi,
            ari,
            cs,
            others: OTHERS
                .map(|(name, measure)| (name.to_owned(), estimate(measure)))
                .to_vec(),
            dimension: row.reports.first().map(|report| report.dimension as u64),
            captured: Summary::from_values(&captured, 0).map(|captured| captured.mean),
            embedding: row.embedding.clone(),
            // The same H, the same training.
            losses: if index == 0 { losses.to_vec() } else { Vec::new() },
        });
    }
    record
}

pub(super) fn tell(
    style: Style,
    arguments: &Arguments,
    data: &Data,
    rows: &[Row],
    folder: &RunFolder,
    seconds: f64,
) {
    let json_row = |row: &Row| {
        let mut object = serde_json::Map::new();
        object.insert("method".into(), json!(row.method));
        for (name, measure) in AGREEMENT.into_iter().chain(OTHERS) {
            let estimate = Estimate::from_values(&values(row, measure), DDOF);
            let number = |value: Option<f64>| {
                value
                    .filter(|value| value.is_finite())
                    .map_or(Value::Null, |v| json!(v))
            };
            object.insert(name.into(), number(Some(estimate.mean)));
            object.insert(format!("{name}_std"), number(estimate.deviation));
        }
        let first = row.reports.first();
        object.insert("dimension".into(), json!(first.map(|report| report.dimension)));
        object.insert("captured".into(), json!(first.map(|report| report.captured)));
        Value::Object(object)
    };
    let test = rows
        .first()
        .and_then(|row| row.reports.first())
        .and_then(|report| report.test);
    style.emit(&json!({
        "event": "summary",
        "rows": rows.iter().map(json_row).collect::<Vec<_>>(),
        "ddof": DDOF,
        "data": data.dataset.name(),
        "preset": arguments.preset.name(),
        "reps": arguments.reps,
        "seed": arguments.seed,
        "test_auc": test.map(|ranking| ranking.roc_auc),
        "test_ap": test.map(|ranking| ranking.average_precision),
        "out": folder.path().display().to_string(),
        "labels_out": arguments.labels_out.as_ref().map(|path| path.display().to_string()),
        "seconds": seconds,
    }));
    let labelled = rows.iter().any(|row| !values(row, AGREEMENT[0].1).is_empty());
    let measures: Vec<(&str, Measure)> = match labelled {
        true => AGREEMENT.into_iter().chain(OTHERS).collect(),
        false => OTHERS.to_vec(),
    };
    let columns = measures.iter().map(|(name, _)| (*name).to_owned());
    let mut table = Table::new(
        ["method".to_owned()]
            .into_iter()
            .chain(columns)
            .chain(["captured".to_owned()]),
    );
    for row in rows {
        let mut cells = vec![row.method.clone()];
        for (_, measure) in &measures {
            let estimate = Estimate::from_values(&values(row, measure), DDOF);
            cells.push(match (estimate.is_known(), estimate.deviation) {
                (false, _) => "-".to_owned(),
                (true, Some(deviation)) if arguments.reps > 1 => {
                    format!("{:.4} +- {deviation:.4}", estimate.mean)
                }
                (true, _) => format!("{:.4}", estimate.mean),
            });
        }
        let captured = Summary::from_values(&values(row, |report| Some(report.captured)), 0);
        let captured = captured.map_or(0.0, |captured| captured.mean);
        cells.push(format!("{:.1} %", 100.0 * captured));
        table.row(cells);
    }
    style.say(format!("\n{}", table.text()));
    if !labelled {
        style.say(
            "no classes are known: modularity (more is better) and conductance (less is better) judge alone",
        );
    }
    if let Some(path) = &arguments.labels_out {
        style.say(format!("clusters in {}", path.display()));
    }
    style.say(format!(
        "{seconds:.1} s; record in {}; `{}` draws it",
        folder.path().display(),
        folder.report_command()
    ));
}
