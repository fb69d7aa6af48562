//! What the tests draw from. Bases, angles and rotations are built here by
//! Gram-Schmidt, without the crate's own linear algebra.

use std::f64::consts::FRAC_PI_2;

use egg_geometry::{GrassmannPoint, RankRule, Tangent};
use ndarray::{Array1, Array2, ArrayView2, Axis, s};
use proptest::collection::vec;
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

/// `count` cases, unless `PROPTEST_CASES` says otherwise; no regression files.
pub(crate) fn cases(count: u32) -> ProptestConfig {
    let config = ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    if std::env::var_os("PROPTEST_CASES").is_some() {
        return config;
    }
    ProptestConfig {
        cases: count,
        ..config
    }
}

pub(crate) fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

pub(crate) fn gaussian(rows: usize, columns: usize, seed: u64) -> Array2<f64> {
    let mut rng = rng(seed);
    Array2::from_shape_simple_fn((rows, columns), || StandardNormal.sample(&mut rng))
}

/// Orthonormal columns, by Gram-Schmidt with one repetition.
pub(crate) fn orthonormal(rows: usize, columns: usize, seed: u64) -> Array2<f64> {
    let mut basis = gaussian(rows, columns, seed);
    for column in 0..columns {
        let (done, mut rest) = basis.view_mut().split_at(Axis(1), column);
        let mut current = rest.column_mut(0);
        for _ in 0..2 {
            for earlier in done.columns() {
                let along = earlier.dot(&current);
                current.scaled_add(-along, &earlier);
            }
            let length = current.dot(&current).sqrt();
            current /= length;
        }
    }
    basis
}

pub(crate) fn point_of(basis: Array2<f64>) -> GrassmannPoint<f64> {
    GrassmannPoint::from_orthonormal(basis).expect("Gram-Schmidt gives an orthonormal basis")
}

pub(crate) fn random_point(ambient: usize, dimension: usize, seed: u64) -> GrassmannPoint<f64> {
    point_of(orthonormal(ambient, dimension, seed))
}

/// The same subspace in another basis.
pub(crate) fn rebased(point: &GrassmannPoint<f64>, seed: u64) -> GrassmannPoint<f64> {
    let p = point.dimension();
    point_of(point.basis().dot(&orthonormal(p, p, seed)))
}

/// The subspace turned by a rotation of R^m.
pub(crate) fn rotated(point: &GrassmannPoint<f64>, rotation: &Array2<f64>) -> GrassmannPoint<f64> {
    point_of(rotation.dot(&point.basis()))
}

/// Two subspaces of dimensions `p` and `q >= p` of R^m with the given p
/// principal angles (p + q <= m), each in a random basis.
pub(crate) fn pair_with_angles(
    ambient: usize,
    angles: &[f64],
    q: usize,
    seed: u64,
) -> (GrassmannPoint<f64>, GrassmannPoint<f64>) {
    let p = angles.len();
    assert!(p <= q && p + q <= ambient);
    let frame = orthonormal(ambient, p + q, seed);
    let left = frame.slice(s![.., ..p]).to_owned();
    let mut right = frame.slice(s![.., p..]).to_owned();
    for (index, angle) in angles.iter().enumerate() {
        let turned = &frame.column(index) * angle.cos() + &frame.column(p + index) * angle.sin();
        right.column_mut(index).assign(&turned);
    }
    let (left, right) = (point_of(left), point_of(right));
    (
        rebased(&left, seed.wrapping_add(1)),
        rebased(&right, seed.wrapping_add(2)),
    )
}

/// A tangent vector of the given length, made horizontal here.
pub(crate) fn tangent_of_length(point: &GrassmannPoint<f64>, length: f64, seed: u64) -> Tangent<f64> {
    // Not the draws that a point of the same seed was made of.
    let mut matrix = gaussian(point.ambient(), point.dimension(), !seed);
    for _ in 0..2 {
        let along = point.basis().t().dot(&matrix);
        matrix -= &point.basis().dot(&along);
    }
    let norm = frobenius(matrix.view());
    point
        .tangent(matrix * (length / norm))
        .expect("it was made horizontal")
}

