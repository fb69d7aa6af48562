//! The clustering results. Every number comes from a file in docs/results/.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use egg_cluster::metrics::Agreement;
use egg_results::{Comparison, Summary, welch};

use super::Places;
use super::published::{Clustering, Methods, Pair, Row};
use super::table::is_significant;
use super::verdicts::{Judged, compare_seeds, family};
use crate::cluster::record::ClusterRecord;
use crate::cluster::scale::{ScaleRecord, number};
use crate::cluster::{DATASETS, OF_PRESET, PLAIN};
use crate::error::Result;
use crate::files;

/// A measure of the table.
pub(super) struct Measure {
    /// As in the table.
    heading: &'static str,
    /// As in records.
    name: &'static str,
    ours: fn(&Agreement) -> f64,
    theirs: fn(&Row) -> Option<Pair>,
}

static MEASURES: [Measure; 4] = [
    Measure {
        heading: "ACC",
        name: "accuracy",
        ours: |agreement| agreement.accuracy,
        theirs: |row| row.accuracy,
    },
    Measure {
        heading: "NMI",
        name: "normalised_mutual_information",
        ours: |agreement| agreement.normalised_mutual_information,
        theirs: |row| row.normalised_mutual_information,
    },
    Measure {
        heading: "ARI",
        name: "adjusted_rand",
        ours: |agreement| agreement.adjusted_rand,
        theirs: |row| row.adjusted_rand,
    },
    Measure {
        heading: "CS",
        name: "completeness",
        ours: |agreement| agreement.completeness,
        theirs: |row| row.completeness,
    },
];

impl Measure {
    /// By its name in records.
    pub(super) fn named(name: &str) -> Option<&'static Self> {
        MEASURES.iter().find(|measure| measure.name == name)
    }

    /// Of each repetition.
    pub(super) fn values(&self, record: &ClusterRecord, method: &str) -> Vec<f64> {
        record.values(method, |report| Some((self.ours)(report.agreement.as_ref()?)))
    }

    fn summary(&self, record: &ClusterRecord, method: &str) -> Option<Summary> {
        Summary::of(&self.values(record, method), 0)
    }

    fn published(&self, row: &Row) -> Option<Summary> {
        (self.theirs)(row).map(Pair::summary)
    }
}

/// The paper's own coordinates.
const EGG: &str = "EGG 0.8 flat";

/// What is compared with plain k-means.
const AGAINST_PLAIN: [&str; 2] = [EGG, "EGG 0.8 spectral(1)"];

/// Rows of the table, in this order.
const METHODS: [&str; 7] = [
    PLAIN,
    "EGG 0.2 flat",
    "EGG 0.5 flat",
    "EGG 0.8 flat",
    "EGG 0.2 spectral(1)",
    "EGG 0.5 spectral(1)",
    "EGG 0.8 spectral(1)",
];

/// Preset `paper`'s record, if it is there.
fn record(results: &Path, dataset: &str, preset: &str) -> Result<Option<ClusterRecord>> {
    files::find(&Places::new(results).clustering(dataset, preset))
}

/// A row of the table that the page opens with: accuracy in percent.
pub(super) struct Glance {
    pub(super) dataset: &'static str,
    pub(super) egg: String,
    pub(super) paper: String,
    pub(super) less_paper: String,
    pub(super) plain: String,
    pub(super) less_plain: String,
}

impl Glance {
    /// Of every graph that has a record.
    pub(super) fn all(results: &Path) -> Result<Vec<Self>> {
        let paper = Clustering::read(results)?;
        let mut all = Vec::new();
        for dataset in DATASETS {
            if let Some(record) = record(results, dataset, "paper")? {
                let published = paper.datasets.get(dataset).cloned().unwrap_or_default();
                all.push(Self::of(dataset, &record, &published));
            }
        }
        Ok(all)
    }

