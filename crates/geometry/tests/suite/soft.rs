//! The soft embedding: values in closed form, gradients against differences, refusals.

use approx::abs_diff_eq;
use egg_geometry::{
    Error, Factors, Filter, Flatten, RankRule, Scalar, SoftFactors, Workspace, soft_embed_batch,
};
use ndarray::{Array1, Array2, ArrayView1, array};

use crate::strategies::{frobenius, gaussian, max_abs, orthonormal};

fn with_singular_values(n: usize, m: usize, sigma: &[f64], seed: u64) -> Array2<f64> {
    let (left, right) = (
        orthonormal(n, sigma.len(), seed),
        orthonormal(m, sigma.len(), seed + 1),
    );
    (&left * &ArrayView1::from(sigma)).dot(&right.t())
}

/// Both sides longer, ties, missing ranks, single rows and columns.
fn cases() -> Vec<(&'static str, Array2<f64>)> {
    vec![
        ("n > m", with_singular_values(9, 5, &[4.0, 3.0, 2.0, 0.7, 0.3], 1)),
        (
            "repeated",
            with_singular_values(8, 5, &[3.0, 3.0, 3.0, 0.5, 0.5], 2),
        ),
        ("rank-deficient", with_singular_values(8, 5, &[3.0, 2.0], 5)),
        ("n < m", with_singular_values(3, 6, &[3.0, 2.0, 0.5], 7)),
        (
            "n < m, rank-deficient",
            with_singular_values(4, 6, &[3.0, 1.0], 9),
        ),
        ("n = 1", gaussian(1, 5, 10)),
        ("m = 1", gaussian(5, 1, 11)),
    ]
}

fn heat() -> Filter {
    Filter::custom(|lambda| (-lambda).exp(), |lambda| -(-lambda).exp())
}

/// A filter, and its f by the definition.
type Case = (Filter, fn(f64) -> f64);

fn filters() -> Vec<Case> {
    vec![
        (Filter::resolvent(0.5).unwrap(), |x| x / (x + 0.25)),
        (Filter::resolvent(30.0).unwrap(), |x| x / (x + 900.0)),
        // Beyond what Cholesky is used for.
        (Filter::resolvent(0.02).unwrap(), |x| x / (x + 0.0004)),
        (Filter::log1p(), f64::ln_1p),
        (Filter::sqrt(), f64::sqrt),
        (heat(), |x| (-x).exp()),
    ]
}

fn embedded<T: Scalar>(h: &Array2<T>, filter: &Filter, flatten: Flatten) -> Array1<T> {
    let mut out = Array1::zeros(Flatten::length(h.ncols()));
    SoftFactors::new()
        .embed_into(
            h.view(),
            filter,
            flatten,
            out.as_slice_mut().unwrap(),
            &mut Workspace::new(),
        )
        .unwrap();
    out
}

/// Embeds and differentiates, in memory that may have been used.
fn gradient<T: Scalar>(
    h: &Array2<T>,
    filter: &Filter,
    flatten: Flatten,
    upstream: &Array1<T>,
    (factors, workspace): (&mut SoftFactors, &mut Workspace),
) -> Array2<T> {
    let mut flat = Array1::zeros(Flatten::length(h.ncols()));
    factors
        .embed_into(h.view(), filter, flatten, flat.as_slice_mut().unwrap(), workspace)
        .unwrap();
    let mut out = Array2::from_elem(h.dim(), T::nan());
    factors
        .gradient_of_embedding(h.view(), upstream.view(), flatten, out.view_mut(), workspace)
        .unwrap();
    out
}

#[test]
fn one_row_matches_its_closed_form() {
    let h = array![[1.0f64, -2.0, 2.0]];
    for (filter, f) in filters() {
        // P_f = f(0) I + (f(|h|^2) - f(0)) h h^T / |h|^2
        let expected = Array2::<f64>::eye(3) * f(0.0) + h.t().dot(&h) * ((f(9.0) - f(0.0)) / 9.0);
        for flatten in [Flatten::Upper, Flatten::Isometric] {
            let expected = flatten.flatten(expected.view()).unwrap();
            let found = embedded(&h, &filter, flatten);
            assert!(abs_diff_eq!(found, expected, epsilon = 1e-14), "{filter:?}");
        }
    }
}

