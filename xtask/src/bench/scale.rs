//! How the cost grows with the work: times over sizes, and the exponent of the
//! power of the size that fits them.

use serde_json::{Value, json};

use super::Request;
use super::child::{Answer, Runner, TaskChild};
use super::report::{aligned, save};
use super::suite::Suite;
use super::svg::{Chart, Series, lines};
use super::{NO_EXPORT, ONLY, machine};
use crate::error::{Error, Result};
use crate::setup::{self, Install};
use crate::workspace::Workspace;

/// One size after the other, all else being equal.
pub(super) struct Sweep {
    /// What is done, and what grows.
    what: &'static str,
    grows: &'static str,
    /// What stays.
    fixed: &'static str,
    suite: &'static Suite,
    sizes: &'static [usize],
    task: fn(usize) -> String,
}

pub(super) const SWEEPS: &[Sweep] = &[
    Sweep {
        what: "embedding, forward and backward",
        grows: "nodes per graph",
        fixed: "64 graphs, m = 64",
        suite: &super::autodiff::SUITE,
        sizes: &[64, 128, 256, 512, 1024, 2048],
        task: |nodes| format!("scale_{nodes}_64_64"),
    },
    Sweep {
        what: "embedding, forward and backward",
        grows: "graphs per batch",
        fixed: "30 nodes each, m = 64",
        suite: &super::autodiff::SUITE,
        sizes: &[8, 16, 32, 64, 128, 256, 512],
        task: |graphs| format!("scale_30_{graphs}_64"),
    },
    Sweep {
        what: "embedding, forward and backward",
        grows: "hidden width m",
        fixed: "64 graphs of 256 nodes",
        suite: &super::autodiff::SUITE,
        sizes: &[8, 16, 32, 64, 128],
        task: |width| format!("scale_256_64_{width}"),
    },
    Sweep {
        what: "step of GCN-EGG",
        grows: "nodes per graph",
        fixed: "32 graphs, m = 32",
        suite: &super::train::SUITE,
        sizes: &[32, 64, 128, 256, 512, 1024],
        task: |nodes| format!("scale_{nodes}_32_32"),
    },
    Sweep {
        what: "step of GCN-EGG",
        grows: "graphs per batch",
        fixed: "30 nodes each, m = 32",
        suite: &super::train::SUITE,
        sizes: &[8, 16, 32, 64, 128, 256, 512],
        task: |graphs| format!("scale_30_{graphs}_32"),
    },
    Sweep {
        what: "step of GCN-EGG",
        grows: "hidden width m",
        fixed: "32 graphs of 30 nodes",
        suite: &super::train::SUITE,
        sizes: &[8, 16, 32, 64, 128],
        task: |width| format!("scale_30_32_{width}"),
    },
    Sweep {
        what: "clustering epoch, sampled non-edges",
        grows: "nodes and edges",
        fixed: "ten edges per node",
        suite: &super::cluster::SUITE,
        sizes: &[1_000, 3_000, 10_000, 30_000, 100_000],
        task: |nodes| format!("scale_sampled_{nodes}_20"),
    },
    Sweep {
        what: "clustering epoch, sampled non-edges",
        grows: "edges",
        fixed: "10,000 nodes",
        suite: &super::cluster::SUITE,
        sizes: &[20_000, 40_000, 80_000, 160_000, 320_000],
        task: |edges| format!("scale_sampled_10000_{}", edges / 5_000),
    },
    Sweep {
        what: "clustering epoch, all pairs",
        grows: "nodes",
        fixed: "ten edges per node",
        suite: &super::cluster::SUITE,
        sizes: &[1_000, 2_000, 4_000, 8_000, 16_000],
        task: |nodes| format!("scale_exact_{nodes}_20"),
    },
];

