//! Layers, parameters and Adam as candle-nn meets them: the numbers are those of our own loop.

use approx::{abs_diff_eq, assert_abs_diff_eq};
use candle_core::{DType, Device, Module, ModuleT, Tensor, Var};
use candle_nn::{AdamW, Optimizer, ParamsAdamW, VarBuilder, VarMap, seq};
use egg_nn::{
    Adam, AdamConfig, BatchNorm1d, Decay, Dropout, Init, Linear, Mlp, MlpConfig, Parameters, Pass, Reduction,
    Seeded, cross_entropy,
};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::fixture::flat;

const DTYPES: [DType; 2] = [DType::F32, DType::F64];

fn normal(shape: (usize, usize), dtype: DType, seed: u64) -> Tensor {
    let init = Init::Normal {
        mean: 0.0,
        deviation: 1.0,
    };
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    init.tensor(shape, dtype, &Device::Cpu, &mut rng).unwrap()
}

fn classes(x: &Tensor) -> Tensor {
    let positive = x.narrow(1, 0, 1).unwrap().squeeze(1).unwrap().ge(0.0).unwrap();
    positive.to_dtype(DType::U32).unwrap()
}

fn mlp(dtype: DType) -> (Parameters, Mlp) {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let mut parameters = Parameters::new(dtype, &Device::Cpu).unwrap();
    let mlp = Mlp::new(&mut parameters.root(&mut rng), &MlpConfig::new(&[4, 8, 2])).unwrap();
    (parameters, mlp)
}

fn loss(model: &impl ModuleT, x: &Tensor) -> Tensor {
    cross_entropy(x.apply_t(model, true).unwrap(), &classes(x), Reduction::Mean).unwrap()
}

/// A loop that knows nothing of this crate.
fn train<O: Optimizer>(mut optimizer: O, model: &impl ModuleT, x: &Tensor, steps: usize) -> O {
    for _ in 0..steps {
        optimizer.backward_step(&loss(model, x)).unwrap();
        let slower = optimizer.learning_rate() * 0.99;
        optimizer.set_learning_rate(slower);
    }
    optimizer
}

fn trainable(parameters: &Parameters) -> Vec<Var> {
    parameters.trainable().map(|(_, var)| var.clone()).collect()
}

#[track_caller]
fn assert_same(left: &Parameters, right: &Parameters) {
    let (left, right) = (left.snapshot().unwrap(), right.snapshot().unwrap());
    assert!(left.keys().eq(right.keys()));
    for (name, value) in &left {
        assert_eq!(flat(value), flat(&right[name]), "{name}");
    }
}

#[test]
fn adam_as_an_optimizer_matches_adam_bit_for_bit() {
    for (dtype, decay) in DTYPES
        .into_iter()
        .flat_map(|dtype| [(dtype, Decay::L2(0.01)), (dtype, Decay::Decoupled(0.01))])
    {
        let x = normal((30, 4), dtype, 1);
        let config = AdamConfig::new(0.02, decay);
        let (ours, model) = mlp(dtype);
        let mut rng = ChaCha8Rng::seed_from_u64(0);
        let mut adam = Adam::new(&ours, config).unwrap();
        for _ in 0..20 {
            let logits = model.forward(&x, &mut Pass::Training(&mut rng)).unwrap();
            let loss = cross_entropy(&logits, &classes(&x), Reduction::Mean).unwrap();
            adam.step(&egg_nn::backward(&loss).unwrap()).unwrap();
            adam.set_learning_rate(adam.learning_rate() * 0.99).unwrap();
        }

        // In another order than ours, since a `VarMap` has any.
        let (theirs, model) = mlp(dtype);
        let mut vars = trainable(&theirs);
        vars.reverse();
        let optimizer: Adam = train(Optimizer::new(vars, config).unwrap(), &model, &x, 20);
        assert_same(&ours, &theirs);
        assert_eq!(optimizer.learning_rate(), adam.learning_rate());

        let (ours, theirs) = (adam.state().unwrap().moments, optimizer.state().unwrap().moments);
        for (position, (name, moments)) in ours.iter().rev().enumerate() {
            let found = &theirs[&position.to_string()];
            assert_eq!(found.steps, moments.steps, "{name}");
            assert_eq!(flat(&found.first), flat(&moments.first), "{name}");
            assert_eq!(flat(&found.second), flat(&moments.second), "{name}");
        }
    }
}

