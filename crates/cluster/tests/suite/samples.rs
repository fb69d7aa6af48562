//! Points and comparisons that several tests use.

use egg_cluster::metrics::Contingency;
use ndarray::{Array2, ArrayView2};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

pub(crate) fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// Standard normal numbers.
pub(crate) fn normal(rows: usize, columns: usize, seed: u64) -> Array2<f64> {
    let mut rng = rng(seed);
    Array2::from_shape_simple_fn((rows, columns), || StandardNormal.sample(&mut rng))
}

/// Rows around `groups` middles, in turn.
pub(crate) fn blobs(rows: usize, columns: usize, groups: usize, spread: f64, seed: u64) -> Array2<f64> {
    let middles = normal(groups, columns, seed ^ 0xb10b) * spread;
    let mut points = normal(rows, columns, seed);
    for (index, mut row) in points.rows_mut().into_iter().enumerate() {
        row += &middles.row(index % groups);
    }
    points
}

/// The same partition, whatever the clusters are called.
pub(crate) fn same_partition(a: &[u32], b: &[u32]) -> bool {
    Contingency::new(a, b).expect("labels").adjusted_rand() == 1.0
}

/// Plain Lloyd as its definition says, no bounds, no threads: labels, inertia
/// and iterations. A cluster that is empty stays where it is.
pub(crate) fn plain_lloyd(
    points: ArrayView2<'_, f64>,
    mut centres: Array2<f64>,
    max_iterations: usize,
) -> (Vec<u32>, f64, usize) {
    let nearest = |centres: &Array2<f64>| -> Vec<(u32, f64)> {
        let rows = points.rows().into_iter();
        rows.map(|row| {
            let mut best = (0, f64::INFINITY);
            for (at, centre) in (0u32..).zip(centres.rows()) {
                let square: f64 = row.iter().zip(centre).map(|(x, y)| (x - y).powi(2)).sum();
                if square < best.1 {
                    best = (at, square);
                }
            }
            best
        })
        .collect()
    };
    let mut labels: Vec<u32> = Vec::new();
    for iteration in 1..=max_iterations {
        let next: Vec<u32> = nearest(&centres).iter().map(|(label, _)| *label).collect();
        let done = next == labels;
        labels = next;
        for (at, mut centre) in (0u32..).zip(centres.rows_mut()) {
            let members: Vec<usize> = (0..labels.len()).filter(|i| labels[*i] == at).collect();
            if !members.is_empty() {
                centre.fill(0.0);
                members.iter().for_each(|i| centre += &points.row(*i));
                centre /= members.len() as f64;
            }
        }
        if done || iteration == max_iterations {
            let at_last = nearest(&centres);
            let inertia = at_last.iter().map(|(_, square)| square).sum();
            return (
                at_last.iter().map(|(label, _)| *label).collect(),
                inertia,
                iteration,
            );
        }
    }
    (labels, 0.0, 0)
}
