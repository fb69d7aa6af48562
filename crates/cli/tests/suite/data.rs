//! What DATA can be: `egg info`.

use serde_json::{Value, json};

use crate::program::{egg, place, rings_and_stars, write, write_npy};

fn info(folder: &std::path::Path, data: &str) -> Value {
    let mut objects = egg(folder, &["info", data, "--json"]).ok().json();
    assert_eq!(objects.len(), 1);
    objects.remove(0)
}

#[test]
fn demos_have_exactly_the_documented_keys() {
    let place = place();
    let karate = json!({
        "name": "karate", "graphs": 1, "nodes": 34, "edges": 78, "features": 34, "classes": 2,
        "unlabelled": 0, "edge_weights": false, "feature_columns": null,
        "edges_read": {"listed": 0, "self_loops": 0, "duplicates": 0, "one_way": 0},
        "reading": {"ids": null, "tables": []},
    });
    assert_eq!(info(place.path(), "demo:karate"), karate);
    assert_eq!(info(place.path(), "demo:covariance")["graphs"], 400);
    assert_eq!(info(place.path(), "demo:sbm:120")["nodes"], 120);
}

#[test]
fn tables_of_graphs_are_read() {
    let place = place();
    rings_and_stars(place.path(), "graphs", 10, true);
    let found = info(place.path(), "graphs");
    assert_eq!(
        (&found["graphs"], &found["features"], &found["classes"]),
        (&json!(10), &json!(3), &json!(2))
    );
    let shown = egg(place.path(), &["info", "graphs"]).ok();
    assert!(shown.out.contains("ring: 5, star: 5"), "{}", shown.out);
}

#[test]
fn tu_folders_are_read_and_unused_attributes_reported() {
    let place = place();
    write(place.path(), "PAIR/PAIR_A.txt", "1, 2\n2, 1\n3, 4\n4, 3\n");
    write(place.path(), "PAIR/PAIR_graph_indicator.txt", "1\n1\n2\n2\n");
    write(place.path(), "PAIR/PAIR_graph_labels.txt", "-1\n1\n");
    has(
        &info(place.path(), "PAIR"),
        json!({"name": "PAIR", "graphs": 2, "nodes": 4, "edges": 2, "features": 0, "classes": 2}),
    );
    // Labels, and attributes that are not used with them: said, and an option.
    write(place.path(), "PAIR/PAIR_node_labels.txt", "1\n3\n1\n3\n");
    write(
        place.path(),
        "PAIR/PAIR_node_attributes.txt",
        "0.5\n1.5\n2.5\n3.5\n",
    );
    let features = |more: &[&str]| {
        let shown = egg(place.path(), &[&["info", "PAIR"][..], more].concat())
            .ok()
            .out;
        let line = |name: &str| {
            let found = shown.lines().find(|line| line.trim_start().starts_with(name));
            found.unwrap_or_else(|| panic!("{name} in {shown}")).to_owned()
        };
        (line("features of a node"), shown.clone())
    };
    let (line, shown) = features(&[]);
    assert!(
        line.contains("3 (node label = 1, node label = 2, node label = 3)"),
        "{line}"
    );
    assert!(
        shown.contains("PAIR_node_attributes.txt, without a header: column 1 (not used)"),
        "{shown}"
    );
    let (line, shown) = features(&["--node-features", "both"]);
    assert!(line.contains("4 (node attribute 1, node label = 1"), "{line}");
    assert!(
        shown.contains("PAIR_node_attributes.txt, without a header: column 1 (feature)"),
        "{shown}"
    );
}

fn has(found: &Value, expected: Value) {
    for (key, value) in expected.as_object().unwrap() {
        assert_eq!(&found[key], value, "{key} of {found}");
    }
}

