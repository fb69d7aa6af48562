//! Nothing that comes from data is read as HTML.

use egg_report::{Clustering, Estimate, Kind, Record, Sweep, SweepPoint, SweepSeries, render};

use crate::made_up;

const NASTY: &str = "<script>alert('x')</script>\"&</title><img src=x onerror=y>";

#[test]
fn text_is_escaped_everywhere() {
    let mut record = made_up::records().swap_remove(0);
    record.title = NASTY.to_owned();
    record.command = NASTY.to_owned();
    record.finished = NASTY.to_owned();
    record.protocol = NASTY.to_owned();
    record.config = serde_json::json!({ NASTY: NASTY });
    record.notes = vec![NASTY.to_owned()];
    for text in [
        &mut record.data.name,
        &mut record.data.fingerprint,
        &mut record.data.source,
        &mut record.versions.egg,
        &mut record.versions.machine,
    ] {
        *text = NASTY.to_owned();
    }
    record.versions.others = vec![(NASTY.to_owned(), NASTY.to_owned())];
    for method in &mut record.methods {
        method.name = format!("{NASTY}{}", method.name);
        method.group = NASTY.to_owned();
        method.metric = NASTY.to_owned();
        for ranks in &mut method.ranks {
            ranks.name = NASTY.to_owned();
        }
        if let Some(embedding) = &mut method.embedding {
            embedding.class_names = vec![NASTY.to_owned(); 3];
            embedding.note = NASTY.to_owned();
            embedding.subject = NASTY.to_owned();
        }
        if let Some(confusion) = &mut method.confusion {
            confusion.classes = vec![NASTY.to_owned(); 3];
        }
    }
    record.sweeps = vec![Sweep {
        parameter: NASTY.to_owned(),
        metric: NASTY.to_owned(),
        series: vec![SweepSeries {
            name: NASTY.to_owned(),
            points: vec![SweepPoint {
                at: 0.5,
                score: Estimate::from_values(&[0.5, 0.6], 1),
            }],
        }],
    }];
    record.trials = vec![egg_report::Trial {
        settings: vec![(NASTY.to_owned(), NASTY.to_owned())],
        ..Default::default()
    }];
    record.clusterings = vec![Clustering {
        method: NASTY.to_owned(),
        acc: Estimate::from_values(&[0.5], 0),
        others: vec![(NASTY.to_owned(), Estimate::from_values(&[0.5], 0))],
        ..Clustering::default()
    }];
    let plain = render(&[Record::new(Kind::Train, "plain")]).unwrap();
    let page = render(&[record]).unwrap();
    assert!(page.contains("&lt;script&gt;"));
    // The page has one script of its own, and no pictures.
    assert_eq!(page.matches("<script").count(), plain.matches("<script").count());
    assert_eq!(page.matches("</script").count(), 1);
    assert!(!page.contains("<img"));
    assert_eq!(
        page.matches("<title>").count(),
        page.matches("</title>").count(),
        "a title was closed early"
    );
    assert!(!page.contains("=\"<"), "an attribute with a raw sign");
}

#[test]
fn control_characters_are_replaced() {
    let page = render(&[Record::new(Kind::Train, "a\u{0}b\u{7}c\u{fffe}")]).unwrap();
    assert!(page.contains("a\u{fffd}b\u{fffd}c\u{fffd}"));
}
