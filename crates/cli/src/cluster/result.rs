//! The results of `egg cluster`: the record, the table, the summary.

use egg_gnn::cluster::pipeline::{Measure, MethodReports, NodeClusteringConfig, NodeEmbedding};
use egg_gnn::nn::Goal;
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

/// The delta degrees of freedom of standard deviations.
const DDOF: usize = 0;

/// The results of all repetitions.
pub(super) struct Results {
    /// The rows of the table.
    pub(super) methods: Vec<MethodReports>,
    /// The losses of each repetition's epochs.
    pub(super) losses: Vec<Losses>,
    /// The nodes as the first repetition embeds them.
    pub(super) map: Option<Embedding>,
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

/// The measures for which a record has fields of their own.
const RECORD_FIELDS: [Measure; 4] = [
    Measure::ACCURACY,
    Measure::NMI,
    Measure::ARI,
    Measure::COMPLETENESS,
];

/// All other measures.
fn other_measures() -> impl Iterator<Item = Measure> {
    let all = Measure::ALL.iter().copied();
    all.filter(|measure| RECORD_FIELDS.iter().all(|field| field.name != measure.name))
}

fn estimate(method: &MethodReports, measure: Measure) -> Estimate {
    Estimate::from_values(&method.values(measure), DDOF)
}

/// The mean share of the singular values that a method's coordinates have.
fn mean_captured(method: &MethodReports) -> Option<f64> {
    let captured: Vec<f64> = method.reports.iter().map(|report| report.captured).collect();
    Summary::from_values(&captured, 0).map(|captured| captured.mean)
}

pub(super) fn record_of(
    arguments: &Arguments,
    config: &NodeClusteringConfig,
    data: &Data,
    fingerprint: &str,
    results: &Results,
) -> Record {
    let title = format!("Clusters of {}", data.dataset.name());
    let mut record = record::begin(Kind::Cluster, title, data, fingerprint);
    record.config = serde_json::to_value(config).unwrap_or_default();
    record.seed = Some(arguments.seed);
    record.ddof = DDOF;
    record.protocol = arguments.preset.name().to_owned();
    for (index, method) in results.methods.iter().enumerate() {
        let [acc, nmi, ari, cs] = RECORD_FIELDS.map(|measure| estimate(method, measure));
        // All methods share the embedding and its training, which the first row shows.
        let is_first = index == 0;
        record.clusterings.push(Clustering {
            method: method.name.clone(),
            acc,
            nmi,
            ari,
            cs,
            others: other_measures()
                .map(|measure| (measure.name.to_owned(), estimate(method, measure)))
                .collect(),
            dimension: method.reports.first().map(|report| report.dimension as u64),
            captured: mean_captured(method),
            embedding: results.map.clone().filter(|_| is_first),
            losses: match is_first {
                true => results.losses.clone(),
                false => Vec::new(),
            },
        });
    }
    record
}

pub(super) fn print_summary(
    style: Style,
    arguments: &Arguments,
    data: &Data,
    results: &Results,
    folder: &RunFolder,
    seconds: f64,
) {
    let json_row = |method: &MethodReports| {
        let mut object = serde_json::Map::new();
        object.insert("method".into(), json!(method.name));
        for measure in Measure::ALL {
            let (name, estimate) = (measure.name, estimate(method, *measure));
            let number = |value: Option<f64>| {
                value
                    .filter(|value| value.is_finite())
                    .map_or(Value::Null, |v| json!(v))
            };
            object.insert(name.into(), number(Some(estimate.mean)));
            object.insert(format!("{name}_std"), number(estimate.deviation));
        }
        let first = method.reports.first();
        object.insert("dimension".into(), json!(first.map(|report| report.dimension)));
        object.insert("captured".into(), json!(first.map(|report| report.captured)));
        Value::Object(object)
    };
    let first = results.methods.first().and_then(|method| method.reports.first());
    let test = first.and_then(|report| report.test);
    style.emit(&json!({
        "event": "summary",
        "rows": results.methods.iter().map(json_row).collect::<Vec<_>>(),
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
    let labelled = results
        .methods
        .iter()
        .any(|method| !method.values(Measure::ACCURACY).is_empty());
    let measures = Measure::ALL.iter().copied();
    let measures: Vec<Measure> = measures
        .filter(|measure| labelled || !measure.needs_classes)
        .collect();
    let columns = measures.iter().map(|measure| measure.name.to_owned());
    let mut table = Table::new(
        ["method".to_owned()]
            .into_iter()
            .chain(columns)
            .chain(["captured".to_owned()]),
    );
    for method in &results.methods {
        let mut cells = vec![method.name.clone()];
        for measure in &measures {
            let estimate = estimate(method, *measure);
            cells.push(match (estimate.is_known(), estimate.deviation) {
                (false, _) => "-".to_owned(),
                (true, Some(deviation)) if arguments.reps > 1 => {
                    format!("{:.4} +- {deviation:.4}", estimate.mean)
                }
                (true, _) => format!("{:.4}", estimate.mean),
            });
        }
        cells.push(format!("{:.1} %", 100.0 * mean_captured(method).unwrap_or(0.0)));
        table.row(cells);
    }
    style.say(format!("\n{}", table.text()));
    if !labelled {
        let judges: Vec<String> = measures.iter().map(with_goal).collect();
        style.say(format!(
            "no classes are known: {} judge alone",
            judges.join(" and ")
        ));
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

fn with_goal(measure: &Measure) -> String {
    let better = match measure.goal {
        Goal::Max => "more",
        Goal::Min => "less",
    };
    format!("{} ({better} is better)", measure.name)
}
