//! The leverage of each node in its graph's subspace.

use std::sync::Arc;

use candle_core::{Shape, Tensor};
use egg_geometry::{NodeFactors, RankRule, Workspace};
use ndarray::{ArrayView1, ArrayView2, ArrayViewMut2};

use crate::Result;
use crate::batch::{Kernel, Runner};
use crate::element::Element;

/// The leverage of every node of a mini-batch, one number per row of `h`:
/// `(V_p V_p^T)_vv` for `H_g = V S U^T` (n x m), the squared length of row v of
/// the leading p left singular vectors.
///
/// Between 0 and 1, with sum p over a graph: how much of the graph's subspace depends on that one
/// node. `h`, `offsets`, types, devices, empty graphs and
/// threads are as for [`grassmann_embed`](crate::grassmann_embed), and so is the
/// gradient, with the roles of rows and columns exchanged; nothing n x n is
/// formed. `Ratio` counts the columns.
///
/// # Errors
/// As [`grassmann_embed`](crate::grassmann_embed).
///
/// # Example
/// ```
/// use candle_core::{Device, Tensor};
/// use egg_autodiff::{RankRule, leverage};
///
/// // Two nodes say the same, one something else; and a graph of one node.
/// let h = Tensor::new(&[[1f64, 0.0], [1.0, 0.0], [0.0, 9.0], [2.0, 2.0]], &Device::Cpu)?;
/// let shares = leverage(&h, &[0, 3, 4], RankRule::Relative(0.01))?.to_vec1::<f64>()?;
/// for (share, expected) in shares.iter().zip([0.5, 0.5, 1.0, 1.0]) {
///     assert!((share - expected).abs() < 1e-14);
/// }
/// # Ok::<(), egg_autodiff::Error>(())
/// ```
pub fn leverage(h: &Tensor, offsets: &[usize], rule: RankRule) -> Result<Tensor> {
    rule.validate()?;
    let runner: Arc<Runner<Leverage>> = Runner::new(Leverage { rule });
    Ok(runner.apply(h, offsets, |_| ())?.0.into())
}

#[derive(Debug)]
struct Leverage {
    rule: RankRule,
}

impl Kernel for Leverage {
    type Saved = NodeFactors;
    type Scratch = Workspace;

    fn name(&self) -> &'static str {
        "grassmann-leverage"
    }

    fn length(&self, n: usize, _: usize) -> usize {
        n
    }

    fn shape(&self, _: usize, rows: usize, _: usize) -> Shape {
        rows.into()
    }

    fn forward<T: Element>(
        &self,
        h: ArrayView2<'_, T>,
        out: &mut [T],
        nodes: &mut NodeFactors,
        workspace: &mut Workspace,
    ) -> Result<()> {
        if h.nrows() == 0 {
            return Ok(());
        }
        nodes.compute(h, self.rule, workspace)?;
        Ok(nodes.leverage_into(out)?)
    }

    fn backward<T: Element>(
        &self,
        h: ArrayView2<'_, T>,
        upstream: &[T],
        out: ArrayViewMut2<'_, T>,
        nodes: &NodeFactors,
        workspace: &mut Workspace,
    ) -> Result<()> {
        Ok(nodes.gradient_of_leverage(h, ArrayView1::from(upstream), out, workspace)?)
    }
}
