//! The paper's grid of settings, searched: what validation chooses, what the choice
//! reaches, and what a choice among settings is worth by itself.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use egg_results::Summary;
use serde_json::Value;

use super::Request;
use super::cells::{Cell, Runner};
use super::records::{find, read, revisions, scores, tests, values};
use super::verdicts::{Judged, compare, compare_with_published, family, published};
use crate::error::Result;
use crate::workspace::Workspace;

/// In the order in which they are run.
pub(super) const DATASETS: [&str; 2] = ["PROTEINS", "NCI1"];
const ARCHITECTURES: [&str; 2] = ["gcn", "gin"];
const POOLINGS: [&str; 2] = ["egg", "sum"];

/// A cell's name without an ending.
fn name(dataset: &str, architecture: &str, pooling: &str) -> String {
    format!("{}-{architecture}-{pooling}", dataset.to_lowercase())
}

/// All settings that were tried.
fn search(results: &Path, name: &str) -> PathBuf {
    results.join(format!("grid/{name}.json"))
}

/// The repetitions of the chosen one.
fn chosen(results: &Path, name: &str) -> PathBuf {
    results.join(format!("grid/{name}-chosen.json"))
}

/// Goes on with the searches, one after the other; each is tested once it is over.
pub(super) fn run(workspace: &Workspace, request: &Request) -> Result<()> {
    let runner = Runner::new(workspace, request)?;
    let results = workspace.root.join("docs/results");
    let repetitions = request.repetitions.to_string();
    for dataset in &request.datasets {
        for architecture in ARCHITECTURES {
            for pooling in request.poolings_or(&POOLINGS) {
                let name = name(dataset, architecture, &pooling);
                let words = [dataset, architecture, &pooling, "--quiet"];
                let record = search(&results, &name);
                if !runner.run(&words, "--halving", &record)? {
                    return Ok(());
                }
                let Some(options) = find(&record)?.as_ref().and_then(options) else {
                    continue;
                };
                let mut words: Vec<String> = words.into_iter().map(String::from).collect();
                words.extend(options);
                words.extend(["--repetitions".into(), repetitions.clone()]);
                if !runner.run(&words, "--record", &chosen(&results, &name))? {
                    return Ok(());
                }
            }
        }
    }
    Ok(())
}

/// What to say to the program that trains for the setting that a search chose.
fn options(search: &Value) -> Option<Vec<String>> {
    let cell = search["chosen"].as_object()?;
    let mut words = Vec::new();
    for (option, of) in [
        ("--lr", "learning_rate"),
        ("--wd", "weight_decay"),
        ("--hidden", "hidden"),
        ("--dropout", "dropout"),
    ] {
        words.extend([option.to_owned(), cell.get(of)?.to_string()]);
    }
    if let Some(threshold) = cell.get("threshold").and_then(Value::as_f64) {
        words.extend(["--rank".to_owned(), format!("threshold={threshold}")]);
    }
    Some(words)
}

/// A search, with what the page says of it.
struct Searched {
    dataset: &'static str,
    architecture: &'static str,
    pooling: &'static str,
    record: Value,
    /// Of the chosen setting; `None` as long as it is not tested.
    tested: Option<Value>,
}

/// The part of the page about searches.
pub(super) fn section(results: &Path) -> Result<String> {
    let mut page = String::from(
        "## Grid search\n\n\
         `cargo xtask bench paper --table grid` tries the paper's grid (rate, decay, width, dropout; for EGG the threshold r too) by successive\n\
         halving: every setting once, the best twelve by the validation loss three times, the best four of these five times. The lowest mean\n\
         validation loss of the five is chosen; test scores are recorded, and never chosen by. The chosen setting is then run as the cells above,\n\
         on the same splits. [TRAINING.md](TRAINING.md) says more.\n",
    );
    let mut found = Vec::new();
    let mut missing = Vec::new();
    for dataset in DATASETS {
        for architecture in ARCHITECTURES {
            for pooling in POOLINGS {
                let name = name(dataset, architecture, pooling);
                match find(&search(results, &name))? {
                    Some(record) => found.push(Searched {
                        dataset,
                        architecture,
                        pooling,
                        tested: find(&chosen(results, &name))?,
                        record,
                    }),
                    None => missing.push(name),
                }
            }
        }
    }
    if !found.is_empty() {
        reached(&mut page, results, &found)?;
        against_the_sum(&mut page, &found);
        worth(&mut page, &found);
    }
    if !missing.is_empty() {
        let _ = write!(page, "\nMissing: {}.\n", missing.join(", "));
    }
    Ok(page)
}

