//! Records with little or nothing in them.

use egg_report::{
    Clustering, Confusion, Embedding, Epoch, Estimate, Kind, Map, Method, RankBin, Ranks, Record, Repetition,
    Rows, Sweep, SweepPoint, SweepSeries, render, svg,
};

fn epoch(epoch: u64, loss: f64) -> Epoch {
    Epoch {
        epoch,
        train_loss: loss,
        train_metric: Some(0.5),
        validation_loss: loss,
        validation_metric: None,
        seconds: f64::NAN,
    }
}

fn with_epochs(epochs: Vec<Epoch>) -> Method {
    Method {
        name: "EGG".to_owned(),
        repetitions: vec![Repetition {
            epochs,
            test: Some(0.5),
            ..Repetition::default()
        }],
        ..Method::default()
    }
}

#[test]
fn empty_records_render_a_page() {
    for kind in [Kind::Train, Kind::Cluster, Kind::Sweep, Kind::Demo] {
        let page = render(&[Record::new(kind, "")]).unwrap();
        assert!(page.contains("<h1>EGG report</h1>") && page.ends_with("</html>\n"));
    }
    let mut record = Record::new(Kind::Train, "hollow");
    record.methods = vec![Method::default(), Method::default()];
    record.sweeps = vec![Sweep::default()];
    record.clusterings = vec![Clustering::default()];
    record.trials = vec![egg_report::Trial::default()];
    assert!(render(&[record.clone(), record]).unwrap().contains("unnamed"));
}

#[test]
fn single_repetition_and_epoch_render() {
    let mut record = Record::new(Kind::Train, "short");
    record.methods = vec![with_epochs(vec![epoch(1, 0.7)])];
    let page = render(&[record]).unwrap();
    assert!(page.contains("aria-label=\"Loss by epoch\""));
    assert!(page.contains("50.00") && !page.contains("NaN"));
}

#[test]
fn non_finite_losses_leave_a_gap() {
    let losses = [0.7, f64::NAN, 0.5, f64::INFINITY, 0.4, 1e300, 0.3];
    let epochs = losses
        .iter()
        .enumerate()
        .map(|(i, &loss)| epoch(i as u64 + 1, loss))
        .collect();
    let method = with_epochs(epochs);
    let chart = svg::loss_curves(&[&method], &[]).unwrap().unwrap().standalone();
    assert!(!chart.contains("NaN") && !chart.contains("inf"));
    let all = with_epochs(vec![epoch(1, f64::NAN), epoch(2, f64::NAN)]);
    assert_eq!(svg::loss_curves(&[&all], &[]).unwrap(), None);
}

#[test]
fn one_large_loss_does_not_flatten_the_rest() {
    let losses = (0..100).map(|i| if i == 0 { 1e6 } else { 1.0 / f64::from(i) });
    let method = with_epochs(
        losses
            .enumerate()
            .map(|(i, loss)| epoch(i as u64 + 1, loss))
            .collect(),
    );
    let chart = svg::loss_curves(&[&method], &[]).unwrap().unwrap().standalone();
    assert!(
        !chart.contains(">1.00e6<") && !chart.contains(">1000000<"),
        "the axis reaches a million"
    );
}

#[test]
fn embeddings_of_few_rows_render() {
    for rows in 0..6 {
        let classes = vec![Some(0); rows];
        let mut embedding = Embedding::new("graphs", 2, vec![1.0; 2 * rows], classes).unwrap();
        embedding.reduce(1500, 0);
        assert_eq!(embedding.map.as_ref().unwrap().x.len(), rows);
        let chart = svg::map("few", &embedding).unwrap();
        assert_eq!(chart.is_some(), rows > 0, "{rows} rows");
    }
    let broken = Embedding::new("graphs", 2, vec![1.0; 3], vec![None; 2]).unwrap_err();
    assert!(broken.to_string().contains("found 3, expected 4"), "{broken}");
    // A file may contain anything.
    let mut odd = Embedding {
        classes: vec![None; 5],
        rows: Some(Rows {
            columns: 3,
            values: vec![0.0; 7],
        }),
        ..Embedding::default()
    };
    odd.reduce(1500, 0);
    assert_eq!(odd.map.unwrap().x.len(), 2);
    let odd = Embedding {
        map: Some(Map {
            x: vec![0.0, f32::NAN],
            y: vec![1.0],
            ..Map::default()
        }),
        ..Embedding::default()
    };
    assert!(svg::map("odd", &odd).unwrap().is_some());
}

