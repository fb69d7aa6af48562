//! Many comparisons together.

/// The two-sided p-value of the exact sign test: the probability that `higher + lower` fair coins
/// split at least as unevenly. Ties are not counted.
///
/// A row of cells that are each within the noise may still lie on one side.
///
/// ```
/// // All of 12 cells below what was published.
/// assert!((egg_results::sign_test(0, 12) - 2.0 / 4096.0).abs() < 1e-15);
/// assert_eq!(egg_results::sign_test(3, 3), 1.0);
/// assert_eq!(egg_results::sign_test(0, 0), 1.0);
/// ```
pub fn sign_test(higher: usize, lower: usize) -> f64 {
    let count = higher + lower;
    let fewer = higher.min(lower);
    // Each outcome's share, from none on the rarer side upwards.
    let mut share = 0.5f64.powi(i32::try_from(count).unwrap_or(i32::MAX));
    let mut tail = 0.0;
    for successes in 0..=fewer {
        tail += share;
        share *= (count - successes) as f64 / (successes + 1) as f64;
    }
    (2.0 * tail).min(1.0)
}

#[cfg(test)]
mod tests {
    use approx::abs_diff_eq;

    use super::sign_test;

    #[test]
    fn sign_test_matches_scipy() {
        // scipy.stats.binomtest(k, n).pvalue
        for (higher, lower, expected) in [
            (1, 4, 0.375),
            (0, 5, 0.0625),
            (2, 8, 0.109375),
            (9, 1, 0.021484375),
            (40, 60, 0.05688793364098078),
        ] {
            let found = sign_test(higher, lower);
            assert!(
                abs_diff_eq!(found, expected, epsilon = 1e-13),
                "{higher} {lower}: {found}"
            );
        }
    }
}
