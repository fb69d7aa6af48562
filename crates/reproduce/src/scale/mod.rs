//! How the cost grows with the work: times over sizes, and the exponent of the
//! power of the size that fits them.

mod tasks;

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;
use egg_cluster::vgae::Likelihood;
use egg_results::{markdown_table, median};
use serde_json::{Value, json};

use crate::error::{Error, Result};
use crate::svg::{Chart, Series, lines};
use crate::{files, provenance};
use tasks::Task;

/// How the time grows with nodes, graphs, width, edges: no comparison.
#[derive(Debug, Args)]
pub struct Request {
    /// Measurements of each size, of which the best counts.
    #[arg(long, value_name = "N", default_value = "3")]
    rounds: NonZeroUsize,
    /// Threads; 2, or the cores if fewer, if not given.
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// The sweeps whose name has this in it.
    #[arg(long, value_name = "TEXT", default_value = "")]
    only: String,
    /// Where scale.json, scale.md and scale.svg go.
    #[arg(long, value_name = "DIR", default_value = "target/bench")]
    out: PathBuf,
}

/// One size after the other, all else being equal.
struct Sweep {
    /// What is done, and what grows.
    what: &'static str,
    grows: &'static str,
    /// What stays.
    fixed: &'static str,
    sizes: &'static [usize],
    task: fn(usize) -> Task,
}

const EMBEDDING: &str = "embedding, forward and backward";
const STEP: &str = "step of GCN-EGG";
const SAMPLED: &str = "clustering epoch, sampled non-edges";

#[rustfmt::skip] // It is a table.
const SWEEPS: &[Sweep] = &[
    sweep(EMBEDDING, "nodes per graph", "64 graphs, m = 64", &[64, 128, 256, 512, 1024, 2048], |nodes| embedding(nodes, 64, 64)),
    sweep(EMBEDDING, "graphs per batch", "30 nodes each, m = 64", &[8, 16, 32, 64, 128, 256, 512], |graphs| embedding(30, graphs, 64)),
    sweep(EMBEDDING, "hidden width m", "64 graphs of 256 nodes", &[8, 16, 32, 64, 128], |width| embedding(256, 64, width)),
    sweep(STEP, "nodes per graph", "32 graphs, m = 32", &[32, 64, 128, 256, 512, 1024], |nodes| step(nodes, 32, 32)),
    sweep(STEP, "graphs per batch", "30 nodes each, m = 32", &[8, 16, 32, 64, 128, 256, 512], |graphs| step(30, graphs, 32)),
    sweep(STEP, "hidden width m", "32 graphs of 30 nodes", &[8, 16, 32, 64, 128], |width| step(30, 32, width)),
    sweep(SAMPLED, "nodes and edges", "ten edges per node", &[1_000, 3_000, 10_000, 30_000, 100_000], |nodes| epoch(nodes, 20, Likelihood::NegativeSampling)),
    sweep(SAMPLED, "edges", "10,000 nodes", &[20_000, 40_000, 80_000, 160_000, 320_000], |edges| epoch(10_000, edges / 5_000, Likelihood::NegativeSampling)),
    sweep("clustering epoch, all pairs", "nodes", "ten edges per node", &[1_000, 2_000, 4_000, 8_000, 16_000], |nodes| epoch(nodes, 20, Likelihood::Exact)),
];

const fn sweep(
    what: &'static str,
    grows: &'static str,
    fixed: &'static str,
    sizes: &'static [usize],
    task: fn(usize) -> Task,
) -> Sweep {
    Sweep {
        what,
        grows,
        fixed,
        sizes,
        task,
    }
}

fn embedding(nodes: usize, graphs: usize, width: usize) -> Task {
    Task::Embedding { nodes, graphs, width }
}

fn step(nodes: usize, graphs: usize, width: usize) -> Task {
    Task::Step { nodes, graphs, width }
}

fn epoch(nodes: usize, degree: usize, likelihood: Likelihood) -> Task {
    Task::Epoch {
        nodes,
        degree: degree as f64,
        likelihood,
    }
}

