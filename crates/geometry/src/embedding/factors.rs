//! The decomposition behind a projector: the directions of `H` and how many of them are kept, in
//! reusable memory.

mod decompose;

use ndarray::{Array2, ArrayView2, ArrayViewMut2};

use crate::embedding::flatten::{Flatten, mirror_upper};
use crate::embedding::rank::{RankChoice, RankRule, Spectrum, norm_of};
use crate::embedding::triangle;
use crate::embedding::workspace::{Workspace, matrix_in, matrix_ref};
use crate::error::{Error, Result};
use crate::linalg::{TridiagonalForm, multiply};
use crate::scalar::Scalar;
use crate::tuning::speed::TRIANGLE_DIRECTIONS;
pub(super) use decompose::Stored;

/// The singular directions of an n x m matrix `H` in R^m, with the rank chosen
/// by a rule: all that the projector `P = U_p U_p^T` and its gradient need.
///
/// Always f64 inside. For f32 data the directions come from an f64 Gram matrix
/// of the smaller side; for f64 data too where that is accurate, otherwise from
/// an SVD. `H` is divided by `max |H|` first, so that any scale works.
///
/// Most users need only [`rectify`](crate::rectify); this is for gradients, and for decomposing
/// many matrices without allocations.
///
/// ```
/// use egg_geometry::{Factors, Flatten, RankRule, Workspace};
/// use ndarray::array;
///
/// let h = array![[2.0f32, 0.0], [0.0, 0.5], [2.0, 0.0]];
/// let mut factors = Factors::new();
/// factors.compute(h.view(), RankRule::Threshold(0.8), &mut Workspace::new())?;
/// assert_eq!(factors.projector::<f32>(), array![[1.0, 0.0], [0.0, 0.0]]);
/// # Ok::<(), egg_geometry::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Factors {
    rows: usize,
    columns: usize,
    scale: f64,
    /// Descending, of H / scale; min(n, m) of them.
    sigma: Vec<f64>,
    /// `stored` x m, row i is direction i.
    directions: Vec<f64>,
    stored: usize,
    rest: Rest,
    /// If the rest needs it: the Gram matrix of the smaller side of H / scale.
    tridiagonal: TridiagonalForm,
    eps: f64,
    tie_tolerance: f64,
    choice: RankChoice,
}

/// The directions that are not stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rest {
    /// They span the null space of H, with singular value 0 (or there are none).
    Null,
    /// Not computed, but [`Factors::tridiagonal`] can be solved with; a clear cut separates them
    /// from the stored ones.
    Unknown,
}

impl Default for Factors {
    fn default() -> Self {
        Self::new()
    }
}

impl Factors {
    /// Empty factors, to be computed.
    ///
    /// ```
    /// assert_eq!(egg_geometry::Factors::new().choice().p, 0);
    /// ```
    pub fn new() -> Self {
        Self {
            rows: 0,
            columns: 0,
            scale: 0.0,
            sigma: Vec::new(),
            directions: Vec::new(),
            stored: 0,
            rest: Rest::Null,
            tridiagonal: TridiagonalForm::default(),
            eps: f64::EPSILON,
            tie_tolerance: f64::TIE_TOLERANCE,
            choice: RankChoice {
                p: 0,
                by_rule: 0,
                numerical_rank: 0,
                extended_by_tie: false,
                captured: 0.0,
                gap: 0.0,
            },
        }
    }

