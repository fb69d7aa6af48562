//! One comparison: the two sides take turns, so that whatever else the machine
//! does meets both alike.

use std::thread;
use std::time::Duration;

use super::child::Answer;
use super::suite::{Comparison, Side};

/// A pause between turns. A BLAS keeps its idle threads spinning, in OpenBLAS
/// for 2^28 cycles, about a tenth of a second, which would take a core from the
/// other side.
pub(super) const PAUSE: Duration = Duration::from_millis(250);

/// The times of one side, in seconds, or its peaks of memory, in MB; in order of size.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Figures {
    sorted: Vec<f64>,
    pub(super) calls: u64,
}

impl Figures {
    /// Of one process.
    pub(super) fn one(figure: f64) -> Self {
        Self {
            sorted: vec![figure],
            calls: 1,
        }
    }

    fn from_answers(answers: &[Answer]) -> Option<Self> {
        let mut sorted: Vec<f64> = answers.iter().map(|answer| answer.seconds).collect();
        sorted.sort_by(f64::total_cmp);
        Some(Self {
            sorted,
            calls: answers.first()?.calls,
        })
    }

    pub(super) fn best(&self) -> f64 {
        self.sorted[0]
    }

    pub(super) fn worst(&self) -> f64 {
        self.sorted[self.sorted.len() - 1]
    }

    pub(super) fn median(&self) -> f64 {
        egg_results::median(&self.sorted).unwrap_or(f64::NAN)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Met,
    Missed,
    /// No target.
    Informational,
    /// The peer was not there.
    NotCompared,
    /// It failed, or the sides did not compute the same thing.
    Error,
}

pub(super) struct Measured {
    pub(super) comparison: Comparison,
    pub(super) ours: Option<Figures>,
    pub(super) other: Option<Figures>,
    pub(super) error: Option<String>,
}

impl Measured {
    pub(super) fn ratio(&self, of: impl Fn(&Figures) -> f64) -> Option<f64> {
        Some(of(self.other.as_ref()?) / of(self.ours.as_ref()?))
    }

    /// The ratio with the worst of ours and the best of theirs, and the reverse.
    pub(super) fn spread(&self) -> Option<(f64, f64)> {
        let (ours, other) = (self.ours.as_ref()?, self.other.as_ref()?);
        Some((other.best() / ours.worst(), other.worst() / ours.best()))
    }

    pub(super) fn verdict(&self) -> Verdict {
        match (self.ratio(Figures::median), self.comparison.target) {
            _ if self.error.is_some() => Verdict::Error,
            (None, _) => Verdict::NotCompared,
            (Some(_), None) => Verdict::Informational,
            (Some(ratio), Some(target)) if ratio >= target => Verdict::Met,
            (Some(_), Some(_)) => Verdict::Missed,
        }
    }
}

impl Verdict {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Met => "MET",
            Self::Missed => "MISSED",
            Self::Informational => "-",
            Self::NotCompared => "not compared",
            Self::Error => "ERROR",
        }
    }
}

/// Does a task.
pub(super) type Runner<'a> = dyn FnMut(&str) -> Result<Answer, String> + 'a;

/// Measures ours, theirs, ours, theirs, ... for a number of rounds; ours alone
/// if the comparison needs a peer and there is none.
pub(super) fn compare(
    comparison: &Comparison,
    rounds: usize,
    pause: Duration,
    ours: &mut Runner<'_>,
    mut peer: Option<&mut Runner<'_>>,
) -> Measured {
    let mut our_answers = Vec::new();
    let mut other_answers = Vec::new();
    let mut one_round = || {
        let mine = turn(ours, comparison.ours, pause)?;
        our_answers.push(mine);
        let theirs = match (comparison.side, &mut peer) {
            (Side::Ours, _) => turn(ours, comparison.other, pause)?,
            (Side::Peer, Some(peer)) => turn(peer, comparison.other, pause)?,
            (Side::Peer, None) => return Ok(()),
        };
        other_answers.push(theirs);
        same(mine.check, theirs.check, comparison.tolerance)
    };
    let error = (0..rounds).find_map(|_| one_round().err());
    Measured {
        comparison: *comparison,
        ours: Figures::from_answers(&our_answers),
        other: Figures::from_answers(&other_answers),
        error,
    }
}

