//! What a test says of two records, or of a record and the paper's figures.

use egg_pool::protocol::RunRecord;
use egg_pool::train::PartReport;
use egg_results::{Comparison, Pair, Summary, Verdict, holm, paired, welch};

use super::records::tests;

/// A comparison among others of its family, with the probability that Holm's correction
/// for all of them leaves.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Judged {
    pub(super) comparison: Comparison,
    pub(super) p: f64,
}

impl Judged {
    pub(super) fn verdict(&self) -> Verdict {
        self.comparison.verdict(self.p, false)
    }
}

/// `0.03`, `0.0005`, `below 0.0001`.
pub(super) fn probability(p: f64) -> String {
    match p {
        p if p < 1e-4 => "below 0.0001".to_owned(),
        p if p < 0.001 => format!("{p:.4}"),
        p if p < 0.01 => format!("{p:.3}"),
        p => format!("{p:.2}"),
    }
}

/// Judges comparisons that are made together.
pub(super) fn family(comparisons: Vec<Option<Comparison>>) -> Vec<Option<Judged>> {
    let of = |comparison: &Option<Comparison>| comparison.as_ref().map_or(f64::NAN, |one| one.p);
    let corrected = holm(&comparisons.iter().map(of).collect::<Vec<f64>>());
    let judged = comparisons.into_iter().zip(corrected);
    judged
        .map(|(comparison, p)| comparison.map(|comparison| Judged { comparison, p }))
        .collect()
}

/// Two records of graph classification, repetition by repetition: these have the same
/// splits.
pub(super) fn compare(first: &RunRecord, second: &RunRecord) -> Option<Comparison> {
    let (ours, others) = (tests(first), tests(second));
    let splits = split_names(first);
    let (trains, tested) = (sizes(first), splits.len());
    let pair = |at: usize| {
        let (train, test) = trains.get(at).copied().unwrap_or((0, 1));
        Pair {
            split: &splits[at],
            first: ours[at],
            second: others[at],
            train,
            test,
        }
    };
    let pairs: Vec<Pair<'_>> = (0..ours.len().min(others.len()).min(tested)).map(pair).collect();
    paired(&pairs)
}

/// A record of graph classification and what the paper has.
pub(super) fn compare_with_published(record: &RunRecord, theirs: &Summary) -> Option<Comparison> {
    let ours = Summary::from_values(&tests(record), 0)?;
    welch(&ours, theirs, test_over_train(record))
}

/// Numbers that come in pairs and are independent otherwise: repetitions that differ in
/// their seed.
pub(super) fn compare_seeds(first: &[f64], second: &[f64]) -> Option<Comparison> {
    let names: Vec<String> = (0..first.len()).map(|seed| seed.to_string()).collect();
    let both = names.iter().zip(first.iter().zip(second));
    let pairs: Vec<Pair<'_>> = both
        .map(|(split, (first, second))| Pair {
            split,
            first: *first,
            second: *second,
            train: 1,
            test: 0,
        })
        .collect();
    paired(&pairs)
}

/// One digest for each repetition. (A record has one for each that it may have.)
fn split_names(record: &RunRecord) -> Vec<String> {
    match record.splits.as_slice() {
        // One for all.
        [one] => vec![one.clone(); record.repetitions.len()],
        names => names.to_vec(),
    }
}

/// How many graphs each repetition was trained on and tested with.
fn sizes(record: &RunRecord) -> Vec<(u64, u64)> {
    let count = |part: &PartReport| {
        let confusion = part.scores.confusion()?;
        Some(confusion.counts().iter().flatten().sum::<u64>())
    };
    let graphs = record.graphs as u64;
    let repetitions = record.repetitions.iter().map(|one| {
        let (validation, test) = (count(&one.validation)?, count(one.test.as_ref()?)?);
        Some((graphs.saturating_sub(validation + test), test))
    });
    repetitions.map(|sizes| sizes.unwrap_or((0, 1))).collect()
}

/// 0 where all repetitions share one split: then they are about other random starts, not
/// about other splits.
fn test_over_train(record: &RunRecord) -> f64 {
    if is_one_split(record) {
        return 0.0;
    }
    let ratios: Vec<f64> = sizes(record)
        .into_iter()
        .map(|(train, test)| test as f64 / train as f64)
        .collect();
    Summary::from_values(&ratios, 0).map_or(0.0, |ratios| ratios.mean)
}

/// Whether all repetitions are on one split.
pub(super) fn is_one_split(record: &RunRecord) -> bool {
    let mut names = split_names(record);
    names.truncate(record.repetitions.len());
    names.dedup();
    names.len() < 2
}

#[cfg(test)]
mod tests {
    use super::super::made_up;
    use super::super::published::Pair as Published;
    use super::*;

    fn record(accuracies: &[f64], one_split: bool) -> RunRecord {
        let mut record = made_up::record(accuracies);
        if one_split {
            record
                .splits
                .iter_mut()
                .for_each(|split| *split = "one".to_owned());
        }
        record
    }

    #[test]
    fn pairs_are_corrected_for_overlapping_training_parts() {
        let (a, b) = (
            record(&[0.70, 0.72, 0.74], false),
            record(&[0.69, 0.70, 0.71], false),
        );
        let found = compare(&a, &b).unwrap();
        // Differences 1, 2, 3 points: mean 2, deviation 1; 1/3 + 1/8.
        assert!((found.difference - 2.0).abs() < 1e-9);
        assert!((found.t - 2.0 / (1.0f64 / 3.0 + 0.125).sqrt()).abs() < 1e-9);
        assert_eq!((found.pairs, found.splits), (3, 3));
        let shared = compare(&record(&[0.70, 0.72], true), &record(&[0.71, 0.70], true)).unwrap();
        assert_eq!((shared.pairs, shared.splits), (2, 1));
    }

    #[test]
    fn the_papers_mean_is_compared_with_the_same_correction() {
        let theirs = Published::new(75.0, 2.0).summary();
        let several = compare_with_published(&record(&[0.70, 0.72, 0.74], false), &theirs).unwrap();
        let one = compare_with_published(&record(&[0.70, 0.72, 0.74], true), &theirs).unwrap();
        assert!(several.t.abs() < one.t.abs());
        assert!((one.difference + 3.0).abs() < 1e-9);
    }

    #[test]
    fn a_family_is_corrected_together() {
        let sure = |first: [f64; 4]| compare_seeds(&first, &[0.0, 0.0, 0.0, 0.0]);
        let comparisons = vec![sure([1.0, 1.1, 0.9, 1.0]), None, sure([1.0, -1.0, 0.5, -0.4])];
        let uncorrected = comparisons[0].as_ref().unwrap().p;
        let judged = family(comparisons);
        assert_eq!(judged[0].as_ref().unwrap().p, 2.0 * uncorrected);
        assert!(judged[1].is_none());
        assert_eq!(judged[2].as_ref().unwrap().verdict(), Verdict::Noise);
        assert_eq!(judged[0].as_ref().unwrap().verdict(), Verdict::Better);
        assert_eq!(probability(0.0305), "0.03");
        assert_eq!(probability(0.00049), "0.0005");
    }
}