/// A tangent vector with the given singular values (p <= m - p of them).
pub(crate) fn tangent_with_angles(point: &GrassmannPoint<f64>, angles: &[f64], seed: u64) -> Tangent<f64> {
    let (m, p) = (point.ambient(), point.dimension());
    assert!(angles.len() == p && 2 * p <= m);
    // Not the draws that a point of the same seed was made of.
    let mut outside = gaussian(m, p, !seed);
    for column in 0..p {
        for _ in 0..2 {
            let along = point.basis().t().dot(&outside.column(column));
            let inside = point.basis().dot(&along);
            let (done, mut rest) = outside.view_mut().split_at(Axis(1), column);
            let mut current = rest.column_mut(0);
            current -= &inside;
            for earlier in done.columns() {
                let along = earlier.dot(&current);
                current.scaled_add(-along, &earlier);
            }
            let length = current.dot(&current).sqrt();
            current /= length;
        }
    }
    let turned = &outside * &Array1::from(angles.to_vec());
    let mixed = turned.dot(&orthonormal(p, p, seed.wrapping_add(1)).t());
    point.tangent(mixed).expect("it was made horizontal")
}

pub(crate) fn frobenius(a: ArrayView2<'_, f64>) -> f64 {
    a.iter().map(|entry| entry * entry).sum::<f64>().sqrt()
}

/// NaN if an entry is, unlike `f64::max`.
pub(crate) fn max_abs(a: ArrayView2<'_, f64>) -> f64 {
    a.iter().fold(0.0, |most, entry| {
        if entry.is_nan() || entry.abs() > most {
            entry.abs()
        } else {
            most
        }
    })
}

/// `max |U^T U - I|`
pub(crate) fn orthonormality_defect(basis: ArrayView2<'_, f64>) -> f64 {
    max_abs((basis.t().dot(&basis) - Array2::<f64>::eye(basis.ncols())).view())
}

/// `||P_1 - P_2||_F`, the long way.
pub(crate) fn projectors_apart(a: &GrassmannPoint<f64>, b: &GrassmannPoint<f64>) -> f64 {
    frobenius((a.basis().dot(&a.basis().t()) - b.basis().dot(&b.basis().t())).view())
}

/// The accuracy that principal angles promise, 1e-15 sqrt(m), and as much again
/// for the bases that were built with known angles.
pub(crate) fn promised(ambient: usize) -> f64 {
    2e-15 * (ambient as f64).sqrt()
}

/// Ambient dimension m and subspace dimension p, 1 <= p <= m.
pub(crate) fn dimensions(largest: usize) -> impl Strategy<Value = (usize, usize)> {
    (1..=largest).prop_flat_map(|m| (Just(m), 1..=m))
}

/// p and m with 2 p <= m, so that all p angles can be chosen.
pub(crate) fn roomy_dimensions() -> impl Strategy<Value = (usize, usize)> {
    (1usize..=3).prop_flat_map(|p| (2 * p..=2 * p + 3, Just(p)))
}

/// An angle of any size: exactly 0 or pi/2, tiny, or anything between.
pub(crate) fn angle() -> impl Strategy<Value = f64> {
    prop_oneof![
        1 => Just(0.0),
        1 => Just(FRAC_PI_2),
        2 => (-15.0..-2.0f64).prop_map(|exponent| 10f64.powf(exponent)),
        1 => (-15.0..-2.0f64).prop_map(|exponent| FRAC_PI_2 - 10f64.powf(exponent)),
        6 => 0.0..FRAC_PI_2,
    ]
}

/// Every rank rule, with values that data made of small integers meets exactly.
pub(crate) fn any_rule() -> impl Strategy<Value = RankRule> {
    prop_oneof![
        scale_free_rule(),
        prop_oneof![Just(0.0), Just(0.5), Just(1.0), Just(2.0), 0.0..4.0f64].prop_map(RankRule::Threshold),
    ]
}

