//! What goes wrong is said in one or two lines, with the right exit code.

use crate::program::{TRAIN, egg, place, rings_and_stars, write};

#[test]
fn near_names_are_suggested() {
    let place = place();
    egg(place.path(), &["info", "PROTIENS"]).refused(1, &["PROTIENS", "did you mean PROTEINS?"]);
    egg(place.path(), &["info", "demo:karat"]).refused(1, &["did you mean demo:karate?"]);
    let ended = egg(
        place.path(),
        &["train", "--data", "demo:covariance", "--pool", "atention"],
    );
    assert_eq!(ended.code, 2);
    assert!(ended.err.contains("did you mean attention?"), "{}", ended.err);
    let ended = egg(
        place.path(),
        &["train", "--data", "demo:covariance", "--rank", "treshold:0.8"],
    );
    assert_eq!(ended.code, 2);
    assert!(ended.err.contains("did you mean threshold?"), "{}", ended.err);
}

#[test]
fn exit_code_is_2_for_usage_and_0_for_help() {
    let place = place();
    for words in [
        &["fly"][..],
        &[],
        &["train"],
        &["train", "--data", "demo:covariance", "--epochs", "0"],
        &["train", "--data", "demo:covariance", "--threads", "0"],
        &[
            "train",
            "--data",
            "demo:covariance",
            "--pool",
            "sum",
            "--rank",
            "ratio:0.5",
        ],
        &["train", "--data", "demo:covariance", "--conv", "gin", "--linear"],
        &["cluster", "--data", "demo:karate", "--clusters", "35"],
    ] {
        let ended = egg(place.path(), words);
        assert_eq!(ended.code, 2, "{words:?}: {}", ended.err);
        assert!(ended.out.is_empty() && !ended.err.is_empty(), "{words:?}");
    }
    assert!(egg(place.path(), &["--help"]).ok().out.contains("cluster"));
    assert!(
        egg(place.path(), &["train", "--help"])
            .ok()
            .out
            .contains("--weight-decay")
    );
    assert!(egg(place.path(), &["--version"]).ok().out.starts_with("egg 0."));
    assert_eq!(
        std::fs::read_dir(place.path()).unwrap().count(),
        0,
        "nothing is left behind"
    );
}

#[test]
fn files_are_named_with_their_line() {
    let place = place();
    rings_and_stars(place.path(), "graphs", 6, true);
    egg(place.path(), &["info", "graphs.csv"]).refused(1, &["graphs.csv", "no such file"]);
    write(
        place.path(),
        "graphs/nodes.csv",
        "graph,node,x\ng0,n0,1\ng0,n1,tall\n",
    );
    egg(place.path(), &["info", "graphs"]).refused(1, &["nodes.csv", "line 3", "tall"]);
    write(place.path(), "graphs/nodes.csv", "graph,node,x\ng0,n0,1\n");
    egg(place.path(), &["info", "graphs"]).refused(1, &["edges.csv", "line 2", "n1", "nodes.csv"]);
    egg(place.path(), &["info", "MUTAG", "--datasets", "graphs"])
        .refused(1, &["MUTAG", "egg data fetch MUTAG", "--datasets"]);
    write(place.path(), "empty/readme", "");
    egg(place.path(), &["info", "empty"]).refused(1, &["empty", "edges.csv"]);
}

#[test]
fn the_wrong_kind_of_data_is_refused_with_a_remedy() {
    let place = place();
    egg(place.path(), &["train", "--data", "demo:karate"]).refused(1, &["karate", "egg cluster"]);
    egg(place.path(), &["cluster", "--data", "demo:covariance"]).refused(1, &["400 graphs", "egg train"]);
    egg(
        place.path(),
        &["predict", "--model", "none", "--data", "demo:karate"],
    )
    .refused(1, &["none", "egg train"]);
    egg(place.path(), &["report", "."]).refused(1, &["run.json", "--out"]);
    rings_and_stars(place.path(), "graphs", 6, true);
    for table in ["edges", "nodes", "graphs"] {
        egg(place.path(), &["info", &format!("graphs/{table}.csv")])
            .refused(1, &["several tables", "folder", "graphs"]);
    }
    write(place.path(), "alone/edges.csv", "source,target\na,b\n");
    egg(place.path(), &["info", "alone/edges.csv"]).ok();
}

#[test]
fn settings_out_of_range_leave_no_folder() {
    let place = place();
    rings_and_stars(place.path(), "graphs", 20, true);
    let with = |more: &[&str]| egg(place.path(), &[&TRAIN[..], more].concat());
    with(&["--dropout", "1.5"]).refused(2, &["--dropout", "1.5", "below 1"]);
    with(&["--lr=-1"]).refused(2, &["--lr", "-1", "above 0"]);
    with(&["--lr", "-1"]).refused(2, &["--lr", "-1", "above 0", "egg train --help"]);
    with(&["--seed", "-1"]).refused(2, &["--seed", "-1", "from 0 to 18446744073709551615"]);
    let train = |more: &[&str]| egg(place.path(), &[&["train", "--data", "graphs"], more].concat());
    train(&["--reps", "1000000000000"]).refused(2, &["--reps", "1 to 100000"]);
    train(&["--epochs", "18446744073709551615"]).refused(2, &["--epochs", "1 to 1000000000"]);
    with(&["--threads", "100000"]).refused(2, &["--threads", "1 to 1024"]);
    let last = [
        "cluster",
        "--data",
        "demo:karate",
        "--seed",
        "18446744073709551615",
        "--reps",
        "2",
    ];
    egg(place.path(), &last).refused(2, &["--seed", "18446744073709551614 at most"]);
    with(&["--batc", "3"]).refused(2, &["--batc", "similar", "--batch"]);
    egg(place.path(), &["train"]).refused(2, &["--data", "egg train --help"]);
    egg(place.path(), &["trian"]).refused(2, &["trian", "'train'"]);
    assert!(!place.path().join("runs").exists());
}

#[test]
fn verbose_prints_the_causes_of_an_error() {
    let place = place();
    let plain = egg(place.path(), &["angles", "a.npy", "b.npy"]);
    let verbose = egg(place.path(), &["angles", "a.npy", "b.npy", "--verbose"]);
    assert!(
        !plain.err.contains("caused by") && verbose.err.contains("caused by"),
        "{}",
        verbose.err
    );
}
