//! Exponential, logarithm, geodesics and parallel transport.
//!
//! With the thin SVD `D = Q diag(theta) V^T` of a tangent vector `D` at `U`:
//!
//! ```text
//! exp:        U V cos(theta) V^T + Q sin(theta) V^T
//! transport:  G + (Q (cos(theta) - 1) - U V sin(theta)) Q^T G
//! ```
//!
//! For vectors of ordinary length the SVD is not needed: writing `f(theta)` for
//! `V f(theta) V^T`, which needs only the p x p matrix `D^T D`,
//!
//! ```text
//! exp:        U cos(theta) + D sinc(theta)
//! transport:  G - U sinc(theta) D^T G + D (cos(theta) - 1) / theta^2 D^T G
//! ```
//!
//! and these functions are entire in `theta^2`, so that squaring costs an
//! absolute error of `eps theta_max^2` and small angles divide by nothing.

use ndarray::linalg::general_mat_mul;
use ndarray::{Array1, Array2, Axis, Zip};
use rayon::prelude::*;

use crate::compare::angles::residual;
use crate::error::{Error, Result};
use crate::linalg::{self, Svd};
use crate::manifold::point::GrassmannPoint;
use crate::manifold::tangent::Tangent;
use crate::scalar::Scalar;

/// The remedy for different dimensions.
const UNEQUAL_DIMENSIONS: &str = "no path joins Gr(p, m) to another Gr(q, m): rectify both with RankRule::Fixed(p), \
     or compare them by projector_distance, which takes any";

/// The injectivity radius of Gr(p, m), 0 < p < m: pi/2. Within it the
/// logarithm is unique and inverts the exponential.
///
/// ```
/// assert_eq!(egg_geometry::injectivity_radius::<f64>(), std::f64::consts::FRAC_PI_2);
/// ```
pub fn injectivity_radius<T: Scalar>() -> T {
    T::FRAC_PI_2()
}

/// Tangent vectors up to this length are decomposed by `D^T D`: the error of
/// `eps theta^2` is then no more than a few eps.
const SHORT_LENGTH: f64 = 4.0;

/// The decomposition `D = Q diag(theta) V^T` of a tangent vector.
pub(crate) struct TangentSvd<T> {
    angles: Array1<T>,
    /// `V^T`, one direction per row.
    rows: Array2<T>,
    /// `Q` (m x p), for a long vector.
    directions: Option<Array2<T>>,
}

impl<T: Scalar> TangentSvd<T> {
    /// Refuses a vector so long that rounding leaves its endpoint undetermined.
    pub(crate) fn new(tangent: &Tangent<T>) -> Result<Self> {
        let matrix = tangent.matrix();
        let length = tangent.norm().as_f64();
        if length > T::eps().sqrt().recip() {
            return Err(Error::Parameter {
                name: "length of the tangent vector",
                value: length,
                requirement: "it must be at most eps^(-1/2): 6.7e7 in f64, 2.9e3 in f32",
            });
        }
        if length > SHORT_LENGTH {
            let Svd { u, s, vt } = T::svd(matrix)?;
            return Ok(Self {
                angles: s,
                rows: vt,
                directions: Some(u),
            });
        }
        let (squares, rows) = T::eigh(matrix.t().dot(&matrix).view())?;
        Ok(Self {
            angles: squares.mapv(|square| square.max(T::zero()).sqrt()),
            rows,
            directions: None,
        })
    }

    /// `V f(theta) V^T` (p x p).
    fn function(&self, f: impl Fn(T) -> T) -> Array2<T> {
        let values = self.angles.mapv(f);
        (&self.rows.t() * &values).dot(&self.rows)
    }

    /// `U V f(theta) V^T + Q (theta g(theta)) V^T` (m x p), made orthonormal to
    /// the last digit; `f^2 + (theta g)^2 = 1`.
    pub(crate) fn endpoint(
        &self,
        base: &GrassmannPoint<T>,
        tangent: &Tangent<T>,
        f: impl Fn(T) -> T,
        g: impl Fn(T) -> T,
    ) -> GrassmannPoint<T> {
        let mut basis = base.basis().dot(&self.function(f));
        match &self.directions {
            None => general_mat_mul(
                T::one(),
                &tangent.matrix(),
                &self.function(g),
                T::one(),
                &mut basis,
            ),
            Some(directions) => {
                let reach = self.angles.mapv(|angle| angle * g(angle));
                general_mat_mul(T::one(), &(directions * &reach), &self.rows, T::one(), &mut basis);
            }
        }
        GrassmannPoint::from_computed(reorthonormalised(basis))
    }
}

/// `sin(x) / x`
fn sinc<T: Scalar>(x: T) -> T {
    if x == T::zero() { T::one() } else { x.sin() / x }
}

