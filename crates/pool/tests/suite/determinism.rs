//! The same bits on any number of threads.

use candle_core::{DType, Var};
use egg_nn::Pass;
use egg_pool::PoolingConfig;

use crate::samples::{Edges, build, flat, node_count, normal, random_graph, rng, structure};

#[test]
fn values_and_gradients_are_the_same_bits_on_any_threads() {
    // Enough for every kernel to share its work.
    let graphs: Vec<Edges> = (0..48)
        .map(|seed| random_graph((seed as usize * 13) % 61, 0.15, seed))
        .collect();
    let structure = structure(&graphs);
    let features = 24;
    for config in PoolingConfig::all() {
        for dtype in [DType::F32, DType::F64] {
            let job = || {
                let (pooling, parameters) = build(&config, features, dtype, 7);
                let h = normal(node_count(&graphs), features, 5).to_dtype(dtype).unwrap();
                let h = Var::from_tensor(&h).unwrap();
                let mut rng = rng(1);
                let pooled = pooling
                    .pool(&(&h).into(), &structure, &mut Pass::Training(&mut rng))
                    .unwrap();
                let gradients = pooled
                    .readout
                    .sqr()
                    .unwrap()
                    .sum_all()
                    .unwrap()
                    .backward()
                    .unwrap();
                let mut numbers = flat(&pooled.readout);
                for variable in parameters.trainable().map(|(_, variable)| variable).chain([&h]) {
                    numbers.extend(flat(gradients.get(variable).unwrap()));
                }
                if let Some(coarser) = pooled.coarser {
                    let adjacency = coarser.structure.adjacency();
                    numbers.extend(adjacency.values().iter().map(|value| f64::from(*value)));
                    numbers.extend(adjacency.columns().iter().map(|column| f64::from(*column)));
                }
                numbers.into_iter().map(f64::to_bits).collect::<Vec<_>>()
            };
            let run = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new()
                    .num_threads(threads)
                    .build()
                    .unwrap();
                pool.install(job)
            };
            let reference = run(1);
            for threads in [2, 4, 4] {
                assert!(run(threads) == reference, "{config} differs on {threads} threads");
            }
        }
    }
}
