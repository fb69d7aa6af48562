//! Principal angles between subspaces, exact at both ends of `[0, pi/2]`.
//!
//! The cosines of the angles are the singular values of `A^T B`, but `arccos`
//! near 1 turns a rounding error of 1e-16 into an angle of 1e-8. The sines are
//! the singular values of `B - A A^T B`, and `arcsin` near 1 has the same
//! trouble. Each angle takes one that is good for it (Bjorck and Golub 1973,
//! Knyazev and Argentati 2002). The absolute error stays below `1e-15 sqrt(m)`
//! for f64.

use ndarray::{Array1, Array2, ArrayView2, Axis, s};
use rayon::prelude::*;

use crate::error::Result;
use crate::linalg::{self, Svd};
use crate::manifold::point::GrassmannPoint;
use crate::scalar::Scalar;

/// Whether an angle must be taken from its sine: where the sine is smaller than
/// `least_sine`.
fn needs_sine<T: Scalar>(cosine: T, least_sine: f64) -> bool {
    cosine.as_f64().powi(2) > 1.0 - least_sine * least_sine
}

fn arccos<T: Scalar>(cosine: T) -> T {
    cosine.min(T::one()).acos()
}

fn arcsin<T: Scalar>(sine: T) -> T {
    sine.min(T::one()).asin()
}

/// The principal angles between two subspaces of R^m, `0 <= theta_1 <= ... <=
/// theta_q <= pi/2` with `q = min(p_1, p_2)`, in radians.
///
/// Complexity: `O(m p_1 p_2)`.
///
/// # Errors
/// [`Error::AmbientMismatch`](crate::Error::AmbientMismatch),
/// [`Error::Backend`](crate::Error::Backend).
///
/// ```
/// use egg_geometry::{GrassmannPoint, principal_angles};
/// use ndarray::array;
///
/// let a = GrassmannPoint::from_orthonormal(array![[1.0f64], [0.0]])?;
/// let b = GrassmannPoint::from_spanning(array![[1.0], [1e-12]].view())?;
/// // arccos would give 0.
/// assert!((principal_angles(&a, &b)?[0] - 1e-12).abs() < 1e-16);
/// # Ok::<(), egg_geometry::Error>(())
/// ```
pub fn principal_angles<T: Scalar>(a: &GrassmannPoint<T>, b: &GrassmannPoint<T>) -> Result<Array1<T>> {
    a.check_ambient(b)?;
    linalg::init_backend();
    let (larger, smaller) = by_dimension(a, b);
    let overlap = larger.basis().t().dot(&smaller.basis());
    let mut angles = T::singular_values(overlap.view())?;
    let least_sine = linalg::least_sine(a.ambient());
    let small = angles
        .iter()
        .take_while(|cosine| needs_sine(**cosine, least_sine))
        .count();
    let sines = if small == 0 {
        Array1::zeros(0)
    } else {
        let residual = residual(larger.basis(), smaller.basis(), overlap.view());
        T::singular_values(residual.view())?
    };
    // Cosines descend as angles ascend; sines come descending.
    for (index, angle) in angles.iter_mut().enumerate() {
        *angle = if index < small {
            arcsin(sines[sines.len() - 1 - index])
        } else {
            arccos(*angle)
        };
    }
    // Where the two formulas meet, neighbours may be an ulp out of order.
    let order = ascending(&angles);
    Ok(angles.select(Axis(0), &order))
}

/// The larger subspace first: the residual is taken of the smaller, whose sines
/// are all there are.
pub(crate) fn by_dimension<'a, T: Scalar>(
    a: &'a GrassmannPoint<T>,
    b: &'a GrassmannPoint<T>,
) -> (&'a GrassmannPoint<T>, &'a GrassmannPoint<T>) {
    if a.dimension() >= b.dimension() {
        (a, b)
    } else {
        (b, a)
    }
}

/// `B - A (A^T B)`, the part of `B` outside `A`.
pub(crate) fn residual<T: Scalar>(
    a: ArrayView2<'_, T>,
    b: ArrayView2<'_, T>,
    overlap: ArrayView2<'_, T>,
) -> Array2<T> {
    let mut residual = b.to_owned();
    ndarray::linalg::general_mat_mul(-T::one(), &a, &overlap, T::one(), &mut residual);
    residual
}

