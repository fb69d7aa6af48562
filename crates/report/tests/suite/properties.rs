//! Arbitrary files never cause a panic, and records round-trip.

use std::path::Path;

use egg_report::{
    Clustering, Confusion, Embedding, Epoch, Estimate, Kind, Losses, Map, Method, RankBin, Ranks, Record,
    Repetition, Rows, Sweep, SweepPoint, SweepSeries, Trial, render,
};
use proptest::collection::vec;
use proptest::prelude::*;

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        6 => 0.0..1.0f64,
        1 => any::<f64>(),
        1 => Just(f64::NAN),
        1 => Just(f64::INFINITY),
        1 => Just(0.0),
        1 => Just(-1e308),
    ]
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        vec(any::<char>(), 0..8).prop_map(String::from_iter),
        Just("EGG".to_owned())
    ]
}

fn estimate() -> impl Strategy<Value = Estimate> {
    (number(), proptest::option::of(number()), vec(number(), 0..4)).prop_map(|(mean, deviation, values)| {
        Estimate {
            mean,
            deviation,
            values,
        }
    })
}

fn count() -> impl Strategy<Value = u64> {
    prop_oneof![4 => 0..50u64, 1 => any::<u64>()]
}

fn repetition() -> impl Strategy<Value = Repetition> {
    let epoch = (
        count(),
        number(),
        number(),
        proptest::option::of(number()),
        number(),
    );
    let epochs = vec(epoch, 0..5).prop_map(|epochs| {
        let epoch = |(epoch, train_loss, validation_loss, metric, seconds)| Epoch {
            epoch,
            train_loss,
            train_metric: metric,
            validation_loss,
            validation_metric: metric,
            seconds,
        };
        epochs.into_iter().map(epoch).collect()
    });
    (
        text(),
        (count(), count(), count()),
        proptest::option::of(number()),
        epochs,
    )
        .prop_map(|(split, parts, test, epochs)| Repetition {
            split,
            parts,
            test,
            validation: test,
            best_epoch: None,
            epochs,
        })
}

fn embedding() -> impl Strategy<Value = Embedding> {
    let float = prop_oneof![4 => -1.0..1.0f32, 1 => any::<f32>()];
    let class = proptest::option::of(prop_oneof![3 => 0..4u32, 1 => any::<u32>()]);
    (
        0..4usize,
        vec(float, 0..40),
        vec(class, 0..14),
        vec(text(), 0..3),
        any::<bool>(),
    )
        .prop_map(|(columns, values, classes, class_names, map)| Embedding {
            class_names,
            classes,
            map: map.then(|| Map {
                x: values.clone(),
                y: values.iter().rev().copied().collect(),
                ..Map::default()
            }),
            rows: (!map).then_some(Rows { columns, values }),
            ..Embedding::default()
        })
}

fn method() -> impl Strategy<Value = Method> {
    let bin =
        (count(), count(), proptest::option::of(number())).prop_map(|(rank, graphs, captured)| RankBin {
            rank,
            graphs,
            captured,
        });
    let ranks = (text(), vec(bin, 0..4)).prop_map(|(name, bins)| Ranks {
        name,
        columns: None,
        bins,
    });
    let confusion = (vec(text(), 0..3), vec(vec(count(), 0..4), 0..4))
        .prop_map(|(classes, counts)| Confusion { classes, counts });
    (
        text(),
        text(),
        any::<bool>(),
        vec(repetition(), 0..4),
        proptest::option::of(confusion),
        vec(ranks, 0..2),
        proptest::option::of(embedding()),
    )
        .prop_map(
            |(name, group, lower_is_better, repetitions, confusion, ranks, embedding)| Method {
                name,
                group,
                lower_is_better,
                repetitions,
                confusion,
                ranks,
                embedding,
                ..Method::default()
            },
        )
}

fn record() -> impl Strategy<Value = Record> {
    let point = (number(), estimate()).prop_map(|(at, score)| SweepPoint { at, score });
    let series = (text(), vec(point, 0..4)).prop_map(|(name, points)| SweepSeries { name, points });
    let sweep = (text(), vec(series, 0..3)).prop_map(|(parameter, series)| Sweep {
        parameter,
        metric: String::new(),
        series,
    });
    let clustering = (
        text(),
        estimate(),
        estimate(),
        vec((text(), estimate()), 0..2),
        vec(vec(number(), 0..4), 0..3),
    )
        .prop_map(|(method, acc, nmi, others, losses)| Clustering {
            method,
            acc,
            nmi,
            others,
            losses: losses.into_iter().map(Losses).collect(),
            ..Clustering::default()
        });
    let trial = (vec((text(), text()), 0..3), estimate()).prop_map(|(settings, validation)| Trial {
        settings,
        validation,
        test: None,
        chosen: true,
    });
    (
        text(),
        text(),
        0..3usize,
        vec(method(), 0..4),
        vec(sweep, 0..2),
        vec(clustering, 0..3),
        vec(trial, 0..3),
        vec(text(), 0..2),
    )
        .prop_map(
            |(title, data, ddof, methods, sweeps, clusterings, trials, notes)| {
                let mut record = Record::new(Kind::Train, title);
                record.data.name = data;
                record.ddof = ddof;
                record.methods = methods;
                record.sweeps = sweeps;
                record.clusterings = clusterings;
                record.trials = trials;
                record.notes = notes;
                record
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_records_render_a_page(records in vec(record(), 1..3)) {
        let page = render(&records).unwrap();
        prop_assert!(page.ends_with("</html>\n"));
        prop_assert_eq!(page.matches("<svg").count(), page.matches("</svg>").count());
        prop_assert!(!page.contains("=\"NaN") && !page.contains("=\"inf"));
    }

    #[test]
    fn arbitrary_records_round_trip(record in record()) {
        let json = record.to_json().unwrap();
        let read = Record::parse(&json, Path::new("run.json")).unwrap();
        // NaN is not equal to itself, but is written the same.
        prop_assert_eq!(read.to_json().unwrap(), json);
    }

    #[test]
    fn arbitrary_text_never_panics(text in "\\PC*") {
        let _ = Record::parse(&text, Path::new("run.json"));
    }
}