    fn of(dataset: &'static str, record: &ClusterRecord, paper: &Methods) -> Self {
        let accuracy = &MEASURES[0];
        let ours = |method| percent(accuracy.summary(record, method));
        let theirs = paper.get(EGG).and_then(|row| accuracy.published(row));
        let judged = |family: Vec<Cell>| {
            let cell = family
                .into_iter()
                .find(|cell| cell.method == EGG && cell.measure.name == accuracy.name);
            difference(cell.and_then(|cell| cell.judged).as_ref(), 100.0, 1)
        };
        Self {
            dataset,
            egg: ours(EGG),
            paper: percent(theirs),
            less_paper: judged(against_paper(record, paper)),
            plain: ours(PLAIN),
            less_plain: judged(against_plain(record)),
        }
    }
}

fn percent(summary: Option<Summary>) -> String {
    let text = |summary: Summary| {
        let deviation = summary.deviation.unwrap_or(0.0);
        format!("{:.1} ± {:.1}", 100.0 * summary.mean, 100.0 * deviation)
    };
    summary.map_or("-".to_owned(), text)
}

/// The part of the page about clustering.
pub(super) fn section(results: &Path) -> Result<String> {
    const SHOWN: [&str; 3] = [PLAIN, EGG, "EGG 0.8 spectral(1)"];
    let paper = Clustering::read(results)?;
    let mut page = String::from(
        "## Node clustering (Table 5)\n\n\
         Preset `paper`: mean ± standard deviation over ten seeds on one link split, the paper's mean in brackets. `*`: significantly different from the\n\
         paper's. `tuned` is the preset chosen without labels. [CLUSTERING.md](CLUSTERING.md) says what is computed; all methods are in\n\
         [results/DETAILS.md](results/DETAILS.md).\n\n\
         | data | measure | k-means on H | EGG 0.8 flat | EGG 0.8 spectral(1) | `tuned` |\n|---|---|---|---|---|---|\n",
    );
    for dataset in DATASETS {
        let tuned = record(results, dataset, "tuned")?;
        let Some(record) = record(results, dataset, "paper")? else {
            let _ = writeln!(page, "| {dataset} | missing | | | | |");
            continue;
        };
        let published = paper.datasets.get(dataset).cloned().unwrap_or_default();
        let judged = against_paper(&record, &published);
        for measure in &MEASURES {
            let cells = SHOWN.map(|method| cell(&record, &published, &judged, method, measure));
            let tuned = tuned
                .as_ref()
                .and_then(|record| measure.summary(record, OF_PRESET));
            let _ = writeln!(
                page,
                "| {dataset} | {} | {} | {} |",
                measure.heading,
                cells.join(" | "),
                tuned.map_or("missing".to_owned(), |tuned| format!("{tuned:.3}"))
            );
        }
    }
    if record(results, "Wiki-CS", "paper")?.is_none() {
        page.push_str(
            "\nWiki-CS has no record: `cargo xtask data fetch Wiki-CS` downloads it, and\n\
             `cargo xtask bench paper --table cluster --dataset Wiki-CS` runs it.\n",
        );
    }
    page.push_str("\n### Scale\n\nBlock models, ten edges per node, sampled non-edges, end to end.\n");
    scale(&mut page, &results.join("cluster/scale.json"))?;
    page.push_str("\n### Memory of the exact likelihood\n");
    scale(&mut page, &results.join("cluster/pubmed-memory.json"))?;
    Ok(page)
}

/// `0.548 ± 0.063* (0.694)`
fn cell(record: &ClusterRecord, paper: &Methods, judged: &[Cell], method: &str, measure: &Measure) -> String {
    let Some(ours) = measure.summary(record, method) else {
        return "missing".to_owned();
    };
    let mut text = format!("{ours:.3}");
    let found = judged
        .iter()
        .find(|cell| cell.method == method && cell.measure.name == measure.name);
    if found.is_some_and(|cell| cell.judged.as_ref().is_some_and(is_significant)) {
        text.push('*');
    }
    if let Some(theirs) = paper.get(method).and_then(|row| measure.published(row)) {
        let _ = write!(text, " ({:.3})", theirs.mean);
    }
    text
}

