//! Soft EGG: a smooth spectral filter in the place of the hard cut.
//!
//! `P_f = U f(lambda) U^T` for `C = H^T H = U diag(lambda) U^T` has the size of
//! the projector and does not depend on the order of the rows either, but it
//! moves smoothly with `H` where a singular value passes the cut, so that its
//! gradient needs no guard.

use std::sync::Arc;

use candle_core::{Shape, Tensor};
use egg_geometry::{Error as GeometryError, Flatten, dense};
use ndarray::{ArrayView2, ArrayViewMut2, Zip};

use crate::Result;
use crate::batch::{Kernel, Runner};
use crate::element::Element;
use crate::filter::{Filter, Kind};
use crate::memory::{flatten_into, matrix_in, scaled_into, spread_into};
use crate::resolvent::Resolvent;
use crate::spectral::Spectral;

/// Up to this `sigma_1 / r` Cholesky is used: its error in P is about
/// `eps (sigma_1 / r)^2`, 2e-8 here, below what f32 can show ...
const CHOLESKY_LIMIT_F32: f64 = 1e4;

/// ... and 2e-12 here, for f64.
const CHOLESKY_LIMIT_F64: f64 = 1e2;

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
/// [`Error::Filter`](crate::Error::Filter) in
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
    SoftEmbedder::new(filter.clone(), flatten).embed(h, offsets)
}

/// [`soft_embed`] with memory that is kept from one call to the next, as an
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
    pub fn embed(&self, h: &Tensor, offsets: &[usize]) -> Result<Tensor> {
        Ok(self.runner.apply(h, offsets, |_| ())?.0)
    }
}

/// Memory of one thread.
#[derive(Debug, Default)]
pub(crate) struct SoftScratch {
    /// H / scale, n x m.
    pub(crate) scaled: Vec<f64>,
    /// P on the way out, G on the way back; m x m.
    pub(crate) square: Vec<f64>,
    pub(crate) products: [Vec<f64>; 4],
    pub(crate) values: Vec<f64>,
    pub(crate) dense: dense::Scratch,
}

/// What the backward pass needs of one graph.
#[derive(Debug, Default)]
struct SoftFactors {
    by_cholesky: bool,
    scale: f64,
    resolvent: Resolvent,
    spectral: Spectral,
}

#[derive(Debug)]
struct SoftProjection {
    filter: Filter,
    flatten: Flatten,
}

/// A filter in the units that suit it. Slopes are as large as `1 / r^2` or
/// `1 / sigma`, which leaves the range of f64 before r or sigma do; in units of
/// `scale` they are of moderate size.
struct Units {
    filter: Filter,
    /// What singular values of `H / scale` are multiplied by.
    sigma: f64,
    /// What P is multiplied by, then.
    projector: f64,
    /// What the gradient is multiplied by.
    gradient: f64,
}

impl SoftProjection {
    fn units(&self, scale: f64) -> Units {
        match self.filter.0 {
            Kind::Resolvent { r } => Units {
                // So far below the values any r gives the same bits.
                filter: Filter(Kind::Resolvent {
                    r: (r / scale).max(1e-300),
                }),
                sigma: 1.0,
                projector: 1.0,
                gradient: scale.recip(),
            },
            // As large as H: its derivative has no scale.
            Kind::Sqrt => Units {
                filter: Filter::sqrt(),
                sigma: 1.0,
                projector: scale,
                gradient: 1.0,
            },
            _ => Units {
                filter: self.filter.clone(),
                sigma: scale,
                projector: 1.0,
                gradient: scale,
            },
        }
    }
}

impl Kernel for SoftProjection {
    type Saved = SoftFactors;
    type Scratch = SoftScratch;

