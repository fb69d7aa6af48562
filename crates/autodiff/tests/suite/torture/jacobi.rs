//! The reference: a one-sided Jacobi SVD in double-double arithmetic. It shares no code with what
//! it tests.

use ndarray::Array2;

use super::double_double::{Double, EPS};

/// The singular values of an n x m matrix `H`, descending, and its directions in
/// R^m.
pub(crate) struct Reference {
    columns: usize,
    /// min(n, m) of them.
    pub(crate) sigma: Vec<Double>,
    /// Direction i is the i-th run of m numbers.
    directions: Vec<Double>,
}

impl Reference {
    /// Of a matrix in row-major order.
    pub(crate) fn from_rows(h: &[Double], rows: usize, columns: usize) -> Self {
        pulp::Arch::new().dispatch(|| {
            if rows >= columns {
                by_columns(h, rows, columns)
            } else {
                by_rows(h, rows, columns)
            }
        })
    }

    pub(crate) fn of_numbers(h: &Array2<f64>) -> Self {
        let entries: Vec<Double> = h.iter().map(|entry| Double::from_f64(*entry)).collect();
        Self::from_rows(&entries, h.nrows(), h.ncols())
    }

    /// Singular value i as f64; 0 beyond the last.
    pub(crate) fn sigma(&self, index: usize) -> f64 {
        self.sigma.get(index).map_or(0.0, |sigma| sigma.value())
    }

    /// `sum_i weight_i u_i u_i^T`, the projector for weights of 1 up to p.
    pub(crate) fn weighted(&self, weights: &[Double]) -> Array2<f64> {
        let m = self.columns;
        let mut sums = vec![Double::ZERO; m * m];
        pulp::Arch::new().dispatch(|| {
            for (direction, weight) in self.directions.chunks_exact(m).zip(weights) {
                for (row, left) in sums.chunks_exact_mut(m).zip(direction) {
                    let left = *left * *weight;
                    for (sum, right) in row.iter_mut().zip(direction) {
                        *sum = *sum + left * *right;
                    }
                }
            }
        });
        Array2::from_shape_fn((m, m), |(row, column)| sums[row * m + column].value())
    }

    /// `<G, sum_i weight_i u_i u_i^T>` in full precision.
    pub(crate) fn inner(&self, g: &Array2<f64>, weights: &[Double]) -> Double {
        let m = self.columns;
        let mut total = Double::ZERO;
        for (direction, weight) in self.directions.chunks_exact(m).zip(weights) {
            for (row, left) in g.rows().into_iter().zip(direction) {
                let mut sum = Double::ZERO;
                for (entry, right) in row.iter().zip(direction) {
                    sum = sum + Double::from_f64(*entry) * *right;
                }
                total = total + *weight * *left * sum;
            }
        }
        total
    }
}

/// n >= m: the columns are rotated until they are orthogonal, and the identity is rotated with
/// them, into the directions.
#[inline(always)]
fn by_columns(h: &[Double], rows: usize, columns: usize) -> Reference {
    let mut vectors: Vec<Double> = (0..rows * columns)
        .map(|at| h[at % rows * columns + at / rows])
        .collect();
    let mut turned = vec![Double::ZERO; columns * columns];
    turned
        .iter_mut()
        .step_by(columns + 1)
        .for_each(|entry| *entry = Double::ONE);
    orthogonalise(&mut vectors, rows, &mut turned, columns);
    let lengths: Vec<Double> = vectors.chunks_exact(rows).map(length).collect();
    sorted(columns, &lengths, &turned)
}

/// n < m: the rows are rotated until they are orthogonal; they are the directions
/// times the singular values.
#[inline(always)]
fn by_rows(h: &[Double], rows: usize, columns: usize) -> Reference {
    let mut vectors = h.to_vec();
    orthogonalise(&mut vectors, columns, &mut [], 0);
    let lengths: Vec<Double> = vectors.chunks_exact(columns).map(length).collect();
    for (vector, length) in vectors.chunks_exact_mut(columns).zip(&lengths) {
        if length.value() > 0.0 {
            vector.iter_mut().for_each(|entry| *entry = entry.over(*length));
        }
    }
    debug_assert_eq!(lengths.len(), rows);
    sorted(columns, &lengths, &vectors)
}

fn sorted(columns: usize, lengths: &[Double], directions: &[Double]) -> Reference {
    let mut order: Vec<usize> = (0..lengths.len()).collect();
    order.sort_by(|a, b| lengths[*b].compare(lengths[*a]));
    Reference {
        columns,
        sigma: order.iter().map(|at| lengths[*at]).collect(),
        directions: order
            .iter()
            .flat_map(|at| &directions[at * columns..(at + 1) * columns])
            .copied()
            .collect(),
    }
}

