//! The words that the page opens with: written by hand, but for the numbers, each
//! of which names the record it comes from.
//!
//! `{training/proteins-gcn-egg}` is a test score with its deviation,
//! `{sensitivity/proteins-gcn-0.5}` one over the threshold, `{paper/gcn/PROTEINS/egg}` the
//! paper's, `{cluster/cora-paper/EGG 0.8 flat/accuracy}` a measure of a clustering,
//! `{grid/proteins-gcn-egg/test}` the test score of what a search chose (`by-test`,
//! `optimism` and `test-range` are what its table calls so), `{tsne/cora/EGG(0.8) of H}`
//! how many neighbours in a map's embedding are right. `{pooled/egg/p}` is of all cells of a
//! pooling together, `{against/nci1-gcn-egg-fair/nci1-gcn-sum-fair}` what the tables' test says of the
//! first against the second, among all others of that table that EGG is compared with.

use std::path::Path;

use egg_results::Summary;

use super::classification::verdict_of_egg;
use super::cluster::measure;
use super::pooled::Pooled;
use super::records::{find, read, tests};
use super::verdicts::published;
use super::{grid, maps};
use crate::error::{Error, Result};

/// The text with numbers in the places of their names.
pub(super) fn fill(results: &Path, text: &str) -> Result<String> {
    let mut page = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after
            .split_once('}')
            .ok_or_else(|| Error::Failed("words.md: a `{` without its `}`".into()))?;
        page.push_str(before);
        page.push_str(&number(results, name)?);
        rest = after;
    }
    page.push_str(rest);
    Ok(page)
}

fn number(results: &Path, name: &str) -> Result<String> {
    let unknown = || Error::Failed(format!("words.md: no record has `{{{name}}}`"));
    let parts: Vec<&str> = name.split('/').collect();
    let file = |folder: &str, name: &str| read(&results.join(folder).join(format!("{name}.json")));
    let percent = |summary: Summary| format!("{summary:.1}");
    match parts.as_slice() {
        [folder @ ("training" | "sensitivity"), cell] => {
            // As in the cell's table.
            let ddof = usize::from(cell.ends_with("-fair"));
            Summary::of(&tests(&file(folder, cell)?), ddof).map(percent)
        }
        ["grid", name, "test"] => {
            Summary::of(&tests(&file("grid", &format!("{name}-chosen"))?), 0).map(percent)
        }
        ["grid", name, of] => {
            let tested = find(&results.join("grid").join(format!("{name}-chosen.json")))?;
            grid::number(&file("grid", name)?, tested.as_ref(), of)
        }
        ["tsne", name, map] => maps::right(&file("tsne", name)?, map),
        ["paper", table, dataset, pooling] => {
            published(&file("paper", table)?["datasets"][*dataset][*pooling]).map(percent)
        }
        ["cluster", record, method, of] => {
            let numbers = measure(&file("cluster", record)?, method, of);
            Summary::of(&numbers, 0).map(|summary| format!("{summary:.3}"))
        }
        ["pooled", pooling, of] => Pooled::of(results, pooling)?.number(of),
        ["against", egg, other] => verdict_of_egg(results, egg, other)?,
        _ => None,
    }
    .ok_or_else(unknown)
}

#[cfg(test)]
mod tests_of_words {
    use super::*;

    #[test]
    fn numbers_come_from_records() {
        let folder = std::env::temp_dir().join(format!("egg-words-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("paper")).unwrap();
        let paper = r#"{"datasets": {"DD": {"sum": [78.91, 3.37]}}}"#;
        std::fs::write(folder.join("paper/gcn.json"), paper).unwrap();
        let filled = fill(&folder, "It is {paper/gcn/DD/sum}.").unwrap();
        assert_eq!(filled, "It is 78.9 ± 3.4.");
        for (name, record) in [
            (
                "grid/a.json",
                r#"{"settings": [{"cell": 1, "runs": [{"repetition": 1, "validation_loss": 0.1, "validation": 0.8, "test": 0.75}]},
                {"cell": 2, "runs": [{"repetition": 1, "validation_loss": 0.2, "validation": 0.7, "test": 0.77}]}], "chosen": 1}"#,
            ),
            (
                "grid/a-chosen.json",
                r#"{"repetitions": [{"test": {"scores": {"accuracy": 0.75}}}]}"#,
            ),
            (
                "sensitivity/b.json",
                r#"{"repetitions": [{"test": {"scores": {"accuracy": 0.5}}}]}"#,
            ),
            ("tsne/cora.json", r#"{"maps": [{"name": "H", "right": 0.8}]}"#),
        ] {
            let path = folder.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, record).unwrap();
        }
        let text = "{grid/a/test}, {grid/a/by-test}, {grid/a/optimism}, {grid/a/test-range}, {sensitivity/b}, {tsne/cora/H}";
        let filled = fill(&folder, text).unwrap();
        assert_eq!(filled, "75.0 ± 0.0, 2.0, 5.0, 75.0 to 77.0, 50.0 ± 0.0, 80.0 %");
        for bad in [
            "{paper/gcn/DD/egg}",
            "{paper/gin/DD/sum}",
            "{grid/a/more}",
            "{tsne/cora/G}",
            "{else}",
            "{",
        ] {
            assert!(fill(&folder, bad).is_err(), "{bad}");
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }

    /// A word with a digit is a name, or it belongs in a record.
    #[test]
    fn no_number_is_typed_by_hand() {
        let root = crate::workspace::Workspace::find().unwrap().root;
        let text = std::fs::read_to_string(root.join("docs/results/words.md")).unwrap();
        let mut outside = String::new();
        for part in text.split('{') {
            outside.push_str(part.split_once('}').map_or(part, |(_, after)| after));
        }
        let names = ["NCI1", "Table 2", "Table 3", "Table 5", "EGG 0.8", "(1)"];
        let plain = names.iter().fold(outside, |text, name| text.replace(name, ""));
        assert!(!plain.contains(|letter: char| letter.is_ascii_digit()), "{plain}");
    }
}
