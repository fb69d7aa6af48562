//! Coarser graphs: ties, contracted edges, what is joined, self loops, sizes.

use candle_core::{DType, Device, Tensor};
use egg_graph::{Graph, GraphBatch, GraphDataset};
use egg_nn::{Parameters, Pass};
use egg_pool::pooling::{EdgePooling, PanPooling, TopK, TopKPooling};
use egg_pool::{Pooling, PoolingConfig, Structure};
use proptest::prelude::*;

use crate::samples::{build, entries, flat, mixed, node_count, normal, random_graph, rng, structure};

fn ones(rows: usize, columns: usize) -> Tensor {
    Tensor::ones((rows, columns), DType::F64, &Device::Cpu).unwrap()
}

#[test]
fn ties_between_nodes_go_by_node_number() {
    let structure = structure(&[(5, vec![(0, 4), (3, 4)]), (40, vec![])]);
    let (mut rng, mut parameters) = (rng(0), Parameters::new(DType::F64, &Device::Cpu).unwrap());
    let topk = TopKPooling::new(&mut parameters.root(&mut rng), 2, 0.5).unwrap();
    let expected: Vec<usize> = (0..3).chain(5..25).collect();
    assert_eq!(topk.select(ones(45, 2), &structure).unwrap(), expected);
    // Scores that differ win over numbers.
    let mut parameters = Parameters::new(DType::F64, &Device::Cpu).unwrap();
    let pan = PanPooling::new(&mut parameters.root(&mut rng), 2, 0.5, 1).unwrap();
    let sign = parameters.get("select.weight").unwrap();
    sign.set(&Tensor::new(&[[0.3]], &Device::Cpu).unwrap()).unwrap();
    let up = pan.select(ones(45, 2), &structure).unwrap();
    sign.set(&Tensor::new(&[[-0.3]], &Device::Cpu).unwrap()).unwrap();
    let down = pan.select(ones(45, 2), &structure).unwrap();
    assert_ne!(up[..3], down[..3]);
    assert_eq!(up[3..], down[3..]);
}

#[test]
fn ties_between_edges_go_by_source_and_target() {
    // A cycle with equal rows: every edge scores 1. 0 -> 1 is the first, then 2 -> 3.
    let structure = structure(&[(5, vec![(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)])]);
    let (mut rng, mut parameters) = (rng(0), Parameters::new(DType::F64, &Device::Cpu).unwrap());
    let edge = EdgePooling::new(&mut parameters.root(&mut rng), 3).unwrap();
    assert_eq!(edge.clusters(ones(5, 3), &structure).unwrap(), [0, 0, 1, 1, 2]);
    let pooled = edge
        .pool(&(&ones(5, 3)).into(), &structure, &mut Pass::Evaluation)
        .unwrap();
    let coarser = pooled.coarser.unwrap();
    // 1.0 (1 + 1), and 1 for the node left alone.
    let rows = coarser.h.to_vec2::<f64>().unwrap();
    assert_eq!(rows, [[2.0; 3], [2.0; 3], [1.0; 3]]);
    let expected = [
        (0, 0, 1.0),
        (0, 1, 1.0),
        (0, 2, 1.0),
        (1, 0, 1.0),
        (1, 1, 1.0),
        (1, 2, 1.0),
        (2, 0, 1.0),
        (2, 1, 1.0),
    ];
    assert_eq!(entries(coarser.structure.adjacency()), expected);
}

#[test]
fn edge_weights_are_kept_but_do_not_change_scores() {
    let weighted = |weight: f32| {
        let graph = Graph::from_weighted_edges(4, &[(0, 1, weight), (1, 2, 2.0), (2, 3, 1.0), (3, 0, 1.0)]);
        let dataset = GraphDataset::single("weights", graph.unwrap());
        Structure::from_batch(&GraphBatch::all(&dataset).unwrap()).unwrap()
    };
    let h = normal(4, 3, 1);
    for name in ["topk", "sag", "edge", "pan"] {
        let (pooling, _) = build(&name.parse().unwrap(), 3, DType::F64, 1);
        let run = |structure: &Structure| {
            pooling
                .pool(&(&h).into(), structure, &mut Pass::Evaluation)
                .unwrap()
        };
        let (a, b) = (run(&weighted(1.0)), run(&weighted(7.0)));
        assert_eq!(flat(&a.readout), flat(&b.readout), "{name}");
    }
    let (pooling, _) = build(&TopK { ratio: 0.99 }.into(), 3, DType::F64, 1);
    let coarser = pooling
        .pool(&(&h).into(), &weighted(7.0), &mut Pass::Evaluation)
        .unwrap()
        .coarser
        .unwrap();
    let sum: f32 = coarser.structure.adjacency().values().iter().sum();
    assert_eq!(sum, 22.0);
}

