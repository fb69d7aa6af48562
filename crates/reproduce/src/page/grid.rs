//! The paper's grid of settings, searched: what validation chooses, what the choice
//! reaches, and what a choice among settings is worth by itself.

use std::fmt::Write;
use std::path::Path;

use crate::architecture::Architecture;
use egg_pool::protocol::{Cell as Setting, Protocol, RunRecord};
use egg_results::{Summary, median};

use super::Places;
use super::published::Classification;
use super::records::{find, revisions, tests, validations};
use super::table::difference;
use super::verdicts::{compare, compare_with_published, family};
use crate::cell::Cell;
use crate::error::Result;
use crate::halving::{HalvingRecord, TriedRun};
use crate::paper::{GRID_DATASETS, GRID_POOLINGS};

/// A cell's name without an ending.
pub(super) fn name(dataset: &str, architecture: Architecture, pooling: &str) -> String {
    format!("{}-{architecture}-{pooling}", dataset.to_lowercase())
}

/// A search, with what the page says of it.
struct Searched {
    dataset: &'static str,
    architecture: Architecture,
    pooling: &'static str,
    record: HalvingRecord,
    /// Of the chosen setting; `None` as long as it is not tested.
    tested: Option<RunRecord>,
}

/// The searches that have a record, and the names of those that have none.
fn searches(results: &Path) -> Result<(Vec<Searched>, Vec<String>)> {
    let mut found = Vec::new();
    let mut missing = Vec::new();
    let places = Places::new(results);
    for dataset in GRID_DATASETS {
        for &architecture in Architecture::ALL {
            for pooling in GRID_POOLINGS {
                let path = places.search(dataset, architecture, pooling);
                if !path.exists() {
                    missing.push(name(dataset, architecture, pooling));
                    continue;
                }
                found.push(Searched {
                    dataset,
                    architecture,
                    pooling,
                    tested: find(&places.chosen(dataset, architecture, pooling))?,
                    record: HalvingRecord::load(&path)?,
                });
            }
        }
    }
    Ok((found, missing))
}

/// The part of the page about searches.
pub(super) fn section(results: &Path) -> Result<String> {
    let mut page = String::from(
        "## Grid search\n\n\
         `cargo xtask bench paper --table grid` searches the paper's grid (rate, decay, width, dropout; for EGG the threshold r too) by successive\n\
         halving: every setting once, the best twelve by the validation loss three times, the best four of these five times. The setting with the lowest mean\n\
         validation loss of the five is chosen, and run on the splits of the tables above. Test scores are recorded, but nothing is chosen by them.\n",
    );
    let (found, missing) = searches(results)?;
    if !found.is_empty() {
        reached(&mut page, results, &found)?;
        against_the_sum(&mut page, &found);
    }
    if !missing.is_empty() {
        let _ = write!(page, "\nMissing: {}.\n", missing.join(", "));
    }
    Ok(page)
}

/// The part of the second page about searches.
pub(super) fn details(results: &Path) -> Result<String> {
    let (found, _) = searches(results)?;
    let mut page = String::new();
    if !found.is_empty() {
        worth(&mut page, &found);
    }
    Ok(page)
}

/// What was chosen, and what it reaches.
fn reached(page: &mut String, results: &Path, found: &[Searched]) -> Result<()> {
    page.push_str(
        "\nTest accuracy in percent. *Gain*: the chosen setting less the one setting of the tables above, on the same splits. `*`: significant.\n\n\
         | data | model | pooling | tried | rate, decay, width, dropout, r | test | one setting | gain | paper | less paper | records |\n\
         |---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    let mut plains = Vec::new();
    let mut papers = Vec::new();
    for one in found {
        let table = Classification::read(results, one.architecture)?;
        papers.push(table.get(one.dataset, one.pooling));
        let cell = Cell {
            dataset: one.dataset,
            architecture: one.architecture,
            pooling: one.pooling,
            protocol: Protocol::Paper,
        };
        plains.push(find(&cell.record(results))?);
    }
    let gains = found
        .iter()
        .zip(&plains)
        .map(|(one, plain)| compare(one.tested.as_ref()?, plain.as_ref()?));
    let gains = family(gains.collect());
    let compared = found
        .iter()
        .zip(&papers)
        .map(|(one, theirs)| compare_with_published(one.tested.as_ref()?, theirs.as_ref()?));
    let compared = family(compared.collect());
    for (at, one) in found.iter().enumerate() {
        let name = name(one.dataset, one.architecture, one.pooling);
        let ours = one.tested.as_ref().map(tests).unwrap_or_default();
        let plain = plains[at].as_ref().map(tests).unwrap_or_default();
        let text =
            |summary: Option<Summary>| summary.map_or("missing".into(), |summary| format!("{summary:.2}"));
        let mut links = format!("[search](results/grid/{name}.json)");
        if one.tested.is_some() {
            let _ = write!(links, ", [test](results/grid/{name}-chosen.json)");
        }
        let _ = writeln!(
            page,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {links} |",
            one.dataset,
            one.architecture.name().to_uppercase(),
            one.pooling,
            tried(&one.record),
            setting(one.record.chosen.as_ref()),
            text(Summary::from_values(&ours, 0)),
            text(Summary::from_values(&plain, 0)),
            difference(gains[at].as_ref(), 2),
            papers[at].map_or("-".into(), |theirs| format!("{theirs:.2}")),
            difference(compared[at].as_ref(), 2),
        );
    }
    Ok(())
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
            let architecture = one.architecture.name().to_uppercase();
            format!(
                "{} with {architecture} {}",
                one.dataset,
                difference(judged.as_ref(), 2)
            )
        })
        .collect();
    if !differences.is_empty() {
        let _ = write!(
            page,
            "\nEGG less the sum, each with its chosen setting, on the same splits: {}.\n",
            differences.join(", ")
        );
    }
}

