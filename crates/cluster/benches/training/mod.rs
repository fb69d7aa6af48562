//! An autoencoder in training. `crates/reproduce` includes this file: it measures the same over sizes.

use std::error::Error;

use candle_core::{DType, Device};
use egg_cluster::vgae::{
    EncoderConfig, GraphEncoder, Likelihood, LinkTask, exact_likelihood, sampled_likelihood,
};
use egg_graph::GraphDataset;
use egg_graph::conv::NodeInput;
use egg_graph::synthetic::BlockModel;
use egg_nn::{Adam, AdamConfig, Decay, Parameters, Pass, backward};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// A graph and an encoder in training on it.
pub(crate) struct Training {
    pub(crate) task: LinkTask,
    input: NodeInput,
    encoder: GraphEncoder,
    adam: Adam,
    rng: ChaCha8Rng,
    likelihood: Likelihood,
}

/// A graph with blocks.
pub(crate) fn block_model(nodes: usize, degree: f64) -> Outcome<GraphDataset> {
    let model = BlockModel {
        nodes,
        degree,
        ..BlockModel::default()
    };
    Ok(model.generate(&mut ChaCha8Rng::seed_from_u64(0))?)
}

impl Training {
    pub(crate) fn new(dataset: &GraphDataset, likelihood: Likelihood) -> Outcome<Self> {
        let mut rng = ChaCha8Rng::seed_from_u64(0);
        let task = LinkTask::split(dataset, 0.05, 0.10, &mut rng)?;
        let input = NodeInput::from_features(dataset.features(), DType::F32, &Device::Cpu)?;
        let mut parameters = Parameters::new(DType::F32, &Device::Cpu)?;
        let encoder = GraphEncoder::new(
            &mut parameters.root(&mut rng),
            input.width(),
            &EncoderConfig::default(),
        )?;
        let adam = Adam::new(&parameters, AdamConfig::new(0.01, Decay::L2(0.0)))?;
        Ok(Self {
            task,
            input,
            encoder,
            adam,
            rng,
            likelihood,
        })
    }

    /// One epoch, which is one step; gives the loss.
    pub(crate) fn epoch(&mut self) -> Outcome<f64> {
        let pass = &mut Pass::Training(&mut self.rng);
        let posterior = self.encoder.encode(&self.input, self.task.propagation(), pass)?;
        let z = posterior.sample(pass)?;
        let likelihood = match self.likelihood {
            Likelihood::Exact => exact_likelihood(&z, self.task.target())?,
            _ => sampled_likelihood(&z, self.task.target(), &mut self.rng)?,
        };
        let loss = match posterior.divergence()? {
            Some(divergence) => (likelihood + (divergence / self.task.node_count() as f64)?)?,
            None => likelihood,
        };
        self.adam.step(&backward(&loss)?)?;
        Ok(f64::from(loss.to_scalar::<f32>()?))
    }
}
