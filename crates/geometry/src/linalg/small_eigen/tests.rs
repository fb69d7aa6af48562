//! Residuals of the defining equations, for spectra and shapes that are difficult for QL
//! iterations.

use ndarray::{Array1, Array2, ArrayView2};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{Decomposition, Definiteness, SmallEigen, SolveWorkspace, TridiagonalForm};
use crate::GrassmannPoint;
use crate::tuning::speed::SMALL_EIGEN_ORDER;

/// How far `Z^T Lambda Z` is from A and `Z Z^T` from 1, in units of
/// `eps order |A|` and `eps order`.
fn defects(a: &Array2<f64>, memory: &mut SmallEigen) -> (f64, f64) {
    defects_with(a, Definiteness::Unknown, memory)
}

fn defects_with(a: &Array2<f64>, definiteness: Definiteness, memory: &mut SmallEigen) -> (f64, f64) {
    let order = a.nrows();
    let mut rows: Vec<f64> = a.iter().copied().collect();
    let mut eigen = memory
        .decompose(order, &rows, definiteness)
        .expect("no convergence");
    let values: Vec<f64> = eigen.values().collect();
    eigen.all_vectors(&mut rows);
    assert!(
        values.windows(2).all(|pair| pair[0] <= pair[1]),
        "not ascending: {values:?}"
    );
    let rows = ArrayView2::from_shape((order, order), &rows).unwrap();
    let values = ndarray::Array1::from_vec(values);
    assert_some_are_those_of_all(rows, &mut eigen);
    let norm = a
        .iter()
        .fold(f64::MIN_POSITIVE, |most, entry| most.max(entry.abs()));
    // Divided first, so that no scale overflows in the check.
    let rebuilt = (&rows.t() * &(&values / norm)).dot(&rows);
    let unit = f64::EPSILON * order as f64;
    (
        largest(&(rebuilt - a / norm)) / unit,
        largest(&(rows.dot(&rows.t()) - Array2::<f64>::eye(order))) / unit,
    )
}

/// Eigenvalues, and eigenvectors in the place of the matrix; false if it does not converge.
fn eigh_in_place(order: usize, a: &mut [f64], values: &mut [f64], memory: &mut SmallEigen) -> bool {
    let Some(mut eigen) = memory.decompose(order, a, Definiteness::Unknown) else {
        return false;
    };
    for (to, from) in values.iter_mut().zip(eigen.values()) {
        *to = from;
    }
    eigen.all_vectors(a);
    true
}

/// Some vectors equal those of the full decomposition bit for bit, ties included: they are products
/// of the same rotations.
#[track_caller]
fn assert_some_are_those_of_all(all: ArrayView2<'_, f64>, eigen: &mut Decomposition<'_>) {
    let order = all.nrows();
    for count in [1, 2, 8, 9, 17, order] {
        let count = count.min(order);
        let mut some = Array2::from_elem((count, order), f64::NAN);
        eigen.largest_vectors(some.as_slice_mut().unwrap());
        for (i, row) in some.rows().into_iter().enumerate() {
            let apart = &row - &all.row(order - 1 - i);
            let apart = largest(&apart.insert_axis(ndarray::Axis(0))) / (f64::EPSILON * order as f64);
            assert!(apart <= 8.0, "vector {i} of {count}, order {order}: {apart}");
        }
    }
}

fn largest(a: &Array2<f64>) -> f64 {
    a.iter().fold(0.0, |most, entry| {
        if entry.is_nan() {
            f64::NAN
        } else {
            f64::max(most, entry.abs())
        }
    })
}

#[track_caller]
fn assert_decomposed(a: &Array2<f64>, memory: &mut SmallEigen) {
    let (residual, orthogonality) = defects(a, memory);
    assert!(
        residual <= 8.0 && orthogonality <= 8.0,
        "residual {residual}, orthogonality {orthogonality} for {a:?}"
    );
}

/// A matrix with these eigenvalues, exactly symmetric.
fn with_eigenvalues(values: &[f64], rng: &mut ChaCha8Rng) -> Array2<f64> {
    let order = values.len();
    let basis = GrassmannPoint::<f64>::random(order, order, rng).unwrap();
    let a = (&basis.basis() * &ndarray::ArrayView1::from(values)).dot(&basis.basis().t());
    (&a + &a.t()) / 2.0
}

#[test]
fn every_order_is_decomposed() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut memory = SmallEigen::default();
    for order in (1..=SMALL_EIGEN_ORDER).rev() {
        let a = Array2::from_shape_simple_fn((order, order), || rng.random_range(-1.0..1.0));
        assert_decomposed(&(&a + &a.t()), &mut memory);
    }
}

