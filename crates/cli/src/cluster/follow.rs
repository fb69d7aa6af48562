//! How far a training is.

use egg_gnn::cluster::pipeline::ClusteringEvent;
use egg_gnn::cluster::vgae::Control;
use indicatif::ProgressBar;
use serde_json::json;

use crate::console::Style;
use crate::interrupt;

/// Follows one training.
pub(super) struct Follow<'a> {
    pub(super) style: Style,
    pub(super) quiet: bool,
    pub(super) bar: &'a ProgressBar,
    pub(super) repetition: usize,
}

impl Follow<'_> {
    pub(super) fn event(&self, event: &ClusteringEvent) -> Control {
        let ClusteringEvent::Epoch(epoch) = event else {
            return Control::Continue;
        };
        let rep = self.repetition + 1;
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
            true => Control::Cancel,
            false => Control::Continue,
        }
    }
}
