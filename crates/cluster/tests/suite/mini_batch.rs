//! k-means from samples.

use egg_cluster::kmeans::{KMeansConfig, MiniBatchConfig};
use ndarray::Array2;

use crate::samples::{blobs, rng, same_partition};

#[test]
fn mini_batch_inertia_is_close_to_that_of_full_kmeans() {
    let points = blobs(20_000, 4, 6, 3.0, 1);
    let whole = KMeansConfig::new(6)
        .check()
        .unwrap()
        .fit(points.view(), &mut rng(0))
        .unwrap();
    for seed in 0..4 {
        let found = MiniBatchConfig::new(6)
            .check()
            .unwrap()
            .fit(points.view(), &mut rng(seed))
            .unwrap();
        assert!(
            found.inertia < 1.02 * whole.inertia,
            "{} vs {}",
            found.inertia,
            whole.inertia
        );
        assert_eq!(found.predict(points.view()).unwrap(), found.labels);
    }
}

#[test]
fn a_batch_larger_than_the_data_uses_every_row() {
    let points = blobs(60, 2, 3, 9.0, 2);
    let config = MiniBatchConfig {
        batch: 1000,
        ..MiniBatchConfig::new(3)
    };
    let found = config.check().unwrap().fit(points.view(), &mut rng(0)).unwrap();
    let groups: Vec<u32> = (0..60).map(|index| index % 3).collect();
    assert!(same_partition(&groups, &found.labels));
}

#[test]
fn rare_groups_get_a_centre() {
    // One row in a hundred is far away; centres that starve are put elsewhere.
    let points = Array2::from_shape_fn((5000, 1), |(row, _)| {
        if row % 100 == 0 {
            1000.0f32
        } else {
            (row % 7) as f32
        }
    });
    let config = MiniBatchConfig {
        batch: 100,
        ..MiniBatchConfig::new(3)
    };
    let found = config.check().unwrap().fit(points.view(), &mut rng(1)).unwrap();
    assert!(found.sizes().contains(&50));
    assert!(found.centres.iter().all(|x| x.is_finite()));
}

#[test]
fn equal_points_and_extreme_scales_are_clustered() {
    let equal = Array2::<f64>::from_elem((500, 2), 3.0);
    let found = MiniBatchConfig::new(4)
        .check()
        .unwrap()
        .fit(equal.view(), &mut rng(0))
        .unwrap();
    assert_eq!(found.inertia, 0.0);
    let points = blobs(3000, 2, 3, 9.0, 2);
    let plain = MiniBatchConfig::new(3)
        .check()
        .unwrap()
        .fit(points.view(), &mut rng(3))
        .unwrap();
    for exponent in [-900, 900] {
        let scaled = points.mapv(|x| x * 2f64.powi(exponent));
        let found = MiniBatchConfig::new(3)
            .check()
            .unwrap()
            .fit(scaled.view(), &mut rng(3))
            .unwrap();
        assert_eq!(found.labels, plain.labels);
    }
}

#[test]
fn settings_round_trip_through_json() {
    let config: MiniBatchConfig = serde_json::from_str(r#"{"clusters": 8, "batch": 4096}"#).unwrap();
    assert_eq!(
        config,
        MiniBatchConfig {
            batch: 4096,
            ..MiniBatchConfig::new(8)
        }
    );
}
