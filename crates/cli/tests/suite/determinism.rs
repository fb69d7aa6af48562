//! The same command gives the same files on any number of threads of ours, of
//! candle's and of OpenBLAS's. Each run is a process of its own, because the last
//! two are read from the environment when the program starts.
//!
//! Left out of the comparison, since they say when and where a run was made:
//! in `run.json` `finished`, `versions.machine` (it names the number of threads) and
//! the `seconds` of epochs; in a model's `metrics.json` the `seconds` and
//! `train_seconds`; of checkpoints the header, which holds the same.
//! Everything else is compared byte for byte.

use std::collections::BTreeMap;
use std::path::Path;

use egg_gnn::pool::PoolingConfig;
use serde_json::Value;

use crate::program::{Ended, command, place, write};

/// Runs the program as if the machine had this many cores.
fn egg_on(folder: &Path, threads: usize, words: &[&str]) {
    let mut command = command(folder);
    for variable in [
        "RAYON_NUM_THREADS",
        "CANDLE_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "OMP_NUM_THREADS",
    ] {
        command.env(variable, threads.to_string());
    }
    let output = command.args(words).output().unwrap();
    let ended = Ended {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    };
    ended.ok();
}

/// Takes out what says when and where.
fn timeless(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for name in ["finished", "machine", "seconds", "train_seconds"] {
                if let Some(field) = fields.get_mut(name) {
                    *field = if field.is_string() { "".into() } else { 0.0.into() };
                }
            }
            fields.values_mut().for_each(timeless);
        }
        Value::Array(values) => values.iter_mut().for_each(timeless),
        _ => {}
    }
}

/// Every file below a folder by its name, without what says when and where.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(folder).unwrap().display().to_string();
            let mut bytes = std::fs::read(&path).unwrap();
            if path.parent().unwrap().ends_with("checkpoints") {
                // Eight bytes say how long the header is; numbers follow it.
                let length = u64::from_le_bytes(bytes[..8].try_into().unwrap());
                bytes.drain(..8 + usize::try_from(length).unwrap());
                assert!(!bytes.is_empty(), "{name}");
            } else if path.ends_with("model/metrics.json") {
                let mut metrics: Value = serde_json::from_slice(&bytes).unwrap();
                timeless(&mut metrics);
                bytes = metrics.to_string().into_bytes();
            }
            found.insert(name, bytes);
        }
    }
    found
}

/// Rewrites the record of a run without what says when and where.
fn make_timeless(folder: &Path, run: &str) {
    let path = folder.join(run).join("run.json");
    let mut record: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    assert!(record["finished"].is_string() && record["versions"]["machine"].is_string());
    timeless(&mut record);
    std::fs::write(path, record.to_string()).unwrap();
}

/// Graphs large enough for the kernels to share their work.
fn wheels(folder: &Path) {
    let (mut edges, mut nodes, mut graphs) = (
        String::from("graph,source,target\n"),
        String::from("graph,node,one,noise,degree\n"),
        String::from("graph,label\n"),
    );
    for graph in 0..50 {
        let (size, has_hub) = (24 + graph % 7, graph % 2 == 0);
        for node in 0..size {
            let noise = f64::from((graph * 7 + node * 13) % 11) / 11.0;
            let degree = if has_hub && node == 0 { size - 1 } else { 2 };
            nodes.push_str(&format!("g{graph},n{node},1,{noise:.3},{degree}\n"));
            edges.push_str(&format!("g{graph},n{node},n{}\n", (node + 1) % size));
            if has_hub && node > 1 {
                edges.push_str(&format!("g{graph},n0,n{node}\n"));
            }
        }
        graphs.push_str(&format!("g{graph},{}\n", if has_hub { "wheel" } else { "ring" }));
    }
    write(folder, "graphs/edges.csv", &edges);
    write(folder, "graphs/nodes.csv", &nodes);
    write(folder, "graphs/graphs.csv", &graphs);
}

/// Runs commands in an empty folder with the graphs, and gives all that is left.
fn run(threads: usize, commands: &[Vec<&str>], runs: &[&str]) -> BTreeMap<String, Vec<u8>> {
    let place = place();
    wheels(place.path());
    for words in commands {
        // Pages are drawn of records in which no time stands.
        if words[0] == "report" {
            runs.iter().for_each(|run| make_timeless(place.path(), run));
        }
        egg_on(place.path(), threads, words);
    }
    runs.iter().for_each(|run| make_timeless(place.path(), run));
    files(place.path())
}

