//! Repetitions: the same bits side by side, one after the other, and on any
//! number of threads.

use approx::assert_abs_diff_eq;
use egg_graph::Split;
use egg_pool::ConvolutionConfig;
use egg_pool::convolution::{Gcn, Gin};
use egg_pool::protocol::{Experiment, Parallelism, Protocol, Report, RunOptions, SplitRule};

use crate::small::{self, timeless};

fn run(experiment: &Experiment, threads: usize, parallelism: Parallelism) -> Report {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .unwrap();
    let options = RunOptions {
        parallelism,
        ..RunOptions::default()
    };
    pool.install(|| {
        let graphs = experiment.prepare(small::dataset(60)).unwrap();
        let run = experiment.run(&graphs, &options, &small::watch_nothing).unwrap();
        let mut report = run.report;
        report.outcomes = report.outcomes.into_iter().map(timeless).collect();
        report
    })
}

#[test]
fn results_are_the_same_bits_on_any_number_of_threads() {
    for (convolution, pooling) in [
        ("gcn", "egg"),
        ("gin", "egg"),
        ("gin", "sum"),
        ("gin", "topk"),
        ("gcn", "edge"),
    ] {
        let mut experiment = small::experiment(&small::dataset(60), convolution, pooling);
        experiment.training.max_epochs = 2;
        let reference = run(&experiment, 1, Parallelism::Inside);
        assert_eq!(reference.outcomes.len(), 3);
        for (threads, parallelism) in [
            (2, Parallelism::Inside),
            (4, Parallelism::Inside),
            (2, Parallelism::Repetitions),
            (4, Parallelism::Repetitions),
            (8, Parallelism::Auto),
        ] {
            let other = run(&experiment, threads, parallelism);
            assert!(
                other == reference,
                "{convolution} {pooling} {threads} {parallelism:?}"
            );
        }
    }
}

#[test]
fn repetitions_and_seeds_change_the_loss() {
    let mut experiment = small::experiment(&small::dataset(60), "gin", "egg");
    experiment.training.max_epochs = 1;
    let report = run(&experiment, 2, Parallelism::Auto);
    let loss = |report: &Report, at: usize| report.outcomes[at].history[0].train_loss;
    assert_ne!(loss(&report, 0), loss(&report, 1));
    experiment.seed = 1;
    let other = run(&experiment, 2, Parallelism::Auto);
    assert_ne!(loss(&report, 0), loss(&other, 0));
    // A repetition is the same whatever comes after it.
    experiment.seed = 0;
    experiment.repetitions = 1;
    let one = run(&experiment, 2, Parallelism::Auto);
    assert_eq!(one.outcomes[0], report.outcomes[0]);
}

#[test]
fn splits_are_those_of_the_protocol() {
    let dataset = small::dataset(60);
    let splits = |protocol, convolution: ConvolutionConfig| {
        let rule = SplitRule::new(protocol, &convolution);
        rule.splits(&dataset, 12, 5).unwrap()
    };
    let paper = splits(Protocol::Paper, Gin.into());
    assert!(paper.iter().all(|split| *split == Split::paper(60)));
    let random = splits(Protocol::Paper, Gcn.into());
    assert!(random.windows(2).all(|pair| pair[0] != pair[1]));
    assert!(
        random
            .iter()
            .all(|split| (split.train.len(), split.validation.len()) == (48, 6))
    );
    let folds = splits(Protocol::Fair, Gcn.into());
    let mut tested: Vec<usize> = folds[..10].iter().flat_map(|fold| fold.test.clone()).collect();
    tested.sort_unstable();
    assert_eq!(tested, (0..60).collect::<Vec<_>>());
    assert_ne!(folds[10], folds[0]); // drawn anew
    assert_eq!(folds, splits(Protocol::Fair, Gin.into()));

    let own = Split {
        train: (0..50).collect(),
        validation: (50..55).collect(),
        test: (55..60).collect(),
    };
    let dataset = dataset.with_split(own.clone()).unwrap();
    let kept = SplitRule::StratifiedFolds.splits(&dataset, 2, 0).unwrap();
    assert_eq!(kept, [own.clone(), own]);
}

#[test]
fn reports_say_how_they_were_made() {
    let dataset = small::dataset(60);
    let mut experiment = small::experiment(&dataset, "gcn", "sum");
    experiment.protocol = Protocol::Fair;
    experiment.training.max_epochs = 1;
    let report = run(&experiment, 2, Parallelism::Auto);
    let text = serde_json::to_string(&report).unwrap();
    assert!(text.contains("\"protocol\":\"fair\""));
    assert_eq!(serde_json::from_str::<Report>(&text).unwrap(), report);
    assert_eq!(report.fingerprint, dataset.fingerprint());
    let test = report.test.unwrap();
    let scores: Vec<f64> = report
        .outcomes
        .iter()
        .map(|outcome| {
            outcome
                .test
                .as_ref()
                .unwrap()
                .scores
                .get(experiment.training.metric)
                .unwrap()
        })
        .collect();
    let mean = scores.iter().sum::<f64>() / 3.0;
    let squares: f64 = scores.iter().map(|score| (score - mean).powi(2)).sum();
    assert_abs_diff_eq!(test.mean, mean, epsilon = 1e-12);
    assert_abs_diff_eq!(test.deviation.unwrap(), (squares / 2.0).sqrt(), epsilon = 1e-12);
}
