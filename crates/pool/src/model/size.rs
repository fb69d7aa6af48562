//! How large a model would be, before any of it is made.

use egg_graph::conv::JumpingKnowledge;

use super::config::ModelConfig;
use crate::error::{Error, Result};

/// More numbers than any model here has use for: 4 GB of f32, of which training
/// keeps four copies. Beyond it a setting is a slip, or a file is hostile.
const MOST_NUMBERS: usize = 1 << 30;

impl ModelConfig {
    /// Refuses what no model can be built from, and what no memory would hold.
    pub(crate) fn check(&self, inputs: usize, outputs: usize) -> Result<()> {
        for (name, value) in [("layers", self.layers), ("hidden", self.hidden)] {
            if value == 0 {
                return Err(Error::setting(name, value, "at least 1"));
            }
        }
        let numbers = self.least_numbers(inputs, outputs);
        if numbers > MOST_NUMBERS {
            return Err(Error::setting(
                "the model's size",
                format!("{numbers} numbers or more"),
                format!(
                    "at most {MOST_NUMBERS}; layers = {}, hidden = {}, {inputs} inputs and {outputs} outputs \
                     are too many for {} pooling",
                    self.layers,
                    self.hidden,
                    self.pooling.name()
                ),
            ));
        }
        Ok(())
    }

    /// The numbers in the weights of its layers: no more than the model has, and
    /// nearly all of them. `usize::MAX` if there are more than can be counted.
    pub(crate) fn least_numbers(&self, inputs: usize, outputs: usize) -> usize {
        let matrix = usize::saturating_mul;
        let head = |width: usize| {
            let widths = self.head.widths.iter().chain([&outputs]);
            let (sum, _) = widths.fold((0usize, width), |(sum, width), &next| {
                (sum.saturating_add(matrix(width, next)), next)
            });
            sum
        };
        if !self.convolution.has_layers() {
            return head(inputs);
        }
        let pooled = self.pooling.width(self.hidden);
        let heads = match self.jumping_knowledge {
            JumpingKnowledge::Sum => matrix(self.layers, head(pooled)),
            JumpingKnowledge::Concat => head(matrix(self.layers, pooled)),
            JumpingKnowledge::Last | JumpingKnowledge::Max => head(pooled),
        };
        // With an encoder every convolution is square; else the first is not.
        let (encoder, first) = match self.virtual_node {
            true => (matrix(inputs, self.hidden), self.hidden),
            false => (0, inputs),
        };
        let first = self.convolution.least_parameters(first, self.hidden);
        let square = self.convolution.least_parameters(self.hidden, self.hidden);
        let others = matrix(self.layers.saturating_sub(1), square);
        [encoder, first, others, heads]
            .into_iter()
            .fold(0, usize::saturating_add)
    }
}

#[cfg(test)]
mod tests {
    use candle_core::DType;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng;

    use super::*;
    use crate::convolution::{ConvolutionConfig, Gcn, Gin};
    use crate::pooling::PoolingConfig;

    #[test]
    fn parameter_counts_are_close_lower_bounds() {
        for convolution in ConvolutionConfig::all() {
            for pooling in PoolingConfig::all() {
                for virtual_node in [false, true] {
                    let mut config = ModelConfig::new(convolution.clone(), pooling.clone());
                    config.virtual_node = virtual_node;
                    let mut rng = ChaCha8Rng::seed_from_u64(0);
                    let model = config.model(40, 3, DType::F32, &mut rng).unwrap();
                    let (least, all) = (config.least_numbers(40, 3), model.parameters().trainable_count());
                    assert!(least <= all, "{config:?}: {least} of {all}");
                    // Biases, norms, and what a virtual node or a score needs.
                    let share = if virtual_node { 0.2 } else { 0.75 };
                    assert!(least as f64 >= share * all as f64, "{config:?}: {least} of {all}");
                }
            }
        }
    }

    #[test]
    fn absurd_sizes_are_refused_before_anything_is_made() {
        for (layers, hidden, inputs) in [
            (2, 1 << 20, 3),
            (1 << 50, 1, 3),
            (2, 32, 1 << 40),
            (usize::MAX, usize::MAX, usize::MAX),
        ] {
            for convolution in [ConvolutionConfig::from(Gcn), Gin.into()] {
                let mut config = ModelConfig::new(convolution, PoolingConfig::default());
                (config.layers, config.hidden) = (layers, hidden);
                let mut rng = ChaCha8Rng::seed_from_u64(0);
                let error = config.model(inputs, 2, DType::F32, &mut rng).unwrap_err();
                assert!(error.to_string().contains("the model's size"), "{error}");
            }
        }
    }
}
