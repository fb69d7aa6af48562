//! Products of a sparse matrix with dense rows, on slices.
//!
//! A row of the result is the sum of the rows that its entries point at, in the
//! order of the entries. Columns are worked in blocks whose sums stay in
//! registers; rows are shared between threads in blocks of a fixed size.

use egg_tensor::blocks::map_new;
use egg_tensor::{Element, prefetch};
use pulp::{Arch, Simd, WithSimd};

use crate::sparse::CsrMatrix;

/// Rows that one task takes.
const ROWS: usize = 128;

/// From so many bytes on, a matrix may not stay in the processor's caches, and its rows
/// are asked for this many entries before they are added. A smaller one is as fast without
/// where the entries of a row are anywhere, and a quarter faster where they are near each
/// other, as in a batch of graphs.
const LARGE: usize = 1 << 24;
const AHEAD: usize = 24;

/// What is done to a row of the product before it is written.
pub(super) struct Finish<'a, T> {
    /// Added to every row.
    pub(super) bias: Option<&'a [T]>,
    /// Negative numbers become 0.
    pub(super) relu: bool,
    /// This many times the row of the same number is added, as GIN does; the
    /// matrix is square then.
    pub(super) own: Option<T>,
}

impl<T> Finish<'_, T> {
    pub(super) const NOTHING: Self = Self {
        bias: None,
        relu: false,
        own: None,
    };
}

/// `matrix x`, finished: rows of the matrix x width.
pub(super) fn multiply<T: Element>(
    matrix: &CsrMatrix,
    x: &[T],
    width: usize,
    finish: &Finish<'_, T>,
) -> Vec<T> {
    let rows = matrix.shape().0;
    if width == 0 {
        return Vec::new();
    }
    let arch = Arch::new();
    let (out, _) = map_new(rows * width, ROWS * width, |block, out: &mut [T]| {
        arch.dispatch(Block {
            matrix,
            x,
            width,
            finish,
            first: block * ROWS,
            out,
        });
    });
    out
}

/// Some rows of a product.
struct Block<'a, T> {
    matrix: &'a CsrMatrix,
    x: &'a [T],
    width: usize,
    finish: &'a Finish<'a, T>,
    first: usize,
    out: &'a mut [T],
}

// Not a closure, which need not be inlined and is then compiled for the oldest processor.
impl<T: Element> WithSimd for Block<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self {
            matrix,
            width,
            finish,
            ..
        } = self;
        let lanes = size_of::<T::Vector<S>>() / size_of::<T>();
        let large = size_of_val(self.x) >= LARGE;
        for (row, out) in self.out.chunks_exact_mut(width).enumerate() {
            let row = self.first + row;
            let range = matrix.offsets()[row]..matrix.offsets()[row + 1];
            if large {
                let upcoming = matrix.columns().get(range.start + AHEAD..).unwrap_or_default();
                for column in upcoming.iter().take(range.len()) {
                    prefetch(self.x, *column as usize * width, width);
                }
            }
            let entries = Entries {
                columns: &matrix.columns()[range.clone()],
                values: &matrix.values()[range],
                x: self.x,
                width,
                row,
            };
            let mut at = 0;
            while at + 4 * lanes <= width {
                entries.sum::<S, 4>(simd, at, finish, &mut out[at..at + 4 * lanes]);
                at += 4 * lanes;
            }
            while at + 2 * lanes <= width {
                entries.sum::<S, 2>(simd, at, finish, &mut out[at..at + 2 * lanes]);
                at += 2 * lanes;
            }
            while at + lanes <= width {
                entries.sum::<S, 1>(simd, at, finish, &mut out[at..at + lanes]);
                at += lanes;
            }
            for (at, out) in out.iter_mut().enumerate().skip(at) {
                *out = entries.sum_at(at, finish);
            }
        }
    }
}

/// The entries of one row, and what they are multiplied with.
struct Entries<'a, T> {
    columns: &'a [u32],
    values: &'a [f32],
    x: &'a [T],
    width: usize,
    row: usize,
}

impl<E: Element> Entries<'_, E> {
    /// The row's sum in the columns of `N` vectors from `at` on.
    // Explicit vectors: an array of as many numbers goes through memory between the loops.
    #[inline(always)]
    fn sum<S: Simd, const N: usize>(&self, simd: S, at: usize, finish: &Finish<'_, E>, out: &mut [E]) {
        let length = out.len();
        let mut sums = [E::splat(simd, E::default()); N];
        if let Some(own) = finish.own {
            let (own, from) = (
                E::splat(simd, own),
                E::vectors::<S>(&self.x[self.row * self.width + at..][..length]),
            );
            for k in 0..N {
                sums[k] = E::add_product(simd, sums[k], own, from[k]);
            }
        }
        for (column, value) in self.columns.iter().zip(self.values) {
            let value = E::splat(simd, E::from_f32(*value));
            let from = E::vectors::<S>(&self.x[*column as usize * self.width + at..][..length]);
            for k in 0..N {
                sums[k] = E::add_product(simd, sums[k], value, from[k]);
            }
        }
        if let Some(bias) = finish.bias {
            let bias = E::vectors::<S>(&bias[at..][..length]);
            for k in 0..N {
                sums[k] = E::add_vectors(simd, sums[k], bias[k]);
            }
        }
        let out = E::vectors_mut::<S>(out);
        for k in 0..N {
            out[k] = match finish.relu {
                true => E::relu_vector(simd, sums[k]),
                false => sums[k],
            };
        }
    }

    /// The row's sum in column `at`.
    #[inline(always)]
    fn sum_at(&self, at: usize, finish: &Finish<'_, E>) -> E {
        let own = finish
            .own
            .map(|own| E::default() + own * self.x[self.row * self.width + at]);
        let terms = self
            .columns
            .iter()
            .zip(self.values)
            .map(|(column, value)| E::from_f32(*value) * self.x[*column as usize * self.width + at]);
        let mut sum = terms.fold(own.unwrap_or_default(), |sum, term| sum + term);
        if let Some(bias) = finish.bias {
            sum += bias[at];
        }
        if finish.relu { sum.relu() } else { sum }
    }
}

/// The transposed matrix, written row by row.
pub(super) fn transposed<T: Element>(data: &[T], rows: usize, columns: usize) -> Vec<T> {
    const TILE: usize = 32;
    let mut out = vec![T::default(); data.len()];
    for row in (0..rows).step_by(TILE) {
        for column in (0..columns).step_by(TILE) {
            for r in row..(row + TILE).min(rows) {
                for c in column..(column + TILE).min(columns) {
                    out[c * rows + r] = data[r * columns + c];
                }
            }
        }
    }
    out
}
