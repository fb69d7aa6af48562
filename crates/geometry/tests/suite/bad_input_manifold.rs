//! Points, tangent vectors and settings that don't fit together: every function
//! refuses them with the error its documentation names, and the message has
//! the numbers.

use std::f64::consts::FRAC_PI_2;

use crate::refusal::{NOT_NUMBERS, is, with};
use crate::strategies::{random_point, rng, tangent_of_length};
use approx::abs_diff_eq;
use egg_geometry::*;
use ndarray::{Array1, Array2, array};

#[test]
fn points_of_different_spaces_are_refused() {
    let (a, b) = (random_point(3, 1, 0), random_point(4, 1, 0));
    let mismatch = |error: &Error| matches!(error, Error::AmbientMismatch { left: 3, right: 4 });
    for &kind in Distance::ALL {
        refused!(distance(&a, &b, kind), error if mismatch(error), 3, 4);
        refused!(extended_distance(&a, &b, kind, Extension::Containment), error if mismatch(error), 3, 4);
        let set = [a.clone(), a.clone(), b.clone()];
        refused!(
            distance_matrix(&set, kind, Extension::YeLim),
            Error::InBatch { index: 2, source } if mismatch(source),
            2, 3, 4
        );
        refused!(
            cross_distances(&set, &set[..1], kind, Extension::YeLim),
            Error::InBatch { .. },
            3,
            4
        );
        refused!(
            cross_distances(&set[..1], &set[2..], kind, Extension::YeLim),
            Error::InBatch { source, .. } if mismatch(source),
            3, 4
        );
        refused!(
            nearest_neighbours(&set[..1], &set[2..], 1, kind, Extension::YeLim),
            Error::InBatch { source, .. } if mismatch(source),
            3, 4
        );
    }
    refused!(projector_distance(&a, &b), error if mismatch(error), 3, 4);
    refused!(principal_angles(&a, &b), error if mismatch(error), 3, 4);
    refused!(principal_vectors(&a, &b), error if mismatch(error), 3, 4);
    refused!(
        principal_angles_batch(&[(&a, &a), (&a, &b)]),
        Error::InBatch { index: 1, source } if mismatch(source),
        1, 3, 4
    );
    refused!(a.log(&b), error if mismatch(error), 3, 4);
    refused!(a.geodesic(&b, 0.5), error if mismatch(error), 3, 4);
    refused!(a.inverse_retract(&b), error if mismatch(error), 3, 4);
    refused!(
        log_batch(&[(&a, &a), (&a, &b)]),
        Error::InBatch { index: 1, source } if mismatch(source),
        1, 3, 4
    );
    let pair = [a.clone(), b.clone()];
    for kernel in [Kernel::Projection, Kernel::BinetCauchy] {
        refused!(kernel.value(&a, &b), error if mismatch(error), 3, 4);
        refused!(kernel.gram(&pair), Error::InBatch { index: 1, source } if mismatch(source), 1, 3, 4);
    }
    refused!(extrinsic_mean(&pair, 1), Error::InBatch { index: 1, source } if mismatch(source), 1, 3, 4);
    refused!(
        extrinsic_mean_within(&pair, 1..=2),
        Error::InBatch { index: 1, source } if mismatch(source),
        1, 3, 4
    );
    refused!(karcher_mean(&pair), Error::InBatch { index: 1, source } if mismatch(source), 1, 3, 4);
    for centre in [CentreKind::Extrinsic, CentreKind::Karcher] {
        let settings = GrassmannKMeans {
            centre,
            ..GrassmannKMeans::new(1)
        };
        refused!(
            settings.fit(&pair, &mut rng(0)),
            Error::InBatch { index: 1, source } if mismatch(source),
            1, 3, 4
        );
    }

    let (a, b) = (random_point(5, 1, 0), random_point(5, 2, 0));
    let mismatch = |error: &Error| {
        matches!(
            error,
            Error::DimensionMismatch {
                left: 1,
                right: 2,
                ..
            }
        )
    };
    let pair = [a.clone(), b.clone()];
    refused!(a.log(&b), error if mismatch(error), 1, 2, "projector_distance");
    refused!(a.geodesic(&b, 0.5), error if mismatch(error), 1, 2, "projector_distance");
    refused!(a.inverse_retract(&b), error if mismatch(error), 1, 2, "projector_distance");
    refused!(log_batch(&[(&a, &b)]), Error::InBatch { index: 0, source } if mismatch(source), 1, 2);
    refused!(
        Kernel::BinetCauchy.value(&a, &b),
        error if mismatch(error),
        1, 2, "Binet-Cauchy", "Kernel::Projection"
    );
    refused!(Kernel::BinetCauchy.gram(&pair), Error::InBatch { index: 1, source } if mismatch(source), 1, 2);
    refused!(
        karcher_mean(&pair),
        Error::InBatch { index: 1, source } if mismatch(source),
        1, 2, "Karcher", "extrinsic_mean_within"
    );
    let karcher = GrassmannKMeans {
        centre: CentreKind::Karcher,
        ..GrassmannKMeans::new(1)
    };
    refused!(
        karcher.fit(&pair, &mut rng(0)),
        Error::InBatch { index: 1, source } if mismatch(source),
        1, 2, "Karcher", "CentreKind::Extrinsic"
    );
}