#[test]
fn diagonal_matrix_is_filtered_entrywise() {
    for (n, m) in [(4, 4), (6, 4), (4, 6)] {
        let sigma = [3.0, 1.5, 0.5, 0.1];
        let mut h = Array2::zeros((n, m));
        h.diag_mut().assign(&ArrayView1::from(&sigma));
        for (filter, f) in filters() {
            let mut expected = Array2::eye(m) * f(0.0);
            for (i, value) in sigma.iter().enumerate() {
                expected[[i, i]] = f(value * value);
            }
            let expected = Flatten::Upper.flatten(expected.view()).unwrap();
            let found = embedded(&h, &filter, Flatten::Upper);
            assert!(
                abs_diff_eq!(found, expected, epsilon = 1e-12),
                "{n} x {m}, {filter:?}"
            );
            // Isometric is the Frobenius norm in any basis.
            let turned = h.dot(&orthonormal(m, m, 3));
            let norm = embedded(&turned, &filter, Flatten::Isometric);
            let square: f64 = Flatten::Upper
                .unflatten(expected.view())
                .unwrap()
                .iter()
                .map(|entry| entry * entry)
                .sum();
            assert!(
                abs_diff_eq!(norm.dot(&norm), square, epsilon = 1e-11 * square.max(1.0)),
                "{n} x {m}, {filter:?}"
            );
        }
    }
}

#[test]
fn gradients_match_differences() {
    for (what, h) in cases() {
        for (filter, _) in filters() {
            // The root has no derivative where a singular value is 0.
            if what.contains("deficient") && format!("{filter:?}") == "Sqrt" {
                continue;
            }
            for flatten in [Flatten::Upper, Flatten::Isometric] {
                let upstream = gaussian(1, Flatten::length(h.ncols()), 20).row(0).to_owned();
                let memory = (&mut SoftFactors::new(), &mut Workspace::new());
                let analytic = gradient(&h, &filter, flatten, &upstream, memory);
                let direction = gaussian(h.nrows(), h.ncols(), 21);
                let at = |step: f64| embedded(&(&h + &(&direction * step)), &filter, flatten).dot(&upstream);
                let central = |step: f64| (at(step) - at(-step)) / (2.0 * step);
                let step = 1e-4;
                let numeric = (4.0 * central(step) - central(2.0 * step)) / 3.0;
                let slope: f64 = (&analytic * &direction).sum();
                // The smaller r, the steeper, and the larger the fifth derivative.
                let size = frobenius(analytic.view()) * frobenius(direction.view()) + 1e-3;
                assert!(
                    abs_diff_eq!(slope, numeric, epsilon = 2e-7 * size),
                    "{what}, {filter:?}: {slope} for {numeric}"
                );
            }
        }
    }
}

#[test]
fn small_radius_approaches_the_hard_cut() {
    let h = with_singular_values(7, 5, &[3.0, 2.0], 6);
    let (mut hard, mut workspace) = (Factors::new(), Workspace::new());
    hard.compute(h.view(), RankRule::Fixed(2), &mut workspace)
        .unwrap();
    let soft = Flatten::Upper
        .unflatten(embedded(&h, &Filter::resolvent(1e-5).unwrap(), Flatten::Upper).view())
        .unwrap();
    assert!(abs_diff_eq!(soft, hard.projector::<f64>(), epsilon = 1e-9));
}

#[test]
fn reused_memory_changes_no_bit() {
    let (mut factors, mut workspace) = (SoftFactors::new(), Workspace::new());
    for (what, h) in cases().iter().chain(cases().iter().rev()) {
        for (filter, _) in filters() {
            let upstream = gaussian(1, Flatten::length(h.ncols()), 20).row(0).to_owned();
            let fresh = (&mut SoftFactors::new(), &mut Workspace::new());
            let expected = gradient(h, &filter, Flatten::Upper, &upstream, fresh);
            let used = (&mut factors, &mut workspace);
            let found = gradient(h, &filter, Flatten::Upper, &upstream, used);
            assert_eq!(found, expected, "{what}, {filter:?}");
        }
    }
}

