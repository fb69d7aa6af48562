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
//! `pi/2 - |x|`, since a vector rotated beyond it comes nearer again. There the gradient is one-sided.

use candle_core::{Device, Shape, Tensor};
use egg_geometry::{GrassmannPoint, principal_vectors};
use egg_tensor::{Backward, Forward, Operand, Operation, apply};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis};

use crate::element::{Element, check_finite, check_matrix};
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
/// one-sided; `sin^2 theta_i` and `cos^2 theta_i` are smooth there. Where angles are tied, the
/// gradient of a single one depends on an arbitrary choice of principal vectors; that of any
/// symmetric function of them is exact.
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
    check_matrix("the first basis", &a.into())?;
    check_matrix("the second basis", &b.into())?;
    if a.dtype() != b.dtype() {
        return Err(Error::DType {
            what: "the second basis",
            found: b.dtype(),
            expected: a.dtype().as_str(),
        });
    }
    let on_host = [a.to_device(&Device::Cpu)?, b.to_device(&Device::Cpu)?];
    Ok(apply(Comparison { measure }, on_host)?.to_device(a.device())?)
}

struct Comparison {
    measure: Measure,
}

/// What the derivatives of the angles, and of the result by each of them, are made of.
struct Saved {
    by_left: Gradient,
    by_right: Gradient,
    /// The derivative of the result by each angle, if it is not the angles.
    chain: Option<Array1<f64>>,
}

impl<T: Element> Operation<T, 2> for Comparison {
    type Saved = Saved;
    type Error = Error;

    fn name(&self) -> &'static str {
        "principal-angles"
    }

    fn forward(&self, [a, b]: [Operand<'_, T>; 2]) -> Result<Forward<T, Saved>> {
        let (left, right) = (Spanned::by_columns(a)?, Spanned::by_columns(b)?);
        let pairs = principal_vectors(&left.point, &right.point)?;
        let angles = pairs.angles.view();
        let (numbers, chain, shape): (Vec<f64>, _, Shape) = match self.measure {
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
                let chain = Some(angles.iter().map(slope).collect());
                (vec![distance], chain, ().into())
            }
        };
        Ok(Forward {
            values: numbers.into_iter().map(T::rounded).collect(),
            shape,
            saved: Saved {
                by_left: left.gradient(pairs.left.view(), pairs.right.view()),
                by_right: right.gradient(pairs.right.view(), pairs.left.view()),
                chain,
            },
        })
    }

    fn backward(&self, of: Backward<'_, T, Saved, 2>) -> Result<[Option<Vec<T>>; 2]> {
        let upstream: Array1<f64> = match &of.saved.chain {
            Some(chain) => chain * of.scalar_gradient(),
            None => of.gradient.iter().map(|g| g.as_f64()).collect(),
        };
        check_finite("gradient of the angles", upstream.view().insert_axis(Axis(0)))?;
        let of_basis = |gradient: &Gradient| {
            let weighted = &gradient.coefficients * &upstream;
            let product = gradient.normals.dot(&weighted.t());
            let entries = product.iter().map(|entry| -entry.clamp(-f64::MAX, f64::MAX));
            Some(entries.map(T::rounded).collect())
        };
        Ok([of_basis(&of.saved.by_left), of_basis(&of.saved.by_right)])
    }
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
    fn by_columns<T: Element>(basis: Operand<'_, T>) -> Result<Self> {
        let (rows, columns) = basis.dims2()?;
        let matrix = Array2::from_shape_fn((rows, columns), |(row, column)| {
            basis[row * columns + column].as_f64()
        });
        check_finite("the basis", matrix.view())?;
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
            // An angle that is 0 to rounding.
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
