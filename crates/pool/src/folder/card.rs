//! The model card.

use std::fmt::Write;

use super::saved::SavedConfig;
use crate::train::{Outcome, PartReport, Stopped};

/// What a person should know before using the model, in Markdown.
pub(super) fn card(config: &SavedConfig, outcome: &Outcome) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = write(&mut text, config, outcome);
    text
}

fn write(text: &mut String, config: &SavedConfig, outcome: &Outcome) -> std::fmt::Result {
    let (model, training, data) = (&config.model, &config.training, &config.data);
    let (convolution, pooling) = (model.convolution.name(), model.pooling.name());
    writeln!(
        text,
        "# {} with {pooling} pooling, trained on {}\n",
        convolution,
        plain(&data.name)
    )?;
    let task = match training.objective.of_classes() {
        true => {
            let classes: Vec<String> = data.classes.iter().map(|class| plain(class)).collect();
            format!("the class of a graph ({})", classes.join(", "))
        }
        false => format!("{} number(s) of a graph", config.outputs),
    };
    writeln!(
        text,
        "Predicts {task} from its edges and {} features per node.\n",
        config.inputs
    )?;

    writeln!(text, "## How good it is\n")?;
    writeln!(text, "| part | loss | metrics |\n|---|---|---|")?;
    for (name, part) in [("validation", &outcome.validation), ("test", &outcome.test)] {
        if let Some(part) = part {
            writeln!(text, "| {name} | {:.4} | {} |", part.loss, metrics(part))?;
        }
    }
    writeln!(
        text,
        "\nBoth at the epoch of the lowest validation loss. The test part was looked at once, after that. One \
         run on one split says little: compare means over repetitions.\n"
    )?;

    writeln!(text, "## How it was made\n")?;
    let stopped = match outcome.stopped {
        Stopped::Patience => "no better validation loss",
        Stopped::MaxEpochs => "the most epochs allowed",
        Stopped::Cancelled => "cancelled",
    };
    let epochs = outcome.history.len();
    writeln!(
        text,
        "- model: {} layers of width {}, head {:?}",
        model.layers, model.hidden, model.head.widths
    )?;
    writeln!(
        text,
        "- training: Adam, learning rate {}, L2 decay {}, batches of {}, dropout {}",
        training.learning_rate, training.weight_decay, training.batch_size, model.head.dropout
    )?;
    writeln!(
        text,
        "- {epochs} epochs ({stopped}), best {:?}",
        outcome.best_epoch.unwrap_or(0)
    )?;
    writeln!(
        text,
        "- protocol `{}`, seed {}, repetition {}",
        config.protocol, config.seed, config.repetition
    )?;
    writeln!(
        text,
        "- data: {}, {} graphs, SHA-256 `{}`",
        plain(&data.name),
        data.graphs,
        plain(&data.fingerprint)
    )?;
    writeln!(text, "- egg-pool {}\n", config.written_by)?;

    writeln!(text, "## Use\n")?;
    writeln!(
        text,
        "```rust\nlet model = egg_pool::folder::TrainedModel::load(\"this folder\")?;"
    )?;
    writeln!(text, "let predictions = model.predict(graphs)?;\n```\n")?;
    writeln!(
        text,
        "Graphs must have the same {} features per node as the training data{}. For graphs \
         unlike those it was trained on, nothing is known of its errors.",
        config.inputs,
        match config.columns {
            Some(_) => ", under the same names",
            None => ", in the same order",
        }
    )
}

/// A text that is no more than text in Markdown and on a terminal: data sets and classes
/// may be called anything.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        let turns = matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        match c {
            c if c.is_control() || turns => plain.extend(c.escape_default()),
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '#' | '|' | '~' | '!' | '&' => {
                plain.extend(['\\', c])
            }
            c => plain.push(c),
        }
    }
    plain
}

fn metrics(part: &PartReport) -> String {
    let defined = part.scores.defined();
    let named = defined.map(|(metric, value)| format!("{} {value:.4}", metric.name()));
    named.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn markdown_in_names_is_escaped() {
        assert_eq!(plain("wet & dry"), "wet \\& dry");
        assert_eq!(plain("\u{1b}[31m<b>|`x`"), "\\u{1b}\\[31m\\<b\\>\\|\\`x\\`");
        assert_eq!(plain("a\n# b"), "a\\n\\# b");
    }
}
