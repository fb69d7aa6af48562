//! Each decomposition against its defining equations, on the active backend.

use ndarray::Array2;
use proptest::prelude::*;

use super::{Decompose, EighWorkspace, InvertWorkspace, eigh_in_place, invert_in_place};

fn matrix(rows: usize, columns: usize) -> impl Strategy<Value = Array2<f64>> {
    prop::collection::vec(-1.0..1.0f64, rows * columns)
        .prop_map(move |entries| Array2::from_shape_vec((rows, columns), entries).unwrap())
}

fn any_matrix() -> impl Strategy<Value = Array2<f64>> {
    (1..12usize, 1..12usize).prop_flat_map(|(rows, columns)| matrix(rows, columns))
}

fn close(a: &Array2<f64>, b: &Array2<f64>) -> bool {
    a.dim() == b.dim() && a.iter().zip(b).all(|(x, y)| (x - y).abs() < 1e-12)
}

proptest! {
    #[test]
    fn svd_reconstructs_the_matrix(a in any_matrix()) {
        let f = f64::svd(a.view()).unwrap();
        let k = a.nrows().min(a.ncols());
        prop_assert_eq!(f.u.dim(), (a.nrows(), k));
        prop_assert_eq!(f.vt.dim(), (k, a.ncols()));
        prop_assert!(f.s.windows(2).into_iter().all(|w| w[0] >= w[1]));
        prop_assert!(close(&(&f.u * &f.s).dot(&f.vt), &a));
        prop_assert!(close(&f.u.t().dot(&f.u), &Array2::eye(k)));
        let values = f64::singular_values(a.view()).unwrap();
        prop_assert!(values.iter().zip(&f.s).all(|(x, y)| (x - y).abs() < 1e-12));
    }

    #[test]
    fn qr_reconstructs_the_matrix(a in (1..12usize).prop_flat_map(|c| (c..13).prop_flat_map(move |r| matrix(r, c)))) {
        let (q, r) = f64::qr(a.view()).unwrap();
        prop_assert_eq!(q.dim(), a.dim());
        prop_assert!(close(&q.dot(&r), &a));
        prop_assert!(close(&q.t().dot(&q), &Array2::eye(a.ncols())));
    }

    #[test]
    fn eigenvectors_are_stored_as_rows(a in (1..12usize).prop_flat_map(|n| matrix(n, n))) {
        let symmetric = &a + &a.t();
        let (values, rows) = f64::eigh(symmetric.view()).unwrap();
        prop_assert!(values.windows(2).into_iter().all(|w| w[0] <= w[1]));
        prop_assert!(close(&(&rows.t() * &values).dot(&rows), &symmetric));

        let order = symmetric.nrows();
        let mut buffer: Vec<f64> = symmetric.iter().copied().collect();
        let mut in_place = vec![0.0; order];
        let mut workspace = EighWorkspace::default();
        eigh_in_place(order, &mut buffer, &mut in_place, &mut workspace).unwrap();
        let rows = Array2::from_shape_vec((order, order), buffer).unwrap();
        let values = ndarray::Array1::from_vec(in_place);
        prop_assert!(close(&(&rows.t() * &values).dot(&rows), &symmetric));
    }
}

proptest! {
    #[test]
    fn inverse_times_matrix_is_identity(a in (1..40usize).prop_flat_map(|n| matrix(n, n))) {
        let order = a.nrows();
        let definite = a.dot(&a.t()) + Array2::<f64>::eye(order);
        let mut workspace = InvertWorkspace::default();
        // Twice, the second time smaller, in the same memory.
        for order in [order, order.div_ceil(2)] {
            let definite = definite.slice(ndarray::s![..order, ..order]).to_owned();
            let mut buffer: Vec<f64> = definite.iter().copied().collect();
            invert_in_place(order, &mut buffer, &mut workspace).unwrap();
            let inverse = Array2::from_shape_vec((order, order), buffer).unwrap();
            prop_assert_eq!(&inverse, &inverse.t());
            prop_assert!(close(&inverse.dot(&definite), &Array2::eye(order)));
        }
    }
}

#[test]
fn inverse_error_grows_only_with_the_condition_number() {
    let mut workspace = InvertWorkspace::default();
    for order in [1usize, 2, 9, 64, 100, 128, 129] {
        // Hilbert's matrix, with 1 / (i + j + 1), and a shift that sets the condition.
        for shift in [1e-2, 1e-6, 1e-10] {
            let a = Array2::from_shape_fn((order, order), |(i, j)| {
                1.0 / (i + j + 1) as f64 + if i == j { shift } else { 0.0 }
            });
            let mut buffer: Vec<f64> = a.iter().copied().collect();
            invert_in_place(order, &mut buffer, &mut workspace).unwrap();
            let inverse = Array2::from_shape_vec((order, order), buffer).unwrap();
            let off = (inverse.dot(&a) - Array2::<f64>::eye(order))
                .iter()
                .fold(0.0f64, |most, entry| most.max(entry.abs()));
            let condition = a.row(0).sum() / shift;
            assert!(
                off <= f64::EPSILON * (order as f64) * condition,
                "{order} {shift:e}: {off:e}"
            );
        }
    }
}

#[test]
fn indefinite_matrix_has_no_inverse() {
    let mut workspace = InvertWorkspace::default();
    assert!(invert_in_place(2, &mut [1.0, 2.0, 2.0, 1.0], &mut workspace).is_err());
    assert!(invert_in_place(1, &mut [0.0], &mut workspace).is_err());
    assert!(invert_in_place(2, &mut [1.0; 3], &mut workspace).is_err());
    assert!(invert_in_place(0, &mut [], &mut workspace).is_ok());
}

#[test]
fn workspace_is_reusable_for_larger_and_smaller_orders() {
    let mut workspace = EighWorkspace::default();
    for order in [3, 9, 2, 40, 1] {
        let mut a: Vec<f64> = Array2::<f64>::eye(order).into_raw_vec_and_offset().0;
        let mut values = vec![0.0; order];
        eigh_in_place(order, &mut a, &mut values, &mut workspace).unwrap();
        assert!(values.iter().all(|value| (value - 1.0).abs() < 1e-15));
    }
}

#[test]
fn buffer_of_wrong_length_is_refused() {
    let mut workspace = EighWorkspace::default();
    assert!(eigh_in_place(3, &mut [0.0; 4], &mut [0.0; 3], &mut workspace).is_err());
    assert!(eigh_in_place(2, &mut [0.0; 4], &mut [0.0; 3], &mut workspace).is_err());
}