/// The part of the second page about clustering.
pub(super) fn details(results: &Path) -> Result<String> {
    let paper = Clustering::read(results)?;
    let mut page = String::from(
        "## Node clustering, method by method\n\n\
         The paper's mean in brackets; `*`: significantly different from it (Welch's test, Holm's correction over the table). *Captured* is the share of the sum of\n\
         the singular values. Preset `paper-sampled` has as many sampled non-edges as edges instead of all pairs.\n",
    );
    for dataset in DATASETS {
        let none = Methods::new();
        let published = paper.datasets.get(dataset).unwrap_or(&none);
        let rows: [(&str, &[&str], &Methods); 3] = [
            ("paper", &METHODS, published),
            ("paper-sampled", &METHODS[..4], &none),
            ("tuned", &[OF_PRESET, PLAIN], &none),
        ];
        for (preset, methods, published) in rows {
            if let Some(record) = record(results, dataset, preset)? {
                let _ = write!(page, "\n### {dataset}, preset `{preset}`\n\n");
                table(&mut page, &record, methods, published);
                about(&mut page, &record);
            }
        }
    }
    Ok(page)
}

/// What `egg-reproduce cluster-scale` recorded.
fn scale(page: &mut String, path: &Path) -> Result<()> {
    let Some(record) = files::find::<ScaleRecord>(path)? else {
        page.push_str("\nmissing\n");
        return Ok(());
    };
    page.push_str(
        "\n| graph | nodes | edges | s an epoch | CPU s an epoch | epochs | s in all | peak MB | p | NMI | ACC |\n\
         |---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for line in &record.graphs {
        let agreement = line.agreement;
        let _ = writeln!(
            page,
            "| {} | {} | {} | {} | {} | {} | {:.3} | {} | {} | {} | {} |",
            line.graph,
            line.nodes,
            line.edges,
            number(line.epoch_seconds),
            number(line.epoch_cpu_seconds),
            line.epochs,
            line.total_seconds,
            line.peak_megabytes
                .map_or("-".into(), |peak| format!("{peak:.0}")),
            line.dimension,
            number(agreement.map(|agreement| agreement.normalised_mutual_information)),
            number(agreement.map(|agreement| agreement.accuracy)),
        );
    }
    let _ = write!(
        page,
        "\nRevision {}, {} threads.",
        record.revision, record.threads
    );
    if let (Some(clock), Some(cpu)) = (record.exponent, record.cpu_exponent) {
        let _ = write!(
            page,
            " Fitted: an epoch takes c nodes^{clock:.3} seconds by the clock, c nodes^{cpu:.3} of computing."
        );
    }
    page.push('\n');
    Ok(())
}

fn about(page: &mut String, record: &ClusterRecord) {
    let (repetitions, data) = (&record.repetitions, &record.subject.data);
    let texts = |texts: BTreeSet<String>| Vec::from_iter(texts).join(", ");
    let seconds: f64 = repetitions.iter().map(|one| one.seconds).sum();
    let checksum = |text: &str| text.chars().take(12).collect::<String>();
    let _ = write!(
        page,
        "\n{} repetitions; {} nodes, {} edges, {} features, {} classes, data {}",
        repetitions.len(),
        data.nodes,
        data.edges,
        data.features,
        data.classes,
        checksum(&data.fingerprint)
    );
    if let Some(split) = &record.split {
        let _ = write!(page, ", link split {}", checksum(split));
    }
    let auc = repetitions.iter().filter_map(|one| Some(one.test?.roc_auc));
    if let Some(auc) = Summary::of(&auc.collect::<Vec<f64>>(), 0) {
        let _ = write!(page, "; test AUC of held-out edges {auc:.3}");
    }
    let _ = writeln!(
        page,
        "; {seconds:.0} s, threads {}; revision {}.",
        texts(repetitions.iter().map(|one| one.threads.to_string()).collect()),
        texts(repetitions.iter().map(|one| one.revision.clone()).collect()),
    );
}

