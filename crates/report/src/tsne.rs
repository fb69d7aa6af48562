//! Maps in the plane by t-SNE (van der Maaten and Hinton 2008).
//!
//! The same seed gives the same bits on any number of threads. `bhtsne` does not guarantee that by
//! itself: its sums over points and its search for neighbours depend on the number of threads and
//! on an unseeded generator. So it gets the start and the neighbours from here, and runs in a pool
//! of one thread.

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::embedding::{Map, Rows};
use crate::neighbours::nearest;

const PERPLEXITY: f32 = 30.0;
const STEPS: usize = 750;
/// The Barnes-Hut accuracy: 0 is exact, 0.5 is usual.
const THETA: f32 = 0.5;

/// Rows for a map: all that are finite, or `most` of them in random order, sorted.
pub(crate) fn sample(rows: &Rows, count: usize, most: usize, seed: u64) -> Vec<usize> {
    let whole = |&row: &usize| {
        let numbers = rows.row(row);
        numbers.is_some_and(|numbers| numbers.iter().all(|x| x.is_finite()))
    };
    let mut chosen: Vec<usize> = (0..count).filter(whole).collect();
    if chosen.len() > most {
        chosen.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
        chosen.truncate(most);
        chosen.sort_unstable();
    }
    chosen
}

/// The map of the chosen rows, all of them finite.
pub(crate) fn map(rows: &Rows, chosen: &[usize], total: usize, seed: u64) -> Map {
    let row = |&row: &usize| rows.row(row).unwrap_or_default();
    // A map has no scale, and squares of large numbers overflow.
    let largest = chosen
        .iter()
        .flat_map(row)
        .fold(0f32, |most, x| most.max(x.abs()));
    let scale = if largest > 0.0 { largest } else { 1.0 };
    let points: Vec<Vec<f32>> = chosen
        .iter()
        .map(|i| row(i).iter().map(|x| x / scale).collect())
        .collect();
    let points: Vec<&[f32]> = points.iter().map(Vec::as_slice).collect();
    let (flat, method) = if points.len() < 4 {
        // Too few to have neighbours: in a row.
        let flat = (0..points.len()).flat_map(|i| [i as f32, 0.0]).collect();
        (flat, "too few rows for t-SNE: in a row".to_owned())
    } else {
        let perplexity = PERPLEXITY.min((points.len() - 1) as f32 / 3.0);
        let method = format!("t-SNE, perplexity {perplexity:.0}, {STEPS} steps, seed {seed}");
        (layout(&points, perplexity, seed), method)
    };
    Map {
        x: flat.iter().step_by(2).copied().collect(),
        y: flat.iter().skip(1).step_by(2).copied().collect(),
        rows: total,
        method,
    }
}

fn layout(points: &[&[f32]], perplexity: f32, seed: u64) -> Vec<f32> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "at most 90, rounded down"
    )]
    let count = ((3.0 * perplexity) as usize).clamp(1, points.len() - 1);
    let neighbours = neighbours(points, count);
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let start: Vec<f32> = (0..2 * points.len())
        .map(|_| rng.random_range(-1e-2f32..1e-2))
        .collect();
    let run = move || {
        let mut tsne = bhtsne::tSNE::<f32, &[f32], 2>::new(points);
        tsne.perplexity(perplexity).epochs(STEPS).initial_embedding(start);
        tsne.barnes_hut_with_neighbors(THETA, &neighbours);
        tsne.embedding()
    };
    match rayon::ThreadPoolBuilder::new().num_threads(1).build() {
        Ok(pool) => pool.install(run),
        // No thread could be started: the map is equally good on the current pool.
        Err(_) => run(),
    }
}

/// In the form that `bhtsne` needs.
fn neighbours(points: &[&[f32]], count: usize) -> Vec<Vec<bhtsne::Neighbor<f32>>> {
    let of = |near: Vec<(f32, usize)>| {
        let near = near.into_iter();
        near.map(|(distance, index)| bhtsne::Neighbor { index, distance })
            .collect()
    };
    nearest(points, count).into_iter().map(of).collect()
}
