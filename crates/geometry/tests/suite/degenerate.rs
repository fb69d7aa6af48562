//! Degenerate cases of Gr(p, m), and matrices with unusual memory layouts.

use crate::strategies::{gaussian, orthonormal, projectors_apart, random_point, rebased, rng};
use approx::{abs_diff_eq, assert_abs_diff_eq};
use egg_geometry::{
    CentreKind, Distance, Extension, Flatten, GrassmannKMeans, GrassmannPoint, Kernel, RankRule,
    cross_distances, distance, distance_matrix, extrinsic_mean, karcher_mean, nearest_neighbours,
    nearest_point, principal_angles, principal_vectors, rectify, rectify_nodes,
};
use ndarray::{Array2, ArrayView2, ShapeBuilder, array, s};

/// Gr(m, m) has one point: every function works there, and every distance is 0.
fn check_whole_space(m: usize) {
    let made = [
        GrassmannPoint::from_orthonormal(orthonormal(m, m, 1)).unwrap(),
        GrassmannPoint::from_spanning((gaussian(m, m, 2) + Array2::<f64>::eye(m) * 9.0).view()).unwrap(),
        GrassmannPoint::from_data((Array2::<f64>::eye(m) * 3.0).view(), RankRule::Fixed(m)).unwrap(),
        GrassmannPoint::from_projector(Array2::<f64>::eye(m).view()).unwrap(),
        GrassmannPoint::random(m, m, &mut rng(3)).unwrap(),
    ];
    let mean = extrinsic_mean(&made, m).unwrap().point;
    let karcher = karcher_mean(&made).unwrap().point;
    let nearest = nearest_point(gaussian(m, m, 4).dot(&gaussian(m, m, 4).t()).view(), m)
        .unwrap()
        .point;
    let all: Vec<_> = made.into_iter().chain([mean, karcher, nearest]).collect();
    for a in &all {
        for b in &all {
            for &kind in Distance::ALL {
                assert!(
                    distance(a, b, kind).unwrap() <= 1e-14 * m as f64,
                    "{}",
                    kind.name()
                );
            }
            let pairs = principal_vectors(a, b).unwrap();
            assert_abs_diff_eq!(pairs.left, pairs.right, epsilon = 1e-14);
            assert_abs_diff_eq!(Kernel::BinetCauchy.value(a, b).unwrap(), 1.0, epsilon = 1e-14);
            let d = a.log(b).unwrap();
            assert!(d.norm() <= 1e-14);
            for there in [
                a.exp(&d),
                a.retract_qr(&d),
                a.retract_polar(&d),
                a.geodesic(b, 0.3),
            ] {
                assert!(projectors_apart(&there.unwrap(), b) <= 1e-14);
            }
            assert!(a.inverse_retract(b).unwrap().norm() <= 1e-14);
            assert!(a.transport(&d, &d).unwrap().norm() <= 1e-14);
        }
    }
    assert!(
        distance_matrix(&all, Distance::Geodesic, Extension::YeLim)
            .unwrap()
            .iter()
            .all(|d| *d <= 1e-14)
    );
    assert!(
        cross_distances(&all, &all, Distance::Projection, Extension::YeLim)
            .unwrap()
            .iter()
            .all(|d| *d <= 1e-14)
    );
    nearest_neighbours(&all, &all, 3, Distance::Geodesic, Extension::YeLim).unwrap();
    for centre in [CentreKind::Extrinsic, CentreKind::Karcher] {
        let found = GrassmannKMeans {
            centre,
            ..GrassmannKMeans::new(2)
        }
        .fit(&all, &mut rng(5))
        .unwrap();
        assert!(found.inertia <= 1e-25);
    }
}

#[test]
fn one_dimensional_space_is_supported() {
    check_whole_space(1);
}

#[test]
fn plane_and_larger_spaces_are_supported() {
    for m in 2..6 {
        check_whole_space(m);
    }
}

#[test]
fn one_by_one_matrices_are_supported() {
    for value in [2.0, -1e-200, 1e200] {
        for rectified in [
            rectify(array![[value]].view(), RankRule::Energy(0.5)).unwrap(),
            rectify_nodes(array![[value]].view(), RankRule::Ratio(0.5)).unwrap(),
        ] {
            assert_eq!(rectified.projector(), array![[1.0]]);
            assert_eq!(rectified.singular_values, array![f64::abs(value)]);
            let point = rectified.point().unwrap();
            assert_eq!(principal_angles(&point, &point).unwrap(), array![0.0]);
            assert!(matches!(
                point.complement(),
                Err(egg_geometry::Error::ZeroSubspace)
            ));
        }
    }
}

