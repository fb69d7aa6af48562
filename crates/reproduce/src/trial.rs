//! One cell with settings of one's own: how presets were chosen.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Instant;

use clap::{Args, ValueEnum};
use egg_autodiff::{Flatten, RankRule};
use egg_pool::pooling::{Egg, FilterConfig, SoftEgg};
use egg_pool::protocol::{Experiment, Protocol, RunOptions};
use egg_pool::train::{BatchLoss, Event};
use egg_pool::{ConvolutionConfig, PoolingConfig};

use crate::budget::{Budget, Length};
use crate::error::Result;
use crate::{data, growing, preset, provenance};

/// Trains a model on a benchmark data set with settings of one's own, as presets were chosen.
///
/// With --record the result is kept as those of the tables are: written after every few repetitions; what is there is
/// not repeated. `egg train` is the program for models to keep.
#[derive(Debug, Args)]
pub(crate) struct Request {
    /// The name of a data set, a path to one, or `covariance`.
    dataset: String,
    /// gcn, gin or blind.
    convolution: ConvolutionConfig,
    /// As `egg`, `sum`.
    pooling: PoolingConfig,
    /// paper or fair.
    #[arg(long, value_name = "NAME", default_value = "paper")]
    protocol: Protocol,
    /// How often.
    #[arg(long, value_name = "N", default_value_t = 1)]
    repetitions: usize,
    /// The random seed.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// At most.
    #[arg(long, value_name = "N")]
    epochs: Option<u64>,
    /// Adam's rate.
    #[arg(long, value_name = "X")]
    lr: Option<f64>,
    /// Adam's L2 decay.
    #[arg(long, value_name = "X")]
    wd: Option<f64>,
    /// Convolutions.
    #[arg(long, value_name = "N")]
    layers: Option<usize>,
    /// The width of convolutions.
    #[arg(long, value_name = "N")]
    hidden: Option<usize>,
    /// Of the head.
    #[arg(long, value_name = "X")]
    dropout: Option<f64>,
    /// EGG's rank rule: threshold, relative, energy, squares, ratio or fixed, with its value.
    #[arg(long, value_name = "RULE=X")]
    rank: Option<RankRule>,
    /// Soft EGG's: resolvent=X, sqrt or log1p.
    #[arg(long, value_name = "NAME", value_parser = filter)]
    filter: Option<FilterConfig>,
    /// How EGG's projectors become vectors.
    #[arg(long, value_name = "NAME")]
    flatten: Option<Flattening>,
    /// How the losses of a batch are added up.
    #[arg(long, value_name = "NAME")]
    loss: Option<Loss>,
    /// No ReLU in convolutions.
    #[arg(long)]
    linear: bool,
    /// Batch norm before pooling.
    #[arg(long)]
    node_norm: bool,
    /// No batch norm on the scores.
    #[arg(long)]
    no_output_norm: bool,
    /// Where to keep the repetitions.
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// 30s, 60m, 2h: begin no repetition after that.
    #[arg(long, value_name = "TIME", requires = "record")]
    budget: Option<Length>,
    /// Say nothing of epochs.
    #[arg(long)]
    quiet: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Flattening {
    Upper,
    Isometric,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Loss {
    Sum,
    Mean,
}

fn filter(text: &str) -> std::result::Result<FilterConfig, String> {
    Ok(match text.split_once('=') {
        Some(("resolvent", r)) => {
            FilterConfig::Resolvent(r.parse().map_err(|error| format!("{r}: {error}"))?)
        }
        None if text == "sqrt" => FilterConfig::Sqrt,
        None if text == "log1p" => FilterConfig::Log1p,
        _ => return Err(format!("there is no filter {text:?}")),
    })
}

impl Request {
    /// Puts what was said in the place of the preset.
    fn change(&self, experiment: &mut Experiment) {
        fn set<T: Copy>(target: &mut T, value: Option<T>) {
            *target = value.unwrap_or(*target);
        }
        experiment.repetitions = self.repetitions;
        set(&mut experiment.seed, self.seed);
        let training = &mut experiment.training;
        set(&mut training.max_epochs, self.epochs);
        set(&mut training.learning_rate, self.lr);
        set(&mut training.weight_decay, self.wd);
        let loss = self.loss.map(|loss| match loss {
            Loss::Sum => BatchLoss::Sum,
            Loss::Mean => BatchLoss::Mean,
        });
        set(&mut training.batch_loss, loss);
        let model = &mut experiment.model;
        set(&mut model.layers, self.layers);
        set(&mut model.hidden, self.hidden);
        set(&mut model.head.dropout, self.dropout);
        model.activation &= !self.linear;
        model.node_norm |= self.node_norm;
        model.head.output_norm &= !self.no_output_norm;
        let flattening = self.flatten.map(|flatten| match flatten {
            Flattening::Upper => Flatten::Upper,
            Flattening::Isometric => Flatten::Isometric,
        });
        if let Some(egg) = model.pooling.get_mut::<Egg>() {
            set(&mut egg.rank, self.rank);
            set(&mut egg.flatten, flattening);
        }
        if let Some(egg) = model.pooling.get_mut::<SoftEgg>() {
            set(&mut egg.filter, self.filter);
            set(&mut egg.flatten, flattening);
        }
    }
}

/// Does it.
///
/// # Errors
/// As loading, training and [`growing::extend`].
pub(crate) fn run(request: &Request) -> Result<()> {
    let dataset = data::load(&request.dataset)?;
    let pooling = request.pooling.clone();
    let convolution = request.convolution.clone();
    let mut experiment = preset::experiment(&dataset, request.protocol, convolution, pooling)?;
    request.change(&mut experiment);
    let graphs = experiment.prepare(dataset)?;
    let observer = |repetition: usize, event: Event<'_>| {
        print(repetition, event, request.quiet);
        ControlFlow::Continue(())
    };
    if let Some(path) = &request.record {
        let revision = Some(provenance::revision());
        let budget = Budget::new(request.budget);
        let done = growing::extend(path, &experiment, &graphs, revision, &budget, &observer)?;
        let wanted = experiment.repetitions;
        match done < wanted {
            true => println!("time is up after {done} of {wanted}: call again to continue"),
            false => println!("{}: {done} repetitions are there", path.display()),
        }
        return Ok(());
    }
    let start = Instant::now();
    let report = experiment.run(&graphs, &RunOptions::default(), &observer)?.report;
    let epochs: usize = report.outcomes.iter().map(|outcome| outcome.history.len()).sum();
    let seconds: f64 = report.outcomes.iter().map(|outcome| outcome.seconds()).sum();
    let metric = experiment.training.metric;
    if let (Some(validation), Some(test)) = (report.validation, report.test) {
        println!(
            "{} protocol, {metric}: validation {}, test {} (ddof {})",
            request.protocol,
            validation.percent(),
            test.percent(),
            test.ddof
        );
    }
    println!(
        "{epochs} epochs, {:.4} s each, {:.1} s in all",
        seconds / epochs as f64,
        start.elapsed().as_secs_f64()
    );
    Ok(())
}

fn print(repetition: usize, event: Event<'_>, quiet: bool) {
    let run = repetition + 1;
    match event {
        Event::Started {
            parameters, graphs, ..
        } => {
            println!("[{run}] {parameters} parameters, train/validation/test {graphs:?}");
        }
        Event::Epoch(report) if !quiet => {
            let percent = |score: Option<f64>| score.map_or(f64::NAN, |score| 100.0 * score);
            let ranks: Vec<String> = report
                .ranks
                .iter()
                .map(|ranks| format!("{}-{:.1}-{}", ranks.least, ranks.mean, ranks.most))
                .collect();
            println!(
                "[{run}] {:3}{} lr {:.1e}  train {:.4} {:5.1}  validation {:.4} {:5.1}  {:.3} s  p {}",
                report.epoch,
                if report.best { '*' } else { ' ' },
                report.learning_rate,
                report.train_loss,
                percent(report.train_score),
                report.validation_loss,
                percent(report.validation_score),
                report.seconds,
                ranks.join(" ")
            );
        }
        Event::Finished(outcome) => {
            let test = outcome.test.as_ref().map(|part| format!("{:?}", part.scores));
            println!(
                "[{run}] {:?} after {} epochs, best {:?}: test {}",
                outcome.stopped,
                outcome.history.len(),
                outcome.best_epoch,
                test.unwrap_or_default()
            );
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use egg_graph::synthetic::CovarianceSet;

    use super::*;

    #[derive(Debug, Parser)]
    struct Alone {
        #[command(flatten)]
        request: Request,
    }

    #[test]
    fn settings_take_the_place_of_the_preset() {
        let parsed = |line: &str| {
            let words = std::iter::once("trial").chain(line.split_whitespace());
            Alone::try_parse_from(words).map(|alone| alone.request)
        };
        let dataset = CovarianceSet::standard().unwrap();
        let changed = |line: &str| {
            let request = parsed(line).unwrap();
            let pooling = request.pooling.clone();
            let convolution = request.convolution.clone();
            let mut experiment =
                preset::experiment(&dataset, request.protocol, convolution, pooling).unwrap();
            request.change(&mut experiment);
            experiment
        };
        let egg = changed("PROTEINS gcn egg --lr 5e-3 --rank threshold=0.01 --flatten isometric --linear");
        assert_eq!(
            egg.model.pooling,
            Egg {
                rank: RankRule::Threshold(0.01),
                flatten: Flatten::Isometric
            }
            .into()
        );
        assert_eq!((egg.training.learning_rate, egg.model.activation), (5e-3, false));
        let soft = changed("x gin soft-egg --filter resolvent=0.3 --loss mean --node-norm --no-output-norm");
        let filter = soft.model.pooling.get::<SoftEgg>().unwrap().filter;
        assert_eq!(filter, FilterConfig::Resolvent(0.3));
        assert!(soft.model.node_norm && !soft.model.head.output_norm);
        for bad in [
            "PROTEINS gcn",
            "PROTEINS gat egg",
            "PROTEINS gcn best",
            "PROTEINS gcn egg --rank threshold",
            "PROTEINS gcn egg --rank best=1",
            "PROTEINS gcn egg --budget 60m",
        ] {
            assert!(parsed(bad).is_err(), "{bad}");
        }
    }
}
