//! Splits: what every one must satisfy, and one of each kind to the number.

use std::collections::BTreeSet;

use egg_graph::{Error, Features, Graph, Labels, LinkSplit, Split};
use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// Every number below `items` is in exactly one part.
fn is_partition(split: &Split, items: usize) -> bool {
    let mut all = [&split.train[..], &split.validation, &split.test].concat();
    all.sort_unstable();
    all.into_iter().eq(0..items)
}

/// All pairs below `nodes`, smaller first.
fn pairs(nodes: usize) -> Vec<(usize, usize)> {
    (0..nodes)
        .flat_map(|a| (a + 1..nodes).map(move |b| (a, b)))
        .collect()
}

/// A graph with some of the possible edges.
fn with_edges(nodes: usize, chosen: &[bool]) -> Graph {
    let edges = pairs(nodes).into_iter().zip(chosen.iter().cycle());
    let edges: Vec<_> = edges
        .filter(|(_, chosen)| **chosen)
        .map(|(pair, _)| pair)
        .collect();
    Graph::from_edges(nodes, &edges).unwrap()
}

/// Checks everything that is promised of a link split.
fn check_links(graph: &Graph, split: &LinkSplit, validation: f64, test: f64) {
    let edges: Vec<_> = graph.view().edges().filter(|(a, b)| a != b).collect();
    let share = |share: f64| (share * edges.len() as f64) as usize;
    assert_eq!(split.validation.positive.len(), share(validation));
    assert_eq!(split.test.positive.len(), share(test));
    let train: Vec<_> = split.train.view().edges().collect();
    let mut positive = [&train[..], &split.validation.positive, &split.test.positive].concat();
    positive.sort_unstable();
    assert_eq!(positive, edges, "the parts' edges are the graph's, each once");

    let nodes = graph.node_count();
    let free = nodes * (nodes - 1) / 2 - edges.len();
    let held_out = share(validation) + share(test);
    if free >= held_out {
        assert_eq!(split.train_negative.len(), train.len().min(free - held_out));
        assert_eq!(split.validation.negative.len(), split.validation.positive.len());
        assert_eq!(split.test.negative.len(), split.test.positive.len());
    } else {
        assert!(split.train_negative.is_empty());
        assert_eq!(split.validation.negative.len() + split.test.negative.len(), free);
    }
    let negative = [
        &split.train_negative[..],
        &split.validation.negative,
        &split.test.negative,
    ]
    .concat();
    let distinct: BTreeSet<_> = negative.iter().copied().collect();
    assert_eq!(distinct.len(), negative.len(), "no pair twice");
    let edges: BTreeSet<_> = edges.into_iter().collect();
    assert!(distinct.is_disjoint(&edges), "no edge");
    assert!(negative.iter().all(|(a, b)| a < b && *b < graph.node_count()));
    assert_eq!(split.train.features(), graph.features());
    assert_eq!(split.train.node_labels(), graph.node_labels());
}