/// Squares of such small entries are subnormal and have few digits, or none. (Found by random
/// input: the vectors were orthogonal to 1e-6.)
#[test]
fn entries_with_subnormal_squares_are_decomposed() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let mut memory = SmallEigen::default();
    for exponent in [
        -130, -139, -141, -150, -154, -158, -159, -160, -161, -162, -170, -300, -320,
    ] {
        for order in [3, 5, 8, 20] {
            let small = 10f64.powi(exponent);
            let a = Array2::from_shape_fn((order, order), |(row, column)| match row == column {
                true => 1.0 + (row % 2) as f64,
                false => small * rng.random_range(-1.0..1.0),
            });
            assert_decomposed(&((&a + &a.t()) / 2.0), &mut memory);
        }
    }
}

#[test]
fn difficult_spectra_are_decomposed() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let mut memory = SmallEigen::default();
    for order in [2, 3, 7, 8, 9, 16, 31, 64, 65] {
        let spectra: [Vec<f64>; 9] = [
            vec![1.0; order],                                                  // all tied
            (0..order).map(|i| f64::from(i % 2 == 0)).collect(),               // two groups
            (0..order).map(|i| f64::from(i == 0)).collect(),                   // rank 1
            (0..order).map(|i| 10f64.powi(-(i as i32))).collect(),             // graded
            (0..order).map(|i| 10f64.powi(i as i32 - order as i32)).collect(), // the other way
            (0..order).map(|i| 1.0 + i as f64 * f64::EPSILON).collect(),       // a tight cluster
            (0..order).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect(), // both signs
            (0..order)
                .map(|i| if i < order / 2 { 1.0 } else { 1e-17 })
                .collect(), // half of it noise
            (0..order)
                .map(|i| (i as f64 / 3.0).floor() + 1e-12 * i as f64)
                .collect(), // near ties
        ];
        for values in &spectra {
            assert_decomposed(&with_eigenvalues(values, &mut rng), &mut memory);
        }
    }
}

#[test]
fn structured_matrices_are_decomposed() {
    let mut memory = SmallEigen::default();
    for order in [1, 2, 5, 8, 17, 64] {
        let line = |value: &dyn Fn(usize, usize) -> f64| {
            Array2::from_shape_fn((order, order), |(i, j)| value(i.min(j), i.max(j)))
        };
        for a in [
            Array2::zeros((order, order)),
            Array2::eye(order),
            Array2::ones((order, order)),
            // Tridiagonal already; Wilkinson's pairs; an arrow; a block that splits.
            line(&|i, j| if i == j { 2.0 } else { -f64::from(j == i + 1) }),
            line(&|i, j| {
                if i == j {
                    (i as f64 - order as f64 / 2.0).abs()
                } else {
                    f64::from(j == i + 1)
                }
            }),
            line(&|i, j| if i == j { j as f64 } else { f64::from(i == 0) }),
            line(&|i, j| f64::from((i < order / 2) == (j < order / 2))),
            // A zero where the rotation divides: the shift is an eigenvalue.
            line(&|i, j| if i == j { 0.0 } else { f64::from(j == i + 1) }),
            // The other diagonal.
            Array2::from_shape_fn((order, order), |(i, j)| f64::from(i + j + 1 == order)),
        ] {
            assert_decomposed(&a, &mut memory);
        }
    }
}

#[test]
fn matrices_of_any_scale_are_decomposed() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let mut memory = SmallEigen::default();
    let a = with_eigenvalues(&[3.0, 2.0, 1.0, 0.5, 1e-9], &mut rng);
    for scale in [1e-307, 1e-160, 1e-30, 1e30, 1e150, 5e306] {
        assert_decomposed(&(&a * scale), &mut memory);
    }
    // Subnormal numbers have few digits, but are valid.
    let mut rows = [5e-324, 0.0, 0.0, 5e-324];
    let mut values = [f64::NAN; 2];
    assert!(eigh_in_place(2, &mut rows, &mut values, &mut memory));
    assert_eq!((rows, values), ([0.0, 1.0, 1.0, 0.0], [5e-324; 2]));
}

#[test]
fn reused_memory_changes_no_bit() {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let mut used = SmallEigen::default();
    for order in [40, 3, 17, 64, 1, 9] {
        let a = Array2::from_shape_simple_fn((order, order), || rng.random_range(-1.0..1.0));
        let a: Vec<f64> = (&a + &a.t()).into_iter().collect();
        let decompose = |memory: &mut SmallEigen| {
            let (mut rows, mut values) = (a.clone(), vec![0.0; order]);
            assert!(eigh_in_place(order, &mut rows, &mut values, memory));
            (rows, values)
        };
        assert_eq!(decompose(&mut used), decompose(&mut SmallEigen::default()));
    }
}

