//! A point of the Grassmann manifold Gr(p, m): a p-dimensional subspace of R^m.

use ndarray::{Array2, ArrayView2};
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};

use crate::check;
use crate::embedding::rank::RankRule;
use crate::embedding::rectify::rectify;
use crate::error::{Error, Result};
use crate::linalg;
use crate::scalar::Scalar;

/// A p-dimensional subspace of R^m, held as an orthonormal basis `U` (m x p).
///
/// The basis is checked when the point is made, so that nothing later has to:
/// it is finite, 1 <= p <= m, and `U^T U = I` up to rounding. Two bases of the
/// same subspace make the same point; compare points by a distance, not by
/// their entries.
///
/// ```
/// use egg_geometry::GrassmannPoint;
/// use ndarray::array;
///
/// let plane = GrassmannPoint::from_spanning(array![[1.0, 1.0], [0.0, 2.0], [0.0, 0.0]].view())?;
/// assert_eq!((plane.ambient(), plane.dimension()), (3, 2));
/// # Ok::<(), egg_geometry::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct GrassmannPoint<T> {
    basis: Array2<T>,
}

/// The largest accepted entry of `|U^T U - I|`.
fn orthonormality_tolerance<T: Scalar>(ambient: usize) -> f64 {
    16.0 * T::eps() * (ambient as f64 + 16.0)
}

impl<T: Scalar> GrassmannPoint<T> {
    /// From an orthonormal basis `U` (m x p), as it is.
    ///
    /// # Errors
    /// [`Error::Empty`], [`Error::DimensionOutOfRange`] for p > m,
    /// [`Error::NonFinite`], and [`Error::NotOrthonormal`] if an entry of
    /// `|U^T U - I|` exceeds `16 eps (m + 16)`.
    ///
    /// ```
    /// use egg_geometry::GrassmannPoint;
    /// use ndarray::array;
    ///
    /// let line = GrassmannPoint::from_orthonormal(array![[0.6], [0.8]])?;
    /// assert_eq!(line.dimension(), 1);
    /// # Ok::<(), egg_geometry::Error>(())
    /// ```
    pub fn from_orthonormal(basis: Array2<T>) -> Result<Self> {
        check_basis(&basis.view())?;
        linalg::init_backend();
        let tolerance = orthonormality_tolerance::<T>(basis.nrows());
        let gram = basis.t().dot(&basis);
        let deviation = gram
            .indexed_iter()
            .map(|((row, column), entry)| (entry.as_f64() - f64::from(u8::from(row == column))).abs())
            .fold(0.0, f64::max);
        if deviation > tolerance {
            return Err(Error::NotOrthonormal { deviation, tolerance });
        }
        Ok(Self { basis })
    }

    /// From any m x p matrix of full column rank, by QR. Columns may differ in
    /// scale by any factor.
    ///
    /// # Errors
    /// [`Error::Empty`], [`Error::DimensionOutOfRange`] for p > m,
    /// [`Error::NonFinite`], [`Error::RankDeficient`].
    ///
    /// ```
    /// use egg_geometry::{Error, GrassmannPoint};
    /// use ndarray::array;
    ///
    /// assert!(GrassmannPoint::from_spanning(array![[1e30, 1.0], [1e30, 0.0]].view()).is_ok());
    /// let parallel = GrassmannPoint::from_spanning(array![[1.0, 2.0], [1.0, 2.0]].view());
    /// assert!(matches!(parallel, Err(Error::RankDeficient { rank: 1, columns: 2 })));
    /// ```
    pub fn from_spanning(matrix: ArrayView2<'_, T>) -> Result<Self> {
        check_basis(&matrix)?;
        let columns = matrix.ncols();
        let mut scaled = matrix.to_owned();
        for mut column in scaled.columns_mut() {
            let largest = column
                .iter()
                .fold(T::zero(), |largest, entry| largest.max(entry.abs()));
            if largest > T::zero() {
                column.mapv_inplace(|entry| entry / largest);
            }
        }
        let (basis, r) = T::qr(scaled.view())?;
        let values = T::singular_values(r.view())?;
        let noise = T::epsilon() * T::rounded(matrix.nrows() as f64) * values[0];
        let rank = values.iter().take_while(|value| **value > noise).count();
        if rank < columns {
            return Err(Error::RankDeficient { rank, columns });
        }
        Ok(Self { basis })
    }

