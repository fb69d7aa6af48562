//! The clustering results. Every number comes from a file in docs/results/.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use egg_cluster::metrics::Agreement;
use egg_results::{Summary, Verdict, welch};

use super::Places;
use super::published::{Clustering, Methods, Pair, Row};
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

const MEASURES: [Measure; 4] = [
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
        const { &MEASURES }.iter().find(|measure| measure.name == name)
    }

    /// Of each repetition.
    pub(super) fn values(&self, record: &ClusterRecord, method: &str) -> Vec<f64> {
        record.values(method, |report| Some((self.ours)(report.agreement.as_ref()?)))
    }

    fn summary(&self, record: &ClusterRecord, method: &str) -> Option<Summary> {
        Summary::from_values(&self.values(record, method), 0)
    }

    fn published(&self, row: &Row) -> Option<Summary> {
        (self.theirs)(row).map(Pair::summary)
    }
}

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

/// The part of the page about clustering.
pub(super) fn section(results: &Path) -> Result<String> {
    let (paper, places) = (Clustering::read(results)?, Places::new(results));
    let record = |dataset, preset| files::find::<ClusterRecord>(&places.clustering(dataset, preset));
    let mut page = String::from(
        "## Node clustering (Table 5)\n\n\
         Mean ± standard deviation over the repetitions (seeds 0, 1, ...; one link split for all). *Captured* is the share of the\n\
         singular values' sum. *Paper* is its Table 5. [CLUSTERING.md](CLUSTERING.md) says what is computed.\n",
    );
    for dataset in DATASETS {
        let _ = write!(page, "\n### {dataset}\n");
        match record(dataset, "paper")? {
            Some(record) => table(
                &mut page,
                &record,
                paper.datasets.get(dataset).unwrap_or(&Methods::new()),
            ),
            None if dataset == "Wiki-CS" => {
                page.push_str(
                    "\nNo data: the file is not to be had offline; `cargo xtask data fetch Wiki-CS` gets it, and\n\
                     `cargo xtask bench paper --table cluster --dataset Wiki-CS` fills this place.\n",
                );
                continue;
            }
            None => page.push_str("\nPreset `paper`: missing.\n"),
        }
        if let Some(record) = record(dataset, "paper-sampled")? {
            sampled(&mut page, &record);
        }
        match record(dataset, "tuned")? {
            Some(record) => tuned(&mut page, &record),
            None => page.push_str("\nPreset `tuned`: missing.\n"),
        }
    }
    page.push_str("\n### Scale\n\nBlock models, ten edges per node, sampled non-edges, end to end.\n");
    scale(&mut page, &results.join("cluster/scale.json"))?;
    page.push_str("\n### Memory of the exact likelihood\n");
    scale(&mut page, &results.join("cluster/pubmed-memory.json"))?;
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
    let _ = write!(
        page,
        "\nPreset `{}`: {} repetitions; {} nodes, {} edges, {} features, {} classes. Revision {}, {seconds:.0} s in all, threads {}.",
        record.subject.preset,
        repetitions.len(),
        data.nodes,
        data.edges,
        data.features,
        data.classes,
        texts(repetitions.iter().map(|one| one.revision.clone()).collect()),
        texts(repetitions.iter().map(|one| one.threads.to_string()).collect()),
    );
    let checksum = |text: &str| text.chars().take(12).collect::<String>();
    let _ = write!(page, " Data {}", checksum(&data.fingerprint));
    if let Some(split) = &record.split {
        let _ = write!(page, ", link split {}", checksum(split));
    }
    page.push('.');
    let auc = repetitions.iter().filter_map(|one| Some(one.test?.roc_auc));
    if let Some(auc) = Summary::from_values(&auc.collect::<Vec<f64>>(), 0) {
        let _ = write!(page, " Test AUC of held-out edges {auc}.");
    }
    page.push_str("\n\n");
}

