//! `egg demo`: what `cargo xtask demo` shows. It runs commands that anybody can
//! type, one after the other, and draws what they leave.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use clap::Args;
use egg_gnn::datasets::{DataFolders, Registry};
use egg_report::{Estimate, Kind, Method, Record, svg};

use crate::console::Style;
use crate::failure::{Failure, Result};
use crate::table::Table;
use crate::{interrupt, output};

/// The convolutions, as groups of methods are called in records.
const GROUPS: [(&str, &[&str]); 2] = [("linear GCN", &["--linear"]), ("GCN", &[])];

/// EGG, and those that look at each column by itself.
const POOLINGS: [&str; 4] = ["egg", "sum", "avg", "max"];

const WHY: &str = "\
The two classes have the same graphs and the same means; they differ in how features vary together.
Linear convolutions keep all means at zero, so sum and mean have nothing to see. EGG pools the
subspace itself, and the maximum grows with the spread along the directions that it learns. ReLU
makes means of spreads (the mean of max(x, 0) grows with the variance of x): behind it the classes
reach every pooling, and none has a lead.";

const WEIGHTS: &str = "\
Features are smoothed along edges, without training; how far is chosen by the modularity of the clusters.
The second row weights each direction by its singular value. The last, like the paper, weights all that are
kept alike, the weakest as much as the strongest.";

/// Run the demonstration
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Where the runs and the report go
    #[arg(long, value_name = "DIR", default_value = "target/demo")]
    out: PathBuf,
    /// Epochs of each training at most
    #[arg(long, value_name = "N", default_value = "40")]
    epochs: u64,
    /// Repetitions of each training
    #[arg(long, value_name = "N", default_value = "4")]
    reps: usize,
    /// Where MUTAG is looked for [default: where `egg data` looks]
    #[arg(long, value_name = "DIR")]
    datasets: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let begin = Instant::now();
    let style = Style::new(false);
    interrupt::listen();
    let runs = arguments.out.join("runs");
    if runs.exists() {
        std::fs::remove_dir_all(&runs).map_err(Failure::file(&runs))?;
    }
    let steps = Steps {
        runs: &runs,
        epochs: arguments.epochs.to_string(),
        reps: arguments.reps.to_string(),
        style,
    };

    style.say("1. Graphs of two classes that differ only in how their features vary together\n");
    let mut covariance: Option<Record> = None;
    for (group, flags) in GROUPS {
        for pooling in POOLINGS {
            let mut words = vec![
                "train",
                "--data",
                "demo:covariance",
                "--conv",
                "gcn",
                "--pool",
                pooling,
            ];
            words.extend(flags);
            words.extend(["--lr", "0.005"]);
            let record = steps.train(
                &words,
                &format!("covariance-{}-{pooling}", group.replace(' ', "-")),
            )?;
            match &mut covariance {
                Some(all) => all.methods.extend(record.methods),
                None => covariance = Some(record),
            }
        }
    }
    let covariance = covariance.map(|mut record| {
        record.kind = Kind::Demo;
        record.title = "EGG and first-order poolings on the covariance set".to_owned();
        record.command = "cargo xtask demo".to_owned();
        record.notes = vec![WHY.replace('\n', " ")];
        record
    });
    let mut records: Vec<Record> = covariance.into_iter().collect();
    if let Some(record) = records.first() {
        style.say(format!("\n{}\n\n{WHY}\n", classifiers(&record.methods)));
    }

    style.say(
        "2. The karate club, and 1000 nodes of a stochastic block model, clustered without their classes\n",
    );
    for (data, name) in [("demo:karate", "karate"), ("demo:sbm:1000", "sbm-1000")] {
        let record = steps.cluster(&["cluster", "--data", data, "--reps", "10"], name)?;
        style.say(format!("\n{}\n", clusterings(&record)));
        records.push(record);
    }
    style.say(format!("{WEIGHTS}\n"));

    match mutag(arguments.datasets.as_deref()) {
        Some(folder) => {
            style.say("3. Real data: MUTAG, 188 molecules\n");
            let folder = folder.display().to_string();
            let mut all: Option<Record> = None;
            for pooling in ["egg", "sum"] {
                let words = [
                    "train",
                    "--data",
                    "MUTAG",
                    "--conv",
                    "gin",
                    "--pool",
                    pooling,
                    "--datasets",
                    &folder,
                ];
                let record = steps.train(&words, &format!("mutag-gin-{pooling}"))?;
                match &mut all {
                    Some(all) => all.methods.extend(record.methods),
                    None => all = Some(record),
                }
            }
            if let Some(mut record) = all {
                record.title = "MUTAG".to_owned();
                style.say(format!("\n{}\n", classifiers(&record.methods)));
                records.push(record);
            }
        }
        None => style.say("(MUTAG is not here: `egg data fetch MUTAG` would add it to the demo.)\n"),
    }

    let page = arguments.out.join("report.html");
    egg_report::write_html(&page, &records)?;
    if let Some(picture) = picture(&records)? {
        output::write(&arguments.out.join("demo.svg"), picture.as_bytes())?;
    }
    style.say(format!(
        "{:.1} s in all. The report opens in any browser:",
        begin.elapsed().as_secs_f64()
    ));
    let page = std::path::absolute(&page).unwrap_or(page);
    style.say(page.display().to_string());
    Ok(())
}