    /// From data `H` (n x m, one sample per row): the span of the leading right
    /// singular vectors, as many as the rule keeps. Short for
    /// [`rectify`](crate::rectify)` + `[`point`](crate::Rectified::point).
    ///
    /// # Errors
    /// As [`rectify`](crate::rectify), and [`Error::ZeroSubspace`] if `H` is zero.
    ///
    /// ```
    /// use egg_geometry::{GrassmannPoint, RankRule};
    /// use ndarray::array;
    ///
    /// let h = array![[1.0, 0.0, 0.0], [2.0, 0.01, 0.0], [3.0, 0.0, 0.0]];
    /// let line = GrassmannPoint::from_data(h.view(), RankRule::Energy(0.9))?;
    /// assert_eq!((line.ambient(), line.dimension()), (3, 1));
    /// # Ok::<(), egg_geometry::Error>(())
    /// ```
    pub fn from_data(h: ArrayView2<'_, T>, rule: RankRule) -> Result<Self> {
        rectify(h, rule)?.point()
    }

    /// From an orthogonal projector `P` (m x m): symmetric, with eigenvalues 0
    /// and 1 only.
    ///
    /// # Errors
    /// [`Error::Empty`], [`Error::Shape`], [`Error::NonFinite`],
    /// [`Error::NotSymmetric`], [`Error::NotProjector`] if an eigenvalue is
    /// farther than `sqrt(eps)` from 0 and 1, [`Error::ZeroSubspace`] for `P = 0`.
    ///
    /// ```
    /// use egg_geometry::GrassmannPoint;
    /// use ndarray::array;
    ///
    /// let line = GrassmannPoint::from_projector(array![[0.5, 0.5], [0.5, 0.5]].view())?;
    /// assert!((line.projector()[[0, 1]] - 0.5f64).abs() < 1e-15);
    /// # Ok::<(), egg_geometry::Error>(())
    /// ```
    pub fn from_projector(projector: ArrayView2<'_, T>) -> Result<Self> {
        check::symmetric("projector", &projector)?;
        let (values, vectors) = T::eigh(projector)?;
        let tolerance = T::eps().sqrt();
        let off = |value: &T| value.as_f64().abs().min((value.as_f64() - 1.0).abs());
        if let Some(worst) = values
            .iter()
            .max_by(|a, b| off(a).total_cmp(&off(b)))
            .filter(|value| off(value) > tolerance)
        {
            return Err(Error::NotProjector {
                eigenvalue: worst.as_f64(),
                tolerance,
            });
        }
        let half = T::rounded(0.5);
        let dimension = values.iter().filter(|value| **value > half).count();
        if dimension == 0 {
            return Err(Error::ZeroSubspace);
        }
        Ok(Self::leading(&vectors, dimension))
    }

    /// A random point, uniform on Gr(p, m): the span of p Gaussian vectors.
    ///
    /// # Errors
    /// [`Error::DimensionOutOfRange`] unless 1 <= p <= m; [`Error::Backend`].
    ///
    /// ```
    /// use egg_geometry::GrassmannPoint;
    /// use rand::SeedableRng;
    /// use rand_chacha::ChaCha8Rng;
    ///
    /// let point = GrassmannPoint::<f64>::random(5, 2, &mut ChaCha8Rng::seed_from_u64(7))?;
    /// assert_eq!((point.ambient(), point.dimension()), (5, 2));
    /// # Ok::<(), egg_geometry::Error>(())
    /// ```
    pub fn random<R: Rng + ?Sized>(ambient: usize, dimension: usize, rng: &mut R) -> Result<Self> {
        if dimension == 0 || dimension > ambient {
            return Err(Error::DimensionOutOfRange { dimension, ambient });
        }
        let gaussian = Array2::from_shape_simple_fn((ambient, dimension), || {
            let value: f64 = StandardNormal.sample(rng);
            T::rounded(value)
        });
        // Gaussian vectors are independent; no need to see whether they are.
        let (basis, _) = T::qr(gaussian.view())?;
        Ok(Self { basis })
    }

    /// A basis this crate has computed and knows to be orthonormal.
    pub(crate) fn from_computed(basis: Array2<T>) -> Self {
        Self { basis }
    }

    /// The span of the last `dimension` rows of ascending eigenvectors.
    pub(crate) fn leading(ascending: &Array2<T>, dimension: usize) -> Self {
        let first = ascending.nrows() - dimension;
        // Largest eigenvalue first, in ordinary row-major memory.
        let basis = ascending.slice(ndarray::s![first..;-1, ..]);
        Self {
            basis: basis.t().as_standard_layout().into_owned(),
        }
    }

