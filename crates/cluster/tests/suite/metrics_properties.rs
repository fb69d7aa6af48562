//! What must hold of the measures for any labels, and how long they take.

use std::time::Instant;

use approx::abs_diff_eq;
use egg_cluster::metrics::{Contingency, rank};
use egg_graph::Labels;
use proptest::prelude::*;
use rand::RngExt;

use crate::samples::rng;

fn labels(points: usize, kinds: u32) -> impl Strategy<Value = Vec<u32>> {
    prop::collection::vec(0..kinds, points)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn metrics_are_invariant_to_cluster_names(
        classes in labels(40, 5),
        clusters in labels(40, 6),
        turn in 1u32..6,
        stride in 1u32..100_000_000,
    ) {
        let found = Contingency::new(&classes, &clusters).unwrap().agreement().unwrap();
        let renamed: Vec<u32> = clusters.iter().map(|cluster| (cluster + turn) % 6 * stride).collect();
        let again = Contingency::new(&classes, &renamed).unwrap().agreement().unwrap();
        for (a, b) in [
            (found.accuracy, again.accuracy),
            (found.normalised_mutual_information, again.normalised_mutual_information),
            (found.adjusted_rand, again.adjusted_rand),
            (found.v_measure, again.v_measure),
        ] {
            prop_assert!(abs_diff_eq!(a, b, epsilon = 1e-13));
        }
    }

    #[test]
    fn measures_stay_in_their_range(classes in labels(30, 8), clusters in labels(30, 30)) {
        let table = Contingency::new(&classes, &clusters).unwrap();
        let found = table.agreement().unwrap();
        for value in [
            found.accuracy,
            found.normalised_mutual_information,
            found.completeness,
            found.homogeneity,
            found.v_measure,
            found.macro_f1,
        ] {
            prop_assert!((-1e-12..=1.0 + 1e-12).contains(&value));
        }
        prop_assert!((-1.0..=1.0).contains(&found.adjusted_rand));
        let largest = table.overlaps().iter().map(|overlap| overlap.points).max().unwrap();
        prop_assert!(found.accuracy * 30.0 + 1e-9 >= largest as f64);
        let turned = Contingency::new(&clusters, &classes).unwrap();
        prop_assert!(abs_diff_eq!(turned.homogeneity(), found.completeness, epsilon = 1e-13));
        prop_assert!(abs_diff_eq!(turned.accuracy().unwrap(), found.accuracy, epsilon = 1e-13));
    }

    #[test]
    fn auc_counts_pairs(positives in prop::collection::vec(0u8..9, 1..30), negatives in prop::collection::vec(0u8..9, 1..30)) {
        let wide = |scores: &[u8]| scores.iter().map(|score| f64::from(*score)).collect::<Vec<_>>();
        let found = rank(&wide(&positives), &wide(&negatives)).unwrap();
        let pairs: f64 = positives
            .iter()
            .flat_map(|a| negatives.iter().map(move |b| match a.cmp(b) {
                std::cmp::Ordering::Greater => 1.0,
                std::cmp::Ordering::Equal => 0.5,
                std::cmp::Ordering::Less => 0.0,
            }))
            .sum();
        let share = pairs / (positives.len() * negatives.len()) as f64;
        prop_assert!(abs_diff_eq!(found.roc_auc, share, epsilon = 1e-12));
    }
}

#[test]
fn nodes_without_a_class_are_ignored() {
    let known = [0u32, 1, 1, 2, 0];
    let classes: Vec<Option<u32>> = known
        .iter()
        .map(|class| Some(*class))
        .flat_map(|class| [class, None])
        .collect();
    let clusters = [3, 9, 1, 9, 1, 9, 1, 3, 3, 1];
    let labels = Labels::new(&classes, ["a", "b", "c"].map(String::from).to_vec()).unwrap();
    let found = Contingency::of_known(&labels, &clusters).unwrap();
    let expected = Contingency::new(&known, &[3, 1, 1, 1, 3]).unwrap();
    assert_eq!(found, expected);
}

/// An absolute time is no assertion of this project, but orders of magnitude
/// are: counting that is not linear would take hours here.
#[test]
fn a_million_points_are_counted_quickly() {
    let points = 1_000_000;
    let mut rng = rng(0);
    let classes: Vec<u32> = (0..points).map(|_| rng.random_range(0..10)).collect();
    let ten: Vec<u32> = classes
        .iter()
        .map(|class| if rng.random::<f64>() < 0.7 { *class } else { 3 })
        .collect();
    let own: Vec<u32> = (0..points).collect();
    let reversed: Vec<u32> = own.iter().rev().copied().collect();
    let start = Instant::now();
    let some = Contingency::new(&classes, &ten).unwrap().agreement().unwrap();
    assert!(some.accuracy > 0.7);
    let each = Contingency::new(&classes, &own).unwrap().agreement().unwrap();
    assert!(abs_diff_eq!(each.homogeneity, 1.0, epsilon = 1e-9) && each.accuracy == 1e-5);
    // A million of each: a table of 10^12 cells, if one made it.
    let both = Contingency::new(&own, &reversed).unwrap().agreement().unwrap();
    assert_eq!(
        (both.accuracy, both.adjusted_rand, both.macro_f1),
        (1.0, 1.0, 1.0)
    );
    assert!(start.elapsed().as_secs() < 60);
}
