//! Rectification: from data to the subspace it spans.
//!
//! For an n x m matrix `H` with `H^T = U S V^T`, the graph side keeps the first
//! p columns of `U`, a subspace of R^m that does not depend on the order of the
//! rows; the node side keeps the first p columns of `V`, one row per node.

use ndarray::{Array1, Array2, ArrayView2};

use crate::check;
use crate::embedding::factors::Factors;
use crate::embedding::nodes::NodeFactors;
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
    /// How p was chosen.
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

pub(super) fn rectify_with<T: Scalar>(
    h: ArrayView2<'_, T>,
    rule: RankRule,
    factors: &mut Factors,
    workspace: &mut Workspace,
) -> Result<Rectified<T>> {
    check::not_empty("H", &h)?;
    factors.compute(h, rule, workspace)?;
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
    let mut nodes = NodeFactors::new();
    nodes.compute(h, rule, &mut Workspace::new())?;
    Ok(Rectified::from_factors(nodes.transposed()))
}
