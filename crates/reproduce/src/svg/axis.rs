//! From numbers to places.

/// A range of numbers on a range of pixels.
#[derive(Debug, Clone, Copy)]
pub(super) struct Axis {
    log: bool,
    /// Of the numbers, or of their logarithms.
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Axis {
    /// An axis that has all numbers on it, with a little room. Numbers that have no
    /// place (no logarithm, not finite) are not looked at.
    pub(super) fn over(numbers: impl IntoIterator<Item = f64>, log: bool, from: f64, to: f64) -> Self {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for number in numbers {
            let number = if log { number.log10() } else { number };
            if number.is_finite() {
                (low, high) = (low.min(number), high.max(number));
            }
        }
        if low > high {
            (low, high) = (0.0, 1.0);
        }
        // A single number, or many that are equal, still need a range.
        let room = (0.04 * (high - low)).max(if log { 0.05 } else { 1e-3 * high.abs().max(1e-3) });
        Self {
            log,
            low: low - room,
            high: high + room,
            from,
            to,
        }
    }

    pub(super) fn at(&self, number: f64) -> f64 {
        let number = if self.log { number.log10() } else { number };
        self.from + (number - self.low) / (self.high - self.low) * (self.to - self.from)
    }

    /// Round numbers to be written next to it.
    pub(super) fn marks(&self) -> Vec<f64> {
        let marks = match self.log {
            true => self.powers(),
            false => self.steps(),
        };
        marks.into_iter().filter(|mark| self.holds(*mark)).collect()
    }

    fn holds(&self, number: f64) -> bool {
        let number = if self.log { number.log10() } else { number };
        (self.low..=self.high).contains(&number)
    }

    /// 1, 2, 5 times powers of ten; over many of these, the powers alone.
    fn powers(&self) -> Vec<f64> {
        let (first, last) = (self.low.floor() as i32, self.high.ceil() as i32);
        let factors: &[f64] = if last - first > 4 {
            &[1.0]
        } else {
            &[1.0, 2.0, 5.0]
        };
        (first..=last)
            .flat_map(|power| factors.iter().map(move |factor| factor * 10f64.powi(power)))
            .collect()
    }

    /// About five.
    fn steps(&self) -> Vec<f64> {
        let rough = (self.high - self.low) / 5.0;
        let power = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0]
            .into_iter()
            .map(|factor| factor * power)
            .find(|step| *step >= rough)
            .unwrap_or(rough);
        let (first, last) = ((self.low / step).floor() as i64, (self.high / step).ceil() as i64);
        (first..=last).map(|count| count as f64 * step).collect()
    }
}

/// As few digits as say which mark it is.
pub(super) fn label(number: f64) -> String {
    let size = number.abs();
    if size != 0.0 && !(1e-3..1e5).contains(&size) {
        return format!("{number:e}");
    }
    let text = format!("{number:.4}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axis_maps_values_to_positions_and_round_marks() {
        let axis = Axis::over([1.0, 100.0], true, 0.0, 100.0);
        assert!((axis.at(10.0) - 50.0).abs() < 1e-9);
        assert!(axis.at(1.0) > 0.0 && axis.at(100.0) < 100.0);
        assert_eq!(axis.marks(), [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0]);
        let axis = Axis::over([0.3, 0.9], false, 100.0, 0.0);
        assert!(axis.at(0.3) > axis.at(0.9));
        assert_eq!(axis.marks().len(), 3, "{:?}", axis.marks());
    }

    #[test]
    fn values_without_a_place_do_not_widen_the_axis() {
        for log in [true, false] {
            let axis = Axis::over([f64::NAN, f64::INFINITY], log, 0.0, 1.0);
            assert!(axis.at(2.0).is_finite());
            let axis = Axis::over([3.0, 3.0], log, 0.0, 1.0);
            assert!(axis.at(3.0).is_finite() && (0.0..=1.0).contains(&axis.at(3.0)));
        }
    }

    #[test]
    fn mark_labels_are_short() {
        for (number, text) in [
            (0.05, "0.05"),
            (20.0, "20"),
            (0.30000000000000004, "0.3"),
            (1e6, "1e6"),
            (0.0, "0"),
        ] {
            assert_eq!(label(number), text);
        }
    }
}
