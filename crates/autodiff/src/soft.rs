//! Soft EGG: a smooth spectral filter instead of the hard cut.
//!
//! The arithmetic is [`egg_geometry::SoftFactors`]'s; here it becomes one
//! operation on a mini-batch.

use std::sync::Arc;

use candle_core::Tensor;
use egg_geometry::{Filter, Flatten, SoftFactors, Workspace};
use egg_tensor::Tracked;
use ndarray::{ArrayView1, ArrayView2, ArrayViewMut2};

use crate::Result;
use crate::batch::{Kernel, Runner};
use crate::element::Element;

/// The flattened soft projectors of a mini-batch, `B x m (m + 1) / 2`:
/// `P_f = U f(lambda) U^T` for the rows `H_g` (n x m) of each graph, with
/// `H_g^T H_g = U diag(lambda) U^T`.
///
/// `h`, `offsets`, types, devices and threads are as for
/// [`grassmann_embed`](crate::grassmann_embed). Graphs without rows give
/// `f(0) I`, which is 0 for the filters that come with the crate.
///
/// With [`Filter::resolvent`] it takes one Cholesky factorisation of the smaller
/// side, m x m or n x n, and no eigendecomposition; where `sigma_1 / r` could
/// exceed 1e4 (f32) or 1e2 (f64), an SVD, because Cholesky would lose digits.
///
/// # Errors
/// As [`grassmann_embed`](crate::grassmann_embed), and
/// [`egg_geometry::Error::Filter`] in
/// [`Error::InGraph`](crate::Error::InGraph) if a custom filter gives a NaN.
///
/// # Example
/// ```
/// use candle_core::{Device, Tensor, Var};
/// use egg_autodiff::{Filter, Flatten, soft_embed};
///
/// // One row: P = h h^T / (|h|^2 + r^2).
/// let h = Var::new(&[[3f64, 4.0]], &Device::Cpu)?;
/// let rows = soft_embed(&h, &[0, 1], &Filter::resolvent(5.0)?, Flatten::Upper)?;
/// for (entry, expected) in rows.to_vec2::<f64>()?[0].iter().zip([9.0, 12.0, 16.0]) {
///     assert!((entry - expected / 50.0).abs() < 1e-15);
/// }
/// let gradients = rows.get(0)?.get(0)?.backward()?; // L = h_0^2 / (|h|^2 + r^2)
/// let gradient = gradients.get(&h).unwrap().to_vec2::<f64>()?;
/// assert!((gradient[0][0] - 2.0 * 3.0 * (50.0 - 9.0) / 2500.0).abs() < 1e-15);
/// # Ok::<(), egg_autodiff::Error>(())
/// ```
pub fn soft_embed(h: &Tensor, offsets: &[usize], filter: &Filter, flatten: Flatten) -> Result<Tensor> {
    Ok(SoftEmbedder::new(filter.clone(), flatten)
        .embed(h, offsets)?
        .into())
}

/// [`soft_embed`] with memory that is reused from call to call, as an
/// [`Embedder`](crate::Embedder) does. Clones share the memory.
///
/// ```
/// use candle_core::{Device, Tensor};
/// use egg_autodiff::{Filter, Flatten, SoftEmbedder};
///
/// let embedder = SoftEmbedder::new(Filter::resolvent(1.0)?, Flatten::Upper);
/// let h = Tensor::new(&[[1f32, 0.0], [0.0, 2.0]], &Device::Cpu)?;
/// let rows = embedder.embed(&h, &[0, 2, 2])?.to_vec2::<f32>()?;
/// assert_eq!(rows, [[0.5, 0.0, 0.8], [0.0; 3]]);
/// # Ok::<(), egg_autodiff::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct SoftEmbedder {
    runner: Arc<Runner<SoftProjection>>,
}

impl SoftEmbedder {
    /// An embedder with no memory yet.
    pub fn new(filter: Filter, flatten: Flatten) -> Self {
        Self {
            runner: Runner::new(SoftProjection { filter, flatten }),
        }
    }

    /// The filter.
    pub fn filter(&self) -> &Filter {
        &self.runner.kernel().filter
    }

    /// How soft projectors become vectors.
    pub fn flatten(&self) -> Flatten {
        self.runner.kernel().flatten
    }

    /// The flattened soft projectors, `B x m (m + 1) / 2`; see [`soft_embed`].
    ///
    /// # Errors
    /// As [`soft_embed`].
    pub fn embed(&self, h: impl Into<Tracked>, offsets: &[usize]) -> Result<Tracked> {
        Ok(self.runner.apply(h, offsets, |_| ())?.0)
    }
}

/// From the rows of a graph to the upper triangle of its soft projector.
#[derive(Debug)]
struct SoftProjection {
    filter: Filter,
    flatten: Flatten,
}

impl Kernel for SoftProjection {
    type Saved = SoftFactors;
    type Scratch = Workspace;

    fn name(&self) -> &'static str {
        "soft-grassmann-embed"
    }

    fn length(&self, _: usize, m: usize) -> usize {
        Flatten::length(m)
    }

    fn forward<T: Element>(
        &self,
        h: ArrayView2<'_, T>,
        out: &mut [T],
        factors: &mut SoftFactors,
        workspace: &mut Workspace,
    ) -> Result<()> {
        Ok(factors.embed_into(h, &self.filter, self.flatten, out, workspace)?)
    }

    fn backward<T: Element>(
        &self,
        h: ArrayView2<'_, T>,
        upstream: &[T],
        out: ArrayViewMut2<'_, T>,
        factors: &SoftFactors,
        workspace: &mut Workspace,
    ) -> Result<()> {
        let upstream = ArrayView1::from(upstream);
        Ok(factors.gradient_of_embedding(h, upstream, self.flatten, out, workspace)?)
    }
}