impl<T: Scalar> GrassmannPoint<T> {
    /// The point reached from here along the geodesic with initial velocity
    /// `D`, after time 1.
    ///
    /// Complexity: `O(m p^2)`.
    ///
    /// # Errors
    /// [`Error::Shape`], [`Error::NonFinite`], [`Error::NotTangent`] if `D`
    /// belongs to another point, [`Error::Parameter`] if it is longer than
    /// `eps^(-1/2)`, [`Error::Backend`].
    ///
    /// ```
    /// use egg_geometry::{Distance, GrassmannPoint, distance};
    /// use ndarray::array;
    ///
    /// let x = GrassmannPoint::from_orthonormal(array![[1.0], [0.0]])?;
    /// let there = x.exp(&x.tangent(array![[0.0], [0.3]])?)?;
    /// assert!((distance(&x, &there, Distance::Geodesic)? - 0.3f64).abs() < 1e-15);
    /// # Ok::<(), egg_geometry::Error>(())
    /// ```
    pub fn exp(&self, tangent: &Tangent<T>) -> Result<Self> {
        self.check_tangent(tangent)?;
        Ok(TangentSvd::new(tangent)?.endpoint(self, tangent, T::cos, sinc))
    }

    /// The tangent vector here that [`exp`](Self::exp) takes to `other`, of
    /// length the geodesic distance.
    ///
    /// Unique where every principal angle is below pi/2. At pi/2 there are
    /// several shortest geodesics, and this is one of them.
    ///
    /// Complexity: `O(m p^2)`.
    ///
    /// # Errors
    /// [`Error::AmbientMismatch`], [`Error::DimensionMismatch`],
    /// [`Error::Backend`].
    ///
    /// ```
    /// use egg_geometry::GrassmannPoint;
    /// use ndarray::array;
    ///
    /// let x = GrassmannPoint::from_orthonormal(array![[1.0], [0.0]])?;
    /// let y = GrassmannPoint::from_spanning(array![[1.0], [1.0]].view())?;
    /// let d = x.log(&y)?;
    /// assert!((d.norm() - std::f64::consts::FRAC_PI_4).abs() < 1e-15);
    /// # Ok::<(), egg_geometry::Error>(())
    /// ```
    pub fn log(&self, other: &Self) -> Result<Tangent<T>> {
        self.lift(other, "the logarithm", |cosine, sine| {
            if sine == T::zero() {
                return Ok(T::one());
            }
            Ok(sine.atan2(cosine) / sine)
        })
    }

    /// `sum_i f(cos theta_i, sin theta_i) r_i y_i^T`, with `y_i` the principal
    /// vectors here (in the basis) and `r_i` the parts of those of `other`
    /// outside, `||r_i|| = sin theta_i`: the logarithm for `theta / sin`, the
    /// inverse retraction for `1 / cos`.
    ///
    /// Where cosines are tied, the vectors are arbitrary in their span, but there f is constant to
    /// rounding, so it does not matter.
    pub(crate) fn lift(
        &self,
        other: &Self,
        operation: &'static str,
        f: impl Fn(T, T) -> Result<T>,
    ) -> Result<Tangent<T>> {
        self.check_same_manifold(other, operation, UNEQUAL_DIMENSIONS)?;
        linalg::init_backend();
        let overlap = self.basis().t().dot(&other.basis());
        let outside = residual(self.basis(), other.basis(), overlap.view());
        let Svd { u, s: cosines, vt } = T::svd(overlap.view())?;
        let mut parts = outside.dot(&vt.t());
        let mut factors = Array1::<T>::zeros(cosines.len());
        for part in parts.rows() {
            Zip::from(&mut factors)
                .and(part)
                .for_each(|sum, entry| *sum += *entry * *entry);
        }
        for (factor, cosine) in factors.iter_mut().zip(&cosines) {
            *factor = f(*cosine, factor.sqrt())?;
        }
        parts *= &factors;
        Ok(Tangent::from_computed(parts.dot(&u.t())))
    }

    /// The point at time t on the shortest geodesic from here (t = 0) to
    /// `other` (t = 1); t may lie outside `[0, 1]`.
    ///
    /// # Errors
    /// As [`log`](Self::log); [`Error::Parameter`] unless t is finite.
    ///
    /// ```
    /// use egg_geometry::{Distance, GrassmannPoint, distance};
    /// use ndarray::array;
    ///
    /// let x = GrassmannPoint::from_orthonormal(array![[1.0], [0.0]])?;
    /// let y = GrassmannPoint::from_orthonormal(array![[0.6], [0.8]])?;
    /// let middle = x.geodesic(&y, 0.5)?;
    /// let (left, right) = (
    ///     distance(&x, &middle, Distance::Geodesic)?,
    ///     distance(&middle, &y, Distance::Geodesic)?,
    /// );
    /// assert!((left - right as f64).abs() < 1e-15);
    /// # Ok::<(), egg_geometry::Error>(())
    /// ```
    pub fn geodesic(&self, other: &Self, time: T) -> Result<Self> {
        if !time.is_finite() {
            return Err(Error::Parameter {
                name: "time",
                value: time.as_f64(),
                requirement: "it must be finite",
            });
        }
        self.exp(&self.log(other)?.scaled(time))
    }

