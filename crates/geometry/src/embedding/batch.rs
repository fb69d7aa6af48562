//! Batches of matrices, in parallel on rayon, with reusable memory per thread.

use ndarray::{Array2, ArrayView2, Axis};
use rayon::prelude::*;

use super::factors::Factors;
use super::flatten::{Flatten, mirror_upper};
use super::rank::RankRule;
use super::rectify::{Rectified, rectify_with};
use super::soft::{Filter, SoftFactors};
use super::workspace::Workspace;
use crate::check;
use crate::error::Result;
use crate::scalar::Scalar;

/// [`rectify`](crate::rectify) for many matrices, in parallel on rayon. They may differ in
/// both sizes.
///
/// # Errors
/// The error of the first matrix that has one, as [`Error::InBatch`](crate::Error::InBatch).
///
/// ```
/// use egg_geometry::{RankRule, rectify_batch};
/// use ndarray::array;
///
/// let (a, b) = (array![[1.0, 2.0]], array![[1.0, 0.0], [0.0, 1.0]]);
/// let spans = rectify_batch(&[a.view(), b.view()], RankRule::Relative(0.5))?;
/// assert_eq!((spans[0].choice.p, spans[1].choice.p), (1, 2));
/// # Ok::<(), egg_geometry::Error>(())
/// ```
pub fn rectify_batch<T: Scalar>(matrices: &[ArrayView2<'_, T>], rule: RankRule) -> Result<Vec<Rectified<T>>> {
    each(matrices, |h, factors, workspace| {
        rectify_with(h, rule, factors, workspace)
    })
}

/// The projectors (m x m) of many matrices, in parallel on rayon.
///
/// # Errors
/// As [`rectify_batch`].
///
/// ```
/// use egg_geometry::{RankRule, project_batch};
/// use ndarray::array;
///
/// let h = array![[0.0f32, 2.0]];
/// let projectors = project_batch(&[h.view()], RankRule::Threshold(0.8))?;
/// assert_eq!(projectors[0], array![[0.0, 0.0], [0.0, 1.0]]);
/// # Ok::<(), egg_geometry::Error>(())
/// ```
pub fn project_batch<T: Scalar>(matrices: &[ArrayView2<'_, T>], rule: RankRule) -> Result<Vec<Array2<T>>> {
    each(matrices, |h, factors, workspace| {
        check::not_empty("H", &h)?;
        factors.compute(h, rule, workspace)?;
        let mut projector = factors.projector_in(&mut workspace.square).mapv(T::rounded);
        mirror_upper(&mut projector.view_mut());
        Ok(projector)
    })
}

/// The flattened projectors of many matrices with the same number m of columns,
/// as the rows of one `B x m (m + 1) / 2` matrix, in parallel on rayon.
///
/// # Errors
/// As [`rectify_batch`]; [`Error::Shape`](crate::Error::Shape) if a matrix has another m;
/// [`Error::TooFew`](crate::Error::TooFew) for an empty list.
///
/// ```
/// use egg_geometry::{Flatten, RankRule, embed_batch};
/// use ndarray::array;
///
/// let (a, b) = (array![[0.0f64, 2.0]], array![[1.0, 0.0], [3.0, 0.0]]);
/// let rows = embed_batch(&[a.view(), b.view()], RankRule::Threshold(0.8), Flatten::Upper)?;
/// let expected = array![[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]];
/// assert!((rows - expected).iter().all(|d| d.abs() < 1e-15));
/// # Ok::<(), egg_geometry::Error>(())
/// ```
pub fn embed_batch<T: Scalar>(
    matrices: &[ArrayView2<'_, T>],
    rule: RankRule,
    flatten: Flatten,
) -> Result<Array2<T>> {
    embed_rows(matrices, |factors: &mut Factors, h, out, workspace| {
        factors.compute(h, rule, workspace)?;
        factors.embed_into(flatten, out, workspace)
    })
}

/// The flattened soft projectors of many matrices with the same number m of columns, as the
/// rows of one `B x m (m + 1) / 2` matrix, in parallel on rayon; see [`SoftFactors`].
///
/// # Errors
/// As [`embed_batch`]; [`Error::Filter`](crate::Error::Filter) in
/// [`Error::InBatch`](crate::Error::InBatch) if a custom filter gives a NaN.
///
/// ```
/// use egg_geometry::{Filter, Flatten, soft_embed_batch};
/// use ndarray::array;
///
/// let (a, b) = (array![[1f32, 0.0], [0.0, 2.0]], array![[0.0, 3.0]]);
/// let rows = soft_embed_batch(&[a.view(), b.view()], &Filter::resolvent(1.0)?, Flatten::Upper)?;
/// assert_eq!(rows, array![[0.5, 0.0, 0.8], [0.0, 0.0, 0.9]]);
/// # Ok::<(), egg_geometry::Error>(())
/// ```
pub fn soft_embed_batch<T: Scalar>(
    matrices: &[ArrayView2<'_, T>],
    filter: &Filter,
    flatten: Flatten,
) -> Result<Array2<T>> {
    embed_rows(matrices, |factors: &mut SoftFactors, h, out, workspace| {
        factors.embed_into(h, filter, flatten, out, workspace)
    })
}

/// One row per matrix of m columns, each made by `embed` in memory kept per thread.
fn embed_rows<T: Scalar, F: Default>(
    matrices: &[ArrayView2<'_, T>],
    embed: impl Fn(&mut F, ArrayView2<'_, T>, &mut [T], &mut Workspace) -> Result<()> + Sync,
) -> Result<Array2<T>> {
    check::at_least("matrices", matrices.len(), 1)?;
    // Before an output of the size of an empty matrix is allocated.
    check::not_empty("H", &matrices[0]).map_err(|error| error.at(0))?;
    let m = matrices[0].ncols();
    let mut rows = Array2::zeros((matrices.len(), Flatten::length(m)));
    let outcomes: Vec<Result<()>> = rows
        .axis_iter_mut(Axis(0))
        .into_par_iter()
        .zip(matrices)
        .enumerate()
        .map_init(
            || (F::default(), Workspace::new()),
            |(factors, workspace), (index, (mut row, h))| {
                let out = row.as_slice_mut().unwrap_or(&mut []);
                check::not_empty("H", h)
                    .and_then(|()| check::shape("H", h, (h.nrows(), m)))
                    .and_then(|()| embed(factors, *h, out, workspace))
                    .map_err(|error| error.at(index))
            },
        )
        .collect();
    outcomes.into_iter().collect::<Result<()>>()?;
    Ok(rows)
}

/// Runs one job per matrix in parallel, with memory kept per thread, and gives
/// the results in order, or the error that comes first in order.
fn each<T: Scalar, R: Send>(
    matrices: &[ArrayView2<'_, T>],
    job: impl Fn(ArrayView2<'_, T>, &mut Factors, &mut Workspace) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let outcomes: Vec<Result<R>> = matrices
        .par_iter()
        .enumerate()
        .map_init(
            || (Factors::new(), Workspace::new()),
            |(factors, workspace), (index, h)| job(*h, factors, workspace).map_err(|error| error.at(index)),
        )
        .collect();
    outcomes.into_iter().collect()
}
