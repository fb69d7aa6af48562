//! Principal angles and the projection distance.

use approx::assert_abs_diff_eq;
use candle_core::{Device, Tensor, Var};
use egg_autodiff::{RankRule, principal_angles, projection_distance, projector, svd};

use crate::differences::{agrees, flat, normal, orthonormal};

#[test]
fn angle_gradients_match_differences() {
    for (p, q) in [(2, 2), (1, 3), (3, 1), (3, 3), (1, 1)] {
        let (a, b) = (normal(6, p, 1), normal(6, q, 2));
        let what = format!("{p} and {q}");
        agrees(&what, &a, |a| principal_angles(a, &b));
        agrees(&what, &b, |b| principal_angles(&a, b));
        agrees(&what, &a, |a| projection_distance(a, &b));
        agrees(&what, &b, |b| projection_distance(&a, b));
        // The rotation of the basis does not matter.
        agrees(&what, &a, |x| {
            Ok(projection_distance(&x.matmul(&normal(p, p, 3))?, &b)?.sqr()?)
        });
    }
}

#[test]
fn projection_distance_matches_the_projectors() {
    let (a, b) = (normal(7, 3, 4), normal(7, 3, 5));
    let distance = projection_distance(&a, &b).unwrap().to_scalar::<f64>().unwrap();
    let onto = |x: &Tensor| projector(&x.t().unwrap(), RankRule::Fixed(3)).unwrap();
    let square = (onto(&a) - onto(&b))
        .unwrap()
        .sqr()
        .unwrap()
        .sum_all()
        .unwrap()
        .to_scalar::<f64>()
        .unwrap();
    assert_abs_diff_eq!(distance, (square / 2.0).sqrt(), epsilon = 1e-14);
}

#[test]
fn squared_angles_are_smooth_at_zero() {
    let a = Var::from_tensor(&normal(6, 2, 6)).unwrap();
    // The same subspace by another basis; nearly the same; and one angle only.
    let same = a.matmul(&normal(2, 2, 7)).unwrap();
    let nearly = (a.as_tensor() + normal(6, 2, 8) * 1e-9).unwrap();
    let shared = Tensor::cat(&[a.narrow(1, 0, 1).unwrap(), normal(6, 1, 9)], 1)
        .unwrap()
        .detach();
    for (b, bound) in [(&same, 1e-13), (&nearly, 1e-7), (&shared, 10.0)] {
        let b = b.detach();
        for loss in [
            principal_angles(&a, &b)
                .unwrap()
                .sqr()
                .unwrap()
                .sum_all()
                .unwrap(),
            projection_distance(&a, &b).unwrap().sqr().unwrap(),
        ] {
            let gradient = flat(loss.backward().unwrap().get(&a).unwrap());
            assert!(gradient.iter().all(|entry| entry.abs() < bound), "{gradient:?}");
        }
    }
}

#[test]
fn data_matrices_are_compared_by_leading_directions() {
    // Ties among the kept values do no harm: the loss doesn't see them.
    let h = crate::differences::with_singular_values(8, 5, &[3.0, 3.0, 0.5, 0.2, 0.1], 10);
    let b = orthonormal(5, 2, 11);
    agrees("through the SVD", &h, |h| {
        Ok(projection_distance(&svd(h)?.2.narrow(1, 0, 2)?, &b)?.sqr()?)
    });
}

#[test]
fn gradients_at_right_angles_are_finite() {
    let a = Var::new(&[[1f32, 0.0], [0.0, 1.0], [0.0, 0.0], [0.0, 0.0]], &Device::Cpu).unwrap();
    let b = Tensor::new(&[[0f32, 0.0], [0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], &Device::Cpu).unwrap();
    let angles = principal_angles(&a, &b).unwrap();
    assert_eq!(flat(&angles), [f64::from(std::f32::consts::FRAC_PI_2); 2]);
    let gradients = angles.sum_all().unwrap().backward().unwrap();
    assert!(
        flat(gradients.get(&a).unwrap())
            .iter()
            .all(|entry| entry.is_finite())
    );
}

/// Where single angles are tied, or are at an endpoint of their range, a
/// loss that treats them alike still has a derivative.
#[test]
fn smooth_losses_match_differences_at_degenerate_angles() {
    let basis = orthonormal(7, 6, 20);
    let (first, second) = (basis.narrow(1, 0, 2).unwrap(), basis.narrow(1, 2, 2).unwrap());
    let at = |angle: f64| ((&first * angle.cos()).unwrap() + (&second * angle.sin()).unwrap()).unwrap();
    let scaled = |factor: f64| (normal(7, 2, 21) * factor).unwrap();
    for (what, a, b) in [
        ("equal angles", first.clone(), at(0.7)),
        ("equal and small", first.clone(), at(1e-2)),
        (
            "more directions than fit apart",
            normal(7, 5, 22),
            normal(7, 4, 23),
        ),
        ("small numbers", scaled(1e-30), normal(7, 2, 24)),
        ("large numbers", scaled(1e30), normal(7, 2, 24)),
    ] {
        agrees(what, &a, |a| Ok(projection_distance(a, &b)?.sqr()?));
        agrees(what, &a, |a| {
            Ok(principal_angles(a, &b)?.cos()?.sqr()?.sum_all()?)
        });
    }
}

/// The squares of sines are largest and least there.
#[test]
fn squared_sines_are_stationary_at_right_angles_and_at_zero() {
    let basis = orthonormal(7, 4, 25);
    let a = Var::from_tensor(&basis.narrow(1, 0, 2).unwrap()).unwrap();
    for b in [basis.narrow(1, 2, 2).unwrap(), basis.narrow(1, 0, 2).unwrap()] {
        let square = projection_distance(&a, &b).unwrap().sqr().unwrap();
        let gradient = flat(square.backward().unwrap().get(&a).unwrap());
        assert!(gradient.iter().all(|entry| entry.abs() < 1e-14), "{gradient:?}");
    }
}