    fn name(&self) -> &'static str {
        "soft-grassmann-embed"
    }

    fn length(&self, _: usize, m: usize) -> usize {
        Flatten::length(m)
    }

    fn shape(&self, graphs: usize, _: usize, m: usize) -> Shape {
        (graphs, Flatten::length(m)).into()
    }

    fn forward<T: Element>(
        &self,
        h: ArrayView2<'_, T>,
        out: &mut [T],
        saved: &mut SoftFactors,
        scratch: &mut SoftScratch,
    ) -> Result<()> {
        let largest = largest_of("H", h)?;
        let shape = h.dim();
        saved.by_cholesky = false;
        if let Kind::Resolvent { r } = self.filter.0 {
            saved.scale = largest.max(r);
            scaled_into(h, saved.scale, &mut scratch.scaled);
            let limit = if T::GRAM_IS_EXACT {
                CHOLESKY_LIMIT_F32
            } else {
                CHOLESKY_LIMIT_F64
            };
            saved.by_cholesky = saved.resolvent.forward(shape, r / saved.scale, limit, scratch)?;
        }
        if !saved.by_cholesky {
            saved.scale = if largest == 0.0 { 1.0 } else { largest };
            scaled_into(h, saved.scale, &mut scratch.scaled);
            let units = self.units(saved.scale);
            let is_resolvent = matches!(self.filter.0, Kind::Resolvent { .. });
            saved.spectral.forward(
                shape,
                units.sigma,
                &units.filter,
                T::GRAM_IS_EXACT && !is_resolvent,
                scratch,
            )?;
            if units.projector != 1.0 {
                let mut p = matrix_in(&mut scratch.square, shape.1, shape.1);
                // A matrix at the end of the range can have singular values beyond it.
                p.mapv_inplace(|entry| (entry * units.projector).clamp(-f64::MAX, f64::MAX));
            }
        }
        let p = matrix_in(&mut scratch.square, shape.1, shape.1);
        flatten_into(self.flatten, p.view(), out);
        Ok(())
    }

    fn backward<T: Element>(
        &self,
        h: ArrayView2<'_, T>,
        upstream: &[T],
        mut out: ArrayViewMut2<'_, T>,
        saved: &SoftFactors,
        scratch: &mut SoftScratch,
    ) -> Result<()> {
        let (n, m) = h.dim();
        let row = ArrayView2::from_shape((1, upstream.len()), upstream)
            .unwrap_or_else(|_| unreachable!("one row of its own length"));
        largest_of("gradient of the embedding", row)?;
        scaled_into(h, saved.scale, &mut scratch.scaled);
        let g = matrix_in(&mut scratch.square, m, m);
        let magnitude = spread_into(self.flatten, upstream, g);
        let (gradient, scale) = match self.filter.0 {
            // By H / scale.
            Kind::Resolvent { r } if saved.by_cholesky => {
                let gradient = saved.resolvent.backward((n, m), r / saved.scale, scratch)?;
                (gradient, saved.scale.recip())
            }
            _ => {
                let units = self.units(saved.scale);
                let gradient = saved.spectral.backward((n, m), &units.filter, scratch)?;
                (gradient, units.gradient)
            }
        };
        Zip::from(&mut out).and(&gradient).for_each(|to, from| {
            // Whichever order keeps the intermediate result in range.
            let value = if magnitude > 1.0 {
                from * scale * magnitude
            } else {
                from * magnitude * scale
            };
            *to = T::rounded(value.clamp(-T::LARGEST_GRADIENT, T::LARGEST_GRADIENT));
        });
        Ok(())
    }
}

/// `max |A|`, if all of it is finite.
pub(crate) fn largest_of<T: Element>(what: &'static str, a: ArrayView2<'_, T>) -> Result<f64> {
    let mut largest = 0.0;
    for ((row, column), entry) in a.indexed_iter() {
        let value = entry.as_f64();
        if !value.is_finite() {
            return Err(GeometryError::NonFinite {
                what,
                row,
                column,
                value,
            }
            .into());
        }
        largest = f64::max(largest, value.abs());
    }
    Ok(largest)
}
