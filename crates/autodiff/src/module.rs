//! The embedding of a mini-batch as candle's `Module`.
//!
//! The trait is candle-core's, which candle-nn only re-exports. Other operations become
//! modules by closures, such as `|h: &Tensor| Ok(soft_embed(h, &offsets, &filter, flatten)?)`.

use std::sync::Arc;

use candle_core::{Module, Tensor};

use crate::Embedder;

/// An [`Embedder`] and the graphs of one mini-batch, for `Tensor::apply` and
/// `candle_nn::seq`; made by [`Embedder::with_offsets`].
///
/// ```
/// use candle_core::{DType, Device, Tensor};
/// use candle_nn::{Linear, Module, seq};
/// use egg_autodiff::{Embedder, Flatten, RankRule};
///
/// let ones = |shape| Tensor::ones(shape, DType::F32, &Device::Cpu);
/// let embedder = Embedder::new(RankRule::Fixed(2), Flatten::Isometric)?;
/// let model = seq()
///     .add(Linear::new(ones((4, 3))?, None)) // 3 features to 4
///     .add(embedder.with_offsets(vec![0, 2, 5]))
///     .add(Linear::new(ones((1, 10))?, None)); // 4 x 5 / 2 numbers of each graph
/// let nodes = Tensor::new(&[[1f32, 0.0, 2.0], [0.0, 1.0, 0.0], [1.0; 3], [2.0; 3], [0.0; 3]], &Device::Cpu)?;
/// assert_eq!(model.forward(&nodes)?.dims(), [2, 1]);
/// # Ok::<(), egg_autodiff::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct BatchEmbedder {
    embedder: Embedder,
    offsets: Arc<[usize]>,
}

impl Embedder {
    /// This embedder for the graphs of one mini-batch, whose rows are
    /// `offsets[g]..offsets[g + 1]`. It shares this one's memory; make one for every
    /// mini-batch. Offsets that don't fit the rows are an error of its `forward`.
    ///
    /// ```
    /// use candle_core::{Device, Tensor};
    /// use egg_autodiff::{Embedder, Flatten, RankRule};
    ///
    /// let embedder = Embedder::new(RankRule::Fixed(1), Flatten::Upper)?;
    /// let h = Tensor::new(&[[3f32, 0.0], [0.0, 1.0]], &Device::Cpu)?;
    /// let rows = h.apply(&embedder.with_offsets([0, 1, 2]))?;
    /// assert_eq!(rows.to_vec2::<f32>()?, [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]);
    /// # Ok::<(), egg_autodiff::Error>(())
    /// ```
    pub fn with_offsets(&self, offsets: impl Into<Arc<[usize]>>) -> BatchEmbedder {
        BatchEmbedder {
            embedder: self.clone(),
            offsets: offsets.into(),
        }
    }
}

/// [`Embedder::embed`]; its errors come as candle's.
impl Module for BatchEmbedder {
    fn forward(&self, h: &Tensor) -> candle_core::Result<Tensor> {
        Ok(self.embedder.embed(h, &self.offsets)?.into())
    }
}
