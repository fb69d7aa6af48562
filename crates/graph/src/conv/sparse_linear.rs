//! `X W^T` for sparse features `X`: the first layer of a network.

use candle_core::{CpuStorage, CustomOp1, Layout, Shape, Tensor, WithDType};
use egg_nn::given;
use egg_nn::numbers::{in_order, with_values};

use super::kernel::{self, Finish};
use super::matrix::SparseMatrix;
use super::tensor::for_element;
use crate::error::{Error, Result};

/// `X W^T` for constant sparse `X` (n x in) and a weight `W` (out x in), as
/// [`egg_nn::Linear`] holds it.
pub(super) fn sparse_linear(x: &SparseMatrix, weight: &Tensor) -> Result<Tensor> {
    let (_, in_features) = weight.dims2()?;
    if in_features != x.shape().1 {
        return Err(Error::Length {
            what: "sparse features",
            unit: "columns",
            expected: in_features,
            found: x.shape().1,
        });
    }
    Ok(weight.apply_op1(SparseLinear { x: x.clone() })?)
}

struct SparseLinear {
    x: SparseMatrix,
}

impl CustomOp1 for SparseLinear {
    fn name(&self) -> &'static str {
        "egg-sparse-linear"
    }

    fn cpu_fwd(&self, weight: &CpuStorage, layout: &Layout) -> candle_core::Result<(CpuStorage, Shape)> {
        use candle_core::backend::BackendStorage;
        let (out_features, in_features) = layout.shape().dims2()?;
        let out = for_element!(weight.dtype(), T => {
            // A row of features picks rows of W^T.
            let rows = kernel::transposed(&in_order::<T>(weight, layout)?, out_features, in_features);
            let out = kernel::multiply(self.x.csr(), &rows, out_features, &Finish::NOTHING);
            <T as WithDType>::to_cpu_storage_owned(out)
        });
        Ok((out, (self.x.shape().0, out_features).into()))
    }

    fn bwd(&self, weight: &Tensor, _: &Tensor, g: &Tensor) -> candle_core::Result<Option<Tensor>> {
        Ok(given(weight, weight_gradient(&self.x, weight, g)?))
    }
}

/// The gradient of the weight, from that of the product: `dW^T = X^T G`.
pub(super) fn weight_gradient(x: &SparseMatrix, weight: &Tensor, g: &Tensor) -> candle_core::Result<Tensor> {
    let (out_features, in_features) = weight.dims2()?;
    for_element!(weight.dtype(), T => {
        let rows = with_values::<T, _>(g, |g| {
            Ok(kernel::multiply(x.transposed_csr(), g, out_features, &Finish::NOTHING))
        })?;
        let columns = kernel::transposed(&rows, in_features, out_features);
        Tensor::from_vec(columns, (out_features, in_features), weight.device())
    })
}