#[test]
fn decoupled_adam_matches_candle_nn_adamw() {
    let x = normal((30, 4), DType::F64, 2);
    let ((ours, our_model), (theirs, their_model)) = (mlp(DType::F64), mlp(DType::F64));
    let config = AdamConfig::new(0.02, Decay::Decoupled(0.1));
    let adam: Adam = Optimizer::new(trainable(&ours), config).unwrap();
    train(adam, &our_model, &x, 30);

    let params = ParamsAdamW {
        lr: 0.02,
        weight_decay: 0.1,
        ..Default::default()
    };
    let adamw = AdamW::new(trainable(&theirs), params).unwrap();
    train(adamw, &their_model, &x, 30);
    for (name, var) in ours.trainable() {
        let pairs = flat(var).into_iter().zip(flat(theirs.get(name).unwrap()));
        for (ours, theirs) in pairs {
            assert!(
                abs_diff_eq!(ours, theirs, epsilon = 1e-8),
                "{name}: {ours} and {theirs}"
            );
        }
    }
}

#[test]
fn candle_nn_adamw_trains_layers_and_keeps_buffers() {
    let x = normal((60, 4), DType::F32, 3);
    let (parameters, model) = mlp(DType::F32);
    let map = parameters.to_var_map();
    let adamw = AdamW::new_lr(map.all_vars(), 0.02).unwrap();
    let buffers = |parameters: &Parameters| -> Vec<Vec<f64>> {
        parameters.buffers().map(|(_, var)| flat(var)).collect()
    };

    let before = loss(&model, &x).to_scalar::<f32>().unwrap();
    let mut adamw = train(adamw, &model, &x, 100);
    let last = loss(&model, &x);
    let after = last.to_scalar::<f32>().unwrap();
    assert!(after < 0.1 * before, "{before} -> {after}");

    let at_rest = buffers(&parameters);
    adamw.backward_step(&last).unwrap();
    assert_eq!(buffers(&parameters), at_rest);
}

#[test]
fn variables_are_shared_with_a_var_map_both_ways() {
    let (parameters, model) = mlp(DType::F32);
    let map = parameters.to_var_map();
    let again = Parameters::from_var_map(&map, DType::F32, &Device::Cpu).unwrap();

    let names = |parameters: &Parameters| -> Vec<(String, bool)> {
        let trainable = parameters.trainable().map(|(name, _)| (name.to_owned(), true));
        let buffers = parameters.buffers().map(|(name, _)| (name.to_owned(), false));
        trainable.chain(buffers).collect()
    };
    assert_eq!(names(&again), names(&parameters));
    for (name, _) in names(&parameters) {
        let (ours, theirs) = (parameters.get(&name).unwrap(), again.get(&name).unwrap());
        assert_eq!(ours.id(), theirs.id(), "{name}");
    }

    // What one side's optimiser writes, the other has: the running statistics too.
    let x = normal((30, 4), DType::F32, 4);
    let before = again.snapshot().unwrap();
    let adam = Adam::new(&parameters, AdamConfig::new(0.1, Decay::L2(0.0))).unwrap();
    train(adam, &model, &x, 1);
    assert_same(&again, &parameters);
    for (name, value) in &before {
        assert_ne!(flat(again.get(name).unwrap()), flat(value), "{name}");
    }

    let mut map = map;
    map.set_one("lins.0.bias", Tensor::ones(8, DType::F32, &Device::Cpu).unwrap())
        .unwrap();
    assert_eq!(flat(parameters.get("lins.0.bias").unwrap()), [1.0; 8]);
}

#[test]
fn saved_var_map_contains_running_statistics() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    let x = normal((30, 4), DType::F64, 5);
    let (trained, model) = mlp(DType::F64);
    let adam = Adam::new(&trained, AdamConfig::new(0.1, Decay::L2(0.0))).unwrap();
    train(adam, &model, &x, 5);
    trained.to_var_map().save(&path).unwrap();

    let (loaded, again) = mlp(DType::F64);
    loaded.to_var_map().load(&path).unwrap();
    assert_same(&loaded, &trained);
    let [first, second] = [&model, &again].map(|model| flat(&x.apply_t(model, false).unwrap()));
    assert_eq!(first, second);
}

