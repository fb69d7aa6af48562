//! `egg report`.

use crate::program::{TRAIN, egg, place, rings_and_stars};

#[test]
fn reports_draw_one_run_or_several() {
    let place = place();
    rings_and_stars(place.path(), "graphs", 40, true);
    egg(
        place.path(),
        &[&TRAIN[..], &["--out", "runs/egg", "--quiet"]].concat(),
    )
    .ok();
    let words = [
        "train", "--data", "graphs", "--pool", "sum", "--hidden", "8", "--reps", "2", "--epochs", "4",
    ];
    egg(
        place.path(),
        &[&words[..], &["--out", "runs/sum", "--quiet"]].concat(),
    )
    .ok();
    let words = [
        "cluster",
        "--preset",
        "paper",
        "--data",
        "demo:karate",
        "--epochs",
        "20",
        "--out",
        "runs/karate",
        "--quiet",
    ];
    egg(place.path(), &words).ok();

    let one = egg(place.path(), &["report", "runs/egg"]).ok();
    assert_eq!(one.out.trim_end(), "runs/egg/report.html");
    let page = std::fs::read_to_string(place.path().join("runs/egg/report.html")).unwrap();
    assert!(
        page.contains("<svg") && page.contains("egg train --data graphs"),
        "curves and command"
    );
    assert!(
        !page.contains("http://") || page.contains("http://www.w3.org"),
        "nothing is loaded"
    );

    egg(place.path(), &["report", "runs", "--out", "all.html"]).ok();
    let page = std::fs::read_to_string(place.path().join("all.html")).unwrap();
    for word in ["sum", "egg", "k-means+EGG 0.8"] {
        assert!(page.contains(word), "{word}");
    }
}
