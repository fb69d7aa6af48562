//! Means of subspaces of different dimension, in the metric of their projectors.

use crate::strategies::{
    cases, frobenius, narrowed, orthonormal, orthonormality_defect, planted_blocks, point_of,
    projectors_apart, random_point, range_of, rebased, related, rng, rotated, scattered, tangent_of_length,
};
use approx::{abs_diff_eq, assert_abs_diff_eq};
use egg_geometry::{
    GrassmannKMeans, GrassmannPoint, Scalar, extrinsic_mean_within, nearest_point,
    weighted_extrinsic_mean_within,
};
use ndarray::{Array2, Axis, s};
use proptest::collection::vec;
use proptest::prelude::*;

/// Sums of a few squared norms of projectors.
const ROUNDING: f64 = 1e-12;

/// `(1/N) sum_i ||P - P_i||_F^2` with explicit projectors.
fn cost(at: &GrassmannPoint<f64>, points: &[GrassmannPoint<f64>]) -> f64 {
    let squares = points.iter().map(|point| projectors_apart(at, point).powi(2));
    squares.sum::<f64>() / points.len() as f64
}

fn mean_projector(points: &[GrassmannPoint<f64>]) -> Array2<f64> {
    let mut mean = Array2::zeros((points[0].ambient(), points[0].ambient()));
    for point in points {
        mean.scaled_add(1.0 / points.len() as f64, &point.projector());
    }
    mean
}

/// Other subspaces, of dimension `p` (0 < p <= m): at random, near the given one
/// if it has that dimension, and otherwise what it becomes by losing or gaining
/// directions.
fn competitors(of: &GrassmannPoint<f64>, p: usize, seed: u64) -> Vec<GrassmannPoint<f64>> {
    let (m, own) = (of.ambient(), of.dimension());
    let mut all: Vec<_> = (0..4)
        .map(|k| random_point(m, p, seed.wrapping_add(1000 + k)))
        .collect();
    if p == own && p < m {
        all.extend((0..10).map(|k| {
            let step = tangent_of_length(of, 10f64.powi(-k / 2), seed.wrapping_add(k as u64));
            of.exp(&step).unwrap()
        }));
    }
    if p < own {
        for k in 0..3 {
            let other = rebased(of, seed.wrapping_add(k));
            all.push(point_of(other.basis().slice(s![.., ..p]).to_owned()));
        }
    }
    if p > own {
        let outside = of.complement().unwrap();
        for k in 0..3 {
            let other = rebased(&outside, seed.wrapping_add(k));
            let added = other.basis().slice(s![.., ..p - own]).to_owned();
            all.push(point_of(
                ndarray::concatenate(Axis(1), &[of.basis(), added.view()]).unwrap(),
            ));
        }
    }
    all
}