#[test]
fn mixed_model_shares_one_store() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let mut parameters = Parameters::new(DType::F32, &Device::Cpu).unwrap();
    let norm = BatchNorm1d::new(&mut parameters.root(&mut rng).enter("norm"), 4).unwrap();
    let map = parameters.to_var_map();
    let builder = VarBuilder::from_varmap(&map, DType::F32, &Device::Cpu);
    let head = candle_nn::linear(4, 2, builder.pp("head")).unwrap();
    let both = Parameters::from_var_map(&map, DType::F32, &Device::Cpu).unwrap();
    let names: Vec<&str> = both.trainable().map(|(name, _)| name).collect();
    assert_eq!(names, ["head.bias", "head.weight", "norm.bias", "norm.weight"]);
    assert_eq!(both.buffers().count(), 2);

    let x = normal((30, 4), DType::F32, 6);
    let logits = x.apply_t(&norm, true).unwrap().apply(&head).unwrap();
    let loss = cross_entropy(&logits, &classes(&x), Reduction::Mean).unwrap();
    let before = both.snapshot().unwrap();
    let mut adam = Adam::new(&both, AdamConfig::new(0.1, Decay::L2(0.0))).unwrap();
    adam.step(&egg_nn::backward(&loss).unwrap()).unwrap();
    for name in names {
        assert_ne!(flat(both.get(name).unwrap()), flat(&before[name]), "{name}");
    }
}

#[test]
fn linear_module_matches_forward_and_its_gradients() {
    for dtype in DTYPES {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let mut parameters = Parameters::new(dtype, &Device::Cpu).unwrap();
        let first = Linear::new(&mut parameters.root(&mut rng).enter("first"), 4, 6).unwrap();
        let second = Linear::without_bias(&mut parameters.root(&mut rng).enter("second"), 6, 3).unwrap();
        let x = Var::from_tensor(&normal((7, 4), dtype, 7)).unwrap();

        let pass = &mut Pass::Training(&mut rng);
        let hidden = egg_nn::relu(first.forward(&x, pass).unwrap()).unwrap();
        let ours = second.forward(&hidden, pass).unwrap();
        let model = seq()
            .add(first)
            .add_fn(|x| Ok(egg_nn::relu(x)?.into()))
            .add(second);
        let theirs = model.forward(&x).unwrap();
        assert_eq!(flat(&ours), flat(&theirs));

        let [ours, theirs] = [ours.into(), theirs]
            .map(|y: Tensor| y)
            .map(|y| y.sqr().unwrap().sum_all().unwrap().backward().unwrap());
        for var in trainable(&parameters).iter().chain([&x]) {
            assert_eq!(flat(ours.get(var).unwrap()), flat(theirs.get(var).unwrap()));
        }
    }
}

#[test]
fn batch_norm_module_matches_forward_and_candle_to_rounding() {
    for dtype in DTYPES {
        let build = || {
            let mut rng = ChaCha8Rng::seed_from_u64(5);
            let mut parameters = Parameters::new(dtype, &Device::Cpu).unwrap();
            let norm = BatchNorm1d::new(&mut parameters.root(&mut rng), 3).unwrap();
            (parameters, norm)
        };
        let ((ours, norm), (theirs, module)) = (build(), build());
        // Of the same start; its variables are its own.
        let builder = VarBuilder::from_varmap(&VarMap::new(), dtype, &Device::Cpu);
        let candles = candle_nn::batch_norm(3, 1e-5, builder).unwrap();
        let tolerance = if dtype == DType::F32 { 1e-5 } else { 1e-12 };

        let mut rng = ChaCha8Rng::seed_from_u64(0);
        for seed in 0..4 {
            let x = (normal((9, 3), dtype, seed) * 3.0).unwrap();
            let trained = norm.forward(&x, &mut Pass::Training(&mut rng)).unwrap();
            let evaluated = norm.forward(&x, &mut Pass::Evaluation).unwrap();
            for (train, expected) in [(true, trained), (false, evaluated)] {
                let found = x.apply_t(&module, train).unwrap();
                assert_eq!(flat(&found), flat(&expected), "train: {train}");
                assert_eq!(found.track_op(), train);
                let candles = flat(&x.apply_t(&candles, train).unwrap());
                for (ours, theirs) in flat(&found).iter().zip(candles) {
                    assert_abs_diff_eq!(*ours, theirs, epsilon = tolerance * 10.0);
                }
            }
            assert_same(&ours, &theirs);
        }
        for (name, candles) in [
            ("running_mean", candles.running_mean()),
            ("running_var", candles.running_var()),
        ] {
            for (ours, theirs) in flat(ours.get(name).unwrap()).iter().zip(flat(candles)) {
                assert!(
                    abs_diff_eq!(*ours, theirs, epsilon = tolerance * 10.0),
                    "{name}: {ours} and {theirs}"
                );
            }
        }
    }
}

