//! The extrinsic (projector) mean, in one dimension or in a range of them.

use std::ops::RangeInclusive;

use ndarray::{Array2, s};

use crate::check;
use crate::error::{Error, Result};
use crate::linalg::{self, Svd};
use crate::manifold::point::{GrassmannPoint, check_common_ambient};
use crate::scalar::Scalar;

/// The extrinsic mean and how well it is determined.
///
/// ```
/// use egg_geometry::{GrassmannPoint, extrinsic_mean};
/// use ndarray::array;
///
/// let x = GrassmannPoint::from_orthonormal(array![[1.0], [0.0]])?;
/// assert!((extrinsic_mean(&[x.clone(), x], 1)?.gap - 1.0f64).abs() < 1e-15);
/// # Ok::<(), egg_geometry::Error>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ExtrinsicMean<T> {
    /// The mean.
    pub point: GrassmannPoint<T>,
    /// `lambda_p - lambda_{p+1}` of the mean projector, in `[0, 1]`. Where the
    /// dimension was free, the least of this, of `lambda_p - 1/2` if p could
    /// have been smaller, and of `1/2 - lambda_{p+1}` if it could have been
    /// larger. The next best subspace has a mean of squared `||P - P_i||_F`
    /// larger by twice the gap: where it is 0 the mean is not unique and
    /// `point` is one of them.
    pub gap: T,
}

/// The extrinsic (projector) mean: the point of Gr(p, m) nearest to the average
/// projector, which minimises the sum of squared `||P - P_i||_F`. The points
/// may have different dimensions; [`extrinsic_mean_within`] chooses that of the
/// mean too.
///
/// # Errors
/// [`Error::TooFew`] for no points, [`Error::DimensionOutOfRange`],
/// [`Error::AmbientMismatch`] (as [`Error::InBatch`]), [`Error::Backend`].
///
/// ```
/// use egg_geometry::{Distance, GrassmannPoint, distance, extrinsic_mean};
/// use ndarray::array;
///
/// let a = GrassmannPoint::from_orthonormal(array![[0.6], [0.8]])?;
/// let b = GrassmannPoint::from_orthonormal(array![[0.6], [-0.8]])?;
/// let y = GrassmannPoint::from_orthonormal(array![[0.0], [1.0]])?;
/// let mean = extrinsic_mean(&[a, b], 1)?.point;
/// assert!(distance(&mean, &y, Distance::Geodesic)? < 1e-15);
/// # Ok::<(), egg_geometry::Error>(())
/// ```
pub fn extrinsic_mean<T: Scalar>(points: &[GrassmannPoint<T>], dimension: usize) -> Result<ExtrinsicMean<T>> {
    extrinsic_mean_within(points, dimension..=dimension)
}

/// [`extrinsic_mean`] with a weight for each point.
///
/// # Errors
/// As [`extrinsic_mean`]; [`Error::Length`] or [`Error::Parameter`] for bad
/// weights.
///
/// ```
/// use egg_geometry::{GrassmannPoint, weighted_extrinsic_mean};
/// use ndarray::array;
///
/// let x = GrassmannPoint::from_orthonormal(array![[1.0], [0.0]])?;
/// let y = GrassmannPoint::from_orthonormal(array![[0.0], [1.0]])?;
/// let mean = weighted_extrinsic_mean(&[x, y], &[3.0, 1.0], 1)?;
/// assert!((mean.gap - 0.5f64).abs() < 1e-15);
/// # Ok::<(), egg_geometry::Error>(())
/// ```
pub fn weighted_extrinsic_mean<T: Scalar>(
    points: &[GrassmannPoint<T>],
    weights: &[T],
    dimension: usize,
) -> Result<ExtrinsicMean<T>> {
    weighted_extrinsic_mean_within(points, weights, dimension..=dimension)
}

