//! What every pooling checks of its input.

use candle_core::DType;
use egg_nn::Tracked;

use crate::error::{Error, Result};
use crate::structure::Structure;

/// Refuses rows that aren't the nodes', a width the pooling wasn't built for,
/// and a type that is not that of its parameters.
pub(super) fn check_input(
    pooling: &'static str,
    h: &Tracked,
    structure: &Structure,
    features: usize,
    dtype: Option<DType>,
) -> Result<()> {
    if h.dims() != [structure.node_count(), features] {
        return Err(Error::PoolingInput {
            pooling,
            found: h.dims().to_vec(),
            rows: structure.node_count(),
            columns: features,
        });
    }
    let expected = match dtype {
        Some(dtype) if dtype == h.dtype() => return Ok(()),
        Some(dtype) => dtype.as_str(),
        None if matches!(h.dtype(), DType::F32 | DType::F64) => return Ok(()),
        None => "f32 or f64",
    };
    Err(Error::Layer(egg_nn::Error::DType {
        what: format!("the input of {pooling} pooling"),
        found: h.dtype(),
        expected,
    }))
}

/// Refuses rows without numbers.
pub(super) fn check_features(pooling: &'static str, features: usize) -> Result<()> {
    if features > 0 {
        return Ok(());
    }
    Err(Error::PoolingParameter {
        pooling,
        name: "features",
        value: 0.0,
        requirement: "there is nothing to pool without a feature",
    })
}
