//! How classes and clusters overlap: what the measures of agreement are made of.

use std::collections::HashMap;

use egg_graph::Labels;

use crate::error::{Error, Result};

/// A class and a cluster that have points in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Overlap {
    /// The class, numbered from 0 in ascending order of its label.
    pub class: u32,
    /// The cluster, numbered likewise.
    pub cluster: u32,
    /// How many points have both.
    pub points: u64,
}

/// The contingency table of a true labelling and a clustering, sparse: the
/// overlaps that are not empty, and the sizes of both sides. Labels that occur
/// nowhere have no row or column.
///
/// All measures of agreement are methods of it, so that the points are counted
/// once.
///
/// ```
/// use egg_cluster::metrics::Contingency;
///
/// let table = Contingency::new(&[0, 0, 1, 1], &[7, 7, 7, 9])?;
/// assert_eq!((table.class_sizes(), table.cluster_sizes()), (&[2, 2][..], &[3, 1][..]));
/// assert_eq!(table.overlaps().len(), 3);
/// # Ok::<(), egg_cluster::Error>(())
/// ```
///
/// # Complexity
/// `O(n + classes + clusters)` time and memory, whatever their product is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contingency {
    class_sizes: Vec<u64>,
    cluster_sizes: Vec<u64>,
    overlaps: Vec<Overlap>,
    points: u64,
}

impl Contingency {
    /// Counts a class and a cluster per point. Labels may be any numbers.
    ///
    /// # Errors
    /// [`Error::Length`] if there is not one cluster per class label,
    /// [`Error::Empty`] if there are none.
    pub fn new(classes: &[u32], clusters: &[u32]) -> Result<Self> {
        if classes.len() != clusters.len() {
            return Err(Error::Length {
                what: "clustering",
                unit: "labels",
                expected: classes.len(),
                found: clusters.len(),
            });
        }
        if classes.is_empty() {
            return Err(Error::Empty { what: "labelling" });
        }
        let (classes, class_sizes) = numbered(classes);
        let (clusters, cluster_sizes) = numbered(clusters);
        let cells = class_sizes.len().saturating_mul(cluster_sizes.len());
        let overlaps = if cells <= SMALL_TABLE {
            count_dense(&classes, &clusters, class_sizes.len(), cluster_sizes.len())
        } else {
            count_sparse(&classes, &clusters, &class_sizes, cluster_sizes.len())
        };
        Ok(Self {
            points: classes.len() as u64,
            class_sizes,
            cluster_sizes,
            overlaps,
        })
    }

    /// Counts the points whose class is known; the others are ignored.
    ///
    /// # Errors
    /// [`Error::Length`] if there is not one cluster per label, known or not,
    /// [`Error::Empty`] if no class is known.
    ///
    /// ```
    /// use egg_cluster::metrics::Contingency;
    /// use egg_graph::Labels;
    ///
    /// let labels = Labels::new(&[Some(0), None, Some(1)], vec!["a".into(), "b".into()])?;
    /// let table = Contingency::of_known(&labels, &[0, 5, 1])?;
    /// assert_eq!((table.points(), table.accuracy()?), (2, 1.0));
    /// # Ok::<(), egg_cluster::Error>(())
    /// ```
    pub fn of_known(labels: &Labels, clusters: &[u32]) -> Result<Self> {
        if labels.len() != clusters.len() {
            return Err(Error::Length {
                what: "clustering",
                unit: "labels",
                expected: labels.len(),
                found: clusters.len(),
            });
        }
        let known = labels.iter().zip(clusters);
        let (classes, clusters): (Vec<u32>, Vec<u32>) = known
            .filter_map(|(class, cluster)| Some((class?, *cluster)))
            .unzip();
        Self::new(&classes, &clusters)
    }

    /// How many points were counted.
    pub fn points(&self) -> u64 {
        self.points
    }

    /// The points of each class that occurs, in ascending order of its label.
    pub fn class_sizes(&self) -> &[u64] {
        &self.class_sizes
    }

    /// The points of each cluster that occurs, in ascending order of its label.
    pub fn cluster_sizes(&self) -> &[u64] {
        &self.cluster_sizes
    }

    /// The overlaps that are not empty, in ascending order.
    pub fn overlaps(&self) -> &[Overlap] {
        &self.overlaps
    }
}

/// Tables of this many cells are counted in place.
const SMALL_TABLE: usize = 1 << 16;