#[test]
fn non_finite_rows_are_left_out() {
    let mut values = vec![0.5f32; 20];
    values[3] = f32::NAN;
    values[10] = f32::INFINITY;
    let mut embedding = Embedding::new("graphs", 2, values, (0..10).map(Some).collect()).unwrap();
    embedding.reduce(1500, 0);
    assert_eq!(embedding.classes.len(), 8);
    assert!(!embedding.classes.contains(&Some(1)) && !embedding.classes.contains(&Some(5)));
    // Large numbers have distances too.
    let mut large = Embedding::new(
        "graphs",
        1,
        (0..40).map(|i| 1e37 * i as f32 / 2.0).collect(),
        vec![None; 40],
    )
    .unwrap();
    large.reduce(1500, 0);
    assert!(large.map.unwrap().x.iter().all(|x| x.is_finite()));
}

/// A record may claim more rows than it has: missing ones are not shown.
#[test]
fn missing_rows_are_left_out() {
    for columns in [0, 1, 2, 1 << 33, usize::MAX / 2 + 1, usize::MAX] {
        let mut record = Record::new(Kind::Train, "claims");
        record.methods = vec![Method {
            embedding: Some(Embedding {
                classes: vec![Some(0); 9],
                rows: Some(Rows {
                    columns,
                    values: vec![0.5, 1.0, 2.0],
                }),
                ..Embedding::default()
            }),
            ..Method::default()
        }];
        let json = record.to_json().unwrap();
        let read = Record::parse(&json, "claims".as_ref()).unwrap();
        assert!(render(&[read]).unwrap().ends_with("</html>\n"), "{columns}");
    }
}

#[test]
fn confusion_of_one_class_renders_and_of_too_many_is_left_out() {
    let one = Confusion {
        classes: vec![],
        counts: vec![vec![7]],
    };
    assert!(
        svg::confusion(&one)
            .unwrap()
            .unwrap()
            .standalone()
            .contains("class 0 taken for class 0: 7 of 7 (100.0%)")
    );
    let ragged = Confusion {
        classes: vec!["a".into()],
        counts: vec![vec![1, 2, 3], vec![], vec![0, u64::MAX]],
    };
    assert!(svg::confusion(&ragged).unwrap().is_some());
    for counts in [vec![], vec![vec![0, 0], vec![0, 0]], vec![vec![1; 25]; 25]] {
        assert_eq!(
            svg::confusion(&Confusion {
                classes: vec![],
                counts
            })
            .unwrap(),
            None
        );
    }
}

#[test]
fn equal_and_distant_ranks_render() {
    let ranks = |bins: &[(u64, u64)]| Ranks {
        bins: bins
            .iter()
            .map(|&(rank, graphs)| RankBin {
                rank,
                graphs,
                captured: Some(2.0),
            })
            .collect(),
        ..Ranks::default()
    };
    assert!(svg::ranks(&ranks(&[(0, 1)])).unwrap().is_some());
    assert!(
        svg::ranks(&ranks(&[(1, u64::MAX), (1_000_000, u64::MAX)]))
            .unwrap()
            .is_some()
    );
    assert_eq!(svg::ranks(&ranks(&[(3, 0)])).unwrap(), None);
    assert_eq!(svg::ranks(&ranks(&[(u64::MAX, 3)])).unwrap(), None);
}

#[test]
fn sweep_of_one_point_renders() {
    let sweep = |at, mean| Sweep {
        series: vec![SweepSeries {
            name: String::new(),
            points: vec![SweepPoint {
                at,
                score: Estimate {
                    mean,
                    ..Estimate::default()
                },
            }],
        }],
        ..Sweep::default()
    };
    assert!(svg::sweep(&sweep(0.5, 0.7)).unwrap().is_some());
    assert_eq!(svg::sweep(&sweep(f64::NAN, 0.7)).unwrap(), None);
    assert_eq!(svg::sweep(&sweep(0.5, f64::NAN)).unwrap(), None);
}
