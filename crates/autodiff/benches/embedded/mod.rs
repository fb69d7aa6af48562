//! A batch to embed. `crates/reproduce` includes this file: it measures the same over sizes.

use std::error::Error;

use candle_core::{Device, Tensor, Var};
use egg_autodiff::Flatten;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

/// A batch of graphs of one size.
pub(crate) struct Embedded {
    pub(crate) h: Var,
    pub(crate) offsets: Vec<usize>,
    /// The gradient that comes from above, one row per graph.
    pub(crate) upstream: Tensor,
}

impl Embedded {
    /// Graphs of `nodes` nodes each and `width` features, with a decaying spectrum, so
    /// that the cut is at neither end.
    pub(crate) fn new(
        nodes: usize,
        graphs: usize,
        width: usize,
        rng: &mut ChaCha8Rng,
    ) -> Result<Self, Box<dyn Error>> {
        let mut h = normal((graphs * nodes, width), rng)?;
        let decay: Vec<f32> = (0..width).map(|column| 0.95f32.powf(column as f32)).collect();
        h = h.broadcast_mul(&Tensor::from_vec(decay, width, &Device::Cpu)?)?;
        Ok(Self {
            h: Var::from_tensor(&h)?,
            offsets: (0..=graphs).map(|graph| graph * nodes).collect(),
            upstream: normal((graphs, Flatten::length(width)), rng)?,
        })
    }
}

/// Numbers from the standard normal distribution.
pub(crate) fn normal(
    (rows, columns): (usize, usize),
    rng: &mut ChaCha8Rng,
) -> Result<Tensor, Box<dyn Error>> {
    let numbers = (0..rows * columns).map(|_| StandardNormal.sample(rng));
    Ok(Tensor::from_vec(
        numbers.collect::<Vec<f32>>(),
        (rows, columns),
        &Device::Cpu,
    )?)
}