proptest! {
    #[test]
    fn random_parts_are_disjoint_and_complete(items in 0usize..300, seed in any::<u64>()) {
        let split = Split::random(items, &mut rng(seed));
        prop_assert!(is_partition(&split, items));
        prop_assert_eq!(split.train.len(), items * 8 / 10);
        prop_assert_eq!(split.validation.len(), items / 10);
        prop_assert_eq!(&split, &Split::random(items, &mut rng(seed)));
        prop_assert!(items < 20 || split != Split::random(items, &mut rng(seed ^ 1)));
    }

    #[test]
    fn folds_have_the_classes_in_proportion(
        classes in prop::collection::vec(prop::option::weighted(0.9, 0u32..4), 20..120),
        folds in 2usize..6,
        validation in 0.0f64..0.5,
        seed in any::<u64>(),
    ) {
        let names: Vec<String> = (0..5).map(|class| class.to_string()).collect();
        let labels = Labels::new(&classes, names).unwrap();
        let largest = labels.class_sizes().into_iter().max().unwrap();
        prop_assume!(folds <= largest);
        let splits = Split::stratified(&labels, folds, validation, &mut rng(seed)).unwrap();
        prop_assert_eq!(splits.len(), folds);
        let known: Vec<usize> = (0..classes.len()).filter(|item| classes[*item].is_some()).collect();
        let mut tested: Vec<usize> = splits.iter().flat_map(|split| split.test.clone()).collect();
        tested.sort_unstable();
        prop_assert_eq!(&tested, &known, "each is tested once");
        let size = |part: &[usize], class: u32| part.iter().filter(|item| classes[**item] == Some(class)).count();
        for split in &splits {
            let mut all = [&split.train[..], &split.validation, &split.test].concat();
            all.sort_unstable();
            prop_assert_eq!(&all, &known, "each is in one part");
            for class in 0..5 {
                let sizes = splits.iter().map(|split| size(&split.test, class));
                let spread = sizes.clone().max().unwrap() - sizes.min().unwrap();
                prop_assert!(spread <= 1, "class {class} in the test parts");
                let rest = size(&split.train, class) + size(&split.validation, class);
                let share = (validation * rest as f64).round() as usize;
                prop_assert_eq!(size(&split.validation, class), share);
            }
        }
        let sizes = splits.iter().map(|split| split.test.len());
        prop_assert!(sizes.clone().max().unwrap() - sizes.min().unwrap() <= 1);
        prop_assert_eq!(&splits, &Split::stratified(&labels, folds, validation, &mut rng(seed)).unwrap());
    }

    #[test]
    fn link_parts_are_disjoint_with_matching_non_edges(
        nodes in 2usize..14,
        chosen in prop::collection::vec(any::<bool>(), 40),
        validation in 0.0f64..0.4,
        test in 0.0f64..0.4,
        seed in any::<u64>(),
    ) {
        let graph = with_edges(nodes, &chosen);
        let columns = (0u32..).take(nodes).collect();
        let graph = graph.with_features(Features::one_hot(columns, nodes).unwrap()).unwrap();
        let free = nodes * (nodes - 1) / 2 - graph.edge_count();
        let split = LinkSplit::new(graph.view(), validation, test, &mut rng(seed));
        let share = |share: f64| (share * graph.edge_count() as f64) as usize;
        if graph.edge_count() == 0 || (free == 0 && share(validation) + share(test) > 0) {
            prop_assert!(matches!(split, Err(Error::Parameter { .. })), "none of either");
        } else {
            let split = split.unwrap();
            check_links(&graph, &split, validation, test);
            prop_assert_eq!(&split, &LinkSplit::new(graph.view(), validation, test, &mut rng(seed)).unwrap());
        }
    }
}

#[test]
fn non_edges_are_found_in_nearly_complete_graphs() {
    // 20 nodes, 190 pairs: of 95 edges, all 95 other pairs are needed; and a
    // few edges fewer.
    for edges in [95, 94, 80, 60] {
        let order = egg_graph::random_order(190, &mut rng(edges as u64));
        let all = pairs(20);
        let edges: Vec<_> = order[..edges].iter().map(|pair| all[*pair]).collect();
        let graph = Graph::from_edges(20, &edges).unwrap();
        let split = LinkSplit::new(graph.view(), 0.05, 0.1, &mut rng(3)).unwrap();
        check_links(&graph, &split, 0.05, 0.1);
    }
    // More edges than other pairs: all of these are used, by those that need them most.
    for (edges, validation, test, train) in [(96, 4, 9, 81), (170, 7, 13, 0), (180, 4, 6, 0), (189, 1, 0, 0)]
    {
        let graph = Graph::from_edges(20, &pairs(20)[..edges]).unwrap();
        let split = LinkSplit::new(graph.view(), 0.05, 0.1, &mut rng(3)).unwrap();
        let found = (
            split.validation.negative.len(),
            split.test.negative.len(),
            split.train_negative.len(),
        );
        assert_eq!(found, (validation, test, train), "{edges} edges");
        check_links(&graph, &split, 0.05, 0.1);
    }
    let graph = Graph::from_edges(20, &pairs(20)).unwrap();
    let refused = LinkSplit::new(graph.view(), 0.05, 0.1, &mut rng(3));
    assert!(matches!(refused, Err(Error::Parameter { name: "edges", .. })));
}

#[test]
fn a_self_loop_is_neither_edge_nor_non_edge() {
    let graph = Graph::from_csr(vec![0, 2, 4, 5, 5], vec![0, 1, 0, 2, 1]).unwrap();
    assert_eq!((graph.edge_count(), graph.self_loop_count()), (2, 1));
    let split = LinkSplit::new(graph.view(), 0.0, 0.5, &mut rng(1)).unwrap();
    check_links(&graph, &split, 0.0, 0.5);
}

