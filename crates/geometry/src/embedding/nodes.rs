//! The node side: the leverage of each row of `H`, its share in the subspace.
//!
//! With `H = V S U^T` (n x m), the leverage of row v is the diagonal entry
//! `(V_p V_p^T)_vv` of the node-side projector, between 0 and 1; all of them add
//! up to p. Its gradient is that of a projector with `H^T` for `H` and a
//! diagonal `G`, so nothing n x n is formed.

use ndarray::{Array2, ArrayView1, ArrayView2, ArrayViewMut2, Axis};

use super::factors::{Factors, Stored};
use super::gradient::Upstream;
use super::rank::{RankChoice, RankRule};
use super::workspace::Workspace;
use crate::check;
use crate::error::Result;
use crate::scalar::Scalar;

/// The singular directions of an n x m matrix `H` in R^n, one entry per node, with the rank
/// chosen by a rule: the node-side counterpart of [`Factors`].
///
/// ```
/// use egg_geometry::{NodeFactors, RankRule, Workspace};
/// use ndarray::array;
///
/// let h = array![[1.0, 0.0], [0.0, 3.0], [0.0, 4.0]];
/// let mut nodes = NodeFactors::new();
/// nodes.compute(h.view(), RankRule::Fixed(1), &mut Workspace::new())?;
/// let mut leverage = [0.0f64; 3];
/// nodes.leverage_into(&mut leverage)?;
/// assert!((leverage[1] - 0.36).abs() < 1e-15 && (leverage[2] - 0.64).abs() < 1e-15);
/// # Ok::<(), egg_geometry::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct NodeFactors {
    /// The factors of `H^T`.
    transposed: Factors,
}

impl NodeFactors {
    /// Empty factors, to be computed.
    ///
    /// ```
    /// assert_eq!(egg_geometry::NodeFactors::new().choice().p, 0);
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// Decomposes `h` (n x m) and applies the rank rule; `Ratio` is a share of the m columns.
    ///
    /// Complexity: `O(n m min(n, m))`.
    ///
    /// # Errors
    /// As [`Factors::compute`], and [`Error::Empty`](crate::Error::Empty) for n = 0 too.
    ///
    /// ```
    /// use egg_geometry::{NodeFactors, RankRule, Workspace};
    /// let mut nodes = NodeFactors::new();
    /// nodes.compute(ndarray::array![[3.0], [4.0]].view(), RankRule::Ratio(1.0), &mut Workspace::new())?;
    /// assert_eq!(nodes.choice().p, 1);
    /// # Ok::<(), egg_geometry::Error>(())
    /// ```
    pub fn compute<T: Scalar>(
        &mut self,
        h: ArrayView2<'_, T>,
        rule: RankRule,
        workspace: &mut Workspace,
    ) -> Result<()> {
        // Checked here, so that an error names the entry of H and not of H^T.
        check::matrix("H", &h)?;
        self.transposed
            .decompose(h.t(), rule, h.ncols(), Stored::All, workspace)
    }

    /// What the rule decided.
    ///
    /// ```
    /// assert_eq!(egg_geometry::NodeFactors::new().choice().p, 0);
    /// ```
    pub fn choice(&self) -> RankChoice {
        self.transposed.choice()
    }

    /// The singular values of `H`, descending, min(n, m) of them (none for a
    /// zero `H`).
    ///
    /// ```
    /// assert_eq!(egg_geometry::NodeFactors::new().singular_values().len(), 0);
    /// ```
    pub fn singular_values(&self) -> impl ExactSizeIterator<Item = f64> + '_ {
        self.transposed.singular_values()
    }

    /// The orthonormal basis `V_p` (n x p), one row per node; p may be 0.
    ///
    /// ```
    /// use egg_geometry::{NodeFactors, RankRule, Workspace};
    /// let mut nodes = NodeFactors::new();
    /// nodes.compute(ndarray::array![[0.0], [2.0]].view(), RankRule::Fixed(1), &mut Workspace::new())?;
    /// assert_eq!(nodes.basis::<f64>().mapv(f64::abs), ndarray::array![[0.0], [1.0]]);
    /// # Ok::<(), egg_geometry::Error>(())
    /// ```
    pub fn basis<T: Scalar>(&self) -> Array2<T> {
        self.transposed.basis()
    }

    /// The leverages: the diagonal of `V_p V_p^T`, n numbers.
    ///
    /// # Errors
    /// [`Error::Length`](crate::Error::Length) unless `out` has n numbers.
    ///
    /// ```
    /// // Nothing is decomposed yet, so n = 0.
    /// assert!(egg_geometry::NodeFactors::new().leverage_into(&mut [0.0f64; 2]).is_err());
    /// ```
    pub fn leverage_into<T: Scalar>(&self, out: &mut [T]) -> Result<()> {
        check::length("output", self.transposed.shape().1, out.len())?;
        let (kept, _) = self.transposed.split();
        for (node, slot) in out.iter_mut().enumerate() {
            *slot = T::rounded(kept.column(node).iter().map(|entry| entry * entry).sum());
        }
        Ok(())
    }

    /// `dL/dH` (n x m) from the gradient with respect to the leverages (n
    /// numbers), into `out`. `h` is the matrix these factors were computed
    /// from.
    ///
    /// # Errors
    /// As [`Factors::gradient_of_embedding`].
    ///
    /// ```
    /// use egg_geometry::{NodeFactors, RankRule, Workspace};
    /// use ndarray::{Array2, array};
    ///
    /// // One column: the leverage of row v is h_v^2 / |h|^2.
    /// let h = array![[3.0f64], [4.0]];
    /// let (mut nodes, mut workspace) = (NodeFactors::new(), Workspace::new());
    /// nodes.compute(h.view(), RankRule::Fixed(1), &mut workspace)?;
    /// let mut out = Array2::zeros((2, 1));
    /// nodes.gradient_of_leverage(h.view(), array![1.0, 0.0].view(), out.view_mut(), &mut workspace)?;
    /// assert!((out[[0, 0]] - 96.0 / 625.0).abs() < 1e-15);
    /// assert!((out[[1, 0]] + 72.0 / 625.0).abs() < 1e-15);
    /// # Ok::<(), egg_geometry::Error>(())
    /// ```
    pub fn gradient_of_leverage<T: Scalar>(
        &self,
        h: ArrayView2<'_, T>,
        leverage_gradient: ArrayView1<'_, T>,
        out: ArrayViewMut2<'_, T>,
        workspace: &mut Workspace,
    ) -> Result<()> {
        let (m, n) = self.transposed.shape();
        let what = "gradient of the leverage";
        check::length(what, n, leverage_gradient.len())?;
        check::shape("H", &h, (n, m))?;
        check::shape("output", &out.view(), (n, m))?;
        check::finite(what, &leverage_gradient.insert_axis(Axis(0)))?;
        let Workspace {
            scaled,
            gradient,
            scratch,
            ..
        } = workspace;
        let (upstream, out) = (Upstream::Diagonal(leverage_gradient), out.reversed_axes());
        self.transposed
            .pull_back(h.t(), upstream, out, scaled, gradient, scratch)
    }

    /// As those of `H^T`.
    pub(super) fn transposed(&self) -> &Factors {
        &self.transposed
    }
}
