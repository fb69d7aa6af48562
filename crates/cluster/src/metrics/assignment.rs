//! The matching of classes and clusters with the most points in common.

use super::contingency::Overlap;
use crate::error::{Result, require};

/// Cells of the largest dense table that is made: 2 GiB.
const MOST_CELLS: usize = 1 << 28;

/// For each cluster the class it is matched with, such that no class is used
/// twice and the overlaps of the matched pairs add up to the most there can be.
/// A cluster that could only be matched with a class it shares no point with
/// has none.
///
/// Classes and clusters that no chain of overlaps connects are matched separately.
///
/// # Complexity
/// `O(r^2 c)` for each connected part, r its smaller and c its larger side.
pub(super) fn best_assignment(
    overlaps: &[Overlap],
    classes: usize,
    clusters: usize,
) -> Result<Vec<Option<u32>>> {
    let mut assignment = vec![None; clusters];
    for part in connected_parts(overlaps, classes, clusters) {
        if let [only] = part[..] {
            assignment[only.cluster as usize] = Some(only.class);
            continue;
        }
        match_part(&part, &mut assignment)?;
    }
    Ok(assignment)
}

fn match_part(part: &[Overlap], assignment: &mut [Option<u32>]) -> Result<()> {
    let rows = names(part.iter().map(|overlap| overlap.class));
    let columns = names(part.iter().map(|overlap| overlap.cluster));
    let transposed = rows.len() > columns.len();
    let (short, long) = if transposed {
        (&columns, &rows)
    } else {
        (&rows, &columns)
    };
    let cells = short.len().saturating_mul(long.len());
    require(
        cells <= MOST_CELLS,
        "classes x clusters",
        cells,
        "an optimal assignment of that many is out of reach: use fewer clusters",
    )?;
    let mut gains = vec![0i64; cells];
    for overlap in part {
        let row = rows.partition_point(|class| *class < overlap.class);
        let column = columns.partition_point(|cluster| *cluster < overlap.cluster);
        let (row, column) = if transposed { (column, row) } else { (row, column) };
        gains[row * long.len() + column] = i64::try_from(overlap.points).unwrap_or(i64::MAX / 4);
    }
    let partners = maximise(&gains, short.len(), long.len());
    for (row, column) in partners.into_iter().enumerate() {
        if gains[row * long.len() + column] == 0 {
            continue;
        }
        let (class, cluster) = if transposed {
            (long[column], short[row])
        } else {
            (short[row], long[column])
        };
        assignment[cluster as usize] = Some(class);
    }
    Ok(())
}

/// Distinct numbers in ascending order.
fn names(numbers: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut distinct: Vec<u32> = numbers.collect();
    distinct.sort_unstable();
    distinct.dedup();
    distinct
}

/// The column of each row in an assignment of the greatest sum; rows must not
/// outnumber columns.
///
/// Shortest augmenting paths (Jonker and Volgenant) in whole numbers, so that
/// nothing is rounded.
fn maximise(gains: &[i64], rows: usize, columns: usize) -> Vec<usize> {
    const NONE: usize = usize::MAX;
    let mut row_price = vec![0i64; rows];
    let mut column_price = vec![0i64; columns];
    let mut owner = vec![NONE; columns];
    let mut partner = vec![NONE; rows];
    let (mut distance, mut before) = (vec![0i64; columns], vec![NONE; columns]);
    let mut done = vec![false; columns];
    for start in 0..rows {
        distance.fill(i64::MAX);
        done.fill(false);
        let (mut row, mut reached) = (start, 0);
        let last = loop {
            let mut nearest = (i64::MAX, NONE);
            for column in (0..columns).filter(|column| !done[*column]) {
                let cost = -gains[row * columns + column] - row_price[row] - column_price[column];
                if reached + cost < distance[column] {
                    distance[column] = reached + cost;
                    before[column] = row;
                }
                if distance[column] < nearest.0 {
                    nearest = (distance[column], column);
                }
            }
            let column = nearest.1;
            reached = nearest.0;
            done[column] = true;
            if owner[column] == NONE {
                break column;
            }
            row = owner[column];
        };
        row_price[start] += reached;
        for column in (0..columns).filter(|column| done[*column] && *column != last) {
            let slack = reached - distance[column];
            column_price[column] -= slack;
            row_price[owner[column]] += slack;
        }
        let mut column = last;
        loop {
            let row = before[column];
            owner[column] = row;
            std::mem::swap(&mut partner[row], &mut column);
            if row == start {
                break;
            }
        }
    }
    partner
}

/// Overlaps grouped by the connected parts of the graph they are the edges of.
fn connected_parts(overlaps: &[Overlap], classes: usize, clusters: usize) -> Vec<Vec<Overlap>> {
    let mut parents: Vec<usize> = (0..classes + clusters).collect();
    for overlap in overlaps {
        let class = root(&mut parents, overlap.class as usize);
        let cluster = root(&mut parents, classes + overlap.cluster as usize);
        parents[class.max(cluster)] = class.min(cluster);
    }
    let mut place = vec![usize::MAX; classes + clusters];
    let mut parts: Vec<Vec<Overlap>> = Vec::new();
    for overlap in overlaps {
        let root = root(&mut parents, overlap.class as usize);
        if place[root] == usize::MAX {
            place[root] = parts.len();
            parts.push(Vec::new());
        }
        parts[place[root]].push(*overlap);
    }
    parts
}

fn root(parents: &mut [usize], mut node: usize) -> usize {
    while parents[node] != node {
        parents[node] = parents[parents[node]];
        node = parents[node];
    }
    node
}

#[cfg(test)]
mod tests {
    use super::*;

    fn best_by_trial(gains: &[i64], columns: usize, row: usize, used: u32) -> i64 {
        if (row + 1) * columns > gains.len() {
            return 0;
        }
        (0..columns)
            .filter(|column| used & (1 << column) == 0)
            .map(|column| {
                gains[row * columns + column] + best_by_trial(gains, columns, row + 1, used | (1 << column))
            })
            .max()
            .unwrap_or(i64::MIN / 2)
    }

    #[test]
    fn the_assignment_has_the_largest_sum() {
        let mut state = 1u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            i64::try_from(state >> 60).unwrap_or(0)
        };
        for (rows, columns) in [(1, 1), (1, 4), (2, 2), (3, 3), (3, 6), (5, 5), (6, 7)] {
            for _ in 0..30 {
                let gains: Vec<i64> = (0..rows * columns).map(|_| next()).collect();
                let partner = maximise(&gains, rows, columns);
                let mut used = partner.clone();
                used.sort_unstable();
                used.dedup();
                assert_eq!(used.len(), rows);
                let sum: i64 = partner
                    .iter()
                    .enumerate()
                    .map(|(r, c)| gains[r * columns + c])
                    .sum();
                assert_eq!(sum, best_by_trial(&gains, columns, 0, 0));
            }
        }
    }
}