/// Three orders that must not change with the platform or with a version of a
/// library: results that were published would no longer be those of their seed.
#[test]
fn splits_are_fixed_per_seed() {
    let split = Split::random(10, &mut rng(0));
    assert_eq!(split.train, [6, 1, 8, 3, 2, 9, 0, 5]);
    assert_eq!((split.validation, split.test), (vec![4], vec![7]));
    let labels = Labels::from_values(&[0, 1, 0, 1, 0, 1, 0, 1, 0]);
    let splits = Split::stratified(&labels, 3, 0.25, &mut rng(0)).unwrap();
    let parts: Vec<_> = splits
        .iter()
        .map(|split| (&split.validation[..], &split.test[..]))
        .collect();
    assert_eq!(
        parts,
        [
            (&[0, 7][..], &[2, 5, 8][..]),
            (&[1, 4], &[0, 3, 6]),
            (&[2, 5], &[1, 4, 7])
        ]
    );
    let ring: Vec<_> = (0..8).map(|node| (node, (node + 1) % 8)).collect();
    let graph = Graph::from_edges(8, &ring).unwrap();
    let split = LinkSplit::new(graph.view(), 0.25, 0.25, &mut rng(0)).unwrap();
    assert_eq!(split.validation.positive, [(6, 7), (1, 2)]);
    assert_eq!(split.validation.negative, [(1, 7), (4, 6)]);
    assert_eq!(split.test.positive, [(0, 7), (5, 6)]);
    assert_eq!(split.test.negative, [(2, 6), (1, 5)]);
}

#[test]
fn invalid_split_requests_are_refused() {
    let labels = Labels::from_values(&[0, 0, 0, 1]);
    for folds in [0, 1, 4, usize::MAX] {
        let refused = Split::stratified(&labels, folds, 0.1, &mut rng(0));
        assert!(
            matches!(refused, Err(Error::Parameter { name: "folds", .. })),
            "{folds}"
        );
    }
    let ring: Vec<_> = (0..8).map(|node| (node, (node + 1) % 8)).collect();
    let ring = Graph::from_edges(8, &ring).unwrap();
    for share in [-0.1, 1.0, 1.5, f64::NAN, f64::INFINITY] {
        let refused = Split::stratified(&labels, 2, share, &mut rng(0));
        assert!(
            matches!(
                refused,
                Err(Error::Parameter {
                    name: "validation",
                    ..
                })
            ),
            "{share}"
        );
        for (validation, test) in [(share, 0.1), (0.1, share)] {
            let refused = LinkSplit::new(ring.view(), validation, test, &mut rng(0));
            assert!(matches!(refused, Err(Error::Parameter { .. })), "{share}");
        }
    }
    let refused = LinkSplit::new(ring.view(), 0.5, 0.5, &mut rng(0));
    assert!(
        matches!(refused, Err(Error::Parameter { .. })),
        "nothing to train on"
    );
    for nodes in [0, 1, 5] {
        let empty = Graph::from_edges(nodes, &[]).unwrap();
        assert!(LinkSplit::new(empty.view(), 0.0, 0.0, &mut rng(0)).is_err());
    }
    assert!(Split::random(0, &mut rng(0)).is_empty());
}

#[test]
fn training_edges_keep_their_weights_and_attributes() {
    let ring: Vec<_> = (0..40usize)
        .map(|node| (node, (node + 1) % 40, 1.0 + node as f32))
        .collect();
    let graph = Graph::from_weighted_edges(40, &ring).unwrap();
    let attributes =
        ndarray::Array2::from_shape_fn((80, 1), |(entry, _)| -graph.edge_weights().unwrap()[entry]);
    let graph = graph.with_edge_attributes(attributes).unwrap();
    let split = LinkSplit::new(graph.view(), 0.1, 0.2, &mut rng(3)).unwrap();
    let train = &split.train;
    assert_eq!(train.edge_count(), 28);
    let weights = train.edge_weights().unwrap();
    for (node, row) in train.offsets().windows(2).enumerate() {
        for (entry, weight) in (row[0]..row[1]).zip(&weights[row[0]..row[1]]) {
            let other = train.entries()[entry] as usize;
            let (small, large) = (node.min(other), node.max(other));
            let expected = if large - small == 1 {
                1.0 + small as f32
            } else {
                40.0
            };
            assert_eq!(*weight, expected);
            assert_eq!(train.edge_attributes().unwrap()[[entry, 0]], -expected);
        }
    }
}
