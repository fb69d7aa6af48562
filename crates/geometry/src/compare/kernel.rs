//! Positive definite kernels between subspaces.

use ndarray::Array2;

use crate::compare::pairwise::{from_squared_overlaps, symmetric_matrix};
use crate::error::Result;
use crate::linalg;
use crate::manifold::point::{GrassmannPoint, check_common_ambient, check_common_manifold};
use crate::scalar::Scalar;

/// What takes different dimensions.
const ANY_DIMENSIONS: &str = "Kernel::Projection takes any";

/// A kernel on the Grassmann manifold.
///
/// | variant | formula | dimensions |
/// |---|---|---|
/// | `Projection` | `\|\|U_1^T U_2\|\|_F^2 = tr(P_1 P_2) = sum cos^2 theta_i` | any |
/// | `BinetCauchy` | `det(U_1^T U_2)^2 = prod cos^2 theta_i` | equal |
///
/// Both are positive definite: they are inner products, of the projectors and
/// of the Pluecker coordinates (with their own tensor square).
///
/// ```
/// use egg_geometry::{GrassmannPoint, Kernel};
/// use ndarray::array;
///
/// let a = GrassmannPoint::from_orthonormal(array![[1.0], [0.0]])?;
/// let b = GrassmannPoint::from_orthonormal(array![[0.6], [0.8]])?;
/// assert!((Kernel::Projection.value(&a, &b)? - 0.36f64).abs() < 1e-15);
/// # Ok::<(), egg_geometry::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Kernel {
    /// The inner product of the projectors.
    #[default]
    Projection,
    /// The squared inner product of the Pluecker coordinates.
    BinetCauchy,
}

impl Kernel {
    /// The kernel of two subspaces.
    ///
    /// # Errors
    /// [`Error::AmbientMismatch`](crate::Error::AmbientMismatch); for
    /// `BinetCauchy` also
    /// [`Error::DimensionMismatch`](crate::Error::DimensionMismatch).
    ///
    /// ```
    /// use egg_geometry::{GrassmannPoint, Kernel};
    /// use ndarray::array;
    ///
    /// let x = GrassmannPoint::from_orthonormal(array![[1.0], [0.0]])?;
    /// assert_eq!(Kernel::BinetCauchy.value(&x, &x)?, 1.0f64);
    /// # Ok::<(), egg_geometry::Error>(())
    /// ```
    pub fn value<T: Scalar>(self, a: &GrassmannPoint<T>, b: &GrassmannPoint<T>) -> Result<T> {
        linalg::init_backend();
        match self {
            Self::Projection => {
                a.check_ambient(b)?;
                let overlap = a.basis().t().dot(&b.basis());
                Ok(overlap.iter().map(|entry| *entry * *entry).sum())
            }
            Self::BinetCauchy => {
                a.check_same_manifold(b, "the Binet-Cauchy kernel", ANY_DIMENSIONS)?;
                // |det| is the product of the diagonal of R.
                let (_, r) = T::qr(a.basis().t().dot(&b.basis()).view())?;
                Ok(r.diag()
                    .iter()
                    .fold(T::one(), |product, entry| product * *entry * *entry))
            }
        }
    }

    /// The symmetric N x N Gram matrix of a set of subspaces, in parallel on
    /// rayon.
    ///
    /// # Errors
    /// As [`Kernel::value`], as [`Error::InBatch`](crate::Error::InBatch).
    ///
    /// ```
    /// use egg_geometry::{GrassmannPoint, Kernel};
    /// use ndarray::array;
    ///
    /// let x = GrassmannPoint::from_orthonormal(array![[1.0], [0.0]])?;
    /// let y = GrassmannPoint::from_orthonormal(array![[0.0], [1.0]])?;
    /// assert_eq!(Kernel::Projection.gram(&[x, y])?, array![[1.0, 0.0], [0.0, 1.0]]);
    /// # Ok::<(), egg_geometry::Error>(())
    /// ```
    pub fn gram<T: Scalar>(self, points: &[GrassmannPoint<T>]) -> Result<Array2<T>> {
        match self {
            Self::Projection => {
                check_common_ambient(points)?;
                Ok(from_squared_overlaps(points, |_, _, overlap| overlap))
            }
            Self::BinetCauchy => {
                if !points.is_empty() {
                    check_common_manifold(points, "the Binet-Cauchy kernel", ANY_DIMENSIONS)?;
                }
                symmetric_matrix(points.len(), |i, j| self.value(&points[i], &points[j]))
            }
        }
    }
}
