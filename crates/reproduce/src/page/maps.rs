//! The paper's maps by t-SNE, of records alone: graphs of COLLAB, and nodes of three
//! citation networks. Next to each picture is what it shows, as a number.

use std::fmt::Write;
use std::path::Path;

use serde_json::Value;

use super::Places;
use crate::error::Result;
use crate::files;
use crate::maps::Figure;
use crate::maps::record::{Map, MapRecord};
use crate::svg::{Panel, maps};

/// The records of a figure that are there.
fn found(results: &Path, figure: Figure) -> Result<Vec<(&'static str, MapRecord)>> {
    let mut found = Vec::new();
    for subject in figure.subjects() {
        let record = files::find(&Places::new(results).map(subject.name))?;
        found.extend(record.map(|record| (subject.name, record)));
    }
    Ok(found)
}

/// Each figure with its file name; those without records are not there.
pub(super) fn drawn(results: &Path) -> Result<Vec<(String, String)>> {
    let mut drawn = Vec::new();
    for (figure, title, columns) in [
        (
            Figure::Graphs,
            "COLLAB: graphs as EGG sees them, by class (t-SNE)",
            3,
        ),
        (Figure::Nodes, "Nodes of citation networks, by class (t-SNE)", 2),
    ] {
        let mut panels = Vec::new();
        for (_, record) in found(results, figure)? {
            panels.extend(record.maps.iter().map(|map| panel(&record, map)));
        }
        if !panels.is_empty() {
            drawn.push((format!("{}.svg", figure.name()), maps(title, &panels, columns)));
        }
    }
    Ok(drawn)
}

/// A word of how a record was made.
fn word<'a>(record: &'a MapRecord, of: &str) -> &'a str {
    record.about[of].as_str().unwrap_or("?")
}

fn panel(record: &MapRecord, map: &Map) -> Panel {
    let places = map.x.iter().zip(&map.y);
    let points = places.zip(&record.classes);
    let points = points.filter_map(|((x, y), class)| Some((*x, *y, (*class)? as usize)));
    let title = match word(record, "figure") == Figure::Graphs.name() {
        true => map.name.clone(),
        false => format!("{}: {}", word(record, "dataset"), map.name),
    };
    Panel {
        title,
        note: format!(
            "nearest {}: {} right, in the map {}",
            map.neighbours,
            percent(map.right),
            percent(map.right_in_map)
        ),
        points: points.collect(),
    }
}

fn percent(share: Option<f64>) -> String {
    share.map_or("-".into(), |share| format!("{:.1} %", 100.0 * share))
}

/// How many neighbours are right in a map's embedding, for words.md.
pub(super) fn right(record: &MapRecord, name: &str) -> Option<String> {
    let map = record.maps.iter().find(|map| map.name == name)?;
    Some(percent(map.right))
}

/// The share of the commonest class.
fn commonest(record: &MapRecord) -> Option<f64> {
    let classes: Vec<u32> = record.classes.iter().flatten().copied().collect();
    let count = |class: u32| classes.iter().filter(|other| **other == class).count();
    let most = (0..=*classes.iter().max()?).map(count).max()?;
    Some(most as f64 / classes.len() as f64)
}

/// The part of the page about maps.
pub(super) fn section(results: &Path) -> Result<String> {
    let mut page = String::from(
        "## Maps\n\n\
         `cargo xtask bench paper --figure tsne-graphs,tsne-nodes` makes their records, `--render` draws them. At most 4,000 graphs or nodes of a data set,\n\
         drawn with seed 0, placed by t-SNE, coloured by true class. *Right*: the share of points whose class is the most frequent among their ten nearest\n\
         neighbours in the embedding; *held out*: the same for graphs of the test part; *in the map*: the same by positions in the picture; *commonest*: the\n\
         share of the largest class. The record of a row is in `results/tsne/`.\n",
    );
    for &figure in Figure::ALL {
        let found = found(results, figure)?;
        let missing: Vec<&str> = figure
            .subjects()
            .into_iter()
            .map(|subject| subject.name)
            .filter(|name| found.iter().all(|(there, _)| there != name))
            .collect();
        let name = figure.name();
        if !found.is_empty() {
            let words = match figure {
                Figure::Graphs => "Graphs of COLLAB by t-SNE of their EGG embeddings",
                Figure::Nodes => "Nodes of citation networks by t-SNE of H and of EGG(0.8)",
            };
            let _ = write!(page, "\n![{words}](results/figures/{name}.svg)\n\n{words}.\n\n");
            table(&mut page, &found);
        }
        if !missing.is_empty() {
            let _ = write!(page, "\n{name}: {} missing.\n", missing.join(", "));
        }
    }
    Ok(page)
}