fn table(page: &mut String, record: &ClusterRecord, methods: &[&str], paper: &Methods) {
    page.push_str("| method | ACC | NMI | ARI | CS | captured |\n|---|---|---|---|---|---|\n");
    let judged = against_paper(record, paper);
    for method in methods {
        let cells = MEASURES
            .each_ref()
            .map(|measure| cell(record, paper, &judged, method, measure));
        let captured = Summary::of(&record.values(method, |report| Some(report.captured)), 0);
        let captured = captured.map_or("-".into(), |summary| format!("{:.2} %", 100.0 * summary.mean));
        let theirs = paper.get(*method).and_then(|row| row.captured);
        let theirs = theirs.map_or(String::new(), |share| format!(" ({:.0} %)", 100.0 * share));
        let _ = writeln!(
            page,
            "| {method}{} | {} | {captured}{theirs} |",
            kept(record, method),
            cells.join(" | ")
        );
    }
    if paper.is_empty() {
        return;
    }
    deviations(page, record, paper.get(PLAIN).unwrap_or(&Row::default()));
    let judged = against_plain(record);
    for method in AGAINST_PLAIN {
        let of_method = judged.iter().filter(|cell| cell.method == method);
        let parts: Vec<String> = of_method
            .map(|cell| {
                let text = difference(cell.judged.as_ref(), 1.0, 3);
                format!("{} {text}", cell.measure.heading)
            })
            .collect();
        let _ = writeln!(
            page,
            "- {method} less plain k-means on the same H (paired t over seeds): {}.",
            parts.join(", ")
        );
    }
}

/// How many directions were kept, `, p = 13` or, if not always as many, `, p = 7 to 13`.
fn kept(record: &ClusterRecord, method: &str) -> String {
    // Plain k-means keeps them all, and decomposes nothing.
    let ranks: BTreeSet<usize> = match method.contains("EGG") || method == OF_PRESET {
        true => record
            .repetitions
            .iter()
            .filter_map(|one| Some(one.methods.get(method)?.dimension))
            .collect(),
        false => BTreeSet::new(),
    };
    match (ranks.first(), ranks.last()) {
        (Some(least), Some(most)) if least == most => format!(", p = {least}"),
        (Some(least), Some(most)) => format!(", p = {least} to {most}"),
        _ => String::new(),
    }
}

/// Plain k-means and the paper's, in the paper's standard deviations.
fn deviations(page: &mut String, record: &ClusterRecord, paper: &Row) {
    let parts = MEASURES.each_ref().map(|measure| {
        let ours = measure.summary(record, PLAIN)?;
        let theirs = measure.published(paper)?;
        let distance = (ours.mean - theirs.mean) / theirs.deviation?;
        Some(format!("{} {distance:+.1}", measure.heading))
    });
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let _ = writeln!(
        page,
        "\n- Plain k-means less the paper's, in the paper's standard deviations: {}.",
        parts.join(", ")
    );
}

/// A comparison of one method by one measure.
struct Cell {
    method: &'static str,
    measure: &'static Measure,
    judged: Option<Judged>,
}

