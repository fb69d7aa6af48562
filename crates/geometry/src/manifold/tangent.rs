//! Tangent vectors.
//!
//! The tangent space of Gr(p, m) at `span(U)` is represented by its horizontal
//! lift: the m x p matrices `D` with `U^T D = 0`, with the inner product
//! `<D_1, D_2> = tr(D_1^T D_2)`.

use ndarray::{Array2, ArrayView2};

use crate::check;
use crate::error::{Error, Result};
use crate::linalg;
use crate::manifold::point::GrassmannPoint;
use crate::scalar::{Scalar, max_abs};

/// A tangent vector `D` (m x p) at some point, `U^T D = 0`.
///
/// It belongs to the point (and the basis) it was made at. Operations check
/// that.
///
/// ```
/// use egg_geometry::GrassmannPoint;
/// use ndarray::array;
///
/// let x = GrassmannPoint::from_orthonormal(array![[1.0], [0.0]])?;
/// let up = x.project_to_tangent(array![[5.0], [3.0]].view())?;
/// assert_eq!(up.matrix(), array![[0.0], [3.0]]);
/// assert_eq!(up.norm(), 3.0f64);
/// # Ok::<(), egg_geometry::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Tangent<T> {
    matrix: Array2<T>,
}

impl<T: Scalar> Tangent<T> {
    /// A matrix this crate has computed and knows to be horizontal.
    pub(crate) fn from_computed(matrix: Array2<T>) -> Self {
        Self { matrix }
    }

    /// The m x p matrix.
    ///
    /// ```
    /// # use egg_geometry::GrassmannPoint;
    /// let x = GrassmannPoint::from_orthonormal(ndarray::array![[1.0], [0.0]])?;
    /// assert_eq!(x.tangent(ndarray::array![[0.0], [2.0]])?.matrix()[[1, 0]], 2.0);
    /// # Ok::<(), egg_geometry::Error>(())
    /// ```
    pub fn matrix(&self) -> ArrayView2<'_, T> {
        self.matrix.view()
    }

    /// Returns the matrix, consuming the tangent vector.
    ///
    /// ```
    /// # use egg_geometry::GrassmannPoint;
    /// let x = GrassmannPoint::from_orthonormal(ndarray::array![[1.0], [0.0]])?;
    /// assert_eq!(x.tangent(ndarray::array![[0.0], [2.0]])?.into_matrix()[[1, 0]], 2.0);
    /// # Ok::<(), egg_geometry::Error>(())
    /// ```
    pub fn into_matrix(self) -> Array2<T> {
        self.matrix
    }

    /// The length `||D||_F`; of a logarithm, the geodesic distance.
    ///
    /// ```
    /// # use egg_geometry::GrassmannPoint;
    /// let x = GrassmannPoint::from_orthonormal(ndarray::array![[1.0], [0.0]])?;
    /// assert_eq!(x.tangent(ndarray::array![[0.0], [-2.0]])?.norm(), 2.0);
    /// # Ok::<(), egg_geometry::Error>(())
    /// ```
    pub fn norm(&self) -> T {
        self.matrix.iter().map(|entry| *entry * *entry).sum::<T>().sqrt()
    }

    /// The inner product `tr(D_1^T D_2)` of two tangent vectors at one point.
    ///
    /// # Errors
    /// [`Error::Shape`] if they differ in shape.
    ///
    /// ```
    /// # use egg_geometry::GrassmannPoint;
    /// let x = GrassmannPoint::from_orthonormal(ndarray::array![[1.0], [0.0]])?;
    /// let d = x.tangent(ndarray::array![[0.0], [2.0]])?;
    /// assert_eq!(d.inner(&d)?, 4.0);
    /// # Ok::<(), egg_geometry::Error>(())
    /// ```
    pub fn inner(&self, other: &Self) -> Result<T> {
        check::shape("tangent vector", &other.matrix.view(), self.matrix.dim())?;
        Ok(self.matrix.iter().zip(&other.matrix).map(|(a, b)| *a * *b).sum())
    }

    /// `t D`.
    ///
    /// ```
    /// # use egg_geometry::GrassmannPoint;
    /// let x = GrassmannPoint::from_orthonormal(ndarray::array![[1.0], [0.0]])?;
    /// let d = x.tangent(ndarray::array![[0.0], [2.0]])?;
    /// assert_eq!(d.scaled(0.5).norm(), 1.0);
    /// # Ok::<(), egg_geometry::Error>(())
    /// ```
    #[must_use]
    pub fn scaled(&self, factor: T) -> Self {
        Self {
            matrix: self.matrix.mapv(|entry| entry * factor),
        }
    }
}

