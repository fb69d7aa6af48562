//! A small run with every part: bit-identical on any number of threads, and
//! after a checkpoint.

use std::path::Path;

use candle_core::{DType, Device, Tensor};
use egg_nn::{
    Adam, AdamConfig, BatchNorm1d, Checkpoint, Decay, Dropout, EarlyStopping, GeneratorState, Goal, Init,
    Linear, Mlp, MlpConfig, Parameters, Pass, Plateau, PlateauConfig, Reduction, Result, Scope, Segments,
    Tracked, clip_gradient_norm, cross_entropy, cross_entropy_value,
};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::determinism::assert_same_bits;
use crate::gradient::normal;

const FEATURES: usize = 9;
const CLASSES: usize = 3;

/// Attention over the rows of each segment, with a classifier on top.
struct Model {
    first: Linear,
    norm: BatchNorm1d,
    attention: Linear,
    dropout: Dropout,
    head: Mlp,
}

impl Model {
    fn new(scope: &mut Scope<'_>) -> Result<Self> {
        Ok(Self {
            first: Linear::new(&mut scope.enter("first"), FEATURES, 24)?,
            norm: BatchNorm1d::new(&mut scope.enter("norm"), 24)?,
            attention: Linear::without_bias(&mut scope.enter("attention"), 24, 24)?,
            dropout: Dropout::new(0.3)?,
            head: Mlp::new(&mut scope.enter("head"), &MlpConfig::new(&[72, 16, CLASSES]))?,
        })
    }

    fn forward(&self, x: &Tensor, segments: &Segments, pass: &mut Pass<'_>) -> Result<Tracked> {
        let x = self
            .norm
            .clone()
            .with_relu()
            .forward(&self.first.forward(x, pass)?, pass)?;
        let weights = segments.softmax(&self.attention.forward(&x, pass)?)?;
        let pooled = [
            segments.sum(&(weights * &x)?)?,
            segments.mean(&x)?,
            segments.max(&x)?,
        ];
        let pooled = self.dropout.forward(&Tensor::cat(&pooled, 1)?, pass)?;
        self.head.forward(&pooled, pass)
    }
}

/// A run as a program would hold it.
pub(crate) struct Run {
    pub(crate) parameters: Parameters,
    model: Model,
    adam: Adam,
    plateau: Plateau,
    stopping: EarlyStopping,
    rng: ChaCha8Rng,
    epoch: u64,
    best: Option<std::collections::BTreeMap<String, Tensor>>,
    x: Tensor,
    segments: Segments,
    classes: Tensor,
}

