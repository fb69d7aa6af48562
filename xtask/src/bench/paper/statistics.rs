//! Mean and spread of repetitions.

/// Mean and standard deviation; the paper's is NumPy's, of the population.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Spread {
    pub(super) mean: f64,
    pub(super) deviation: f64,
}

impl Spread {
    /// `None` of nothing.
    pub(super) fn of(values: &[f64]) -> Option<Self> {
        if values.is_empty() {
            return None;
        }
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
        Some(Self {
            mean,
            deviation: variance.sqrt(),
        })
    }
}

impl std::fmt::Display for Spread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.4} ± {:.4}", self.mean, self.deviation)
    }
}

/// The difference of pairs as `t` of a paired test: mean over its standard error.
/// `None` for fewer than two pairs or no difference at all.
pub(super) fn paired_t(first: &[f64], second: &[f64]) -> Option<f64> {
    let differences: Vec<f64> = first.iter().zip(second).map(|(a, b)| a - b).collect();
    let count = differences.len() as f64;
    let spread = Spread::of(&differences).filter(|spread| count > 1.0 && spread.deviation > 0.0)?;
    Some(spread.mean / (spread.deviation / (count - 1.0).sqrt()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worked_by_hand() {
        let spread = Spread::of(&[1.0, 3.0]).unwrap();
        assert_eq!((spread.mean, spread.deviation), (2.0, 1.0));
        assert_eq!(spread.to_string(), "2.0000 ± 1.0000");
        assert!(Spread::of(&[]).is_none());
        // Differences 1, 2, 3: mean 2, sample deviation 1, standard error 1 / sqrt 3.
        let t = paired_t(&[2.0, 4.0, 6.0], &[1.0, 2.0, 3.0]).unwrap();
        assert!((t - 2.0 * 3f64.sqrt()).abs() < 1e-12);
        assert!(paired_t(&[1.0], &[0.0]).is_none() && paired_t(&[1.0, 1.0], &[1.0, 1.0]).is_none());
    }
}
