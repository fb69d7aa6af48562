//! Finite numbers at the ends of their range: no panic, and a basis, projector,
//! embedding or gradient that is finite.

use crate::strategies::{gaussian, orthonormality_defect, random_point, tangent_of_length};
use approx::{abs_diff_eq, abs_diff_ne, assert_abs_diff_eq};
use egg_geometry::*;
use ndarray::{Array1, Array2, array};

const RULES: [RankRule; 9] = [
    RankRule::Fixed(2),
    RankRule::Ratio(0.5),
    RankRule::Threshold(0.0),
    RankRule::Threshold(0.8),
    RankRule::Threshold(f64::MAX),
    RankRule::Relative(0.0),
    RankRule::Relative(0.5),
    RankRule::Energy(0.5),
    RankRule::Energy(1.0),
];

/// The largest, the smallest normal, the smallest subnormal number, and others.
fn extremes<T: Scalar>() -> Vec<T> {
    let least = T::min_positive_value() * T::epsilon();
    assert!(least > T::zero() && least / T::rounded(2.0) == T::zero());
    vec![
        T::max_value(),
        -T::max_value(),
        T::max_value() / T::rounded(3.0),
        T::min_positive_value(),
        least,
        -least,
        T::one(),
        T::zero(),
    ]
}

/// Matrices that mix them in every relevant way: only one value, and large
/// with small, in tall, square and wide shapes.
fn matrices<T: Scalar>() -> Vec<Array2<T>> {
    let values = extremes::<T>();
    let mut all = Vec::new();
    for (n, m) in [(1, 1), (1, 4), (4, 1), (5, 3), (3, 3), (2, 5)] {
        for value in &values {
            all.push(Array2::from_elem((n, m), *value));
            // Of full rank.
            let pattern = gaussian(n, m, 7).mapv(|entry| T::rounded(entry.clamp(-1.0, 1.0)));
            all.push(pattern.mapv(|entry| entry * *value));
        }
        for shift in 0..values.len() {
            let mixed = |(row, column): (usize, usize)| values[(row * m + column * 3 + shift) % values.len()];
            all.push(Array2::from_shape_fn((n, m), mixed));
        }
    }
    all
}

fn finite<T: Scalar>(what: &str, h: &Array2<T>, entries: impl IntoIterator<Item = T>) {
    for entry in entries {
        assert!(entry.is_finite(), "{what} holds {entry} for {h}");
    }
}

fn everything_is_finite<T: Scalar>() {
    let tolerance = 64.0 * T::eps();
    for h in matrices::<T>() {
        let (n, m) = h.dim();
        let is_zero = h.iter().all(|entry| *entry == T::zero());
        for rule in RULES {
            for rectified in [
                rectify(h.view(), rule).unwrap(),
                rectify_nodes(h.view(), rule).unwrap(),
            ] {
                assert_eq!(rectified.choice.p == 0, is_zero, "{rule:?} for {h}");
                finite("basis", &h, rectified.basis.iter().copied());
                finite("singular values", &h, rectified.singular_values.iter().copied());
                finite("projector", &h, rectified.projector());
                assert!(rectified.choice.gap.is_finite() && rectified.choice.captured.is_finite());
                let defect = orthonormality_defect(rectified.basis.mapv(T::as_f64).view());
                assert!(defect <= tolerance, "{rule:?}: defect {defect:e} for {h}");
            }
            let (mut factors, mut work) = (Factors::new(), Workspace::new());
            factors.compute(h.view(), rule, &mut work).unwrap();
            for flatten in [Flatten::Upper, Flatten::Isometric] {
                finite("embedding", &h, embed_batch(&[h.view()], rule, flatten).unwrap());
                for value in extremes::<T>() {
                    let upstream = Array1::from_elem(Flatten::length(m), value);
                    let mut out = Array2::from_elem((n, m), T::nan());
                    factors
                        .gradient_of_embedding(h.view(), upstream.view(), flatten, out.view_mut(), &mut work)
                        .unwrap();
                    finite("gradient of the embedding", &h, out);
                }
            }
            for value in extremes::<T>() {
                let upstream =
                    Array2::from_shape_fn(
                        (m, m),
                        |(row, column)| {
                            if (row + column) % 2 == 0 { value } else { T::one() }
                        },
                    );
                finite(
                    "gradient",
                    &h,
                    factors.gradient(h.view(), upstream.view(), &mut work).unwrap(),
                );
            }
        }
    }
}

#[test]
fn everything_is_finite_in_double_precision() {
    everything_is_finite::<f64>();
}

