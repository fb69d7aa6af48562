//! A metric: the F1 score of each class, averaged over the classes that there are.

use std::collections::BTreeSet;

use egg_gnn::nn::Goal;
use egg_gnn::pool::Result;
use egg_gnn::pool::metrics::{ClassPredictions, MetricDefinition, MetricFunction};

/// scikit-learn's `f1_score(average="macro")`.
pub static F1: MetricDefinition = MetricDefinition {
    name: "f1",
    goal: Goal::Max,
    range: 0.0..=1.0,
    function: MetricFunction::Classes(f1),
};

fn f1(of: &ClassPredictions<'_>) -> Result<Option<f64>> {
    let classes: BTreeSet<u32> = of.truth.iter().chain(&of.predicted).copied().collect();
    let pairs = || of.truth.iter().zip(&of.predicted);
    let score = |class: u32| {
        let both = pairs().filter(|(truth, guess)| **truth == class && **guess == class).count();
        let either = pairs().map(|(truth, guess)| usize::from(*truth == class) + usize::from(*guess == class));
        2.0 * both as f64 / either.sum::<usize>() as f64
    };
    let sum: f64 = classes.iter().map(|class| score(*class)).sum();
    Ok((!classes.is_empty()).then(|| sum / classes.len() as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equals_scikit_learn() {
        // sklearn.metrics.f1_score([0, 1, 2, 0, 1, 2], [0, 2, 1, 0, 0, 1], average="macro")
        let truth = [0, 1, 2, 0, 1, 2];
        let row = |class: usize| (0..3).map(|at| f64::from(u8::from(at == class))).collect();
        let logits: Vec<Vec<f64>> = [0, 2, 1, 0, 0, 1].map(row).into();
        let found = f1(&ClassPredictions::new(&truth, &logits)).unwrap().unwrap();
        assert!((found - 0.266_666_666_666_666_6).abs() < 1e-12);
    }
}
