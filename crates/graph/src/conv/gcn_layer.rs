//! A whole GCN layer as one operation: its product is not kept for the backward pass.

use std::sync::Arc;

use egg_tensor::{Backward, Element, Forward, Operand, Operation, affine};

use super::kernel::{self, Finish};
use super::matrix::SparseMatrix;
use super::outer::outer;
use super::spmm;
use crate::error::{Error, Result};
use crate::sparse::CsrMatrix;

/// `A x W^T + b`, or its ReLU, of a dense `x`, `W` and `b`.
pub(super) struct DenseLayer {
    pub(super) propagation: SparseMatrix,
    pub(super) relu: bool,
}

impl<T: Element> Operation<T, 3> for DenseLayer {
    type Saved = ();
    type Error = Error;

    fn name(&self) -> &'static str {
        "egg-gcn"
    }

    fn forward(&self, [x, weight, bias]: [Operand<'_, T>; 3]) -> Result<Forward<T>> {
        let (out_features, in_features) = weight.dims2()?;
        let product = affine::forward(&x, &weight, None, in_features, out_features, false);
        let finish = finish(&bias, self.relu);
        let y = kernel::multiply(self.propagation.csr(), &product, out_features, &finish);
        Ok(Forward::new(y, (self.propagation.shape().0, out_features)))
    }

    fn backward(&self, of: Backward<'_, T, (), 3>) -> Result<[Option<Vec<T>>; 3]> {
        let [x, weight, _] = of.inputs;
        let (out_features, in_features) = weight.dims2()?;
        let output = self.relu.then_some(of.output.values);
        let (product, bias) = spmm::gradients(&self.propagation, output, of.gradient, out_features);
        let wanted = affine::Wanted {
            input: of.wanted[0],
            bias: false,
        };
        let (x, weight, _) = affine::backward(&x, &weight, None, &product, in_features, out_features, wanted);
        Ok([x, Some(weight), Some(bias)])
    }
}

/// `A X W^T + b`, or its ReLU, of `W` and `b`, for constant sparse features.
pub(super) struct SparseLayer {
    pub(super) input: SparseInput,
    pub(super) relu: bool,
}

pub(super) enum SparseInput {
    /// `X`, and the `A` it is propagated with in every step.
    Features(SparseMatrix, SparseMatrix),
    /// `A X`, propagated beforehand.
    Propagated(Arc<CsrMatrix>),
}

impl<T: Element> Operation<T, 2> for SparseLayer {
    type Saved = ();
    type Error = Error;

    fn name(&self) -> &'static str {
        "egg-gcn-sparse"
    }

    fn forward(&self, [weight, bias]: [Operand<'_, T>; 2]) -> Result<Forward<T>> {
        let (out_features, in_features) = weight.dims2()?;
        // A row of features picks rows of W^T.
        let columns = kernel::transposed(&weight, out_features, in_features);
        let finish = finish(&bias, self.relu);
        let (last, right) = match &self.input {
            SparseInput::Propagated(ax) => (&**ax, columns),
            SparseInput::Features(features, propagation) => {
                let product = kernel::multiply(features.csr(), &columns, out_features, &Finish::NOTHING);
                (propagation.csr(), product)
            }
        };
        let y = kernel::multiply(last, &right, out_features, &finish);
        Ok(Forward::new(y, (last.shape().0, out_features)))
    }

    fn backward(&self, of: Backward<'_, T, (), 2>) -> Result<[Option<Vec<T>>; 2]> {
        let (out_features, in_features) = of.inputs[0].dims2()?;
        let output = self.relu.then_some(of.output.values);
        let (columns, bias) = match &self.input {
            SparseInput::Propagated(ax) => outer(ax, of.gradient, output, out_features),
            SparseInput::Features(features, propagation) => {
                let (product, bias) = spmm::gradients(propagation, output, of.gradient, out_features);
                let features = features.transposed_csr();
                (
                    kernel::multiply(features, &product, out_features, &Finish::NOTHING),
                    bias,
                )
            }
        };
        let weight = kernel::transposed(&columns, in_features, out_features);
        Ok([Some(weight), Some(bias)])
    }
}

fn finish<'a, T>(bias: &'a [T], relu: bool) -> Finish<'a, T> {
    Finish {
        bias: Some(bias),
        relu,
        own: None,
    }
}

/// `X W^T` of `W`, for constant sparse features: the first product of other layers.
pub(super) struct SparseProduct {
    pub(super) features: SparseMatrix,
}

impl<T: Element> Operation<T, 1> for SparseProduct {
    type Saved = ();
    type Error = Error;

    fn name(&self) -> &'static str {
        "egg-sparse-product"
    }

    fn forward(&self, [weight]: [Operand<'_, T>; 1]) -> Result<Forward<T>> {
        let (out_features, in_features) = weight.dims2()?;
        let columns = kernel::transposed(&weight, out_features, in_features);
        let y = kernel::multiply(self.features.csr(), &columns, out_features, &Finish::NOTHING);
        Ok(Forward::new(y, (self.features.shape().0, out_features)))
    }

    fn backward(&self, of: Backward<'_, T, (), 1>) -> Result<[Option<Vec<T>>; 1]> {
        let (out_features, in_features) = of.inputs[0].dims2()?;
        let features = self.features.transposed_csr();
        let columns = kernel::multiply(features, of.gradient, out_features, &Finish::NOTHING);
        Ok([Some(kernel::transposed(&columns, in_features, out_features))])
    }
}
