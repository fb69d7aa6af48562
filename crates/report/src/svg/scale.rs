//! Ranges and ticks of axes.

use std::ops::Range;

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};

use super::pixels::nearest;

/// The unit of an axis: how numbers are written at ticks and on hovering.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    /// The number itself.
    Plain,
    /// A hundred times the number.
    Percent,
    /// Integers only.
    Whole,
}

impl Unit {
    /// Formats a number with enough digits to compare.
    pub(crate) fn show(self, value: f64) -> String {
        match self {
            _ if !value.is_finite() => "not finite".to_owned(),
            Self::Percent => format!("{:.2}", 100.0 * value),
            Self::Whole => format!("{value:.0}"),
            Self::Plain if value == 0.0 => "0".to_owned(),
            Self::Plain if value.abs() >= 1e5 || value.abs() < 1e-3 => format!("{value:.2e}"),
            Self::Plain if value.abs() >= 100.0 => format!("{value:.1}"),
            Self::Plain => format!("{value:.4}"),
        }
    }
}

/// A range with ticks at round numbers.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Scale {
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) ticks: Vec<f64>,
    step: f64,
    unit: Unit,
}

/// Whether a number can be drawn: finite and of moderate size.
pub(crate) fn drawable(value: f64) -> bool {
    value.is_finite() && value.abs() < 1e12
}

impl Scale {
    /// A scale that covers all drawable values, with about `count` ticks; `None` if there are none.
    pub(crate) fn around(values: impl IntoIterator<Item = f64>, unit: Unit, count: usize) -> Option<Self> {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.into_iter().filter(|&value| drawable(value)) {
            low = low.min(value);
            high = high.max(value);
        }
        (low <= high).then(|| Self::new(low, high, unit, count))
    }

    /// From `low` to `high`, widened to ticks.
    pub(crate) fn new(low: f64, high: f64, unit: Unit, count: usize) -> Self {
        let size = low.abs().max(high.abs());
        let least: f64 = match unit {
            Unit::Whole => 1.0,
            Unit::Percent => 0.01,
            Unit::Plain => 1e-9,
        };
        let least = least.max(1e-6 * size);
        let (low, high) = if high - low < least {
            (low - least / 2.0, high + least / 2.0)
        } else {
            (low, high)
        };
        let mut step = round_step((high - low) / count.max(1) as f64);
        if unit == Unit::Whole {
            step = step.max(1.0);
        }
        let (first, last) = ((low / step + 1e-9).floor(), (high / step - 1e-9).ceil());
        let count = whole((last - first).clamp(1.0, 100.0));
        let ticks: Vec<f64> = (0..=count).map(|i| (first + i as f64) * step).collect();
        Self {
            low: first * step,
            high: (first + count as f64) * step,
            ticks,
            step,
            unit,
        }
    }

    /// The same ticks, without room beyond the data.
    pub(crate) fn trimmed(mut self, low: f64, high: f64) -> Self {
        if high > low {
            (self.low, self.high) = (low, high);
            let slack = 1e-9 * (high - low);
            self.ticks
                .retain(|&tick| tick >= low - slack && tick <= high + slack);
        }
        self
    }

    /// The same range without ticks.
    pub(crate) fn without_ticks(mut self) -> Self {
        self.ticks.clear();
        self
    }

    /// Clamps a value to the range.
    pub(crate) fn clamp(&self, value: f64) -> f64 {
        value.clamp(self.low, self.high)
    }

    /// The same for a bound of a band: shares lie between 0 and 1.
    pub(crate) fn bound(&self, value: f64) -> f64 {
        let value = match self.unit {
            Unit::Percent => value.clamp(0.0, 1.0),
            Unit::Plain | Unit::Whole => value,
        };
        self.clamp(value)
    }

