//! The thin SVD of a long matrix (many more rows than columns, or the other way
//! round) from SVDs of its blocks.
//!
//! A backend sums over whole columns, and its rounding grows with their length: a singular value
//! that is 0 becomes 1,200 `eps ||A||_F` with LAPACK at 10^7 x 8. With
//! `A_b = U_b S_b V_b^T` for the blocks of rows,
//!
//! ```text
//! A = blockdiag(U_b) B,    B = [S_1 V_1^T; S_2 V_2^T; ...] = U' S V^T,    U = blockdiag(U_b) U'
//! ```
//!
//! and B is decomposed the same way until it is short. Every step is as stable as
//! an SVD of one block, so the error grows only with the number of levels.

use ndarray::{Array2, ArrayView2, LinalgScalar, s};

use super::{Decompose, Svd};
use crate::error::Result;
use crate::tuning::accuracy::LONGEST_SVD;
use crate::tuning::speed::{LONG_SVD_LEAST_ROWS, LONG_SVD_ROWS_PER_COLUMN};

/// Whether a matrix of this shape is decomposed by [`svd`].
pub(super) fn is_long((rows, columns): (usize, usize)) -> bool {
    let (longer, shorter) = (rows.max(columns), rows.min(columns));
    longer > LONGEST_SVD && longer >= 2 * rows_of_block(shorter)
}

fn rows_of_block(columns: usize) -> usize {
    (LONG_SVD_ROWS_PER_COLUMN * columns).max(LONG_SVD_LEAST_ROWS)
}

/// The thin SVD of a matrix that [`is_long`].
pub(super) fn svd<T: Decompose + LinalgScalar>(a: ArrayView2<'_, T>) -> Result<Svd<T>> {
    let (rows, columns) = a.dim();
    if rows < columns {
        let Svd { u, s, vt } = svd(a.t())?;
        let rotated = |factor: Array2<T>| factor.reversed_axes().as_standard_layout().into_owned();
        return Ok(Svd {
            u: rotated(vt),
            s,
            vt: rotated(u),
        });
    }

    // Blocks of about the same length: a short one could have fewer rows than columns.
    let count = rows / rows_of_block(columns);
    let bounds = |block: usize| block * rows / count..(block + 1) * rows / count;
    let mut u = Array2::zeros((rows, columns));
    let mut stacked = Array2::zeros((count * columns, columns));
    for block in 0..count {
        let part = T::svd(a.slice(s![bounds(block), ..]))?;
        u.slice_mut(s![bounds(block), ..]).assign(&part.u);
        let weighted = &part.vt * &part.s.insert_axis(ndarray::Axis(1));
        stacked
            .slice_mut(s![block * columns..(block + 1) * columns, ..])
            .assign(&weighted);
    }
    let whole = T::svd(stacked.view())?;
    for block in 0..count {
        let rotation = whole.u.slice(s![block * columns..(block + 1) * columns, ..]);
        let mut part = u.slice_mut(s![bounds(block), ..]);
        let rotated = part.dot(&rotation);
        part.assign(&rotated);
    }
    Ok(Svd {
        u,
        s: whole.s,
        vt: whole.vt,
    })
}