#[test]
fn f32_matches_f64() {
    for (what, h) in cases() {
        let narrow = h.mapv(|entry| entry as f32);
        let wide = narrow.mapv(f64::from);
        for (filter, _) in filters() {
            let a = embedded(&narrow, &filter, Flatten::Upper).mapv(f64::from);
            let b = embedded(&wide, &filter, Flatten::Upper);
            let size = max_abs(b.view().insert_axis(ndarray::Axis(0))).max(1.0);
            assert!(
                abs_diff_eq!(a, b, epsilon = 1e-6 * size),
                "{what}, {filter:?}: {a} and {b}"
            );
        }
    }
}

#[test]
fn empty_matrix_gives_the_filter_at_zero() {
    let h = Array2::<f64>::zeros((0, 2));
    assert_eq!(embedded(&h, &heat(), Flatten::Upper), array![1.0, 0.0, 1.0]);
    let resolvent = Filter::resolvent(1.0).unwrap();
    assert_eq!(embedded(&h, &resolvent, Flatten::Upper), array![0.0, 0.0, 0.0]);
}

#[test]
fn batch_matches_single_matrices() {
    let matrices = [gaussian(9, 4, 1), gaussian(2, 4, 2), gaussian(4, 4, 3)];
    let views: Vec<_> = matrices.iter().map(|h| h.view()).collect();
    for (filter, _) in filters() {
        let rows = soft_embed_batch(&views, &filter, Flatten::Isometric).unwrap();
        for (row, h) in rows.rows().into_iter().zip(&matrices) {
            assert_eq!(row, embedded(h, &filter, Flatten::Isometric));
        }
    }
}

#[test]
fn bad_input_is_refused() {
    let (mut factors, mut workspace) = (SoftFactors::new(), Workspace::new());
    let filter = Filter::resolvent(1.0).unwrap();
    let h = array![[1.0, 2.0], [3.0, 4.0]];
    let mut embed = |h: &Array2<f64>, filter: &Filter, length: usize| {
        let mut out = vec![0.0; length];
        factors.embed_into(h.view(), filter, Flatten::Upper, &mut out, &mut workspace)
    };
    refused!(
        embed(&Array2::zeros((3, 0)), &filter, 0),
        Error::Empty { columns: 0, .. },
        "H"
    );
    refused!(embed(&h, &filter, 4), Error::Length { expected: 3, .. }, 4);
    refused!(
        embed(&array![[1.0, 0.0], [0.0, f64::NAN]], &filter, 3),
        Error::NonFinite {
            row: 1,
            column: 1,
            ..
        },
        "NaN"
    );
    let broken = Filter::custom(|lambda| 1.0 / (lambda - lambda), |_| 0.0);
    refused!(embed(&h, &broken, 3), Error::Filter { .. }, "lambda = 0");
    for r in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-320] {
        refused!(Filter::resolvent(r), Error::Parameter { .. }, "r = ");
    }
    embed(&h, &filter, 3).unwrap();

    let mut differentiate = |h: &Array2<f64>, upstream: &Array1<f64>, shape: (usize, usize)| {
        let mut out = Array2::zeros(shape);
        factors.gradient_of_embedding(
            h.view(),
            upstream.view(),
            Flatten::Upper,
            out.view_mut(),
            &mut workspace,
        )
    };
    let upstream = array![1.0, 0.0, 0.0];
    refused!(
        differentiate(&h, &array![1.0], (2, 2)),
        Error::Length { .. },
        "gradient"
    );
    refused!(
        differentiate(&h, &array![1.0, f64::NAN, 0.0], (2, 2)),
        Error::NonFinite { column: 1, .. },
        "gradient"
    );
    refused!(
        differentiate(&Array2::zeros((3, 2)), &upstream, (2, 2)),
        Error::Shape { .. },
        "H"
    );
    refused!(
        differentiate(&h, &upstream, (3, 2)),
        Error::Shape { .. },
        "output"
    );
    differentiate(&h, &upstream, (2, 2)).unwrap();

    let wide = Array2::<f64>::zeros((2, 3));
    refused!(
        soft_embed_batch(&[h.view(), wide.view()], &filter, Flatten::Upper),
        Error::InBatch { index: 1, .. },
        "H"
    );
}
