//! Prints the epochs of every repetition, and cancels after Ctrl-C.

use std::ops::ControlFlow;

use egg_gnn::cluster::pipeline::{ClusteringEvent, RepetitionEvent};
use egg_gnn::nn::Observer;
use indicatif::ProgressBar;
use serde_json::json;

use crate::console::Style;
use crate::interrupt;

/// Prints epochs as JSON lines, as plain lines or on a progress bar.
pub(super) struct EpochPrinter<'a> {
    pub(super) style: Style,
    pub(super) quiet: bool,
    pub(super) bar: &'a ProgressBar,
}

impl Observer<RepetitionEvent> for EpochPrinter<'_> {
    fn observe(&mut self, event: RepetitionEvent) -> ControlFlow<()> {
        // Cancelled after an epoch only, when the checkpoint has it.
        let ClusteringEvent::Epoch(epoch) = event.event else {
            return ControlFlow::Continue(());
        };
        let rep = event.repetition + 1;
        if !self.quiet {
            self.style.emit(&json!({
                "event": "epoch",
                "rep": rep,
                "epoch": epoch.epoch,
                "train_loss": epoch.loss,
                "val_auc": epoch.validation.map(|ranking| ranking.roc_auc),
                "val_ap": epoch.validation.map(|ranking| ranking.average_precision),
            }));
        }
        let validation = epoch
            .validation
            .map(|ranking| format!("  validation AUC {:.4}", ranking.roc_auc));
        match self.style {
            Style::Terminal => {
                self.bar.inc(1);
                self.bar.set_message(format!(
                    "rep {rep} loss {:.4}{}",
                    epoch.loss,
                    validation.unwrap_or_default()
                ));
            }
            Style::Plain if !self.quiet && (epoch.validation.is_some() || epoch.epoch == 1) => {
                self.style.say(format!(
                    "rep {rep:2}  epoch {:3}  loss {:.4}{}",
                    epoch.epoch,
                    epoch.loss,
                    validation.unwrap_or_default()
                ))
            }
            _ => {}
        }
        match interrupt::asked() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}