#[track_caller]
fn same_on_all(commands: &[Vec<&str>], runs: &[&str], expected: &[&str], threads: &[usize]) {
    let reference = run(1, commands, runs);
    for name in expected {
        assert!(
            reference.contains_key(*name),
            "{name} is not in {:?}",
            reference.keys()
        );
    }
    for threads in threads {
        let other = run(*threads, commands, runs);
        assert!(
            reference.keys().eq(other.keys()),
            "{:?} and {:?}",
            reference.keys(),
            other.keys()
        );
        for (name, bytes) in &reference {
            assert!(*bytes == other[name], "{name} differs on {threads} threads");
        }
    }
}

fn train<'a>(conv: &'a str, pool: &'a str, out: &'a str) -> Vec<&'a str> {
    vec![
        "train", "--data", "graphs", "--conv", conv, "--pool", pool, "--hidden", "24", "--batch", "64",
        "--reps", "3", "--epochs", "3", "--quiet", "--out", out,
    ]
}

/// Weights, embeddings, predictions, records and pages, on 1, 2 and 4 threads and
/// on 1 once more. Three repetitions on 1 thread run one after the other, on 2 two
/// side by side and one by itself, on 4 all side by side.
#[test]
fn training_writes_the_documented_files() {
    let embed = |run: &'static str, more: &'static [&'static str], out: &'static str| {
        [&["embed", "--model", run, "--data", "graphs", "--out", out], more].concat()
    };
    let commands = [
        train("gcn", "egg", "runs/egg"),
        train("gin", "soft-egg", "runs/soft"),
        embed("runs/egg", &[], "graphs.npy"),
        embed("runs/egg", &["--nodes"], "nodes.npy"),
        embed("runs/egg", &["--leverage"], "leverage.npy"),
        embed("runs/soft", &[], "soft.npy"),
        vec![
            "predict", "--model", "runs/egg", "--data", "graphs", "--out", "said.csv",
        ],
        vec!["report", "runs", "--out", "page.html"],
    ];
    let expected = [
        "runs/egg/model/model.safetensors",
        "runs/egg/checkpoints/repetition-3.safetensors",
        "runs/soft/run.json",
        "graphs.npy",
        "page.html",
    ];
    same_on_all(&commands, &["runs/egg", "runs/soft"], &expected, &[2, 4, 1]);
}

/// Labels of clusters, losses, records and pages, with all pairs and with samples.
#[test]
fn clustering_writes_the_documented_files() {
    let cluster = |likelihood: &'static str, out: &'static str, labels: &'static str| {
        vec![
            "cluster",
            "--preset",
            "paper",
            "--data",
            "demo:sbm:600",
            "--clusters",
            "4",
            "--likelihood",
            likelihood,
            "--epochs",
            "3",
            "--reps",
            "2",
            "--quiet",
            "--out",
            out,
            "--labels-out",
            labels,
        ]
    };
    let commands = [
        cluster("exact", "runs/exact", "exact.csv"),
        cluster("sampled", "runs/sampled", "sampled.csv"),
        vec!["report", "runs", "--out", "page.html"],
    ];
    let expected = ["exact.csv", "sampled.csv", "runs/exact/run.json", "page.html"];
    same_on_all(&commands, &["runs/exact", "runs/sampled"], &expected, &[2, 4, 1]);
}

/// Every convolution with every pooling as a process of its own: many, so only in
/// the full run. (The short one has them in one process, in egg-pool's tests.)
#[test]
fn every_pooling_trains_bit_identically_as_a_process() {
    if std::env::var_os("EGG_TEST_FULL").is_none() {
        return;
    }
    for conv in ["gcn", "gin"] {
        for pool in PoolingConfig::names() {
            same_on_all(
                &[train(conv, pool, "run")],
                &["run"],
                &["run/run.json"],
                &[2, 4, 1],
            );
        }
    }
    same_on_all(
        &[train("blind", "sum", "run")],
        &["run"],
        &["run/run.json"],
        &[2, 4, 1],
    );
}

/// The first repetitions of many are those of few.
#[test]
fn repetitions_do_not_depend_on_their_number() {
    let place = place();
    wheels(place.path());
    let weights = |reps: &str, threads: usize| {
        let mut words = train("gcn", "egg", reps);
        let at = words.iter().position(|word| *word == "--reps").unwrap();
        words[at + 1] = reps;
        egg_on(place.path(), threads, &words);
        files(&place.path().join(reps).join("checkpoints"))
    };
    let (one, three) = (weights("1", 4), weights("3", 2));
    assert_eq!((one.len(), three.len()), (1, 3));
    for (name, bytes) in one {
        assert!(bytes == three[&name], "{name}");
    }
}