    /// The label of a tick, with enough digits to distinguish it from the next.
    pub(crate) fn label(&self, tick: f64) -> String {
        let factor = if self.unit == Unit::Percent { 100.0 } else { 1.0 };
        let (tick, step) = (tick * factor, self.step * factor);
        if tick.abs() < step * 1e-6 {
            return "0".to_owned();
        }
        if tick.abs() >= 1e6 || step < 1e-5 {
            return format!("{tick:.2e}");
        }
        let digits = whole((-step.log10()).ceil().clamp(0.0, 6.0));
        // 0.25 needs a digit more than 0.2 does.
        let exact = |digits: usize| {
            let shifted = step * 10f64.powi(i32::try_from(digits).unwrap_or(0));
            (shifted - shifted.round()).abs() < 1e-6 * shifted
        };
        let digits = if exact(digits) { digits } else { digits + 1 };
        format!("{tick:.digits$}")
    }
}

impl Ranged for Scale {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (from, to): (i32, i32)) -> i32 {
        let share = (value - self.low) / (self.high - self.low);
        // Values far outside the range must not overflow.
        let share = share.clamp(-2.0, 3.0);
        from + nearest(f64::from(to - from) * share)
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        if hint.weight().allow_light_points() {
            Vec::new()
        } else {
            self.ticks.clone()
        }
    }

    fn range(&self) -> Range<f64> {
        self.low..self.high
    }
}

impl ValueFormatter<f64> for Scale {
    fn format_ext(&self, value: &f64) -> String {
        self.label(*value)
    }
}

/// A small number that is whole and not negative.
fn whole(number: f64) -> usize {
    usize::try_from(nearest(number)).unwrap_or(0)
}

/// The next of 1, 2, 2.5, 5, 10 times a power of ten.
fn round_step(step: f64) -> f64 {
    let power = 10f64.powf(step.log10().floor());
    let choices = [1.0, 2.0, 2.5, 5.0, 10.0];
    let fits = choices
        .into_iter()
        .find(|choice| choice * power >= step * (1.0 - 1e-9));
    fits.unwrap_or(10.0) * power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_cover_the_data() {
        let scale = Scale::around([0.713, 0.792], Unit::Percent, 5).unwrap();
        let labels: Vec<String> = scale.ticks.iter().map(|&tick| scale.label(tick)).collect();
        assert_eq!(labels, ["70", "72", "74", "76", "78", "80"]);
        let scale = Scale::around([0.0, 1.0], Unit::Plain, 4).unwrap();
        let labels: Vec<String> = scale.ticks.iter().map(|&tick| scale.label(tick)).collect();
        assert_eq!(labels, ["0", "0.25", "0.50", "0.75", "1.00"]);
        let scale = Scale::around([1.0, 3.0], Unit::Whole, 8).unwrap();
        assert_eq!(scale.ticks, [1.0, 2.0, 3.0]);
    }

    #[test]
    fn share_bands_end_at_100_percent() {
        let scale = Scale::around([0.9, 1.0], Unit::Percent, 4)
            .unwrap()
            .trimmed(0.9, 1.04);
        assert_eq!((scale.bound(1.03), scale.clamp(1.03)), (1.0, 1.03));
        assert_eq!((scale.bound(-0.2), scale.bound(0.95)), (0.9, 0.95));
        let losses = Scale::around([0.0, 3.0], Unit::Plain, 4).unwrap();
        assert_eq!(losses.bound(2.5), 2.5);
    }

    #[test]
    fn scales_of_one_value_and_of_none_are_drawable() {
        assert_eq!(Scale::around([f64::NAN, f64::INFINITY], Unit::Plain, 4), None);
        for value in [0.0, 0.75, -3e11, 1e-300] {
            let scale = Scale::around([value], Unit::Plain, 4).unwrap();
            assert!(scale.low <= value && value <= scale.high, "{value}: {scale:?}");
            assert!(
                scale.low < scale.high && scale.ticks.len() >= 2,
                "{value}: {scale:?}"
            );
        }
    }
}
