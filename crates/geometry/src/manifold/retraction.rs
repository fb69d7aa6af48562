//! Retractions: cheaper steps than the exponential, and back.

use crate::error::{Error, Result};
use crate::manifold::geodesic::TangentSvd;
use crate::manifold::point::GrassmannPoint;
use crate::manifold::tangent::Tangent;
use crate::scalar::Scalar;

impl<T: Scalar> GrassmannPoint<T> {
    /// The span of `U + D`, by QR with a positive diagonal of R. As a subspace it
    /// agrees with [`exp`](Self::exp) to second order in `D`.
    ///
    /// # Errors
    /// [`Error::Shape`], [`Error::NonFinite`], [`Error::NotTangent`],
    /// [`Error::Backend`].
    ///
    /// ```
    /// use egg_geometry::GrassmannPoint;
    /// use ndarray::array;
    ///
    /// let x = GrassmannPoint::from_orthonormal(array![[1.0], [0.0]])?;
    /// let there = x.retract_qr(&x.tangent(array![[0.0], [0.75]])?)?;
    /// assert!((there.basis()[[1, 0]] - 0.6f64).abs() < 1e-15);
    /// # Ok::<(), egg_geometry::Error>(())
    /// ```
    pub fn retract_qr(&self, tangent: &Tangent<T>) -> Result<Self> {
        self.check_tangent(tangent)?;
        let (mut q, r) = T::qr((&self.basis() + &tangent.matrix()).view())?;
        for (mut column, diagonal) in q.columns_mut().into_iter().zip(r.diag()) {
            if *diagonal < T::zero() {
                column.mapv_inplace(|entry| -entry);
            }
        }
        Ok(Self::from_computed(q))
    }

    /// The span of `U + D`, by the polar factor `(U + D) (I + D^T D)^(-1/2)`:
    /// the same subspace as [`retract_qr`](Self::retract_qr), so of second order too, in
    /// the basis nearest to `U + D`.
    ///
    /// # Errors
    /// As [`exp`](Self::exp).
    ///
    /// ```
    /// use egg_geometry::GrassmannPoint;
    /// use ndarray::array;
    ///
    /// let x = GrassmannPoint::from_orthonormal(array![[1.0], [0.0]])?;
    /// let there = x.retract_polar(&x.tangent(array![[0.0], [0.75]])?)?;
    /// assert!((there.basis()[[1, 0]] - 0.6f64).abs() < 1e-15);
    /// # Ok::<(), egg_geometry::Error>(())
    /// ```
    pub fn retract_polar(&self, tangent: &Tangent<T>) -> Result<Self> {
        self.check_tangent(tangent)?;
        let shrink = |size: T| T::one() / T::one().hypot(size);
        Ok(TangentSvd::new(tangent)?.endpoint(self, tangent, shrink, shrink))
    }

    /// The tangent vector here that either retraction takes to `other`:
    /// `V (U^T V)^(-1) - U`, of length `(sum tan^2 theta_i)^(1/2)`.
    ///
    /// # Errors
    /// [`Error::AmbientMismatch`], [`Error::DimensionMismatch`],
    /// [`Error::TooFarApart`] if a principal angle is pi/2 to rounding,
    /// [`Error::Backend`].
    ///
    /// ```
    /// use egg_geometry::GrassmannPoint;
    /// use ndarray::array;
    ///
    /// let x = GrassmannPoint::from_orthonormal(array![[1.0], [0.0]])?;
    /// let y = GrassmannPoint::from_orthonormal(array![[0.8], [0.6]])?;
    /// assert!((x.inverse_retract(&y)?.norm() - 0.75f64).abs() < 1e-15);
    /// # Ok::<(), egg_geometry::Error>(())
    /// ```
    pub fn inverse_retract(&self, other: &Self) -> Result<Tangent<T>> {
        const OPERATION: &str = "the inverse retraction";
        self.lift(other, OPERATION, |cosine, sine| {
            if cosine.as_f64() < 1e3 * T::eps() {
                return Err(Error::TooFarApart {
                    operation: OPERATION,
                    angle: sine.atan2(cosine).as_f64(),
                });
            }
            Ok(T::one() / cosine)
        })
    }
}
