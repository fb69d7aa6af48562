//! A whole GCN layer as one operation.
//!
//! candle adds every gradient to a tensor of zeros that it makes for the purpose:
//! for a large batch that takes as long as the sparse product. One operation per
//! layer has half the gradients of a product and a propagation, and the product is
//! not kept for the backward pass. Between layers that are relayed there is no such
//! gradient at all.

use std::sync::{Mutex, PoisonError};

use candle_core::{CpuStorage, CustomOp2, CustomOp3, Layout, Shape, Tensor, WithDType, bail};
use egg_nn::numbers::with_values;
use egg_nn::{Linear, Pass, Relayed, given, linear_gradients};

use super::input::NodeInput;
use super::kernel::{self, Finish};
use super::matrix::SparseMatrix;
use super::propagate::{check_rows, gathered};
use super::sparse_linear::weight_gradient;
use super::tensor::for_element;
use crate::error::Result;

/// What a layer is, besides its input.
pub(super) struct Layer<'a> {
    pub(super) linear: &'a Linear,
    pub(super) bias: Tensor,
    pub(super) propagation: &'a SparseMatrix,
    pub(super) rectify: bool,
}

impl Layer<'_> {
    /// `A x W^T + b`, rectified if asked for.
    pub(super) fn apply(&self, x: &NodeInput, pass: &mut Pass<'_>) -> Result<Tensor> {
        let output = self.output(&x.detached())?;
        let weight = pass.parameter(self.linear.weight());
        Ok(match x {
            NodeInput::Dense(x) => {
                let op = self.operation(None, x.track_op(), Some(output));
                pass.input(x).apply_op3(&weight, &self.bias, op)?
            }
            NodeInput::Sparse(features) => {
                let op = self.operation(Some(features.clone()), false, Some(output));
                weight.apply_op2(&self.bias, op)?
            }
        })
    }

    /// The same, relayed.
    pub(super) fn relay(&self, x: &NodeInput, pass: &mut Pass<'_>) -> Result<Relayed> {
        let output = self.tensor(self.output(&x.detached())?)?;
        let weight = pass.parameter(self.linear.weight());
        Ok(match x {
            NodeInput::Dense(x) => {
                let op = self.operation(None, x.track_op(), None);
                Relayed::by_op3(output, &pass.input(x), &weight, &self.bias, op)?
            }
            NodeInput::Sparse(features) => {
                let op = self.operation(Some(features.clone()), false, None);
                Relayed::by_op2(output, &weight, &self.bias, op)?
            }
        })
    }

    /// The same of what is relayed.
    pub(super) fn relay_on(&self, x: &Relayed, pass: &mut Pass<'_>) -> Result<Relayed> {
        let output = self.tensor(self.output(&NodeInput::Dense(x.values().clone()))?)?;
        let weight = pass.parameter(self.linear.weight());
        let op = self.operation(None, pass.is_training() && x.track_op(), None);
        Ok(match pass.is_training() {
            true => x.then_op3(output, &weight, &self.bias, op)?,
            false => Relayed::by_op3(output, x.values(), &weight, &self.bias, op)?,
        })
    }

    /// What comes out, as candle stores it. `x` is off the tape.
    fn output(&self, x: &NodeInput) -> Result<CpuStorage> {
        let product = x.product(self.linear, &mut Pass::Evaluation)?;
        check_rows(self.propagation, &product)?;
        Ok(propagated(self.propagation, &product, &self.bias, self.rectify)?)
    }

    /// The same numbers as a tensor.
    fn tensor(&self, output: CpuStorage) -> Result<Tensor> {
        let shape = (self.propagation.shape().0, self.linear.out_features());
        let device = self.bias.device();
        Ok(match output {
            CpuStorage::F32(numbers) => Tensor::from_vec(numbers, shape, device)?,
            CpuStorage::F64(numbers) => Tensor::from_vec(numbers, shape, device)?,
            _ => unreachable!("`propagated` gives f32 or f64"),
        })
    }

    fn operation(
        &self,
        features: Option<SparseMatrix>,
        of_input: bool,
        output: Option<CpuStorage>,
    ) -> GcnLayer {
        GcnLayer {
            features,
            of_input,
            propagation: self.propagation.clone(),
            rectify: self.rectify,
            output: Mutex::new(output),
        }
    }
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
    /// Whether a dense input's gradient is wanted.
    of_input: bool,
    propagation: SparseMatrix,
    rectify: bool,
    /// What comes out, until candle takes it; nothing where it is relayed.
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
        bias: &Tensor,
        y: &Tensor,
        g: &Tensor,
    ) -> candle_core::Result<(Option<Tensor>, Option<Tensor>, Option<Tensor>)> {
        let (product, of_bias) = self.pull_back(y, g)?;
        let (of_x, of_weight) = linear_gradients(x, weight, &product, self.of_input)?;
        let of_x = of_x.and_then(|gradient| given(x, gradient));
        Ok((of_x, given(weight, of_weight), given(bias, of_bias)))
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
        bias: &Tensor,
        y: &Tensor,
        g: &Tensor,
    ) -> candle_core::Result<(Option<Tensor>, Option<Tensor>)> {
        let (product, of_bias) = self.pull_back(y, g)?;
        let Some(features) = &self.features else {
            bail!("a dense layer was applied as a sparse one");
        };
        let of_weight = weight_gradient(features, weight, &product)?;
        Ok((given(weight, of_weight), given(bias, of_bias)))
    }
}
