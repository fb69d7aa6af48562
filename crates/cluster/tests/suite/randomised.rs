//! The randomised decomposition against the exact one.

use approx::{abs_diff_eq, assert_abs_diff_eq};
use egg_cluster::Error;
use egg_cluster::egg::{DenseMap, EggConfig, LinearMap, RandomisedConfig, SparseMap};
use egg_geometry::{RankRule, dense};
use egg_graph::CsrMatrix;
use ndarray::{Array1, Array2};
use rand::RngExt;

use crate::samples::{normal, rng};

/// n x m with these singular values.
fn with_values(rows: usize, columns: usize, values: &[f64], seed: u64) -> Array2<f64> {
    let left = dense::thin_svd(normal(rows, values.len(), seed).view())
        .unwrap()
        .u;
    let right = dense::thin_svd(normal(columns, values.len(), seed + 1).view())
        .unwrap()
        .u;
    (left * Array1::from(values.to_vec())).dot(&right.t())
}

#[test]
fn leading_values_and_projectors_equal_the_exact_ones() {
    let values: Vec<f64> = (0..60).map(|i| 10.0 * 0.8f64.powi(i)).collect();
    for (rows, columns) in [(300, 120), (90, 1500)] {
        let a = with_values(rows, columns, &values, 5);
        let found = RandomisedConfig::new(12)
            .check()
            .unwrap()
            .run(&DenseMap::new(a.view()).unwrap(), &mut rng(1))
            .unwrap();
        for (s, expected) in found.s.iter().zip(&values) {
            assert_abs_diff_eq!(s, expected, epsilon = 1e-9);
        }
        let exact = dense::thin_svd(a.view()).unwrap();
        let u = exact.u.slice(ndarray::s![.., ..8]).to_owned();
        let v = found.u.slice(ndarray::s![.., ..8]).to_owned();
        assert_abs_diff_eq!(u.dot(&u.t()), v.dot(&v.t()), epsilon = 1e-7);
        assert_abs_diff_eq!(found.u.t().dot(&found.u), Array2::eye(12), epsilon = 1e-12);
        assert_abs_diff_eq!(found.vt.dot(&found.vt.t()), Array2::eye(12), epsilon = 1e-12);
    }
}

#[test]
fn egg_of_wide_rows_equals_the_exact_one() {
    let values: Vec<f64> = [9.0, 8.0, 7.0, 6.0]
        .into_iter()
        .chain((0..40).map(|i| 0.5 * 0.9f64.powi(i)))
        .collect();
    let h = with_values(150, 2000, &values, 8).mapv(|x| x as f32);
    let map = DenseMap::new(h.view()).unwrap();
    for rank in [
        RankRule::Fixed(4),
        RankRule::Threshold(1.0),
        RankRule::Relative(0.2),
        RankRule::Ratio(0.002),
    ] {
        let egg = EggConfig::new(rank).check().unwrap();
        let exact = egg.embed(h.view()).unwrap();
        let svd = RandomisedConfig::new(8).check().unwrap();
        let found = egg.embed_wide(&map, &svd, &mut rng(2)).unwrap();
        assert_eq!((found.choice.p, exact.choice.p), (4, 4), "{rank:?}");
        assert_abs_diff_eq!(found.captured_squares, exact.captured_squares, epsilon = 1e-9);
        let (u, v) = (&exact.coordinates, &found.coordinates);
        assert_abs_diff_eq!(u.dot(&u.t()), v.dot(&v.t()), epsilon = 1e-8);
    }
}

