//! Invalid bases, projectors and flattened matrices: every function
//! refuses them with the error its documentation names, and the message has
//! the numbers.

use crate::refusal::{NOT_NUMBERS, empty, with};
use crate::strategies::{orthonormal, random_point, rng};
use approx::abs_diff_eq;
use egg_geometry::*;
use ndarray::{Array1, Array2, arr1, array};

#[test]
fn invalid_bases_are_refused() {
    for value in NOT_NUMBERS {
        let basis = with(3, 1, (2, 0), value);
        refused!(
            GrassmannPoint::from_orthonormal(basis.clone()),
            Error::NonFinite {
                row: 2,
                column: 0,
                ..
            },
            2,
            value
        );
        refused!(
            GrassmannPoint::from_spanning(basis.view()),
            Error::NonFinite {
                row: 2,
                column: 0,
                ..
            },
            2,
            value
        );
        let p = with(2, 2, (0, 1), value);
        refused!(
            GrassmannPoint::from_projector(p.view()),
            Error::NonFinite {
                row: 0,
                column: 1,
                ..
            },
            value
        );
    }
    for a in empty() {
        let (m, p) = a.dim();
        let expected = |error: &Error| match error {
            Error::Empty { rows, columns, .. } => (*rows, *columns) == (m, p),
            Error::DimensionOutOfRange { dimension, ambient } => m > 0 && (*dimension, *ambient) == (p, m),
            _ => false,
        };
        refused!(GrassmannPoint::from_orthonormal(a.clone()), error if expected(error), p);
        refused!(GrassmannPoint::from_spanning(a.view()), error if expected(error), p);
        refused!(
            GrassmannPoint::from_projector(a.view()),
            Error::Empty { .. } | Error::Shape { .. },
            m,
            p
        );
    }
    let wide = Array2::from_elem((2, 3), 1.0);
    refused!(
        GrassmannPoint::from_orthonormal(wide.clone()),
        Error::DimensionOutOfRange {
            dimension: 3,
            ambient: 2
        },
        3,
        2
    );
    refused!(
        GrassmannPoint::from_spanning(wide.view()),
        Error::DimensionOutOfRange {
            dimension: 3,
            ambient: 2
        },
        3,
        2
    );
    for (m, p) in [(3, 0), (3, 4), (0, 0), (0, 1)] {
        refused!(GrassmannPoint::<f64>::random(m, p, &mut rng(0)),
            Error::DimensionOutOfRange { dimension, ambient } if (*dimension, *ambient) == (p, m), m, p);
    }

    let mut skew = orthonormal(5, 2, 3);
    skew.column_mut(1).mapv_inplace(|entry| entry * 1.001);
    refused!(GrassmannPoint::from_orthonormal(skew.clone()),
        Error::NotOrthonormal { deviation, tolerance }
            if abs_diff_eq!(*deviation, 2.001e-3, epsilon = 1e-12)
                && abs_diff_eq!(*tolerance, 16.0 * f64::EPSILON * 21.0, epsilon = 1e-25),
        "2.00", "e-3", "from_spanning");
    let tight = skew.mapv(|entry| entry * (1.0 + 1e-12));
    refused!(
        GrassmannPoint::from_orthonormal(tight),
        Error::NotOrthonormal { .. },
        "e-3"
    );
    let barely = orthonormal(5, 2, 3) * (1.0 + 1e-12);
    refused!(
        GrassmannPoint::from_orthonormal(barely),
        Error::NotOrthonormal { .. },
        "e-12"
    );

    let dependent = array![[1.0, 2.0, 0.0], [1.0, 2.0, 1.0], [1.0, 2.0, 0.0], [0.0, 0.0, 5.0]];
    refused!(
        GrassmannPoint::from_spanning(dependent.view()),
        Error::RankDeficient { rank: 2, columns: 3 },
        2,
        3
    );
    let none = Array2::<f64>::zeros((3, 2));
    refused!(
        GrassmannPoint::from_spanning(none.view()),
        Error::RankDeficient { rank: 0, columns: 2 },
        0,
        2
    );

    refused!(
        GrassmannPoint::from_projector(Array2::<f64>::zeros((2, 3)).view()),
        Error::Shape {
            found_rows: 2,
            found_columns: 3,
            ..
        },
        "2 x 3"
    );
    refused!(GrassmannPoint::from_projector(array![[1.0, 0.0], [0.25, 0.0]].view()),
        Error::NotSymmetric { row: 1, column: 0, difference, .. } if *difference == 0.25, 1, 0, "2.5e-1");
    refused!(GrassmannPoint::from_projector(array![[1.0, 0.0], [0.0, 0.3]].view()),
        Error::NotProjector { eigenvalue, .. } if abs_diff_eq!(*eigenvalue, 0.3, epsilon = 1e-12),
        "0.3", "nearest_point");
    refused!(GrassmannPoint::from_projector(array![[-1.0, 0.0], [0.0, 1.0]].view()),
        Error::NotProjector { eigenvalue, .. } if abs_diff_eq!(*eigenvalue, -1.0, epsilon = 1e-12), "-1");
    refused!(
        GrassmannPoint::from_projector(none.slice(ndarray::s![..2, ..]).view()),
        Error::ZeroSubspace,
        "zero"
    );
    refused!(random_point(3, 3, 0).complement(), Error::ZeroSubspace, "{0}");
}

