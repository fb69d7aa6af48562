//! The product of a sparse matrix with a tensor, as one operation with its own
//! gradient; with a bias, a ReLU, or GIN's own term where a layer has one.

use egg_tensor::{Backward, Element, Forward, Operand, Operation, Tracked, apply, sums};

use super::kernel::{self, Finish};
use super::matrix::SparseMatrix;
use crate::error::{Error, Result};

/// `A x` for a sparse `A` (r x n) and a tensor `x` (n x m) in f32 or f64; the
/// gradient of `x` is `A^T` times the gradient of the product.
///
/// # Complexity
/// `m` multiplications per entry of `A`, forward and backward; rows are shared
/// between rayon's threads.
///
/// # Errors
/// [`Error::Length`] unless `x` has as many rows as `A` has columns,
/// [`Error::Candle`] unless it is an f32 or f64 matrix on the CPU.
///
/// ```
/// use candle_core::{Device, Tensor, Var};
/// use egg_graph::{CsrMatrix, conv::{SparseMatrix, spmm}};
///
/// let a = SparseMatrix::new(CsrMatrix::from_dense(ndarray::array![[0.0, 2.0], [1.0, 0.0]].view())?);
/// let x = Var::new(&[[1f32], [3.0]], &Device::Cpu)?;
/// let y = spmm(&a, &x)?;
/// assert_eq!(y.to_vec2::<f32>()?, [[6.0], [1.0]]);
/// let gradients = y.sum_all()?.backward()?;
/// assert_eq!(gradients.get(&x).unwrap().to_vec2::<f32>()?, [[1.0], [2.0]]);
/// # Ok::<(), egg_graph::Error>(())
/// ```
pub fn spmm(matrix: &SparseMatrix, x: impl Into<Tracked>) -> Result<Tracked> {
    propagate(matrix, x.into(), false)
}

/// `A x`, or its ReLU.
pub(super) fn propagate(matrix: &SparseMatrix, x: Tracked, relu: bool) -> Result<Tracked> {
    check_rows(matrix, x.dims2()?.0)?;
    let matrix = matrix.clone();
    apply(Propagate { matrix, relu }, [x])
}

/// `(1 + eps) x + A x + b` for a square `A`.
pub(super) fn gin_sum(matrix: &SparseMatrix, x: Tracked, eps: Tracked, bias: Tracked) -> Result<Tracked> {
    check_rows(matrix, x.dims2()?.0)?;
    if matrix.shape().0 != matrix.shape().1 {
        return Err(Error::Length {
            what: "propagation matrix",
            unit: "rows",
            expected: matrix.shape().1,
            found: matrix.shape().0,
        });
    }
    let matrix = matrix.clone();
    apply(GinSum { matrix }, [x, eps, bias])
}

pub(super) fn check_rows(matrix: &SparseMatrix, rows: usize) -> Result<()> {
    if rows == matrix.shape().1 {
        return Ok(());
    }
    Err(Error::Length {
        what: "node matrix",
        unit: "rows (one per column of the sparse matrix)",
        expected: matrix.shape().1,
        found: rows,
    })
}

/// The gradients of `x` and `b` in `y = A x + b`, from that of `y`; `output` is `y` if that is of
/// a ReLU.
pub(super) fn gradients<T: Element>(
    matrix: &SparseMatrix,
    output: Option<&[T]>,
    gradient: &[T],
    width: usize,
) -> (Vec<T>, Vec<T>) {
    let back = |g: &[T]| kernel::multiply(matrix.transposed_csr(), g, width, &Finish::NOTHING);
    match output {
        Some(output) => {
            let (gated, bias) = sums::gate(gradient, output, width);
            (back(&gated), bias)
        }
        None => {
            let bias = sums::column_sum(gradient, width);
            (back(gradient), bias)
        }
    }
}

/// `A x`, or its ReLU.
struct Propagate {
    matrix: SparseMatrix,
    relu: bool,
}

impl<T: Element> Operation<T, 1> for Propagate {
    type Saved = ();
    type Error = Error;

    fn name(&self) -> &'static str {
        "egg-spmm"
    }

    fn forward(&self, [x]: [Operand<'_, T>; 1]) -> Result<Forward<T>> {
        let (_, width) = x.dims2()?;
        let finish = Finish {
            relu: self.relu,
            ..Finish::NOTHING
        };
        let y = kernel::multiply(self.matrix.csr(), &x, width, &finish);
        Ok(Forward::new(y, (self.matrix.shape().0, width)))
    }

    fn backward(&self, of: Backward<'_, T, (), 1>) -> Result<[Option<Vec<T>>; 1]> {
        let (_, width) = of.output.dims2()?;
        let back = |g: &[T]| kernel::multiply(self.matrix.transposed_csr(), g, width, &Finish::NOTHING);
        Ok([Some(match self.relu {
            true => back(&sums::gate(of.gradient, &of.output, width).0),
            false => back(of.gradient),
        })])
    }
}

/// `(1 + eps) x + A x + b`.
struct GinSum {
    matrix: SparseMatrix,
}

/// How often a node counts itself.
fn own<T: Element>(eps: &[T]) -> Option<T> {
    eps.first().map(|eps| T::one() + *eps)
}

impl<T: Element> Operation<T, 3> for GinSum {
    type Saved = ();
    type Error = Error;

    fn name(&self) -> &'static str {
        "egg-gin-sum"
    }

    fn forward(&self, [x, eps, bias]: [Operand<'_, T>; 3]) -> Result<Forward<T>> {
        let (rows, width) = x.dims2()?;
        let finish = Finish {
            bias: Some(bias.values),
            relu: false,
            own: own(&eps),
        };
        let y = kernel::multiply(self.matrix.csr(), &x, width, &finish);
        Ok(Forward::new(y, (rows, width)))
    }

    fn backward(&self, of: Backward<'_, T, (), 3>) -> Result<[Option<Vec<T>>; 3]> {
        let [x, eps, _] = of.inputs;
        let (g, (_, width)) = (of.gradient, x.dims2()?);
        let finish = Finish {
            own: own(&eps),
            ..Finish::NOTHING
        };
        let dx = kernel::multiply(self.matrix.transposed_csr(), g, width, &finish);
        let deps = sums::dot(&x, g);
        Ok([Some(dx), Some(vec![deps]), Some(sums::column_sum(g, width))])
    }
}