#[test]
fn edge_lists_use_the_feature_and_label_files_next_to_them() {
    let place = place();
    write(
        place.path(),
        "friends.csv",
        "source,target\nAda,Grace\nGrace,Emmy\n",
    );
    write(
        place.path(),
        "friends.features.csv",
        "node,height,age\nAda,1.6,30\nGrace,1.7,40\nEmmy,1.5,50\n",
    );
    write(place.path(), "friends.labels.csv", "node,label\nAda,x\nEmmy,y\n");
    has(
        &info(place.path(), "friends.csv"),
        json!({"name": "friends", "graphs": 1, "nodes": 3, "edges": 2, "features": 2, "classes": 2, "unlabelled": 1}),
    );
    // Ids from 1, in a folder, without anything else.
    write(place.path(), "ring/edges.txt", "1 2\n2 3\n3 1\n");
    let ring = info(place.path(), "ring");
    assert_eq!((&ring["nodes"], &ring["classes"]), (&json!(3), &Value::Null));
}

#[test]
fn without_data_the_known_names_are_listed() {
    let place = place();
    let listed = egg(place.path(), &["info"]).ok();
    for name in ["PROTEINS", "ogbg-molhiv", "Cora", "demo:covariance"] {
        assert!(listed.out.contains(name), "{name}");
    }
}

#[test]
fn info_reports_everything_that_was_read() {
    let place = place();
    write(
        place.path(),
        "net/edges.csv",
        ",source,target,weight,since\n0,1,1,2,1999\n1,1,2,3,1998\n2,2,1,3,1998\n3,2,3,4,1997\n4,2,3,5,1996\n",
    );
    write(place.path(), "net/features.csv", "id,x\n1,10\n2,20\n3,30\n");
    write(place.path(), "net/labels.csv", "id,label\n1,a\n2,NA\n3,b\n");
    let shown = egg(place.path(), &["info", "net"]).ok().out;
    for words in [
        "ids of nodes        numbers from 1",
        "edges.csv, with a header: (no name) (row index, not used), source (source), target (target), weight (weight), since (not used)",
        "features.csv, with a header: id (node id), x (feature)",
        "labels.csv, with a header: id (node id), label (label)",
        "5; 1 in both directions, 1 in one, read without direction; 1 repeated, 1 from a node to itself removed",
        "from column weight",
        "labels not known    1",
        "1 (x)",
    ] {
        assert!(shown.contains(words), "{words:?} is not in {shown}");
    }
    let found = info(place.path(), "net");
    assert_eq!(found["reading"]["ids"], "OneBased");
    assert_eq!(found["reading"]["tables"][0]["columns"][0]["role"], "row-index");
    assert_eq!(found["edge_weights"], true);
    // The first lines of a run say what is left out and what weighs.
    let run = egg(
        place.path(),
        &[
            "cluster",
            "--preset",
            "paper",
            "--data",
            "net",
            "--clusters",
            "2",
            "--epochs",
            "2",
            "--out",
            "run",
        ],
    )
    .ok();
    assert!(run.err.contains("edges.csv: since not used"), "{}", run.err);
    assert!(run.err.contains("edges are weighted by weight"), "{}", run.err);
}

#[test]
fn ambiguous_tables_are_refused_with_the_option_that_decides() {
    let place = place();
    let call = |more: &[&str]| egg(place.path(), &[&["info", "net", "--json"][..], more].concat());
    // An isolated node 0, and features in order.
    write(place.path(), "net/edges.csv", "source,target\n1,2\n2,3\n");
    write_npy(
        &place.path().join("net/features.npy"),
        &[&[0.0], &[1.0], &[2.0], &[3.0]],
    );
    call(&[]).refused(1, &["--ids-from 0", "--ids-from 1"]);
    for from in ["0", "1"] {
        let found = call(&["--ids-from", from]).ok().json().remove(0);
        assert_eq!(found["nodes"], 4);
        let expected = if from == "0" { "ZeroBased" } else { "OneBased" };
        assert_eq!(found["reading"]["ids"], expected);
    }
    call(&["--ids-from", "2"]).refused(2, &["--ids-from", "0, 1 or names"]);
    std::fs::remove_file(place.path().join("net/features.npy")).unwrap();

    write(
        place.path(),
        "net/edges.csv",
        "person_a,person_b\nAda,Grace\nGrace,Emmy\n",
    );
    call(&[]).refused(1, &["person_a,person_b", "--header yes"]);
    assert_eq!(call(&["--header", "yes"]).ok().json()[0]["nodes"], 3);
    assert_eq!(call(&["--header", "no"]).ok().json()[0]["nodes"], 5);

    write(
        place.path(),
        "net/edges.csv",
        "giver,taker,amount\n1,2,9\n2,3,8\n",
    );
    call(&[]).refused(1, &["giver, taker, amount", "--columns source=NAME,target=NAME"]);
    let found = call(&["--columns", "source=giver,target=taker", "--weight", "amount"]).ok();
    assert_eq!(found.json()[0]["edge_weights"], true);
    call(&["--columns", "source=giver"]).refused(2, &["source=A,target=B"]);
    call(&["--columns", "source=giver,target=3,weight=4"]).refused(2, &["weight=4"]);
}

