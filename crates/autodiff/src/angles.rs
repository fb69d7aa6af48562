//! Principal angles between two differentiable subspaces.
//!
//! With principal vectors `x_i = A c_i` in the first subspace and `y_i` in the
//! second, and `n_i` the unit vector along the part of `y_i` outside the first,
//!
//! ```text
//! d theta_i / dA = - n_i c_i^T
//! ```
//!
//! which is bounded by the conditioning of `A`: there is no `1 / sin theta`. At `theta_i = 0`, where the
//! angle has a kink like `|x|`, `n_i` is taken as 0. At `theta_i = pi/2` it has another, like
//! `pi/2 - |x|`: a vector that turns on past it comes nearer again. There the gradient is that of one side.

use std::sync::{Mutex, PoisonError};

use candle_core::{CpuStorage, CustomOp2, Device, Layout, Shape, Tensor, WithDType};
use egg_geometry::{GrassmannPoint, principal_vectors};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis};

use crate::element::{Element, check_matrix, for_element, with_values};
use crate::finite::largest_of;
use crate::{Error, Result};

/// The principal angles `0 <= theta_1 <= ... <= theta_q <= pi/2` between the
/// subspaces spanned by the columns of `a` (m x p_1) and of `b` (m x p_2), with
/// `q = min(p_1, p_2)`; f32 or f64, f64 inside.
///
/// The columns must be linearly independent, not orthonormal: angles depend on
/// what they span, and so does the gradient. To compare data by their leading
/// directions, take them from [`svd`](crate::svd()).
///
/// Each angle's gradient is at most 1 over the basis' smallest singular value. At `theta_i = 0` the angle has a
/// kink and its gradient is taken as 0; a loss in `theta_i^2` or `sin^2 theta_i`
/// is smooth there, and its gradient exact. At `theta_i = pi/2` it has another, and its gradient is
/// that of one side; `sin^2 theta_i` and `cos^2 theta_i` are smooth there. Where two angles meet, each one's
/// gradient alone is that of one of several ways to tell them apart; that of any
/// loss that treats them alike is exact.
///
/// On a device other than the CPU the matrices are copied to the host, and
/// results and gradients back.
///
/// # Errors
/// [`Error::DType`], [`Error::Shape`]; [`Error::Geometry`] for a NaN, dependent
/// columns or different m.
///
/// # Example
/// ```
/// use candle_core::{Device, Var};
/// use egg_autodiff::principal_angles;
///
/// let a = Var::new(&[[1f64], [0.0]], &Device::Cpu)?;
/// let b = Var::new(&[[3f64], [3.0]], &Device::Cpu)?;
/// let angles = principal_angles(&a, &b)?;
/// assert!((angles.to_vec1::<f64>()?[0] - std::f64::consts::FRAC_PI_4).abs() < 1e-15);
/// let gradients = angles.sum_all()?.backward()?;
/// let gradient = gradients.get(&a).unwrap().to_vec2::<f64>()?;
/// assert!((gradient[1][0] + 1.0).abs() < 1e-14); // up is towards b
/// # Ok::<(), egg_autodiff::Error>(())
/// ```
pub fn principal_angles(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    compare(a, b, Measure::Angles)
}

/// The projection distance `(sum_i sin^2 theta_i)^(1/2)` between the subspaces
/// spanned by the columns of `a` and `b`, a scalar: `||P_1 - P_2||_F / sqrt(2)`
/// for equal dimensions. For different ones each missing angle counts as pi/2
/// (Ye and Lim), so that it is a metric.
///
/// Types, devices and columns are as for [`principal_angles`]. The gradient is
/// bounded as the angles are, and 0 at distance 0, where the distance has a kink; the
/// square of the distance is smooth there, and its gradient exact.
///
/// # Errors
/// As [`principal_angles`].
///
/// # Example
/// ```
/// use candle_core::{Device, Var};
/// use egg_autodiff::projection_distance;
///
/// let a = Var::new(&[[1f64], [0.0]], &Device::Cpu)?;
/// let b = Var::new(&[[0.8f64], [0.6]], &Device::Cpu)?;
/// assert!((projection_distance(&a, &b)?.to_scalar::<f64>()? - 0.6).abs() < 1e-15);
/// let gradients = projection_distance(&a, &a)?.sqr()?.backward()?;
/// assert_eq!(gradients.get(&a).unwrap().to_vec2::<f64>()?, [[0.0], [0.0]]);
/// # Ok::<(), egg_autodiff::Error>(())
/// ```
pub fn projection_distance(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    compare(a, b, Measure::ProjectionDistance)
}

#[derive(Debug, Clone, Copy)]
enum Measure {
    Angles,
    ProjectionDistance,
}

fn compare(a: &Tensor, b: &Tensor, measure: Measure) -> Result<Tensor> {
    check_matrix("the first basis", a)?;
    check_matrix("the second basis", b)?;
    if a.dtype() != b.dtype() {
        return Err(Error::DType {
            what: "the second basis",
            found: b.dtype(),
            expected: a.dtype().as_str(),
        });
    }
    let (on_host, other) = (a.to_device(&Device::Cpu)?, b.to_device(&Device::Cpu)?);
    let (left, right) = (Spanned::of(&on_host)?, Spanned::of(&other)?);
    let pairs = principal_vectors(&left.point, &right.point)?;
    let angles = pairs.angles.view();
    let (numbers, chain, shape): (Vec<f64>, _, Shape) = match measure {
        Measure::Angles => (angles.to_vec(), None, angles.len().into()),
        Measure::ProjectionDistance => {
            let missing = left.point.dimension().abs_diff(right.point.dimension());
            let square: f64 = angles.iter().map(|angle| angle.sin().powi(2)).sum();
            let distance = (square + missing as f64).sqrt();
            let slope = |angle: &f64| {
                if distance == 0.0 {
                    0.0
                } else {
                    angle.sin() * angle.cos() / distance
                }
            };
            (
                vec![distance],
                Some(angles.iter().map(slope).collect()),
                ().into(),
            )
        }
    };
    let output = for_element!(a.dtype(), T => {
        let numbers = numbers.iter().map(|&number| <T as egg_geometry::Scalar>::rounded(number)).collect();
        Ok::<_, Error>(<T as WithDType>::to_cpu_storage_owned(numbers))
    })?;
    let op = Comparison {
        by_left: left.gradient(pairs.left.view(), pairs.right.view()),
        by_right: right.gradient(pairs.right.view(), pairs.left.view()),
        chain,
        output: Mutex::new(Some((output, shape))),
    };
    Ok(on_host.apply_op2(&other, op)?.to_device(a.device())?)
}

