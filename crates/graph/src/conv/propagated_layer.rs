//! A GCN layer on features that were propagated beforehand, as one operation.

use std::sync::Arc;

use candle_core::{CpuStorage, CustomOp2, Layout, Shape, Tensor, bail};
use egg_nn::numbers::with_values;
use egg_nn::{Relayed, given};

use super::kernel::{self, Finish};
use super::outer::outer;
use super::tensor::for_element;
use crate::error::{Error, Result};
use crate::sparse::CsrMatrix;

/// `A X W^T + b`, rectified if asked for, relayed; `ax` is n x in.
pub(super) fn propagated_layer(
    ax: &Arc<CsrMatrix>,
    weight: &Tensor,
    bias: &Tensor,
    rectify: bool,
) -> Result<Relayed> {
    let (out_features, in_features) = weight.dims2()?;
    let (rows, width) = ax.shape();
    if width != in_features {
        return Err(Error::Length {
            what: "node features",
            unit: "columns",
            expected: in_features,
            found: width,
        });
    }
    let output = || -> candle_core::Result<Tensor> {
        for_element!(weight.dtype(), T => {
            let output = with_values::<T, _>(weight, |weight| with_values::<T, _>(bias, |bias| {
                let finish = Finish { bias: Some(bias), rectify, own: None };
                let weight = kernel::transposed(weight, out_features, in_features);
                Ok(kernel::multiply(ax, &weight, out_features, &finish))
            }))?;
            Tensor::from_vec(output, (rows, out_features), weight.device())
        })
    };
    let op = PropagatedLayer {
        ax: Arc::clone(ax),
        rectify,
    };
    Ok(Relayed::by_op2(output()?, weight, bias, op)?)
}

/// Of weight and bias.
struct PropagatedLayer {
    ax: Arc<CsrMatrix>,
    rectify: bool,
}

impl CustomOp2 for PropagatedLayer {
    fn name(&self) -> &'static str {
        "egg-gcn-propagated"
    }

    fn cpu_fwd(
        &self,
        _: &CpuStorage,
        _: &Layout,
        _: &CpuStorage,
        _: &Layout,
    ) -> candle_core::Result<(CpuStorage, Shape)> {
        bail!("it is relayed, and was worked out before")
    }

    fn bwd(
        &self,
        weight: &Tensor,
        bias: &Tensor,
        y: &Tensor,
        g: &Tensor,
    ) -> candle_core::Result<(Option<Tensor>, Option<Tensor>)> {
        let (out_features, in_features) = weight.dims2()?;
        for_element!(weight.dtype(), T => {
            let (rows, of_bias) = with_values::<T, _>(g, |g| with_values::<T, _>(y, |y| {
                Ok(outer(&self.ax, g, self.rectify.then_some(y), out_features))
            }))?;
            let of_weight = kernel::transposed(&rows, in_features, out_features);
            let of_weight = Tensor::from_vec(of_weight, (out_features, in_features), weight.device())?;
            let of_bias = Tensor::from_vec(of_bias, out_features, bias.device())?;
            Ok((given(weight, of_weight), given(bias, of_bias)))
        })
    }
}
