//! The gradient of the projector: against differences, and its symmetries.

use crate::strategies::{
    any_matrix, any_rule, cases, frobenius, gaussian, generic_matrix, max_abs, shuffled,
};
use approx::abs_diff_eq;
use egg_geometry::{Factors, Flatten, RankRule, Workspace};
use ndarray::{Array2, Axis};
use proptest::prelude::*;

fn factored(h: &Array2<f64>, rule: RankRule) -> Factors {
    let mut factors = Factors::new();
    factors.compute(h.view(), rule, &mut Workspace::new()).unwrap();
    factors
}

fn gradient(h: &Array2<f64>, rule: RankRule, g: &Array2<f64>) -> Array2<f64> {
    factored(h, rule)
        .gradient(h.view(), g.view(), &mut Workspace::new())
        .unwrap()
}

fn inner(a: &Array2<f64>, b: &Array2<f64>) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// How fast the gradient grows: 1 / (gap of the cut in singular values).
fn steepness(factors: &Factors) -> f64 {
    let largest = factors.singular_values().next().unwrap_or(1.0);
    1.0 / (factors.choice().gap * largest)
}

proptest! {
    #![proptest_config(cases(128))]

    #[test]
    fn gradient_matches_differences_of_the_projector(h in generic_matrix(), rule in any_rule(), seed in any::<u64>()) {
        let factors = factored(&h, rule);
        prop_assume!(factors.choice().gap >= 0.05);
        let g = gaussian(h.ncols(), h.ncols(), seed);
        let mut direction = gaussian(h.nrows(), h.ncols(), seed ^ 1);
        direction /= frobenius(direction.view());
        let slope = inner(&gradient(&h, rule, &g), &direction);
        // Central differences with p held, the second order taken out as well
        // (Richardson): the error is step^4 over the gap to the fifth.
        let at = |step: f64| {
            let moved = &h + &(&direction * step);
            let held = factored(&moved, RankRule::Fixed(factors.choice().p));
            assert_eq!(held.choice().p, factors.choice().p);
            inner(&held.projector(), &g)
        };
        let central = |step: f64| (at(step) - at(-step)) / (2.0 * step);
        let step = 1e-3 / steepness(&factors);
        let differences = (4.0 * central(step) - central(2.0 * step)) / 3.0;
        let scale = frobenius(g.view()) * steepness(&factors);
        // A step of 1e-3 of the gap leaves (1e-3)^4 times the fifth derivative,
        // some 5! in these units, and eps / 1e-3 of rounding.
        prop_assert!(
            abs_diff_eq!(slope, differences, epsilon = 1e-10 * scale),
            "{slope} for {differences}"
        );
    }

    #[test]
    fn gradient_is_equivariant_to_row_order(
        (h, order) in shuffled(any_matrix()),
        rule in any_rule(),
        seed in any::<u64>(),
    ) {
        let g = gaussian(h.ncols(), h.ncols(), seed);
        let factors = factored(&h, rule);
        prop_assume!(factors.choice().p == 0 || factors.choice().gap >= 1e-3);
        let a = gradient(&h, rule, &g).select(Axis(0), &order);
        let b = gradient(&h.select(Axis(0), &order), rule, &g);
        let tolerance = 1e-13
            * if factors.choice().p == 0 {
                1.0
            } else {
                steepness(&factors) / factors.choice().gap
            };
        prop_assert!(abs_diff_eq!(a, b, epsilon = tolerance));
    }

    #[test]
    fn gradient_vanishes_along_projector_invariances(h in any_matrix(), rule in any_rule(), seed in any::<u64>()) {
        let (n, m) = h.dim();
        let g = gaussian(m, m, seed);
        let factors = factored(&h, rule);
        let along = gradient(&h, rule, &g);
        prop_assert!(along.iter().all(|entry| entry.is_finite()));
        if factors.choice().p == 0 || factors.choice().p == m {
            prop_assert!(along.iter().all(|entry| *entry == 0.0));
            return Ok(());
        }
        prop_assume!(factors.choice().gap >= 1e-3);
        let tolerance = 1e-12 * max_abs(h.view()) * steepness(&factors) / factors.choice().gap;
        // Scaling H, and turning its rows among themselves: H -> (1 + A) H.
        prop_assert!(inner(&along, &h).abs() <= tolerance);
        let raw = gaussian(n, n, seed ^ 1);
        let turn = &raw - &raw.t();
        prop_assert!(inner(&along, &turn.dot(&h)).abs() <= 10.0 * tolerance);
        // Only the symmetric part of dL/dP matters.
        let again = gradient(&h, rule, &g.t().to_owned());
        prop_assert!(abs_diff_eq!(again, along, epsilon = 1e-15 * max_abs(along.view())));
    }

    #[test]
    fn gradient_is_linear_and_homogeneous(
        h in any_matrix(),
        rule in crate::strategies::scale_free_rule(),
        seed in any::<u64>(),
        power in -400..400i32,
        other in -400..400i32,
    ) {
        // Powers of two are exact: L(a P) is a times as steep, L(P(cH)) 1 / c.
        let g = gaussian(h.ncols(), h.ncols(), seed);
        let along = gradient(&h, rule, &g);
        let (c, a) = (2f64.powi(power), 2f64.powi(other));
        let scaled = gradient(&(&h * c), rule, &(&g * a));
        for (x, y) in along.iter().zip(&scaled) {
            prop_assert!(abs_diff_eq!(x * a / c, y, epsilon = 1e-14 * y.abs()), "{x:e} and {y:e}");
        }
    }

    #[test]
    fn flat_and_square_upstream_give_the_same_gradient(h in any_matrix(), rule in any_rule(), seed in any::<u64>()) {
        let m = h.ncols();
        let upstream = gaussian(1, Flatten::length(m), seed).row(0).to_owned();
        let (factors, mut workspace) = (factored(&h, rule), Workspace::new());
        for flatten in [Flatten::Upper, Flatten::Isometric] {
            let mut out = Array2::from_elem(h.dim(), f64::NAN);
            factors
                .gradient_of_embedding(h.view(), upstream.view(), flatten, out.view_mut(), &mut workspace)
                .unwrap();
            let g = flatten.gradient(upstream.view()).unwrap();
            let wanted = gradient(&h, rule, &g);
            // Sums in another order: of G, and then as steep as the gradient is.
            let constant = factors.choice().p == 0 || factors.choice().p == m;
            let rounding = match constant {
                true => 0.0,
                false => frobenius(g.view()) * steepness(&factors),
            };
            prop_assert!(abs_diff_eq!(out, wanted, epsilon = 1e-14 * rounding));
        }
    }

    #[test]
    fn reused_memory_changes_no_bit(
        first in any_matrix(),
        h in any_matrix(),
        rule in any_rule(),
        seed in any::<u64>(),
    ) {
        let (mut factors, mut workspace) = (Factors::new(), Workspace::new());
        let fill = gaussian(first.ncols(), first.ncols(), seed);
        factors.compute(first.view(), rule, &mut workspace).unwrap();
        factors
            .gradient(first.view(), fill.view(), &mut workspace)
            .unwrap();
        factors.compute(h.view(), rule, &mut workspace).unwrap();
        let g = gaussian(h.ncols(), h.ncols(), seed ^ 1);
        let fresh = factored(&h, rule);
        prop_assert_eq!(factors.choice(), fresh.choice());
        prop_assert_eq!(factors.basis::<f64>(), fresh.basis::<f64>());
        prop_assert_eq!(factors.projector::<f64>(), fresh.projector::<f64>());
        let used = factors.gradient(h.view(), g.view(), &mut workspace).unwrap();
        prop_assert_eq!(used, gradient(&h, rule, &g));
    }
}
