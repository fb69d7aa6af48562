//! Rectification: what the subspace of a matrix does and does not depend on.

use crate::strategies::{
    any_matrix, any_rule, cases, dimensions, exact_rank, frobenius, generic_matrix, integer_matrix, max_abs,
    orthonormality_defect, random_point, rebased, scale_free_rule, shuffled,
};
use approx::abs_diff_eq;
use egg_geometry::{Factors, Scalar, Workspace, principal_angles, rectify_nodes};
use egg_geometry::{Flatten, RankRule, Rectified, embed_batch, project_batch, rectify, rectify_batch};
use ndarray::{Array2, ArrayView2, Axis};
use proptest::prelude::*;

/// How far rounding may move a projector: a backward error of a few
/// `eps max(n, m) sigma_1` over the gap at the cut (Davis and Kahan). Without a
/// cut (`gap` of the whole span) the same holds with the least singular value.
fn rounding_of_projector(h: &Array2<f64>, rectified: &Rectified<f64>) -> f64 {
    let longer = h.nrows().max(h.ncols()) as f64;
    16.0 * f64::EPSILON * longer / rectified.choice.gap.max(f64::EPSILON)
}

fn narrowed(h: &Array2<f64>) -> Array2<f32> {
    #[expect(clippy::cast_possible_truncation, reason = "the purpose")]
    h.mapv(|entry| entry as f32)
}

fn widened(h: ArrayView2<'_, f32>) -> Array2<f64> {
    h.mapv(f64::from)
}

/// p by the words of the rule, from the singular values; `None` where a value
/// lies so near the bound that rounding decides.
fn count_by_definition(rule: RankRule, sigma: &[f64], columns: usize) -> Option<usize> {
    let above = |bound: f64| {
        let near = sigma.iter().any(|value| (value - bound).abs() <= 1e-9 * sigma[0]);
        (!near).then(|| sigma.iter().filter(|value| **value > bound).count())
    };
    match rule {
        RankRule::Fixed(p) => Some(p),
        RankRule::Ratio(x) => {
            let wanted = x * columns as f64 - 1e-9;
            (1..=columns).find(|p| *p as f64 >= wanted)
        }
        RankRule::Threshold(r) => above(r),
        RankRule::Relative(r) => above(r * sigma[0]),
        RankRule::Energy(1.0) | RankRule::Squares(1.0) => Some(sigma.len()),
        RankRule::Energy(r) => share_by_definition(r, sigma),
        RankRule::Squares(r) => share_by_definition(r, &sigma.iter().map(|s| s * s).collect::<Vec<_>>()),
        other => panic!("{other} has no definition here"),
    }
}

