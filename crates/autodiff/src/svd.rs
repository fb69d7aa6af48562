//! A differentiable singular value decomposition.
//!
//! The arithmetic is [`egg_geometry::dense::SvdFactors`]'s; here it becomes one operation.

use candle_core::{Shape, Tensor};
use egg_geometry::dense::SvdFactors;
use ndarray::{ArrayView2, ArrayViewMut2};

use crate::batch::{Kernel, Runner};
use crate::element::{Element, check_float};
use crate::{Error, Result};

/// The default of [`svd_with_floor`].
pub const SVD_FLOOR: f64 = 1e-12;

/// The thin singular value decomposition `A = U diag(s) V^T`, differentiable in
/// all three: `u` is r x k, `s` k (descending), `v` c x k, with `k = min(r, c)`.
///
/// `a` is r x c, or a batch of such matrices (batch x r x c), which are
/// decomposed in parallel, and whose factors have the batch in front. f32 or
/// f64; f64 inside. The largest entry of each column of `u` is positive, so that
/// the signs are the same on every backend and, nearly everywhere, for nearby
/// matrices. On a device other than the CPU the matrix is copied to the host,
/// and results and gradients back.
///
/// The gradient divides by `s_j^2 - s_i^2` for every pair: near a tie it is
/// large (on a tie, 0 for the pair), even if the loss does not depend on the pair. Where the
/// loss depends on the projector only, use [`projector`](crate::projector) or
/// [`grassmann_embed`](crate::grassmann_embed), which don't have that problem.
///
/// # Errors
/// [`Error::DType`]; [`Error::Shape`] unless `a` has two or three dimensions,
/// with rows and columns; [`Error::Geometry`] for a NaN, in a batch as
/// [`Error::InGraph`].
///
/// # Example
/// ```
/// use candle_core::{Device, Tensor, Var};
/// use egg_autodiff::svd;
///
/// let a = Var::new(&[[3f64, 0.0], [4.0, 0.0], [0.0, 1.0]], &Device::Cpu)?;
/// let (u, s, v) = svd(&a)?;
/// let rebuilt = u.broadcast_mul(&s)?.matmul(&v.t()?)?;
/// assert!((rebuilt - a.as_tensor())?.abs()?.max_all()?.to_scalar::<f64>()? < 1e-14);
/// // The gradient of the nuclear norm is U V^T.
/// let gradients = s.sum_all()?.backward()?;
/// let apart = (gradients.get(&a).unwrap() - u.matmul(&v.t()?)?)?;
/// assert!(apart.abs()?.max_all()?.to_scalar::<f64>()? < 1e-14);
/// # Ok::<(), egg_autodiff::Error>(())
/// ```
pub fn svd(a: &Tensor) -> Result<(Tensor, Tensor, Tensor)> {
    svd_with_floor(a, SVD_FLOOR)
}

/// [`svd`] with a floor other than [`SVD_FLOOR`] under the singular values in
/// the denominators of the gradient, relative to the largest of the matrix (the
/// paper's eps, for a matrix scaled to `s_1 = 1`).
///
/// # Errors
/// As [`svd`], and [`Error::Parameter`] unless the floor is in (0, 1).
///
/// ```
/// use candle_core::{Device, Tensor};
/// let a = Tensor::new(&[[1f64, 2.0]], &Device::Cpu)?;
/// assert!(egg_autodiff::svd_with_floor(&a, 1e-8).is_ok());
/// assert!(egg_autodiff::svd_with_floor(&a, 0.0).is_err());
/// # Ok::<(), egg_autodiff::Error>(())
/// ```
pub fn svd_with_floor(a: &Tensor, floor: f64) -> Result<(Tensor, Tensor, Tensor)> {
    if !(floor > 0.0 && floor < 1.0) {
        return Err(Error::Parameter {
            name: "floor",
            value: floor,
            requirement: "it must be in (0, 1), relative to the largest singular value",
        });
    }
    check_float("the matrix to decompose", &a.into())?;
    let (batch, rows, columns) = match a.dims() {
        &[rows, columns] if rows > 0 && columns > 0 => (None, rows, columns),
        &[batch, rows, columns] if rows > 0 && columns > 0 => (Some(batch), rows, columns),
        found => {
            return Err(Error::Shape {
                what: "the matrix to decompose",
                found: found.to_vec(),
                expected: "(rows, columns) or (batch, rows, columns), rows and columns at least 1".to_owned(),
            });
        }
    };
    let count = batch.unwrap_or(1);
    let offsets: Vec<usize> = (0..=count).map(|index| index * rows).collect();
    let stacked = a.reshape((count * rows, columns))?;
    let runner = Runner::new(Decomposition { rows, floor });
    let (packed, ()) = runner
        .apply(&stacked, &offsets, |_| ())
        .map_err(|error| match batch {
            None => error.without_graph(),
            Some(_) => error,
        })?;

    let k = rows.min(columns);
    let part = |start: usize, height: usize| -> Result<Tensor> {
        let part = packed.narrow(1, start, height * k)?;
        Ok(match batch {
            Some(batch) => part.reshape((batch, height, k))?,
            None => part.reshape((height, k))?,
        })
    };
    let s = part(rows * k, 1)?.squeeze(if batch.is_some() { 1 } else { 0 })?;
    Ok((part(0, rows)?, s, part((rows + 1) * k, columns)?))
}

/// From a matrix to U, s and V, one after another.
#[derive(Debug)]
struct Decomposition {
    rows: usize,
    floor: f64,
}

impl Kernel for Decomposition {
    type Saved = SvdFactors;
    type Scratch = ();

    fn name(&self) -> &'static str {
        "svd"
    }

    fn length(&self, n: usize, m: usize) -> usize {
        SvdFactors::length(n, m)
    }

    fn shape(&self, graphs: usize, _: usize, m: usize) -> Shape {
        (graphs, self.length(self.rows, m)).into()
    }

    fn forward<T: Element>(
        &self,
        a: ArrayView2<'_, T>,
        out: &mut [T],
        factors: &mut SvdFactors,
        (): &mut (),
    ) -> Result<()> {
        factors.compute(a)?;
        Ok(factors.write(out)?)
    }

    fn backward<T: Element>(
        &self,
        _: ArrayView2<'_, T>,
        upstream: &[T],
        out: ArrayViewMut2<'_, T>,
        factors: &SvdFactors,
        (): &mut (),
    ) -> Result<()> {
        Ok(factors.gradient(upstream, self.floor, out)?)
    }
}
