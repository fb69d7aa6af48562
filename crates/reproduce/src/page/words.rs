//! The words that the page opens with: written by hand, but for the numbers, each
//! of which names the record it comes from.
//!
//! `{training/proteins-gcn-egg}` is a test score with its deviation,
//! `{sensitivity/proteins-gcn-0.5}` one over the threshold, `{paper/gcn/PROTEINS/egg}` the
//! paper's, `{cluster/cora-paper/EGG 0.8 flat/accuracy}` a measure of a clustering,
//! `{grid/proteins-gcn-egg/test}` the test score of what a search chose (`by-test`,
//! `optimism` and `test-range` are what its table calls so), `{tsne/cora/EGG(0.8) of H}`
//! how many neighbours in a map's embedding are right. `{pooled/egg/p}` is of all cells of a
//! pooling together, `{against/nci1-gcn-egg-fair/nci1-gcn-sum-fair}` the mean of the first less that of
//! the second with a star if that is significant in its table. `{at-a-glance}` is the table that the page opens with.

use std::path::Path;

use egg_pool::protocol::RunRecord;
use egg_results::Summary;

use super::classification::verdict_of_egg;
use super::cluster::Measure;
use super::pooled::Pooled;
use super::published::Classification;
use super::records::{find, tests};
use super::{glance, grid, maps};
use crate::architecture::Architecture;
use crate::error::{Error, Result};
use crate::files;
use crate::halving::HalvingRecord;

/// The text with numbers in the places of their names.
pub(super) fn fill(results: &Path, text: &str) -> Result<String> {
    let mut page = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after
            .split_once('}')
            .ok_or_else(|| Error::Words("a `{` without its `}`".into()))?;
        page.push_str(before);
        page.push_str(&number(results, name)?);
        rest = after;
    }
    page.push_str(rest);
    Ok(page)
}

fn number(results: &Path, name: &str) -> Result<String> {
    let unknown = || Error::Words(format!("no record has `{{{name}}}`"));
    let parts: Vec<&str> = name.split('/').collect();
    let path = |folder: &str, name: &str| results.join(folder).join(format!("{name}.json"));
    let percent = |summary: Summary| format!("{summary:.1}");
    match parts.as_slice() {
        [folder @ ("training" | "sensitivity"), cell] => {
            // As in the cell's table.
            let ddof = usize::from(cell.ends_with("-fair"));
            Summary::from_values(&tests(&RunRecord::load(path(folder, cell))?), ddof).map(percent)
        }
        ["grid", name, "test"] => {
            let chosen = RunRecord::load(path("grid", &format!("{name}-chosen")))?;
            Summary::from_values(&tests(&chosen), 0).map(percent)
        }
        ["grid", name, of] => {
            let tested = find(&path("grid", &format!("{name}-chosen")))?;
            grid::number(&HalvingRecord::load(path("grid", name))?, tested.as_ref(), of)
        }
        ["tsne", name, map] => maps::right(&files::read(&path("tsne", name))?, map),
        ["paper", table, dataset, pooling] => {
            let architecture = Architecture::ALL
                .iter()
                .copied()
                .find(|known| known.name() == *table);
            let architecture = architecture.ok_or_else(unknown)?;
            let published = Classification::read(results, architecture)?;
            published.get(dataset, pooling).map(percent)
        }
        ["cluster", record, method, of] => {
            let of = Measure::named(of).ok_or_else(unknown)?;
            let numbers = of.values(&files::read(&path("cluster", record))?, method);
            Summary::from_values(&numbers, 0).map(|summary| format!("{summary:.3}"))
        }
        ["pooled", pooling, of] => Pooled::read(results, pooling)?.number(of),
        ["at-a-glance"] => Some(glance::table(results)?),
        ["against", egg, other] => verdict_of_egg(results, egg, other)?,
        _ => None,
    }
    .ok_or_else(unknown)
}

#[cfg(test)]
mod tests_of_words {
    use super::super::made_up;
    use super::*;

    #[test]
    fn numbers_come_from_records() {
        let folder = std::env::temp_dir().join(format!("egg-words-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("paper")).unwrap();
        let paper = r#"{"datasets": {"DD": {"sum": [78.91, 3.37]}}}"#;
        std::fs::write(folder.join("paper/gcn.json"), paper).unwrap();
        let filled = fill(&folder, "It is {paper/gcn/DD/sum}.").unwrap();
        assert_eq!(filled, "It is 78.9 ± 3.4.");
        let mut search = made_up::search();
        search.settings.truncate(2);
        search.settings[0].runs.truncate(1);
        search.settings[0].runs[0].validation = Some(0.8);
        search.settings[1].runs[0].test = Some(0.77);
        search.save(folder.join("grid/a.json")).unwrap();
        let record = |name: &str, accuracy| made_up::record(&[accuracy]).save(folder.join(name)).unwrap();
        record("grid/a-chosen.json", 0.75);
        record("sensitivity/b.json", 0.5);
        let map = r#"{"about": {}, "classes": [], "maps": [{"columns": 1, "method": "", "name": "H", "neighbours": 10,
            "right": 0.8, "right_held_out": null, "right_in_map": null, "x": [], "y": []}]}"#;
        files::write(&folder.join("tsne/cora.json"), map).unwrap();
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
        let words = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/results/words.md");
        let text = std::fs::read_to_string(words).unwrap();
        let mut outside = String::new();
        for part in text.split('{') {
            outside.push_str(part.split_once('}').map_or(part, |(_, after)| after));
        }
        let names = ["NCI1", "Table 2", "Table 3", "Table 5", "EGG 0.8", "(1)"];
        let plain = names.iter().fold(outside, |text, name| text.replace(name, ""));
        assert!(!plain.contains(|letter: char| letter.is_ascii_digit()), "{plain}");
    }
}