/// Judges every pair of a method and a measure together.
fn family_of(
    methods: &[&'static str],
    of: impl Fn(&'static str, &'static Measure) -> Option<Comparison>,
) -> Vec<Cell> {
    let pairs: Vec<(&'static str, &'static Measure)> = methods
        .iter()
        .flat_map(|method| MEASURES.iter().map(move |measure| (*method, measure)))
        .collect();
    let judged = family(
        pairs
            .iter()
            .map(|(method, measure)| of(method, measure))
            .collect(),
    );
    let cells = pairs.into_iter().zip(judged);
    cells
        .map(|((method, measure), judged)| Cell {
            method,
            measure,
            judged,
        })
        .collect()
}

/// Ours against the paper's. Seeds are independent, so that nothing is corrected but for the
/// number of cells; they say nothing of other graphs.
fn against_paper(record: &ClusterRecord, paper: &Methods) -> Vec<Cell> {
    family_of(&METHODS, |method, measure| {
        let theirs = measure.published(paper.get(method)?)?;
        welch(&measure.summary(record, method)?, &theirs, 0.0)
    })
}

/// EGG against plain k-means on the same embeddings.
fn against_plain(record: &ClusterRecord) -> Vec<Cell> {
    family_of(&AGAINST_PLAIN, |method, measure| {
        compare_seeds(&measure.values(record, method), &measure.values(record, PLAIN))
    })
}

/// `-0.051*`: a difference times a factor, with a star if it is significant.
fn difference(judged: Option<&Judged>, factor: f64, digits: usize) -> String {
    let Some(judged) = judged else {
        return "-".to_owned();
    };
    let star = match is_significant(judged) {
        true => "*",
        false => "",
    };
    format!("{:+.digits$}{star}", factor * judged.comparison.difference)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn example() -> ClusterRecord {
        let report = |value: f64| {
            json!({"captured": 0.5, "captured_squares": 0.5, "dimension": 13, "epoch": 1, "inertia": 1.0, "loss": null,
                "modularity": null, "conductance": null, "validation": null, "test": null,
                "timings": {"preparing": 0.0, "training": 0.0, "coordinates": 0.0, "clustering": 0.0, "measuring": 0.0},
                "agreement": {"accuracy": value, "normalised_mutual_information": value, "adjusted_rand": value,
                    "completeness": value, "homogeneity": value, "v_measure": value, "macro_f1": value}})
        };
        let one = |seed: u64, plain: f64, egg: f64| {
            json!({"seed": seed, "revision": "abc", "machine": "m", "threads": 1, "seconds": 1.5,
                "validation": null, "test": {"roc_auc": 0.9, "average_precision": 0.9},
                "methods": {"k-means on H": report(plain), "EGG 0.8 flat": report(egg)}})
        };
        let config = egg_cluster::pipeline::Preset::Paper.config();
        serde_json::from_value(
            json!({"table": "cluster", "dataset": "cora", "preset": "paper", "config": config,
            "methods": {}, "split": null,
            "data": {"fingerprint": "abc", "nodes": 3, "edges": 2, "features": 1, "classes": 2},
            "repetitions": [one(0, 0.4, 0.6), one(1, 0.6, 0.7), one(2, 0.5, 0.7)]}),
        )
        .unwrap()
    }

    fn paper(methods: serde_json::Value) -> Methods {
        serde_json::from_value(methods).unwrap()
    }

    #[test]
    fn tables_have_ours_the_papers_and_what_is_missing() {
        let paper = paper(json!({"k-means on H": {
            "accuracy": [0.6, 0.01], "normalised_mutual_information": [0.6, 0.1],
            "adjusted_rand": [0.6, 0.1], "completeness": [0.6, 0.1]}}));
        let mut page = String::new();
        table(&mut page, &example(), &METHODS, &paper);
        // Standard errors 0.0577 and 0.0033: t = -1.7, which is no significant difference.
        assert!(
            page.contains("| k-means on H | 0.500 ± 0.082 (0.600) |"),
            "{page}"
        );
        assert!(
            page.contains("| EGG 0.8 flat, p = 13 | 0.667 ± 0.047 |"),
            "{page}"
        );
        assert!(page.contains("| EGG 0.5 flat | missing |"), "{page}");
        assert!(
            page.contains("standard deviations: ACC -10.0, NMI -1.0,"),
            "{page}"
        );
        // Differences 0.2, 0.1, 0.2: t = 5 with 2 degrees of freedom, p = 0.04, of four measures.
        assert!(
            page.contains(
                "- EGG 0.8 flat less plain k-means on the same H (paired t over seeds): ACC +0.167, NMI"
            ),
            "{page}"
        );
    }

    #[test]
    fn significant_differences_have_a_star() {
        let paper = paper(json!({"EGG 0.8 flat": {"accuracy": [0.3, 0.01], "completeness": [0.66, 0.01]}}));
        let mut page = String::new();
        table(&mut page, &example(), &METHODS, &paper);
        let row = "| EGG 0.8 flat, p = 13 | 0.667 ± 0.047* (0.300) | 0.667 ± 0.047 | 0.667 ± 0.047 | 0.667 ± 0.047 (0.660) |";
        assert!(page.contains(row), "{page}");
        let glance = Glance::of("Cora", &example(), &paper);
        assert_eq!(
            (glance.egg.as_str(), glance.paper.as_str()),
            ("66.7 ± 4.7", "30.0 ± 1.0")
        );
        assert_eq!(
            (glance.less_paper.as_str(), glance.less_plain.as_str()),
            ("+36.7*", "+16.7")
        );
    }

    #[test]
    fn a_page_without_records_says_so() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("paper")).unwrap();
        std::fs::write(folder.path().join("paper/cluster.json"), "{\"datasets\": {}}").unwrap();
        let page = section(folder.path()).unwrap();
        assert_eq!(page.matches("missing").count(), 7);
        assert_eq!(page.matches("Wiki-CS has no record").count(), 1);
    }
}
