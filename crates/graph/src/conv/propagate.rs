//! The product of a sparse matrix with a tensor, as one operation with its own
//! gradient; with a bias, a rectifier, or GIN's own term where a layer has one.

use candle_core::{CpuStorage, CustomOp1, CustomOp3, Layout, Shape, Tensor, WithDType};
use egg_nn::given;
use egg_nn::numbers::{in_order, with_values};

use super::kernel::{self, Finish};
use super::matrix::SparseMatrix;
use super::sums;
use super::tensor::{Element, for_element};
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
pub fn spmm(matrix: &SparseMatrix, x: &Tensor) -> Result<Tensor> {
    check_rows(matrix, x)?;
    Ok(x.apply_op1(Propagate::new(matrix, false))?)
}

/// `A x`, rectified if asked for.
pub(super) fn propagate(matrix: &SparseMatrix, x: &Tensor, rectify: bool) -> Result<Tensor> {
    check_rows(matrix, x)?;
    Ok(x.apply_op1(Propagate::new(matrix, rectify))?)
}

/// `(1 + eps) x + A x + b` for a square `A`.
pub(super) fn gin_sum(matrix: &SparseMatrix, x: &Tensor, eps: &Tensor, bias: &Tensor) -> Result<Tensor> {
    check_rows(matrix, x)?;
    if matrix.shape().0 != matrix.shape().1 {
        return Err(Error::Length {
            what: "propagation matrix",
            unit: "rows",
            expected: matrix.shape().1,
            found: matrix.shape().0,
        });
    }
    Ok(x.apply_op3(eps, bias, Propagate::new(matrix, false))?)
}

pub(super) fn check_rows(matrix: &SparseMatrix, x: &Tensor) -> Result<()> {
    let (rows, _) = x.dims2()?;
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

/// One forward pass; candle keeps it for the backward pass.
struct Propagate {
    matrix: SparseMatrix,
    rectify: bool,
}

type Operand<'a> = (&'a CpuStorage, &'a Layout);

impl Propagate {
    fn new(matrix: &SparseMatrix, rectify: bool) -> Self {
        Self {
            matrix: matrix.clone(),
            rectify,
        }
    }

    fn run(
        &self,
        x: Operand<'_>,
        eps: Option<Operand<'_>>,
        bias: Option<Operand<'_>>,
    ) -> candle_core::Result<(CpuStorage, Shape)> {
        use candle_core::backend::BackendStorage;
        let width = x.1.shape().dims2()?.1;
        let out = for_element!(x.0.dtype(), T => {
            let bias = bias.map(|(storage, layout)| in_order::<T>(storage, layout)).transpose()?;
            let own = eps.map(|(storage, layout)| in_order::<T>(storage, layout)).transpose()?;
            let own = own.and_then(|eps| eps.first().map(|eps| T::widened(1.0) + *eps));
            let finish = Finish { bias: bias.as_deref(), rectify: self.rectify, own };
            let out = kernel::multiply(self.matrix.csr(), &in_order::<T>(x.0, x.1)?, width, &finish);
            <T as WithDType>::to_cpu_storage_owned(out)
        });
        Ok((out, (self.matrix.shape().0, width).into()))
    }

    /// Gradients of the input, the bias (if wanted) and eps (if there is one; it
    /// comes with the input).
    fn pull_back<T: Element>(
        &self,
        own: Option<(&Tensor, &Tensor)>,
        y: &Tensor,
        g: &Tensor,
        want_bias: bool,
    ) -> candle_core::Result<Gradients> {
        let (_, width) = g.dims2()?;
        let (gated, sums) = match (self.rectify, want_bias) {
            (true, _) => {
                let gate = |y: &[T]| with_values::<T, _>(g, |g| Ok(sums::gate(g, y, width)));
                let (gated, sums) = with_values::<T, _>(y, gate)?;
                (Some(gated), sums)
            }
            (false, true) => (None, with_values::<T, _>(g, |g| Ok(sums::column_sum(g, width)))?),
            (false, false) => (None, vec![T::default(); width]),
        };
        let times = match own {
            Some((_, eps)) => {
                with_values::<T, _>(eps, |eps| Ok(eps.first().map(|eps| T::widened(1.0) + *eps)))?
            }
            None => None,
        };
        let dx = with_values::<T, _>(g, |g| {
            let g = gated.as_deref().unwrap_or(g);
            let finish = Finish {
                own: times,
                ..Finish::NOTHING
            };
            Ok(kernel::multiply(self.matrix.transposed_csr(), g, width, &finish))
        })?;
        let deps = match own {
            Some((x, eps)) => {
                let sum = with_values::<T, _>(x, |x| with_values::<T, _>(g, |g| Ok(sums::dot(x, g))))?;
                Some(Tensor::from_vec(vec![sum], eps.shape(), eps.device())?)
            }
            None => None,
        };
        Ok(Gradients {
            x: Tensor::from_vec(dx, (self.matrix.shape().1, width), g.device())?,
            eps: deps,
            bias: Tensor::from_vec(sums, width, g.device())?,
        })
    }
}

/// The gradients of `x` and `b` in `y = A x + b`, rectified if it was.
pub(super) fn gathered(
    matrix: &SparseMatrix,
    y: &Tensor,
    g: &Tensor,
    rectify: bool,
) -> candle_core::Result<(Tensor, Tensor)> {
    let op = Propagate::new(matrix, rectify);
    let gradients = for_element!(g.dtype(), T => op.pull_back::<T>(None, y, g, true))?;
    Ok((gradients.x, gradients.bias))
}

struct Gradients {
    x: Tensor,
    eps: Option<Tensor>,
    bias: Tensor,
}

impl CustomOp1 for Propagate {
    fn name(&self) -> &'static str {
        "egg-spmm"
    }

    fn cpu_fwd(&self, x: &CpuStorage, layout: &Layout) -> candle_core::Result<(CpuStorage, Shape)> {
        self.run((x, layout), None, None)
    }

    fn bwd(&self, x: &Tensor, y: &Tensor, g: &Tensor) -> candle_core::Result<Option<Tensor>> {
        let gradients = for_element!(x.dtype(), T => self.pull_back::<T>(None, y, g, false))?;
        Ok(given(x, gradients.x))
    }
}

impl CustomOp3 for Propagate {
    fn name(&self) -> &'static str {
        "egg-gin-sum"
    }

    fn cpu_fwd(
        &self,
        x: &CpuStorage,
        x_layout: &Layout,
        eps: &CpuStorage,
        eps_layout: &Layout,
        bias: &CpuStorage,
        bias_layout: &Layout,
    ) -> candle_core::Result<(CpuStorage, Shape)> {
        self.run((x, x_layout), Some((eps, eps_layout)), Some((bias, bias_layout)))
    }

    fn bwd(
        &self,
        x: &Tensor,
        eps: &Tensor,
        bias: &Tensor,
        y: &Tensor,
        g: &Tensor,
    ) -> candle_core::Result<(Option<Tensor>, Option<Tensor>, Option<Tensor>)> {
        let gradients = for_element!(x.dtype(), T => self.pull_back::<T>(Some((x, eps)), y, g, true))?;
        let of_eps = gradients.eps.and_then(|gradient| given(eps, gradient));
        Ok((given(x, gradients.x), of_eps, given(bias, gradients.bias)))
    }
}