    /// The orthonormal basis `U` (m x p).
    ///
    /// ```
    /// # use egg_geometry::GrassmannPoint;
    /// let line = GrassmannPoint::from_orthonormal(ndarray::array![[0.0], [1.0]])?;
    /// assert_eq!(line.basis(), ndarray::array![[0.0], [1.0]]);
    /// # Ok::<(), egg_geometry::Error>(())
    /// ```
    pub fn basis(&self) -> ArrayView2<'_, T> {
        self.basis.view()
    }

    /// Returns the basis, consuming the point.
    ///
    /// ```
    /// # use egg_geometry::GrassmannPoint;
    /// let line = GrassmannPoint::from_orthonormal(ndarray::array![[0.0], [1.0]])?;
    /// assert_eq!(line.into_basis(), ndarray::array![[0.0], [1.0]]);
    /// # Ok::<(), egg_geometry::Error>(())
    /// ```
    pub fn into_basis(self) -> Array2<T> {
        self.basis
    }

    /// The dimension m of the ambient space.
    ///
    /// ```
    /// # use egg_geometry::GrassmannPoint;
    /// let line = GrassmannPoint::from_orthonormal(ndarray::array![[0.0], [1.0]])?;
    /// assert_eq!(line.ambient(), 2);
    /// # Ok::<(), egg_geometry::Error>(())
    /// ```
    pub fn ambient(&self) -> usize {
        self.basis.nrows()
    }

    /// The dimension p of the subspace.
    ///
    /// ```
    /// # use egg_geometry::GrassmannPoint;
    /// let line = GrassmannPoint::from_orthonormal(ndarray::array![[0.0], [1.0]])?;
    /// assert_eq!(line.dimension(), 1);
    /// # Ok::<(), egg_geometry::Error>(())
    /// ```
    pub fn dimension(&self) -> usize {
        self.basis.ncols()
    }

    /// The orthogonal complement, a point of Gr(m - p, m).
    ///
    /// # Errors
    /// [`Error::ZeroSubspace`] if p = m, and [`Error::Backend`].
    ///
    /// ```
    /// # use egg_geometry::{GrassmannPoint, Distance, distance};
    /// let x = GrassmannPoint::from_orthonormal(ndarray::array![[1.0], [0.0], [0.0]])?;
    /// let yz = x.complement()?;
    /// assert_eq!(yz.dimension(), 2);
    /// assert!((distance(&x, &yz, Distance::Asimov)? - std::f64::consts::FRAC_PI_2).abs() < 1e-15);
    /// # Ok::<(), egg_geometry::Error>(())
    /// ```
    pub fn complement(&self) -> Result<Self> {
        let dimension = self.ambient() - self.dimension();
        if dimension == 0 {
            return Err(Error::ZeroSubspace);
        }
        let remainder = Array2::<T>::eye(self.ambient()) - self.projector();
        let (_, vectors) = T::eigh(remainder.view())?;
        Ok(Self::leading(&vectors, dimension))
    }

    /// Both points live in the same R^m.
    pub(crate) fn check_ambient(&self, other: &Self) -> Result<()> {
        if self.ambient() == other.ambient() {
            return Ok(());
        }
        Err(Error::AmbientMismatch {
            left: self.ambient(),
            right: other.ambient(),
        })
    }

    /// Both points live on the same Gr(p, m).
    pub(crate) fn check_same_manifold(
        &self,
        other: &Self,
        operation: &'static str,
        remedy: &'static str,
    ) -> Result<()> {
        self.check_ambient(other)?;
        if self.dimension() == other.dimension() {
            return Ok(());
        }
        Err(Error::DimensionMismatch {
            operation,
            left: self.dimension(),
            right: other.dimension(),
            remedy,
        })
    }
}

/// Finite, not empty, not wider than high.
fn check_basis<T: Scalar>(basis: &ArrayView2<'_, T>) -> Result<()> {
    let (ambient, dimension) = basis.dim();
    if ambient > 0 && (dimension == 0 || dimension > ambient) {
        return Err(Error::DimensionOutOfRange { dimension, ambient });
    }
    check::matrix("basis", basis)
}

/// Every point of a list in the same R^m.
pub(crate) fn check_common_ambient<T: Scalar>(points: &[GrassmannPoint<T>]) -> Result<()> {
    let Some((first, rest)) = points.split_first() else {
        return Ok(());
    };
    for (index, point) in rest.iter().enumerate() {
        first.check_ambient(point).map_err(|error| error.at(index + 1))?;
    }
    Ok(())
}

/// Every point of a list on the same Gr(p, m), and at least one of them.
pub(crate) fn check_common_manifold<T: Scalar>(
    points: &[GrassmannPoint<T>],
    operation: &'static str,
    remedy: &'static str,
) -> Result<()> {
    check::at_least("points", points.len(), 1)?;
    for (index, point) in points.iter().enumerate().skip(1) {
        points[0]
            .check_same_manifold(point, operation, remedy)
            .map_err(|error| error.at(index))?;
    }
    Ok(())
}
