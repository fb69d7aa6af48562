//! A whole GCN layer as one operation.
//!
//! candle adds every gradient to a tensor of zeros that it makes for the purpose:
//! for a large batch that takes as long as the sparse product. One operation per
//! layer has half the gradients of a product and a propagation, and the product is
//! not kept for the backward pass.

use std::sync::{Mutex, PoisonError};

use candle_core::{CpuStorage, CustomOp2, CustomOp3, Layout, Shape, Tensor, WithDType, bail};
use egg_nn::numbers::with_values;
use egg_nn::{Linear, Pass, linear_gradients};

use super::input::NodeInput;
use super::kernel::{self, Finish};
use super::matrix::SparseMatrix;
use super::propagate::{check_rows, gathered};
use super::sparse_linear::weight_gradient;
use super::tensor::for_element;
use crate::error::Result;

/// `A x W^T + b`, rectified if asked for.
pub(super) fn gcn_layer(
    x: &NodeInput,
    linear: &Linear,
    bias: &Tensor,
    propagation: &SparseMatrix,
    pass: &mut Pass<'_>,
    rectify: bool,
) -> Result<Tensor> {
    let product = x.detached().product(linear, &mut Pass::Evaluation)?;
    check_rows(propagation, &product)?;
    let output = propagated(propagation, &product, bias, rectify)?;
    let layer = GcnLayer {
        features: match x {
            NodeInput::Dense(_) => None,
            NodeInput::Sparse(features) => Some(features.clone()),
        },
        propagation: propagation.clone(),
        rectify,
        output: Mutex::new(Some(output)),
    };
    let weight = pass.parameter(linear.weight());
    Ok(match x {
        NodeInput::Dense(x) => pass.input(x).apply_op3(&weight, bias, layer)?,
        NodeInput::Sparse(_) => weight.apply_op2(bias, layer)?,
    })
}

/// `A x + b`, rectified if asked for, as candle stores it.
fn propagated(
    propagation: &SparseMatrix,
    x: &Tensor,
    bias: &Tensor,
    rectify: bool,
) -> candle_core::Result<CpuStorage> {
    let (_, width) = x.dims2()?;
    for_element!(x.dtype(), T => with_values::<T, _>(bias, |bias| {
        let finish = Finish { bias: Some(bias), rectify, own: None };
        with_values::<T, _>(x, |x| {
            let rows = kernel::multiply(propagation.csr(), x, width, &finish);
            Ok(<T as WithDType>::to_cpu_storage_owned(rows))
        })
    }))
}

/// One forward pass; candle keeps it for the backward pass.
struct GcnLayer {
    /// The input, if it is sparse (and so constant).
    features: Option<SparseMatrix>,
    propagation: SparseMatrix,
    rectify: bool,
    /// What comes out, until candle takes it.
    output: Mutex<Option<CpuStorage>>,
}

impl GcnLayer {
    fn take(&self, width: usize) -> candle_core::Result<(CpuStorage, Shape)> {
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        match output.take() {
            Some(output) => Ok((output, (self.propagation.shape().0, width).into())),
            None => bail!("a layer's operation was applied twice"),
        }
    }

    /// Gradients of `x W^T` and of the bias.
    fn pull_back(&self, y: &Tensor, g: &Tensor) -> candle_core::Result<(Tensor, Tensor)> {
        gathered(&self.propagation, y, g, self.rectify)
    }
}

/// Dense input, weight, bias.
impl CustomOp3 for GcnLayer {
    fn name(&self) -> &'static str {
        "egg-gcn"
    }

    fn cpu_fwd(
        &self,
        _: &CpuStorage,
        _: &Layout,
        _: &CpuStorage,
        weight: &Layout,
        _: &CpuStorage,
        _: &Layout,
    ) -> candle_core::Result<(CpuStorage, Shape)> {
        self.take(weight.shape().dims2()?.0)
    }

    fn bwd(
        &self,
        x: &Tensor,
        weight: &Tensor,
        _: &Tensor,
        y: &Tensor,
        g: &Tensor,
    ) -> candle_core::Result<(Option<Tensor>, Option<Tensor>, Option<Tensor>)> {
        let (product, bias) = self.pull_back(y, g)?;
        let (x, weight) = linear_gradients(x, weight, &product)?;
        Ok((x, Some(weight), Some(bias)))
    }
}

/// Weight and bias; the input is sparse.
impl CustomOp2 for GcnLayer {
    fn name(&self) -> &'static str {
        "egg-gcn-sparse"
    }

    fn cpu_fwd(
        &self,
        _: &CpuStorage,
        weight: &Layout,
        _: &CpuStorage,
        _: &Layout,
    ) -> candle_core::Result<(CpuStorage, Shape)> {
        self.take(weight.shape().dims2()?.0)
    }

    fn bwd(
        &self,
        weight: &Tensor,
        _: &Tensor,
        y: &Tensor,
        g: &Tensor,
    ) -> candle_core::Result<(Option<Tensor>, Option<Tensor>)> {
        let (product, bias) = self.pull_back(y, g)?;
        let Some(features) = &self.features else {
            bail!("a dense layer was applied as a sparse one");
        };
        Ok((Some(weight_gradient(features, weight, &product)?), Some(bias)))
    }
}
