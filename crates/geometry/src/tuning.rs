//! Measured thresholds, in one place: where one algorithm becomes faster than another, and where it
//! would lose digits that the result can show.
//!
//! Each is used in one file, which its comment names. Constants of an algorithm itself (how many
//! partial sums a loop has, when an iteration gives up) stay with it. A change of any of
//! these changes the order of some sums, and with it the last bits of results.

/// Where one algorithm becomes faster than another; `crates/reproduce/notebook/speed.md` has the measurements.
pub(crate) mod speed {
    /// Symmetric matrices up to this order are decomposed by `linalg/small_eigen`. Rows of larger
    /// ones leave the first cache, where the backend's blocks of reflections pay.
    pub(crate) const SMALL_EIGEN_ORDER: usize = 128;

    /// Positive definite matrices up to this order are inverted by `linalg/small_inverse.rs`.
    pub(crate) const SMALL_INVERSE_ORDER: usize = 128;

    /// The most multiplications in a piece of a product (`linalg/product.rs`): OpenBLAS's own limit
    /// for kernels that don't pack their operands. At 64 x 284 x 64 two pieces took 28
    /// microseconds and the whole 49.
    pub(crate) const PRODUCT_PIECE: usize = 1_000_000;

    /// A product that is long in only one direction, and at most this in the others, is cut
    /// (`linalg/product.rs`); in larger ones packing pays.
    pub(crate) const PRODUCT_NARROW: usize = 128;

    /// Up to this many columns a product is computed by `linalg/product.rs` itself: OpenBLAS packs both
    /// operands of a product with a transpose, which takes longer than the product.
    pub(crate) const PRODUCT_FEW_COLUMNS: usize = 8;

    /// The least order of a Gram matrix that is made in two parts (`linalg/product.rs`).
    pub(crate) const GRAM_HALVED_ORDER: usize = 32;

    /// Up to this many kept directions are multiplied with packed triangles (`embedding/triangle.rs`);
    /// for more, a square and a matrix product are as fast.
    pub(crate) const TRIANGLE_DIRECTIONS: usize = 4;

    /// Only the kept directions are computed where there are at least this many in all
    /// (`embedding/factors/decompose.rs`): for fewer, computing all is as fast ...
    pub(crate) const KEPT_ONLY_ORDER: usize = 40;

    /// ... and where no more than one in this many is kept.
    pub(crate) const KEPT_ONLY_ONE_IN: usize = 4;

    /// Rows of a block of a long SVD for each column, and at least (`linalg/long_svd.rs`): a level
    /// then leaves an eighth of the rows, and a block lies in a core's cache.
    pub(crate) const LONG_SVD_ROWS_PER_COLUMN: usize = 8;
    pub(crate) const LONG_SVD_LEAST_ROWS: usize = 1024;
}

/// Where an algorithm would lose digits; `docs/GEOMETRY.md` has the derivations.
pub(crate) mod accuracy {
    /// What rounding the input can do to a singular value, in eps of its type and
    /// norms `||H||_F` (`embedding/rank.rs`). Rounding each entry once moves `H` by half of an eps;
    /// a convolution rounds a few times.
    pub(crate) const INPUT_ROUNDING: f64 = 2.0;

    /// What our own SVD leaves of a singular value that is 0, in units of `sigma_1`
    /// (`embedding/rank.rs`): twice the 8 eps that were measured, at any number of rows. A Gram
    /// matrix, from which f32 data are decomposed, leaves up to 5e-8, less than the rounding of the
    /// input.
    pub(crate) const SVD_NOISE: f64 = 16.0 * f64::EPSILON;

    /// A norm may be smaller by this than the singular values say (`embedding/rank.rs`): it was
    /// added up in another order.
    pub(crate) const NORM_SLACK: f64 = 1e-6;

    /// What rounding leaves of an eigenvalue of a Gram matrix that is 0, relative to the largest
    /// (`embedding/factors/decompose.rs`).
    pub(crate) const GRAM_NOISE: f64 = 16.0 * f64::EPSILON;

    /// An f64 Gram matrix of f64 data is trusted only if no eigenvalue is smaller
    /// than this share of the largest: then every singular value is as good as an
    /// SVD's to within a factor of 20. (The noise floor of a Gram matrix is about
    /// 1.5e-8 sigma_1, far above eps sigma_1.)
    pub(crate) const GRAM_SPREAD: f64 = 2.5e-3;

    /// ... and only if the cut is at least this wide in eigenvalues, relative to
    /// the largest, so that the projector is good to about 1e-13 ...
    pub(crate) const GRAM_GAP: f64 = 2e-3;

    /// ... or lies so high, relative to `sigma_1`, that an SVD would do no better:
    /// its projector error is smaller by the factor `(sigma_p + sigma_{p+1}) / sigma_1`.
    pub(crate) const GRAM_HIGH_CUT: f64 = 0.7;

    /// Only the kept directions are computed where the cut is so wide that the guard of the gradient
    /// ([`Scalar::GAP_GUARD`](crate::Scalar::GAP_GUARD)) does nothing that f32 could show,
    /// in eigenvalues and relative to the last one kept ...
    pub(crate) const CLEAR_CUT: f64 = 1e-3;

    /// ... and no two eigenvalues that are kept, nor the first that is not, are nearer to
    /// each other, relative to the largest: `(lambda - C)^{-1}` would lose digits that
    /// f32 could show.
    pub(crate) const CLEAR_PAIR: f64 = 1e-7;

    /// Up to this `sigma_1 / r` a soft projector is made by Cholesky (`embedding/soft/mod.rs`): its
    /// error in P is about `eps (sigma_1 / r)^2`, 2e-8 here, below what f32 can show ...
    pub(crate) const CHOLESKY_LIMIT_F32: f64 = 1e4;

    /// ... and 2e-12 here, for f64.
    pub(crate) const CHOLESKY_LIMIT_F64: f64 = 1e2;

    /// Eigenvalues closer than this, relative to the larger, take the derivative at
    /// their middle for their divided difference (`embedding/soft/filter.rs`): cancellation would
    /// cost `eps / 1e-5`, the middle `1e-10 / 24`.
    pub(crate) const CLOSE_EIGENVALUES: f64 = 1e-5;

    /// The most terms that a piece of a long sum has (`linalg/product.rs`): at 10^7 terms one sum
    /// leaves 100 times the rounding that sums of this length leave, added up.
    pub(crate) const LONGEST_SUM: usize = 4096;

    /// Matrices up to this long are decomposed by an SVD as they are (`linalg/long_svd.rs`).
    pub(crate) const LONGEST_SVD: usize = 4096;
}
