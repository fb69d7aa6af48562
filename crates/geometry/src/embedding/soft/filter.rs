//! Spectral filters: smooth functions instead of a hard cut.

use std::fmt;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::tuning::accuracy::CLOSE_EIGENVALUES;

type Function = Arc<dyn Fn(f64) -> f64 + Send + Sync>;

/// A function f of the squared singular values `lambda >= 0`, for
/// `P_f = U f(lambda) U^T`.
///
/// | filter | f(lambda) | needs |
/// |---|---|---|
/// | [`resolvent(r)`](Filter::resolvent) | `lambda / (lambda + r^2)` | a Cholesky factorisation |
/// | [`sqrt`](Filter::sqrt) | `sqrt(lambda)`, the singular value | an eigendecomposition |
/// | [`log1p`](Filter::log1p) | `log(1 + lambda)` | an eigendecomposition |
/// | [`custom(f, f')`](Filter::custom) | yours | an eigendecomposition |
///
/// The resolvent is a cut at `sigma = r` with soft edges: 1/2 at r, and to
/// within 1 % of 0 and 1 at a tenth and ten times r.
///
/// ```
/// use egg_geometry::Filter;
///
/// assert!(Filter::resolvent(0.5).is_ok());
/// assert!(Filter::resolvent(0.0).is_err());
/// ```
#[derive(Clone)]
pub struct Filter(Kind);

#[derive(Clone)]
enum Kind {
    Resolvent { r: f64 },
    Sqrt,
    Log1p,
    Custom { f: Function, derivative: Function },
}

impl fmt::Debug for Filter {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Resolvent { r } => write!(out, "Resolvent({r})"),
            Kind::Sqrt => write!(out, "Sqrt"),
            Kind::Log1p => write!(out, "Log1p"),
            Kind::Custom { .. } => write!(out, "Custom"),
        }
    }
}

impl Filter {
    /// `f(lambda) = lambda / (lambda + r^2)`.
    ///
    /// # Errors
    /// [`Error::Parameter`] unless r is a positive normal number.
    ///
    /// ```
    /// assert!(egg_geometry::Filter::resolvent(-1.0).is_err());
    /// ```
    pub fn resolvent(r: f64) -> Result<Self> {
        if r > 0.0 && r.is_normal() {
            return Ok(Self(Kind::Resolvent { r }));
        }
        Err(Error::Parameter {
            name: "r",
            value: r,
            requirement: "the soft cut must be at a positive finite singular value",
        })
    }

    /// `f(lambda) = sqrt(lambda)`: `P_f = (H^T H)^(1/2)`. Its derivative in H is
    /// taken as 0 in directions with singular value 0, where it is undefined.
    ///
    /// ```
    /// assert_eq!(format!("{:?}", egg_geometry::Filter::sqrt()), "Sqrt");
    /// ```
    pub fn sqrt() -> Self {
        Self(Kind::Sqrt)
    }

    /// `f(lambda) = log(1 + lambda)`.
    ///
    /// ```
    /// assert_eq!(format!("{:?}", egg_geometry::Filter::log1p()), "Log1p");
    /// ```
    pub fn log1p() -> Self {
        Self(Kind::Log1p)
    }

    /// Any differentiable f on `lambda >= 0` with its derivative. With
    /// `f(0) != 0` graphs without rows give `f(0) I`, and so does the null space
    /// of the others.
    ///
    /// ```
    /// use egg_geometry::{Filter, Flatten, soft_embed_batch};
    /// use ndarray::array;
    ///
    /// // f(lambda) = lambda is H^T H itself.
    /// let gram = Filter::custom(|lambda| lambda, |_| 1.0);
    /// let rows = soft_embed_batch(&[array![[3f64, 1.0]].view()], &gram, Flatten::Upper)?;
    /// assert!((rows[[0, 1]] - 3.0).abs() < 1e-14);
    /// # Ok::<(), egg_geometry::Error>(())
    /// ```
    pub fn custom(
        f: impl Fn(f64) -> f64 + Send + Sync + 'static,
        derivative: impl Fn(f64) -> f64 + Send + Sync + 'static,
    ) -> Self {
        Self(Kind::Custom {
            f: Arc::new(f),
            derivative: Arc::new(derivative),
        })
    }