/// The rules that don't see the scale of `H`.
pub(crate) fn scale_free_rule() -> impl Strategy<Value = RankRule> {
    prop_oneof![
        (1usize..=7).prop_map(RankRule::Fixed),
        prop_oneof![Just(0.2), Just(0.5), Just(0.8), Just(1.0), 0.05..1.0f64].prop_map(RankRule::Ratio),
        prop_oneof![Just(0.0), Just(0.5), 0.0..0.99f64].prop_map(RankRule::Relative),
        prop_oneof![Just(0.25), Just(0.5), Just(1.0), 0.05..1.0f64].prop_map(RankRule::Energy),
        prop_oneof![Just(0.25), Just(0.5), Just(1.0), 0.05..1.0f64].prop_map(RankRule::Squares),
    ]
}

/// n x m with n, m from 1 and real entries: nothing special about it.
pub(crate) fn generic_matrix() -> impl Strategy<Value = Array2<f64>> {
    (1usize..=8, 1usize..=6).prop_flat_map(|(n, m)| matrix_of(n, m, -1.0..1.0f64))
}

/// Small integers, exact in every type: ties, equal rows and rank deficiency
/// come by themselves, and an exact rank is known.
pub(crate) fn integer_matrix() -> impl Strategy<Value = Array2<f64>> {
    let shape = || (1usize..=8, 1usize..=6);
    let small = -2..=2i8;
    prop_oneof![
        // Anything.
        shape().prop_flat_map(move |(n, m)| matrix_of(n, m, (-2..=2i8).prop_map(f64::from))),
        // A product of thin factors.
        (shape(), 1usize..=3).prop_flat_map(move |((n, m), r)| {
            (
                matrix_of(n, r, small.clone().prop_map(f64::from)),
                matrix_of(r, m, (-2..=2i8).prop_map(f64::from)),
            )
                .prop_map(|(a, b)| a.dot(&b))
        }),
        // Few rows, each many times.
        (1usize..=3, 1usize..=6).prop_flat_map(|(rows, m)| {
            (
                matrix_of(rows, m, (-2..=2i8).prop_map(f64::from)),
                vec(0..rows, 1..=8),
            )
                .prop_map(|(rows, choice)| rows.select(Axis(0), &choice))
        }),
        // Multiples of unit vectors: ties of the singular values.
        (1usize..=6).prop_flat_map(|m| {
            vec((0..m, prop_oneof![Just(1.0), Just(-1.0), Just(2.0)]), 1..=8).prop_map(move |rows| {
                let mut h = Array2::zeros((rows.len(), m));
                for (row, (column, value)) in rows.into_iter().enumerate() {
                    h[[row, column]] = value;
                }
                h
            })
        }),
        shape().prop_map(Array2::zeros),
    ]
}

/// Either of the two.
pub(crate) fn any_matrix() -> impl Strategy<Value = Array2<f64>> {
    prop_oneof![2 => generic_matrix(), 3 => integer_matrix()]
}

pub(crate) fn matrix_of(
    n: usize,
    m: usize,
    entry: impl Strategy<Value = f64>,
) -> impl Strategy<Value = Array2<f64>> {
    vec(entry, n * m).prop_map(move |entries| Array2::from_shape_vec((n, m), entries).expect("n m entries"))
}

/// A matrix and an order of its rows.
pub(crate) fn shuffled(
    matrix: impl Strategy<Value = Array2<f64>>,
) -> impl Strategy<Value = (Array2<f64>, Vec<usize>)> {
    matrix.prop_flat_map(|h| {
        let order: Vec<usize> = (0..h.nrows()).collect();
        (Just(h), Just(order).prop_shuffle())
    })
}