#[test]
fn invalid_tangents_are_refused() {
    let point = random_point(4, 2, 1);
    for shape in [(4, 1), (3, 2), (0, 0), (2, 4)] {
        let z = Array2::zeros(shape);
        let wrong = |error: &Error| matches!(error, Error::Shape { rows: 4, columns: 2, found_rows, found_columns, .. } if (*found_rows, *found_columns) == shape);
        refused!(point.project_to_tangent(z.view()), error if wrong(error), "4 x 2", shape.0, shape.1);
        refused!(point.tangent(z.clone()), error if wrong(error), "4 x 2", shape.0, shape.1);
    }
    for value in NOT_NUMBERS {
        let z = with(4, 2, (3, 1), value);
        refused!(
            point.project_to_tangent(z.view()),
            Error::NonFinite {
                row: 3,
                column: 1,
                ..
            },
            3,
            1,
            value
        );
        refused!(
            point.tangent(z),
            Error::NonFinite {
                row: 3,
                column: 1,
                ..
            },
            3,
            1,
            value
        );
    }
    let within = point.basis().to_owned() * 0.5;
    refused!(point.tangent(within), Error::NotTangent { deviation, tolerance }
        if abs_diff_eq!(*deviation, 0.5, epsilon = 1e-12)
                && abs_diff_eq!(*tolerance, 16.0 * f64::EPSILON * 20.0, epsilon = 1e-25),
        "e-1", "project_to_tangent");

    // Of another point, and of another manifold.
    let other = random_point(4, 2, 2);
    let (mine, foreign) = (
        tangent_of_length(&point, 1.0, 3),
        tangent_of_length(&other, 1.0, 3),
    );
    let not_mine = |error: &Error| matches!(error, Error::NotTangent { deviation, .. } if *deviation > 1e-3);
    refused!(point.exp(&foreign), error if not_mine(error), "e-");
    refused!(point.retract_qr(&foreign), error if not_mine(error), "e-");
    refused!(point.retract_polar(&foreign), error if not_mine(error), "e-");
    refused!(point.transport(&foreign, &mine), error if not_mine(error), "e-");
    refused!(point.transport(&mine, &foreign), error if not_mine(error), "e-");
    refused!(
        exp_batch(&[(&point, &mine), (&point, &foreign)]),
        Error::InBatch { index: 1, source } if not_mine(source),
        1
    );
    let larger = random_point(5, 2, 1);
    let elsewhere = tangent_of_length(&larger, 1.0, 3);
    let shape = |error: &Error| {
        matches!(
            error,
            Error::Shape {
                rows: 4,
                columns: 2,
                found_rows: 5,
                found_columns: 2,
                ..
            }
        )
    };
    refused!(point.exp(&elsewhere), error if shape(error), "4 x 2", "5 x 2");
    refused!(point.retract_qr(&elsewhere), error if shape(error), "5 x 2");
    refused!(point.retract_polar(&elsewhere), error if shape(error), "5 x 2");
    refused!(point.transport(&elsewhere, &mine), error if shape(error), "5 x 2");
    refused!(point.transport(&mine, &elsewhere), error if shape(error), "5 x 2");
    refused!(mine.inner(&elsewhere), error if shape(error), "5 x 2");
}