/// `72 of 72`.
fn tried(record: &HalvingRecord) -> String {
    let settings = &record.settings;
    let failed = settings.iter().filter(|one| !one.failures.is_empty()).count();
    let tried = settings
        .iter()
        .filter(|one| !one.runs.is_empty() || !one.failures.is_empty())
        .count();
    match failed {
        0 => format!("{tried} of {}", settings.len()),
        failed => format!("{tried} of {}, {failed} diverged", settings.len()),
    }
}

fn setting(chosen: Option<&Setting>) -> String {
    let Some(chosen) = chosen else {
        return "unfinished".into();
    };
    let mut parts = vec![
        format!("{:e}", chosen.learning_rate),
        format!("{:e}", chosen.weight_decay),
        chosen.hidden.to_string(),
        format!("{:?}", chosen.dropout),
    ];
    parts.extend(chosen.threshold.map(|r| r.to_string()));
    parts.join(", ")
}

/// A number of the first repetition of every setting that has it.
fn firsts(record: &HalvingRecord, of: fn(&TriedRun) -> Option<f64>) -> Vec<f64> {
    let first = record.settings.iter().map(|setting| {
        let first = setting.runs.iter().find(|run| run.repetition == 1)?;
        of(first)
    });
    first.flatten().collect()
}

/// The validation metric of every run of the chosen setting in the search.
fn seen(record: &HalvingRecord) -> Vec<f64> {
    let mut settings = record.settings.iter();
    let chosen = settings.find(|setting| Some(setting.cell) == record.chosen);
    let runs = chosen.map_or(&[][..], |setting| &setting.runs);
    runs.iter().filter_map(|run| run.validation).collect()
}

/// Least, middle and most.
fn ends(numbers: &[f64]) -> Option<(f64, f64, f64)> {
    let least = numbers.iter().copied().min_by(f64::total_cmp)?;
    let most = numbers.iter().copied().max_by(f64::total_cmp)?;
    Some((least, median(numbers)?, most))
}

