//! The same records give the same bytes, on any number of threads.

use egg_report::{Embedding, render};

use crate::made_up;

fn on_threads<T: Send>(threads: usize, run: impl FnOnce() -> T + Send) -> T {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .unwrap();
    pool.install(run)
}

#[test]
fn pages_are_identical_on_any_number_of_threads() {
    let records = made_up::records();
    let one = on_threads(1, || render(&records).unwrap());
    let four = on_threads(4, || render(&records).unwrap());
    assert!(one == four, "pages differ");
}

/// Also with many equal rows, whose nearest neighbours are a matter of choice.
#[test]
fn maps_are_identical_on_any_number_of_threads() {
    let mut values: Vec<f32> = (0..300 * 5).map(|i| ((i * 7919) % 101) as f32 / 101.0).collect();
    values[..100].fill(0.5);
    let embedding = Embedding::new("nodes", 5, values, vec![None; 300]).unwrap();
    let map = |threads| {
        on_threads(threads, || {
            let mut embedding = embedding.clone();
            embedding.reduce(200, 3);
            embedding
        })
    };
    let one = map(1);
    let drawn = one.map.as_ref().unwrap();
    assert_eq!((drawn.x.len(), drawn.rows, one.classes.len()), (200, 300, 200));
    assert!(drawn.x.iter().chain(&drawn.y).all(|x| x.is_finite()));
    for threads in [2, 3] {
        assert!(map(threads) == one, "{threads} threads");
    }
    let mut other = embedding.clone();
    other.reduce(200, 4);
    assert!(other.map != one.map, "the seed makes no difference");
}

/// Rows of three far-off groups must end up in three groups.
#[test]
fn map_keeps_neighbours_together() {
    let rows = 90;
    let mut values = Vec::new();
    for row in 0..rows {
        for column in 0..4 {
            let wobble = ((row * 31 + column * 17) % 23) as f32 / 100.0;
            values.push(if row % 3 == column { 10.0 } else { 0.0 } + wobble);
        }
    }
    let classes = (0..rows).map(|row| Some((row % 3) as u32)).collect();
    let mut embedding = Embedding::new("graphs", 4, values, classes).unwrap();
    embedding.reduce(1500, 0);
    let map = embedding.map.unwrap();
    for i in 0..rows {
        let distance = |j: usize| (map.x[i] - map.x[j]).hypot(map.y[i] - map.y[j]);
        let nearest = (0..rows)
            .filter(|&j| j != i)
            .min_by(|&a, &b| distance(a).total_cmp(&distance(b)));
        assert_eq!(nearest.unwrap() % 3, i % 3, "row {i}");
    }
}