impl<T: Scalar> GrassmannPoint<T> {
    /// The orthogonal projection `Z - U U^T Z` of any m x p matrix onto the
    /// tangent space here: the Riemannian gradient of a Euclidean one.
    ///
    /// # Errors
    /// [`Error::Shape`], [`Error::NonFinite`].
    ///
    /// ```
    /// # use egg_geometry::GrassmannPoint;
    /// let x = GrassmannPoint::from_orthonormal(ndarray::array![[1.0], [0.0]])?;
    /// let d = x.project_to_tangent(ndarray::array![[7.0], [2.0]].view())?;
    /// assert_eq!(d.matrix(), ndarray::array![[0.0], [2.0]]);
    /// # Ok::<(), egg_geometry::Error>(())
    /// ```
    pub fn project_to_tangent(&self, matrix: ArrayView2<'_, T>) -> Result<Tangent<T>> {
        check::shape("matrix", &matrix, self.basis().dim())?;
        check::finite("matrix", &matrix)?;
        linalg::init_backend();
        let mut horizontal = matrix.to_owned();
        // Twice is enough: the second pass removes what rounding left of a
        // matrix that lies almost wholly along U.
        for _ in 0..2 {
            let along = self.basis().t().dot(&horizontal);
            ndarray::linalg::general_mat_mul(-T::one(), &self.basis(), &along, T::one(), &mut horizontal);
        }
        // Entries near the largest number overflow in the products.
        check::finite("projected matrix", &horizontal.view())?;
        Ok(Tangent::from_computed(horizontal))
    }

    /// A matrix that is a tangent vector here already, checked.
    ///
    /// # Errors
    /// [`Error::Shape`], [`Error::NonFinite`], [`Error::NotTangent`] if
    /// `max |U^T D|` exceeds `16 eps (m + 16) max(1, max |D|)`.
    ///
    /// ```
    /// # use egg_geometry::{Error, GrassmannPoint};
    /// let x = GrassmannPoint::from_orthonormal(ndarray::array![[1.0], [0.0]])?;
    /// assert!(x.tangent(ndarray::array![[0.0], [2.0]]).is_ok());
    /// assert!(matches!(x.tangent(ndarray::array![[1.0], [2.0]]), Err(Error::NotTangent { .. })));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn tangent(&self, matrix: Array2<T>) -> Result<Tangent<T>> {
        check::shape("tangent vector", &matrix.view(), self.basis().dim())?;
        let tangent = Tangent::from_computed(matrix);
        self.check_tangent(&tangent)?;
        Ok(tangent)
    }

    /// The dimension `p (m - p)` of the manifold.
    ///
    /// ```
    /// # use egg_geometry::GrassmannPoint;
    /// let line = GrassmannPoint::from_orthonormal(ndarray::array![[1.0], [0.0], [0.0]])?;
    /// assert_eq!(line.manifold_dimension(), 2);
    /// # Ok::<(), egg_geometry::Error>(())
    /// ```
    pub fn manifold_dimension(&self) -> usize {
        self.dimension() * (self.ambient() - self.dimension())
    }

    /// A tangent vector belongs to this point.
    pub(crate) fn check_tangent(&self, tangent: &Tangent<T>) -> Result<()> {
        check::shape("tangent vector", &tangent.matrix(), self.basis().dim())?;
        // Scaling by a NaN, an infinity or too large a number makes one that isn't.
        check::finite("tangent vector", &tangent.matrix())?;
        linalg::init_backend();
        let size = max_abs(&tangent.matrix()).as_f64().max(1.0);
        let tolerance = 16.0 * T::eps() * (self.ambient() as f64 + 16.0) * size;
        let deviation = max_abs(&self.basis().t().dot(&tangent.matrix).view()).as_f64();
        if deviation > tolerance {
            return Err(Error::NotTangent { deviation, tolerance });
        }
        Ok(())
    }
}
