//! Products of a sparse matrix with dense rows, on slices.
//!
//! A row of the result is the sum of the rows that its entries point at, in the
//! order of the entries. Columns are worked in blocks whose sums stay in
//! registers; rows are shared between threads in blocks of a fixed size.

use egg_nn::blocks::{map, map_new};
use egg_nn::prefetch;
use pulp::{Arch, Simd, WithSimd};

use super::tensor::Element;
use crate::sparse::CsrMatrix;

/// Rows that one task takes.
const ROWS: usize = 128;

/// Rows whose sum is one term of a column's sum.
const SUMMED_ROWS: usize = 256;

/// From so many bytes on, a matrix does not stay in a core's own cache, and its rows
/// are asked for this many entries before they are added.
const LARGE: usize = 1 << 20;
const AHEAD: usize = 24;

/// What is done to a row of the product before it is written.
pub(super) struct Finish<'a, T> {
    /// Added to every row.
    pub(super) bias: Option<&'a [T]>,
    /// Negative numbers become 0.
    pub(super) rectify: bool,
    /// This many times the row of the same number is added, as GIN does; the
    /// matrix is square then.
    pub(super) own: Option<T>,
}

impl<T> Finish<'_, T> {
    pub(super) const NOTHING: Self = Self {
        bias: None,
        rectify: false,
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
    fn with_simd<S: Simd>(self, _: S) {
        let Self {
            matrix,
            width,
            finish,
            ..
        } = self;
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
            };
            let mut at = 0;
            while at + 64 <= width {
                entries.sum::<64>(row, at, finish, &mut out[at..at + 64]);
                at += 64;
            }
            while at + 32 <= width {
                entries.sum::<32>(row, at, finish, &mut out[at..at + 32]);
                at += 32;
            }
            while at + 16 <= width {
                entries.sum::<16>(row, at, finish, &mut out[at..at + 16]);
                at += 16;
            }
            while at < width {
                entries.sum::<1>(row, at, finish, &mut out[at..=at]);
                at += 1;
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
}

impl<E: Element> Entries<'_, E> {
    /// Columns `at..at + N` of the row's sum.
    #[inline(always)]
    fn sum<const N: usize>(&self, row: usize, at: usize, finish: &Finish<'_, E>, out: &mut [E]) {
        let mut sums = [E::default(); N];
        if let Some(own) = finish.own {
            let start = row * self.width + at;
            let from = &self.x[start..start + N];
            for (sum, value) in sums.iter_mut().zip(from) {
                *sum = own * *value;
            }
        }
        for (column, value) in self.columns.iter().zip(self.values) {
            let start = *column as usize * self.width + at;
            let (from, value) = (&self.x[start..start + N], E::widened(*value));
            for (sum, entry) in sums.iter_mut().zip(from) {
                *sum += value * *entry;
            }
        }
        if let Some(bias) = finish.bias {
            for (sum, bias) in sums.iter_mut().zip(&bias[at..at + N]) {
                *sum += *bias;
            }
        }
        if finish.rectify {
            for sum in &mut sums {
                // Not `max`: a NaN must come through.
                if *sum < E::default() {
                    *sum = E::default();
                }
            }
        }
        out.copy_from_slice(&sums);
    }
}

/// The gradient where the output was above 0 and 0 elsewhere, and the sum of
/// each of its columns.
pub(super) fn gate<T: Element>(gradient: &[T], output: &[T], width: usize) -> (Vec<T>, Vec<T>) {
    let arch = Arch::new();
    let chunk = SUMMED_ROWS * width;
    let (gated, partial) = map_new(gradient.len(), chunk, |block, gated: &mut [T]| {
        let from = block * chunk..block * chunk + gated.len();
        let (gradient, output) = (&gradient[from.clone()], &output[from]);
        arch.dispatch(Gate {
            gradient,
            output,
            gated,
        });
        block_sum(gated, width)
    });
    (gated, in_order(&partial, width))
}

/// `gradient` where `output` is above 0.
struct Gate<'a, T> {
    gradient: &'a [T],
    output: &'a [T],
    gated: &'a mut [T],
}

impl<T: Element> WithSimd for Gate<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let pairs = self.gradient.iter().zip(self.output);
        for (gated, (g, y)) in self.gated.iter_mut().zip(pairs) {
            *gated = if *y > T::default() { *g } else { T::default() };
        }
    }
}

/// The sum of each column.
pub(super) fn column_sum<T: Element>(data: &[T], width: usize) -> Vec<T> {
    let partial = map(data, SUMMED_ROWS * width, |_, block| block_sum(block, width));
    in_order(&partial, width)
}

/// The sum of each column of a block of rows.
fn block_sum<T: Element>(block: &[T], width: usize) -> Vec<T> {
    let mut sums = vec![T::default(); width];
    for row in block.chunks_exact(width.max(1)) {
        sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += *value);
    }
    sums
}

/// The sums of blocks, added in the order of the blocks, which depend on the
/// shape alone.
fn in_order<T: Element>(partial: &[Vec<T>], width: usize) -> Vec<T> {
    let mut sums = vec![T::default(); width];
    for partial in partial {
        sums.iter_mut()
            .zip(partial)
            .for_each(|(sum, value)| *sum += *value);
    }
    sums
}

/// `sum(a o b)`, in blocks as [`column_sum`].
pub(super) fn dot<T: Element>(a: &[T], b: &[T]) -> T {
    let blocks = a.chunks(4096).zip(b.chunks(4096));
    blocks.fold(T::default(), |sum, (a, b)| {
        let pairs = a.iter().zip(b);
        sum + pairs.fold(T::default(), |sum, (a, b)| sum + *a * *b)
    })
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