impl Sweep {
    /// The task of the smallest size, to see whether it runs.
    pub(super) fn smallest(&self) -> (&'static Suite, String) {
        let size = self.sizes.iter().min().copied().unwrap_or(1);
        (self.suite, (self.task)(size))
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

/// The slope of the logarithms, by least squares.
fn exponent(points: &[(f64, f64)]) -> Option<f64> {
    let logs: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let count = logs.len() as f64;
    let x = logs.iter().map(|point| point.0).sum::<f64>() / count;
    let y = logs.iter().map(|point| point.1).sum::<f64>() / count;
    let covariance: f64 = logs.iter().map(|point| (point.0 - x) * (point.1 - y)).sum();
    let variance: f64 = logs.iter().map(|point| (point.0 - x).powi(2)).sum();
    let slope = covariance / variance;
    slope.is_finite().then_some(slope)
}

pub(super) fn run(workspace: &Workspace, request: &Request) -> Result<()> {
    let name = |sweep: &Sweep| format!("{}: {}", sweep.what, sweep.grows);
    let chosen: Vec<_> = SWEEPS
        .iter()
        .filter(|sweep| name(sweep).contains(&request.only))
        .collect();
    if chosen.is_empty() {
        let message = format!("no sweep has \"{}\" in its name", request.only);
        return Err(Error::usage(message, super::HELP));
    }
    let backend = setup::prepare(workspace, Install::Allowed)?;
    let folder = workspace.scratch("bench/inputs/scale")?;
    let mut measured = Vec::new();
    let mut running: Option<(&str, TaskChild)> = None;
    for sweep in chosen {
        let (package, mut child) = match running.take() {
            Some((package, child)) if package == sweep.suite.package => (package, child),
            _ => {
                let program = super::ours::build(workspace, sweep.suite, Some(&backend))?;
                let mut command = super::ours::command(&program, &folder, Some(&backend), request.threads);
                // No data set.
                command.env(ONLY, "none").env(NO_EXPORT, "1");
                let child = TaskChild::start("our side", &mut command).map_err(Error::Failed)?;
                (sweep.suite.package, child)
            }
        };
        println!("  {}", name(sweep));
        let mut points = Vec::new();
        for &size in sweep.sizes {
            let task = (sweep.task)(size);
            let answers: std::result::Result<Vec<Answer>, String> =
                (0..request.rounds).map(|_| child.run(&task)).collect();
            let answers = answers.map_err(Error::Failed)?;
            let mut seconds: Vec<f64> = answers.iter().map(|answer| answer.seconds).collect();
            seconds.sort_by(f64::total_cmp);
            points.push((size, seconds[0], seconds[seconds.len() / 2]));
        }
        measured.push(Measured { sweep, points });
        running = Some((package, child));
    }
    report(workspace, request, &measured)
}

fn report(workspace: &Workspace, request: &Request, measured: &[Measured]) -> Result<()> {
    let conditions = [
        format!("processor: {}, {} cores", machine::cpu(), machine::cores()),
        format!("threads: {}", request.threads),
        format!("rounds: {}, the best of them", request.rounds),
    ];
    let lines = table(measured);
    println!();
    conditions
        .iter()
        .chain(&lines)
        .for_each(|line| println!("{line}"));
    let rows: Vec<Value> = measured.iter().map(document).collect();
    let document = json!({"suite": "scale", "unit": "seconds", "processor": machine::cpu(), "cores": machine::cores(),
        "threads": request.threads, "rounds": request.rounds, "sweeps": rows});
    let folder = workspace.scratch("bench")?;
    let text = format!(
        "# scale, measured\n\n`cargo xtask bench scale` on this machine.\n\n- {}\n\n{}\n",
        conditions.join("\n- "),
        lines.join("\n")
    );
    save(&folder.join("scale.json"), &format!("{document:#}\n"))?;
    save(&folder.join("scale.md"), &text)?;
    save(&folder.join("scale.svg"), &chart(measured))?;
    println!("\nWrote {}.{{json,md,svg}}", folder.join("scale").display());
    Ok(())
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
            .map(|(size, best, _)| format!("{size}: {}", super::report::time(*best)))
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
    aligned(&rows)
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
    fn a_table_and_a_chart_come_of_it() {
        let measured = [Measured {
            sweep: &SWEEPS[0],
            points: vec![(64, 1.0, 1.1), (128, 2.0, 2.5), (256, 4.0, 4.1)],
        }];
        let lines = table(&measured);
        assert!(lines[2].contains("| 1.00     | 1.00"), "{lines:?}");
        assert!(chart(&measured).contains("nodes per graph: power 1.00"));
    }
}
