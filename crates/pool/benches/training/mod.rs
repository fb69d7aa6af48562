//! A model in training. `crates/reproduce` includes this file: it measures the same over sizes.

use std::error::Error;
use std::ops::ControlFlow;

use candle_core::DType;
use egg_graph::{GraphDataset, batches, random_order};
use egg_nn::{Adam, AdamConfig, Decay, Pass, Reduction, backward, cross_entropy};
use egg_pool::data::{Batch, BatchTargets, PreparedGraphs};
use egg_pool::model::{Model, ModelConfig};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

type Outcome<T> = Result<T, Box<dyn Error>>;

pub(crate) struct Training {
    graphs: PreparedGraphs,
    model: Model,
    adam: Adam,
    rng: ChaCha8Rng,
    batch_size: usize,
}

impl Training {
    pub(crate) fn new(dataset: GraphDataset, config: &ModelConfig, batch_size: usize) -> Outcome<Self> {
        let mut rng = ChaCha8Rng::seed_from_u64(0);
        let graphs = PreparedGraphs::new(dataset, config.convolution.propagation(), DType::F32)?;
        let outputs = graphs.outputs().ok_or("no classes")?;
        let model = config.model(graphs.inputs(), outputs, DType::F32, &mut rng)?;
        let adam = Adam::new(model.parameters(), AdamConfig::new(1e-3, Decay::L2(5e-4)))?;
        Ok(Self {
            graphs,
            model,
            adam,
            rng,
            batch_size,
        })
    }

    /// How many steps an epoch has.
    pub(crate) fn steps(&self) -> usize {
        self.graphs.dataset().len().div_ceil(self.batch_size)
    }

    /// Every graph once; gives the loss.
    pub(crate) fn epoch(&mut self) -> Outcome<f64> {
        let order = random_order(self.graphs.dataset().len(), &mut self.rng);
        let mut total = 0.0;
        let (graphs, parts) = (self.graphs.clone(), batches(&order, self.batch_size));
        let trained = graphs.each_batch(parts, |batch| match self.step(batch) {
            Ok(loss) => {
                total += loss;
                ControlFlow::Continue(())
            }
            Err(error) => ControlFlow::Break(error),
        });
        trained.break_value().map_or(Ok(total), Err)
    }

    fn step(&mut self, batch: egg_pool::Result<Batch>) -> Outcome<f64> {
        let batch = batch?;
        let Some(BatchTargets::Classes(classes)) = &batch.targets else {
            return Err("no classes".into());
        };
        let output = self
            .model
            .network()
            .forward(&batch, &mut Pass::Training(&mut self.rng))?;
        let loss = cross_entropy(&output.scores, classes, Reduction::Sum)?;
        self.adam.step(&backward(&loss)?)?;
        Ok(f64::from(loss.to_scalar::<f32>()?))
    }
}