/// Rotates pairs of vectors of `len` numbers until all are orthogonal, and the
/// companions of `width` numbers with them.
#[inline(always)]
fn orthogonalise(vectors: &mut [Double], len: usize, companions: &mut [Double], width: usize) {
    let count = vectors.len() / len;
    // A dot product rounds as often as it adds.
    let tolerance = EPS * (10 + len) as f64;
    for _sweep in 0..60 {
        let squares = vectors
            .chunks_exact(len)
            .map(|vector| dot(vector, vector).value());
        let largest = squares.fold(0.0, f64::max);
        let mut turned = false;
        for i in 0..count {
            for j in i + 1..count {
                let (a, b) = pair(vectors, len, i, j);
                let (aa, bb, ab) = (dot(a, a), dot(b, b), dot(a, b));
                // What is left is rounding of the two, or of the largest.
                let product = (aa.value() * bb.value()).sqrt();
                if ab.value().abs() <= (tolerance * product).max(EPS * EPS * largest) {
                    continue;
                }
                turned = true;
                let (cosine, sine) = rotation(aa, bb, ab);
                rotate(a, b, cosine, sine);
                if width > 0 {
                    let (a, b) = pair(companions, width, i, j);
                    rotate(a, b, cosine, sine);
                }
            }
        }
        if !turned {
            return;
        }
    }
    unreachable!("Jacobi's method converges in far fewer sweeps");
}

/// The smaller of the two rotations that make the vectors orthogonal.
#[inline(always)]
fn rotation(aa: Double, bb: Double, ab: Double) -> (Double, Double) {
    let zeta = (bb - aa).over(ab + ab);
    let size = if zeta.value() < 0.0 { -zeta } else { zeta };
    let root = if size.value() > 1e20 {
        size
    } else {
        (Double::ONE + zeta * zeta).root()
    };
    let tangent = Double::ONE.over(size + root);
    let tangent = if zeta.value() < 0.0 { -tangent } else { tangent };
    let cosine = Double::ONE.over((Double::ONE + tangent * tangent).root());
    (cosine, cosine * tangent)
}

#[inline(always)]
fn rotate(a: &mut [Double], b: &mut [Double], cosine: Double, sine: Double) {
    for (a, b) in a.iter_mut().zip(b) {
        let (before, other) = (*a, *b);
        *a = cosine * before - sine * other;
        *b = sine * before + cosine * other;
    }
}

#[inline(always)]
fn pair(vectors: &mut [Double], len: usize, i: usize, j: usize) -> (&mut [Double], &mut [Double]) {
    let (front, back) = vectors.split_at_mut(j * len);
    (&mut front[i * len..(i + 1) * len], &mut back[..len])
}

#[inline(always)]
fn dot(a: &[Double], b: &[Double]) -> Double {
    // Four partial sums, so that one addition need not wait for another.
    let mut sums = [Double::ZERO; 4];
    let (a4, b4) = (a.chunks_exact(4), b.chunks_exact(4));
    for (a, b) in a4.remainder().iter().zip(b4.remainder()) {
        sums[0] = sums[0] + *a * *b;
    }
    for (a, b) in a4.zip(b4) {
        for (sum, (a, b)) in sums.iter_mut().zip(a.iter().zip(b)) {
            *sum = *sum + *a * *b;
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}

#[inline(always)]
fn length(vector: &[Double]) -> Double {
    dot(vector, vector).root()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The Hilbert matrix of order 6; its least singular value from 80-digit
    /// arithmetic (condition number 1.4951e7).
    #[test]
    fn jacobi_finds_known_singular_values() {
        let hilbert = Array2::from_shape_fn((6, 6), |(row, column)| 1.0 / (row + column + 1) as f64);
        for h in [hilbert.clone(), hilbert.slice(ndarray::s![..4, ..]).to_owned()] {
            let reference = Reference::of_numbers(&h);
            let all = vec![Double::ONE; reference.sigma.len()];
            // H P = H for the projector onto all of the rows.
            let left = h.dot(&reference.weighted(&all)) - &h;
            assert!(left.iter().all(|entry| entry.abs() < 1e-15), "{left}");
            // The sum of squares is that of the entries, to thirty digits.
            let square = |sum: Double, entry: Double| sum + entry * entry;
            let entries = h
                .iter()
                .map(|entry| Double::from_f64(*entry))
                .fold(Double::ZERO, square);
            let values = reference.sigma.iter().copied().fold(Double::ZERO, square);
            assert!((entries - values).value().abs() < 100.0 * EPS);
        }
        let spread = Reference::of_numbers(&hilbert);
        let condition = spread.sigma(0) / spread.sigma(5);
        assert!((condition - 1.4951e7).abs() < 1e3, "{condition:e}");
    }

    /// A rotation of three directions with values 1, 1e-10 and 1e-20, made in
    /// full precision: each value is recovered to many of its own digits.
    #[test]
    fn jacobi_keeps_small_values_next_to_large_ones() {
        let (c, s) = (Double::from_f64(0.6), Double::from_f64(0.8));
        let mut h = vec![Double::ZERO; 9];
        for (at, value) in [(0, 1.0), (4, 1e-10), (8, 1e-20)] {
            h[at] = Double::from_f64(value);
        }
        for (i, j) in [(0, 1), (1, 2), (0, 2)] {
            let (a, b) = pair(&mut h, 3, i, j);
            rotate(a, b, c, s);
        }
        // The pair (0.6, 0.8) is of length 1 to rounding of an f64 only.
        let found = Reference::from_rows(&h, 3, 3);
        for (index, value) in [1.0, 1e-10, 1e-20].into_iter().enumerate() {
            assert!(
                (found.sigma(index) / value - 1.0).abs() < 1e-9,
                "{:?}",
                found.sigma
            );
        }
    }
}
