//! Two subspaces from matrices with any bits, compared and moved.

use egg_geometry::{Distance, GrassmannPoint, Scalar, distance, nearest_point, principal_angles};
use ndarray::Array2;

use super::Target;
use super::decomposition::{Bits, RULES, check_projector, matrix, side};
use crate::outcome::Outcome;

pub(super) const TARGET: Target = Target {
    name: "subspaces",
    run,
    words: &[],
    reader: None,
};

/// Four bytes say how large, how cut and how precise; the rest are the entries
/// of both matrices.
fn run(input: &[u8]) -> Outcome {
    let [first, second, columns, rule, bytes @ ..] = input else {
        return Outcome::refused(&"nothing");
    };
    let sides = [side(*first % 240), side(*second % 240), side(*columns % 240)];
    match *rule >= 128 {
        true => exercise(&f64::from_bits_of(bytes), sides, *rule),
        false => exercise(&f32::from_bits_of(bytes), sides, *rule),
    }
}

fn exercise<T: Scalar>(numbers: &[T], [first, second, columns]: [usize; 3], rule: u8) -> Outcome {
    let rule = RULES[usize::from(rule) % RULES.len()];
    let half = numbers.len() / 2;
    let (left, right) = (
        matrix(&numbers[..half], first, columns),
        matrix(&numbers[half..], second, columns),
    );
    let points = [
        GrassmannPoint::from_data(left.view(), rule),
        GrassmannPoint::from_data(right.view(), rule),
    ];
    for (point, from) in points.iter().zip([&left, &right]) {
        if point.is_ok() {
            assert!(from.iter().all(|entry| entry.is_finite()));
        }
    }
    let (a, b) = match points {
        [Ok(a), Ok(b)] => (a, b),
        [Err(error), _] | [_, Err(error)] => return Outcome::refused(&format!("point: {error}")),
    };
    sound(&a);
    let angles = match principal_angles(&a, &b) {
        Ok(angles) => angles,
        Err(error) => panic!("no angles in R^{columns}: {error}"),
    };
    assert_eq!(angles.len(), a.dimension().min(b.dimension()));
    let most = T::rounded(std::f64::consts::FRAC_PI_2) * (T::one() + T::epsilon());
    assert!(
        angles.iter().all(|angle| *angle >= T::zero() && *angle <= most),
        "{angles}"
    );
    for kind in [
        Distance::Geodesic,
        Distance::Procrustes,
        Distance::FubiniStudy,
        Distance::Martin,
    ] {
        match (distance(&a, &b, kind), distance(&b, &a, kind)) {
            (Ok(there), Ok(back)) => {
                assert!(there >= T::zero(), "{kind:?} {there}");
                // Martin's is infinite at a right angle, and near it anything.
                if kind != Distance::Martin {
                    let apart = (there - back).abs().as_f64();
                    assert!(apart <= 64.0 * T::eps().sqrt(), "{kind:?} {there} and {back}");
                }
            }
            (Err(_), Err(_)) => {}
            (there, back) => panic!("{kind:?}: {there:?} one way and {back:?} the other"),
        }
    }
    let moved = moved(&a, &b);
    let nearest = nearest_point(a.projector().view(), a.dimension());
    assert!(nearest.is_ok(), "{nearest:?}");
    Outcome::read(&[columns, a.dimension(), b.dimension(), usize::from(moved)])
}

/// Goes from one to the other, where there is a way; whether there is.
fn moved<T: Scalar>(a: &GrassmannPoint<T>, b: &GrassmannPoint<T>) -> bool {
    let Ok(step) = a.log(b) else {
        return false;
    };
    assert!(step.matrix().iter().all(|entry| entry.is_finite()));
    for end in [
        a.exp(&step),
        a.retract_qr(&step),
        a.retract_polar(&step),
        a.geodesic(b, T::rounded(0.5)),
    ] {
        match end {
            Ok(end) => sound(&end),
            Err(error) => panic!("a step from a point to another is refused: {error}"),
        }
    }
    true
}

fn sound<T: Scalar>(point: &GrassmannPoint<T>) {
    let basis = point.basis().mapv(T::as_f64);
    let projector: Array2<f64> = basis.dot(&basis.t());
    let tolerance = 32.0 * T::eps() * (point.ambient() + point.dimension()) as f64;
    let halved = (&projector + &projector.t()) / 2.0;
    check_projector(&halved, point.dimension(), tolerance);
}
