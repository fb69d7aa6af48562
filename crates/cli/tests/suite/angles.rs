//! `egg angles`.

use approx::{abs_diff_eq, assert_abs_diff_eq};

use crate::program::{egg, place, write, write_npy};

#[test]
fn angles_and_distances_are_exact_to_the_last_digits() {
    let place = place();
    let (c, s) = (1e-9f64.cos(), 1e-9f64.sin());
    write_npy(
        &place.path().join("a.npy"),
        &[&[1.0, 0.0], &[0.0, 1.0], &[0.0, 0.0]],
    );
    write_npy(&place.path().join("b.npy"), &[&[1.0, 0.0], &[0.0, c], &[0.0, s]]);
    let object = &egg(place.path(), &["angles", "a.npy", "b.npy", "--json"])
        .ok()
        .json()[0];
    let keys: Vec<&String> = object.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["angles", "distances"]);
    let angles = object["angles"].as_array().unwrap();
    assert_eq!(angles.len(), 2);
    assert!(angles[0].as_f64().unwrap().abs() < 1e-15);
    // f32 in between would leave nothing of it.
    assert_abs_diff_eq!(angles[1].as_f64().unwrap(), 1e-9, epsilon = 2e-15);
    let distances = object["distances"].as_object().unwrap();
    assert_eq!(distances.len(), 10);
    for name in [
        "geodesic",
        "projection",
        "procrustes",
        "gap",
        "fubini-study",
        "martin",
    ] {
        assert!(
            abs_diff_eq!(distances[name].as_f64().unwrap(), 1e-9, epsilon = 1e-14),
            "{name}"
        );
    }
}

#[test]
fn subspaces_of_different_dimension_and_right_angles_are_compared() {
    let place = place();
    write_npy(&place.path().join("line.npy"), &[&[0.0], &[0.0], &[2.0]]);
    write_npy(
        &place.path().join("plane.npy"),
        &[&[1.0, 1.0], &[0.0, 1.0], &[0.0, 0.0]],
    );
    let ended = egg(place.path(), &["angles", "line.npy", "plane.npy"]).ok();
    assert!(
        ended.out.contains("dimension 1 and 2") && ended.out.contains("90.000000"),
        "{}",
        ended.out
    );
    let json = egg(place.path(), &["angles", "line.npy", "plane.npy", "--json"])
        .ok()
        .json();
    assert!(json[0]["distances"]["martin"].is_null(), "JSON has no infinity");
    // As data: one direction of the plane's rows is enough for half of what there is.
    egg(
        place.path(),
        &["angles", "plane.npy", "plane.npy", "--rank", "fixed:1"],
    )
    .ok();
}

#[test]
fn an_empty_span_is_refused_with_its_file() {
    let place = place();
    write_npy(&place.path().join("a.npy"), &[&[1.0], &[0.0]]);
    write_npy(&place.path().join("flat.npy"), &[&[1.0, 2.0], &[2.0, 4.0]]);
    write_npy(&place.path().join("long.npy"), &[&[1.0], &[0.0], &[0.0]]);
    write(place.path(), "text.npy", "1,2,3");
    let angles = |b: &str| egg(place.path(), &["angles", "a.npy", b]);
    angles("flat.npy").refused(1, &["flat.npy", "span only 1"]);
    angles("long.npy").refused(1, &["R^2", "R^3"]);
    write_npy(&place.path().join("zero.npy"), &[&[0.0], &[0.0]]);
    write_npy(
        &place.path().join("wide.npy"),
        &[&[1.0, 0.0, 2.0], &[0.0, 1.0, 2.0]],
    );
    angles("zero.npy").refused(1, &["zero.npy", "a zero matrix"]);
    angles("wide.npy").refused(1, &["wide.npy", "3 columns", "transpose", "--rank"]);
    angles("text.npy").refused(1, &["text.npy"]);
    angles("none.npy").refused(1, &["none.npy", "No such file"]);
}