fn table(page: &mut String, found: &[(&str, MapRecord)]) {
    page.push_str(
        "| data | map | points | columns | right | held out | in the map | commonest | training |\n\
         |---|---|---|---|---|---|---|---|---|\n",
    );
    for (_, record) in found {
        for map in &record.maps {
            let title = &map.name;
            let training = match title.ends_with("untrained") {
                true => "none".into(),
                false => training(&record.about),
            };
            let _ = writeln!(
                page,
                "| {} | {title} | {} | {} | {} | {} | {} | {} | {training} |",
                word(record, "dataset"),
                record.classes.len(),
                map.columns,
                percent(map.right),
                percent(map.right_held_out),
                percent(map.right_in_map),
                percent(commonest(record)),
            );
        }
    }
    let texts = |of: &dyn Fn(&Value) -> Option<&str>| {
        let mut texts: Vec<&str> = found
            .iter()
            .map(|(_, record)| of(&record.about).unwrap_or("?"))
            .collect();
        texts.sort_unstable();
        texts.dedup();
        texts.join(", ")
    };
    let first = found.first().and_then(|(_, record)| record.maps.first());
    let _ = writeln!(
        page,
        "\n{}; {}; revisions {}.",
        first.map_or("?", |map| &map.method),
        texts(&|about| about["machine"]["processor"].as_str()),
        texts(&|about| about["revision"].as_str()),
    );
}

fn training(about: &Value) -> String {
    match (about["test"].as_f64(), about["best_epoch"].as_u64()) {
        (Some(test), Some(best)) => format!(
            "{} epochs, the best {best}: test accuracy {:.1} %",
            about["epochs"],
            100.0 * test
        ),
        _ => format!("{} epochs", about["epochs"]),
    }
}

#[cfg(test)]
mod tests_of_maps {
    use super::*;
    use serde_json::json;

    fn record() -> Value {
        let map = |name: &str| {
            json!({"name": name, "columns": 528, "method": "t-SNE, perplexity 1", "neighbours": 10,
                "right": 0.75, "right_held_out": 0.5, "right_in_map": 0.25, "x": [0, 1000, 5, 6], "y": [1, 2, 3, 4]})
        };
        json!({"about": {"figure": "tsne-graphs", "dataset": "COLLAB", "epochs": 30, "best_epoch": 12, "test": 0.701,
                "revision": "abc", "machine": {"processor": "p"}},
            "classes": [0, 2, null, 2], "maps": [map("GCN-EGG, untrained"), map("GCN-EGG, trained")]})
    }

    #[test]
    fn a_demo_writes_its_picture_and_its_numbers() {
        let folder = std::env::temp_dir().join(format!("egg-maps-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("tsne")).unwrap();
        assert!(drawn(&folder).unwrap().is_empty());
        let page = section(&folder).unwrap();
        assert!(
            page.contains("tsne-graphs: collab-gcn, collab-gin missing."),
            "{page}"
        );
        assert!(
            page.contains("tsne-nodes: cora, citeseer, pubmed missing."),
            "{page}"
        );

        std::fs::write(folder.join("tsne/collab-gcn.json"), record().to_string()).unwrap();
        let drawn = drawn(&folder).unwrap();
        assert_eq!(drawn.len(), 1);
        assert_eq!(drawn[0].0, "tsne-graphs.svg");
        // A point without a class has no colour, and is not drawn.
        assert_eq!(drawn[0].1.matches("h0").count(), 6);
        let page = section(&folder).unwrap();
        let row = "| COLLAB | GCN-EGG, trained | 4 | 528 | 75.0 % | 50.0 % | 25.0 % | 66.7 % | \
                   30 epochs, the best 12: test accuracy 70.1 % |";
        assert!(page.contains(row), "{page}");
        assert!(page.contains(
            "| COLLAB | GCN-EGG, untrained | 4 | 528 | 75.0 % | 50.0 % | 25.0 % | 66.7 % | none |"
        ));
        assert!(page.contains("tsne-graphs: collab-gin missing."), "{page}");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