/// The extrinsic mean of subspaces of any dimensions, its own chosen by them:
/// of all subspaces of R^m whose dimension p lies in `dimensions`, the one that
/// minimises the sum of squared [`projector_distance`](crate::projector_distance)s.
///
/// With the mean projector `Q = sum_i P_i / N` and its eigenvalues
/// `lambda_1 >= lambda_2 >= ...`,
///
/// ```text
/// sum_i ||P - P_i||_F^2 = N (p - 2 tr(P Q)) + sum_i p_i,
/// ```
///
/// so that a direction with eigenvalue `lambda` costs `N (1 - 2 lambda)`. The
/// mean is the span of the leading eigenvectors, and p the number of
/// eigenvalues above 1/2, or the end of the range that is nearest to it:
/// `lambda` is the mean squared cosine between a direction and the subspaces,
/// and a direction that more than half of them hold is kept.
///
/// A direction at 1/2 costs nothing either way; it is dropped, as is one above
/// 1/2 by no more than [`Scalar::TIE_TOLERANCE`], so that rounding does not
/// decide. Of a line in a plane and that plane, the mean is the line.
///
/// `1..=m` allows every subspace but `{0}`, which is no point here: where no
/// eigenvalue is above 1/2 the mean is the leading direction. `1..=p_max` is the
/// paper's `M(p_max, m)`, and `p..=p` is [`extrinsic_mean`].
///
/// Complexity: for s dimensions in all, `sum_i p_i = s`, an SVD of an m x s
/// matrix, or where s > m the eigenvectors of an m x m one.
///
/// # Errors
/// As [`extrinsic_mean`], and [`Error::Parameter`] for a range that ends before
/// it begins.
///
/// ```
/// use egg_geometry::{Distance, GrassmannPoint, distance, extrinsic_mean_within};
/// use ndarray::array;
///
/// let line = GrassmannPoint::from_orthonormal(array![[1.0], [0.0], [0.0]])?;
/// let plane = GrassmannPoint::from_orthonormal(array![[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])?;
/// // Of three subspaces all hold x, two of them y and none z.
/// let mean = extrinsic_mean_within(&[plane.clone(), line, plane.clone()], 1..=3)?;
/// assert_eq!(mean.point.dimension(), 2);
/// assert!(distance(&mean.point, &plane, Distance::Geodesic)? < 1e-15);
/// assert!((mean.gap - (2.0 / 3.0 - 0.5f64)).abs() < 1e-15);
/// # Ok::<(), egg_geometry::Error>(())
/// ```
pub fn extrinsic_mean_within<T: Scalar>(
    points: &[GrassmannPoint<T>],
    dimensions: RangeInclusive<usize>,
) -> Result<ExtrinsicMean<T>> {
    weighted_extrinsic_mean_within(points, &vec![T::one(); points.len()], dimensions)
}

/// [`extrinsic_mean_within`] with a weight `w_i` for each point:
/// `Q = sum_i w_i P_i / sum_i w_i`.
///
/// # Errors
/// As [`extrinsic_mean_within`]; [`Error::Length`] or [`Error::Parameter`] for
/// bad weights.
///
/// ```
/// use egg_geometry::{GrassmannPoint, weighted_extrinsic_mean_within};
/// use ndarray::array;
///
/// let line = GrassmannPoint::from_orthonormal(array![[1.0], [0.0]])?;
/// let all = GrassmannPoint::from_orthonormal(array![[1.0, 0.0], [0.0, 1.0]])?;
/// let mean = |weights| weighted_extrinsic_mean_within(&[line.clone(), all.clone()], weights, 1..=2);
/// assert_eq!(mean(&[1.0, 3.0])?.point.dimension(), 2);
/// assert_eq!(mean(&[3.0, 1.0])?.point.dimension(), 1);
/// # Ok::<(), egg_geometry::Error>(())
/// ```
pub fn weighted_extrinsic_mean_within<T: Scalar>(
    points: &[GrassmannPoint<T>],
    weights: &[T],
    dimensions: RangeInclusive<usize>,
) -> Result<ExtrinsicMean<T>> {
    check::at_least("points", points.len(), 1)?;
    check_common_ambient(points)?;
    check::weights(weights, points.len())?;
    let ambient = points[0].ambient();
    check_dimensions(&dimensions, ambient)?;
    linalg::init_backend();
    let total: T = weights.iter().copied().sum();
    let width: usize = points.iter().map(GrassmannPoint::dimension).sum();
    // The mean projector is W W^T for W = [sqrt(w_i) U_i].
    let mut stacked = Array2::zeros((ambient, width));
    let mut start = 0;
    for (point, weight) in points.iter().zip(weights) {
        let end = start + point.dimension();
        let factor = (*weight / total).sqrt();
        stacked
            .slice_mut(s![.., start..end])
            .assign(&point.basis().mapv(|entry| entry * factor));
        start = end;
    }
    // No more than `width` eigenvalues are above 1/2: only the least dimension
    // can ask for directions that the points do not span.
    if (*dimensions.start()..=ambient).contains(&width) {
        let Svd { u, s: values, .. } = T::svd(stacked.view())?;
        let square = |index: usize| values.get(index).map_or_else(T::zero, |value| *value * *value);
        let (dimension, gap) = cut(square, &dimensions);
        return Ok(ExtrinsicMean {
            point: GrassmannPoint::from_computed(u.slice(s![.., ..dimension]).to_owned()),
            gap,
        });
    }
    let (values, vectors) = T::eigh(stacked.dot(&stacked.t()).view())?;
    let descending = |index: usize| {
        let from_the_end = ambient.checked_sub(index + 1);
        from_the_end.map_or_else(T::zero, |index| values[index])
    };
    let (dimension, gap) = cut(descending, &dimensions);
    Ok(ExtrinsicMean {
        point: GrassmannPoint::leading(&vectors, dimension),
        gap,
    })
}

/// A range of dimensions of subspaces of R^m, not empty.
fn check_dimensions(dimensions: &RangeInclusive<usize>, ambient: usize) -> Result<()> {
    for dimension in [*dimensions.start(), *dimensions.end()] {
        if dimension == 0 || dimension > ambient {
            return Err(Error::DimensionOutOfRange { dimension, ambient });
        }
    }
    if dimensions.start() > dimensions.end() {
        return Err(Error::Parameter {
            name: "the last of the dimensions",
            value: *dimensions.end() as f64,
            requirement: "it must not be below the first",
        });
    }
    Ok(())
}

