//! `egg sweep`.

use crate::program::{egg, place, rings_and_stars, write};

const CONFIG: &str = r#"
data = "graphs"
conv = "gcn"
pool = ["egg", "sum"]
reps = 2
epochs = 3
out = "swept"

[grid]
lr = [0.01]
weight_decay = [0.001]
hidden = [4]
dropout = [0.0, 0.5]
threshold = [0.2, 0.8]
"#;

#[test]
fn a_grid_is_searched_resumed_and_drawn() {
    let place = place();
    rings_and_stars(place.path(), "graphs", 40, true);
    write(place.path(), "grid.toml", CONFIG);
    let first = egg(place.path(), &["sweep", "grid.toml", "--json", "--jobs", "2"]).ok();
    let cells = first
        .json()
        .iter()
        .filter(|object| object["event"] == "cell")
        .count();
    assert_eq!(cells, 4 + 2);
    let summary = first.summary();
    let rows = summary["rows"].as_array().unwrap();
    assert_eq!(
        (rows[0]["pool"].as_str(), rows[1]["pool"].as_str()),
        (Some("egg"), Some("sum"))
    );
    assert_eq!(rows[0]["values"].as_array().unwrap().len(), 2);

    egg(place.path(), &["sweep", "grid.toml"]).refused(1, &["swept", "--resume"]);
    let again = egg(
        place.path(),
        &["sweep", "grid.toml", "--json", "--resume", "--jobs", "1"],
    )
    .ok();
    assert_eq!(again.json().len(), 1, "nothing is trained twice");
    assert_eq!(again.summary()["rows"], summary["rows"]);
    // A cell that is lost is trained again, to the same numbers.
    std::fs::remove_file(
        place
            .path()
            .join("swept/checkpoints/sum/lr0.01-wd0.001-h4-d0.5.json"),
    )
    .unwrap();
    let mended = egg(place.path(), &["sweep", "grid.toml", "--json", "--resume"]).ok();
    assert_eq!(mended.json().len(), 2);
    assert_eq!(mended.summary()["rows"], summary["rows"]);

    egg(place.path(), &["report", "swept", "--out", "sweep.html"]).ok();
    let page = std::fs::read_to_string(place.path().join("sweep.html")).unwrap();
    assert!(page.contains("threshold r"), "accuracy against r is drawn");
}

#[test]
fn errors_in_a_sweep_file_name_the_line() {
    let place = place();
    rings_and_stars(place.path(), "graphs", 40, true);
    let sweep = |text: &str| {
        write(place.path(), "grid.toml", text);
        egg(place.path(), &["sweep", "grid.toml"])
    };
    sweep("data = \"graphs\"\npol = \"egg\"\n").refused(1, &["grid.toml, line 2", "pol"]);
    sweep("data = \"graphs\"\n[grid]\nlr = 0.1\n").refused(1, &["grid.toml, line 3"]);
    sweep("data = \"graphs\"\npool = []\n").refused(1, &["grid.toml", "nothing to train"]);
    sweep("data = \"graphs\"\npool = \"atention\"\n")
        .refused(1, &["grid.toml", "line 2", "did you mean attention?"]);
    sweep("data = \"graphs\"\npool = [\"eg\"]\n").refused(1, &["grid.toml, line 2", "did you mean egg?"]);
    sweep("data = \"graphs\"\nreps = 0\n").refused(1, &["reps = 0", "from 1"]);
    egg(place.path(), &["sweep", "none.toml"]).refused(1, &["none.toml"]);
}

/// What was edited by hand is not believed.
#[test]
fn an_edited_cell_is_refused_with_the_remedy() {
    let place = place();
    rings_and_stars(place.path(), "graphs", 40, true);
    write(place.path(), "grid.toml", CONFIG);
    egg(place.path(), &["sweep", "grid.toml", "--quiet"]).ok();
    let path = place
        .path()
        .join("swept/checkpoints/sum/lr0.01-wd0.001-h4-d0.5.json");
    let text = std::fs::read_to_string(&path).unwrap();
    let line = text.lines().find(|line| line.contains("\"accuracy\":")).unwrap();
    std::fs::write(&path, text.replacen(line, "\"accuracy\": 7.5,", 1)).unwrap();
    egg(place.path(), &["sweep", "grid.toml", "--resume"])
        .refused(1, &["h4-d0.5.json", "changed after", "remove it"]);
}
