//! Rectification: from data to the subspace it spans.
//!
//! For an n x m matrix `H` with `H^T = U S V^T`, the graph side keeps the first
//! p columns of `U`, a subspace of R^m that does not depend on the order of the
//! rows; the node side keeps the first p columns of `V`, one row per node.

use ndarray::{Array1, Array2, ArrayView2, Axis};
use rayon::prelude::*;

use crate::check;
use crate::embedding::factors::Factors;
use crate::embedding::flatten::{Flatten, mirror_upper};
use crate::embedding::projector::on_span_of;
use crate::embedding::rank::{RankChoice, RankRule};
use crate::embedding::workspace::Workspace;
use crate::error::{Error, Result};
use crate::manifold::point::GrassmannPoint;
use crate::scalar::Scalar;

/// The subspace that a matrix spans, with its singular values.
///
/// ```
/// use egg_geometry::{RankRule, rectify};
/// use ndarray::array;
///
/// let rectified = rectify(array![[3.0, 0.0], [0.0, 0.1]].view(), RankRule::Threshold(0.5))?;
/// assert_eq!(rectified.choice.p, 1);
/// assert_eq!(rectified.basis.dim(), (2, 1));
/// assert!((rectified.singular_values[1] - 0.1f64).abs() < 1e-15);
/// # Ok::<(), egg_geometry::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Rectified<T> {
    /// Orthonormal, m x p (n x p for the node side); p = 0 for a zero matrix.
    pub basis: Array2<T>,
    /// min(n, m) of them, descending.
    pub singular_values: Array1<T>,
    /// How p came about.
    pub choice: RankChoice,
}

impl<T: Scalar> Rectified<T> {
    fn from_factors(factors: &Factors) -> Self {
        let (rows, columns) = factors.shape();
        let mut singular_values: Array1<T> = factors.singular_values().map(T::rounded).collect();
        if singular_values.is_empty() {
            singular_values = Array1::zeros(rows.min(columns));
        }
        Self {
            basis: factors.basis(),
            singular_values,
            choice: factors.choice(),
        }
    }

    /// The subspace as a point of Gr(p, m).
    ///
    /// # Errors
    /// [`Error::ZeroSubspace`] if p = 0.
    ///
    /// ```
    /// use egg_geometry::{Error, RankRule, rectify};
    /// use ndarray::Array2;
    ///
    /// let nothing = rectify(Array2::<f64>::zeros((4, 3)).view(), RankRule::Fixed(1))?;
    /// assert_eq!(nothing.choice.p, 0);
    /// assert!(matches!(nothing.point(), Err(Error::ZeroSubspace)));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn point(self) -> Result<GrassmannPoint<T>> {
        if self.basis.ncols() == 0 {
            return Err(Error::ZeroSubspace);
        }
        Ok(GrassmannPoint::from_computed(self.basis))
    }

    /// The projector `P = U_p U_p^T`; zero for p = 0.
    ///
    /// ```
    /// use egg_geometry::{RankRule, rectify};
    /// use ndarray::{Array2, array};
    ///
    /// let p = rectify(array![[0.0, 2.0]].view(), RankRule::Fixed(1))?.projector();
    /// assert_eq!(p, array![[0.0, 0.0], [0.0, 1.0]]);
    /// # Ok::<(), egg_geometry::Error>(())
    /// ```
    pub fn projector(&self) -> Array2<T> {
        on_span_of(self.basis.view())
    }
}