proptest! {
    #![proptest_config(cases(96))]

    #[test]
    fn mixed_mean_has_least_cost_in_its_range(
        points in prop_oneof![scattered(), related()],
        (first, last) in (any::<prop::sample::Index>(), any::<prop::sample::Index>()),
        seed in any::<u64>(),
    ) {
        let m = points[0].ambient();
        let (first, last) = (1 + first.index(m), 1 + last.index(m));
        for (least, most) in [(1, m), range_of(&points), (first.min(last), first.max(last))] {
            let mean = extrinsic_mean_within(&points, least..=most).unwrap();
            prop_assert!((least..=most).contains(&mean.point.dimension()));
            prop_assert!(orthonormality_defect(mean.point.basis()) <= 1e-13);
            let own = cost(&mean.point, &points);
            let mut nearest = f64::INFINITY;
            for p in least..=most {
                for other in competitors(&mean.point, p, seed).iter().chain(&points) {
                    if (least..=most).contains(&other.dimension()) {
                        let theirs = cost(other, &points);
                        prop_assert!(theirs >= own - ROUNDING, "{theirs} of dimension {p} below {own}");
                    }
                }
                // The best of each dimension, by way of the m x m mean projector.
                let best = nearest_point(mean_projector(&points).view(), p).unwrap().point;
                nearest = nearest.min(cost(&best, &points));
            }
            // A tie costs at most twice the tolerance for each direction.
            let ties = 2.0 * f64::TIE_TOLERANCE * m as f64;
            prop_assert!(own <= nearest + ROUNDING + ties, "{own} above {nearest}");
        }
    }

    #[test]
    fn gap_is_half_the_extra_cost_of_the_next_best(
        points in prop_oneof![scattered(), related()],
        seed in any::<u64>(),
    ) {
        let m = points[0].ambient();
        for (least, most) in [(1, m), range_of(&points)] {
            let mean = extrinsic_mean_within(&points, least..=most).unwrap();
            prop_assert!((0.0..=1.0 + 1e-14).contains(&mean.gap));
            let (p, own) = (mean.point.dimension(), cost(&mean.point, &points));
            // Of another dimension: no competitor is nearer than the gap says.
            for other in (least..=most).filter(|other| *other != p) {
                for competitor in competitors(&mean.point, other, seed) {
                    let more = cost(&competitor, &points) - own;
                    prop_assert!(more >= 2.0 * mean.gap - ROUNDING - 2.0 * f64::TIE_TOLERANCE);
                }
            }
        }
    }

    #[test]
    fn mean_is_invariant_to_order_basis_and_rotation(
        points in prop_oneof![scattered(), related()],
        seed in any::<u64>(),
    ) {
        let m = points[0].ambient();
        let rotation = orthonormal(m, m, seed);
        for (least, most) in [(1, m), range_of(&points)] {
            let mean = extrinsic_mean_within(&points, least..=most).unwrap();
            let mut others: Vec<_> = points.iter().map(|point| rebased(point, seed)).collect();
            others.rotate_left(points.len() / 2);
            others.reverse();
            let again = extrinsic_mean_within(&others, least..=most).unwrap();
            let turned: Vec<_> = points.iter().map(|point| rotated(point, &rotation)).collect();
            let turned = extrinsic_mean_within(&turned, least..=most).unwrap();
            // Where the gap is small the dimension must jump somewhere.
            if mean.gap > 1e-8 {
                prop_assert!(projectors_apart(&mean.point, &again.point) <= 1e-13 / mean.gap);
                let there = rotated(&mean.point, &rotation);
                prop_assert!(projectors_apart(&there, &turned.point) <= 1e-13 / mean.gap);
            }
            prop_assert!(abs_diff_eq!(mean.gap, again.gap, epsilon = 1e-13));
            prop_assert!(abs_diff_eq!(mean.gap, turned.gap, epsilon = 1e-13));
        }
    }

    #[test]
    fn integer_weights_equal_repetitions(points in related(), seed in any::<u64>()) {
        let m = points[0].ambient();
        let times: Vec<usize> = (0..points.len()).map(|k| (seed as usize >> (2 * k)) % 4).collect();
        prop_assume!(times.iter().any(|count| *count > 0));
        let weights: Vec<f64> = times.iter().map(|count| 0.25 * *count as f64).collect();
        let mut repeated = Vec::new();
        for (point, count) in points.iter().zip(&times) {
            repeated.extend(std::iter::repeat_n(point.clone(), *count));
        }
        let weighted = weighted_extrinsic_mean_within(&points, &weights, 1..=m).unwrap();
        let plain = extrinsic_mean_within(&repeated, 1..=m).unwrap();
        prop_assert!(abs_diff_eq!(weighted.gap, plain.gap, epsilon = 1e-13));
        if plain.gap > 1e-8 {
            prop_assert!(projectors_apart(&weighted.point, &plain.point) <= 1e-13 / plain.gap);
        }
    }

    /// Subsets of one frame: the eigenvalues of the mean projector are shares of
    /// the points, 1/2 among them, and known exactly.
    #[test]
    fn directions_of_a_majority_are_kept(
        m in 1usize..=6,
        subsets in vec(1u32..64, 1..=8),
        seed in any::<u64>(),
    ) {
        let frame = orthonormal(m, m, seed);
        let held: Vec<Vec<usize>> = subsets
            .iter()
            .map(|subset| {
                let held: Vec<usize> = (0..m).filter(|at| (subset >> at) & 1 == 1).collect();
                if held.is_empty() { vec![0] } else { held }
            })
            .collect();
        let points: Vec<_> = held
            .iter()
            .enumerate()
            .map(|(k, held)| rebased(&point_of(frame.select(Axis(1), held)), seed ^ k as u64))
            .collect();
        let count = |at: usize| held.iter().filter(|held| held.contains(&at)).count();
        let mut order: Vec<usize> = (0..m).collect();
        order.sort_by_key(|at| std::cmp::Reverse(count(*at)));
        let shares: Vec<f64> = order.iter().map(|at| count(*at) as f64 / points.len() as f64).collect();
        let majority = shares.iter().filter(|share| **share > 0.5).count();
        for (least, most) in [(1, m), range_of(&points)] {
            let mean = extrinsic_mean_within(&points, least..=most).unwrap();
            let p = majority.clamp(least, most);
            prop_assert_eq!(mean.point.dimension(), p);
            let next = shares.get(p).copied().unwrap_or(0.0);
            let gap = [
                Some(shares[p - 1] - next),
                (p > least).then_some(shares[p - 1] - 0.5),
                (p < most).then_some(0.5 - next),
            ];
            let gap = gap.into_iter().flatten().fold(f64::INFINITY, f64::min);
            prop_assert!(abs_diff_eq!(mean.gap, gap, epsilon = 1e-13), "{} and {gap}", mean.gap);
            if shares[p - 1] > next {
                let wanted = point_of(frame.select(Axis(1), &order[..p]));
                prop_assert!(projectors_apart(&mean.point, &wanted) <= 1e-13);
            }
            // The same in single precision.
            let single: Vec<GrassmannPoint<f32>> = points.iter().map(narrowed).collect();
            let single = extrinsic_mean_within(&single, least..=most).unwrap();
            prop_assert_eq!(single.point.dimension(), p);
            prop_assert!(abs_diff_eq!(f64::from(single.gap), gap, epsilon = 1e-5));
        }
    }
}