    /// Decomposes `h` (n x m) and applies the rank rule. n = 0 is allowed and
    /// gives p = 0, like a zero matrix.
    ///
    /// For f32 data with many directions of which few are kept, the others are not computed: the
    /// gradient does not need them.
    ///
    /// Complexity: `O(n m min(n, m))`.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a bad rule or an unaddressable m, [`Error::Empty`] for m = 0,
    /// [`Error::NonFinite`], and [`Error::Backend`] if the decomposition fails.
    ///
    /// ```
    /// use egg_geometry::{Error, Factors, RankRule, Workspace};
    /// use ndarray::array;
    ///
    /// let h = array![[1.0, f64::NAN]];
    /// let refused = Factors::new().compute(h.view(), RankRule::Fixed(1), &mut Workspace::new());
    /// assert!(matches!(refused, Err(Error::NonFinite { row: 0, column: 1, .. })));
    /// ```
    pub fn compute<T: Scalar>(
        &mut self,
        h: ArrayView2<'_, T>,
        rule: RankRule,
        workspace: &mut Workspace,
    ) -> Result<()> {
        Self::check_columns(h.ncols())?;
        self.decompose(h, rule, h.ncols(), Stored::KeptIfFew, workspace)
    }

    fn check_columns(m: usize) -> Result<()> {
        if m.checked_mul(m)
            .is_none_or(|entries| entries > isize::MAX as usize / size_of::<f64>())
        {
            return Err(Error::Parameter {
                name: "columns of H",
                value: m as f64,
                requirement: "a projector of m x m numbers must be possible",
            });
        }
        Ok(())
    }