/// Numbers the labels that occur, in ascending order; how many points each has.
pub(super) fn numbered(labels: &[u32]) -> (Vec<u32>, Vec<u64>) {
    const ABSENT: u32 = u32::MAX;
    let largest = labels.iter().copied().max().unwrap_or(0) as usize;
    if largest <= labels.len().saturating_mul(4).max(1024) {
        let mut counts = vec![0u64; largest + 1];
        labels.iter().for_each(|label| counts[*label as usize] += 1);
        let mut numbers = vec![ABSENT; largest + 1];
        let occurring = numbers.iter_mut().zip(&counts).filter(|(_, count)| **count > 0);
        for (next, (number, _)) in (0u32..).zip(occurring) {
            *number = next;
        }
        let renamed = labels.iter().map(|label| numbers[*label as usize]).collect();
        counts.retain(|count| *count > 0);
        return (renamed, counts);
    }
    let mut distinct = labels.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    let numbers: HashMap<u32, u32> = distinct.iter().copied().zip(0..).collect();
    let mut counts = vec![0u64; distinct.len()];
    let renamed = labels
        .iter()
        .map(|label| {
            let number = numbers[label];
            counts[number as usize] += 1;
            number
        })
        .collect();
    (renamed, counts)
}

fn count_dense(classes: &[u32], clusters: &[u32], rows: usize, columns: usize) -> Vec<Overlap> {
    let mut cells = vec![0u64; rows * columns];
    for (class, cluster) in classes.iter().zip(clusters) {
        cells[*class as usize * columns + *cluster as usize] += 1;
    }
    let filled = cells.iter().enumerate().filter(|(_, points)| **points > 0);
    #[expect(clippy::cast_possible_truncation, reason = "labels are counted in u32")]
    filled
        .map(|(at, points)| Overlap {
            class: (at / columns) as u32,
            cluster: (at % columns) as u32,
            points: *points,
        })
        .collect()
}

/// Points by class, then the clusters of each class: nothing of the size of
/// the whole table is made.
fn count_sparse(classes: &[u32], clusters: &[u32], class_sizes: &[u64], columns: usize) -> Vec<Overlap> {
    let mut cursors: Vec<usize> = Vec::with_capacity(class_sizes.len());
    let mut first = 0usize;
    for size in class_sizes {
        cursors.push(first);
        first += usize::try_from(*size).unwrap_or(0);
    }
    let mut by_class = vec![0u32; clusters.len()];
    for (class, cluster) in classes.iter().zip(clusters) {
        let cursor = &mut cursors[*class as usize];
        by_class[*cursor] = *cluster;
        *cursor += 1;
    }
    let mut overlaps = Vec::new();
    let mut counts = vec![0u64; columns];
    let mut first = 0;
    for (class, end) in (0u32..).zip(cursors) {
        let members = &mut by_class[first..end];
        first = end;
        let mut met = 0;
        for at in 0..members.len() {
            let cluster = members[at];
            if counts[cluster as usize] == 0 {
                members[met] = cluster;
                met += 1;
            }
            counts[cluster as usize] += 1;
        }
        members[..met].sort_unstable();
        for &cluster in &members[..met] {
            overlaps.push(Overlap {
                class,
                cluster,
                points: std::mem::take(&mut counts[cluster as usize]),
            });
        }
    }
    overlaps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_of_counting_agree() {
        let classes: Vec<u32> = (0..5000u32).map(|i| i.wrapping_mul(2_654_435_761) % 40).collect();
        let clusters: Vec<u32> = (0..5000u32).map(|i| i.wrapping_mul(40_503) % 57).collect();
        let ((classes, class_sizes), (clusters, cluster_sizes)) = (numbered(&classes), numbered(&clusters));
        let (rows, columns) = (class_sizes.len(), cluster_sizes.len());
        assert_eq!(
            count_dense(&classes, &clusters, rows, columns),
            count_sparse(&classes, &clusters, &class_sizes, columns)
        );
    }

    #[test]
    fn large_labels_are_numbered_as_small_ones() {
        let (small, counts) = numbered(&[5, 0, 5, 2]);
        assert_eq!((&small[..], &counts[..]), (&[2, 0, 2, 1][..], &[1, 1, 2][..]));
        let (large, same) = numbered(&[u32::MAX, 0, u32::MAX, 3_000_000_000]);
        assert_eq!((large, same), (small, counts));
    }
}
