//! `y = x W^T + b` and its gradient, on slices in row-major order.
//!
//! Rows are processed in blocks, so that the bias, the ReLU and its gate are
//! applied while a block is in cache.

use std::borrow::Cow;

use crate::blocks::{map, map_unwritten};
use crate::columns::part;
use crate::element::Element;
use crate::product::{Matrix, multiply, product};
use crate::sums::{add_rows, gate_and_sum};
use crate::threads::join;
use crate::{for_columns, vectorised};

/// Rows per block: enough for a product at full speed, few enough that the
/// blocks of a batch of a thousand rows can be shared evenly.
const ROWS: usize = 128;

/// At most this many partial weight gradients are kept until they are added.
const MAX_PARTIALS: usize = 32;

/// From this many multiplications on, a single block is split between two threads: the forward
/// product in halves, the two products of the gradients in parallel.
const SPLIT_FROM: usize = 1 << 20;

/// `x W^T + b`, or its ReLU: rows x out.
pub fn forward<T: Element>(
    x: &[T],
    weight: &[T],
    bias: Option<&[T]>,
    in_features: usize,
    out_features: usize,
    relu: bool,
) -> Vec<T> {
    let rows = x.len() / in_features;
    if is_single_block(rows, ROWS, in_features, out_features) {
        let mut out = product_in_halves(x, weight, in_features, out_features);
        finish(&mut out, bias, out_features, relu);
        return out;
    }
    let weight = Matrix::new(weight, out_features, in_features).transposed();
    let chunk = ROWS * out_features;
    let (out, _) = map_unwritten(rows * out_features, chunk, |block, out| {
        let rows = out.len() / out_features;
        let x = &x[block * ROWS * in_features..][..rows * in_features];
        let out = multiply(Matrix::new(x, rows, in_features), weight, out);
        finish(out, bias, out_features, relu);
        (out, ())
    });
    out
}

/// Few but long rows, such as the embeddings of a batch: a single block, but enough work for two
/// threads.
fn is_single_block(rows: usize, block_rows: usize, in_features: usize, out_features: usize) -> bool {
    rows <= block_rows && rows * in_features * out_features >= SPLIT_FROM
}

/// `x W^T` as two products, one for each half of the outputs, in parallel if there is a second
/// thread.
fn product_in_halves<T: Element>(x: &[T], weight: &[T], in_features: usize, out_features: usize) -> Vec<T> {
    let x = Matrix::new(x, x.len() / in_features, in_features);
    let half = out_features / 2;
    let (first, second) = weight.split_at(half * in_features);
    let part = |weight, outputs| product(x, Matrix::new(weight, outputs, in_features).transposed());
    let (left, right) = join(|| part(first, half), || part(second, out_features - half));
    let mut out = Vec::with_capacity(left.len() + right.len());
    // A layer with one output has no first half.
    let mut left = left.chunks_exact(half.max(1));
    for right in right.chunks_exact(out_features - half) {
        out.extend_from_slice(left.next().unwrap_or_default());
        out.extend_from_slice(right);
    }
    out
}

vectorised! {
    /// Adds the bias to each row and takes the ReLU, in one pass.
    fn finish<T: Element>(out: &'a mut [T], bias: Option<&'a [T]>, width: usize, relu: bool) -> () {
        let Some(bias) = bias else {
            if relu {
                out.iter_mut().for_each(|v| *v = v.relu());
            }
            return;
        };
        for_columns!(width, at, N => {
            let bias = part::<T, N>(bias, at);
            for out in out.chunks_exact_mut(width) {
                let mut row = part::<T, N>(out, at);
                for lane in 0..N {
                    let y = row[lane] + bias[lane];
                    row[lane] = if relu { y.relu() } else { y };
                }
                out[at..at + N].copy_from_slice(&row);
            }
        });
    }
}

/// Which gradients are needed; that of the weight always is.
#[derive(Debug, Clone, Copy)]
pub struct Wanted {
    /// That of the input.
    pub input: bool,
    /// That of the bias.
    pub bias: bool,
}

/// Gradients with respect to the input, the weight and the bias.
pub type Gradients<T> = (Option<Vec<T>>, Vec<T>, Vec<T>);

