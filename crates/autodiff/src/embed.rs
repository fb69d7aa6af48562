//! The Grassmann embedding of a mini-batch: one fused operation.
//!
//! Graph g with rows `H_g` (n x m) becomes the upper triangle of the projector
//! `P_g = U_p U_p^T` onto the leading p directions of its rows. The gradient is
//! that of the projector itself, `dL/dH = 2 H G_C`, in which only pairs of
//! directions across the cut appear: it is finite for repeated singular values
//! inside either block, for a rank-deficient `H`, n < m, n = 1 and `H = 0`.

use std::sync::Arc;

use candle_core::Tensor;
use egg_geometry::{Factors, Flatten, RankChoice, RankRule, Workspace};
use egg_tensor::Tracked;
use ndarray::{ArrayView1, ArrayView2, ArrayViewMut2};

use crate::Result;
use crate::batch::{Kernel, Runner};
use crate::element::Element;

/// The flattened projectors of a mini-batch, `B x m (m + 1) / 2`.
///
/// `h` stacks the rows of all graphs, (sum n) x m, f32 or f64; graph g owns the
/// rows `offsets[g]..offsets[g + 1]`, so there are B + 1 offsets. f64 inside; in
/// parallel over graphs on rayon; bit-identical on any number of threads.
/// Graphs without rows, or with zeros only, give zeros.
///
/// This allocates anew each time. In a training loop hold an [`Embedder`].
///
/// On a device other than the CPU the rows are copied to the host, and results
/// and gradients back.
///
/// # Errors
/// [`Error::DType`](crate::Error::DType), [`Error::Shape`](crate::Error::Shape),
/// [`Error::Offsets`](crate::Error::Offsets); for a bad rule or a NaN,
/// [`Error::InGraph`](crate::Error::InGraph), which says in which graph.
///
/// # Example
/// ```
/// use candle_core::{Device, Tensor, Var};
/// use egg_autodiff::{Flatten, RankRule, grassmann_embed};
///
/// // Two graphs, of one node and of two.
/// let h = Var::new(&[[3f64, 4.0], [1.0, 0.0], [2.0, 0.0]], &Device::Cpu)?;
/// let rows = grassmann_embed(&h, &[0, 1, 3], RankRule::Relative(0.5), Flatten::Upper)?;
/// assert_eq!(rows.dims(), [2, 3]);
/// let gradients = rows.get(0)?.get(0)?.backward()?; // L = P_00 of the first graph
/// let gradient = gradients.get(&h).unwrap().to_vec2::<f64>()?;
/// assert!((gradient[0][0] - 96.0 / 625.0).abs() < 1e-15);
/// assert_eq!(gradient[1], [0.0, 0.0]);
/// # Ok::<(), egg_autodiff::Error>(())
/// ```
pub fn grassmann_embed(h: &Tensor, offsets: &[usize], rule: RankRule, flatten: Flatten) -> Result<Tensor> {
    Ok(Embedder::new(rule, flatten)?.embed(h, offsets)?.into())
}

/// [`grassmann_embed`] with memory that is reused from call to call.
///
/// Factors of the forward pass stay with the tape until it is dropped, then come
/// back here; after the largest batch has been seen, only the result and the
/// gradient are allocated for f32 data. (f64 data may need an SVD, which
/// allocates.) Clones share the memory, and so may threads.
///
/// ```
/// use candle_core::{Device, Tensor};
/// use egg_autodiff::{Embedder, Flatten, RankRule};
///
/// let embedder = Embedder::new(RankRule::Threshold(0.8), Flatten::Upper)?;
/// let h = Tensor::new(&[[0f32, 2.0], [3.0, 0.0], [0.0, 0.1]], &Device::Cpu)?;
/// for _step in 0..2 {
///     let (rows, spectra) = embedder.embed_with_spectra(&h, &[0, 1, 3, 3])?;
///     assert_eq!(rows.to_vec2::<f32>()?, [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0; 3]]);
///     assert_eq!(spectra.iter().map(|graph| graph.choice.p).collect::<Vec<_>>(), [1, 1, 0]);
///     assert!((spectra[1].choice.captured - 3.0 / 3.1).abs() < 1e-6);
/// }
/// # Ok::<(), egg_autodiff::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Embedder {
    runner: Arc<Runner<Projection>>,
}