#[test]
fn modified_data_under_a_registered_name_are_refused() {
    let place = place();
    let mut archive = zip::ZipWriter::new(std::fs::File::create(place.path().join("MUTAG.zip")).unwrap());
    for (name, text) in [
        ("A", "1, 2\n2, 1\n"),
        ("graph_indicator", "1\n1\n"),
        ("graph_labels", "1\n"),
        ("node_labels", "0\n6\n"),
    ] {
        archive
            .start_file(
                format!("MUTAG/MUTAG_{name}.txt"),
                zip::write::SimpleFileOptions::default(),
            )
            .unwrap();
        std::io::Write::write_all(&mut archive, text.as_bytes()).unwrap();
    }
    archive.finish().unwrap();
    let call = |more: &[&str]| {
        egg(
            place.path(),
            &[&["info", "MUTAG", "--datasets", "."][..], more].concat(),
        )
    };
    // Both fingerprints, and what to do.
    call(&[]).refused(
        1,
        &[
            "not MUTAG as it is registered",
            "0ea97cb892255509",
            "--allow-modified",
        ],
    );
    assert!(call(&["--allow-modified"]).ok().out.contains("2"));
}

/// Whatever a file calls its graphs and classes: it moves no cursor and is no Markdown.
#[test]
fn escape_sequences_in_labels_are_written_out() {
    let place = place();
    rings_and_stars(place.path(), "graphs", 24, true);
    let path = place.path().join("graphs/graphs.csv");
    let text = std::fs::read_to_string(&path).unwrap();
    let text = text
        .replace("ring", "\u{1b}[31mring|`x`")
        .replace("g3,", "\u{1b}]0;g3,");
    std::fs::write(&path, text).unwrap();
    for name in ["edges", "nodes"] {
        let path = place.path().join(format!("graphs/{name}.csv"));
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.replace("g3,", "\u{1b}]0;g3,")).unwrap();
    }
    let words = [
        "train", "--data", "graphs", "--pool", "sum", "--hidden", "4", "--reps", "1", "--epochs", "2",
        "--out", "run",
    ];
    let mut said = Vec::new();
    for words in [
        &["info", "graphs"][..],
        &words,
        &["predict", "--model", "run", "--data", "graphs", "--out", "p.csv"],
    ] {
        let ended = egg(place.path(), words).ok();
        said.extend([ended.out, ended.err]);
    }
    said.push(std::fs::read_to_string(place.path().join("run/model/README.md")).unwrap());
    assert!(said.iter().all(|text| !text.contains('\u{1b}')), "{said:?}");
    assert!(said[0].contains("\\u{1b}[31mring"), "{}", said[0]);
    let card = said.last().unwrap();
    assert!(card.contains("ring\\|\\`x\\`"), "{card}");
    // A file for programs has the names as they are.
    let predictions = std::fs::read_to_string(place.path().join("p.csv")).unwrap();
    assert!(predictions.contains("\u{1b}[31mring|`x`"));
}
