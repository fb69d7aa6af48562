//! Every method on every graph, for the second page.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use egg_results::Summary;

use super::super::published::{Clustering, Methods, Row};
use super::measures::{
    AGAINST_PLAIN, AGAINST_PLAIN_SMOOTH, MEASURES, METHODS, against_paper, against_plain, cell, difference,
};
use super::record;
use crate::cluster::record::ClusterRecord;
use crate::cluster::{DATASETS, OF_PRESET, PLAIN};
use crate::error::Result;

/// The part of the second page about clustering.
pub(in crate::page) fn details(results: &Path) -> Result<String> {
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
        if let Some(record) = record(results, dataset, "auto")? {
            let _ = write!(page, "\n### {dataset}, preset `auto`\n\n");
            let methods = [&[PLAIN], &AGAINST_PLAIN_SMOOTH[..]].concat();
            table(&mut page, &record, &methods, &none);
            differences(&mut page, &record, &AGAINST_PLAIN_SMOOTH);
            about(&mut page, &record);
        }
    }
    Ok(page)
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
    if let Some(auc) = Summary::from_values(&auc.collect::<Vec<f64>>(), 0) {
        let _ = write!(page, "; test AUC of held-out edges {auc:.3}");
    }
    let _ = writeln!(
        page,
        "; {seconds:.0} s, threads {}; revision {}.",
        texts(repetitions.iter().map(|one| one.threads.to_string()).collect()),
        texts(repetitions.iter().map(|one| one.revision.clone()).collect()),
    );
}

pub(super) fn table(page: &mut String, record: &ClusterRecord, methods: &[&str], paper: &Methods) {
    page.push_str("| method | ACC | NMI | ARI | CS | captured |\n|---|---|---|---|---|---|\n");
    let judged = against_paper(record, paper);
    for method in methods {
        let cells = MEASURES
            .each_ref()
            .map(|measure| cell(record, paper, &judged, method, measure));
        let captured = Summary::from_values(&record.values(method, |report| Some(report.captured)), 0);
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
    differences(page, record, &AGAINST_PLAIN);
}

/// Each method less plain k-means.
fn differences(page: &mut String, record: &ClusterRecord, methods: &[&'static str]) {
    let judged = against_plain(record, methods);
    for &method in methods {
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
