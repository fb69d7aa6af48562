//! What must hold of k-means whatever the points are.

use approx::{abs_diff_eq, assert_abs_diff_eq};
use egg_cluster::kmeans::{KMeansConfig, Start};
use ndarray::{Array2, Axis, array};
use proptest::prelude::*;

use crate::samples::{blobs, normal, plain_lloyd, rng, same_partition};

#[test]
fn bounds_give_the_labels_of_the_plain_iteration() {
    for (seed, (rows, columns, clusters, spread)) in [
        (500, 2, 3, 1.0),
        (500, 2, 3, 8.0),
        (700, 16, 7, 0.5),
        (300, 1, 11, 3.0),
        (400, 5, 40, 1.0),
        (1200, 33, 13, 0.2),
    ]
    .into_iter()
    .enumerate()
    {
        let points = blobs(rows, columns, clusters, spread, seed as u64);
        let centres = points.select(Axis(0), &(0..clusters).collect::<Vec<_>>());
        for max_iterations in [1, 2, 5, 1000] {
            let (labels, inertia, iterations) = plain_lloyd(points.view(), centres.clone(), max_iterations);
            let config = KMeansConfig {
                tolerance: 0.0,
                max_iterations,
                ..KMeansConfig::new(clusters)
            };
            let found = config
                .check()
                .unwrap()
                .fit_from(points.view(), centres.view())
                .unwrap();
            assert_eq!(found.labels, labels, "{rows} x {columns}, {clusters} clusters");
            assert_eq!(found.iterations, iterations);
            assert_abs_diff_eq!(found.inertia / inertia, 1.0, epsilon = 1e-12);
        }
    }
}

#[test]
fn separated_groups_are_found() {
    for (start, seed) in [(Start::PlusPlus, 0), (Start::PlusPlus, 1), (Start::Random, 2)] {
        let points = blobs(600, 8, 6, 10.0, 5);
        let config = KMeansConfig {
            start,
            starts: if start == Start::Random { 50 } else { 10 },
            ..KMeansConfig::new(6)
        };
        let found = config
            .check()
            .unwrap()
            .fit(points.view(), &mut rng(seed))
            .unwrap();
        let groups: Vec<u32> = (0..600).map(|index| index % 6).collect();
        assert!(same_partition(&groups, &found.labels));
        assert_eq!(found.sizes(), [100; 6]);
    }
}

#[test]
fn fewer_different_points_than_clusters_leave_clusters_empty() {
    let points = array![[1.0, 1.0], [2.0, 2.0], [1.0, 1.0], [2.0, 2.0], [1.0, 1.0]];
    let found = KMeansConfig::new(4)
        .check()
        .unwrap()
        .fit(points.view(), &mut rng(0))
        .unwrap();
    assert_eq!(found.inertia, 0.0);
    assert!(found.converged && found.centres.iter().all(|x| x.is_finite()));
    let filled = found.sizes().iter().filter(|size| **size > 0).count();
    assert_eq!(filled, 2);
    let equal = Array2::<f32>::ones((9, 3));
    let found = KMeansConfig::new(3)
        .check()
        .unwrap()
        .fit(equal.view(), &mut rng(0))
        .unwrap();
    assert_eq!((found.inertia, found.sizes()[found.labels[0] as usize]), (0.0, 9));
}

#[test]
fn as_many_clusters_as_points_cost_nothing() {
    let points = normal(30, 3, 1);
    let found = KMeansConfig::new(30)
        .check()
        .unwrap()
        .fit(points.view(), &mut rng(0))
        .unwrap();
    assert!(found.inertia < 1e-25);
    assert_eq!(found.sizes(), [1; 30]);
}

#[test]
fn clusters_do_not_depend_on_the_scale() {
    let points = blobs(200, 3, 4, 6.0, 3);
    let kmeans = KMeansConfig::new(4).check().unwrap();
    let plain = kmeans.fit(points.view(), &mut rng(7)).unwrap();
    // Powers of two: the same bits, scaled.
    for exponent in [-1000, -600, -100, 100, 600, 1000] {
        let scaled = points.mapv(|x| x * 2f64.powi(exponent));
        let found = kmeans.fit(scaled.view(), &mut rng(7)).unwrap();
        assert_eq!(found.labels, plain.labels, "2^{exponent}");
        assert_eq!(found.iterations, plain.iterations);
        assert!(found.centres.iter().all(|x| x.is_finite()) && found.inertia.is_finite());
        assert_eq!(found.predict(scaled.view()).unwrap(), found.labels);
    }
}

#[test]
fn many_runs_are_no_worse_than_one() {
    let points = blobs(400, 2, 12, 2.0, 9);
    let run = |starts| {
        let config = KMeansConfig {
            starts,
            ..KMeansConfig::new(12)
        };
        config.check().unwrap().fit(points.view(), &mut rng(4)).unwrap()
    };
    let (one, ten) = (run(1), run(10));
    assert!(ten.inertia <= one.inertia && ten.start < 10);
    // The first of ten is the one.
    assert!(ten.start > 0 || ten == one);
}

#[test]
fn settings_round_trip_through_json() {
    let config = KMeansConfig {
        tolerance: 1e-3,
        start: Start::Random,
        ..KMeansConfig::new(5)
    };
    let text = serde_json::to_string(&config).unwrap();
    assert_eq!(serde_json::from_str::<KMeansConfig>(&text).unwrap(), config);
    let short: KMeansConfig = serde_json::from_str(r#"{"clusters": 5}"#).unwrap();
    assert_eq!(short, KMeansConfig::new(5));
    assert!(serde_json::from_str::<KMeansConfig>(r#"{"clusters": 5, "n_init": 3}"#).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn centres_are_means_and_labels_nearest(
        seed in 0u64..1000,
        rows in 1usize..80,
        columns in 1usize..9,
        clusters in 1usize..8,
        coarse in prop::bool::ANY,
    ) {
        let clusters = clusters.min(rows);
        let mut points = normal(rows, columns, seed);
        if coarse {
            // Many equal points and many ties.
            points.mapv_inplace(f64::round);
        }
        let config = KMeansConfig { tolerance: 0.0, starts: 2, ..KMeansConfig::new(clusters) };
        let found = config.check().unwrap().fit(points.view(), &mut rng(seed)).unwrap();
        prop_assert!(found.converged);
        let mut inertia = 0.0;
        for (row, label) in points.rows().into_iter().zip(&found.labels) {
            let squares: Vec<f64> = found
                .centres
                .rows()
                .into_iter()
                .map(|centre| row.iter().zip(centre).map(|(x, y)| (x - y).powi(2)).sum())
                .collect();
            let own = squares[*label as usize];
            prop_assert!(squares.iter().all(|other| own <= other + 1e-12));
            inertia += own;
        }
        prop_assert!(abs_diff_eq!(inertia, found.inertia, epsilon = 1e-9 * (1.0 + inertia)));
        for (cluster, size) in found.sizes().iter().enumerate().filter(|(_, size)| **size > 0) {
            for column in 0..columns {
                let sum: f64 = (0..rows)
                    .filter(|row| found.labels[*row] as usize == cluster)
                    .map(|row| points[(row, column)])
                    .sum();
                prop_assert!(abs_diff_eq!(sum / *size as f64, found.centres[(cluster, column)], epsilon = 1e-9));
            }
        }
    }
}