/// The columns of a matrix and what they span.
struct Spanned {
    matrix: Array2<f64>,
    point: GrassmannPoint<f64>,
}

/// `d theta_i / dA = - normal_i coefficients_i^T`, column by column.
struct Gradient {
    /// m x q
    normals: Array2<f64>,
    /// p x q
    coefficients: Array2<f64>,
}

impl Spanned {
    fn of(tensor: &Tensor) -> Result<Self> {
        let matrix =
            for_element!(tensor.dtype(), T => with_values::<T, _>(tensor, |values| wide(values, tensor)))?;
        largest_of("the basis", matrix.view())?;
        let point = GrassmannPoint::from_spanning(matrix.view())?;
        Ok(Self { matrix, point })
    }

    /// From principal vectors in this subspace and in the other, m x q each.
    fn gradient(&self, here: ArrayView2<'_, f64>, there: ArrayView2<'_, f64>) -> Gradient {
        let q = self.point.basis();
        let mut normals = &there - &q.dot(&q.t().dot(&there));
        let noise = f64::EPSILON * q.nrows() as f64;
        for mut normal in normals.columns_mut() {
            let sine = normal.dot(&normal).sqrt();
            // An angle that can't be told from 0.
            let factor = if sine > noise { sine.recip() } else { 0.0 };
            normal *= factor;
        }
        // A = Q R, so that x = A c means R c = Q^T x.
        let r = q.t().dot(&self.matrix);
        let inside = q.t().dot(&here);
        let mut coefficients = Array2::zeros(inside.dim());
        for (mut c, x) in coefficients.columns_mut().into_iter().zip(inside.columns()) {
            c.assign(&back_substituted(r.view(), x));
        }
        Gradient {
            normals,
            coefficients,
        }
    }
}

fn wide<T: Element>(values: &[T], tensor: &Tensor) -> Result<Array2<f64>> {
    let (rows, columns) = tensor.dims2()?;
    Ok(Array2::from_shape_fn((rows, columns), |(row, column)| {
        values[row * columns + column].as_f64()
    }))
}

/// `R^{-1} x` for an upper triangular R of full rank.
fn back_substituted(r: ArrayView2<'_, f64>, x: ArrayView1<'_, f64>) -> Array1<f64> {
    let mut c = Array1::zeros(x.len());
    for row in (0..x.len()).rev() {
        let known: f64 = (row + 1..x.len())
            .map(|column| r[[row, column]] * c[column])
            .sum();
        c[row] = (x[row] - known) / r[[row, row]];
    }
    c
}

struct Comparison {
    by_left: Gradient,
    by_right: Gradient,
    /// The derivative of the result by each angle, if it is not the angles.
    chain: Option<Array1<f64>>,
    /// Worked out before the op is applied, where errors keep their type.
    output: Mutex<Option<(CpuStorage, Shape)>>,
}

impl Comparison {
    fn backward<T: Element>(&self, tensor: &Tensor, upstream: &[T], gradient: &Gradient) -> Result<Tensor> {
        let upstream: Array1<f64> = match &self.chain {
            Some(chain) => chain * upstream.first().map_or(0.0, |g| g.as_f64()),
            None => upstream.iter().map(|g| g.as_f64()).collect(),
        };
        largest_of("gradient of the angles", upstream.view().insert_axis(Axis(0)))?;
        let weighted = &gradient.coefficients * &upstream;
        let numbers: Vec<T> = gradient
            .normals
            .dot(&weighted.t())
            .iter()
            .map(|entry| <T as egg_geometry::Scalar>::rounded(-entry.clamp(-f64::MAX, f64::MAX)))
            .collect();
        Ok(Tensor::from_vec(numbers, tensor.shape(), tensor.device())?)
    }
}

impl CustomOp2 for Comparison {
    fn name(&self) -> &'static str {
        "principal-angles"
    }

    fn cpu_fwd(
        &self,
        _: &CpuStorage,
        _: &Layout,
        _: &CpuStorage,
        _: &Layout,
    ) -> candle_core::Result<(CpuStorage, Shape)> {
        let output = self.output.lock().unwrap_or_else(PoisonError::into_inner).take();
        output.ok_or_else(|| candle_core::Error::msg("this op belongs to one forward pass and was run again"))
    }

    fn bwd(
        &self,
        a: &Tensor,
        b: &Tensor,
        _: &Tensor,
        upstream: &Tensor,
    ) -> candle_core::Result<(Option<Tensor>, Option<Tensor>)> {
        let run = || -> Result<(Tensor, Tensor)> {
            for_element!(a.dtype(), T => with_values::<T, _>(upstream, |g| {
                Ok((self.backward(a, g, &self.by_left)?, self.backward(b, g, &self.by_right)?))
            }))
        };
        let (by_a, by_b) = run()?;
        Ok((Some(by_a), Some(by_b)))
    }
}