/// The subspace of R^m spanned by the rows of `h` (n x m), truncated by a rank
/// rule: the first p left singular vectors of `H^T`.
///
/// Complexity: `O(n m min(n, m))`.
///
/// # Errors
/// [`Error::Empty`], [`Error::NonFinite`], [`Error::Parameter`] for a bad rule,
/// [`Error::Backend`]. A zero matrix is not an error: it has p = 0.
///
/// ```
/// use egg_geometry::{RankRule, rectify};
/// use ndarray::array;
///
/// let h = array![[1.0f64, 2.0, 0.0], [3.0, 1.0, 0.0], [0.0, 0.0, 1e-3]];
/// let shuffled = array![[0.0, 0.0, 1e-3], [1.0, 2.0, 0.0], [3.0, 1.0, 0.0]];
/// let rule = RankRule::Relative(0.01);
/// let (a, b) = (rectify(h.view(), rule)?, rectify(shuffled.view(), rule)?);
/// assert_eq!(a.choice.p, 2);
/// assert!((a.projector() - b.projector()).iter().all(|d| d.abs() < 1e-14));
/// # Ok::<(), egg_geometry::Error>(())
/// ```
pub fn rectify<T: Scalar>(h: ArrayView2<'_, T>, rule: RankRule) -> Result<Rectified<T>> {
    rectify_with(h, rule, &mut Factors::new(), &mut Workspace::new())
}

fn rectify_with<T: Scalar>(
    h: ArrayView2<'_, T>,
    rule: RankRule,
    factors: &mut Factors,
    workspace: &mut Workspace,
) -> Result<Rectified<T>> {
    check::not_empty("H", &h)?;
    factors.compute_kept(h, rule, workspace)?;
    Ok(Rectified::from_factors(factors))
}

/// The node side: the first p left singular vectors of `h` (n x m) itself, an
/// n x p matrix with one row per node.
///
/// The rows of `U_p U_p^T` (n x n) have the same distances as the rows of `U_p`,
/// so clustering these n x p rows is clustering those, without an n x n matrix.
/// `Ratio` counts the columns of `h`, not the nodes.
///
/// # Errors
/// As [`rectify`].
///
/// ```
/// use egg_geometry::{RankRule, rectify_nodes};
/// use ndarray::array;
///
/// let h = array![[1.0, 0.0], [1.0, 0.0], [0.0, 3.0]];
/// let nodes = rectify_nodes(h.view(), RankRule::Ratio(1.0))?;
/// assert_eq!(nodes.basis.dim(), (3, 2));
/// # Ok::<(), egg_geometry::Error>(())
/// ```
pub fn rectify_nodes<T: Scalar>(h: ArrayView2<'_, T>, rule: RankRule) -> Result<Rectified<T>> {
    // Here and not below, where a bad entry would be named by its place in H^T.
    check::matrix("H", &h)?;
    let mut factors = Factors::new();
    factors.compute_with_ratio_of(h.t(), rule, h.ncols(), &mut Workspace::new())?;
    Ok(Rectified::from_factors(&factors))
}

/// [`rectify`] for many matrices, in parallel on rayon. They may differ in
/// both sizes.
///
/// # Errors
/// The error of the first matrix that has one, as [`Error::InBatch`].
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
        factors.compute_kept(h, rule, workspace)?;
        let mut projector = factors.projector_in(&mut workspace.square).mapv(T::rounded);
        mirror_upper(&mut projector.view_mut());
        Ok(projector)
    })
}

/// The flattened projectors of many matrices with the same number m of columns,
/// as the rows of one `B x m (m + 1) / 2` matrix, in parallel on rayon.
///
/// # Errors
/// As [`rectify_batch`]; [`Error::Shape`] if a matrix has another m;
/// [`Error::TooFew`] for an empty list.
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
    check::at_least("matrices", matrices.len(), 1)?;
    // Before an output is made to the measure of an empty matrix.
    check::not_empty("H", &matrices[0]).map_err(|error| error.at(0))?;
    let m = matrices[0].ncols();
    let mut rows = Array2::zeros((matrices.len(), Flatten::length(m)));
    let outcomes: Vec<Result<()>> = rows
        .axis_iter_mut(Axis(0))
        .into_par_iter()
        .zip(matrices)
        .enumerate()
        .map_init(
            || (Factors::new(), Workspace::new()),
            |(factors, workspace), (index, (mut row, h))| {
                let out = row.as_slice_mut().unwrap_or(&mut []);
                check::not_empty("H", h)
                    .and_then(|()| check::shape("H", h, (h.nrows(), m)))
                    .and_then(|()| factors.compute_kept(*h, rule, workspace))
                    .and_then(|()| factors.embed_into(flatten, out, workspace))
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