/// Worked by hand: three coordinate planes of R^3 hold every axis twice.
#[test]
fn dimension_range_bounds_the_mean() {
    let plane = |i: usize, j: usize| {
        let mut basis = Array2::<f64>::zeros((3, 2));
        basis[[i, 0]] = 1.0;
        basis[[j, 1]] = 1.0;
        point_of(basis)
    };
    let planes = [plane(0, 1), plane(1, 2), plane(0, 2)];
    let whole = extrinsic_mean_within(&planes, 1..=3).unwrap();
    assert_eq!(whole.point.dimension(), 3);
    assert_abs_diff_eq!(whole.gap, 2.0 / 3.0 - 0.5, epsilon = 1e-15);
    // In Gr(2, 3) every plane is as good as another.
    let two = extrinsic_mean_within(&planes, 1..=2).unwrap();
    assert_eq!(two.point.dimension(), 2);
    assert!(two.gap <= 1e-15);
    // Three axes, each held once: no direction has a majority, and {0} is no point.
    let axes: Vec<_> = (0..3)
        .map(|axis| point_of(Array2::eye(3).slice(s![.., axis..=axis]).to_owned()))
        .collect();
    assert_eq!(extrinsic_mean_within(&axes, 1..=3).unwrap().point.dimension(), 1);
}

/// Two points only: what one has and the other has not is at 1/2 exactly.
#[test]
fn mean_of_two_nested_subspaces_is_the_smaller() {
    for seed in 0..200 {
        let m = 2 + (seed % 7) as usize;
        let (p, q) = (1 + (seed / 7) as usize % m, 1 + (seed / 49) as usize % m);
        let frame = orthonormal(m, m, seed);
        let of = |dimension: usize| {
            rebased(
                &point_of(frame.slice(s![.., ..dimension]).to_owned()),
                seed + dimension as u64,
            )
        };
        let pair = [of(p), of(q)];
        let mean = extrinsic_mean_within(&pair, 1..=m).unwrap();
        assert_eq!(mean.point.dimension(), p.min(q));
        assert!(projectors_apart(&mean.point, &of(p.min(q))) <= 1e-13);
        if p != q {
            assert!(mean.gap <= 1e-14);
        }
        let found = GrassmannKMeans::new(1).fit(&pair, &mut rng(seed)).unwrap();
        assert_eq!(found.centres[0].dimension(), p.min(q));
    }
}

/// A mean of many f32 points, where the mean projector is the smaller matrix.
#[test]
fn single_precision_mean_matches_double() {
    for seed in 0..20 {
        let (points, _) = planted_blocks(1, 9, seed);
        let single: Vec<GrassmannPoint<f32>> = points.iter().map(narrowed).collect();
        let mean = extrinsic_mean_within(&points, 1..=12).unwrap();
        let narrow = extrinsic_mean_within(&single, 1..=12).unwrap();
        assert_eq!(narrow.point.dimension(), mean.point.dimension());
        let wide = narrow.point.basis().mapv(f64::from);
        let apart = wide.dot(&wide.t()) - mean.point.projector();
        assert!(frobenius(apart.view()) <= 1e-5);
        assert_abs_diff_eq!(f64::from(narrow.gap), mean.gap, epsilon = 1e-5);
    }
}