/// p and the gap there, from the eigenvalues of the mean projector: descending,
/// counted from 0, and 0 beyond the last.
fn cut<T: Scalar>(lambda: impl Fn(usize) -> T, dimensions: &RangeInclusive<usize>) -> (usize, T) {
    let (least, most) = (*dimensions.start(), *dimensions.end());
    let half = T::rounded(0.5);
    let tied = T::rounded(0.5 + T::TIE_TOLERANCE);
    let above = (0..most).take_while(|index| lambda(*index) > tied).count();
    let dimension = above.max(least);
    let (last, next) = (lambda(dimension - 1), lambda(dimension));
    // What can be done instead: swap the last direction for the next, drop the
    // last, or add the next (which a tie has put a little above 1/2).
    let mut gap = last - next;
    if dimension > least {
        gap = gap.min(last - half);
    }
    if dimension < most {
        gap = gap.min((half - next).max(T::zero()));
    }
    (dimension, gap)
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// The mean of one dimension as it was computed before the dimension could be free: with a
    /// fixed dimension the result is bit-identical.
    fn of_one_dimension<T: Scalar>(points: &[GrassmannPoint<T>], dimension: usize) -> (Array2<T>, T) {
        let ambient = points[0].ambient();
        let total: T = points.iter().map(|_| T::one()).sum();
        let width: usize = points.iter().map(GrassmannPoint::dimension).sum();
        let mut stacked = Array2::zeros((ambient, width));
        let mut start = 0;
        for point in points {
            let end = start + point.dimension();
            let factor = (T::one() / total).sqrt();
            stacked
                .slice_mut(s![.., start..end])
                .assign(&point.basis().mapv(|entry| entry * factor));
            start = end;
        }
        if (dimension..=ambient).contains(&width) {
            let Svd { u, s: values, .. } = T::svd(stacked.view()).unwrap();
            let square = |index: usize| values.get(index).map_or_else(T::zero, |value| *value * *value);
            let gap = square(dimension - 1) - square(dimension);
            return (u.slice(s![.., ..dimension]).to_owned(), gap);
        }
        let (values, vectors) = T::eigh(stacked.dot(&stacked.t()).view()).unwrap();
        let first = ambient - dimension;
        let below = if first == 0 { T::zero() } else { values[first - 1] };
        let point = GrassmannPoint::leading(&vectors, dimension);
        (point.into_basis(), values[first] - below)
    }

    fn bits<'a, T: Scalar>(values: impl IntoIterator<Item = &'a T>) -> Vec<u64> {
        values.into_iter().map(|value| value.as_f64().to_bits()).collect()
    }

    fn assert_same_bits_as_before<T: Scalar>() {
        linalg::init_backend();
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        for m in 1..=9 {
            for count in 1..=6 {
                let mut of = |p: usize| GrassmannPoint::<T>::random(m, p, &mut rng).unwrap();
                let p = 1 + (m + count) % m;
                let equal: Vec<_> = (0..count).map(|_| of(p)).collect();
                let mixed: Vec<_> = (0..count).map(|k| of(1 + k % m)).collect();
                for points in [&equal, &mixed] {
                    for dimension in 1..=m {
                        let (basis, gap) = of_one_dimension(points, dimension);
                        let range = dimension..=dimension;
                        for mean in [
                            extrinsic_mean(points, dimension).unwrap(),
                            extrinsic_mean_within(points, range).unwrap(),
                        ] {
                            assert_eq!(bits(mean.point.basis()), bits(&basis));
                            assert_eq!(bits([&mean.gap]), bits([&gap]));
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn mean_of_one_dimension_is_bit_identical_to_the_unmixed_mean() {
        assert_same_bits_as_before::<f64>();
        assert_same_bits_as_before::<f32>();
    }

    #[test]
    fn mean_dimension_is_cut_at_one_half_or_at_the_range_bound() {
        // Below the tolerance, and every difference exact.
        let tiny = 2f64.powi(-40);
        let values = [1.0, 0.75, 0.5 + tiny, 0.5, 0.5 - tiny, 0.25];
        let lambda = |index: usize| values.get(index).copied().unwrap_or(0.0);
        let in_range = |least: usize, most: usize| cut(lambda, &(least..=most));
        assert_eq!(in_range(1, 6), (2, 0.0)); // could take a third at no cost
        assert_eq!(in_range(1, 2), (2, 0.25 - tiny));
        assert_eq!(in_range(1, 1), (1, 0.25));
        assert_eq!(in_range(3, 6), (3, 0.0));
        assert_eq!(in_range(3, 3), (3, tiny));
        assert_eq!(in_range(5, 5), (5, 0.25 - tiny));
        assert_eq!(in_range(6, 6), (6, 0.25));
        let none = |_: usize| 0.25f32;
        assert_eq!(cut(none, &(1..=6)), (1, 0.0)); // any other direction is as good
        assert_eq!(cut(|index: usize| [0.375f32, 0.25][index], &(1..=6)), (1, 0.125));
        assert_eq!(cut(|index: usize| [0.75f32, 0.25][index], &(1..=6)), (1, 0.25));
    }
}