#[test]
fn unflattenable_matrices_are_refused() {
    for flatten in [Flatten::Upper, Flatten::Isometric] {
        for a in empty() {
            refused!(
                flatten.flatten(a.view()),
                Error::Empty { .. } | Error::Shape { .. },
                a.nrows(),
                a.ncols()
            );
        }
        refused!(
            flatten.flatten(Array2::<f64>::zeros((2, 3)).view()),
            Error::Shape {
                found_rows: 2,
                found_columns: 3,
                ..
            },
            "2 x 3"
        );
        for value in NOT_NUMBERS {
            refused!(
                flatten.flatten(with(2, 2, (1, 0), value).view()),
                Error::NonFinite {
                    row: 1,
                    column: 0,
                    ..
                },
                value
            );
        }
        refused!(flatten.flatten(array![[1.0, 2.0], [2.5, 1.0]].view()),
            Error::NotSymmetric { row: 1, column: 0, difference, .. } if *difference == 0.5, "(1, 0)", "5e-1");
        for length in [0, 2, 4, 5, 7] {
            let flat = Array1::<f64>::zeros(length);
            refused!(flatten.unflatten(flat.view()), Error::Length { found, .. } if *found == length, length);
            refused!(flatten.gradient(flat.view()), Error::Length { found, .. } if *found == length, length);
            refused!(
                nearest_point_to_flat(flat.view(), flatten, 1),
                Error::Length { found, .. } if *found == length,
                length
            );
        }
        for p in [0, 3] {
            refused!(nearest_point_to_flat(arr1(&[1.0, 0.0, 0.0]).view(), flatten, p),
                Error::DimensionOutOfRange { dimension, ambient: 2 } if *dimension == p, p, 2);
        }
        refused!(
            nearest_point_to_flat(arr1(&[1.0, f64::NAN, 0.0]).view(), flatten, 1),
            Error::NonFinite { .. },
            "NaN"
        );
    }
    for length in [usize::MAX, usize::MAX / 8, usize::MAX / 8 + 1] {
        assert_eq!(Flatten::side(length), None);
    }
    assert_eq!(Flatten::side(0), Some(0));

    let square = Array2::<f64>::eye(3);
    for p in [0, 4] {
        refused!(
            nearest_point(square.view(), p),
            Error::DimensionOutOfRange { dimension, ambient: 3 } if *dimension == p,
            p, 3
        );
    }
    refused!(
        nearest_point(Array2::<f64>::zeros((2, 3)).view(), 1),
        Error::Shape { .. },
        "2 x 3"
    );
    refused!(
        nearest_point(array![[0.0, 1.0], [-1.0, 0.0]].view(), 1),
        Error::NotSymmetric { difference, .. } if *difference == 2.0,
        "2e0"
    );
    for a in empty() {
        refused!(
            nearest_point(a.view(), 1),
            Error::Empty { .. } | Error::Shape { .. },
            a.nrows(),
            a.ncols()
        );
    }
    for value in NOT_NUMBERS {
        refused!(
            nearest_point(with(2, 2, (1, 1), value).view(), 1),
            Error::NonFinite {
                row: 1,
                column: 1,
                ..
            },
            value
        );
    }
}
