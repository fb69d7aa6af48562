//! Distances between subspaces, as functions of their principal angles.

use ndarray::Array1;

use crate::compare::angles::{by_dimension, principal_angles, residual};
use crate::error::Result;
use crate::linalg;
use crate::manifold::point::GrassmannPoint;
use crate::scalar::Scalar;

/// A distance on the Grassmann manifold, a function of the principal angles
/// `theta_1 <= ... <= theta_q`.
///
/// | variant | formula | metric |
/// |---|---|---|
/// | `Geodesic` | `(sum theta_i^2)^(1/2)` | yes |
/// | `Projection` | `(sum sin^2 theta_i)^(1/2)` = `\|\|P_1 - P_2\|\|_F / sqrt(2)` | yes |
/// | `ProjectionFull` | `(2 sum sin^2 theta_i)^(1/2)` = `\|\|P_1 - P_2\|\|_F` | yes |
/// | `Procrustes` | `2 (sum sin^2(theta_i / 2))^(1/2)` | yes |
/// | `Spectral` | `2 sin(theta_q / 2)` | yes |
/// | `Gap` | `sin theta_q` = `\|\|P_1 - P_2\|\|_2` | yes |
/// | `Asimov` | `theta_q` | yes |
/// | `FubiniStudy` | `arccos(prod cos theta_i)` | yes |
/// | `BinetCauchy` | `(1 - prod cos^2 theta_i)^(1/2)` | yes |
/// | `Martin` | `(-2 sum log cos theta_i)^(1/2)`, infinite at pi/2 | no |
///
/// The formulas with projector norms hold for equal dimensions. For different
/// ones an [`Extension`] says what the missing angles are; with
/// [`Extension::Projector`] those of `Projection` and `ProjectionFull` hold for
/// all, and [`projector_distance`] is the latter.
///
/// ```
/// use egg_geometry::Distance;
/// use ndarray::array;
///
/// let angles = array![0.3, 0.4];
/// assert!((Distance::Geodesic.of_angles(&angles) - 0.5f64).abs() < 1e-15);
/// assert_eq!(Distance::Asimov.of_angles(&angles), 0.4);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Distance {
    /// Arc length of the shortest geodesic.
    #[default]
    Geodesic,
    /// Frobenius norm of the difference of projectors over `sqrt(2)`; the
    /// paper's projection distance, Ye and Lim's chordal.
    Projection,
    /// The same without the division.
    ProjectionFull,
    /// Chordal Frobenius norm: the distance of the best aligned bases.
    Procrustes,
    /// Chordal 2-norm.
    Spectral,
    /// 2-norm of the difference of projectors.
    Gap,
    /// The largest angle.
    Asimov,
    /// The angle between the Pluecker coordinates.
    FubiniStudy,
    /// The sine of that angle.
    BinetCauchy,
    /// From the theory of linear systems; not a metric.
    Martin,
}

