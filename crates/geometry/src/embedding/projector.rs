//! The projection embedding `P = U U^T` and its inverse.

use ndarray::{Array1, Array2, ArrayView2};

use crate::check;
use crate::embedding::flatten::{Flatten, mirror_upper};
use crate::error::{Error, Result};
use crate::linalg;
use crate::manifold::point::GrassmannPoint;
use crate::scalar::Scalar;

/// `U U^T`, exactly symmetric: not every kernel of OpenBLAS adds the products of `u_i u_j` and `u_j
/// u_i` in the same order.
pub(crate) fn on_span_of<T: Scalar>(basis: ArrayView2<'_, T>) -> Array2<T> {
    let mut projector = basis.dot(&basis.t());
    mirror_upper(&mut projector.view_mut());
    projector
}

impl<T: Scalar> GrassmannPoint<T> {
    /// The orthogonal projector `P = U U^T` (m x m): symmetric, idempotent, of
    /// trace p, and the same for every basis of the subspace.
    ///
    /// ```
    /// use egg_geometry::GrassmannPoint;
    /// use ndarray::array;
    ///
    /// let line = GrassmannPoint::from_orthonormal(array![[0.6], [0.8]])?;
    /// let p = line.projector();
    /// assert!((p[[0, 1]] - 0.48f64).abs() < 1e-15);
    /// # Ok::<(), egg_geometry::Error>(())
    /// ```
    pub fn projector(&self) -> Array2<T> {
        linalg::init_backend();
        on_span_of(self.basis().view())
    }

    /// The projector as a vector of length `m (m + 1) / 2`; see [`Flatten`].
    ///
    /// ```
    /// use egg_geometry::{Flatten, GrassmannPoint};
    /// use ndarray::array;
    ///
    /// let line = GrassmannPoint::from_orthonormal(array![[1.0], [0.0]])?;
    /// assert_eq!(line.embed(Flatten::Isometric), array![1.0, 0.0, 0.0]);
    /// # Ok::<(), egg_geometry::Error>(())
    /// ```
    pub fn embed(&self, flatten: Flatten) -> Array1<T> {
        let mut flat = vec![T::zero(); Flatten::length(self.ambient())];
        let written = flatten.write(self.projector().view(), &mut flat, |entry: T| entry);
        debug_assert!(written.is_ok(), "the length is right");
        Array1::from_vec(flat)
    }
}

/// The subspace nearest to a symmetric matrix, and its distance.
///
/// ```
/// use egg_geometry::nearest_point;
/// use ndarray::array;
///
/// let nearest = nearest_point(array![[2.0, 0.0], [0.0, 0.5]].view(), 1)?;
/// assert!((nearest.gap - 1.5f64).abs() < 1e-15);
/// # Ok::<(), egg_geometry::Error>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct NearestPoint<T> {
    /// The subspace of the p largest eigenvalues.
    pub point: GrassmannPoint<T>,
    /// `||A - P||_F`.
    pub distance: T,
    /// `lambda_p - lambda_{p+1}` (infinite for p = m). Where it is 0 the
    /// nearest point is not unique and `point` is one of them.
    pub gap: T,
}

/// The point of Gr(p, m) whose projector is nearest to the symmetric matrix `A`
/// (m x m) in Frobenius norm: the span of the eigenvectors of the p largest
/// eigenvalues. On projectors it is the inverse of the projection embedding.
///
/// # Errors
/// [`Error::DimensionOutOfRange`], [`Error::Empty`], [`Error::Shape`],
/// [`Error::NonFinite`], [`Error::NotSymmetric`], [`Error::Backend`].
///
/// ```
/// use egg_geometry::{Distance, GrassmannPoint, distance, nearest_point};
/// use ndarray::array;
///
/// let line = GrassmannPoint::from_orthonormal(array![[0.6], [0.8]])?;
/// let noisy = line.projector() + array![[0.01, 0.0], [0.0, -0.02]];
/// let nearest = nearest_point(noisy.view(), 1)?;
/// assert!(distance(&line, &nearest.point, Distance::Geodesic)? < 0.02);
/// # Ok::<(), egg_geometry::Error>(())
/// ```
pub fn nearest_point<T: Scalar>(matrix: ArrayView2<'_, T>, dimension: usize) -> Result<NearestPoint<T>> {
    check::symmetric("matrix", &matrix)?;
    let ambient = matrix.nrows();
    if dimension == 0 || dimension > ambient {
        return Err(Error::DimensionOutOfRange { dimension, ambient });
    }
    let (values, vectors) = T::eigh(matrix)?;
    let first = ambient - dimension;
    let distance = values
        .iter()
        .enumerate()
        .map(|(index, value)| if index < first { *value } else { *value - T::one() })
        .fold(T::zero(), T::hypot);
    Ok(NearestPoint {
        point: GrassmannPoint::leading(&vectors, dimension),
        distance,
        gap: if first == 0 {
            T::infinity()
        } else {
            values[first] - values[first - 1]
        },
    })
}

/// The same from a flattened matrix, as a model or a file holds it.
///
/// # Errors
/// As [`nearest_point`], and [`Error::Length`] unless the length is
/// `m (m + 1) / 2`.
///
/// ```
/// use egg_geometry::{Flatten, nearest_point_to_flat};
/// use ndarray::array;
///
/// let nearest = nearest_point_to_flat(array![0.9, 0.0, 0.1].view(), Flatten::Upper, 1)?;
/// assert_eq!(nearest.point.basis().mapv(f64::abs), array![[1.0], [0.0]]);
/// # Ok::<(), egg_geometry::Error>(())
/// ```
pub fn nearest_point_to_flat<T: Scalar>(
    flat: ndarray::ArrayView1<'_, T>,
    flatten: Flatten,
    dimension: usize,
) -> Result<NearestPoint<T>> {
    nearest_point(flatten.unflatten(flat)?.view(), dimension)
}
