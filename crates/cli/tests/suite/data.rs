//! What DATA can be: `egg info`.

use serde_json::{Value, json};

use crate::program::{egg, place, rings_and_stars, write};

fn info(folder: &std::path::Path, data: &str) -> Value {
    let mut objects = egg(folder, &["info", data, "--json"]).ok().json();
    assert_eq!(objects.len(), 1);
    objects.remove(0)
}

#[test]
fn demos_have_exactly_the_documented_keys() {
    let place = place();
    let karate =
        json!({"name": "karate", "graphs": 1, "nodes": 34, "edges": 78, "features": 34, "classes": 2});
    assert_eq!(info(place.path(), "demo:karate"), karate);
    assert_eq!(info(place.path(), "demo:covariance")["graphs"], 400);
    assert_eq!(info(place.path(), "demo:sbm:120")["nodes"], 120);
}

#[test]
fn tables_of_graphs() {
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
fn tu_folders() {
    let place = place();
    write(place.path(), "PAIR/PAIR_A.txt", "1, 2\n2, 1\n3, 4\n4, 3\n");
    write(place.path(), "PAIR/PAIR_graph_indicator.txt", "1\n1\n2\n2\n");
    write(place.path(), "PAIR/PAIR_graph_labels.txt", "-1\n1\n");
    let expected = json!({"name": "PAIR", "graphs": 2, "nodes": 4, "edges": 2, "features": 0, "classes": 2});
    assert_eq!(info(place.path(), "PAIR"), expected);
}

#[test]
fn edge_lists_with_what_lies_beside_them() {
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
    let expected =
        json!({"name": "friends", "graphs": 1, "nodes": 3, "edges": 2, "features": 2, "classes": 2});
    assert_eq!(info(place.path(), "friends.csv"), expected);
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