impl Distance {
    /// Every distance, in the order of the table.
    ///
    /// ```
    /// assert_eq!(egg_geometry::Distance::ALL.len(), 10);
    /// ```
    pub const ALL: &'static [Self] = &[
        Self::Geodesic,
        Self::Projection,
        Self::ProjectionFull,
        Self::Procrustes,
        Self::Spectral,
        Self::Gap,
        Self::Asimov,
        Self::FubiniStudy,
        Self::BinetCauchy,
        Self::Martin,
    ];

    /// Its name in lower case, as reports write it.
    ///
    /// ```
    /// assert_eq!(egg_geometry::Distance::FubiniStudy.name(), "fubini-study");
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            Self::Geodesic => "geodesic",
            Self::Projection => "projection",
            Self::ProjectionFull => "projection-full",
            Self::Procrustes => "procrustes",
            Self::Spectral => "spectral",
            Self::Gap => "gap",
            Self::Asimov => "asimov",
            Self::FubiniStudy => "fubini-study",
            Self::BinetCauchy => "binet-cauchy",
            Self::Martin => "martin",
        }
    }

    /// Whether it obeys the triangle inequality. All but `Martin` do.
    ///
    /// ```
    /// assert!(!egg_geometry::Distance::Martin.is_metric());
    /// ```
    pub fn is_metric(self) -> bool {
        self != Self::Martin
    }

    /// The distance for these principal angles (in `[0, pi/2]`, in any order); 0
    /// for none, NaN if one is NaN.
    ///
    /// ```
    /// use egg_geometry::Distance;
    /// use ndarray::array;
    ///
    /// // 1 - prod cos^2 in floating point would give 0 here.
    /// let tiny = Distance::BinetCauchy.of_angles(&array![1e-12f64]);
    /// assert!((tiny - 1e-12).abs() < 1e-26);
    /// let right = std::f64::consts::FRAC_PI_2;
    /// assert_eq!(Distance::Martin.of_angles(&array![right]), f64::INFINITY);
    /// ```
    pub fn of_angles<T: Scalar>(self, angles: &Array1<T>) -> T {
        if angles.iter().any(|angle| angle.is_nan()) {
            return T::nan();
        }
        let two = T::rounded(2.0);
        let largest = angles.iter().copied().fold(T::zero(), T::max);
        let root_of_squares = |value: fn(T) -> T| {
            let squares = angles.iter().map(|angle| value(*angle) * value(*angle));
            squares.fold(T::zero(), |sum, square| sum + square).sqrt()
        };
        match self {
            Self::Geodesic => root_of_squares(|angle| angle),
            Self::Projection => root_of_squares(T::sin),
            Self::ProjectionFull => two.sqrt() * root_of_squares(T::sin),
            Self::Procrustes => two * root_of_squares(|angle| (angle / (T::one() + T::one())).sin()),
            Self::Spectral => two * (largest / two).sin(),
            Self::Gap => largest.sin(),
            Self::Asimov => largest,
            Self::FubiniStudy => {
                let log = log_of_product(angles);
                (-(two * log).exp_m1()).max(T::zero()).sqrt().atan2(log.exp())
            }
            Self::BinetCauchy => (-(two * log_of_product(angles)).exp_m1()).max(T::zero()).sqrt(),
            Self::Martin => (-two * log_of_product(angles)).max(T::zero()).sqrt(),
        }
    }
}

/// `log prod cos theta_i = sum log(1 - sin^2 theta_i) / 2`, which keeps every
/// digit of small angles; minus infinity at pi/2.
fn log_of_product<T: Scalar>(angles: &Array1<T>) -> T {
    let logs = angles.iter().map(|angle| {
        if *angle >= T::FRAC_PI_2() {
            return T::neg_infinity();
        }
        if *angle > T::FRAC_PI_4() {
            return angle.cos().ln();
        }
        let sine = angle.sin();
        (-sine * sine).ln_1p() / T::rounded(2.0)
    });
    logs.fold(T::zero(), |sum, log| sum + log)
}

/// What a distance does with subspaces of different dimension, where only
/// `min(p_1, p_2)` principal angles exist.
///
/// ```
/// use egg_geometry::{Distance, Extension, GrassmannPoint, extended_distance};
/// use ndarray::array;
///
/// let line = GrassmannPoint::from_orthonormal(array![[1.0], [0.0], [0.0]])?;
/// let plane = GrassmannPoint::from_orthonormal(array![[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])?;
/// let d = |extension| extended_distance(&line, &plane, Distance::Geodesic, extension);
/// assert_eq!(d(Extension::Containment)?, 0.0f64);
/// assert_eq!(d(Extension::YeLim)?, std::f64::consts::FRAC_PI_2);
/// let full = extended_distance(&line, &plane, Distance::ProjectionFull, Extension::Projector)?;
/// assert!((full - 1.0).abs() < 1e-15);
/// # Ok::<(), egg_geometry::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Extension {
    /// Only the angles that exist: zero exactly when one subspace lies in the
    /// other. Not a metric across dimensions.
    Containment,
    /// Ye and Lim's metric: each of the `|p_1 - p_2|` missing angles counts as
    /// pi/2, so that subspaces of all dimensions live in one metric space.
    #[default]
    YeLim,
    /// The distance of the projectors, for `Projection` and `ProjectionFull`:
    /// each missing angle counts as pi/4. An angle gives `P_1 - P_2` the two
    /// eigenvalues `sin theta` and `-sin theta`, a missing one a single 1 or -1,
    /// and `2 sin^2(pi/4) = 1`. So `ProjectionFull` is `||P_1 - P_2||_F` for all
    /// dimensions, a metric: the Euclidean one of EGG's embedded graphs. For the
    /// other distances it is an angle like any other, and no metric is promised.
    Projector,
}