/// The rank of a matrix of integers, by elimination without fractions.
pub(crate) fn exact_rank(h: &Array2<f64>) -> usize {
    #[expect(clippy::cast_possible_truncation, reason = "the entries are small integers")]
    let mut a = h.mapv(|entry| entry as i128);
    let (n, m) = a.dim();
    let mut rank = 0;
    for column in 0..m {
        let Some(pivot) = (rank..n).find(|row| a[[*row, column]] != 0) else {
            continue;
        };
        for k in 0..m {
            a.swap([rank, k], [pivot, k]);
        }
        for row in rank + 1..n {
            let (top, low) = (a[[rank, column]], a[[row, column]]);
            for k in 0..m {
                a[[row, k]] = a[[row, k]] * top - a[[rank, k]] * low;
            }
        }
        rank += 1;
    }
    rank
}

/// Subspaces of one R^m of any dimensions, anywhere.
pub(crate) fn scattered() -> impl Strategy<Value = Vec<GrassmannPoint<f64>>> {
    (1usize..=6, 1usize..=7).prop_flat_map(|(m, count)| {
        vec((1..=m, any::<u64>()), count).prop_map(move |all| {
            all.into_iter()
                .map(|(p, seed)| random_point(m, p, seed))
                .collect()
        })
    })
}

/// Subspaces of one R^m that have directions in common: each holds most of the
/// leading directions of a frame and few of the others, a little turned.
pub(crate) fn related() -> impl Strategy<Value = Vec<GrassmannPoint<f64>>> {
    (2usize..=6, 2usize..=7, 0.0..0.3f64, any::<u64>()).prop_map(|(m, count, turn, seed)| {
        let frame = orthonormal(m, m, seed);
        let mut rng = rng(!seed);
        let leading = rng.random_range(1..=m);
        (0..count as u64)
            .map(|k| {
                let mut held: Vec<usize> = (0..m)
                    .filter(|at| rng.random::<f64>() < if *at < leading { 0.8 } else { 0.2 })
                    .collect();
                if held.is_empty() {
                    held.push(0);
                }
                let exact = point_of(frame.select(Axis(1), &held));
                if exact.dimension() == m {
                    return exact;
                }
                let step = tangent_of_length(&exact, turn, seed.wrapping_add(k));
                rebased(&exact.exp(&step).unwrap(), seed ^ k)
            })
            .collect()
    })
}

/// The least and the largest dimension.
pub(crate) fn range_of(points: &[GrassmannPoint<f64>]) -> (usize, usize) {
    let all = || points.iter().map(GrassmannPoint::dimension);
    (all().min().unwrap(), all().max().unwrap())
}

/// `count` subspaces of R^12 near each of up to three orthogonal ones of dimension
/// 4: with all of its directions, one less, or one more, and a little turned.
pub(crate) fn planted_blocks(
    clusters: usize,
    count: usize,
    seed: u64,
) -> (Vec<GrassmannPoint<f64>>, Vec<usize>) {
    let frame = orthonormal(12, 12, seed);
    let (mut points, mut labels) = (Vec::new(), Vec::new());
    for k in 0..clusters * count {
        // Alternating, so that labels do not come in runs.
        let label = k % clusters;
        let mut held: Vec<usize> = (4 * label..4 * label + 4).collect();
        match (k / clusters) % 3 {
            0 => {}
            1 => drop(held.remove(k % 4)),
            _ => held.push((4 * label + 4 + k % 8) % 12),
        }
        let exact = point_of(frame.select(Axis(1), &held));
        let step = tangent_of_length(&exact, 0.2, seed.wrapping_add(k as u64));
        points.push(exact.exp(&step).unwrap());
        labels.push(label);
    }
    (points, labels)
}

/// The nearest f32 numbers, orthonormal to their rounding.
#[expect(clippy::cast_possible_truncation, reason = "the purpose")]
pub(crate) fn narrowed(point: &GrassmannPoint<f64>) -> GrassmannPoint<f32> {
    GrassmannPoint::from_orthonormal(point.basis().mapv(|entry| entry as f32)).unwrap()
}