    fn spectrum(&self, columns: usize) -> Spectrum<'_> {
        Spectrum {
            sigma: &self.sigma,
            scale: self.scale,
            norm: norm_of(self.sigma.iter().copied()),
            columns,
            eps: self.eps,
            tie_tolerance: self.tie_tolerance,
        }
    }

    /// What the rule decided.
    ///
    /// ```
    /// use egg_geometry::{Factors, RankRule, Workspace};
    /// let mut factors = Factors::new();
    /// factors.compute(ndarray::array![[3.0], [4.0]].view(), RankRule::Fixed(1), &mut Workspace::new())?;
    /// assert_eq!(factors.choice().p, 1);
    /// # Ok::<(), egg_geometry::Error>(())
    /// ```
    pub fn choice(&self) -> RankChoice {
        self.choice
    }

    /// Fixes p, regardless of the rule and of ties, capped by what is stored:
    /// for tests of cuts that no rule makes.
    #[cfg(test)]
    fn fix_rank(&mut self, p: usize) {
        let highest = match self.rest {
            Rest::Null => self.choice.numerical_rank,
            Rest::Unknown => self.stored,
        };
        let p = p.min(highest);
        self.choice = RankChoice::at(p, p, &self.spectrum(self.columns));
    }

    /// The rows and columns of the matrix that was decomposed.
    ///
    /// ```
    /// assert_eq!(egg_geometry::Factors::new().shape(), (0, 0));
    /// ```
    pub fn shape(&self) -> (usize, usize) {
        (self.rows, self.columns)
    }

    /// The singular values of `H`, descending, min(n, m) of them (none for a
    /// zero `H`).
    ///
    /// ```
    /// use egg_geometry::{Factors, RankRule, Workspace};
    /// let mut factors = Factors::new();
    /// factors.compute(ndarray::array![[3.0], [4.0]].view(), RankRule::Fixed(1), &mut Workspace::new())?;
    /// assert!((factors.singular_values().next().unwrap() - 5.0).abs() < 1e-14);
    /// # Ok::<(), egg_geometry::Error>(())
    /// ```
    pub fn singular_values(&self) -> impl ExactSizeIterator<Item = f64> + '_ {
        self.sigma.iter().map(|value| (value * self.scale).min(f64::MAX))
    }

    /// What `H` was divided by, `max |H|`.
    pub(crate) fn scale(&self) -> f64 {
        self.scale
    }

    /// Squared singular values of `H / scale`.
    pub(crate) fn eigenvalue(&self, index: usize) -> f64 {
        self.sigma.get(index).map_or(0.0, |value| value * value)
    }

    /// What the gradient has to solve with for the directions that are not stored,
    /// unless they are of the null space.
    pub(crate) fn rest(&self) -> Option<&TridiagonalForm> {
        match self.rest {
            Rest::Null => None,
            Rest::Unknown => Some(&self.tridiagonal),
        }
    }

    /// The kept directions, one after another.
    pub(crate) fn kept_directions(&self) -> &[f64] {
        &self.directions[..self.choice.p * self.columns]
    }

    /// Directions kept (p x m) and stored though dropped, one per row.
    pub(crate) fn split(&self) -> (ArrayView2<'_, f64>, ArrayView2<'_, f64>) {
        let all = matrix_ref(&self.directions, self.stored, self.columns);
        all.split_at(ndarray::Axis(0), self.choice.p)
    }

    /// The orthonormal basis `U_p` (m x p); p may be 0.
    ///
    /// ```
    /// use egg_geometry::{Factors, RankRule, Workspace};
    /// let mut factors = Factors::new();
    /// factors.compute(ndarray::array![[0.0, 2.0]].view(), RankRule::Fixed(1), &mut Workspace::new())?;
    /// assert_eq!(factors.basis::<f64>().mapv(f64::abs), ndarray::array![[0.0], [1.0]]);
    /// # Ok::<(), egg_geometry::Error>(())
    /// ```
    pub fn basis<T: Scalar>(&self) -> Array2<T> {
        self.split().0.t().mapv(T::rounded)
    }

    /// The projector `P = U_p U_p^T` (m x m).
    ///
    /// ```
    /// use egg_geometry::{Factors, RankRule, Workspace};
    /// let mut factors = Factors::new();
    /// factors.compute(ndarray::array![[0.0, 2.0]].view(), RankRule::Fixed(1), &mut Workspace::new())?;
    /// assert_eq!(factors.projector::<f64>(), ndarray::array![[0.0, 0.0], [0.0, 1.0]]);
    /// # Ok::<(), egg_geometry::Error>(())
    /// ```
    pub fn projector<T: Scalar>(&self) -> Array2<T> {
        let mut out = Array2::zeros((self.columns, self.columns));
        let mut square = Vec::new();
        out.assign(&self.projector_in(&mut square).mapv(T::rounded));
        mirror_upper(&mut out.view_mut());
        out
    }

    /// The projector in f64, in the memory of the workspace.
    pub(crate) fn projector_in<'a>(&self, square: &'a mut Vec<f64>) -> ArrayViewMut2<'a, f64> {
        let (kept, _) = self.split();
        let mut projector = matrix_in(square, self.columns, self.columns);
        multiply(1.0, kept.t(), kept, 0.0, &mut projector);
        projector
    }

    /// Writes the flattened upper triangle of the projector, `m (m + 1) / 2`
    /// numbers, without allocating.
    ///
    /// # Errors
    /// [`Error::Length`] if `out` has another length.
    ///
    /// ```
    /// use egg_geometry::{Factors, Flatten, RankRule, Workspace};
    /// let (mut factors, mut workspace) = (Factors::new(), Workspace::new());
    /// factors.compute(ndarray::array![[0.0, 2.0]].view(), RankRule::Fixed(1), &mut workspace)?;
    /// let mut flat = [0.0f64; 3];
    /// factors.embed_into(Flatten::Upper, &mut flat, &mut workspace)?;
    /// assert_eq!(flat, [0.0, 0.0, 1.0]);
    /// # Ok::<(), egg_geometry::Error>(())
    /// ```
    pub fn embed_into<T: Scalar>(
        &self,
        flatten: Flatten,
        out: &mut [T],
        workspace: &mut Workspace,
    ) -> Result<()> {
        flatten.check_length(self.columns, out.len())?;
        if self.choice.p <= TRIANGLE_DIRECTIONS {
            triangle::square_of(self.kept_directions(), self.columns, flatten.weight(), out);
            return Ok(());
        }
        let projector = self.projector_in(&mut workspace.square);
        flatten.write(projector.view(), out, T::rounded)
    }
}

#[cfg(test)]
mod tests;