impl Sweep {
    fn name(&self) -> String {
        format!("{}: {}", self.what, self.grows)
    }
}

struct Measured {
    sweep: &'static Sweep,
    /// Size, best and median seconds.
    points: Vec<(usize, f64, f64)>,
}

impl Measured {
    /// Of the best times, which other work on the machine disturbs least: over all sizes, and over the larger half, where what a call
    /// costs whatever its size counts least.
    fn exponents(&self) -> (Option<f64>, Option<f64>) {
        let of = |points: &[(usize, f64, f64)]| {
            let pairs: Vec<_> = points
                .iter()
                .map(|(size, best, _)| (*size as f64, *best))
                .collect();
            exponent(&pairs)
        };
        (of(&self.points), of(&self.points[self.points.len() / 2..]))
    }
}

/// The exponent e of y = c x^e: the slope of the logarithms, by least squares.
pub(crate) fn exponent(points: &[(f64, f64)]) -> Option<f64> {
    let logs: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let count = logs.len() as f64;
    let x = logs.iter().map(|point| point.0).sum::<f64>() / count;
    let y = logs.iter().map(|point| point.1).sum::<f64>() / count;
    let covariance: f64 = logs.iter().map(|point| (point.0 - x) * (point.1 - y)).sum();
    let variance: f64 = logs.iter().map(|point| (point.0 - x).powi(2)).sum();
    let slope = covariance / variance;
    slope.is_finite().then_some(slope)
}

/// Measures, prints the table, and keeps it.
///
/// # Errors
/// If no sweep has the name, or something could not be measured.
pub fn run(request: &Request) -> Result<()> {
    let chosen: Vec<&Sweep> = SWEEPS
        .iter()
        .filter(|sweep| sweep.name().contains(&request.only))
        .collect();
    if chosen.is_empty() {
        let names: Vec<String> = SWEEPS.iter().map(Sweep::name).collect();
        let message = format!("no sweep has \"{}\" in its name; there are:", request.only);
        return Err(Error::measurement(format!("{message}\n{}", names.join("\n"))));
    }
    let cores = egg_results::cores();
    let threads = request.threads.map_or(cores.min(2), NonZeroUsize::get);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(Error::measurement)?;
    let mut measured = Vec::new();
    for sweep in chosen {
        println!("  {}", sweep.name());
        let points = sweep.sizes.iter().map(|&size| {
            let seconds = pool.install(|| {
                (sweep.task)(size)
                    .seconds(request.rounds.get())
                    .map_err(|e| e.to_string())
            });
            let seconds = seconds.map_err(Error::measurement)?;
            let best = seconds.iter().copied().fold(f64::INFINITY, f64::min);
            Ok((size, best, median(&seconds).unwrap_or(f64::NAN)))
        });
        let points = points.collect::<Result<_>>()?;
        measured.push(Measured { sweep, points });
    }
    report(request, threads, cores, &measured)
}

fn report(request: &Request, threads: usize, cores: usize, measured: &[Measured]) -> Result<()> {
    let (processor, rounds) = (provenance::processor(), request.rounds);
    let conditions = [
        format!("processor: {processor}, {cores} cores"),
        format!("threads: {threads}"),
        format!("rounds: {rounds}, the best of them"),
    ];
    let lines = table(measured);
    println!();
    conditions
        .iter()
        .chain(&lines)
        .for_each(|line| println!("{line}"));
    let sweeps: Vec<Value> = measured.iter().map(document).collect();
    let document = json!({"suite": "scale", "unit": "seconds", "processor": processor, "cores": cores,
        "threads": threads, "rounds": rounds, "sweeps": sweeps});
    let text = format!(
        "# scale, measured\n\n`cargo xtask bench scale` on this machine.\n\n- {}\n\n{}\n",
        conditions.join("\n- "),
        lines.join("\n")
    );
    files::write_json(&request.out.join("scale.json"), &document)?;
    files::write(&request.out.join("scale.md"), &text)?;
    files::write(&request.out.join("scale.svg"), &chart(measured))?;
    println!("\nWrote {}.{{json,md,svg}}", request.out.join("scale").display());
    Ok(())
}