/// The commands of the demonstration, each a process of its own.
struct Steps<'a> {
    runs: &'a Path,
    epochs: String,
    reps: String,
    style: Style,
}

impl Steps<'_> {
    fn train(&self, words: &[&str], name: &str) -> Result<Record> {
        let more = ["--epochs", &self.epochs, "--reps", &self.reps];
        self.egg(&[words, &more].concat(), name)
    }

    fn cluster(&self, words: &[&str], name: &str) -> Result<Record> {
        self.egg(words, name)
    }

    fn egg(&self, words: &[&str], name: &str) -> Result<Record> {
        if interrupt::asked() {
            return Err(Failure::Interrupted(
                "the demo begins anew when it is called again".into(),
            ));
        }
        let begin = Instant::now();
        let folder = self.runs.join(name);
        let program = std::env::current_exe().map_err(Failure::file("egg"))?;
        let output = Command::new(program)
            .args(words)
            .arg("--out")
            .arg(&folder)
            .arg("--quiet")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .output()
            .map_err(Failure::file("egg"))?;
        if !output.status.success() {
            let message = String::from_utf8_lossy(&output.stderr).trim_end().to_owned();
            return Err(match output.status.code() {
                Some(130) | None => {
                    Failure::Interrupted("the demo begins anew when it is called again".into())
                }
                _ => Failure::other(format!("`egg {}` failed: {message}", words.join(" "))),
            });
        }
        self.style.say(format!(
            "  egg {}   ({:.1} s)",
            words.join(" "),
            begin.elapsed().as_secs_f64()
        ));
        Ok(Record::read(&folder)?)
    }
}

/// A row for each pooling, a column for each group.
fn classifiers(methods: &[Method]) -> String {
    let mut groups: Vec<&str> = Vec::new();
    let mut names: Vec<&str> = Vec::new();
    for method in methods {
        if !groups.contains(&method.group.as_str()) {
            groups.push(&method.group);
        }
        if !names.contains(&method.name.as_str()) {
            names.push(&method.name);
        }
    }
    let shown = |group: &str| match group {
        "GCN" if groups.len() > 1 => "GCN with ReLU".to_owned(),
        other => other.to_owned(),
    };
    let header = groups
        .iter()
        .map(|group| format!("{}: test accuracy", shown(group)));
    let mut table = Table::new(["pooling".to_owned()].into_iter().chain(header));
    for name in names {
        let cells = groups.iter().map(|group| {
            let method = methods
                .iter()
                .find(|method| method.name == name && method.group == *group);
            let tests = method.map(|method| {
                method
                    .repetitions
                    .iter()
                    .filter_map(|run| run.test)
                    .collect::<Vec<_>>()
            });
            estimate(&Estimate::from_values(&tests.unwrap_or_default(), 0))
        });
        table.row([name.to_owned()].into_iter().chain(cells));
    }
    table.text()
}

fn clusterings(record: &Record) -> String {
    let mut table = Table::new(["method", "accuracy", "NMI", "ARI", "completeness"]);
    for row in &record.clusterings {
        let cells = [&row.acc, &row.nmi, &row.ari, &row.cs].map(estimate);
        table.row([row.method.clone()].into_iter().chain(cells));
    }
    table.text()
}

fn estimate(estimate: &Estimate) -> String {
    if !estimate.is_known() {
        return "-".to_owned();
    }
    let deviation = estimate
        .spread()
        .map_or_else(String::new, |deviation| format!(" +- {:.1}", 100.0 * deviation));
    format!("{:.1}{deviation} %", 100.0 * estimate.mean)
}

/// The first data folder that has MUTAG.
fn mutag(named: Option<&Path>) -> Option<PathBuf> {
    let entry = Registry::builtin().get("MUTAG").ok()?;
    let folders = DataFolders::locate();
    named
        .into_iter()
        .chain(folders.in_order())
        .find(|folder| entry.find_below(folder).is_some())
        .map(Path::to_owned)
}

/// The picture of the front page: how the poolings learn behind linear
/// convolutions, and where the graphs lie for EGG and for the sum.
fn picture(records: &[Record]) -> Result<Option<String>> {
    let Some(record) = records.first() else {
        return Ok(None);
    };
    let linear: Vec<&Method> = record
        .methods
        .iter()
        .filter(|method| method.group == GROUPS[0].0)
        .collect();
    let colours: Vec<usize> = (0..linear.len()).collect();
    let mut charts = Vec::new();
    charts.extend(
        svg::metric_curves(&linear, &colours)?.map(|chart| chart.renamed("Accuracy, linear convolutions")),
    );
    for (method, title) in linear
        .iter()
        .take(2)
        .zip(["Graphs as EGG sees them", "Graphs as their sums"])
    {
        if let Some(embedding) = &method.embedding {
            charts.extend(svg::map(title, embedding)?);
        }
    }
    let charts: Vec<&svg::Chart> = charts.iter().collect();
    Ok((!charts.is_empty()).then(|| svg::side_by_side(&charts, charts.len())))
}