/// The matching as the definition has it: over and over the best edge that is free.
fn by_definition(a: &[f64], graph: &(usize, Vec<(usize, usize)>)) -> Vec<usize> {
    let (nodes, edges) = graph;
    let mut directed: Vec<(usize, usize)> = edges.iter().flat_map(|&(a, b)| [(a, b), (b, a)]).collect();
    directed.sort_unstable();
    let score = |&(source, target): &(usize, usize)| {
        let into = directed.iter().filter(|edge| edge.1 == target);
        let total: f64 = into.map(|edge| a[edge.0].exp()).sum();
        a[source].exp() / total + 0.5
    };
    let mut cluster = vec![usize::MAX; *nodes];
    let mut count = 0;
    loop {
        let free = |edge: &&(usize, usize)| cluster[edge.0] == usize::MAX && cluster[edge.1] == usize::MAX;
        // `max_by` takes the last of equals.
        let best = directed
            .iter()
            .filter(free)
            .rev()
            .max_by(|x, y| score(x).total_cmp(&score(y)));
        let Some(&(source, target)) = best else { break };
        cluster[source] = count;
        cluster[target] = count;
        count += 1;
    }
    for slot in cluster.iter_mut().filter(|slot| **slot == usize::MAX) {
        *slot = count;
        count += 1;
    }
    cluster
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn edge_contraction_equals_its_definition(nodes in 1usize..16, chance in 0.0..0.8, seed in 0u64..1 << 32) {
        let graph = random_graph(nodes, chance, seed);
        let h = normal(nodes, 2, seed);
        let (mut rng, mut parameters) = (rng(0), Parameters::new(DType::F64, &Device::Cpu).unwrap());
        let edge = EdgePooling::new(&mut parameters.root(&mut rng), 2).unwrap();
        let w = flat(parameters.get("lin.weight").unwrap());
        let a: Vec<f64> = flat(&h).chunks(2).map(|row| row[0] * w[0] + row[1] * w[1]).collect();
        let found = edge.clusters(&h, &structure(std::slice::from_ref(&graph))).unwrap();
        prop_assert_eq!(found, by_definition(&a, &graph));
    }

    #[test]
    fn a_graph_is_pooled_the_same_alone_and_in_a_batch(seed in 0u64..1 << 32) {
        let graphs = [random_graph(7, 0.4, seed), random_graph(11, 0.3, seed + 1), (1, vec![])];
        let h = normal(node_count(&graphs), 3, seed);
        for config in PoolingConfig::all() {
            let (pooling, _) = build(&config, 3, DType::F64, 2);
            let together = pooling.pool(&(&h).into(), &structure(&graphs), &mut Pass::Evaluation).unwrap();
            let mut first = 0;
            for (index, graph) in graphs.iter().enumerate() {
                let rows = h.narrow(0, first, graph.0).unwrap();
                first += graph.0;
                let alone = structure(std::slice::from_ref(graph));
                let alone = pooling.pool(&(&rows).into(), &alone, &mut Pass::Evaluation).unwrap();
                let row = together.readout.get(index).unwrap();
                prop_assert_eq!(flat(&row), flat(&alone.readout), "{}", config);
                let (Some(coarser), Some(part)) = (&together.coarser, &alone.coarser) else { continue };
                let offsets = coarser.structure.offsets();
                let rows = coarser.h.narrow(0, offsets[index], offsets[index + 1] - offsets[index]).unwrap();
                prop_assert_eq!(flat(&rows), flat(&part.h), "{}", config);
            }
        }
    }
}

#[test]
fn coarsened_graphs_are_valid_and_have_the_expected_sizes() {
    let graphs = mixed();
    let structure = structure(&graphs);
    let h = normal(node_count(&graphs), 4, 3);
    for config in PoolingConfig::all() {
        let (pooling, _) = build(&config, 4, DType::F64, 2);
        let pooled = pooling
            .pool(&(&h).into(), &structure, &mut Pass::Evaluation)
            .unwrap();
        assert_eq!(pooled.coarser.is_some(), config.coarsens());
        let Some(mut coarser) = pooled.coarser else {
            continue;
        };
        // Down to what does not get smaller.
        for _ in 0..6 {
            let offsets = coarser.structure.offsets().to_vec();
            Structure::new(&offsets, coarser.structure.adjacency().clone()).unwrap();
            assert_eq!(coarser.h.dims(), [coarser.structure.node_count(), 4]);
            let next = pooling
                .pool(&coarser.h, &coarser.structure, &mut Pass::Evaluation)
                .unwrap();
            let next = next.coarser.unwrap();
            for (now, then) in next
                .structure
                .offsets()
                .windows(2)
                .zip(coarser.structure.offsets().windows(2))
            {
                let (now, then) = (now[1] - now[0], then[1] - then[0]);
                assert!(
                    now <= then && now >= then.div_ceil(2),
                    "{config}: {then} -> {now}"
                );
                assert!(config.name() == "edge" || now == then.div_ceil(2), "{config}");
            }
            coarser = next;
        }
    }
}

/// What takes the square of 200,000 steps would not come back.
#[test]
fn large_graphs_are_contracted_at_once() {
    const NODES: usize = 200_000;
    let path: Vec<(usize, usize)> = (1..NODES).map(|node| (node - 1, node)).collect();
    let star: Vec<(usize, usize)> = (1..NODES).map(|leaf| (0, leaf)).collect();
    let structure = structure(&[(NODES, path), (NODES, star)]);
    let (mut rng, mut parameters) = (rng(0), Parameters::new(DType::F32, &Device::Cpu).unwrap());
    let edge = EdgePooling::new(&mut parameters.root(&mut rng), 2).unwrap();
    let h = normal(2 * NODES, 2, 5).to_dtype(DType::F32).unwrap();
    let pooled = edge
        .pool(&(&h).into(), &structure, &mut Pass::Evaluation)
        .unwrap();
    let offsets = pooled.coarser.unwrap().structure.offsets().to_vec();
    // No two neighbours of the path are left alone, and of the star one leaf joins the hub.
    assert!(
        offsets[1] >= NODES / 2 && 3 * offsets[1] <= 2 * NODES + 1,
        "{offsets:?}"
    );
    assert_eq!(offsets[2] - offsets[1], NODES - 1);
    assert_eq!(
        edge.clusters(&h, &structure).unwrap(),
        edge.clusters(&h, &structure).unwrap()
    );
}
