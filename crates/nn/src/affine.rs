//! The kernels of the linear layer, on slices in row-major order.
//!
//! Rows are worked in blocks, so that the bias, the rectifier and its gate are
//! applied while a block is in cache.

use crate::blocks::{map, map_new};
use crate::element::Element;
use crate::product::{Matrix, multiply};
use crate::relu::{gated, rectified};
use crate::vectorised::vectorised;

/// Rows per block: enough for a product at full speed, few enough that the
/// blocks of a batch of a thousand rows can be shared evenly.
const ROWS: usize = 128;

/// At most this many partial weight gradients are kept until they are added.
const MOST_PARTIALS: usize = 32;

/// `x W^T + b`, rectified if asked for: rows x out.
pub(crate) fn forward<T: Element>(
    x: &[T],
    weight: &[T],
    bias: Option<&[T]>,
    in_features: usize,
    out_features: usize,
    rectify: bool,
) -> Vec<T> {
    let rows = x.len() / in_features;
    let weight = Matrix::new(weight, out_features, in_features).transposed();
    let chunk = ROWS * out_features;
    let (out, _) = map_new(rows * out_features, chunk, |block, out: &mut [T]| {
        let rows = out.len() / out_features;
        let x = &x[block * ROWS * in_features..][..rows * in_features];
        multiply(Matrix::new(x, rows, in_features), weight, out);
        finish(out, bias, out_features, rectify);
    });
    out
}

vectorised! {
    /// Adds the bias to each row, then rectifies.
    fn finish<T>(out: &'a mut [T], bias: Option<&'a [T]>, width: usize, rectify: bool) -> () {
        if let Some(bias) = bias {
            for row in out.chunks_exact_mut(width) {
                for (v, &b) in row.iter_mut().zip(bias) {
                    *v += b;
                }
            }
        }
        if rectify {
            for v in out {
                *v = rectified(*v);
            }
        }
    }
}

/// Gradients with respect to the input (if wanted), the weight and the bias,
/// from the gradient `g` of the output and, if that was rectified, the output.
///
/// `dx = g W`, `dW = g^T x`, `db = g^T 1`, with `g` gated by `output > 0`.
pub(crate) fn backward<T: Element>(
    x: &[T],
    weight: &[T],
    output: Option<&[T]>,
    gradient: &[T],
    in_features: usize,
    out_features: usize,
    want_dx: bool,
) -> (Option<Vec<T>>, Vec<T>, Vec<T>) {
    let rows = x.len() / in_features;
    let block_rows = ROWS.max(rows.div_ceil(MOST_PARTIALS));
    let weight = Matrix::new(weight, out_features, in_features);

    // One block: its partial weight and bias gradients; `dx` is written in place.
    let work = |block: usize, rows: usize, dx: Option<&mut [T]>| {
        let start = block * block_rows;
        let x = Matrix::new(&x[start * in_features..][..rows * in_features], rows, in_features);
        let range = start * out_features..(start + rows) * out_features;
        let gate = output.map(|output| {
            let mut gate = gradient[range.clone()].to_vec();
            gate_by(&mut gate, &output[range.clone()]);
            gate
        });
        let g = gate.as_deref().unwrap_or(&gradient[range]);
        let g_matrix = Matrix::new(g, rows, out_features);
        if let Some(dx) = dx {
            multiply(g_matrix, weight, dx);
        }
        let mut dw = vec![T::zero(); out_features * in_features];
        multiply(g_matrix.transposed(), x, &mut dw);
        (dw, column_sum(g, out_features))
    };

    let chunk = block_rows * in_features;
    let (dx, partials) = if want_dx {
        let (dx, partials) = map_new(x.len(), chunk, |block, dx: &mut [T]| {
            work(block, dx.len() / in_features, Some(dx))
        });
        (Some(dx), partials)
    } else {
        let partials = map(x, chunk, |block, x| work(block, x.len() / in_features, None));
        (None, partials)
    };
    let mut dw = vec![T::zero(); out_features * in_features];
    let mut db = vec![T::zero(); out_features];
    for (block_dw, block_db) in &partials {
        add(&mut dw, block_dw);
        add(&mut db, block_db);
    }
    (dx, dw, db)
}

vectorised! {
    /// Sets the gradient to 0 where the rectified output is.
    fn gate_by<T>(gradient: &'a mut [T], output: &'a [T]) -> () {
        for (g, &y) in gradient.iter_mut().zip(output) {
            *g = gated(*g, y);
        }
    }
}

vectorised! {
    /// The sum of each column of a block with `width` columns.
    fn column_sum<T>(data: &'a [T], width: usize) -> Vec<T> {
        let mut sums = vec![T::zero(); width];
        for row in data.chunks_exact(width) {
            for (sum, &v) in sums.iter_mut().zip(row) {
                *sum += v;
            }
        }
        sums
    }
}

fn add<T: Element>(sum: &mut [T], term: &[T]) {
    sum.iter_mut().zip(term).for_each(|(sum, &term)| *sum += term);
}
