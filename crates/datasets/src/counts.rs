//! Whether what egg-graph reads is what the registry expects.

use std::path::Path;

use egg_graph::{GraphDataset, ReadOptions, Targets};

use crate::registry::DatasetEntry;

/// Reads the data set at `path` and compares it with the registry: its
/// fingerprint, or all that differs.
pub(crate) fn check(entry: &DatasetEntry, path: &Path) -> Result<String, String> {
    let dataset = entry
        .source_at(path)
        .read(&ReadOptions::default())
        .map_err(|error| error.to_string())?;
    let fingerprint = dataset.fingerprint();
    let mut differences = differences(entry, &dataset);
    if let Some(expected) = &entry.fingerprint
        && *expected != fingerprint
    {
        differences.push(format!("fingerprint {fingerprint}, expected {expected}"));
    }
    if differences.is_empty() {
        Ok(fingerprint)
    } else {
        Err(differences.join("; "))
    }
}

/// Whether a file whose rows are in another order makes the same data set.
pub(crate) fn same_content(entry: &DatasetEntry, path: &Path) -> Result<(), String> {
    if entry.fingerprint.is_none() {
        return Err(
            "the rows may be in another order, but the registry has no fingerprint to compare with".into(),
        );
    }
    check(entry, path).map(|_| ())
}

fn differences(entry: &DatasetEntry, dataset: &GraphDataset) -> Vec<String> {
    let expected = &entry.counts;
    let counts = [
        ("graphs", Some(expected.graphs), Some(dataset.len() as u64)),
        ("nodes", Some(expected.nodes), Some(dataset.node_count() as u64)),
        ("edges", expected.edges, Some(dataset.edge_count() as u64)),
        (
            "self-loops",
            expected.self_loops,
            Some(dataset.notes().self_loops),
        ),
        (
            "features",
            Some(expected.features),
            Some(dataset.features().width() as u64),
        ),
        ("classes", Some(expected.classes), classes(dataset)),
    ];
    let mut differences = Vec::new();
    for (what, expected, found) in counts {
        match (expected, found) {
            (Some(expected), Some(found)) if expected != found => {
                differences.push(format!("{found} {what}, expected {expected}"));
            }
            (Some(expected), None) => differences.push(format!("no {what}, expected {expected}")),
            _ => {}
        }
    }
    differences
}

/// Of graphs, or of nodes where graphs have none.
fn classes(dataset: &GraphDataset) -> Option<u64> {
    let count = match dataset.targets() {
        Some(Targets::Classes(labels)) => labels.class_count(),
        Some(Targets::Values(values)) => {
            let known = values.iter().filter(|value| !value.is_nan());
            let mut bits: Vec<u32> = known.map(|value| value.to_bits()).collect();
            bits.sort_unstable();
            bits.dedup();
            bits.len()
        }
        None => dataset.node_labels()?.class_count(),
    };
    Some(count as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Registry;
    use egg_graph::{Graph, Labels};

    fn entry(counts: &str) -> DatasetEntry {
        let text = format!(
            "format = 1\n[[dataset]]\nname = 'Two'\naliases = []\ntask = 'graph-classification'\n\
             layout = 'wiki-cs'\npath = 'two/x'\nstem = 'two'\nlicence = 'none'\ncitations = ['none']\n\
             [dataset.counts]\n{counts}\n[[dataset.file]]\npath = 'two/x'\nurl = 'https://localhost/x'\n"
        );
        Registry::parse(&text).unwrap().get("two").unwrap().clone()
    }

    fn two() -> GraphDataset {
        let graphs = [
            Graph::from_edges(2, &[(0, 1)]).unwrap(),
            Graph::from_edges(3, &[(0, 1), (1, 2)]).unwrap(),
        ];
        let classes = Targets::Classes(Labels::from_values(&[4, 7]));
        GraphDataset::from_graphs("two", &graphs)
            .unwrap()
            .with_targets(classes)
            .unwrap()
    }

    #[test]
    fn differing_counts_are_named() {
        let right = "graphs = 2\nnodes = 5\nedges = 3\nself_loops = 0\nfeatures = 0\nclasses = 2";
        assert!(differences(&entry(right), &two()).is_empty());
        // What is not known is not compared.
        let vague = "graphs = 2\nnodes = 5\nquoted_edges = 9\nfeatures = 0\nclasses = 2";
        assert!(differences(&entry(vague), &two()).is_empty());
        for (from, to, says) in [
            ("graphs = 2", "graphs = 3", "2 graphs, expected 3"),
            ("nodes = 5", "nodes = 6", "5 nodes, expected 6"),
            ("edges = 3", "edges = 1", "3 edges, expected 1"),
            ("self_loops = 0", "self_loops = 2", "0 self-loops, expected 2"),
            ("features = 0", "features = 4", "0 features, expected 4"),
            ("classes = 2", "classes = 9", "2 classes, expected 9"),
        ] {
            assert_eq!(differences(&entry(&right.replace(from, to)), &two()), [says]);
        }
    }

    #[test]
    fn counts_differ_without_classes() {
        let counts = "graphs = 1\nnodes = 2\nedges = 1\nfeatures = 0\nclasses = 2";
        let pair = GraphDataset::single("pair", Graph::from_edges(2, &[(0, 1)]).unwrap());
        assert_eq!(differences(&entry(counts), &pair), ["no classes, expected 2"]);
    }
}