/// What was chosen, and what it reaches.
fn reached(page: &mut String, results: &Path, found: &[Searched]) -> Result<()> {
    page.push_str(
        "\n### What was chosen\n\n\
         Test accuracy in percent, mean ± standard deviation (ddof 0). *One setting* is the cell's record above; *gain* is the chosen one's mean less\n\
         its, on the same splits. *Told apart* is from the paper's. Tests are those of the tables above, corrected for all rows of this one.\n\n\
         | data | model | pooling | tried | rate, decay, width, dropout, r | test | runs | one setting | gain | paper | told apart | |\n\
         |---|---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    let mut plains = Vec::new();
    let mut papers = Vec::new();
    for one in found {
        let table = read(&results.join(format!("paper/{}.json", one.architecture)))?;
        papers.push(published(&table["datasets"][one.dataset][one.pooling]));
        let cell = Cell {
            dataset: one.dataset,
            architecture: one.architecture,
            pooling: one.pooling,
            protocol: "paper",
        };
        plains.push(find(&results.join("training").join(cell.file()))?);
    }
    let gains = found
        .iter()
        .zip(&plains)
        .map(|(one, plain)| compare(one.tested.as_ref()?, plain.as_ref()?));
    let gains = family(gains.collect());
    let told = found
        .iter()
        .zip(&papers)
        .map(|(one, theirs)| compare_with_published(one.tested.as_ref()?, theirs.as_ref()?));
    let told = family(told.collect());
    for (at, one) in found.iter().enumerate() {
        let name = name(one.dataset, one.architecture, one.pooling);
        let ours = one.tested.as_ref().map(tests).unwrap_or_default();
        let plain = plains[at].as_ref().map(tests).unwrap_or_default();
        let text =
            |summary: Option<Summary>| summary.map_or("missing".into(), |summary| format!("{summary:.2}"));
        let told = told[at].as_ref().map_or("-", Judged::against_published);
        let mut links = format!("[search](results/grid/{name}.json)");
        if one.tested.is_some() {
            let _ = write!(links, ", [test](results/grid/{name}-chosen.json)");
        }
        let _ = writeln!(
            page,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {told} | {links} |",
            one.dataset,
            one.architecture.to_uppercase(),
            one.pooling,
            tried(&one.record),
            setting(&one.record["chosen"]),
            text(Summary::of(&ours, 0)),
            ours.len(),
            text(Summary::of(&plain, 0)),
            difference(gains[at].as_ref()),
            papers[at].map_or("-".into(), |theirs| format!("{theirs:.2}")),
        );
    }
    Ok(())
}

fn difference(judged: Option<&Judged>) -> String {
    judged.map_or("-".into(), |judged| {
        format!("{:+.2} ({})", judged.comparison.difference, judged.words())
    })
}

/// EGG and the sum, each with what was chosen for it, where both are tested.
fn against_the_sum(page: &mut String, found: &[Searched]) {
    let tested = |like: &Searched, pooling: &str| {
        let same = |one: &&Searched| {
            (one.dataset, one.architecture, one.pooling) == (like.dataset, like.architecture, pooling)
        };
        found.iter().find(same)?.tested.as_ref()
    };
    let of_egg: Vec<&Searched> = found.iter().filter(|one| one.pooling == "egg").collect();
    let compared = of_egg
        .iter()
        .map(|one| compare(tested(one, "egg")?, tested(one, "sum")?));
    let judged = family(compared.collect());
    let differences: Vec<String> = of_egg
        .iter()
        .zip(&judged)
        .filter(|(_, judged)| judged.is_some())
        .map(|(one, judged)| {
            let architecture = one.architecture.to_uppercase();
            format!(
                "{} with {architecture} {}",
                one.dataset,
                difference(judged.as_ref())
            )
        })
        .collect();
    if !differences.is_empty() {
        let _ = write!(
            page,
            "\nEGG less the sum, each with what was chosen for it, on the same splits: {}.\n",
            differences.join(", ")
        );
    }
}

/// `72 of 72`.
fn tried(record: &Value) -> String {
    let settings = record["settings"].as_array().map_or(&[][..], Vec::as_slice);
    let has = |setting: &Value, list: &str| setting[list].as_array().is_some_and(|list| !list.is_empty());
    let failed = settings.iter().filter(|one| has(one, "failures")).count();
    let tried = settings
        .iter()
        .filter(|one| has(one, "runs") || has(one, "failures"))
        .count();
    match failed {
        0 => format!("{tried} of {}", settings.len()),
        failed => format!("{tried} of {}, {failed} diverged", settings.len()),
    }
}

fn setting(cell: &Value) -> String {
    if cell.is_null() {
        return "not over".into();
    }
    let mut parts = vec![
        format!("{:e}", cell["learning_rate"].as_f64().unwrap_or(f64::NAN)),
        format!("{:e}", cell["weight_decay"].as_f64().unwrap_or(f64::NAN)),
        cell["hidden"].to_string(),
        cell["dropout"].to_string(),
    ];
    parts.extend(cell["threshold"].as_f64().map(|r| r.to_string()));
    parts.join(", ")
}

/// A number of the first repetition of every setting that has it.
fn firsts(record: &Value, of: &str) -> Vec<f64> {
    let settings = record["settings"].as_array().into_iter().flatten();
    settings
        .filter_map(|setting| {
            let runs = setting["runs"].as_array()?;
            let first = runs.iter().find(|run| run["repetition"] == 1)?;
            first[of].as_f64()
        })
        .collect()
}

/// A number of every run of the chosen setting in the search.
fn of_chosen(record: &Value, of: &str) -> Vec<f64> {
    let mut settings = record["settings"].as_array().into_iter().flatten();
    let setting = settings.find(|setting| setting["cell"] == record["chosen"]);
    let runs = setting.and_then(|setting| setting["runs"].as_array());
    runs.into_iter()
        .flatten()
        .filter_map(|run| run[of].as_f64())
        .collect()
}

/// Least, middle and most.
fn ends(mut numbers: Vec<f64>) -> Option<(f64, f64, f64)> {
    numbers.sort_by(f64::total_cmp);
    let last = numbers.len().checked_sub(1)?;
    let middle = (numbers[last / 2] + numbers[last.div_ceil(2)]) / 2.0;
    Some((numbers[0], middle, numbers[last]))
}

/// What a choice among settings is worth, whichever pooling.
fn worth(page: &mut String, found: &[Searched]) {
    page.push_str(
        "\n### What choosing is worth\n\n\
         Percent. *Over the grid*: least, median and greatest accuracy of all settings in the first repetition, so on one split; *by test* is the\n\
         greatest test accuracy there less that of the setting with the lowest validation loss there: what one would add who chose by the test.\n\
         *In the search* is the chosen setting's validation accuracy in the repetitions it was chosen by, *later* in those of its ten that the search had\n\
         not seen, and *optimism* the former less its test accuracy in all.\n\n\
         | data | model | pooling | validation over the grid | test over the grid | by test | in the search | later | test | optimism |\n\
         |---|---|---|---|---|---|---|---|---|---|\n",
    );
    for one in found {
        let range = |of: &str| match ends(firsts(&one.record, of)) {
            Some((least, middle, most)) => {
                format!("{:.1}, {:.1}, {:.1}", 100.0 * least, 100.0 * middle, 100.0 * most)
            }
            None => "-".into(),
        };
        let seen = Summary::of(&of_chosen(&one.record, "validation"), 0);
        let searched = of_chosen(&one.record, "validation").len();
        let tested = one.tested.as_ref();
        let all = tested
            .map(|record| scores(record, "validation"))
            .unwrap_or_default();
        let later = Summary::of(all.get(searched..).unwrap_or_default(), 0).filter(|_| searched > 0);
        let test = Summary::of(&tested.map(tests).unwrap_or_default(), 0);
        let number = |number: Option<f64>| number.map_or("-".into(), |number| format!("{number:.1}"));
        let signed = |number: Option<f64>| number.map_or("-".into(), |number| format!("{number:+.1}"));
        let _ = writeln!(
            page,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            one.dataset,
            one.architecture.to_uppercase(),
            one.pooling,
            range("validation"),
            range("test"),
            signed(by_test(&one.record)),
            number(seen.map(|seen| 100.0 * seen.mean)),
            number(later.map(|later| later.mean)),
            number(test.map(|test| test.mean)),
            signed(seen.zip(test).map(|(seen, test)| 100.0 * seen.mean - test.mean)),
        );
    }
    let texts = |of: &dyn Fn(&Searched) -> String| {
        let mut texts: Vec<String> = found.iter().map(of).collect();
        texts.sort();
        texts.dedup();
        texts.join("; ")
    };
    let seconds: f64 = found.iter().map(seconds).sum();
    let _ = write!(
        page,
        "\n{:.0} s of training in all; {}; revisions {}.\n",
        seconds,
        texts(&|one| one.record["machine"]["processor"]
            .as_str()
            .unwrap_or("?")
            .to_owned()),
        revisions(found.iter().map(|one| &one.record)),
    );
}

/// A number of the table for words.md; `None` if there is none of this name.
pub(super) fn number(search: &Value, tested: Option<&Value>, of: &str) -> Option<String> {
    match of {
        "by-test" => by_test(search).map(|points| format!("{points:.1}")),
        "optimism" => {
            let seen = Summary::of(&of_chosen(search, "validation"), 0)?;
            let test = Summary::of(&tests(tested?), 0)?;
            Some(format!("{:.1}", 100.0 * seen.mean - test.mean))
        }
        "test-range" => {
            let (least, _, most) = ends(firsts(search, "test"))?;
            Some(format!("{:.1} to {:.1}", 100.0 * least, 100.0 * most))
        }
        _ => None,
    }
}

/// Of the search and of the test.
fn seconds(one: &Searched) -> f64 {
    let settings = one.record["settings"].as_array().into_iter().flatten();
    let runs = settings.flat_map(|setting| setting["runs"].as_array().into_iter().flatten());
    let search: f64 = runs.filter_map(|run| run["seconds"].as_f64()).sum();
    let tested = one.tested.as_ref();
    let test = tested.map(|record| values(record, |one| one["seconds"].as_f64()));
    search + test.unwrap_or_default().iter().sum::<f64>()
}

/// In percent.
fn by_test(record: &Value) -> Option<f64> {
    let (losses, tests) = (firsts(record, "validation_loss"), firsts(record, "test"));
    let least = losses.iter().copied().min_by(f64::total_cmp)?;
    let honest = tests.get(losses.iter().position(|loss| *loss == least)?)?;
    let most = tests.iter().copied().max_by(f64::total_cmp)?;
    Some(100.0 * (most - honest))
}

#[cfg(test)]
mod tests_of_grid {
    use super::*;
    use serde_json::json;

    fn run(repetition: u64, loss: f64, validation: f64, test: f64) -> Value {
        json!({"repetition": repetition, "validation_loss": loss, "validation": validation, "test": test, "seconds": 2.0})
    }

    fn cell(rate: f64) -> Value {
        json!({"learning_rate": rate, "weight_decay": 0.0005, "hidden": 32, "dropout": 0.0, "threshold": 0.5})
    }

    fn record() -> Value {
        json!({"revision": "abc", "machine": {"processor": "p"}, "chosen": cell(0.005), "settings": [
            {"cell": cell(0.005), "runs": [run(1, 0.4, 0.80, 0.75), run(2, 0.5, 0.70, 0.76)], "failures": []},
            {"cell": cell(0.001), "runs": [run(1, 0.6, 0.60, 0.79)], "failures": []},
            {"cell": cell(0.0005), "runs": [], "failures": [{"repetition": 1, "reason": "no number"}]},
            {"cell": cell(0.0001), "runs": [], "failures": []}]})
    }

    #[test]
    fn the_chosen_setting_is_a_call() {
        let words = options(&record()).unwrap().join(" ");
        assert_eq!(
            words,
            "--lr 0.005 --wd 0.0005 --hidden 32 --dropout 0.0 --rank threshold=0.5"
        );
        assert!(options(&json!({"chosen": null})).is_none());
        assert_eq!(setting(&record()["chosen"]), "5e-3, 5e-4, 32, 0.0, 0.5");
        assert_eq!(setting(&Value::Null), "not over");
        assert_eq!(tried(&record()), "3 of 4, 1 diverged");
    }

    #[test]
    fn what_choosing_is_worth_by_hand() {
        assert_eq!(ends(vec![3.0, 1.0, 2.0, 7.0]), Some((1.0, 2.5, 7.0)));
        assert_eq!(ends(vec![3.0]), Some((3.0, 3.0, 3.0)));
        assert_eq!(ends(Vec::new()), None);
        let record = record();
        assert!((by_test(&record).unwrap() - 4.0).abs() < 1e-9);
        assert_eq!(of_chosen(&record, "validation"), [0.80, 0.70]);
        let part = |accuracy: f64| json!({"scores": {"accuracy": accuracy, "confusion": [[4, 1], [2, 3]]}});
        let repetitions: Vec<Value> = [(0.80, 0.7), (0.70, 0.7), (0.74, 0.74)]
            .into_iter()
            .map(|(validation, test)| json!({"validation": part(validation), "test": part(test), "seconds": 1.0}))
            .collect();
        let one = Searched {
            dataset: "PROTEINS",
            architecture: "gcn",
            pooling: "egg",
            tested: Some(json!({"graphs": 100, "splits": ["a", "b", "c"], "repetitions": repetitions})),
            record,
        };
        assert_eq!(seconds(&one), 9.0);
        let sum = Searched {
            pooling: "sum",
            tested: Some(json!({"graphs": 100, "splits": ["a", "b", "c"],
                    "repetitions": [{"test": part(0.71)}, {"test": part(0.70)}, {"test": part(0.75)}]})),
            record: json!({}),
            ..one
        };
        let mut page = String::new();
        against_the_sum(&mut page, std::slice::from_ref(&one));
        assert_eq!(page, "", "there is no sum to compare with");
        let both = [one, sum];
        against_the_sum(&mut page, &both);
        assert!(
            page.ends_with(": PROTEINS with GCN -0.67 (not told apart in 3 runs).\n"),
            "{page}"
        );
        let mut page = String::new();
        worth(&mut page, &both[..1]);
        let row = "| PROTEINS | GCN | egg | 60.0, 70.0, 80.0 | 75.0, 77.0, 79.0 | +4.0 | 75.0 | 74.0 | 71.3 | +3.7 |";
        assert!(page.contains(row), "{page}");
        assert!(
            page.ends_with("9 s of training in all; p; revisions abc.\n"),
            "{page}"
        );
    }

    #[test]
    fn searches_that_are_not_there_are_missing() {
        let folder = std::env::temp_dir().join(format!("egg-grid-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("grid")).unwrap();
        std::fs::create_dir_all(folder.join("paper")).unwrap();
        let page = section(&folder).unwrap();
        assert_eq!(page.matches("Missing: ").count(), 1);
        assert!(page.contains("nci1-gin-egg, nci1-gin-sum."), "{page}");
        // One that is not over has no test yet.
        std::fs::write(
            folder.join("paper/gcn.json"),
            r#"{"datasets": {"PROTEINS": {"egg": [77.8, 2.2]}}}"#,
        )
        .unwrap();
        let mut unfinished = record();
        unfinished["chosen"] = Value::Null;
        std::fs::write(folder.join("grid/proteins-gcn-egg.json"), unfinished.to_string()).unwrap();
        let page = section(&folder).unwrap();
        let row = "| PROTEINS | GCN | egg | 3 of 4, 1 diverged | not over | missing | 0 | missing | - | 77.80 ± 2.20 | - |";
        assert!(page.contains(row), "{page}");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