impl Embedder {
    /// An embedder with no memory yet.
    ///
    /// # Errors
    /// [`Error::Geometry`](crate::Error::Geometry) if the rule's parameter is
    /// outside its range.
    pub fn new(rule: RankRule, flatten: Flatten) -> Result<Self> {
        rule.validate()?;
        Ok(Self {
            runner: Runner::new(Projection { rule, flatten }),
        })
    }

    /// The rank rule.
    pub fn rule(&self) -> RankRule {
        self.runner.kernel().rule
    }

    /// How projectors become vectors.
    pub fn flatten(&self) -> Flatten {
        self.runner.kernel().flatten
    }

    /// The flattened projectors, `B x m (m + 1) / 2`; see [`grassmann_embed`].
    ///
    /// # Errors
    /// As [`grassmann_embed`].
    pub fn embed(&self, h: impl Into<Tracked>, offsets: &[usize]) -> Result<Tracked> {
        Ok(self.runner.apply(h, offsets, |_| ())?.0)
    }

    /// The same, and the spectrum of each graph (not on the tape).
    ///
    /// # Errors
    /// As [`grassmann_embed`].
    pub fn embed_with_spectra(
        &self,
        h: impl Into<Tracked>,
        offsets: &[usize],
    ) -> Result<(Tracked, Vec<GraphSpectrum>)> {
        self.runner.apply(h, offsets, |saved| {
            saved.iter().map(GraphSpectrum::from_factors).collect()
        })
    }
}

/// The rank and spectrum of one graph; not differentiable.
///
/// ```
/// use candle_core::{Device, Tensor};
/// use egg_autodiff::{Embedder, Flatten, RankRule};
///
/// let h = Tensor::new(&[[3f64, 0.0], [0.0, 1.0]], &Device::Cpu)?;
/// let (_, spectra) = Embedder::new(RankRule::Fixed(1), Flatten::Upper)?.embed_with_spectra(&h, &[0, 2])?;
/// assert_eq!(spectra[0].choice.p, 1);
/// assert!((spectra[0].choice.captured - 0.75).abs() < 1e-15);
/// assert!((spectra[0].singular_values[1] - 1.0).abs() < 1e-15);
/// # Ok::<(), egg_autodiff::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct GraphSpectrum {
    /// The rank p, how it was chosen, and the captured share of the spectrum.
    pub choice: RankChoice,
    /// Descending, min(n, m) of them; none for a zero `H`.
    pub singular_values: Vec<f64>,
}

impl GraphSpectrum {
    fn from_factors(factors: &Factors) -> Self {
        Self {
            choice: factors.choice(),
            singular_values: factors.singular_values().collect(),
        }
    }
}

/// From the rows of a graph to the upper triangle of its projector.
#[derive(Debug)]
struct Projection {
    rule: RankRule,
    flatten: Flatten,
}

impl Kernel for Projection {
    type Saved = Factors;
    type Scratch = Workspace;

    fn name(&self) -> &'static str {
        "grassmann-embed"
    }

    fn length(&self, _: usize, m: usize) -> usize {
        Flatten::length(m)
    }

    fn forward<T: Element>(
        &self,
        h: ArrayView2<'_, T>,
        out: &mut [T],
        factors: &mut Factors,
        workspace: &mut Workspace,
    ) -> Result<()> {
        factors.compute(h, self.rule, workspace)?;
        Ok(factors.embed_into(self.flatten, out, workspace)?)
    }

    fn backward<T: Element>(
        &self,
        h: ArrayView2<'_, T>,
        upstream: &[T],
        out: ArrayViewMut2<'_, T>,
        factors: &Factors,
        workspace: &mut Workspace,
    ) -> Result<()> {
        let upstream = ArrayView1::from(upstream);
        Ok(factors.gradient_of_embedding(h, upstream, self.flatten, out, workspace)?)
    }
}
