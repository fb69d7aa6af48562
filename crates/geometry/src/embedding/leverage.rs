//! How much each row of `H` has to do with the subspace: its leverage.
//!
//! With `H = V S U^T` (n x m), the leverage of row v is the diagonal entry
//! `(V_p V_p^T)_vv` of the node-side projector, between 0 and 1; all of them add
//! up to p. Its gradient is that of a projector with `H^T` for `H` and a
//! diagonal `G`, so nothing n x n is formed.

use ndarray::{ArrayView1, ArrayView2, ArrayViewMut2};

use crate::check;
use crate::embedding::factors::Factors;
use crate::embedding::gradient::Upstream;
use crate::embedding::rank::RankRule;
use crate::embedding::workspace::{Workspace, matrix_in};
use crate::error::Result;
use crate::scalar::Scalar;

impl Factors {
    /// Decomposes the node side: [`Factors::compute`] of `H^T` (m x n), with
    /// `Ratio` still a share of the m columns of `h`.
    ///
    /// # Errors
    /// As [`Factors::compute`], and [`Error::Empty`](crate::Error::Empty) for n = 0 too.
    ///
    /// ```
    /// use egg_geometry::{Factors, RankRule, Workspace};
    /// use ndarray::array;
    ///
    /// let h = array![[1.0, 0.0], [0.0, 3.0], [0.0, 4.0]];
    /// let mut factors = Factors::new();
    /// factors.compute_nodes(h.view(), RankRule::Fixed(1), &mut Workspace::new())?;
    /// let mut leverage = [0.0f64; 3];
    /// factors.leverage_into(&mut leverage)?;
    /// assert!((leverage[1] - 0.36).abs() < 1e-15 && (leverage[2] - 0.64).abs() < 1e-15);
    /// # Ok::<(), egg_geometry::Error>(())
    /// ```
    pub fn compute_nodes<T: Scalar>(
        &mut self,
        h: ArrayView2<'_, T>,
        rule: RankRule,
        workspace: &mut Workspace,
    ) -> Result<()> {
        // Here and not below, where a bad entry would be named by its place in H^T.
        check::matrix("H", &h)?;
        self.compute_with_ratio_of(h.t(), rule, h.ncols(), workspace)
    }

    /// The diagonal of `V_p V_p^T`, n numbers, from factors of the node side
    /// ([`Factors::compute_nodes`]).
    ///
    /// # Errors
    /// [`Error::Length`](crate::Error::Length) unless `out` has n numbers.
    ///
    /// ```
    /// // Nothing is decomposed yet, so n = 0.
    /// assert!(egg_geometry::Factors::new().leverage_into(&mut [0.0f64; 2]).is_err());
    /// ```
    pub fn leverage_into<T: Scalar>(&self, out: &mut [T]) -> Result<()> {
        check::length("output", self.shape().1, out.len())?;
        let (kept, _) = self.split();
        for (node, slot) in out.iter_mut().enumerate() {
            *slot = T::rounded(kept.column(node).iter().map(|entry| entry * entry).sum());
        }
        Ok(())
    }

    /// `dL/dH` (n x m) from the gradient with respect to the leverages (n
    /// numbers), into memory that is there. `h` is the n x m matrix that
    /// [`Factors::compute_nodes`] was given.
    ///
    /// # Errors
    /// As [`Factors::gradient_of_embedding`].
    ///
    /// ```
    /// use egg_geometry::{Factors, RankRule, Workspace};
    /// use ndarray::{Array2, array};
    ///
    /// // One column: the leverage of row v is h_v^2 / |h|^2.
    /// let h = array![[3.0f64], [4.0]];
    /// let (mut factors, mut workspace) = (Factors::new(), Workspace::new());
    /// factors.compute_nodes(h.view(), RankRule::Fixed(1), &mut workspace)?;
    /// let mut out = Array2::zeros((2, 1));
    /// factors.gradient_of_leverage(h.view(), array![1.0, 0.0].view(), out.view_mut(), &mut workspace)?;
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
        let (m, n) = self.shape();
        check::length("gradient of the leverage", n, leverage_gradient.len())?;
        check::shape("H", &h, (n, m))?;
        check::shape("output", &out.view(), (n, m))?;
        check::finite(
            "gradient of the leverage",
            &leverage_gradient.insert_axis(ndarray::Axis(0)),
        )?;
        let mut diagonal = matrix_in(&mut workspace.scratch.values, 1, n);
        for (to, from) in diagonal.iter_mut().zip(leverage_gradient) {
            *to = from.as_f64();
        }
        self.pull_back(h.t(), Upstream::Diagonal, out.reversed_axes(), workspace)
    }
}
