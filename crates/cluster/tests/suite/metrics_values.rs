//! Every measure against scikit-learn, SciPy and NetworkX.

use std::collections::BTreeMap;

use egg_cluster::metrics::{Contingency, Cut, rank};
use egg_graph::Graph;
use serde::Deserialize;

use crate::fixture::{assert_close, read};

const EXACT: f64 = 1e-12;

#[derive(Deserialize)]
struct File {
    agreement: BTreeMap<String, AgreementCase>,
    structure: BTreeMap<String, StructureCase>,
    ranking: BTreeMap<String, RankingCase>,
}

#[derive(Deserialize)]
struct AgreementCase {
    classes: Vec<u32>,
    clusters: Vec<u32>,
    accuracy: f64,
    normalised_mutual_information: f64,
    adjusted_rand: f64,
    homogeneity: f64,
    completeness: f64,
    v_measure: f64,
    macro_f1: Option<f64>,
}

#[derive(Deserialize)]
struct StructureCase {
    nodes: usize,
    edges: Vec<(usize, usize, f32)>,
    clusters: Vec<u32>,
    modularity: f64,
    modularity_at_half: f64,
    conductances: Vec<Option<f64>>,
}

#[derive(Deserialize)]
struct RankingCase {
    positives: Vec<f64>,
    negatives: Vec<f64>,
    roc_auc: f64,
    average_precision: f64,
}

#[test]
fn agreement_equals_scikit_learn() {
    let file: File = read("metrics.json");
    assert!(file.agreement.len() > 10);
    for (name, case) in &file.agreement {
        let table = Contingency::new(&case.classes, &case.clusters).unwrap();
        let found = table.agreement().unwrap();
        for (what, found, expected) in [
            ("accuracy", found.accuracy, case.accuracy),
            (
                "NMI",
                found.normalised_mutual_information,
                case.normalised_mutual_information,
            ),
            ("ARI", found.adjusted_rand, case.adjusted_rand),
            ("homogeneity", found.homogeneity, case.homogeneity),
            ("completeness", found.completeness, case.completeness),
            ("V", found.v_measure, case.v_measure),
            ("F1", found.macro_f1, case.macro_f1.unwrap_or(found.macro_f1)),
        ] {
            assert_close(found, expected, EXACT, &format!("{name}: {what}"));
        }
        assert_eq!(found.accuracy, table.accuracy().unwrap());
        assert_eq!(found.macro_f1, table.macro_f1().unwrap());
    }
}

#[test]
fn structure_equals_networkx() {
    let file: File = read("metrics.json");
    for (name, case) in &file.structure {
        let graph = Graph::from_weighted_edges(case.nodes, &case.edges).unwrap();
        let cut = Cut::new(&graph, &case.clusters).unwrap();
        assert_close(cut.modularity().unwrap(), case.modularity, EXACT, name);
        assert_close(
            cut.modularity_at(0.5).unwrap(),
            case.modularity_at_half,
            EXACT,
            name,
        );
        let found = cut.conductances();
        assert_eq!(found.len(), case.conductances.len(), "{name}");
        for (a, b) in found.iter().zip(&case.conductances) {
            assert_eq!(a.is_some(), b.is_some(), "{name}");
            assert_close(a.unwrap_or(0.0), b.unwrap_or(0.0), EXACT, name);
        }
    }
}

#[test]
fn edge_weights_of_one_equal_no_weights() {
    let file: File = read("metrics.json");
    let case = &file.structure["plain"];
    let edges: Vec<(usize, usize)> = case.edges.iter().map(|edge| (edge.0, edge.1)).collect();
    let bare = Cut::new(&Graph::from_edges(case.nodes, &edges).unwrap(), &case.clusters).unwrap();
    assert_close(bare.modularity().unwrap(), case.modularity, EXACT, "bare");
}

#[test]
fn rankings_equal_scikit_learn() {
    let file: File = read("metrics.json");
    for (name, case) in &file.ranking {
        let found = rank(&case.positives, &case.negatives).unwrap();
        assert_close(found.roc_auc, case.roc_auc, EXACT, name);
        assert_close(found.average_precision, case.average_precision, EXACT, name);
    }
}