/// `Tangent::scaled` takes any factor, so what it makes must be caught later.
#[test]
fn overflowing_tangents_are_refused() {
    let (point, other) = (random_point(4, 2, 1), random_point(4, 2, 2));
    let fine = tangent_of_length(&point, 1.0, 3);
    let mut accepted = Vec::new();
    for factor in NOT_NUMBERS {
        let broken = fine.scaled(factor);
        for (what, refused) in [
            ("exp", point.exp(&broken).is_err()),
            ("retract_qr", point.retract_qr(&broken).is_err()),
            ("retract_polar", point.retract_polar(&broken).is_err()),
            ("transport along", point.transport(&broken, &fine).is_err()),
            ("transport of", point.transport(&fine, &broken).is_err()),
        ] {
            if !refused {
                accepted.push(format!("{what} {factor}"));
            }
        }
        refused!(point.geodesic(&other, factor),
            Error::Parameter { name: "time", value, .. } if is(*value, factor), factor);
    }
    assert!(accepted.is_empty(), "accepted: {accepted:?}");
}

#[test]
fn points_too_far_apart_to_retract_are_refused() {
    let (x, y) = (
        GrassmannPoint::from_orthonormal(array![[1.0], [0.0]]).unwrap(),
        GrassmannPoint::from_orthonormal(array![[0.0], [1.0]]).unwrap(),
    );
    refused!(
        x.inverse_retract(&y),
        Error::TooFarApart { angle, .. } if abs_diff_eq!(*angle, FRAC_PI_2, epsilon = 1e-15),
        "1.57"
    );
}

#[test]
fn empty_means_and_bad_weights_are_refused() {
    let points = [random_point(4, 2, 1), random_point(4, 2, 2)];
    let solver = KarcherSolver::default();
    refused!(
        extrinsic_mean::<f64>(&[], 1),
        Error::TooFew {
            found: 0,
            needed: 1,
            ..
        },
        0,
        1
    );
    refused!(
        weighted_extrinsic_mean::<f64>(&[], &[], 1),
        Error::TooFew { .. },
        0,
        1
    );
    refused!(
        karcher_mean::<f64>(&[]),
        Error::TooFew {
            found: 0,
            needed: 1,
            ..
        },
        0,
        1
    );
    refused!(solver.run_weighted::<f64>(&[], &[]), Error::TooFew { .. }, 0);
    refused!(
        extrinsic_mean_within::<f64>(&[], 1..=2),
        Error::TooFew {
            found: 0,
            needed: 1,
            ..
        },
        0,
        1
    );
    for p in [0, 5] {
        refused!(
            extrinsic_mean(&points, p),
            Error::DimensionOutOfRange { dimension, ambient: 4 } if *dimension == p,
            p, 4
        );
        for range in [p..=2, 2..=p] {
            refused!(
                extrinsic_mean_within(&points, range),
                Error::DimensionOutOfRange { dimension, ambient: 4 } if *dimension == p,
                p, 4
            );
        }
    }
    #[expect(clippy::reversed_empty_ranges, reason = "the purpose")]
    let backwards = 3..=2;
    refused!(
        extrinsic_mean_within(&points, backwards),
        Error::Parameter { value: 2.0, .. },
        2,
        "dimensions"
    );
    for weights in [vec![], vec![1.0], vec![1.0; 3]] {
        let wrong = |error: &Error| matches!(error, Error::Length { expected: 2, found, .. } if *found == weights.len());
        refused!(weighted_extrinsic_mean(&points, &weights, 2), error if wrong(error), 2, weights.len());
        refused!(
            weighted_extrinsic_mean_within(&points, &weights, 1..=3),
            error if wrong(error),
            2, weights.len()
        );
        refused!(solver.run_weighted(&points, &weights), error if wrong(error), 2, weights.len());
    }
    for (weights, value) in [
        ([1.0, -0.5], -0.5),
        ([f64::NAN, 1.0], f64::NAN),
        ([1.0, f64::INFINITY], f64::INFINITY),
        ([0.0, 0.0], 0.0),
    ] {
        refused!(
            weighted_extrinsic_mean(&points, &weights, 2),
            Error::Parameter { value: v, .. } if is(*v, value),
            value
        );
        refused!(
            weighted_extrinsic_mean_within(&points, &weights, 1..=3),
            Error::Parameter { value: v, .. } if is(*v, value),
            value
        );
        refused!(
            solver.run_weighted(&points, &weights),
            Error::Parameter { value: v, .. } if is(*v, value),
            value
        );
    }
    for tolerance in [-1e-3, f64::NAN, f64::INFINITY] {
        let solver = KarcherSolver {
            tolerance: Some(tolerance),
            ..solver
        };
        refused!(
            solver.run(&points),
            Error::Parameter { name: "tolerance", value, .. } if is(*value, tolerance),
            tolerance
        );
        refused!(
            solver.run_weighted(&points, &[1.0, 2.0]),
            Error::Parameter {
                name: "tolerance",
                ..
            },
            tolerance
        );
    }
    let three = [points[0].clone(), points[1].clone(), random_point(4, 2, 3)];
    let hurried = KarcherSolver {
        max_iterations: 1,
        tolerance: Some(0.0),
    };
    refused!(hurried.run(&three).unwrap().require_converged(),
        Error::NoConvergence { iterations: 1, residual, tolerance, .. } if *residual > 0.0 && *tolerance == 0.0, 1, "0e0");
}