    /// Carries the tangent vector `vector` along the geodesic with initial
    /// velocity `direction` to its endpoint by parallel transport: lengths and angles stay.
    /// The result is tangent at `self.exp(direction)`.
    ///
    /// # Errors
    /// As [`exp`](Self::exp), for either vector.
    ///
    /// ```
    /// use egg_geometry::GrassmannPoint;
    /// use ndarray::array;
    ///
    /// let x = GrassmannPoint::from_orthonormal(array![[1.0], [0.0], [0.0]])?;
    /// let along = x.tangent(array![[0.0], [1.0], [0.0]])?;
    /// let across = x.tangent(array![[0.0], [0.0], [2.0]])?;
    /// let carried = x.transport(&along, &across)?;
    /// assert!((carried.norm() - 2.0f64).abs() < 1e-15);
    /// assert!(x.exp(&along)?.tangent(carried.into_matrix()).is_ok());
    /// # Ok::<(), egg_geometry::Error>(())
    /// ```
    pub fn transport(&self, direction: &Tangent<T>, vector: &Tangent<T>) -> Result<Tangent<T>> {
        self.check_tangent(direction)?;
        self.check_tangent(vector)?;
        let svd = TangentSvd::new(direction)?;
        // (cos x - 1) / x^2 = -sinc(x / 2)^2 / 2
        let half = T::rounded(0.5);
        let curvature = |angle: T| -half * sinc(angle * half) * sinc(angle * half);
        // G - along back + across over
        let (along, across, back, over) = match &svd.directions {
            None => {
                let overlap = direction.matrix().t().dot(&vector.matrix());
                let back = svd.function(sinc).dot(&overlap);
                (
                    self.basis().to_owned(),
                    direction.matrix().to_owned(),
                    back,
                    svd.function(curvature).dot(&overlap),
                )
            }
            Some(directions) => {
                let overlap = directions.t().dot(&vector.matrix());
                let times = |f: &dyn Fn(T) -> T| &overlap * &svd.angles.mapv(f).insert_axis(Axis(1));
                let over = times(&|angle| curvature(angle) * angle * angle);
                (
                    self.basis().dot(&svd.rows.t()),
                    directions.clone(),
                    times(&T::sin),
                    over,
                )
            }
        };
        let mut carried = vector.matrix().to_owned();
        general_mat_mul(-T::one(), &along, &back, T::one(), &mut carried);
        general_mat_mul(T::one(), &across, &over, T::one(), &mut carried);
        Ok(Tangent::from_computed(carried))
    }
}

/// One Newton-Schulz step `Y (3 I - Y^T Y) / 2`: takes a defect of orthonormality
/// d to d^2, so that long chains of steps don't drift off the manifold.
pub(crate) fn reorthonormalised<T: Scalar>(basis: Array2<T>) -> Array2<T> {
    let mut correction = basis.t().dot(&basis);
    let half = T::rounded(0.5);
    correction.mapv_inplace(|entry| -half * entry);
    for entry in correction.diag_mut() {
        *entry += T::rounded(1.5);
    }
    basis.dot(&correction)
}

/// [`GrassmannPoint::exp`] of many pairs of a point and a tangent vector, in
/// parallel on rayon.
///
/// # Errors
/// The error of the first pair that has one, as [`Error::InBatch`].
///
/// ```
/// use egg_geometry::{GrassmannPoint, exp_batch};
/// use ndarray::array;
///
/// let x = GrassmannPoint::from_orthonormal(array![[1.0], [0.0]])?;
/// let d = x.tangent(array![[0.0], [0.3]])?;
/// assert_eq!(exp_batch(&[(&x, &d)])?, vec![x.exp(&d)?]);
/// # Ok::<(), egg_geometry::Error>(())
/// ```
pub fn exp_batch<T: Scalar>(pairs: &[(&GrassmannPoint<T>, &Tangent<T>)]) -> Result<Vec<GrassmannPoint<T>>> {
    map_in_order(pairs, |(point, tangent)| point.exp(tangent))
}

/// [`GrassmannPoint::log`] of many pairs of points, in parallel on rayon.
///
/// # Errors
/// The error of the first pair that has one, as [`Error::InBatch`].
///
/// ```
/// use egg_geometry::{GrassmannPoint, log_batch};
/// use ndarray::array;
///
/// let x = GrassmannPoint::from_orthonormal(array![[1.0], [0.0]])?;
/// let y = GrassmannPoint::from_orthonormal(array![[0.6], [0.8]])?;
/// assert_eq!(log_batch(&[(&x, &y)])?, vec![x.log(&y)?]);
/// # Ok::<(), egg_geometry::Error>(())
/// ```
pub fn log_batch<T: Scalar>(pairs: &[(&GrassmannPoint<T>, &GrassmannPoint<T>)]) -> Result<Vec<Tangent<T>>> {
    map_in_order(pairs, |(point, other)| point.log(other))
}

/// Runs one job per element in parallel; results in order, or the error that
/// comes first in order.
pub(crate) fn map_in_order<A: Sync, R: Send>(
    elements: &[A],
    job: impl Fn(&A) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let outcomes: Vec<Result<R>> = elements
        .par_iter()
        .enumerate()
        .map(|(index, element)| job(element).map_err(|error| error.at(index)))
        .collect();
    outcomes.into_iter().collect()
}