#[test]
fn sparse_and_dense_agree() {
    let mut rng = rng(3);
    let dense = Array2::from_shape_simple_fn((200, 700), || {
        if rng.random::<f64>() < 0.03 {
            rng.random::<f32>()
        } else {
            0.0
        }
    });
    let sparse = SparseMap::new(CsrMatrix::from_dense(dense.view()).unwrap()).unwrap();
    let map = DenseMap::new(dense.view()).unwrap();
    assert_eq!(sparse.shape(), map.shape());
    let ratio = sparse.sum_of_squares().unwrap() / map.sum_of_squares().unwrap();
    assert_abs_diff_eq!(ratio, 1.0, epsilon = 1e-12);
    let (x, y) = (normal(700, 3, 1), normal(200, 3, 2));
    assert_abs_diff_eq!(sparse.apply(&x).unwrap(), map.apply(&x).unwrap(), epsilon = 1e-12);
    assert_abs_diff_eq!(
        sparse.apply_transposed(&y).unwrap(),
        map.apply_transposed(&y).unwrap(),
        epsilon = 1e-12
    );
    let svd = RandomisedConfig {
        power_iterations: 30,
        ..RandomisedConfig::new(3)
    }
    .check()
    .unwrap();
    let found = svd.run(&sparse, &mut rng).unwrap();
    let exact = egg_geometry::dense::thin_svd(dense.mapv(f64::from).view()).unwrap();
    assert!(
        found
            .s
            .iter()
            .zip(&exact.s)
            .all(|(a, b)| abs_diff_eq!(a, b, epsilon = 1e-6 * b)),
        "{} {}",
        found.s,
        exact.s
    );
}

#[test]
fn low_rank_and_zero_matrices_are_embedded_and_unsupported_rules_refused() {
    let svd = RandomisedConfig::new(6).check().unwrap();
    let low = with_values(80, 50, &[3.0, 2.0], 9);
    let map = DenseMap::new(low.view()).unwrap();
    let egg = EggConfig::new(RankRule::Fixed(5)).check().unwrap();
    let found = egg.embed_wide(&map, &svd, &mut rng(0)).unwrap();
    assert_eq!((found.choice.p, found.choice.numerical_rank), (2, 2));
    assert_abs_diff_eq!(found.captured_squares, 1.0, epsilon = 1e-12);

    let zero = DenseMap::new(Array2::<f32>::zeros((4, 9)).view()).unwrap();
    let found = egg.embed_wide(&zero, &svd, &mut rng(0)).unwrap();
    assert_eq!((found.coordinates.dim(), found.choice.p), ((4, 0), 0));

    let full = DenseMap::new(normal(80, 50, 1).view()).unwrap();
    for rank in [
        RankRule::Energy(0.5),
        RankRule::Fixed(7),
        RankRule::Relative(0.01),
        RankRule::Ratio(0.5),
    ] {
        let egg = EggConfig::new(rank).check().unwrap();
        let refused = egg.embed_wide(&full, &svd, &mut rng(0));
        assert!(matches!(refused, Err(Error::Setting { .. })), "{rank:?}");
    }
    assert!(RandomisedConfig::new(0).check().is_err());
}

/// A matrix that does not know its own norm.
struct Product(DenseMap<f32>);

impl LinearMap for Product {
    type Scalar = f32;

    fn shape(&self) -> (usize, usize) {
        self.0.shape()
    }

    fn apply(&self, x: &Array2<f64>) -> egg_cluster::Result<Array2<f64>> {
        self.0.apply(x)
    }

    fn apply_transposed(&self, y: &Array2<f64>) -> egg_cluster::Result<Array2<f64>> {
        self.0.apply_transposed(y)
    }
}

/// The noise from which a rank is separated is relative to `||H||_F`, most of which may lie in
/// directions that were not asked for.
#[test]
fn the_norm_of_an_operator_is_estimated() {
    for values in [vec![3.0, 2.0], vec![1.0; 60], vec![5.0, 0.1, 0.1, 0.1]] {
        let h = with_values(300, 80, &values, 4).mapv(|entry| entry as f32);
        let known = DenseMap::new(h.view()).unwrap();
        let svd = RandomisedConfig::new(4).check().unwrap();
        let exact = svd.run(&known, &mut rng(1)).unwrap();
        let found = svd.run(&Product(known), &mut rng(1)).unwrap();
        let norm = values.iter().map(|value| value * value).sum::<f64>().sqrt();
        assert!(
            abs_diff_eq!(exact.norm / norm, 1.0, epsilon = 1e-5),
            "{} of {norm}",
            exact.norm
        );
        assert!(
            (0.7..1.5).contains(&(found.norm / norm)),
            "{} of {norm}",
            found.norm
        );
        assert_eq!(exact.s, found.s);
    }
}