fn table(page: &mut String, record: &ClusterRecord, paper: &Methods) {
    about(page, record);
    page.push_str("| method | ACC | NMI | ARI | CS | captured |\n|---|---|---|---|---|---|\n");
    for method in METHODS {
        row(page, record, method, method);
        if let Some(theirs) = paper.get(method) {
            let cells = MEASURES.map(|measure| measure.published(theirs));
            let cells = cells.map(|cell| cell.map_or("-".into(), |cell| format!("*{cell}*")));
            let captured = theirs.captured.unwrap_or(1.0);
            let _ = writeln!(
                page,
                "| *paper: {method}* | {} | {:.2} % |",
                cells.join(" | "),
                100.0 * captured
            );
        }
    }
    page.push('\n');
    against_the_paper(page, record, paper.get(PLAIN).unwrap_or(&Row::default()));
    noise(page, record, paper);
    against_plain(page, record);
}

fn row(page: &mut String, record: &ClusterRecord, method: &str, name: &str) {
    let cells = MEASURES.map(|measure| match measure.summary(record, method) {
        Some(summary) => summary.to_string(),
        None => "missing".into(),
    });
    let captured = Summary::from_values(&record.values(method, |report| Some(report.captured)), 0);
    let captured = captured.map_or("-".into(), |summary| format!("{:.2} %", 100.0 * summary.mean));
    let kept = kept(record, method);
    let _ = writeln!(page, "| {name}{kept} | {} | {captured} |", cells.join(" | "));
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

/// Whether plain k-means is within two of the paper's standard deviations.
fn against_the_paper(page: &mut String, record: &ClusterRecord, paper: &Row) {
    let parts = MEASURES.map(|measure| {
        let ours = measure.summary(record, PLAIN)?;
        let theirs = measure.published(paper)?;
        let distance = (ours.mean - theirs.mean) / theirs.deviation?;
        let verdict = if distance.abs() <= 2.0 {
            "within 2"
        } else {
            "OUTSIDE 2"
        };
        Some(format!("{} {distance:+.1} ({verdict})", measure.heading))
    });
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let _ = writeln!(
        page,
        "- Plain k-means against the paper's, in the paper's standard deviations: {}.",
        parts.join(", ")
    );
}

/// Which cells Welch's test tells from the paper's. Seeds are independent, so nothing is
/// corrected but for how many cells there are; and they tell about other seeds on this graph.
fn noise(page: &mut String, record: &ClusterRecord, paper: &Methods) {
    let mut names = Vec::new();
    let mut comparisons = Vec::new();
    for method in METHODS {
        let Some(row) = paper.get(method) else { continue };
        for measure in &MEASURES {
            if let (Some(ours), Some(theirs)) = (measure.summary(record, method), measure.published(row)) {
                names.push(format!("{method} {}", measure.heading));
                comparisons.push(welch(&ours, &theirs, 0.0));
            }
        }
    }
    let judged = family(comparisons);
    let told = names.iter().zip(&judged).filter_map(|(name, judged)| {
        let judged = judged.as_ref()?;
        let is_told = matches!(judged.verdict(), Verdict::Better | Verdict::Worse);
        is_told.then(|| format!("{name} {}", judged.against_published()))
    });
    let told: Vec<String> = told.collect();
    if !names.is_empty() {
        let others = match told.as_slice() {
            [] => String::new(),
            told => format!("; the others: {}", told.join(", ")),
        };
        let _ = writeln!(
            page,
            "- All cells against the paper's (Welch's test, Holm, 5 %; other seeds on this graph): {} of {} not told apart{others}.",
            names.len() - told.len(),
            names.len()
        );
    }
}

/// Whether EGG beats plain k-means on the same embeddings.
fn against_plain(page: &mut String, record: &ClusterRecord) {
    const AGAINST: [&str; 2] = ["EGG 0.8 flat", "EGG 0.8 spectral(1)"];
    let pairs = AGAINST
        .iter()
        .flat_map(|method| MEASURES.iter().map(move |measure| (*method, measure)));
    let compared = pairs.map(|(method, measure)| {
        compare_seeds(&measure.values(record, method), &measure.values(record, PLAIN))
    });
    let judged = family(compared.collect());
    for (method, judged) in AGAINST.iter().zip(judged.chunks(MEASURES.len())) {
        let part = |(measure, judged): (&Measure, &Option<Judged>)| {
            let judged = judged.as_ref()?;
            Some(format!(
                "{} {:+.4} ({})",
                measure.heading,
                judged.comparison.difference,
                judged.words()
            ))
        };
        let parts: Vec<String> = MEASURES.iter().zip(judged).filter_map(part).collect();
        let _ = writeln!(
            page,
            "- {method} against plain k-means on the same H (paired t over seeds, Holm, 5 %): {}.",
            parts.join(", ")
        );
    }
}

/// The paper's settings with as many sampled non-edges as edges.
fn sampled(page: &mut String, record: &ClusterRecord) {
    about(page, record);
    page.push_str("| method | ACC | NMI | ARI | CS | captured |\n|---|---|---|---|---|---|\n");
    for method in &METHODS[..4] {
        row(page, record, method, method);
    }
}

fn tuned(page: &mut String, record: &ClusterRecord) {
    about(page, record);
    page.push_str("| method | ACC | NMI | ARI | CS | captured |\n|---|---|---|---|---|---|\n");
    row(page, record, OF_PRESET, "`tuned`");
    row(page, record, PLAIN, "k-means on its H");
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
    fn cells_verdicts_and_what_is_missing() {
        let paper = paper(json!({"k-means on H": {
            "accuracy": [0.6, 0.01], "normalised_mutual_information": [0.6, 0.1],
            "adjusted_rand": [0.6, 0.1], "completeness": [0.6, 0.1]}}));
        let mut page = String::new();
        table(&mut page, &example(), &paper);
        assert!(page.contains("| k-means on H | 0.5000 ± 0.0816 |"), "{page}");
        assert!(
            page.contains("| *paper: k-means on H* | *0.6000 ± 0.0100* |"),
            "{page}"
        );
        assert!(page.contains("| EGG 0.8 flat, p = 13 | 0.6667 "), "{page}");
        assert!(page.contains("| EGG 0.5 flat | missing |"), "{page}");
        assert!(
            page.contains("ACC -10.0 (OUTSIDE 2), NMI -1.0 (within 2)"),
            "{page}"
        );
        // Standard errors 0.0577 and 0.0033: t = -1.7, and 0.0333: t = -1.5.
        assert!(page.contains("4 of 4 not told apart."), "{page}");
        // Differences 0.2, 0.1, 0.2: t = 5 with 2 degrees of freedom, p = 0.04, of four measures.
        assert!(
            page.contains(
                "EGG 0.8 flat against plain k-means on the same H (paired t over seeds, Holm, 5 %): \
                 ACC +0.1667 (not told apart in 3 runs)"
            ),
            "{page}"
        );
    }

    #[test]
    fn cells_beyond_the_noise_are_named() {
        let mut page = String::new();
        let paper = paper(json!({"EGG 0.8 flat": {"accuracy": [0.3, 0.01], "completeness": [0.66, 0.01]}}));
        noise(&mut page, &example(), &paper);
        assert!(
            page.contains("1 of 2 not told apart; the others: EGG 0.8 flat ACC HIGHER."),
            "{page}"
        );
    }

    #[test]
    fn a_page_without_records_says_so() {
        let folder = std::env::temp_dir().join(format!("egg-render-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("paper")).unwrap();
        std::fs::write(folder.join("paper/cluster.json"), "{\"datasets\": {}}").unwrap();
        let page = section(&folder).unwrap();
        assert_eq!(page.matches("missing").count(), 10);
        assert_eq!(page.matches("No data:").count(), 1);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
