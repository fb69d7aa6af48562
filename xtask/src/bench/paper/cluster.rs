//! The clustering results. Every number comes from a file in docs/results/.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use egg_results::{Summary, Verdict, welch};
use serde_json::Value;

use super::records::{read, values};
use super::verdicts::{Judged, compare_seeds, family, published};
use crate::error::Result;

const MEASURES: [(&str, &str); 4] = [
    ("ACC", "accuracy"),
    ("NMI", "normalised_mutual_information"),
    ("ARI", "adjusted_rand"),
    ("CS", "completeness"),
];

const PLAIN: &str = "k-means on H";

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
    let paper = read(&results.join("paper/cluster.json"))?;
    let mut page = String::from(
        "## Node clustering (Table 5)\n\n\
         Mean ± standard deviation over the repetitions (seeds 0, 1, ...; one link split for all). *Captured* is the share of the\n\
         singular values' sum. *Paper* is its Table 5. [CLUSTERING.md](CLUSTERING.md) says what is computed.\n",
    );
    for dataset in super::CLUSTERED {
        let _ = write!(page, "\n### {dataset}\n");
        match record(results, dataset, "paper")? {
            Some(record) => table(&mut page, &record, &paper["datasets"][dataset]),
            None if dataset == "Wiki-CS" => {
                page.push_str(
                    "\nNo data: the file is not to be had offline; `cargo xtask data prepare Wiki-CS` gets it, and\n\
                     `cargo xtask bench paper --table cluster --dataset Wiki-CS` fills this place.\n",
                );
                continue;
            }
            None => page.push_str("\nPreset `paper`: missing.\n"),
        }
        if let Some(record) = record(results, dataset, "paper-sampled")? {
            sampled(&mut page, &record);
        }
        match record(results, dataset, "tuned")? {
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

/// What `--example scale` recorded.
fn scale(page: &mut String, path: &Path) -> Result<()> {
    if !path.exists() {
        page.push_str("\nmissing\n");
        return Ok(());
    }
    let record = read(path)?;
    page.push_str(
        "\n| graph | nodes | edges | s an epoch | CPU s an epoch | epochs | s in all | peak MB | p | NMI | ACC |\n\
         |---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    let number = |value: &Value| value.as_f64().map_or("-".into(), |value| format!("{value:.3}"));
    for line in record["graphs"].as_array().into_iter().flatten() {
        let agreement = &line["agreement"];
        let _ = writeln!(
            page,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            line["graph"].as_str().unwrap_or("?"),
            line["nodes"],
            line["edges"],
            number(&line["epoch_seconds"]),
            number(&line["epoch_cpu_seconds"]),
            line["epochs"],
            number(&line["total_seconds"]),
            line["peak_megabytes"]
                .as_f64()
                .map_or("-".into(), |peak| format!("{peak:.0}")),
            line["dimension"],
            number(&agreement["normalised_mutual_information"]),
            number(&agreement["accuracy"]),
        );
    }
    let _ = write!(
        page,
        "\nRevision {}, {} threads.",
        record["revision"].as_str().unwrap_or("?"),
        record["threads"]
    );
    if let (Some(clock), Some(cpu)) = (record["exponent"].as_f64(), record["cpu_exponent"].as_f64()) {
        let _ = write!(
            page,
            " Fitted: an epoch takes c nodes^{clock:.3} seconds by the clock, c nodes^{cpu:.3} of computing."
        );
    }
    page.push('\n');
    Ok(())
}

pub(super) fn record(results: &Path, dataset: &str, preset: &str) -> Result<Option<Value>> {
    let path = results.join(format!("cluster/{}-{preset}.json", dataset.to_lowercase()));
    if !path.exists() {
        return Ok(None);
    }
    read(&path).map(Some)
}

pub(super) fn measure(record: &Value, method: &str, measure: &str) -> Vec<f64> {
    values(record, |one| {
        one["methods"][method]["agreement"][measure].as_f64()
    })
}

fn about(page: &mut String, record: &Value) {
    let texts = |name: &str| -> String {
        let repetitions = record["repetitions"].as_array().into_iter().flatten();
        let texts: BTreeSet<String> = repetitions
            .map(|one| one[name].as_str().map_or(one[name].to_string(), String::from))
            .collect();
        texts.into_iter().collect::<Vec<_>>().join(", ")
    };
    let seconds = values(record, |one| one["seconds"].as_f64());
    let auc = values(record, |one| one["test"]["roc_auc"].as_f64());
    let data = &record["data"];
    let _ = write!(
        page,
        "\nPreset `{}`: {} repetitions; {} nodes, {} edges, {} features, {} classes. Revision {}, {:.0} s in all, threads {}.",
        record["preset"].as_str().unwrap_or("?"),
        seconds.len(),
        data["nodes"],
        data["edges"],
        data["features"],
        data["classes"],
        texts("revision"),
        seconds.iter().sum::<f64>(),
        texts("threads"),
    );
    let checksum = |value: &Value| {
        value
            .as_str()
            .map(|text| text.chars().take(12).collect::<String>())
    };
    if let Some(data) = checksum(&data["fingerprint"]) {
        let _ = write!(page, " Data {data}");
        let split = checksum(&record["split"]).map_or(String::new(), |split| format!(", link split {split}"));
        let _ = write!(page, "{split}.");
    }
    if let Some(auc) = Summary::of(&auc, 0) {
        let _ = write!(page, " Test AUC of held-out edges {auc}.");
    }
    page.push_str("\n\n");
}

fn table(page: &mut String, record: &Value, paper: &Value) {
    about(page, record);
    page.push_str("| method | ACC | NMI | ARI | CS | captured |\n|---|---|---|---|---|---|\n");
    for method in METHODS {
        row(page, record, method, method);
        let theirs = &paper[method];
        if !theirs.is_null() {
            let cells = MEASURES.map(|(_, measure)| published(&theirs[measure]));
            let captured = theirs["captured"].as_f64().unwrap_or(1.0);
            let _ = writeln!(
                page,
                "| *paper: {method}* | {} | {:.2} % |",
                cells
                    .map(|cell| cell.map_or("-".into(), |cell| format!("*{cell}*")))
                    .join(" | "),
                100.0 * captured
            );
        }
    }
    page.push('\n');
    against_the_paper(page, record, &paper[PLAIN]);
    noise(page, record, paper);
    against_plain(page, record);
}

fn row(page: &mut String, record: &Value, method: &str, name: &str) {
    let cells = MEASURES.map(|(_, of)| match Summary::of(&measure(record, method, of), 0) {
        Some(summary) => summary.to_string(),
        None => "missing".into(),
    });
    let captured = Summary::of(
        &values(record, |one| one["methods"][method]["captured"].as_f64()),
        0,
    );
    let captured = captured.map_or("-".into(), |summary| format!("{:.2} %", 100.0 * summary.mean));
    let kept = kept(record, method);
    let _ = writeln!(page, "| {name}{kept} | {} | {captured} |", cells.join(" | "));
}

/// How many directions were kept, `, p = 13` or, if not always as many, `, p = 7 to 13`.
fn kept(record: &Value, method: &str) -> String {
    // Plain k-means keeps them all, and decomposes nothing.
    let ranks: BTreeSet<u64> = match method.contains("EGG") || method == "preset" {
        true => record["repetitions"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|one| one["methods"][method]["dimension"].as_u64())
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
fn against_the_paper(page: &mut String, record: &Value, paper: &Value) {
    let parts = MEASURES.map(|(name, of)| {
        let ours = Summary::of(&measure(record, PLAIN, of), 0)?;
        let (mean, deviation) = (paper[of][0].as_f64()?, paper[of][1].as_f64()?);
        let distance = (ours.mean - mean) / deviation;
        let verdict = if distance.abs() <= 2.0 {
            "within 2"
        } else {
            "OUTSIDE 2"
        };
        Some(format!("{name} {distance:+.1} ({verdict})"))
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
fn noise(page: &mut String, record: &Value, paper: &Value) {
    let mut names = Vec::new();
    let mut comparisons = Vec::new();
    for method in METHODS {
        for (name, of) in MEASURES {
            let ours = Summary::of(&measure(record, method, of), 0);
            if let (Some(ours), Some(theirs)) = (ours, published(&paper[method][of])) {
                names.push(format!("{method} {name}"));
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
fn against_plain(page: &mut String, record: &Value) {
    const AGAINST: [&str; 2] = ["EGG 0.8 flat", "EGG 0.8 spectral(1)"];
    let pairs = AGAINST
        .iter()
        .flat_map(|method| MEASURES.map(|(_, of)| (*method, of)));
    let compared =
        pairs.map(|(method, of)| compare_seeds(&measure(record, method, of), &measure(record, PLAIN, of)));
    let judged = family(compared.collect());
    for (method, judged) in AGAINST.iter().zip(judged.chunks(MEASURES.len())) {
        let part = |((name, _), judged): (&(&str, &str), &Option<Judged>)| {
            let judged = judged.as_ref()?;
            Some(format!(
                "{name} {:+.4} ({})",
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
fn sampled(page: &mut String, record: &Value) {
    about(page, record);
    page.push_str("| method | ACC | NMI | ARI | CS | captured |\n|---|---|---|---|---|---|\n");
    for method in &METHODS[..4] {
        row(page, record, method, method);
    }
}

fn tuned(page: &mut String, record: &Value) {
    about(page, record);
    page.push_str("| method | ACC | NMI | ARI | CS | captured |\n|---|---|---|---|---|---|\n");
    row(page, record, "preset", "`tuned`");
    row(page, record, PLAIN, "k-means on its H");
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn report(value: f64) -> Value {
        json!({"captured": 0.5, "dimension": 13, "agreement": {
            "accuracy": value, "normalised_mutual_information": value,
            "adjusted_rand": value, "completeness": value}})
    }

    fn example() -> Value {
        let one = |seed: u64, plain: f64, egg: f64| {
            json!({"seed": seed, "revision": "abc", "threads": 1, "seconds": 1.5,
                "test": {"roc_auc": 0.9},
                "methods": {"k-means on H": report(plain), "EGG 0.8 flat": report(egg)}})
        };
        json!({"preset": "paper", "data": {"nodes": 3, "edges": 2, "features": 1, "classes": 2},
            "repetitions": [one(0, 0.4, 0.6), one(1, 0.6, 0.7), one(2, 0.5, 0.7)]})
    }

    #[test]
    fn cells_verdicts_and_what_is_missing() {
        let paper = json!({"k-means on H": {
            "accuracy": [0.6, 0.01], "normalised_mutual_information": [0.6, 0.1],
            "adjusted_rand": [0.6, 0.1], "completeness": [0.6, 0.1]}});
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
        let paper = json!({"EGG 0.8 flat": {"accuracy": [0.3, 0.01], "completeness": [0.66, 0.01]}});
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