/// Gradients with respect to the input (if wanted), the weight and the bias (without
/// meaning unless wanted), from the gradient `g` of the output and, if that is of a ReLU, the output.
///
/// `dx = g W`, `dW = g^T x`, `db = g^T 1`, with `g` gated by `output > 0`.
pub fn backward<T: Element>(
    x: &[T],
    weight: &[T],
    output: Option<&[T]>,
    gradient: &[T],
    in_features: usize,
    out_features: usize,
    wanted: Wanted,
) -> Gradients<T> {
    let rows = x.len() / in_features;
    let block_rows = ROWS.max(rows.div_ceil(MAX_PARTIALS));
    let weight = Matrix::new(weight, out_features, in_features);
    let single_block = is_single_block(rows, block_rows, in_features, out_features);

    // One block: the gradient of its rows, and its part of the bias gradient.
    let gated = |block: usize, rows: usize| {
        let start = block * block_rows;
        let range = start * out_features..(start + rows) * out_features;
        let mut db = vec![T::zero(); out_features];
        let g = &gradient[range.clone()];
        let g = match output {
            Some(output) => {
                let mut gated = vec![T::zero(); range.len()];
                gate_and_sum(g, &output[range], &mut gated, &mut db);
                Cow::Owned(gated)
            }
            None => {
                if wanted.bias {
                    add_rows(g, &mut db);
                }
                Cow::Borrowed(g)
            }
        };
        (g, db)
    };
    let rows_of = |block: usize, rows: usize| {
        let start = block * block_rows * in_features;
        Matrix::new(&x[start..][..rows * in_features], rows, in_features)
    };

    let chunk = block_rows * in_features;
    let (dx, partials) = if wanted.input {
        let (dx, partials) = map_unwritten(x.len(), chunk, |block, dx| {
            let rows = dx.len() / in_features;
            let (g, db) = gated(block, rows);
            let g = Matrix::new(&g, rows, out_features);
            let weight_gradient = || product(g.transposed(), rows_of(block, rows));
            let (dw, dx) = match single_block {
                true => join(weight_gradient, || multiply(g, weight, dx)),
                false => (weight_gradient(), multiply(g, weight, dx)),
            };
            (dx, (dw, db))
        });
        (Some(dx), partials)
    } else {
        let partials = map(x, chunk, |block, x| {
            let rows = x.len() / in_features;
            let (g, db) = gated(block, rows);
            let g = Matrix::new(&g, rows, out_features);
            (product(g.transposed(), rows_of(block, rows)), db)
        });
        (None, partials)
    };
    let (dw, db) = added(partials).unwrap_or_else(|| {
        let zeros = |count: usize| vec![T::zero(); count];
        (zeros(out_features * in_features), zeros(out_features))
    });
    (dx, dw, db)
}

/// The sums of pairs, in order; `None` if there are no pairs.
fn added<T: Element>(partials: Vec<(Vec<T>, Vec<T>)>) -> Option<(Vec<T>, Vec<T>)> {
    partials
        .into_iter()
        .reduce(|(mut dw, mut db), (more_dw, more_db)| {
            add(&mut dw, &more_dw);
            add(&mut db, &more_db);
            (dw, db)
        })
}

fn add<T: Element>(sum: &mut [T], term: &[T]) {
    sum.iter_mut().zip(term).for_each(|(sum, &term)| *sum += term);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Small integers: the sums are exact in any order.
    fn counting(length: usize) -> Vec<f32> {
        (0..length).map(|i| (i * 7 % 11) as f32 - 5.0).collect()
    }

    #[test]
    fn halves_equal_the_whole_product() {
        for (rows, inputs, outputs) in [(3, 5, 1), (2, 9, 2), (4, 8, 7), (32, 2080, 64)] {
            let (x, weight) = (counting(rows * inputs), counting(outputs * inputs));
            let whole = product(
                Matrix::new(&x, rows, inputs),
                Matrix::new(&weight, outputs, inputs).transposed(),
            );
            assert_eq!(
                product_in_halves(&x, &weight, inputs, outputs),
                whole,
                "{rows} x {inputs} x {outputs}"
            );
            let bias = counting(outputs);
            let layer = forward(&x, &weight, Some(&bias), inputs, outputs, true);
            let expected: Vec<f32> = whole
                .iter()
                .enumerate()
                .map(|(at, y)| (y + bias[at % outputs]).max(0.0))
                .collect();
            assert_eq!(layer, expected, "{rows} x {inputs} x {outputs}");
        }
    }
}
