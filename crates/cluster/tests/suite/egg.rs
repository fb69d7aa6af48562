//! EGG on node embeddings.

use approx::{abs_diff_eq, assert_abs_diff_eq};
use egg_cluster::egg::{EggConfig, Weighting};
use egg_cluster::kmeans::KMeansConfig;
use egg_geometry::RankRule;
use ndarray::{Array1, Array2, array};
use proptest::prelude::*;
use serde::Deserialize;

use crate::fixture::{Matrix, assert_close, read};
use crate::samples::{blobs, normal, rng};

#[derive(Deserialize)]
struct File {
    svd: Svd,
}

#[derive(Deserialize)]
struct Svd {
    h: Matrix,
    singular_values: Vec<f64>,
    projectors: Vec<Vec<f64>>,
}

fn egg(rank: RankRule) -> egg_cluster::egg::Egg {
    EggConfig::new(rank).check().unwrap()
}

#[test]
fn projectors_equal_numpy() {
    let File { svd } = read("spectral.json");
    for (p, expected) in (1..).zip(&svd.projectors) {
        let found = egg(RankRule::Fixed(p)).embed(svd.h.0.view()).unwrap();
        for (a, b) in found.singular_values.iter().zip(&svd.singular_values) {
            assert_close(*a, *b, 1e-13, "singular value");
        }
        let projector = found.coordinates.dot(&found.coordinates.t());
        for (a, b) in projector.iter().zip(expected) {
            assert_close(*a, *b, 1e-12, "projector");
        }
        let total: f64 = svd.singular_values.iter().sum();
        let kept: f64 = svd.singular_values[..p].iter().sum();
        assert_close(found.choice.captured, kept / total, 1e-13, "captured");
        let squares = |values: &[f64]| values.iter().map(|value| value * value).sum::<f64>();
        let share = squares(&svd.singular_values[..p]) / squares(&svd.singular_values);
        assert_close(found.captured_squares, share, 1e-13, "captured squares");
    }
}

/// What the module's documentation says: rows of `U_p U_p^T` (n x n) and rows
/// of `U_p` (n x p) are the same points.
#[test]
fn the_projector_and_its_basis_have_the_same_clusters() {
    for (seed, p) in [(0, 2), (1, 3), (2, 5)] {
        let h = blobs(90, 6, 4, 1.5, seed).mapv(|x| x as f32);
        let basis = egg(RankRule::Fixed(p)).embed(h.view()).unwrap().coordinates;
        let projector = basis.dot(&basis.t());
        let kmeans = KMeansConfig::new(4).check().unwrap();
        // From the same rows: the same centres, seen in either way.
        let rows = [3, 20, 41, 66];
        let few = basis.select(ndarray::Axis(0), &rows);
        let many = projector.select(ndarray::Axis(0), &rows);
        let thin = kmeans.fit_from(basis.view(), few.view()).unwrap();
        let full = kmeans.fit_from(projector.view(), many.view()).unwrap();
        assert_eq!(thin.labels, full.labels);
        assert_eq!(thin.iterations, full.iterations);
        assert_close(thin.inertia, full.inertia, 1e-12, "inertia");
        // And from the same seed, since k-means++ sees distances alone.
        let thin = kmeans.fit(basis.view(), &mut rng(seed)).unwrap();
        let full = kmeans.fit(projector.view(), &mut rng(seed)).unwrap();
        assert_close(thin.inertia, full.inertia, 1e-12, "inertia");
        assert_eq!(thin.labels, full.labels);
    }
}

#[test]
fn weights_scale_columns_and_normalisation_scales_rows() {
    let h = normal(40, 5, 3);
    let rank = RankRule::Ratio(0.6);
    let flat = egg(rank).embed(h.view()).unwrap();
    assert_eq!(flat.coordinates.dim(), (40, 3));
    for alpha in [-0.5, 0.0, 0.5, 1.0, 2.0] {
        let config = EggConfig {
            weighting: Weighting::Spectral(alpha),
            ..EggConfig::new(rank)
        };
        let found = config.check().unwrap().embed(h.view()).unwrap();
        let weights: Array1<f64> = flat
            .singular_values
            .iter()
            .take(3)
            .map(|s| s.powf(alpha))
            .collect();
        let expected = &flat.coordinates * &weights;
        assert!(
            abs_diff_eq!(found.coordinates, expected, epsilon = 1e-12),
            "{alpha}"
        );
        let unit = EggConfig {
            normalise_rows: true,
            ..config
        }
        .check()
        .unwrap()
        .embed(h.view())
        .unwrap();
        for (row, long) in unit.coordinates.rows().into_iter().zip(found.coordinates.rows()) {
            let length = long.dot(&long).sqrt();
            assert_abs_diff_eq!(row.dot(&row), 1.0, epsilon = 1e-14);
            assert_abs_diff_eq!(&row * length, long, epsilon = 1e-12);
        }
    }
    // All directions, weighted by their values, are H in other coordinates.
    let config = EggConfig {
        weighting: Weighting::Spectral(1.0),
        ..EggConfig::new(RankRule::Fixed(5))
    };
    let whole = config.check().unwrap().embed(h.view()).unwrap().coordinates;
    assert_abs_diff_eq!(whole.dot(&whole.t()), h.dot(&h.t()), epsilon = 1e-12);
}