/// What a choice among settings is worth, whichever pooling.
fn worth(page: &mut String, found: &[Searched]) {
    page.push_str(
        "## Grid search: what choosing is worth\n\n\
         Percent. *Over the grid*: minimum, median and maximum accuracy of all settings in the first repetition, on one split. *By test*: the maximum test accuracy there\n\
         less that of the setting with the lowest validation loss. *In the search*: the chosen setting's validation accuracy in the repetitions it was chosen by.\n\
         *Later*: the same in the repetitions that the search had not seen. *Optimism*: *in the search* less the test accuracy of all ten.\n\n\
         | data | model | pooling | validation over the grid | test over the grid | by test | in the search | later | test | optimism |\n\
         |---|---|---|---|---|---|---|---|---|---|\n",
    );
    for one in found {
        let range = |of: fn(&TriedRun) -> Option<f64>| match ends(&firsts(&one.record, of)) {
            Some((least, middle, most)) => {
                format!("{:.1}, {:.1}, {:.1}", 100.0 * least, 100.0 * middle, 100.0 * most)
            }
            None => "-".into(),
        };
        let seen = seen(&one.record);
        let searched = seen.len();
        let seen = Summary::from_values(&seen, 0);
        let tested = one.tested.as_ref();
        let all = tested.map(validations).unwrap_or_default();
        let later = Summary::from_values(all.get(searched..).unwrap_or_default(), 0).filter(|_| searched > 0);
        let test = Summary::from_values(&tested.map(tests).unwrap_or_default(), 0);
        let number = |number: Option<f64>| number.map_or("-".into(), |number| format!("{number:.1}"));
        let signed = |number: Option<f64>| number.map_or("-".into(), |number| format!("{number:+.1}"));
        let _ = writeln!(
            page,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            one.dataset,
            one.architecture.name().to_uppercase(),
            one.pooling,
            range(|run| run.validation),
            range(|run| run.test),
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
        texts(&|one| {
            let processor = one.record.machine.processor.clone();
            processor.unwrap_or_else(|| "?".to_owned())
        }),
        revisions(found.iter().map(|one| one.record.revision.as_deref())),
    );
}

/// A number of the table for words.md; `None` if there is none of this name.
pub(super) fn number(search: &HalvingRecord, tested: Option<&RunRecord>, of: &str) -> Option<String> {
    match of {
        "by-test" => by_test(search).map(|points| format!("{points:.1}")),
        "optimism" => {
            let seen = Summary::from_values(&seen(search), 0)?;
            let test = Summary::from_values(&tests(tested?), 0)?;
            Some(format!("{:.1}", 100.0 * seen.mean - test.mean))
        }
        "test-range" => {
            let (least, _, most) = ends(&firsts(search, |run| run.test))?;
            Some(format!("{:.1} to {:.1}", 100.0 * least, 100.0 * most))
        }
        _ => None,
    }
}

/// Of the search and of the test.
fn seconds(one: &Searched) -> f64 {
    let runs = one.record.settings.iter().flat_map(|setting| &setting.runs);
    let search: f64 = runs.map(|run| run.seconds).sum();
    let tested = one.tested.iter().flat_map(|record| &record.repetitions);
    search + tested.map(|one| one.seconds).sum::<f64>()
}

/// In percent.
fn by_test(record: &HalvingRecord) -> Option<f64> {
    let (losses, tests) = (
        firsts(record, |run| Some(run.validation_loss)),
        firsts(record, |run| run.test),
    );
    let least = losses.iter().copied().min_by(f64::total_cmp)?;
    let honest = tests.get(losses.iter().position(|loss| *loss == least)?)?;
    let most = tests.iter().copied().max_by(f64::total_cmp)?;
    Some(100.0 * (most - honest))
}

#[cfg(test)]
mod tests {
    use super::super::made_up;
    use super::*;

    #[test]
    fn chosen_setting_is_written_in_one_line() {
        let record = made_up::search();
        assert_eq!(setting(record.chosen.as_ref()), "5e-3, 5e-4, 32, 0.0, 0.5");
        assert_eq!(setting(None), "unfinished");
        assert_eq!(tried(&record), "3 of 4, 1 diverged");
    }

    #[test]
    fn gain_of_choosing_matches_hand_calculation() {
        assert_eq!(ends(&[3.0, 1.0, 2.0, 7.0]), Some((1.0, 2.5, 7.0)));
        assert_eq!(ends(&[3.0]), Some((3.0, 3.0, 3.0)));
        assert_eq!(ends(&[]), None);
        let record = made_up::search();
        assert!((by_test(&record).unwrap() - 4.0).abs() < 1e-9);
        assert_eq!(seen(&record), [0.80, 0.70]);
        let tested = |parts: [(f64, f64); 3]| {
            let mut record = made_up::record(&[0.0; 3]);
            let repetitions = parts.map(|(validation, test)| made_up::repetition(validation, test));
            record.repetitions = repetitions.to_vec();
            Some(record)
        };
        let one = Searched {
            dataset: "PROTEINS",
            architecture: Architecture::Gcn,
            pooling: "egg",
            tested: tested([(0.80, 0.7), (0.70, 0.7), (0.74, 0.74)]),
            record,
        };
        assert_eq!(seconds(&one), 9.0);
        let sum = Searched {
            pooling: "sum",
            tested: tested([(0.9, 0.71), (0.9, 0.70), (0.9, 0.75)]),
            record: made_up::search(),
            ..one
        };
        let mut page = String::new();
        against_the_sum(&mut page, std::slice::from_ref(&one));
        assert_eq!(page, "", "there is no sum to compare with");
        let both = [one, sum];
        against_the_sum(&mut page, &both);
        assert!(page.ends_with(": PROTEINS with GCN -0.67.\n"), "{page}");
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
        let mut unfinished = made_up::search();
        unfinished.chosen = None;
        unfinished
            .save(folder.join("grid/proteins-gcn-egg.json"))
            .unwrap();
        let page = section(&folder).unwrap();
        let row = "| PROTEINS | GCN | egg | 3 of 4, 1 diverged | unfinished | missing | missing | - | 77.80 ± 2.20 | - |";
        assert!(page.contains(row), "{page}");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
