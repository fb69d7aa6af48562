//! A differentiable singular value decomposition.
//!
//! With `A = U diag(s) V^T` (thin) and `F_ij = 1 / (s_j^2 - s_i^2)`, i != j:
//!
//! ```text
//! dL/dA = U [(F o (U^T G_U - G_U^T U)) S + S (F o (V^T G_V - G_V^T V)) + diag(g_s)] V^T
//!       + (I - U U^T) G_U S^{-1} V^T + U S^{-1} G_V^T (I - V V^T)
//! ```
//!
//! as in the paper, with `max(s, eps s_1)` for s in F and in `S^{-1}`; and since
//! that alone still divides by 0 on a tie, with `x / (x^2 + e^2)` for `1 / x`,
//! x = `(s_j^2 - s_i^2) / max(s_i, s_j)^2` and e =
//! [`Scalar::GAP_GUARD`](egg_geometry::Scalar::GAP_GUARD).

use candle_core::{Shape, Tensor};
use egg_geometry::Scalar;
use egg_geometry::dense::{ThinSvd, multiply, thin_svd};
use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, Zip};

use crate::batch::{Kernel, Runner};
use crate::element::{Element, check_float, largest_of};
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
/// large (on a tie, 0 for the pair), even if the loss does not care. Where the
/// loss depends on the projector only, use [`projector`](crate::projector) or
/// [`grassmann_embed`](crate::grassmann_embed), which don't have that trouble.
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
            None => error.alone(),
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

/// The factors of `A / scale`.
#[derive(Debug, Default)]
struct Saved {
    svd: Option<ThinSvd>,
    scale: f64,
}

impl Kernel for Decomposition {
    type Saved = Saved;
    type Scratch = ();

    fn name(&self) -> &'static str {
        "svd"
    }

    fn length(&self, n: usize, m: usize) -> usize {
        (n + 1 + m) * n.min(m)
    }

    fn shape(&self, graphs: usize, _: usize, m: usize) -> Shape {
        (graphs, self.length(self.rows, m)).into()
    }

    fn forward<T: Element>(
        &self,
        a: ArrayView2<'_, T>,
        out: &mut [T],
        saved: &mut Saved,
        (): &mut (),
    ) -> Result<()> {
        let largest = largest_of("the matrix to decompose", a)?;
        saved.scale = if largest == 0.0 { 1.0 } else { largest };
        let mut svd = thin_svd(a.mapv(|entry| entry.as_f64() / saved.scale).view())?;
        fix_signs(&mut svd);
        let s = svd.s.iter().map(|value| (value * saved.scale).min(f64::MAX));
        let numbers = svd
            .u
            .iter()
            .copied()
            .chain(s)
            .chain(svd.vt.t().iter().copied().collect::<Vec<_>>());
        for (to, from) in out.iter_mut().zip(numbers) {
            *to = T::rounded(from);
        }
        saved.svd = Some(svd);
        Ok(())
    }

    fn backward<T: Element>(
        &self,
        a: ArrayView2<'_, T>,
        upstream: &[T],
        mut out: ArrayViewMut2<'_, T>,
        saved: &Saved,
        (): &mut (),
    ) -> Result<()> {
        let (n, m) = a.dim();
        let k = n.min(m);
        let Some(ThinSvd { u, s, vt }) = &saved.svd else {
            return Ok(());
        };
        let upstream: Array2<f64> = Array2::from_shape_fn((n + 1 + m, k), |(row, column)| {
            upstream[row * k + column].as_f64()
        });
        largest_of("gradient of the factors", upstream.view())?;
        let (of_u, rest) = upstream.view().split_at(Axis(0), n);
        let (of_s, of_v) = rest.split_at(Axis(0), 1);

        let floor = self.floor * if s[0] > 0.0 { s[0] } else { 1.0 };
        let floored = s.mapv(|value| value.max(floor));
        let in_u = product(u.t(), of_u)?;
        let in_v = product(vt.view(), of_v)?;
        let inner = Array2::from_shape_fn((k, k), |(i, j)| {
            if i == j {
                return 0.0;
            }
            let f = inverse_difference::<T>(floored[j], floored[i]);
            f * ((in_u[[i, j]] - in_u[[j, i]]) * s[j] + s[i] * (in_v[[i, j]] - in_v[[j, i]]))
        });
        // U [inner V^T + S^{-1} G_V^T (I - V V^T)] + (I - U U^T) G_U S^{-1} V^T
        let mut right = product(inner.view(), vt.view())?;
        if m > k {
            let outside = &of_v.t() - &product(in_v.t(), vt.view())?;
            right += &(outside / floored.view().insert_axis(Axis(1)));
        }
        let mut gradient = product(u.view(), right.view())?;
        if n > k {
            let outside = (&of_u - &product(u.view(), in_u.view())?) / &floored;
            gradient += &product(outside.view(), vt.view())?;
        }
        // s goes with the scale of A, the vectors against it.
        let direct = product((u * &of_s).view(), vt.view())?;
        Zip::from(&mut out)
            .and(&gradient)
            .and(&direct)
            .for_each(|to, vectors, values| {
                let value = vectors / saved.scale + values;
                *to = T::rounded(value.clamp(-T::LARGEST_GRADIENT, T::LARGEST_GRADIENT));
            });
        Ok(())
    }
}

/// `1 / (a^2 - b^2)` of two positive numbers, 0 if they are equal.
fn inverse_difference<T: Scalar>(a: f64, b: f64) -> f64 {
    let top = a.max(b);
    let x = (a - b) / top * ((a + b) / top);
    x / (x * x + T::GAP_GUARD * T::GAP_GUARD) / top / top
}

/// Makes the largest entry of each left singular vector positive.
fn fix_signs(svd: &mut ThinSvd) {
    for (mut u, mut v) in svd.u.columns_mut().into_iter().zip(svd.vt.rows_mut()) {
        let largest = u.iter().fold(
            0.0,
            |most: f64, entry| {
                if entry.abs() > most.abs() { *entry } else { most }
            },
        );
        if largest < 0.0 {
            u.mapv_inplace(|entry| -entry);
            v.mapv_inplace(|entry| -entry);
        }
    }
}

fn product(a: ArrayView2<'_, f64>, b: ArrayView2<'_, f64>) -> Result<Array2<f64>> {
    let mut c = Array2::zeros((a.nrows(), b.ncols()));
    multiply(1.0, a, b, 0.0, &mut c.view_mut())?;
    Ok(c)
}
