//! How far a run is: a bar on a terminal, lines elsewhere, objects for programs.

use std::sync::Mutex;
use std::time::Duration;

use egg_gnn::pool::metrics::Metric;
use egg_gnn::pool::train::{EpochReport, Event};
use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use serde_json::json;

use crate::console::{Style, printable};

/// A bar of epochs; hidden unless on a terminal.
pub(crate) fn bar(style: Style, quiet: bool, total: u64, unit: &str) -> ProgressBar {
    if style != Style::Terminal || quiet {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(total);
    // In 80 columns there is room for the loss and the metric.
    let template =
        format!("{{prefix}} [{{bar:12}}] {{pos}}/{{len}} {unit}, {{rate}}, {{eta}} left  {{wide_msg}}");
    if let Ok(style) = ProgressStyle::with_template(&template) {
        let rate = |state: &ProgressState, text: &mut dyn std::fmt::Write| {
            let per_second = state.per_sec();
            let digits = usize::from(per_second < 10.0);
            let _ = write!(text, "{per_second:.digits$}/s");
        };
        bar.set_style(style.with_key("rate", rate).progress_chars("=> "));
    }
    bar.enable_steady_tick(Duration::from_millis(250));
    bar
}

/// Follows the repetitions of an experiment, which may run side by side.
pub(crate) struct TrainProgress {
    style: Style,
    quiet: bool,
    metric: Metric,
    max_epochs: u64,
    bar: ProgressBar,
    /// Epochs of each repetition that the bar has counted.
    counted: Mutex<Vec<u64>>,
}

impl TrainProgress {
    pub(crate) fn new(
        style: Style,
        quiet: bool,
        name: &str,
        metric: Metric,
        repetitions: usize,
        max_epochs: u64,
    ) -> Self {
        let bar = bar(style, quiet, repetitions as u64 * max_epochs, "epochs");
        bar.set_prefix(printable(name, false).into_owned());
        Self {
            style,
            quiet,
            metric,
            max_epochs,
            bar,
            counted: Mutex::new(vec![0; repetitions]),
        }
    }

    /// Something happened in a repetition, counted from 0.
    pub(crate) fn event(&self, repetition: usize, event: Event<'_>) {
        match event {
            Event::Started { done, .. } if done > 0 => {
                self.count(repetition, done);
                // What is done already says nothing of the rate.
                self.bar.reset_eta();
            }
            Event::Epoch(epoch) => self.epoch(repetition, epoch),
            // Early stopping leaves out the rest.
            Event::Finished(_) => self.count(repetition, self.max_epochs),
            _ => {}
        }
    }

    fn count(&self, repetition: usize, epochs: u64) {
        let mut counted = self
            .counted
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(counted) = counted.get_mut(repetition) {
            self.bar.inc(epochs.saturating_sub(*counted));
            *counted = epochs.max(*counted);
        }
    }

    fn epoch(&self, repetition: usize, epoch: &EpochReport) {
        self.count(repetition, epoch.epoch);
        if !self.quiet {
            self.style.emit(&epoch_json(repetition, epoch));
        }
        let rep = repetition + 1;
        let shown = |score: Option<f64>| score.map_or_else(|| "-".into(), |score| format!("{score:.4}"));
        let (metric, best) = (self.metric, if epoch.best { " *" } else { "" });
        match self.style {
            Style::Terminal => {
                let short = |score: Option<f64>| score.map_or_else(|| "-".into(), |score| format!("{score:.3}"));
                self.bar.set_message(format!(
                    "loss {:.4} {metric} {}, validation {}, rep {rep}",
                    epoch.train_loss,
                    short(epoch.train_score),
                    short(epoch.validation_score),
                ));
            }
            Style::Plain if !self.quiet => self.style.say(format!(
                "rep {rep:2}  epoch {:3}  train loss {:.4} {metric} {}  validation loss {:.4} {metric} {}  {:.3} s{best}",
                epoch.epoch,
                epoch.train_loss,
                shown(epoch.train_score),
                epoch.validation_loss,
                shown(epoch.validation_score),
                epoch.seconds,
            )),
            _ => {}
        }
    }

    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

fn epoch_json(repetition: usize, epoch: &EpochReport) -> serde_json::Value {
    json!({
        "event": "epoch",
        "rep": repetition + 1,
        "epoch": epoch.epoch,
        "train_loss": epoch.train_loss,
        "train_metric": epoch.train_score,
        "val_loss": epoch.validation_loss,
        "val_metric": epoch.validation_score,
        "train_seconds": epoch.train_seconds,
    })
}
