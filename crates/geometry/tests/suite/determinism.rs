//! Results are bit-identical on any number of threads.

use crate::strategies::{gaussian, random_point, rng, tangent_of_length};
use egg_geometry::{
    CentreKind, Distance, Extension, Flatten, GrassmannKMeans, GrassmannPoint, Kernel, RankRule,
    cross_distances, distance_matrix, embed_batch, exp_batch, extrinsic_mean, extrinsic_mean_within,
    karcher_mean, log_batch, nearest_neighbours, principal_angles_batch, project_batch, rectify_batch,
};
use ndarray::{Array2, ArrayView2};

/// Bits, because `==` takes 0.0 for -0.0.
fn bits<'a>(values: impl IntoIterator<Item = &'a f64>) -> Vec<u64> {
    values.into_iter().map(|value| value.to_bits()).collect()
}

/// Runs a job on pools of 1, 2 and 4 threads, twice each, and compares.
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

/// Of many shapes, so that memory kept by a thread is used for other sizes.
fn matrices() -> Vec<Array2<f64>> {
    (0..60)
        .map(|k| {
            let (n, m) = (1 + (k * 7) % 13, 1 + (k * 5) % 9);
            let mut h = gaussian(n, m, k as u64);
            if k % 5 == 0 {
                h.row_mut(0).fill(0.0);
            }
            if k % 7 == 0 {
                h.fill(1.0);
            }
            h
        })
        .collect()
}

fn points(m: usize, p: usize, count: u64) -> Vec<GrassmannPoint<f64>> {
    let centre = random_point(m, p, 1);
    (0..count)
        .map(|k| {
            let d = tangent_of_length(&centre, 0.02 * k as f64, k);
            centre.exp(&d).unwrap()
        })
        .collect()
}

/// Of dimensions 1 to 4.
fn mixed(m: usize, count: u64) -> Vec<GrassmannPoint<f64>> {
    (0..count)
        .map(|k| random_point(m, 1 + (k % 4) as usize, 300 + k))
        .collect()
}

#[test]
fn rectification_is_bit_identical_on_any_number_of_threads() {
    let matrices = matrices();
    let views: Vec<ArrayView2<'_, f64>> = matrices.iter().map(|h| h.view()).collect();
    for rule in [RankRule::Fixed(3), RankRule::Relative(0.4), RankRule::Energy(0.8)] {
        same_on_all_pools("rectify_batch", || {
            let spans = rectify_batch(&views, rule).unwrap();
            spans
                .iter()
                .flat_map(|span| bits(span.basis.iter().chain(&span.singular_values)))
                .collect()
        });
        same_on_all_pools("project_batch", || {
            bits(project_batch(&views, rule).unwrap().iter().flatten())
        });
        let equal: Vec<Array2<f64>> = (0..50).map(|k| gaussian(1 + k % 11, 6, k as u64)).collect();
        let equal: Vec<ArrayView2<'_, f64>> = equal.iter().map(|h| h.view()).collect();
        same_on_all_pools("embed_batch", || {
            bits(&embed_batch(&equal, rule, Flatten::Isometric).unwrap())
        });
    }
}

#[test]
fn distances_and_kernels_are_bit_identical_on_any_number_of_threads() {
    // More than one tile of stacked bases.
    let mut set = points(12, 3, 60);
    set.extend(points(12, 5, 20));
    for &kind in Distance::ALL {
        same_on_all_pools(kind.name(), || {
            bits(&distance_matrix(&set, kind, Extension::YeLim).unwrap())
        });
        same_on_all_pools(kind.name(), || {
            bits(&cross_distances(&set[..9], &set, kind, Extension::Containment).unwrap())
        });
    }
    same_on_all_pools("projection kernel", || {
        bits(&Kernel::Projection.gram(&set).unwrap())
    });
    same_on_all_pools("Binet-Cauchy kernel", || {
        bits(&Kernel::BinetCauchy.gram(&set[..60]).unwrap())
    });
    let pairs: Vec<_> = set.iter().zip(set.iter().rev()).collect();
    same_on_all_pools("principal_angles_batch", || {
        bits(principal_angles_batch(&pairs).unwrap().iter().flatten())
    });
    same_on_all_pools("nearest_neighbours", || {
        let found = nearest_neighbours(&set, &set, 5, Distance::Geodesic, Extension::YeLim).unwrap();
        let indices = found.indices.iter().map(|index| *index as u64);
        indices.chain(bits(&found.distances)).collect()
    });
}

#[test]
fn maps_and_means_are_bit_identical_on_any_number_of_threads() {
    let set = points(9, 3, 30);
    let pairs: Vec<_> = set.iter().zip(set.iter().rev()).collect();
    same_on_all_pools("log_batch", || {
        let logs = log_batch(&pairs).unwrap();
        logs.iter().flat_map(|log| bits(log.matrix())).collect()
    });
    let steps: Vec<_> = set
        .iter()
        .map(|point| (point, tangent_of_length(point, 0.4, 8)))
        .collect();
    let steps: Vec<_> = steps.iter().map(|(point, step)| (*point, step)).collect();
    same_on_all_pools("exp_batch", || {
        let ends = exp_batch(&steps).unwrap();
        ends.iter().flat_map(|end| bits(end.basis())).collect()
    });
    same_on_all_pools("karcher_mean", || {
        let mean = karcher_mean(&set).unwrap();
        bits(
            mean.point
                .basis()
                .iter()
                .chain([&mean.variance, &mean.gradient_norm]),
        )
    });
    same_on_all_pools("extrinsic_mean", || {
        bits(extrinsic_mean(&set, 3).unwrap().point.basis())
    });
    // More vectors than dimensions, and fewer.
    for set in [mixed(9, 30), mixed(60, 9)] {
        same_on_all_pools("extrinsic_mean_within", || {
            let mean = extrinsic_mean_within(&set, 1..=9).unwrap();
            bits(mean.point.basis().iter().chain([&mean.gap]))
        });
    }
}

#[test]
fn clustering_is_bit_identical_on_any_number_of_threads() {
    let mut set = points(8, 2, 20);
    set.extend((0..20).map(|k| random_point(8, 2, 900 + k)));
    for (centre, set) in [
        (CentreKind::Extrinsic, set.clone()),
        (CentreKind::Karcher, set),
        (CentreKind::Extrinsic, mixed(8, 40)),
    ] {
        let settings = GrassmannKMeans {
            centre,
            starts: 4,
            max_iterations: 20,
            ..GrassmannKMeans::new(4)
        };
        same_on_all_pools("k-means", || {
            let found = settings.fit(&set, &mut rng(7)).unwrap();
            let labels = found.labels.iter().map(|label| *label as u64);
            let centres = found.centres.iter().flat_map(|centre| bits(centre.basis()));
            labels.chain(centres).chain([found.inertia.to_bits()]).collect()
        });
    }
}