#[test]
fn everything_is_finite_in_single_precision() {
    everything_is_finite::<f32>();
}

#[test]
fn subspace_is_invariant_to_extreme_scales() {
    let h = gaussian(6, 4, 3);
    let plain = rectify(h.view(), RankRule::Fixed(2)).unwrap();
    // Denormal entries keep fewer digits: 5e-324 / 1e-310 of an entry.
    for (scale, tolerance) in [(1e307, 1e-13), (1e-300, 1e-13), (1e-310, 1e-12)] {
        let scaled = rectify((&h * scale).view(), RankRule::Fixed(2)).unwrap();
        let moved = crate::strategies::max_abs((scaled.projector() - plain.projector()).view());
        assert!(moved <= tolerance, "{scale:e}: {moved:e}");
    }
    // One row of the least number there is still spans a line.
    let least = rectify(array![[5e-324, 0.0, -5e-324]].view(), RankRule::Threshold(0.8)).unwrap();
    let half = array![[0.5, 0.0, -0.5], [0.0, 0.0, 0.0], [-0.5, 0.0, 0.5]];
    assert_abs_diff_eq!(least.projector(), half, epsilon = 1e-15);
    let least = rectify(array![[1e-45f32, 0.0]].view(), RankRule::Relative(0.5)).unwrap();
    assert_eq!(least.projector(), array![[1.0f32, 0.0], [0.0, 0.0]]);
}

