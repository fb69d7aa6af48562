//! The projector of one matrix, as a matrix.

use candle_core::{Shape, Tensor};
use egg_geometry::{Factors, RankRule, Workspace};
use ndarray::{ArrayView2, ArrayViewMut2};

use crate::batch::{Kernel, Runner};
use crate::element::Element;
use crate::{Error, Result};

/// The projector `P = U_p U_p^T` (m x m) onto the leading directions of the rows
/// of `h` (n x m), f32 or f64.
///
/// With the gradient of [`grassmann_embed`](crate::grassmann_embed): finite
/// wherever singular values meet or vanish, except that a cut between values
/// that are tied (which rank rules never make) has the gradient 0 across it.
///
/// On a device other than the CPU the matrix is copied to the host, and results
/// and gradients back.
///
/// # Errors
/// [`Error::DType`], [`Error::Shape`], [`Error::Geometry`] for a bad rule or a
/// NaN.
///
/// # Example
/// ```
/// use candle_core::{Device, Tensor};
/// use egg_autodiff::{RankRule, projector};
///
/// let h = Tensor::new(&[[0f64, 2.0]], &Device::Cpu)?;
/// let p = projector(&h, RankRule::Fixed(1))?;
/// assert_eq!(p.to_vec2::<f64>()?, [[0.0, 0.0], [0.0, 1.0]]);
/// # Ok::<(), egg_autodiff::Error>(())
/// ```
pub fn projector(h: &Tensor, rule: RankRule) -> Result<Tensor> {
    rule.validate()?;
    let rows = crate::element::check_matrix("H", &h.into())?.0;
    let runner = Runner::new(Square { rule });
    let (p, ()) = runner
        .apply(h, &[0, rows], |_| ())
        .map_err(Error::without_graph)?;
    Ok(p.into())
}

#[derive(Debug)]
struct Square {
    rule: RankRule,
}

impl Kernel for Square {
    type Saved = Factors;
    type Scratch = Workspace;

    fn name(&self) -> &'static str {
        "grassmann-projector"
    }

    fn length(&self, _: usize, m: usize) -> usize {
        m * m
    }

    fn shape(&self, _: usize, _: usize, m: usize) -> Shape {
        (m, m).into()
    }

    fn forward<T: Element>(
        &self,
        h: ArrayView2<'_, T>,
        out: &mut [T],
        factors: &mut Factors,
        workspace: &mut Workspace,
    ) -> Result<()> {
        factors.compute(h, self.rule, workspace)?;
        for (to, from) in out.iter_mut().zip(&factors.projector::<T>()) {
            *to = *from;
        }
        Ok(())
    }

    fn backward<T: Element>(
        &self,
        h: ArrayView2<'_, T>,
        upstream: &[T],
        mut out: ArrayViewMut2<'_, T>,
        factors: &Factors,
        workspace: &mut Workspace,
    ) -> Result<()> {
        let m = h.ncols();
        let upstream = ArrayView2::from_shape((m, m), upstream)
            .unwrap_or_else(|_| unreachable!("the op has the kernel's own length"));
        out.assign(&factors.gradient(h, upstream, workspace)?);
        Ok(())
    }
}
