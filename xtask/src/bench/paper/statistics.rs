//! Mean and spread of repetitions, and what may be chance.

/// The 97.5 % quantiles of Student's t for 1 to 30 degrees of freedom.
#[rustfmt::skip] // It is a table.
const STUDENT: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
    2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
    2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
];

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

    /// With the deviation of a sample; `None` of fewer than two.
    pub(super) fn of_sample(values: &[f64]) -> Option<Self> {
        let spread = Self::of(values).filter(|_| values.len() > 1)?;
        let count = values.len() as f64;
        Some(Self {
            deviation: spread.deviation * (count / (count - 1.0)).sqrt(),
            ..spread
        })
    }
}

impl std::fmt::Display for Spread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let digits = f.precision().unwrap_or(4);
        write!(f, "{:.digits$} ± {:.digits$}", self.mean, self.deviation)
    }
}

/// What a test at 5 % says of the first against the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Higher,
    Lower,
    /// The difference may be chance.
    WithinNoise,
    /// Too few numbers.
    Unknown,
}

fn judge(t: f64, freedom: f64) -> Verdict {
    // Rounded down: rather too careful.
    let freedom = freedom.floor();
    if t.is_nan() || freedom < 1.0 {
        return Verdict::Unknown;
    }
    let limit = STUDENT[(freedom as usize).min(STUDENT.len()) - 1];
    match t {
        t if t > limit => Verdict::Higher,
        t if t < -limit => Verdict::Lower,
        _ => Verdict::WithinNoise,
    }
}

/// Pairs: repetitions on the same split, or of the same embedding.
pub(super) fn paired(first: &[f64], second: &[f64]) -> Verdict {
    let pairs = first.len().min(second.len());
    match paired_t(first, second) {
        Some(t) => judge(t, pairs as f64 - 1.0),
        // No spread at all: equal, or a constant difference, which is no chance.
        None if pairs > 1 && first[0] > second[0] => Verdict::Higher,
        None if pairs > 1 && first[0] < second[0] => Verdict::Lower,
        None if pairs > 1 => Verdict::WithinNoise,
        None => Verdict::Unknown,
    }
}

/// Two means of unrelated repetitions, by Welch's test.
pub(super) fn unpaired(first: Spread, count: usize, second: Spread, other_count: usize) -> Verdict {
    if count < 2 || other_count < 2 {
        return Verdict::Unknown;
    }
    // Squared standard errors: the deviations are those of the population.
    let error = |spread: Spread, count: usize| spread.deviation.powi(2) / (count as f64 - 1.0);
    let (a, b) = (error(first, count), error(second, other_count));
    let freedom =
        (a + b).powi(2) / (a.powi(2) / (count as f64 - 1.0) + b.powi(2) / (other_count as f64 - 1.0));
    judge((first.mean - second.mean) / (a + b).sqrt(), freedom)
}

/// The difference of pairs as `t` of a paired test: mean over its standard error.
/// `None` for fewer than two pairs or no spread at all.
fn paired_t(first: &[f64], second: &[f64]) -> Option<f64> {
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
        assert_eq!(format!("{spread:.2}"), "2.00 ± 1.00");
        assert!(Spread::of(&[]).is_none() && Spread::of_sample(&[1.0]).is_none());
        assert_eq!(Spread::of_sample(&[1.0, 3.0]).unwrap().deviation, 2f64.sqrt());
        // Differences 1, 2, 3: mean 2, sample deviation 1, standard error 1 / sqrt 3.
        let t = paired_t(&[2.0, 4.0, 6.0], &[1.0, 2.0, 3.0]).unwrap();
        assert!((t - 2.0 * 3f64.sqrt()).abs() < 1e-12);
        assert!(paired_t(&[1.0], &[0.0]).is_none() && paired_t(&[1.0, 1.0], &[1.0, 1.0]).is_none());
    }

    #[test]
    fn pairs_are_judged() {
        // t = 3.46, and the limit of two degrees of freedom is 4.3.
        assert_eq!(paired(&[2.0, 4.0, 6.0], &[1.0, 2.0, 3.0]), Verdict::WithinNoise);
        assert_eq!(paired(&[2.0, 3.1, 4.2], &[1.0, 2.0, 3.0]), Verdict::Higher);
        assert_eq!(paired(&[1.0, 2.0], &[2.0, 3.0]), Verdict::Lower);
        assert_eq!(paired(&[1.0, 1.0], &[1.0, 1.0]), Verdict::WithinNoise);
        assert_eq!(paired(&[1.0], &[2.0]), Verdict::Unknown);
    }

    #[test]
    fn means_are_judged_by_welch() {
        let of = |mean, deviation| Spread { mean, deviation };
        // Standard errors 1 and 1: t = diff / sqrt 2, 18 degrees of freedom, limit 2.101.
        let judge = |mean| unpaired(of(mean, 3.0), 10, of(70.0, 3.0), 10);
        assert_eq!(judge(72.9), Verdict::WithinNoise);
        assert_eq!(judge(73.0), Verdict::Higher);
        assert_eq!(judge(67.0), Verdict::Lower);
        assert_eq!(unpaired(of(1.0, 0.0), 1, of(0.0, 1.0), 10), Verdict::Unknown);
        assert_eq!(unpaired(of(1.0, 0.0), 5, of(1.0, 0.0), 5), Verdict::Unknown);
    }
}