fn share_by_definition(r: f64, parts: &[f64]) -> Option<usize> {
    let total: f64 = parts.iter().sum();
    let sums: Vec<f64> = (1..=parts.len()).map(|p| parts[..p].iter().sum()).collect();
    let near = sums.iter().any(|sum| (sum - r * total).abs() <= 1e-9 * total);
    (!near)
        .then(|| sums.iter().position(|sum| *sum >= r * total))?
        .map(|last| last + 1)
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn projector_is_invariant_to_row_order((h, order) in shuffled(any_matrix()), rule in any_rule()) {
        let a = rectify(h.view(), rule).unwrap();
        let b = rectify(h.select(Axis(0), &order).view(), rule).unwrap();
        prop_assert_eq!(a.choice.p, b.choice.p);
        prop_assert_eq!(a.choice.numerical_rank, b.choice.numerical_rank);
        let moved = max_abs((a.projector() - b.projector()).view());
        let tolerance = rounding_of_projector(&h, &a);
        prop_assert!(moved <= tolerance, "moved by {moved:e}, gap {:e}", a.choice.gap);
    }

    #[test]
    fn projector_of_integers_is_invariant_to_row_order_to_1e_10((h, order) in shuffled(integer_matrix()), rule in any_rule()) {
        // Gaps between singular values of small integers are 0 or not small.
        let a = rectify(h.view(), rule).unwrap();
        let b = rectify(h.select(Axis(0), &order).view(), rule).unwrap();
        prop_assert_eq!(a.choice.p, b.choice.p);
        let moved = max_abs((a.projector() - b.projector()).view());
        prop_assert!(moved <= 1e-10, "moved by {moved:e}, gap {:e}", a.choice.gap);
    }

    #[test]
    fn single_precision_projector_is_invariant_to_row_order((h, order) in shuffled(any_matrix()), rule in any_rule()) {
        let h = narrowed(&h);
        let a = rectify(h.view(), rule).unwrap();
        let b = rectify(h.select(Axis(0), &order).view(), rule).unwrap();
        prop_assert_eq!(a.choice.p, b.choice.p);
        let moved = max_abs((widened(a.projector().view()) - widened(b.projector().view())).view());
        // The basis is rounded to f32. Inside, the f64 Gram matrix has gaps of
        // at least the square of the gap in singular values.
        let longer = h.nrows().max(h.ncols()) as f64;
        let inside = 16.0 * f64::EPSILON * longer / a.choice.gap.max(1e-8).powi(2);
        prop_assert!(
            moved <= 8.0 * f32::eps() + inside,
            "moved by {moved:e}, gap {:e}",
            a.choice.gap
        );
    }

    #[test]
    fn projector_is_symmetric_and_idempotent(h in any_matrix(), rule in any_rule()) {
        let rectified = rectify(h.view(), rule).unwrap();
        let p = rectified.projector();
        prop_assert!(abs_diff_eq!(p.dot(&p), p, epsilon = 1e-13));
        prop_assert_eq!(&p, &p.t(), "exactly symmetric on all kernels");
        prop_assert!(abs_diff_eq!(p.diag().sum(), rectified.choice.p as f64, epsilon = 1e-13));
        prop_assert!(orthonormality_defect(rectified.basis.view()) <= 1e-13);
    }

    #[test]
    fn single_precision_projector_is_symmetric_and_idempotent(h in any_matrix(), rule in any_rule()) {
        let rectified = rectify(narrowed(&h).view(), rule).unwrap();
        let basis = widened(rectified.basis.view());
        // Entries rounded to f32: sqrt(m) eps for a dot product of unit vectors.
        prop_assert!(orthonormality_defect(basis.view()) <= 4.0 * f32::eps());
        let projector = rectified.projector();
        prop_assert_eq!(&projector, &projector.t());
        let trace = widened(projector.view()).diag().sum();
        prop_assert!(abs_diff_eq!(trace, rectified.choice.p as f64, epsilon = 16.0 * f32::eps()));
    }

    #[test]
    fn subspace_is_the_leading_invariant_subspace(h in any_matrix(), rule in any_rule()) {
        let rectified = rectify(h.view(), rule).unwrap();
        let projector = rectified.projector();
        let c = h.t().dot(&h);
        let largest = max_abs(c.view()).max(f64::MIN_POSITIVE);
        // P C = C P, and H P has exactly the energy of the first p values.
        let (left, right) = (projector.dot(&c), c.dot(&projector));
        prop_assert!(abs_diff_eq!(left, right, epsilon = 1e-13 * largest));
        let energy = |count: usize| {
            rectified
                .singular_values
                .iter()
                .take(count)
                .map(|s| s * s)
                .sum::<f64>()
        };
        let all = energy(usize::MAX);
        prop_assert!(abs_diff_eq!(frobenius(h.view()).powi(2), all, epsilon = 1e-13 * all));
        let kept = frobenius(h.dot(&projector).view()).powi(2);
        prop_assert!(abs_diff_eq!(kept, energy(rectified.choice.p), epsilon = 1e-13 * all));
        let total = rectified.singular_values.sum();
        let share = rectified
            .singular_values
            .iter()
            .take(rectified.choice.p)
            .sum::<f64>()
            / total.max(1e-300);
        prop_assert!(abs_diff_eq!(rectified.choice.captured, share, epsilon = 1e-14));
    }

    #[test]
    fn rank_follows_its_rule(h in any_matrix(), rule in any_rule()) {
        let rectified = rectify(h.view(), rule).unwrap();
        let (choice, sigma) = (rectified.choice, rectified.singular_values.to_vec());
        prop_assert_eq!(sigma.len(), h.nrows().min(h.ncols()));
        prop_assert!(sigma.windows(2).all(|pair| pair[0] >= pair[1]));
        if h.iter().all(|entry| *entry == 0.0) {
            prop_assert_eq!(
                (choice.p, choice.numerical_rank, choice.captured, choice.gap),
                (0, 0, 0.0, 0.0)
            );
            return Ok(());
        }
        prop_assert!(choice.p >= 1);
        prop_assert!(choice.p <= h.nrows().min(h.ncols()));
        if let Some(wanted) = count_by_definition(rule, &sigma, h.ncols()) {
            // A noise value may sit on the other side of a bound of 0.
            if wanted <= choice.numerical_rank || choice.by_rule <= choice.numerical_rank {
                prop_assert_eq!(choice.by_rule, wanted);
            }
        }
        let capped = choice.by_rule.clamp(1, choice.numerical_rank);
        prop_assert_eq!(choice.extended_by_tie, choice.p > capped);
        let norm = sigma.iter().map(|value| value * value).sum::<f64>().sqrt();
        let noise = f64::EPSILON * (2.0 * norm).max(16.0 * sigma[0]);
        let tied = |i: usize| sigma[i - 1] - sigma[i] <= f64::TIE_TOLERANCE * sigma[i - 1] + 2.0 * noise;
        // From the capped p on everything is tied, and what follows p is not.
        prop_assert!((capped..choice.p).all(tied));
        prop_assert!(
            choice.p == choice.numerical_rank || !tied(choice.p),
            "{sigma:?} cut at {}",
            choice.p
        );
        prop_assert!(choice.gap > 0.0);
    }

    #[test]
    fn numerical_rank_of_integers_is_exact(h in integer_matrix()) {
        let rank = exact_rank(&h);
        for rule in [
            RankRule::Fixed(99),
            RankRule::Ratio(1.0),
            RankRule::Relative(0.0),
            RankRule::Threshold(0.0),
            RankRule::Energy(1.0),
            RankRule::Squares(1.0),
        ] {
            let choice = rectify(h.view(), rule).unwrap().choice;
            prop_assert_eq!((choice.numerical_rank, choice.p), (rank, rank), "{:?}", rule);
            let choice = rectify(narrowed(&h).view(), rule).unwrap().choice;
            prop_assert_eq!(
                (choice.numerical_rank, choice.p),
                (rank, rank),
                "{:?} in f32",
                rule
            );
        }
    }

    #[test]
    fn scaling_by_a_power_of_two_changes_no_bit(h in any_matrix(), rule in scale_free_rule(), power in -900..900i32) {
        let a = rectify(h.view(), rule).unwrap();
        let b = rectify(h.mapv(|entry| entry * 2f64.powi(power)).view(), rule).unwrap();
        prop_assert_eq!(a.choice, b.choice);
        prop_assert_eq!(a.basis, b.basis);
        let powered = a.singular_values.mapv(|value| value * 2f64.powi(power));
        prop_assert_eq!(powered, b.singular_values);
    }

    #[test]
    fn subspace_is_invariant_to_scale(h in generic_matrix(), rule in scale_free_rule(), exponent in -300..300i32) {
        for exponent in [exponent, -300, -30, 30] {
            let c = 10f64.powi(exponent);
            let a = rectify(h.view(), rule).unwrap();
            let b = rectify((&h * c).view(), rule).unwrap();
            // Scaling rounds every entry: an error of eps / 2 as in the SVD.
            let tolerance = rounding_of_projector(&h, &a);
            prop_assert_eq!(a.choice.p, b.choice.p, "c = {:e}", c);
            prop_assert!(abs_diff_eq!(a.projector(), b.projector(), epsilon = tolerance));
        }
    }

    #[test]
    fn single_precision_subspace_is_invariant_to_scale(
        h in generic_matrix(),
        rule in scale_free_rule(),
        power in -95..95i32,
    ) {
        let h = narrowed(&h).mapv(|entry| if entry.abs() < 1e-8 { 0.0 } else { entry });
        let scaled = h.mapv(|entry| entry * 2f32.powi(power));
        let (a, b) = (
            rectify(h.view(), rule).unwrap(),
            rectify(scaled.view(), rule).unwrap(),
        );
        prop_assert_eq!(a.choice, b.choice);
        prop_assert_eq!(a.basis, b.basis);
    }

    #[test]
    fn node_coordinates_keep_the_distances_of_projector_rows(h in any_matrix(), rule in any_rule()) {
        let nodes = rectify_nodes(h.view(), rule).unwrap();
        prop_assert_eq!(nodes.basis.dim(), (h.nrows(), nodes.choice.p));
        let (short, long) = (&nodes.basis, nodes.projector());
        for i in 0..h.nrows() {
            for j in 0..i {
                let apart = |rows: ArrayView2<'_, f64>| {
                    let difference = &rows.row(i) - &rows.row(j);
                    difference.dot(&difference).sqrt()
                };
                // Both are differences of unit-size numbers; the root of one
                // near 0 is the larger error, sqrt(eps) apart at worst if
                // squared, so they are compared squared.
                let (a, b) = (apart(short.view()).powi(2), apart(long.view()).powi(2));
                prop_assert!(abs_diff_eq!(a, b, epsilon = 1e-13), "rows {i} and {j}: {a} and {b}");
            }
        }
    }

    #[test]
    fn node_factors_match_factors_of_the_transpose(h in any_matrix(), rule in any_rule()) {
        let (nodes, graph) = (
            rectify_nodes(h.view(), rule).unwrap(),
            rectify(h.view(), rule).unwrap(),
        );
        // Ratio counts the columns of H on both sides, so p agrees for all rules.
        prop_assert_eq!(nodes.choice.p, graph.choice.p);
        // H maps one subspace onto the other: H P = Q H.
        let (left, right) = (h.dot(&graph.projector()), nodes.projector().dot(&h));
        let tolerance = rounding_of_projector(&h, &graph) * max_abs(h.view());
        prop_assert!(abs_diff_eq!(left, right, epsilon = tolerance));
    }

    #[test]
    fn batch_matches_single_calls(
        matrices in proptest::collection::vec(any_matrix(), 1..6),
        rule in any_rule(),
        m in 1usize..6,
    ) {
        let views: Vec<_> = matrices.iter().map(|h| h.view()).collect();
        let single: Vec<_> = views.iter().map(|h| rectify(*h, rule).unwrap()).collect();
        prop_assert_eq!(&rectify_batch(&views, rule).unwrap(), &single);
        for (projector, one) in project_batch(&views, rule).unwrap().iter().zip(&single) {
            prop_assert_eq!(projector, &projector.t());
            prop_assert!(abs_diff_eq!(*projector, one.projector(), epsilon = 1e-14));
        }
        // embed_batch needs one m: cut or pad the columns.
        let same: Vec<Array2<f64>> = matrices
            .iter()
            .map(|h| Array2::from_shape_fn((h.nrows(), m), |(row, column)| h[[row, column % h.ncols()]]))
            .collect();
        let views: Vec<_> = same.iter().map(|h| h.view()).collect();
        for flatten in [Flatten::Upper, Flatten::Isometric] {
            let rows = embed_batch(&views, rule, flatten).unwrap();
            let (mut factors, mut workspace) = (Factors::new(), Workspace::new());
            for (row, h) in rows.rows().into_iter().zip(&views) {
                let mut alone = vec![0.0; Flatten::length(m)];
                factors.compute(*h, rule, &mut workspace).unwrap();
                factors.embed_into(flatten, &mut alone, &mut workspace).unwrap();
                prop_assert_eq!(row.to_vec(), alone);
                let rectified = rectify(*h, rule).unwrap();
                let by_hand = flatten.flatten(rectified.projector().view()).unwrap();
                prop_assert!(abs_diff_eq!(row, by_hand, epsilon = 1e-14));
            }
        }
    }

    #[test]
    fn single_precision_agrees_with_double(h in generic_matrix(), rule in any_rule()) {
        let h = narrowed(&h);
        let wide = rectify(widened(h.view()).view(), rule).unwrap();
        // Below this gap the tie tolerances of the two types may differ.
        prop_assume!(wide.choice.gap >= 1e-3);
        let narrow = rectify(h.view(), rule).unwrap();
        prop_assert_eq!(wide.choice.p, narrow.choice.p);
        let again = widened(narrow.projector().view());
        prop_assert!(abs_diff_eq!(wide.projector(), again, epsilon = 4.0 * f32::eps()));
        for (a, b) in wide.singular_values.iter().zip(&narrow.singular_values) {
            prop_assert!(abs_diff_eq!(*a, b.as_f64(), epsilon = 2.0 * f32::eps() * wide.singular_values[0]));
        }
    }

    #[test]
    fn point_is_independent_of_its_basis((m, p) in dimensions(6), seed in any::<u64>()) {
        let a = random_point(m, p, seed);
        let (b, other) = (rebased(&a, seed ^ 1), random_point(m, p, seed ^ 2));
        prop_assert!(abs_diff_eq!(a.projector(), b.projector(), epsilon = 1e-14));
        // The accuracy that principal angles promise.
        let tolerance = 2e-15 * (m as f64).sqrt();
        for (x, y) in principal_angles(&a, &other)
            .unwrap()
            .iter()
            .zip(&principal_angles(&b, &other).unwrap())
        {
            prop_assert!(abs_diff_eq!(x, y, epsilon = tolerance));
        }
        prop_assert!(
            principal_angles(&a, &b)
                .unwrap()
                .iter()
                .all(|angle| *angle <= tolerance)
        );
    }
}

/// A wide f32 matrix with singular values down to the edge of what f32 can
/// resolve still has an orthonormal basis.
#[test]
fn ill_conditioned_wide_matrix_has_an_orthonormal_basis() {
    for seed in 0..200 {
        let (n, m) = (2 + (seed as usize) % 4, 6 + (seed as usize) % 3);
        let left = crate::strategies::orthonormal(n, n, seed);
        let right = crate::strategies::orthonormal(m, n, seed + 1000);
        let exponents = ndarray::Array1::linspace(0.0, -5.8, n);
        let h = (&left * &exponents.mapv(|exponent: f64| 10f64.powf(exponent))).dot(&right.t());
        let single = rectify(narrowed(&h).view(), RankRule::Relative(0.0)).unwrap();
        let defect = orthonormality_defect(widened(single.basis.view()).view());
        assert!(defect <= 4.0 * f32::eps(), "f32, seed {seed}: {defect:e}");
        let double = rectify(h.view(), RankRule::Relative(0.0)).unwrap();
        assert_eq!(double.choice.p, n);
        let defect = orthonormality_defect(double.basis.view());
        assert!(defect <= 1e-14, "f64, seed {seed}: {defect:e}");
    }
}
