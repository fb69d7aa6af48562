//! Results are bit-identical on any number of threads.

use candle_core::{DType, Tensor, Var};
use egg_autodiff::{Embedder, Filter, Flatten, RankRule, SoftEmbedder, leverage, svd};

use crate::differences::{flat, normal, weighted_gradient};

/// Runs a job on pools of 1, 2 and 4 threads, and compares.
fn same_on_all_pools(what: &str, job: impl Fn() -> Vec<u64> + Sync) {
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(&job)
    };
    let reference = run(1);
    assert!(!reference.is_empty());
    for threads in [1, 2, 4, 4] {
        assert!(run(threads) == reference, "{what} differs on {threads} threads");
    }
}

/// Uneven graphs, some empty.
fn offsets() -> Vec<usize> {
    let sizes = (0..40).map(|graph| (graph * graph * 7) % 31);
    std::iter::once(0)
        .chain(sizes.scan(0, |sum, size| {
            *sum += size;
            Some(*sum)
        }))
        .collect()
}

fn value_and_gradient_bits<T: Into<Tensor>>(
    h: &Var,
    y: impl Fn(&Tensor) -> egg_autodiff::Result<T>,
) -> Vec<u64> {
    let y = |h: &Tensor| y(h).map(Into::<Tensor>::into);
    let values = flat(&y(h).unwrap());
    let gradient = weighted_gradient(h, y);
    values
        .iter()
        .chain(&gradient)
        .map(|value| value.to_bits())
        .collect()
}

#[test]
fn every_operation_is_bit_identical_on_any_number_of_threads() {
    let offsets = offsets();
    let rows = offsets[offsets.len() - 1];
    for dtype in [DType::F32, DType::F64] {
        let h = Var::from_tensor(&normal(rows, 8, 1).to_dtype(dtype).unwrap()).unwrap();
        let rule = RankRule::Relative(0.5);
        // The same memory for all runs: what it held before must not matter.
        let embedder = Embedder::new(rule, Flatten::Upper).unwrap();
        same_on_all_pools("embedding", || {
            value_and_gradient_bits(&h, |h| embedder.embed(h, &offsets))
        });
        same_on_all_pools("leverage", || {
            value_and_gradient_bits(&h, |h| leverage(h, &offsets, rule))
        });
        for filter in [
            Filter::resolvent(0.5).unwrap(),
            Filter::resolvent(1e-6).unwrap(),
            Filter::log1p(),
        ] {
            let embedder = SoftEmbedder::new(filter, Flatten::Upper);
            same_on_all_pools("soft embedding", || {
                value_and_gradient_bits(&h, |h| embedder.embed(h, &offsets))
            });
        }
        let stack = Var::from_tensor(
            &normal(60, 8, 2)
                .to_dtype(dtype)
                .unwrap()
                .reshape((10, 6, 8))
                .unwrap(),
        )
        .unwrap();
        same_on_all_pools("svd", || value_and_gradient_bits(&stack, |a| Ok(svd(a)?.2)));
    }
}

#[test]
fn reused_memory_of_other_shapes_changes_no_bit() {
    let embedder = Embedder::new(RankRule::Fixed(2), Flatten::Upper).unwrap();
    let soft = SoftEmbedder::new(Filter::resolvent(0.5).unwrap(), Flatten::Upper);
    for (rows, m, seed) in [(30, 8, 1), (4, 3, 2), (60, 5, 3), (7, 12, 4)] {
        let h = Var::from_tensor(&normal(rows, m, seed)).unwrap();
        let offsets = [0, rows / 2, rows];
        let fresh = Embedder::new(RankRule::Fixed(2), Flatten::Upper).unwrap();
        assert_eq!(
            value_and_gradient_bits(&h, |h| embedder.embed(h, &offsets)),
            value_and_gradient_bits(&h, |h| fresh.embed(h, &offsets))
        );
        let fresh = SoftEmbedder::new(Filter::resolvent(0.5).unwrap(), Flatten::Upper);
        assert_eq!(
            value_and_gradient_bits(&h, |h| soft.embed(h, &offsets)),
            value_and_gradient_bits(&h, |h| fresh.embed(h, &offsets))
        );
    }
}
