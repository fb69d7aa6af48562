//! The Karcher (Frechet) mean.

use ndarray::Array2;

use super::weighted_extrinsic_mean;
use crate::error::{Error, Result};
use crate::manifold::geodesic::map_in_order;
use crate::manifold::point::{GrassmannPoint, check_common_manifold};
use crate::manifold::tangent::Tangent;
use crate::scalar::Scalar;

/// Steps without a smaller gradient after which rounding is all that is left.
const STALLED: usize = 20;

/// Settings of the Karcher mean: gradient descent with unit steps, halved where
/// a step would not lower the sum of squared distances.
///
/// ```
/// use egg_geometry::{GrassmannPoint, KarcherSolver};
/// use rand::SeedableRng;
/// use rand_chacha::ChaCha8Rng;
///
/// let mut rng = ChaCha8Rng::seed_from_u64(1);
/// let points: Vec<_> = (0..4).map(|_| GrassmannPoint::<f64>::random(6, 2, &mut rng)).collect::<Result<_, _>>()?;
/// let mean = KarcherSolver { max_iterations: 500, ..KarcherSolver::default() }.run(&points)?;
/// assert!(mean.iterations <= 500);
/// # Ok::<(), egg_geometry::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KarcherSolver {
    /// Steps at most.
    pub max_iterations: usize,
    /// Converged when the norm of the mean of the logarithms is at most this. (A
    /// tolerance below rounding ends when the gradient has stopped falling.)
    /// `None` is `eps^(3/4)` of the number type: 1.8e-12 or 6.5e-6.
    pub tolerance: Option<f64>,
}

impl Default for KarcherSolver {
    fn default() -> Self {
        Self {
            max_iterations: 200,
            tolerance: None,
        }
    }
}

/// A Karcher mean with its convergence report.
///
/// ```
/// use egg_geometry::{GrassmannPoint, karcher_mean};
/// use ndarray::array;
///
/// let x = GrassmannPoint::from_orthonormal(array![[1.0], [0.0]])?;
/// let mean = karcher_mean(&[x.clone(), x])?;
/// assert!(mean.converged && mean.unique);
/// assert!(mean.variance < 1e-30f64);
/// # Ok::<(), egg_geometry::Error>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct KarcherMean<T> {
    /// The mean, or the best point found.
    pub point: GrassmannPoint<T>,
    /// Steps made.
    pub iterations: usize,
    /// Norm of the mean of the logarithms at `point`; 0 at a stationary point.
    pub gradient_norm: T,
    /// The mean squared geodesic distance to the points.
    pub variance: T,
    /// The largest geodesic distance to a point.
    pub radius: T,
    /// Whether `gradient_norm` met the tolerance.
    pub converged: bool,
    /// Whether the points lie within pi/4 of `point`, where the mean is known
    /// to be unique (Afsari 2011). If not, another start may find another.
    pub unique: bool,
    tolerance: f64,
}

impl<T> KarcherMean<T> {
    /// The mean, if it converged.
    ///
    /// # Errors
    /// [`Error::NoConvergence`].
    ///
    /// ```
    /// use egg_geometry::{Error, GrassmannPoint, KarcherSolver};
    /// use ndarray::array;
    ///
    /// let a = GrassmannPoint::from_orthonormal(array![[1.0], [0.0], [0.0]])?;
    /// let b = GrassmannPoint::from_orthonormal(array![[0.6], [0.8], [0.0]])?;
    /// let c = GrassmannPoint::from_orthonormal(array![[0.6], [0.0], [0.8]])?;
    /// let hurried = KarcherSolver { max_iterations: 0, ..KarcherSolver::default() };
    /// let outcome = hurried.run(&[a, b, c])?.require_converged();
    /// assert!(matches!(outcome, Err(Error::NoConvergence { iterations: 0, .. })));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn require_converged(self) -> Result<Self>
    where
        T: Scalar,
    {
        if self.converged {
            return Ok(self);
        }
        Err(Error::NoConvergence {
            what: "the Karcher mean",
            iterations: self.iterations,
            residual: self.gradient_norm.as_f64(),
            tolerance: self.tolerance,
        })
    }
}

/// The Karcher (Frechet) mean: the point that minimises the sum of squared
/// geodesic distances, started from the extrinsic mean.
///
/// # Errors
/// [`Error::NoConvergence`] after 200 steps ([`KarcherSolver`] for more, or to
/// keep an unfinished mean); otherwise as [`KarcherSolver::run`].
///
/// ```
/// use egg_geometry::{Distance, GrassmannPoint, distance, karcher_mean};
/// use ndarray::array;
///
/// let a = GrassmannPoint::from_orthonormal(array![[0.6], [0.8]])?;
/// let b = GrassmannPoint::from_orthonormal(array![[-0.6], [0.8]])?;
/// let y = GrassmannPoint::from_orthonormal(array![[0.0], [1.0]])?;
/// assert!(distance(&karcher_mean(&[a, b])?.point, &y, Distance::Geodesic)? < 1e-12);
/// # Ok::<(), egg_geometry::Error>(())
/// ```
pub fn karcher_mean<T: Scalar>(points: &[GrassmannPoint<T>]) -> Result<KarcherMean<T>> {
    KarcherSolver::default().run(points)?.require_converged()
}

