//! The clustering results. Every number comes from a file in docs/results/.

mod details;
mod measures;
mod scale;

use std::fmt::Write;
use std::path::Path;

use egg_results::Summary;

use self::measures::{
    AGAINST_PLAIN, AGAINST_PLAIN_SMOOTH, Cell, EGG, MEASURES, against_paper, against_plain, cell, difference,
};
use super::Places;
use super::published::{Clustering, Methods};
use crate::cluster::record::ClusterRecord;
use crate::cluster::{DATASETS, OF_PRESET, PLAIN};
use crate::error::Result;
use crate::files;

pub(super) use self::details::details;
pub(super) use self::measures::Measure;

/// The record of a preset, if it is there.
fn record(results: &Path, dataset: &str, preset: &str) -> Result<Option<ClusterRecord>> {
    files::find(&Places::new(results).clustering(dataset, preset))
}

/// A row of the table that the page opens with: accuracy in percent.
pub(super) struct Glance {
    pub(super) model: &'static str,
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
                all.push(Self::new("VGAE", EGG, dataset, &record, &published));
            }
        }
        for dataset in DATASETS {
            if let Some(record) = record(results, dataset, "auto")? {
                all.push(Self::new(
                    "smoothed, `auto`",
                    OF_PRESET,
                    dataset,
                    &record,
                    &Methods::new(),
                ));
            }
        }
        Ok(all)
    }

    fn new(
        model: &'static str,
        egg: &'static str,
        dataset: &'static str,
        record: &ClusterRecord,
        paper: &Methods,
    ) -> Self {
        let accuracy = &MEASURES[0];
        let ours = |method| percent(accuracy.summary(record, method));
        let theirs = paper.get(egg).and_then(|row| accuracy.published(row));
        let methods = match egg {
            EGG => &AGAINST_PLAIN[..],
            _ => &AGAINST_PLAIN_SMOOTH,
        };
        let judged = |family: Vec<Cell>| {
            let cell = family
                .into_iter()
                .find(|cell| cell.method == egg && cell.measure.name == accuracy.name);
            difference(cell.and_then(|cell| cell.judged).as_ref(), 100.0, 1)
        };
        Self {
            model,
            dataset,
            egg: ours(egg),
            paper: percent(theirs),
            less_paper: judged(against_paper(record, paper)),
            plain: ours(PLAIN),
            less_plain: judged(against_plain(record, methods)),
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
         paper's. `tuned` is the preset chosen without labels; `auto`, EGG of smoothed features, has settings that are chosen without labels for each\n\
         graph (its candidates were fixed on Cora and Citeseer). [CLUSTERING.md](CLUSTERING.md) says what is computed; all methods are in\n\
         [results/DETAILS.md](results/DETAILS.md).\n\n\
         | data | measure | k-means on H | EGG 0.8 flat | EGG 0.8 spectral(1) | `tuned` | `auto` |\n|---|---|---|---|---|---|---|\n",
    );
    for dataset in DATASETS {
        let others = [
            record(results, dataset, "tuned")?,
            record(results, dataset, "auto")?,
        ];
        let Some(record) = record(results, dataset, "paper")? else {
            let _ = writeln!(page, "| {dataset} | missing | | | | | |");
            continue;
        };
        let published = paper.datasets.get(dataset).cloned().unwrap_or_default();
        let judged = against_paper(&record, &published);
        for measure in &MEASURES {
            let cells = SHOWN.map(|method| cell(&record, &published, &judged, method, measure));
            let others = others.each_ref().map(|record| {
                let record = record.as_ref();
                let summary = record.and_then(|record| measure.summary(record, OF_PRESET));
                summary.map_or("missing".to_owned(), |summary| format!("{summary:.3}"))
            });
            let _ = writeln!(
                page,
                "| {dataset} | {} | {} | {} |",
                measure.heading,
                cells.join(" | "),
                others.join(" | ")
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
    scale::table(&mut page, &results.join("cluster/scale.json"))?;
    page.push_str("\n### Memory of the exact likelihood\n");
    scale::table(&mut page, &results.join("cluster/pubmed-memory.json"))?;
    Ok(page)
}

#[cfg(test)]
mod tests {
    use super::details::table;
    use super::measures::METHODS;
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
        let glance = Glance::new("VGAE", EGG, "Cora", &example(), &paper);
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
