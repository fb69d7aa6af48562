//! k-means against scikit-learn, from the same first centres.

use std::collections::BTreeMap;

use egg_cluster::kmeans::KMeansConfig;
use serde::Deserialize;

use crate::fixture::{Matrix, assert_close, read};

#[derive(Deserialize)]
struct Case {
    points: Matrix,
    centres: Matrix,
    tolerance: f64,
    max_iterations: usize,
    labels: Vec<u32>,
    inertia: f64,
    iterations: usize,
    found: Matrix,
}

#[derive(Deserialize)]
struct File {
    cases: BTreeMap<String, Case>,
}

#[test]
fn from_the_same_start_kmeans_equals_scikit_learn() {
    let file: File = read("kmeans.json");
    assert!(file.cases.len() > 10);
    for (name, case) in &file.cases {
        let (points, centres) = (&case.points.0, &case.centres.0);
        let config = KMeansConfig {
            tolerance: case.tolerance,
            max_iterations: case.max_iterations,
            ..KMeansConfig::new(centres.nrows())
        };
        let kmeans = config.check().unwrap();
        let found = kmeans.fit_from(points.view(), centres.view()).unwrap();
        assert_eq!(found.labels, case.labels, "{name}");
        assert_eq!(found.iterations, case.iterations, "{name}");
        assert_eq!(found.converged, name != "stopped_early", "{name}");
        assert_close(found.inertia / case.inertia, 1.0, 1e-9, name);
        for (a, b) in found.centres.iter().zip(&case.found.0) {
            assert_close(*a, *b, 1e-12, name);
        }
        assert_eq!(found.predict(points.view()).unwrap(), found.labels, "{name}");

        // The fixture's numbers are exact in f32: the same bits come out.
        let single = kmeans
            .fit_from(points.mapv(|x| x as f32).view(), centres.view())
            .unwrap();
        assert_eq!(single, found, "{name}");
        // Rows that are not contiguous are copied first.
        let turned = points.t().as_standard_layout().into_owned();
        assert_eq!(
            kmeans.fit_from(turned.t(), centres.view()).unwrap(),
            found,
            "{name}"
        );
    }
}
