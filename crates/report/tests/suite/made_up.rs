//! Made-up runs, to inspect the page and to test it.

use egg_report::{
    Clustering, Confusion, Data, Embedding, Epoch, Estimate, Kind, Losses, Method, RankBin, Ranks, Record,
    Repetition, Sweep, SweepPoint, SweepSeries, Trial, Versions,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// About normal: a sum of uniform numbers.
fn noise(rng: &mut ChaCha8Rng) -> f64 {
    (0..6).map(|_| rng.random_range(-0.7..0.7)).sum()
}

fn repetition(rng: &mut ChaCha8Rng, fold: usize, level: f64, hard: f64, speed: f64) -> Repetition {
    let length = 60 + (30.0 * noise(rng).abs()) as u64;
    let epochs = (1..=length).map(|epoch| {
        let done = 1.0 - (-(epoch as f64) * speed).exp();
        let train = 0.70 - 0.45 * done + 0.01 * noise(rng);
        let validation = 0.70 - 0.20 * done + 0.0012 * epoch as f64 + 0.015 * noise(rng);
        Epoch {
            epoch,
            train_loss: train,
            train_metric: Some((0.5 + 0.42 * done + 0.01 * noise(rng)).min(1.0)),
            validation_loss: validation,
            validation_metric: Some((0.5 + (level - 0.5) * done + hard + 0.012 * noise(rng)).min(1.0)),
            seconds: 0.21 + 0.01 * noise(rng).abs(),
        }
    });
    Repetition {
        split: format!("fold {}", fold + 1),
        parts: (901, 100, 112),
        epochs: epochs.collect(),
        test: Some(level + hard + 0.008 * noise(rng)),
        validation: Some(level + hard + 0.01),
        best_epoch: Some(length - 20),
    }
}

fn embedding(rng: &mut ChaCha8Rng, spread: f64) -> Embedding {
    let columns = 24;
    let mut values = Vec::new();
    let mut classes = Vec::new();
    for row in 0..420 {
        let class = row % 3;
        classes.push(Some(class as u32));
        for column in 0..columns {
            let centre = if column % 3 == class { 1.0 } else { 0.0 };
            values.push((centre + spread * noise(rng)) as f32);
        }
    }
    let mut embedding = Embedding::new("graphs", columns, values, classes).unwrap();
    embedding.class_names = ["enzyme", "not an enzyme", "other"].map(String::from).to_vec();
    embedding.note = "test part of fold 1".to_owned();
    embedding
}

/// A comparison of poolings, and a clustering with a sweep.
pub(crate) fn records() -> Vec<Record> {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let rng = &mut rng;
    let mut first = Record::new(
        Kind::Train,
        "Made-up example: five poolings on PROTEINS-like graphs",
    );
    first.command = "cargo run -p egg-report --example gallery".to_owned();
    first.config = serde_json::json!({
        "conv": "gin", "pool": "egg", "rank": {"rule": "threshold", "r": 0.8}, "hidden": 32, "layers": 4,
        "lr": 0.001, "weight_decay": 0.0005, "dropout": 0.5, "batch": 32, "epochs": 200, "patience": 20
    });
    first.seed = Some(42);
    first.protocol = "fair".to_owned();
    first.data = Data {
        name: "MADE-UP".to_owned(),
        fingerprint: "xxh3:0123456789abcdef0123456789abcdef".to_owned(),
        source: "drawn at random by this example".to_owned(),
        graphs: Some(1113),
        nodes: Some(43_471),
        edges: Some(81_044),
        features: Some(3),
        classes: Some(3),
    };
    first.versions = Versions {
        egg: "0.1.0".to_owned(),
        backend: "OpenBLAS 0.3.21".to_owned(),
        rustc: "1.95.0".to_owned(),
        machine: "x86_64, 2 cores, Linux".to_owned(),
        others: vec![("candle".to_owned(), "0.11.0".to_owned())],
    };
    first.notes = vec![
        "No number on this page was measured: it is made up to show what a report looks like.".to_owned(),
    ];
    let hardness: Vec<f64> = (0..10).map(|_| 0.02 * noise(rng)).collect();
    for (name, level, speed) in [
        ("EGG", 0.782, 0.09),
        ("SUM", 0.776, 0.12),
        ("AVG", 0.748, 0.06),
        ("MAX", 0.741, 0.07),
        ("TopK", 0.729, 0.05),
    ] {
        let repetitions = hardness
            .iter()
            .enumerate()
            .map(|(fold, &hard)| repetition(rng, fold, level, hard, speed));
        let mut method = Method {
            name: name.to_owned(),
            parameters: Some(if name == "EGG" { 41_218 } else { 9_346 }),
            repetitions: repetitions.collect(),
            ..Method::default()
        };
        if matches!(name, "EGG" | "SUM") {
            method.confusion = Some(Confusion {
                classes: ["enzyme", "not an enzyme", "other"].map(String::from).to_vec(),
                counts: vec![vec![520, 110, 31], vec![64, 281, 25], vec![8, 17, 57]],
            });
            method.embedding = Some(embedding(rng, if name == "EGG" { 0.35 } else { 0.6 }));
        }
        if name == "EGG" {
            let bins = (3..=19).map(|rank| {
                let centre = (rank as f64 - 11.0) / 3.2;
                RankBin {
                    rank,
                    graphs: (210.0 * (-0.5 * centre * centre).exp()) as u64,
                    captured: Some(1.0 - 0.35 * (-(rank as f64) / 6.0).exp()),
                }
            });
            method.ranks = vec![Ranks {
                name: "layer 4".to_owned(),
                columns: Some(32),
                bins: bins.collect(),
            }];
        }
        first.methods.push(method);
    }

    let mut second = Record::new(Kind::Cluster, "Made-up example: clusters of a made-up network");
    second.command = "cargo run -p egg-report --example gallery".to_owned();
    second.seed = Some(0);
    second.data = Data {
        name: "made-up network".to_owned(),
        fingerprint: "xxh3:feedfacefeedfacefeedfacefeedface".to_owned(),
        nodes: Some(2708),
        edges: Some(5278),
        features: Some(1433),
        classes: Some(7),
        ..Data::default()
    };
    for (name, level, captured) in [
        ("k-means", 0.582, None),
        ("k-means+EGG 0.8", 0.553, Some(0.83)),
        ("k-means+EGG 0.8, spectral", 0.606, Some(0.83)),
    ] {
        let measure = |rng: &mut ChaCha8Rng, level: f64| {
            Estimate::from_values(&(0..10).map(|_| level + 0.02 * noise(rng)).collect::<Vec<_>>(), 1)
        };
        second.clusterings.push(Clustering {
            method: name.to_owned(),
            acc: measure(rng, level),
            nmi: measure(rng, level - 0.15),
            ari: measure(rng, level - 0.24),
            cs: measure(rng, level - 0.13),
            others: vec![("modularity".to_owned(), measure(rng, 0.7))],
            dimension: Some(if captured.is_some() { 13 } else { 16 }),
            captured,
            losses: (0..4u32)
                .map(|i| {
                    Losses(
                        (0..200)
                            .map(|e| 0.45 + 0.02 * f64::from(i) + 1.2 * (-0.05 * f64::from(e)).exp())
                            .collect(),
                    )
                })
                .collect(),
            ..Clustering::default()
        });
    }

    let mut third = Record::new(Kind::Sweep, "Made-up example: threshold r");
    third.command = "cargo run -p egg-report --example gallery".to_owned();
    third.data = first.data.clone();
    let series = |name: &str, top: f64, rng: &mut ChaCha8Rng| SweepSeries {
        name: name.to_owned(),
        points: (1..=9)
            .map(|i| {
                let at = f64::from(i) / 10.0;
                let level = top - 0.12 * (at - 0.75) * (at - 0.75);
                SweepPoint {
                    at,
                    score: Estimate::from_values(
                        &(0..5).map(|_| level + 0.01 * noise(rng)).collect::<Vec<_>>(),
                        1,
                    ),
                }
            })
            .collect(),
    };
    third.sweeps = vec![Sweep {
        parameter: "threshold r".to_owned(),
        metric: "test accuracy".to_owned(),
        series: vec![series("GCN-EGG", 0.772, rng), series("GIN-EGG", 0.79, rng)],
    }];
    third.trials = (0..24u32)
        .map(|i| Trial {
            settings: vec![
                (
                    "lr".to_owned(),
                    ["0.005", "0.001", "0.0005"][i as usize % 3].to_owned(),
                ),
                ("hidden".to_owned(), ["32", "64"][i as usize % 2].to_owned()),
                ("r".to_owned(), ["0.5", "0.8"][(i / 6) as usize % 2].to_owned()),
            ],
            validation: Estimate::from_values(&[0.79 - 0.002 * f64::from(i), 0.80 - 0.003 * f64::from(i)], 1),
            test: (i == 0).then(|| Estimate::from_values(&[0.78, 0.79], 1)),
            chosen: i == 0,
        })
        .collect();
    vec![first, second, third]
}