fn turn(runner: &mut Runner<'_>, task: &str, pause: Duration) -> Result<Answer, String> {
    thread::sleep(pause);
    runner(task)
}

/// Whether two checksums agree; one that is absent agrees with anything.
fn same(ours: Option<f64>, other: Option<f64>, tolerance: f64) -> Result<(), String> {
    let (Some(a), Some(b)) = (ours, other) else {
        return Ok(());
    };
    // A NaN on either side fails this.
    if (a - b).abs() <= tolerance * a.abs().max(b.abs()) {
        Ok(())
    } else {
        Err(format!("the results differ: checksum {a} against {b}"))
    }
}

#[cfg(test)]
mod tests {
    use super::super::suite::{ourselves, peer};
    use super::*;

    const COMPARISON: Comparison = peer("c", "a", "b").at_least(3.0);

    /// Answers with the given times in turn.
    fn scripted(seconds: &[f64], check: Option<f64>) -> impl FnMut(&str) -> Result<Answer, String> {
        let mut seconds = seconds.iter().copied();
        move |_| {
            Ok(Answer {
                seconds: seconds.next().ok_or("out of answers")?,
                calls: 1,
                check,
            })
        }
    }

    #[test]
    fn medians_decide_and_bests_are_reported() {
        let mut ours = scripted(&[1.0, 9.0, 2.0], Some(5.0));
        let mut peer = scripted(&[8.0, 4.0, 6.0], Some(5.000001));
        let measured = compare(&COMPARISON, 3, Duration::ZERO, &mut ours, Some(&mut peer));
        assert_eq!(measured.ratio(Figures::median), Some(3.0));
        assert_eq!(measured.ratio(Figures::best), Some(4.0));
        assert_eq!(measured.spread(), Some((4.0 / 9.0, 8.0)));
        assert_eq!(measured.verdict(), Verdict::Met);
    }

    #[test]
    fn an_even_number_of_rounds_has_a_median_too() {
        let mut ours = scripted(&[1.0, 3.0], None);
        let mut peer = scripted(&[2.0, 2.0], None);
        let measured = compare(&COMPARISON, 2, Duration::ZERO, &mut ours, Some(&mut peer));
        assert_eq!(measured.ratio(Figures::median), Some(1.0));
        assert_eq!(measured.verdict(), Verdict::Missed);
    }

    #[test]
    fn ours_against_ours_alternates_in_one_child() {
        let (mut log, mut answer) = (Vec::new(), scripted(&[1.0; 4], None));
        let mut ours = |task: &str| {
            log.push(task.to_owned());
            answer(task)
        };
        let comparison = ourselves("c", "mine", "raw");
        let measured = compare(&comparison, 2, Duration::ZERO, &mut ours, None);
        assert_eq!(measured.verdict(), Verdict::Informational);
        assert_eq!(log, ["mine", "raw", "mine", "raw"]);
    }

    #[test]
    fn without_the_peer_ours_is_still_measured() {
        let mut ours = scripted(&[1.0, 2.0, 3.0], None);
        let measured = compare(&COMPARISON, 3, Duration::ZERO, &mut ours, None);
        assert_eq!(measured.ours.as_ref().unwrap().median(), 2.0);
        assert_eq!(measured.verdict(), Verdict::NotCompared);
    }

    #[test]
    fn different_results_are_an_error() {
        let mut ours = scripted(&[1.0], Some(5.0));
        let mut peer = scripted(&[9.0], Some(5.1));
        let measured = compare(&COMPARISON, 1, Duration::ZERO, &mut ours, Some(&mut peer));
        assert_eq!(measured.verdict(), Verdict::Error);
        assert!(same(Some(f64::NAN), Some(1.0), 1e-6).is_err());
        assert!(same(None, Some(1.0), 1e-6).is_ok());
        assert!(same(Some(0.0), Some(0.0), 1e-6).is_ok());
    }

    #[test]
    fn a_failing_child_is_an_error() {
        let mut ours = scripted(&[], None);
        let measured = compare(&COMPARISON, 2, Duration::ZERO, &mut ours, None);
        assert_eq!(measured.verdict(), Verdict::Error);
        assert!(measured.ours.is_none());
    }
}