/// Milliseconds with as many digits as are worth reading.
fn time(seconds: f64) -> String {
    let milliseconds = seconds * 1e3;
    match milliseconds {
        m if m >= 100.0 => format!("{m:.0}"),
        m if m >= 10.0 => format!("{m:.1}"),
        m => format!("{m:.2}"),
    }
}

fn table(measured: &[Measured]) -> Vec<String> {
    let number = |exponent: Option<f64>| exponent.map_or("-".to_owned(), |exponent| format!("{exponent:.2}"));
    let headings = [
        "cost",
        "grows",
        "fixed",
        "size: milliseconds",
        "exponent",
        "of the larger half",
    ];
    let mut rows = vec![headings.map(String::from)];
    rows.extend(measured.iter().map(|one| {
        let points = one.points.iter();
        let points: Vec<String> = points
            .map(|(size, best, _)| format!("{size}: {}", time(*best)))
            .collect();
        let (all, larger) = one.exponents();
        [
            one.sweep.what.to_owned(),
            one.sweep.grows.to_owned(),
            one.sweep.fixed.to_owned(),
            points.join(", "),
            number(all),
            number(larger),
        ]
    }));
    markdown_table(&rows)
}

fn document(one: &Measured) -> Value {
    let points: Vec<Value> = one
        .points
        .iter()
        .map(|(size, best, median)| json!({"size": size, "best": best, "median": median}))
        .collect();
    let (all, larger) = one.exponents();
    json!({"what": one.sweep.what, "grows": one.sweep.grows, "fixed": one.sweep.fixed, "points": points,
        "exponent": all, "exponent_of_larger_half": larger})
}

/// All sweeps in one chart, each in multiples of its smallest size and that one's time.
fn chart(measured: &[Measured]) -> String {
    let mut series: Vec<Series> = measured
        .iter()
        .filter_map(|one| {
            let &(first, time, _) = one.points.first()?;
            let points = one.points.iter();
            let exponent = one
                .exponents()
                .0
                .map_or(String::new(), |e| format!(": power {e:.2}"));
            Some(Series {
                name: format!("{}, {}{exponent}", one.sweep.what, one.sweep.grows),
                points: points
                    .map(|(size, best, _)| (*size as f64 / first as f64, best / time))
                    .collect(),
                band: Vec::new(),
                dots: true,
            })
        })
        .collect();
    series.push(Series {
        name: "linear".into(),
        points: vec![(1.0, 1.0), (100.0, 100.0)],
        band: Vec::new(),
        dots: false,
    });
    lines(&Chart {
        title: "Cost against work",
        across: "size, in multiples of the smallest",
        up: "time, in multiples of the first",
        log: true,
        series: &series,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponents_are_fitted() {
        let squares = [(1.0, 3.0), (10.0, 300.0), (100.0, 30_000.0)];
        assert!((exponent(&squares).unwrap() - 2.0).abs() < 1e-12);
        assert_eq!(exponent(&[(1.0, 1.0)]), None);
        assert_eq!(exponent(&[]), None);
    }

    #[test]
    fn every_sweep_runs_at_its_smallest_size() {
        for sweep in SWEEPS {
            let smallest = *sweep.sizes.iter().min().unwrap();
            let seconds = (sweep.task)(smallest).seconds(1).unwrap();
            assert!(seconds[0] > 0.0, "{}", sweep.name());
        }
    }

    #[test]
    fn measurements_become_a_table_and_a_chart() {
        let measured = [Measured {
            sweep: &SWEEPS[0],
            points: vec![(64, 1.0, 1.1), (128, 2.0, 2.5), (256, 4.0, 4.1)],
        }];
        let lines = table(&measured);
        assert!(lines[2].contains("| 1.00     | 1.00"), "{lines:?}");
        assert!(chart(&measured).contains("nodes per graph: power 1.00"));
    }
}