    /// The r of a resolvent.
    pub(super) fn resolvent_radius(&self) -> Option<f64> {
        match self.0 {
            Kind::Resolvent { r } => Some(r),
            _ => None,
        }
    }

    /// The filter for the singular values of `H / scale`. Slopes are as large as `1 / r^2` or
    /// `1 / sigma`, which leaves the range of f64 before r or sigma do; in units of `scale`
    /// they are of moderate size.
    pub(super) fn in_units_of(&self, scale: f64) -> ScaledFilter {
        match self.0 {
            Kind::Resolvent { r } => ScaledFilter {
                // That far below the values every r gives bit-identical results.
                filter: Self(Kind::Resolvent {
                    r: (r / scale).max(1e-300),
                }),
                sigma: 1.0,
                projector: 1.0,
                gradient: scale.recip(),
            },
            // As large as H: its derivative has no scale.
            Kind::Sqrt => ScaledFilter {
                filter: Self::sqrt(),
                sigma: 1.0,
                projector: scale,
                gradient: 1.0,
            },
            _ => ScaledFilter {
                filter: self.clone(),
                sigma: scale,
                projector: 1.0,
                gradient: scale,
            },
        }
    }

    /// f at the square of a singular value.
    pub(super) fn value(&self, sigma: f64) -> Result<f64> {
        match &self.0 {
            // Never squares what could overflow.
            Kind::Resolvent { r } => Ok(if sigma >= *r {
                1.0 / (1.0 + (r / sigma).powi(2))
            } else {
                let x = (sigma / r).powi(2);
                x / (x + 1.0)
            }),
            Kind::Sqrt => Ok(sigma),
            Kind::Log1p => Ok(if sigma <= 1.0 {
                (sigma * sigma).ln_1p()
            } else {
                2.0 * sigma.ln() + sigma.powi(-2).ln_1p()
            }),
            Kind::Custom { f, .. } => finite("f", square(sigma), f(square(sigma))),
        }
    }

    /// The divided difference `(f_i - f_j) / (lambda_i - lambda_j)` of two
    /// singular values of which the first is not 0.
    pub(super) fn slope(&self, (sigma_i, f_i): (f64, f64), (sigma_j, f_j): (f64, f64)) -> Result<f64> {
        match &self.0 {
            Kind::Resolvent { r } => {
                // r / (sigma^2 + r^2), each with the larger taken out first.
                let factor = |sigma: f64| {
                    let top = sigma.max(*r);
                    (r / top) / ((sigma / top).powi(2) + (r / top).powi(2)) / top
                };
                Ok(factor(sigma_i) * factor(sigma_j))
            }
            Kind::Sqrt => Ok(1.0 / (sigma_i + sigma_j)),
            Kind::Log1p => {
                let (large, small) = (square(sigma_i.max(sigma_j)), square(sigma_i.min(sigma_j)));
                let difference = large - small;
                let relative = difference / (1.0 + small);
                Ok(if relative == 0.0 {
                    1.0 / (1.0 + small)
                } else {
                    relative.ln_1p() / difference
                })
            }
            Kind::Custom { derivative, .. } => {
                let (a, b) = (square(sigma_i), square(sigma_j));
                let difference = a - b;
                if difference.abs() > CLOSE_EIGENVALUES * a.max(b) {
                    return Ok((f_i - f_j) / difference);
                }
                let middle = b + 0.5 * difference;
                finite("derivative", middle, derivative(middle))
            }
        }
    }
}

/// A filter in the units that suit it.
pub(super) struct ScaledFilter {
    pub(super) filter: Filter,
    /// What singular values of `H / scale` are multiplied by.
    pub(super) sigma: f64,
    /// What P is multiplied by, then.
    pub(super) projector: f64,
    /// What the gradient is multiplied by.
    pub(super) gradient: f64,
}

/// A square that stays finite.
fn square(sigma: f64) -> f64 {
    (sigma * sigma).min(f64::MAX)
}

fn finite(function: &'static str, lambda: f64, value: f64) -> Result<f64> {
    if value.is_finite() {
        return Ok(value);
    }
    Err(Error::Filter {
        function,
        lambda,
        value,
    })
}