impl Run {
    pub(crate) fn new(dtype: DType, seed: u64) -> Result<Self> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut parameters = Parameters::new(dtype, &Device::Cpu)?;
        let model = Model::new(&mut parameters.root(&mut rng))?;
        // Large enough for several blocks and threads.
        let offsets: Vec<usize> = (0..=64).map(|g| g * (g + 1)).collect();
        let segments = Segments::new(&offsets)?;
        let classes: Vec<u32> = (0..64).map(|g| g % CLASSES as u32).collect();
        let config = PlateauConfig {
            factor: 0.5,
            patience: 0,
            threshold: 0.3,
            ..Default::default()
        };
        Ok(Self {
            adam: Adam::new(&parameters, AdamConfig::new(0.01, Decay::L2(1e-3)))?,
            plateau: Plateau::new(config)?,
            stopping: EarlyStopping::new(Goal::Min, 20),
            rng,
            epoch: 0,
            best: None,
            x: normal((segments.rows(), FEATURES), 17).to_dtype(dtype)?,
            classes: Tensor::new(classes, &Device::Cpu)?,
            segments,
            model,
            parameters,
        })
    }

    fn epoch(&mut self) -> Result<()> {
        for _ in 0..2 {
            let pass = &mut Pass::Training(&mut self.rng);
            let logits = self.model.forward(&self.x, &self.segments, pass)?;
            let loss = cross_entropy(&logits, &self.classes, Reduction::Mean)?;
            let mut gradients = loss.backward()?;
            clip_gradient_norm(&self.parameters, &mut gradients, 0.5)?;
            self.adam.step(&gradients)?;
        }
        let logits = self
            .model
            .forward(&self.x, &self.segments, &mut Pass::Evaluation)?;
        let loss = cross_entropy_value(&logits, &self.classes, Reduction::Mean)?;
        let rate = self.plateau.next_rate(loss, self.adam.learning_rate());
        self.adam.set_learning_rate(rate)?;
        self.stopping.observe(loss);
        if self.epoch == 1 {
            self.best = Some(self.parameters.snapshot()?);
        }
        self.epoch += 1;
        Ok(())
    }

    pub(crate) fn train(&mut self, epochs: usize) -> Result<()> {
        (0..epochs).try_for_each(|_| self.epoch())
    }

    pub(crate) fn checkpoint(&self) -> Result<Checkpoint> {
        let mut checkpoint = Checkpoint::new(self.epoch, self.parameters.snapshot()?);
        checkpoint.best = self.best.clone();
        checkpoint.adam = Some(self.adam.state()?);
        checkpoint.plateau = Some(self.plateau.clone());
        checkpoint.early_stopping = Some(self.stopping.clone());
        checkpoint.generator = Some(GeneratorState::from_rng(&self.rng));
        checkpoint
            .metadata
            .insert("note".to_owned(), "\"half\"\nway \u{1f95a}".to_owned());
        Ok(checkpoint)
    }

    /// A run in a fresh model, from a file.
    pub(crate) fn resume(dtype: DType, path: &Path) -> Result<Self> {
        let mut run = Self::new(dtype, 1000)?;
        let checkpoint = Checkpoint::load(path)?;
        run.parameters.load(&checkpoint.model)?;
        run.adam.load_state(&checkpoint.adam.unwrap())?;
        run.plateau = checkpoint.plateau.unwrap();
        run.stopping = checkpoint.early_stopping.unwrap();
        run.rng = checkpoint.generator.unwrap().generator();
        run.epoch = checkpoint.epoch;
        run.best = checkpoint.best;
        Ok(run)
    }

    /// Every number there is.
    pub(crate) fn tensors(&self) -> Vec<Tensor> {
        let checkpoint = self.checkpoint().unwrap();
        let adam = checkpoint.adam.unwrap();
        let mut all: Vec<Tensor> = checkpoint.model.into_values().collect();
        all.extend(checkpoint.best.unwrap_or_default().into_values());
        all.extend(adam.moments.into_values().flat_map(|m| [m.first, m.second]));
        let numbers = [
            self.plateau.best().unwrap(),
            self.stopping.best().unwrap(),
            self.adam.learning_rate(),
        ];
        all.push(Tensor::new(&numbers, &Device::Cpu).unwrap());
        all
    }
}

#[test]
fn run_is_bit_identical_on_any_number_of_threads() {
    for dtype in [DType::F32, DType::F64] {
        assert_same_bits(|| {
            let mut run = Run::new(dtype, 5).unwrap();
            run.train(2).unwrap();
            run.tensors()
        });
    }
}

#[test]
fn large_step_is_bit_identical_on_any_number_of_threads() {
    assert_same_bits(|| {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let mut parameters = Parameters::new(DType::F32, &Device::Cpu).unwrap();
        let init = Init::Uniform { bound: 1.0 };
        let weight = parameters
            .root(&mut rng)
            .parameter("weight", (300, 301), init)
            .unwrap();
        let mut adam = Adam::new(&parameters, AdamConfig::new(0.1, Decay::Decoupled(0.1))).unwrap();
        for _ in 0..3 {
            let mut gradients = weight.sqr().unwrap().sum_all().unwrap().backward().unwrap();
            clip_gradient_norm(&parameters, &mut gradients, 1.0).unwrap();
            adam.step(&gradients).unwrap();
        }
        vec![weight.as_detached_tensor()]
    });
}

#[test]
fn every_parameter_gets_a_gradient() {
    let mut run = Run::new(DType::F64, 5).unwrap();
    let pass = &mut Pass::Training(&mut run.rng);
    let logits = run.model.forward(&run.x, &run.segments, pass).unwrap();
    let loss = cross_entropy(&logits, &run.classes, Reduction::Mean).unwrap();
    let gradients = loss.backward().unwrap();
    for (name, var) in run.parameters.trainable() {
        let gradient = gradients
            .get(var)
            .unwrap_or_else(|| panic!("{name} has no gradient"));
        let size = crate::fixture::flat(gradient)
            .iter()
            .fold(0.0, |most: f64, g| most.max(g.abs()));
        assert!(size > 0.0, "{name} has gradient 0");
        assert_eq!(gradient.dims(), var.dims(), "{name}");
    }
}

#[test]
fn training_lowers_the_loss() {
    let mut run = Run::new(DType::F32, 5).unwrap();
    run.train(1).unwrap();
    let before = run.stopping.best().unwrap();
    run.train(10).unwrap();
    assert!(run.stopping.best().unwrap() < before);
}