/// Calls `check` with the same values in other memory: column by column, every
/// other entry of a larger matrix, and backwards.
fn for_every_layout(a: &Array2<f64>, mut check: impl FnMut(&str, ArrayView2<'_, f64>)) {
    let (n, m) = a.dim();
    let mut column_major = Array2::zeros((n, m).f());
    column_major.assign(a);
    check("column-major", column_major.view());

    let mut larger = Array2::from_elem((2 * n + 1, 3 * m + 1), f64::NAN);
    larger.slice_mut(s![1..;2, 1..;3]).assign(a);
    check("strided", larger.slice(s![1..;2, 1..;3]));

    let turned = Array2::from_shape_fn((n, m), |(row, column)| a[[n - 1 - row, m - 1 - column]]);
    check("backwards", turned.slice(s![..;-1, ..;-1]));
}

#[test]
fn results_are_independent_of_memory_layout() {
    for (seed, (n, m, p)) in [(7, 4, 2), (3, 5, 1), (5, 5, 3), (1, 4, 1), (4, 1, 1), (1, 1, 1)]
        .into_iter()
        .enumerate()
    {
        let seed = seed as u64;
        let h = gaussian(n, m, seed);
        let raw = gaussian(m, m, seed + 20);
        let symmetric = &raw + &raw.t();
        let point = random_point(m, p, seed + 40);
        let plain = rectify(h.view(), RankRule::Fixed(p)).unwrap().projector();
        let nodes = rectify_nodes(h.view(), RankRule::Fixed(p)).unwrap().projector();
        for_every_layout(&h, |name, view| {
            assert_eq!(view, h, "{name}");
            let again = rectify(view, RankRule::Fixed(p)).unwrap().projector();
            assert!(abs_diff_eq!(again, plain, epsilon = 1e-13), "rectify, {name}");
            let again = rectify_nodes(view, RankRule::Fixed(p)).unwrap().projector();
            assert!(
                abs_diff_eq!(again, nodes, epsilon = 1e-13),
                "rectify_nodes, {name}"
            );
        });
        for_every_layout(&symmetric, |name, view| {
            let (a, b) = (
                nearest_point(view, p).unwrap(),
                nearest_point(symmetric.view(), p).unwrap(),
            );
            assert!(
                projectors_apart(&a.point, &b.point) <= 1e-12,
                "nearest_point, {name}"
            );
            let flat = Flatten::Upper.flatten(view).unwrap();
            assert_eq!(
                flat,
                Flatten::Upper.flatten(symmetric.view()).unwrap(),
                "flatten, {name}"
            );
        });
        for_every_layout(&point.projector(), |name, view| {
            let again = GrassmannPoint::from_projector(view).unwrap();
            assert!(
                projectors_apart(&again, &point) <= 1e-13,
                "from_projector, {name}"
            );
        });
        let spanning = point.basis().dot(&(orthonormal(p, p, seed) * 3.0));
        let other = random_point(m, p, seed + 60);
        let step = other
            .project_to_tangent(gaussian(m, p, seed + 80).view())
            .unwrap()
            .scaled(0.1);
        for_every_layout(&spanning, |name, view| {
            let again = GrassmannPoint::from_spanning(view).unwrap();
            assert!(projectors_apart(&again, &point) <= 1e-13, "from_spanning, {name}");
            let tangent = point.project_to_tangent(view).unwrap();
            assert!(tangent.norm() <= 1e-13, "project_to_tangent, {name}");
        });
        // A point keeps the layout of its basis; every function accepts it.
        for_every_layout(&point.basis().to_owned(), |name, view| {
            for basis in [view.to_owned(), view.reversed_axes().to_owned().reversed_axes()] {
                let odd = GrassmannPoint::from_orthonormal(basis).unwrap();
                assert!(
                    projectors_apart(&odd, &point) <= 1e-13,
                    "from_orthonormal, {name}"
                );
                assert!(
                    distance(&odd, &point, Distance::Geodesic).unwrap() <= 1e-13,
                    "distance, {name}"
                );
                principal_vectors(&odd, &other).unwrap();
                karcher_mean(&[odd.clone(), rebased(&odd, 1)]).unwrap();
                extrinsic_mean(&[odd.clone(), other.clone()], p).unwrap();
                let d = odd.log(&rebased(&odd, 2)).unwrap();
                odd.exp(&d).unwrap();
                distance_matrix(
                    &[odd.clone(), other.clone()],
                    Distance::Projection,
                    Extension::YeLim,
                )
                .unwrap();
                Kernel::BinetCauchy.value(&odd, &other).unwrap();
                assert_eq!(odd.embed(Flatten::Upper).len(), Flatten::length(m));
            }
        });
        for_every_layout(&step.matrix().to_owned(), |name, view| {
            let d = other.tangent(view.to_owned()).unwrap();
            for (a, b) in [
                (other.exp(&d), other.exp(&step)),
                (other.retract_qr(&d), other.retract_qr(&step)),
                (other.retract_polar(&d), other.retract_polar(&step)),
            ] {
                assert!(
                    projectors_apart(&a.unwrap(), &b.unwrap()) <= 1e-13,
                    "tangent, {name}"
                );
            }
        });
    }
}

/// One row for all, without copies: strides of zero.
#[test]
fn broadcast_views_are_accepted() {
    let row = array![1.0, 2.0, 2.0];
    let repeated = row.broadcast((5, 3)).unwrap();
    let rectified = rectify(repeated, RankRule::Relative(0.1)).unwrap();
    assert_eq!(rectified.choice.p, 1);
    assert_abs_diff_eq!(rectified.singular_values[0], 3.0 * 5f64.sqrt(), epsilon = 1e-13);
    let ones = ndarray::arr0(1.0);
    let rectified = rectify(ones.broadcast((4, 2)).unwrap(), RankRule::Fixed(2)).unwrap();
    assert_eq!((rectified.choice.p, rectified.choice.numerical_rank), (1, 1));
    let line = GrassmannPoint::from_spanning(ones.broadcast((4, 1)).unwrap()).unwrap();
    assert_abs_diff_eq!(line.projector(), Array2::from_elem((4, 4), 0.25), epsilon = 1e-15);
    let single = GrassmannPoint::from_spanning(ones.broadcast((1, 1)).unwrap()).unwrap();
    assert_eq!(single.projector(), array![[1.0]]);
}