#[test]
fn mlp_module_matches_forward() {
    let x = normal((9, 4), DType::F32, 8);
    let ((ours, model), (theirs, module)) = (mlp(DType::F32), mlp(DType::F32));
    let mut rng = ChaCha8Rng::seed_from_u64(0);
    for _ in 0..3 {
        let trained = model.forward(&x, &mut Pass::Training(&mut rng)).unwrap();
        assert_eq!(flat(&x.apply_t(&module, true).unwrap()), flat(&trained));
        let evaluated = model.forward(&x, &mut Pass::Evaluation).unwrap();
        assert_eq!(flat(&x.apply_t(&module, false).unwrap()), flat(&evaluated));
        assert_same(&ours, &theirs);
    }
}

#[test]
fn seeded_dropout_draws_masks_in_sequence() {
    let dropout = Dropout::new(0.3).unwrap();
    let x = normal((50, 10), DType::F32, 9);
    let module = Seeded::new(ChaCha8Rng::seed_from_u64(2), move |x, pass| {
        dropout.forward(x, pass)
    });
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    for _ in 0..3 {
        let expected = dropout.forward(&x, &mut Pass::Training(&mut rng)).unwrap();
        // Evaluation in between draws nothing.
        assert_eq!(flat(&x.apply_t(&module, false).unwrap()), flat(&x));
        assert_eq!(flat(&x.apply_t(&module, true).unwrap()), flat(&expected));
    }
}

#[test]
fn nested_training_pass_is_refused_and_a_panic_does_not_poison() {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::OnceLock;

    type Forward = Box<dyn Fn(&Tensor, &mut Pass<'_>) -> egg_nn::Result<Tensor> + Send + Sync>;
    static MODULE: OnceLock<Seeded<Forward>> = OnceLock::new();
    let again: Forward = Box::new(|x, pass| {
        assert_eq!(x.elem_count(), 1);
        let again = MODULE.get().unwrap().forward_t(x, pass.is_training());
        assert!(again.unwrap_err().to_string().contains("Seeded of its own"));
        Ok(x.clone())
    });
    let module = MODULE.get_or_init(|| Seeded::new(ChaCha8Rng::seed_from_u64(2), again));
    let [one, two] = [1, 2].map(|count| Tensor::ones(count, DType::F32, &Device::Cpu).unwrap());
    assert!(module.forward_t(&one, true).is_ok());
    assert!(catch_unwind(AssertUnwindSafe(|| module.forward_t(&two, true))).is_err());
    assert!(module.forward_t(&one, true).is_ok());
}

#[test]
fn invalid_learning_rates_are_refused_by_the_step() {
    let (parameters, model) = mlp(DType::F32);
    let x = normal((9, 4), DType::F32, 8);
    let config = AdamConfig::new(0.1, Decay::L2(0.0));
    let mut adam: Adam = Optimizer::new(trainable(&parameters), config).unwrap();
    let before: Vec<_> = trainable(&parameters).iter().map(|var| flat(var)).collect();
    for rate in [f64::NAN, -1.0] {
        Optimizer::set_learning_rate(&mut adam, rate);
        let refused = adam.backward_step(&loss(&model, &x)).unwrap_err();
        assert!(refused.to_string().contains("learning_rate"), "{refused}");
    }
    let after: Vec<_> = trainable(&parameters).iter().map(|var| flat(var)).collect();
    assert_eq!(after, before);
    Optimizer::set_learning_rate(&mut adam, 0.1);
    adam.backward_step(&loss(&model, &x)).unwrap();
}

#[test]
fn unsupported_types_are_refused_and_integers_are_skipped() {
    let var = |dtype| Var::zeros(2, dtype, &Device::Cpu).unwrap();
    let config = AdamConfig::new(0.1, Decay::L2(0.0));
    let both: Adam = Optimizer::new(vec![var(DType::U32), var(DType::F64)], config).unwrap();
    assert!(both.state().unwrap().moments.keys().eq(["1"]));
    let refused = <Adam as Optimizer>::new(vec![var(DType::F32), var(DType::BF16)], config).unwrap_err();
    assert!(refused.to_string().contains("variable 1 is BF16"), "{refused}");
    assert!(<Adam as Optimizer>::new(vec![], AdamConfig { beta1: 2.0, ..config }).is_err());

    let (parameters, _) = mlp(DType::F32);
    let map = parameters.to_var_map();
    // The first in the order of the names, not of the map.
    let refused = Parameters::from_var_map(&map, DType::F64, &Device::Cpu).unwrap_err();
    assert!(refused.to_string().starts_with("lins.0.bias is F32"), "{refused}");
    assert!(Parameters::from_var_map(&map, DType::U8, &Device::Cpu).is_err());
    let none = Parameters::from_var_map(&VarMap::new(), DType::F64, &Device::Cpu).unwrap();
    assert_eq!(none.trainable_count(), 0);
}