proptest! {
    #[test]
    fn gram_matrices_are_decomposed(
        seed: u64,
        rows in 0..40usize,
        order in 1..40usize,
        repeated: bool,
        decay in 0.0..8.0f64,
    ) {
        // As from graphs: behind a ReLU, few rows, repeated rows.
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut h = Array2::from_shape_simple_fn((rows, order), || rng.random_range(-1.0..1.0f64).max(0.0));
        for (column, mut entries) in h.columns_mut().into_iter().enumerate() {
            entries *= (-decay * column as f64 / order as f64).exp();
        }
        if repeated && rows > 1 {
            let first = h.row(0).to_owned();
            h.row_mut(rows - 1).assign(&first);
        }
        let mut memory = SmallEigen::default();
        for definiteness in [Definiteness::Unknown, Definiteness::Semidefinite] {
            let (residual, orthogonality) = defects_with(&h.t().dot(&h), definiteness, &mut memory);
            prop_assert!(residual <= 8.0 && orthogonality <= 8.0, "{residual} {orthogonality}");
        }
    }
}

/// The reduction of a semidefinite matrix stops at its numerical rank, and what it leaves out is rounding.
#[test]
fn rank_deficient_reduction_stops_early() {
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    let mut memory = SmallEigen::default();
    for order in [2, 7, 8, 30, 64, 100] {
        for rank in [0, 1, 2, 5, order] {
            let h = Array2::from_shape_simple_fn((rank, order), || rng.random_range(-1.0..1.0f64));
            let a = h.t().dot(&h);
            let (residual, orthogonality) = defects_with(&a, Definiteness::Semidefinite, &mut memory);
            assert!(
                residual <= 8.0 && orthogonality <= 8.0,
                "{residual} {orthogonality}"
            );
            let reflections = memory.form.tau.iter().filter(|tau| **tau != 0.0).count();
            assert!(
                reflections <= rank + 1,
                "{reflections} reflections for rank {rank} of {order}"
            );
        }
    }
}

/// `(lambda - A) x = b` with an eigenvalue for lambda and b orthogonal to its eigenvector,
/// against the sum over all the others.
#[test]
fn solve_at_an_eigenvalue_matches_the_spectral_sum() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let (mut memory, mut workspace) = (SmallEigen::default(), SolveWorkspace::default());
    let mut form = TridiagonalForm::default();
    for order in [2, 3, 8, 9, 30, 64, 128] {
        let spectra: [Vec<f64>; 4] = [
            (0..order).map(|i| 1.0 / (1.0 + i as f64)).collect(),
            // Neither rank nor ties of the others matter.
            (0..order).map(|i| f64::from(i == 0)).collect(),
            (0..order).map(|i| if i == 0 { 3.0 } else { 1.0 }).collect(),
            (0..order).map(|i| 10f64.powi(100 - i as i32)).collect(),
        ];
        for (spectrum, definiteness) in spectra.iter().flat_map(|spectrum| {
            [
                (spectrum, Definiteness::Unknown),
                (spectrum, Definiteness::Semidefinite),
            ]
        }) {
            let a = with_eigenvalues(spectrum, &mut rng);
            let mut vectors: Vec<f64> = a.iter().copied().collect();
            let mut eigen = memory.decompose(order, &vectors, definiteness).unwrap();
            let values: Vec<f64> = eigen.values().collect();
            eigen.all_vectors(&mut vectors);
            eigen.into_tridiagonal(&mut form);
            let vectors = ArrayView2::from_shape((order, order), &vectors).unwrap();
            let (lambda, kept) = (values[order - 1], vectors.row(order - 1));
            let take_out_kept = |x: &mut Array1<f64>| {
                let along = x.dot(&kept);
                x.scaled_add(-along, &kept);
            };
            let mut b = Array1::from_shape_simple_fn(order, || rng.random_range(-1.0..1.0));
            take_out_kept(&mut b);
            let mut expected = Array1::zeros(order);
            for (vector, value) in vectors.rows().into_iter().zip(&values).take(order - 1) {
                expected.scaled_add(b.dot(&vector) / (lambda - value), &vector);
            }
            // Among others: each row has its own lambda.
            let mut rows = Array2::from_shape_fn((3, order), |(_, column)| b[column]);
            let lambdas = [2.0 * lambda, lambda, 1.5 * lambda];
            form.solve(&lambdas, rows.as_slice_mut().unwrap(), &mut workspace);
            let mut x = rows.row(1).to_owned();
            take_out_kept(&mut x);
            let apart = (&x - &expected).dot(&(&x - &expected)).sqrt() / expected.dot(&expected).sqrt();
            let gap = (lambda - values[order - 2]) / lambda;
            assert!(
                apart * gap < 1e-14 * order as f64,
                "order {order}, {:?}: {apart}",
                &spectrum[..2]
            );
        }
    }
}