/// Principal angles with the vectors that realise them.
///
/// ```
/// use egg_geometry::{GrassmannPoint, principal_vectors};
/// use ndarray::array;
///
/// let a = GrassmannPoint::from_orthonormal(array![[1.0f64, 0.0], [0.0, 1.0], [0.0, 0.0]])?;
/// let b = GrassmannPoint::from_orthonormal(array![[0.0], [0.6], [0.8]])?;
/// let pairs = principal_vectors(&a, &b)?;
/// let cosine = pairs.left.column(0).dot(&pairs.right.column(0));
/// assert!((cosine - pairs.angles[0].cos()).abs() < 1e-15);
/// # Ok::<(), egg_geometry::Error>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PrincipalVectors<T> {
    /// Ascending, q of them.
    pub angles: Array1<T>,
    /// m x q, orthonormal, in the first subspace.
    pub left: Array2<T>,
    /// m x q, orthonormal, in the second subspace; column i makes the angle
    /// `theta_i` with column i of `left` and a right angle with the others.
    pub right: Array2<T>,
}

/// The principal vectors of two subspaces: orthonormal `left` in the first,
/// `right` in the second, with `left^T right = diag(cos theta)`.
///
/// # Errors
/// As [`principal_angles`].
///
/// ```
/// use egg_geometry::{GrassmannPoint, principal_vectors};
/// use ndarray::array;
///
/// let a = GrassmannPoint::from_orthonormal(array![[1.0], [0.0]])?;
/// let pairs = principal_vectors(&a, &a)?;
/// assert_eq!(pairs.angles[0], 0.0f64);
/// # Ok::<(), egg_geometry::Error>(())
/// ```
pub fn principal_vectors<T: Scalar>(
    a: &GrassmannPoint<T>,
    b: &GrassmannPoint<T>,
) -> Result<PrincipalVectors<T>> {
    a.check_ambient(b)?;
    linalg::init_backend();
    let overlap = a.basis().t().dot(&b.basis());
    let Svd { u, s: cosines, vt } = T::svd(overlap.view())?;
    let mut left = a.basis().dot(&u);
    let mut right = b.basis().dot(&vt.t());
    let mut angles = cosines.mapv(arccos);

    let least_sine = linalg::least_sine(a.ambient());
    let small = cosines
        .iter()
        .take_while(|cosine| needs_sine(**cosine, least_sine))
        .count();
    if small > 0 {
        // Where cosines crowd at 1 their vectors are mixed at random; the sines
        // still distinguish them.
        let near = right.slice(s![.., ..small]);
        let within = a.basis().t().dot(&near);
        let outside = residual(a.basis(), near, within.view());
        let Svd { s: sines, vt, .. } = T::svd(outside.view())?;
        // Sines come descending, angles go ascending.
        let turn = vt.slice(s![..;-1, ..]).reversed_axes();
        let turned = near.dot(&turn);
        let mut projected = a.basis().dot(&within.dot(&turn));
        for (index, mut column) in projected.columns_mut().into_iter().enumerate() {
            angles[index] = arcsin(sines[small - 1 - index]);
            column.mapv_inplace(|entry| entry / angles[index].cos());
        }
        left.slice_mut(s![.., ..small]).assign(&projected);
        right.slice_mut(s![.., ..small]).assign(&turned);
    }

    let order = ascending(&angles);
    Ok(PrincipalVectors {
        // The vectors are good to rounding over the gap between their angles,
        // and so are the angles they make; the angles themselves are better.
        angles: principal_angles(a, b)?,
        left: left.select(Axis(1), &order),
        right: right.select(Axis(1), &order),
    })
}

/// The order that sorts the angles.
fn ascending<T: Scalar>(angles: &Array1<T>) -> Vec<usize> {
    let mut order: Vec<usize> = (0..angles.len()).collect();
    order.sort_by(|&i, &j| angles[i].as_f64().total_cmp(&angles[j].as_f64()));
    order
}

/// [`principal_angles`] of many pairs, in parallel on rayon; one array per
/// pair, in order.
///
/// # Errors
/// The error of the first pair that has one, as
/// [`Error::InBatch`](crate::Error::InBatch).
///
/// ```
/// use egg_geometry::{GrassmannPoint, principal_angles_batch};
/// use ndarray::array;
///
/// let x = GrassmannPoint::from_orthonormal(array![[1.0], [0.0]])?;
/// let y = GrassmannPoint::from_orthonormal(array![[0.0], [1.0]])?;
/// let angles = principal_angles_batch(&[(&x, &x), (&x, &y)])?;
/// assert_eq!(angles[1][0], std::f64::consts::FRAC_PI_2);
/// # Ok::<(), egg_geometry::Error>(())
/// ```
pub fn principal_angles_batch<T: Scalar>(
    pairs: &[(&GrassmannPoint<T>, &GrassmannPoint<T>)],
) -> Result<Vec<Array1<T>>> {
    let outcomes: Vec<Result<Array1<T>>> = pairs
        .par_iter()
        .enumerate()
        .map(|(index, (a, b))| principal_angles(a, b).map_err(|error| error.at(index)))
        .collect();
    outcomes.into_iter().collect()
}