#[test]
fn clustering_parameters_out_of_range_are_refused() {
    let points = vec![random_point(4, 2, 1); 3];
    let mut rng = rng(0);
    refused!(
        GrassmannKMeans::new(2).fit::<f64, _>(&[], &mut rng),
        Error::TooFew {
            found: 0,
            needed: 1,
            ..
        },
        0,
        1
    );
    for clusters in [0, 4] {
        refused!(GrassmannKMeans::new(clusters).fit(&points, &mut rng),
            Error::Parameter { name: "clusters", value, .. } if *value == clusters as f64, clusters);
    }
    let none = GrassmannKMeans {
        starts: 0,
        ..GrassmannKMeans::new(2)
    };
    refused!(
        none.fit(&points, &mut rng),
        Error::Parameter {
            name: "starts",
            value: 0.0,
            ..
        },
        0
    );
    let none = GrassmannKMeans {
        max_iterations: 0,
        ..GrassmannKMeans::new(2)
    };
    refused!(
        none.fit(&points, &mut rng),
        Error::Parameter {
            name: "max_iterations",
            value: 0.0,
            ..
        },
        0
    );
    for k in [0, 4] {
        refused!(nearest_neighbours(&points, &points, k, Distance::Geodesic, Extension::YeLim),
            Error::Parameter { name: "k", value, .. } if *value == k as f64, k);
    }
    refused!(
        nearest_neighbours(&points, &[], 1, Distance::Geodesic, Extension::YeLim),
        Error::TooFew { found: 0, .. },
        0,
        1
    );
    let found = nearest_neighbours(&points, &points, 3, Distance::Geodesic, Extension::YeLim).unwrap();
    refused!(
        found.vote(&["a", "b"]),
        Error::Length {
            expected: 3,
            found: 2,
            ..
        },
        2,
        3
    );
    let nothing = nearest_neighbours(&[], &points, 2, Distance::Geodesic, Extension::YeLim).unwrap();
    assert_eq!(nothing.indices.dim(), (0, 2));
    assert!(nothing.vote::<u8>(&[]).unwrap().is_empty());
}

#[test]
fn empty_sets_give_empty_results() {
    let none: [GrassmannPoint<f64>; 0] = [];
    let one = [random_point(3, 2, 1)];
    for &kind in Distance::ALL {
        assert_eq!(
            distance_matrix(&none, kind, Extension::YeLim).unwrap().dim(),
            (0, 0)
        );
        assert_eq!(
            cross_distances(&none, &one, kind, Extension::YeLim)
                .unwrap()
                .dim(),
            (0, 1)
        );
        assert_eq!(
            cross_distances(&one, &none, kind, Extension::YeLim)
                .unwrap()
                .dim(),
            (1, 0)
        );
        assert_eq!(kind.of_angles(&Array1::<f64>::zeros(0)), 0.0);
    }
    for kernel in [Kernel::Projection, Kernel::BinetCauchy] {
        assert_eq!(kernel.gram(&none).unwrap().dim(), (0, 0));
    }
    assert!(principal_angles_batch::<f64>(&[]).unwrap().is_empty());
    assert!(exp_batch::<f64>(&[]).unwrap().is_empty());
    assert!(log_batch::<f64>(&[]).unwrap().is_empty());
}