#[test]
fn zero_rank_one_tied_and_wide_matrices_are_embedded() {
    let zero = egg(RankRule::Ratio(0.8))
        .embed(Array2::<f32>::zeros((5, 3)).view())
        .unwrap();
    assert_eq!(
        (zero.coordinates.dim(), zero.choice.p, zero.captured_squares),
        ((5, 0), 0, 0.0)
    );
    assert_eq!(zero.singular_values.to_vec(), [0.0; 3]);

    let line = array![[1.0f32, 2.0], [2.0, 4.0], [0.0, 0.0]];
    let config = EggConfig {
        normalise_rows: true,
        ..EggConfig::new(RankRule::Ratio(1.0))
    };
    let found = config.check().unwrap().embed(line.view()).unwrap();
    assert_eq!((found.choice.p, found.coordinates[(2, 0)]), (1, 0.0));
    assert_abs_diff_eq!(found.coordinates[(0, 0)].abs(), 1.0, epsilon = 1e-15);

    // Two equal values are not cut apart, and the diagnostics say so.
    let tied = egg(RankRule::Fixed(1))
        .embed(Array2::<f64>::eye(4).view())
        .unwrap();
    assert_eq!((tied.choice.p, tied.choice.extended_by_tie), (4, true));

    // More columns than rows; one row.
    let wide = egg(RankRule::Ratio(1.0)).embed(normal(3, 20, 0).view()).unwrap();
    assert_eq!((wide.coordinates.dim(), wide.singular_values.len()), ((3, 3), 3));
    let one = egg(RankRule::Energy(0.5))
        .embed(array![[3.0, 4.0]].view())
        .unwrap();
    assert_abs_diff_eq!(one.coordinates[(0, 0)].abs(), 1.0, epsilon = 1e-15);
    assert_abs_diff_eq!(one.singular_values[0], 5.0, epsilon = 1e-14);
}

#[test]
fn a_ratio_counts_columns_not_nodes() {
    let h = normal(200, 16, 4).mapv(|x| x as f32);
    for (x, p) in [(0.2, 4), (0.5, 8), (0.8, 13), (1.0, 16), (0.0625, 1)] {
        let found = egg(RankRule::Ratio(x)).embed(h.view()).unwrap();
        assert_eq!((found.choice.p, found.choice.by_rule), (p, p), "{x}");
        assert_eq!(
            found.choice,
            egg_geometry::rectify_nodes(h.view(), RankRule::Ratio(x))
                .unwrap()
                .choice
        );
    }
}

#[test]
fn settings_round_trip_through_json() {
    for rank in [
        RankRule::Fixed(3),
        RankRule::Ratio(0.5),
        RankRule::Threshold(0.1),
        RankRule::Relative(0.2),
        RankRule::Energy(0.9),
    ] {
        let config = EggConfig {
            weighting: Weighting::Spectral(0.25),
            ..EggConfig::new(rank)
        };
        let text = serde_json::to_string(&config).unwrap();
        assert_eq!(
            serde_json::from_str::<EggConfig>(&text).unwrap(),
            config,
            "{text}"
        );
    }
}

#[test]
fn weightings_round_trip_through_text() {
    for weighting in [
        Weighting::Flat,
        Weighting::Spectral(1.0),
        Weighting::Spectral(0.1),
        Weighting::Spectral(-2.5e-7),
    ] {
        assert_eq!(weighting.to_string().parse::<Weighting>().unwrap(), weighting);
    }
    assert_eq!(Weighting::Flat.to_string(), "flat");
    assert_eq!(Weighting::Spectral(1.0).to_string(), "spectral:1");
    for (text, alpha) in [
        ("spectral", 1.0),
        ("spectral=2", 2.0),
        ("spectral:.5", 0.5),
        ("spectral:+3", 3.0),
    ] {
        assert_eq!(text.parse::<Weighting>().unwrap(), Weighting::Spectral(alpha));
    }
    for text in [
        "",
        "Flat",
        "flat:1",
        "flat:",
        "spectral:",
        "spectral:x",
        "spectral:nan",
        "spectral:inf",
        "spectral:1e999",
        "spectral:1:2",
        "energy:1",
    ] {
        let refused = text.parse::<Weighting>().unwrap_err().to_string();
        assert!(refused.contains("write flat, or spectral:X"), "{refused}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn coordinates_are_orthonormal_and_equivariant_to_row_order(
        seed in 0u64..1000, rows in 2usize..40, columns in 1usize..10, exponent in -60i32..60,
    ) {
        let h = normal(rows, columns, seed).mapv(|x| (x * 2f64.powi(exponent)) as f32);
        let found = egg(RankRule::Relative(0.05)).embed(h.view()).unwrap();
        let u = &found.coordinates;
        prop_assert!(abs_diff_eq!(u.t().dot(u), Array2::eye(found.choice.p), epsilon = 1e-9));
        let mut order: Vec<usize> = (0..rows).collect();
        order.rotate_left(rows / 2);
        let permuted = egg(RankRule::Relative(0.05)).embed(h.select(ndarray::Axis(0), &order).view()).unwrap();
        let (p, q) = (u.dot(&u.t()), permuted.coordinates.dot(&permuted.coordinates.t()));
        for (i, a) in order.iter().enumerate() {
            for (j, b) in order.iter().enumerate() {
                prop_assert!(abs_diff_eq!(p[(*a, *b)], q[(i, j)], epsilon = 1e-7));
            }
        }
    }
}