/// The gradient is as large as dL/dP and as small as 1 / H. Where the quotient
/// is in range, it is right, however large or small the two are.
#[test]
fn representable_gradients_are_right_at_any_scale() {
    let gradient = |h: &Array2<f64>, g: &Array2<f64>| {
        let (mut factors, mut work) = (Factors::new(), Workspace::new());
        factors.compute(h.view(), RankRule::Fixed(1), &mut work).unwrap();
        factors.gradient(h.view(), g.view(), &mut work).unwrap()
    };
    let mut wrong = Vec::new();
    // A wide cut, and one that makes the gradient a hundred times as large.
    for (h, g) in [
        (gaussian(5, 3, 1), gaussian(3, 3, 2)),
        (array![[1.0, 0.0], [0.0, 0.99]], array![[0.0, 1.0], [1.0, 0.0]]),
    ] {
        let plain = gradient(&h, &g);
        for (of_h, of_g) in [
            (1020, 1020),
            (-1020, -1020),
            (1000, 500),
            (-1020, -300),
            (1020, 0),
            (-1000, 0),
            (0, 1010),
        ] {
            let scaled = gradient(&(&h * 2f64.powi(of_h)), &(&g * 2f64.powi(of_g)));
            // Multiplied in halves, because the factor itself may be out of range.
            let half = 2f64.powi((of_g - of_h) / 2);
            let worst = plain.iter().zip(&scaled).fold(0.0, |worst: f64, (x, y)| {
                let wanted = x * half * half;
                let off = (wanted - y).abs();
                worst.max(if off == 0.0 { 0.0 } else { off / wanted.abs() })
            });
            // Entries of 2^-1020 lose nothing yet: the least normal is 2^-1022.
            if worst.is_nan() || worst > 1e-12 {
                wrong.push(format!("2^{of_h} H, 2^{of_g} G: relative error {worst:e}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Entries that differ by 160 orders of magnitude: squares of products of them
/// have few digits. (Found by random input.)
#[test]
fn projectors_of_entries_of_extreme_range_are_finite() {
    fn check<T: Scalar>(large: f64, small: f64) {
        let h = Array2::from_shape_fn((10, 5), |(row, column)| {
            T::rounded(match (row + 2 * column) % 5 {
                0 => large,
                1 => small,
                _ => 0.0,
            })
        });
        let mut factors = Factors::new();
        let rule = RankRule::Energy(0.9);
        factors.compute(h.view(), rule, &mut Workspace::new()).unwrap();
        let defect = orthonormality_defect(factors.basis::<f64>().view());
        assert!(defect <= 1e-14, "{large:e} and {small:e}: defect {defect:e}");
    }
    for exponent in [-140, -150, -155, -158, -159, -160, -161, -165] {
        check::<f64>(1.0, 10f64.powi(exponent));
        check::<f64>(-9e251, 1.5 * 10f64.powi(exponent + 252));
    }
    for exponent in [-45, -44, -43, -42, -41, -40] {
        check::<f32>(1e38, 10f64.powi(exponent));
        check::<f32>(1e37, 10f64.powi(exponent));
    }
}

/// Every point holds a finite orthonormal basis, however it was made.
#[test]
fn points_of_extreme_matrices_are_finite() {
    for value in [1e308, f64::MAX, 1e-300, f64::MIN_POSITIVE, 5e-324] {
        let basis = |point: &GrassmannPoint<f64>, what: &str| {
            let defect = orthonormality_defect(point.basis());
            assert!(defect <= 1e-13, "{what} at {value:e}: defect {defect:e}");
        };
        let line = GrassmannPoint::from_spanning(array![[value], [-value], [0.0]].view()).unwrap();
        basis(&line, "from_spanning");
        assert_abs_diff_eq!(line.projector()[[0, 1]], -0.5, epsilon = 1e-15);
        let uneven = array![[value, 1.0], [value, 0.0], [0.0, 1.0]];
        basis(
            &GrassmannPoint::from_spanning(uneven.view()).unwrap(),
            "from_spanning",
        );
        for matrix in [
            array![[value, 0.0], [0.0, -value]],
            array![[0.0, value], [value, 0.0]],
            array![[value, value], [value, value]],
            array![[1.0, value], [value, -value]],
        ] {
            let nearest = nearest_point(matrix.view(), 1).unwrap();
            basis(&nearest.point, "nearest_point");
            let NearestPoint { distance, gap, .. } = nearest;
            assert!(
                distance >= 0.0 && gap >= 0.0,
                "distance {distance}, gap {gap} for {matrix:e}"
            );
        }
        // The leading eigenvector of diag(v, -v) is the first unit vector.
        let nearest = nearest_point(array![[value, 0.0], [0.0, -value]].view(), 1).unwrap();
        assert!(
            abs_diff_eq!(nearest.point.projector()[[0, 0]], 1.0, epsilon = 1e-15),
            "{value:e}"
        );
    }
}

#[test]
fn weights_of_any_size_give_finite_means() {
    let points = [
        random_point(5, 2, 1),
        random_point(5, 2, 2),
        random_point(5, 2, 3),
    ];
    let plain = weighted_extrinsic_mean(&points, &[3.0, 1.0, 0.0], 2).unwrap();
    for scale in [1e-300, 5e-324, 1e300] {
        let mean = weighted_extrinsic_mean(&points, &[3.0 * scale, scale, 0.0], 2).unwrap();
        let apart = distance(&mean.point, &plain.point, Distance::Geodesic).unwrap();
        assert!(apart <= 1e-13, "{scale:e}: {apart:e}");
        let mean = KarcherSolver::default()
            .run_weighted(&points, &[3.0 * scale, scale, 0.0])
            .unwrap();
        assert!(mean.variance.is_finite() && mean.converged);
    }
}

/// A tangent vector may be of any finite length. The geodesic goes round many
/// times; the basis stays one, or the step is refused.
#[test]
fn steps_of_any_length_are_finite() {
    let point = random_point(5, 2, 1);
    let unit = tangent_of_length(&point, 1.0, 2);
    let mut wrong = Vec::new();
    for length in [5e-324, 1e-300, 1e-160, 1e3, 1e8, 1e100, 1e160, 1e300, 1e308] {
        let step = unit.scaled(length);
        let ends = [
            ("exp", point.exp(&step)),
            ("retract_qr", point.retract_qr(&step)),
            ("retract_polar", point.retract_polar(&step)),
        ];
        for (what, end) in ends {
            let Ok(end) = end else { continue };
            let defect = orthonormality_defect(end.basis());
            if defect.is_nan() || defect > 1e-12 {
                wrong.push(format!("{what} of length {length:e}: defect {defect:e}"));
            }
            if length < 1e-15 && distance(&end, &point, Distance::Geodesic).unwrap() > 1e-15 {
                wrong.push(format!("{what} of length {length:e} moved"));
            }
        }
        if let Ok(carried) = point.transport(&step, &unit) {
            let norm = carried.norm();
            if abs_diff_ne!(norm, 1.0, epsilon = 1e-12) {
                wrong.push(format!("transport along {length:e}: length {norm}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn tangent_projection_is_finite_or_refused() {
    let point = random_point(5, 2, 1);
    for value in [f64::MAX, 1e308, 1e300] {
        if let Ok(tangent) = point.project_to_tangent(Array2::from_elem((5, 2), value).view()) {
            let finite = tangent.matrix().iter().all(|entry| entry.is_finite());
            assert!(finite, "{value:e} gave {}", tangent.matrix());
        }
    }
}

/// Long steps whose principal directions differ in length by any factor: the
/// angles of the end are those of the tangent vector, taken round.
#[test]
fn long_uneven_steps_reach_the_right_point() {
    let (m, p) = (9, 3);
    let turned = random_point(m, 2 * p, 5).into_basis();
    let start = GrassmannPoint::from_orthonormal(turned.slice(ndarray::s![.., ..p]).to_owned()).unwrap();
    let ends = turned.slice(ndarray::s![.., p..]);
    for longest in [3.9, 4.1, 30.0, 1e4, 1e6, 5e7] {
        let theta = array![longest, 0.5, 1.0];
        let step = start.project_to_tangent((&ends * &theta).view()).unwrap();
        // The longest angle is known to eps times its length, and so are the
        // directions of the short ones.
        let tolerance = 32.0 * f64::EPSILON * longest;
        let check = |what: &str, end: &GrassmannPoint<f64>, f: fn(f64) -> f64, g: fn(f64) -> f64| {
            let defect = orthonormality_defect(end.basis());
            assert!(defect <= 1e-14, "{what} of {longest:e}: defect {defect:e}");
            let exact = &start.basis() * &theta.mapv(f) + &ends * &theta.mapv(g);
            let exact = GrassmannPoint::from_orthonormal(exact).unwrap();
            let off = distance(end, &exact, Distance::Asimov).unwrap();
            assert!(off <= tolerance, "{what} of {longest:e}: off by {off:e}");
        };
        check("exp", &start.exp(&step).unwrap(), f64::cos, f64::sin);
        let (f, g) = (|x: f64| 1.0 / x.hypot(1.0), |x: f64| x / x.hypot(1.0));
        check("retract_polar", &start.retract_polar(&step).unwrap(), f, g);
        check("retract_qr", &start.retract_qr(&step).unwrap(), f, g);

        let other = tangent_of_length(&start, 1.0, 6);
        let carried = start.transport(&step, &other).unwrap();
        assert!(
            abs_diff_eq!(carried.norm(), 1.0, epsilon = tolerance.max(1e-14)),
            "transport along {longest:e}"
        );
        let lands = start.exp(&step).unwrap().basis().t().dot(&carried.matrix());
        let off = lands.iter().fold(0.0, |most: f64, entry| most.max(entry.abs()));
        assert!(
            off <= tolerance,
            "transport along {longest:e} lands {off:e} off the tangent space"
        );
    }
}

/// Sizes in the hundreds of thousands of millions, which only an empty or a
/// broadcast view can have, are refused before memory is allocated.
#[test]
fn unaddressable_sizes_are_refused() {
    let nothing = Array2::<f64>::zeros((0, 1 << 40));
    let rule = RankRule::Fixed(1);
    assert!(embed_batch(&[nothing.view()], rule, Flatten::Upper).is_err());
    assert!(project_batch(&[nothing.view()], rule).is_err());
    let mut factors = Factors::new();
    let mut workspace = Workspace::new();
    assert!(factors.compute(nothing.view(), rule, &mut workspace).is_err());
    assert!(
        factors
            .embed_into(Flatten::Upper, &mut [0.0f64; 3], &mut workspace)
            .is_err()
    );
}

/// Singular values down in the noise, tied there, or zero: nothing is divided
/// by them.
#[test]
fn ties_in_the_noise_are_finite() {
    fn check<T: egg_geometry::Scalar>(noise: f64) {
        let diagonal = [1.0, 1.07 * noise, 0.6 * noise, 0.07 * noise, 0.0, 0.0];
        let mut h = Array2::<T>::zeros((6, 7));
        for (index, value) in diagonal.into_iter().enumerate() {
            h[[index, index]] = T::rounded(value);
        }
        let w = Array2::from_shape_fn((7, 7), |(i, j)| T::rounded((i * 3 + j) as f64 / 10.0));
        let mut workspace = Workspace::new();
        for h in [
            h.view(),
            h.slice(ndarray::s![..;-1, ..]),
            h.slice(ndarray::s![..4, ..]),
        ] {
            let mut factors = Factors::new();
            factors.compute(h, RankRule::Fixed(2), &mut workspace).unwrap();
            assert_eq!((factors.choice().p, factors.choice().numerical_rank), (2, 2));
            assert!(factors.projector::<T>().iter().all(|entry| entry.is_finite()));
            let gradient = factors.gradient(h, w.view(), &mut workspace).unwrap();
            assert!(gradient.iter().all(|entry| entry.is_finite()));
        }
    }
    check::<f32>(2.0 * f64::from(f32::EPSILON));
    check::<f64>(16.0 * f64::EPSILON);
}
