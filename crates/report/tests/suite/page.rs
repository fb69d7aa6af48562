//! The content of a page.

use egg_report::{Clustering, Embedding, Estimate, Kind, Method, Record, Repetition, render};

use crate::made_up;

#[test]
fn page_contains_every_section() {
    let records = made_up::records();
    let page = render(&records).unwrap();
    for words in [
        "Test accuracy of each method",
        "Validation loss by epoch",
        "Validation accuracy by epoch",
        "Where embeddings lie",
        "420 graphs (test part of fold 1); t-SNE, perplexity 30",
        "EGG: Ranks p, layer 4",
        "of the sum of the singular values",
        "What was taken for what",
        "not distinguished",
        "\u{25bc} worse",
        "Clusterings of made-up network",
        "Loss of the autoencoder by epoch",
        "Test accuracy against threshold r",
        "\u{2713} chosen",
        "The first 10 of 24 settings",
        "cargo run -p egg-report --example gallery",
        "xxh3:0123456789abcdef0123456789abcdef",
        "OpenBLAS 0.3.21",
        "&quot;weight_decay&quot;: 0.0005",
        "No number on this page was measured",
        "<dt>seed</dt><dd>42</dd>",
    ] {
        assert!(page.contains(words), "no {words:?}");
    }
    // Nothing is fetched from anywhere.
    for outside in ["http://", "https://", "src=", "@import", "url("] {
        let found = page.matches(outside).count();
        let names = page.matches("\"http://www.w3.org/2000/svg\"").count();
        assert_eq!(found, if outside == "http://" { names } else { 0 }, "{outside}");
    }
    // Stand-ins for colours are all replaced.
    assert!(!page.contains("=\"#0100") && !page.contains("=\"#0200") && !page.contains("=\"#0300"));
}

fn run(title: &str, pool: &str, scores: [f64; 3]) -> Record {
    let mut record = Record::new(Kind::Train, title);
    record.data.name = "MUTAG".to_owned();
    record.data.fingerprint = "1234".to_owned();
    record.methods.push(Method {
        name: pool.to_owned(),
        repetitions: (0..3)
            .map(|i| Repetition {
                split: format!("fold {i}"),
                parts: (150, 19, 19),
                test: Some(scores[i]),
                ..Repetition::default()
            })
            .collect(),
        ..Method::default()
    });
    record
}

#[test]
fn runs_on_the_same_data_are_compared() {
    let first = run("one", "EGG", [0.8, 0.7, 0.9]);
    let second = run("two", "SUM", [0.7, 0.7, 0.8]);
    let page = render(&[first.clone(), second.clone()]).unwrap();
    assert_eq!(page.matches("<h2 id=\"part-1\">Results on MUTAG").count(), 1);
    assert!(page.contains("against EGG") && page.contains("not distinguished"));
    assert!(page.contains("\u{2212}6.67"), "SUM is 6.67 points below");

    let mut elsewhere = second;
    elsewhere.data.fingerprint = "5678".to_owned();
    let page = render(&[first.clone(), elsewhere]).unwrap();
    assert!(!page.contains("against EGG"));

    // The same name twice: distinguished by the runs' titles.
    let page = render(&[first.clone(), run("again", "EGG", [0.7, 0.7, 0.7])]).unwrap();
    assert!(page.contains("EGG (one)") && page.contains("EGG (again)"));
    let page = render(&[first.clone(), first]).unwrap();
    assert!(page.contains("EGG (one) #1") && page.contains("EGG (one) #2"));
}

#[test]
fn equal_scores_are_reported_equal_and_the_reference_is_first() {
    let page = render(&[run("one", "sum", [1.0; 3]), run("two", "egg 0.8", [1.0; 3])]).unwrap();
    assert!(page.contains("egg 0.8 and sum share the highest mean test accuracy: 100.00 \u{b1}\u{a0}0.00%."));
    assert!(page.contains("egg 0.8 does the same as sum on every split."));
    assert!(!page.contains("not distinguished"));
    assert!(page.find(">egg 0.8</span>").unwrap() < page.find(">sum</span>").unwrap());
    // No axis reaches beyond 100 %.
    assert!(page.contains(">100.0<") && !page.contains(">100.2<"));
}

#[test]
fn standalone_chart_contains_its_colours() {
    let records = made_up::records();
    let methods: Vec<&Method> = records[0].methods.iter().collect();
    let chart = egg_report::svg::loss_curves(&methods, &[0, 1, 2, 3, 4])
        .unwrap()
        .unwrap();
    let file = chart.standalone();
    assert!(file.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
    assert!(file.contains("prefers-color-scheme: dark") && file.contains("stroke=\"#0072b2\""));
    assert_eq!(file.matches("<svg").count(), 1);
}

#[test]
fn one_run_has_no_deviation_and_no_mean_of_runs() {
    let mut record = run("one", "EGG", [0.75; 3]);
    record.methods[0].repetitions.truncate(1);
    let page = render(&[record]).unwrap();
    assert!(page.contains("75.00") && page.contains("One run, tested once"));
    assert!(!page.contains('\u{b1}'), "a deviation of one number");
}

/// Clusters are not tested: nothing was held out.
#[test]
fn clusterings_have_separate_axes() {
    let mut record = Record::new(Kind::Cluster, "clusters");
    record.protocol = "paper".to_owned();
    record.clusterings.push(Clustering {
        method: "k-means".to_owned(),
        acc: Estimate::from_values(&[0.5, 0.75], 0),
        nmi: Estimate::from_values(&[0.25, 0.5], 0),
        ..Clustering::default()
    });
    let page = render(&[record]).unwrap();
    assert!(page.contains("Accuracy of each clustering") && page.contains(">accuracy (%)<"));
    assert!(page.contains("preset paper") && !page.contains("protocol paper"));
    assert!(!page.contains("test accuracy") && !page.contains("test NMI"));
}

#[test]
fn classes_look_different_from_no_class() {
    let picture = |class: Option<u32>| {
        let (numbers, classes) = ((0..40u8).map(f32::from).collect(), vec![class; 20]);
        let mut embedding = Embedding::new("graphs", 2, numbers, classes).unwrap();
        embedding.class_names = (0..16).map(|_| "x".to_owned()).collect();
        embedding.reduce(100, 0);
        let chart = egg_report::svg::map("map", &embedding).unwrap().unwrap();
        chart.standalone().replace("no class", "x")
    };
    // The same points, so that only colour and shape can differ.
    let none = picture(None);
    assert_eq!(none, picture(None));
    for class in 0..16 {
        assert_ne!(none, picture(Some(class)), "class {class}");
    }
}