impl KarcherSolver {
    /// The mean of equally weighted points, from the extrinsic mean. An
    /// unfinished mean is not an error here: see [`KarcherMean::converged`].
    ///
    /// # Errors
    /// [`Error::TooFew`] for no points; [`Error::AmbientMismatch`] or
    /// [`Error::DimensionMismatch`] (as [`Error::InBatch`]);
    /// [`Error::Parameter`] for a negative tolerance; [`Error::Backend`].
    ///
    /// ```
    /// use egg_geometry::{GrassmannPoint, KarcherSolver};
    /// let x = GrassmannPoint::from_orthonormal(ndarray::array![[1.0], [0.0]])?;
    /// assert_eq!(KarcherSolver::default().run(&[x])?.iterations, 0);
    /// # Ok::<(), egg_geometry::Error>(())
    /// ```
    pub fn run<T: Scalar>(self, points: &[GrassmannPoint<T>]) -> Result<KarcherMean<T>> {
        self.run_weighted(points, &vec![T::one(); points.len()])
    }

    /// The same with a weight for each point.
    ///
    /// # Errors
    /// As [`KarcherSolver::run`]; [`Error::Length`] or [`Error::Parameter`] for
    /// bad weights.
    ///
    /// ```
    /// use egg_geometry::{Distance, GrassmannPoint, KarcherSolver, distance};
    /// use ndarray::array;
    ///
    /// let x = GrassmannPoint::from_orthonormal(array![[1.0], [0.0]])?;
    /// let y = GrassmannPoint::from_orthonormal(array![[0.6], [0.8]])?;
    /// let mean = KarcherSolver::default().run_weighted(&[x.clone(), y.clone()], &[3.0, 1.0])?;
    /// let quarter = x.geodesic(&y, 0.25)?;
    /// assert!(distance(&mean.point, &quarter, Distance::Geodesic)? < 1e-11);
    /// # Ok::<(), egg_geometry::Error>(())
    /// ```
    pub fn run_weighted<T: Scalar>(
        self,
        points: &[GrassmannPoint<T>],
        weights: &[T],
    ) -> Result<KarcherMean<T>> {
        check_common_manifold(
            points,
            "the Karcher mean",
            "the extrinsic mean takes any (extrinsic_mean_within)",
        )?;
        let start = weighted_extrinsic_mean(points, weights, points[0].dimension())?.point;
        self.run_from(start, points, weights)
    }

    /// The same from a start of the caller's.
    pub(crate) fn run_from<T: Scalar>(
        self,
        start: GrassmannPoint<T>,
        points: &[GrassmannPoint<T>],
        weights: &[T],
    ) -> Result<KarcherMean<T>> {
        let tolerance = self.tolerance.unwrap_or_else(|| T::eps().powf(0.75));
        if !(tolerance >= 0.0 && tolerance.is_finite()) {
            return Err(Error::Parameter {
                name: "tolerance",
                value: tolerance,
                requirement: "it must be finite and not negative",
            });
        }
        let mut state = State::at(start, points, weights)?;
        let mut step = T::one();
        let mut iterations = 0;
        let (mut least, mut stalled) = (state.gradient_norm(), 0);
        while iterations < self.max_iterations
            && stalled < STALLED
            && state.gradient_norm().as_f64() > tolerance
        {
            iterations += 1;
            let next = State::at(state.point.exp(&state.gradient.scaled(step))?, points, weights)?;
            if next.variance <= state.variance + state.rounding() {
                state = next;
                step = (step + step).min(T::one());
                stalled = if state.gradient_norm() < least {
                    0
                } else {
                    stalled + 1
                };
                least = least.min(state.gradient_norm());
            } else if step > T::rounded(1e-6) {
                step *= T::rounded(0.5);
            } else {
                break;
            }
        }
        let gradient_norm = state.gradient_norm();
        Ok(KarcherMean {
            iterations,
            converged: gradient_norm.as_f64() <= tolerance,
            unique: state.radius < T::FRAC_PI_4(),
            gradient_norm,
            variance: state.variance,
            radius: state.radius,
            point: state.point,
            tolerance,
        })
    }
}

/// An iterate with the cost and the descent direction there.
struct State<T> {
    point: GrassmannPoint<T>,
    /// The weighted mean of the logarithms: minus half the gradient.
    gradient: Tangent<T>,
    variance: T,
    radius: T,
}

impl<T: Scalar> State<T> {
    fn at(point: GrassmannPoint<T>, points: &[GrassmannPoint<T>], weights: &[T]) -> Result<Self> {
        let logs = map_in_order(points, |other| point.log(other))?;
        let total: T = weights.iter().copied().sum();
        let mut mean = Array2::zeros(point.basis().dim());
        let mut variance = T::zero();
        let mut radius = T::zero();
        // In order, so that the sums don't depend on the number of threads.
        for (log, weight) in logs.iter().zip(weights) {
            let share = *weight / total;
            mean.scaled_add(share, &log.matrix());
            let length = log.norm();
            variance += share * length * length;
            radius = radius.max(length);
        }
        Ok(Self {
            gradient: Tangent::from_computed(mean),
            point,
            variance,
            radius,
        })
    }

    fn gradient_norm(&self) -> T {
        self.gradient.norm()
    }

    /// How far the variance can be off. A logarithm of length d has an absolute
    /// error of a few eps, its square one of d times as much: for points close
    /// together far more than the variance's own last digit.
    fn rounding(&self) -> T {
        T::rounded(16.0 * T::eps()) * (self.variance + self.variance.sqrt())
    }
}
