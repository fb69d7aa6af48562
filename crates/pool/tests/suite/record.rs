//! Results that are kept.

use egg_pool::Error;
use egg_pool::metrics::Metric;
use egg_pool::protocol::{Run, RunOptions, RunRecord};

use crate::small;

#[test]
fn a_record_has_what_is_needed_to_repeat_a_run() {
    let dataset = small::dataset(60);
    let mut experiment = small::experiment(&dataset, "gcn", "egg");
    experiment.training.max_epochs = 2;
    let graphs = experiment.prepare(dataset).unwrap();
    let run = || {
        experiment
            .run(&graphs, &RunOptions::default(), &small::watch_nothing)
            .unwrap()
    };
    let Run { report, splits, .. } = run();
    let record = RunRecord::new(&report, &splits, &graphs, Some("abc".to_owned())).unwrap();

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("results/small.json");
    record.save(&path).unwrap();
    let kept = RunRecord::load(&path).unwrap();
    assert_eq!(kept, record);
    assert_eq!(kept.repetitions.len(), 3);
    assert_eq!(kept.repetitions[0].ranks.len(), 1);
    assert_eq!(kept.test, report.test);
    // A new split for each repetition of GCN, and each has its checksum.
    assert!(kept.splits[0] != kept.splits[1] && kept.splits[0].len() == 16);

    // From the record alone the same numbers come again.
    let again = kept
        .experiment
        .run(&graphs, &RunOptions::default(), &small::watch_nothing)
        .unwrap();
    for (outcome, repetition) in again.report.outcomes.iter().zip(&kept.repetitions) {
        let test = |part: &egg_pool::train::PartReport| part.scores.get(Metric::ACCURACY);
        assert_eq!(outcome.validation.as_ref(), Some(&repetition.validation));
        assert_eq!(
            outcome.test.as_ref().map(test),
            repetition.test.as_ref().map(test)
        );
    }

    let others = experiment.prepare(small::dataset(40)).unwrap();
    assert!(matches!(
        RunRecord::new(&report, &splits, &others, None),
        Err(Error::OtherRun { .. })
    ));
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replacen("\"format\": 1", "\"format\": 9", 1)).unwrap();
    assert!(matches!(RunRecord::load(&path), Err(Error::Format { .. })));
}
