//! Nearest neighbours of rows.

use std::collections::BTreeMap;

use rayon::prelude::*;

use crate::embedding::Embedding;

/// The nearest other points of every point with their distances, in order; ties by index.
pub(crate) fn nearest(points: &[&[f32]], count: usize) -> Vec<Vec<(f32, usize)>> {
    let of = |i: usize| {
        let mut distances: Vec<(f32, usize)> = (0..points.len())
            .filter(|&j| j != i)
            .map(|j| (distance(points[i], points[j]), j))
            .collect();
        let order = |a: &(f32, usize), b: &(f32, usize)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
        if count < distances.len() {
            distances.select_nth_unstable_by(count, order);
            distances.truncate(count);
        }
        distances.sort_unstable_by(order);
        distances
    };
    (0..points.len()).into_par_iter().map(of).collect()
}

/// Eight independent partial sums, so that the loop is vectorised.
fn distance(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0f32; 8];
    let (a, b) = (a.chunks(8), b.chunks(8));
    for (a, b) in a.zip(b) {
        for ((sum, x), y) in sums.iter_mut().zip(a).zip(b) {
            *sum += (x - y) * (x - y);
        }
    }
    sums.iter().sum::<f32>().sqrt()
}

impl Embedding {
    /// For every row, whether its class is the commonest among the `count` nearest other rows (of
    /// equally common ones that of the nearest counts); `None` for a row without a class, or
    /// without other rows. Distances are those of the rows, or of
    /// the map once they are [reduced](Self::reduce).
    ///
    /// The share of `true` is the leave-one-out accuracy of a nearest-neighbour
    /// classifier: what a map shows, as a number.
    ///
    /// ```
    /// use egg_report::Embedding;
    ///
    /// let values = vec![0.0, 0.1, 0.2, 5.0, 5.1, 5.3];
    /// let classes = [0, 0, 1, 1, 1, 1].map(Some).to_vec();
    /// let embedding = Embedding::new("graphs", 1, values, classes).unwrap();
    /// let right = embedding.agrees_with_neighbours(1);
    /// assert_eq!(right, [true, true, false, true, true, true].map(Some));
    /// ```
    pub fn agrees_with_neighbours(&self, count: usize) -> Vec<Option<bool>> {
        let pairs: Vec<[f32; 2]>;
        let points: Vec<&[f32]> = match (&self.rows, &self.map) {
            (Some(rows), _) if rows.columns > 0 => rows.values.chunks(rows.columns).collect(),
            (_, Some(map)) => {
                pairs = map.x.iter().zip(&map.y).map(|(&x, &y)| [x, y]).collect();
                pairs.iter().map(|pair| &pair[..]).collect()
            }
            _ => Vec::new(),
        };
        let nearest = nearest(&points, count);
        let right = |(row, &class): (usize, &Option<u32>)| {
            let mut votes: BTreeMap<u32, usize> = BTreeMap::new();
            let near = nearest
                .get(row)?
                .iter()
                .filter_map(|&(_, other)| self.classes[other]);
            let near: Vec<u32> = near.collect();
            for &other in &near {
                *votes.entry(other).or_default() += 1;
            }
            let most = votes.values().max()?;
            let winner = near.iter().find(|other| votes[other] == *most);
            Some(class? == *winner?)
        };
        self.classes.iter().enumerate().map(right).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_are_sorted_and_ties_ordered_by_index() {
        let points: Vec<[f32; 1]> = [0.0, 2.0, 1.0, 2.0, 9.0].map(|x| [x]).to_vec();
        let points: Vec<&[f32]> = points.iter().map(|point| &point[..]).collect();
        let near = nearest(&points, 3);
        assert_eq!(near[0], [(1.0, 2), (2.0, 1), (2.0, 3)]);
        assert_eq!(near[1], [(0.0, 3), (1.0, 2), (2.0, 0)]);
        assert_eq!(nearest(&points, 10)[4].len(), 4);
    }

    #[test]
    fn neighbour_agreement_handles_maps_and_missing_classes() {
        let values = vec![0.0, 1.0, 2.0, 10.0, 11.0];
        let classes = vec![Some(0), Some(1), Some(0), Some(1), None];
        let mut embedding = Embedding::new("nodes", 1, values, classes).unwrap();
        let right = |embedding: &Embedding, count| embedding.agrees_with_neighbours(count);
        // Of the first the nearest is 1, then 0 and 1: two to one.
        assert_eq!(
            right(&embedding, 3),
            [Some(false), Some(false), Some(false), Some(false), None]
        );
        // One vote each: the nearest decides; a neighbour without a class has no vote.
        assert_eq!(right(&embedding, 2)[0], Some(false));
        assert_eq!(right(&embedding, 1)[3], None);
        embedding.reduce(10, 0);
        let map = embedding.map.as_mut().unwrap();
        (map.x, map.y) = (vec![0.0, 9.0, 1.0, 8.0, 20.0], vec![0.0; 5]);
        assert_eq!(right(&embedding, 1)[..4], [Some(true); 4]);
        assert!(right(&Embedding::default(), 3).is_empty());
    }
}