impl Extension {
    /// The angles with what this extension adds.
    ///
    /// ```
    /// use egg_geometry::Extension;
    /// use ndarray::array;
    ///
    /// let angles = Extension::YeLim.extend(array![0.1f64], 1);
    /// assert_eq!(angles, array![0.1, std::f64::consts::FRAC_PI_2]);
    /// ```
    pub fn extend<T: Scalar>(self, angles: Array1<T>, missing: usize) -> Array1<T> {
        let angle = match self {
            Self::Containment => return angles,
            Self::YeLim => T::FRAC_PI_2(),
            Self::Projector => T::FRAC_PI_4(),
        };
        if missing == 0 {
            return angles;
        }
        let added = std::iter::repeat_n(angle, missing);
        angles.into_iter().chain(added).collect()
    }
}

/// The distance between two subspaces of R^m; different dimensions are
/// compared by [`Extension::YeLim`].
///
/// # Errors
/// [`Error::AmbientMismatch`](crate::Error::AmbientMismatch),
/// [`Error::Backend`](crate::Error::Backend).
///
/// ```
/// use egg_geometry::{Distance, GrassmannPoint, distance};
/// use ndarray::array;
///
/// let a = GrassmannPoint::from_orthonormal(array![[1.0], [0.0]])?;
/// let b = GrassmannPoint::from_orthonormal(array![[0.6], [0.8]])?;
/// assert!((distance(&a, &b, Distance::Gap)? - 0.8f64).abs() < 1e-15);
/// # Ok::<(), egg_geometry::Error>(())
/// ```
pub fn distance<T: Scalar>(a: &GrassmannPoint<T>, b: &GrassmannPoint<T>, distance: Distance) -> Result<T> {
    extended_distance(a, b, distance, Extension::YeLim)
}

/// The distance between two subspaces of R^m under a chosen extension to
/// different dimensions.
///
/// # Errors
/// As [`distance`].
///
/// ```
/// use egg_geometry::{Distance, Extension, GrassmannPoint, extended_distance};
/// use ndarray::array;
///
/// let line = GrassmannPoint::from_orthonormal(array![[0.0], [1.0]])?;
/// let all = GrassmannPoint::from_orthonormal(array![[1.0, 0.0], [0.0, 1.0]])?;
/// assert_eq!(extended_distance(&line, &all, Distance::Projection, Extension::YeLim)?, 1.0f64);
/// # Ok::<(), egg_geometry::Error>(())
/// ```
pub fn extended_distance<T: Scalar>(
    a: &GrassmannPoint<T>,
    b: &GrassmannPoint<T>,
    distance: Distance,
    extension: Extension,
) -> Result<T> {
    let missing = a.dimension().abs_diff(b.dimension());
    let angles = extension.extend(principal_angles(a, b)?, missing);
    Ok(distance.of_angles(&angles))
}

/// `||P_1 - P_2||_F`, for any two dimensions, without forming a projector:
/// `(2 sum sin^2 theta_i + |p_1 - p_2|)^(1/2)`.
///
/// The Euclidean distance of the [`Isometric`](crate::Flatten::Isometric)
/// embeddings, and `ProjectionFull` under [`Extension::Projector`]. A missing
/// direction counts 1, not 2 as in Ye and Lim's `ProjectionFull`, nor 0 as in
/// that of containment.
///
/// # Errors
/// [`Error::AmbientMismatch`](crate::Error::AmbientMismatch).
///
/// ```
/// use egg_geometry::{GrassmannPoint, projector_distance};
/// use ndarray::array;
///
/// let line = GrassmannPoint::from_orthonormal(array![[0.0], [1.0]])?;
/// let all = GrassmannPoint::from_orthonormal(array![[1.0, 0.0], [0.0, 1.0]])?;
/// assert_eq!(projector_distance(&line, &all)?, 1.0f64);
/// # Ok::<(), egg_geometry::Error>(())
/// ```
pub fn projector_distance<T: Scalar>(a: &GrassmannPoint<T>, b: &GrassmannPoint<T>) -> Result<T> {
    a.check_ambient(b)?;
    let missing = T::rounded(a.dimension().abs_diff(b.dimension()) as f64);
    Ok((T::rounded(2.0) * sum_of_squared_sines(a, b) + missing).sqrt())
}

/// `sum sin^2 theta_i` as the squared norm of what of the smaller subspace lies
/// outside the larger: no cancellation for subspaces that are nearly equal.
pub(crate) fn sum_of_squared_sines<T: Scalar>(a: &GrassmannPoint<T>, b: &GrassmannPoint<T>) -> T {
    linalg::init_backend();
    let (larger, smaller) = by_dimension(a, b);
    let overlap = larger.basis().t().dot(&smaller.basis());
    let outside = residual(larger.basis(), smaller.basis(), overlap.view());
    outside.iter().map(|entry| *entry * *entry).sum()
}
