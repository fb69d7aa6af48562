//! Outputs, gradients and running statistics against PyTorch.

use candle_core::{DType, Device, Tensor, Var};
use egg_nn::{BatchNorm1d, Linear, Mlp, MlpConfig, Parameters, Pass, Result, Scope, Tracked};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::fixture::{assert_close, assert_close_at, layer_case, tolerance};

type Forward = Box<dyn Fn(&Tensor, &mut Pass<'_>) -> Result<Tracked>>;

/// Builds the layer, loads PyTorch's state, and compares everything it computes.
fn check(name: &str, training: bool, build: impl Fn(&mut Scope<'_>) -> Result<Forward>) {
    for dtype in [DType::F32, DType::F64] {
        let case = layer_case(name);
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut parameters = Parameters::new(dtype, &Device::Cpu).unwrap();
        let forward = build(&mut parameters.root(&mut rng)).unwrap();
        let state = case
            .state
            .iter()
            .map(|(name, value)| (name.clone(), value.tensor(dtype)));
        parameters.load(&state.collect()).unwrap();

        let tolerance = tolerance(dtype);
        let x = Var::from_tensor(&case.x.tensor(dtype)).unwrap();
        let mut pass = if training {
            Pass::Training(&mut rng)
        } else {
            Pass::Evaluation
        };
        let y = forward(&x, &mut pass).unwrap();
        assert_close("y", &y, &case.y, tolerance);
        for (name, after) in &case.buffers {
            let buffer = parameters.get(name).unwrap();
            assert_close(name, buffer, after, tolerance);
        }
        if !training {
            assert!(!y.track_op(), "evaluation built a tape");
            continue;
        }
        let loss = (y * case.g.tensor(dtype)).unwrap().sum_all().unwrap();
        let gradients = loss.backward().unwrap();
        assert_eq!(parameters.trainable().count() + 1, case.gradients.len());
        for (name, expected) in &case.gradients {
            let var = if name == "x" {
                &x
            } else {
                parameters.get(name).unwrap()
            };
            let found = gradients
                .get(var)
                .unwrap_or_else(|| panic!("{name} has no gradient"));
            // A bias before batch normalisation has gradient 0: what is left are
            // cancelled terms, as large as the weight's. (PyTorch's own f32 is
            // off by 4.2e-5 for `lins.1.bias` of `mlp`.)
            let weight = name.strip_suffix("bias").map(|layer| format!("{layer}weight"));
            let weight = weight.and_then(|weight| case.gradients.get(&weight));
            let scale = weight.map_or(1.0, |weight| weight.largest().max(1.0));
            assert_close_at(name, found, expected, tolerance, scale);
        }
    }
}

#[test]
fn linear_matches_pytorch() {
    check("linear", true, |scope| {
        let layer = Linear::new(scope, 5, 3)?;
        Ok(Box::new(move |x, pass| layer.forward(x, pass)))
    });
    check("linear_without_bias", true, |scope| {
        let layer = Linear::without_bias(scope, 4, 6)?;
        Ok(Box::new(move |x, pass| layer.forward(x, pass)))
    });
}

#[test]
fn linear_with_relu_matches_pytorch() {
    for (name, from, to) in [("linear_relu", 5, 3), ("linear_relu_blocks", 3, 2)] {
        check(name, true, |scope| {
            let layer = Linear::new(scope, from, to)?;
            Ok(Box::new(move |x, pass| {
                layer.clone().with_relu().forward(x, pass)
            }))
        });
    }
}

#[test]
fn batch_norm_matches_pytorch() {
    for (name, features, training) in [
        ("batch_norm", 4, true),
        ("batch_norm_blocks", 3, true),
        ("batch_norm_eval", 4, false),
    ] {
        check(name, training, |scope| {
            let layer = BatchNorm1d::new(scope, features)?;
            Ok(Box::new(move |x, pass| layer.forward(x, pass)))
        });
    }
}

#[test]
fn batch_norm_with_relu_matches_pytorch() {
    check("batch_norm_relu", true, |scope| {
        let layer = BatchNorm1d::new(scope, 4)?;
        Ok(Box::new(move |x, pass| {
            layer.clone().with_relu().forward(x, pass)
        }))
    });
}

#[test]
fn mlp_matches_pytorch() {
    let plain = MlpConfig::new(&[4, 6, 5, 2]);
    let gin = MlpConfig {
        output_norm: true,
        output_relu: true,
        ..MlpConfig::new(&[4, 6, 5])
    };
    for (name, config, training) in [
        ("mlp", &plain, true),
        ("mlp_eval", &plain, false),
        ("mlp_gin", &gin, true),
    ] {
        check(name, training, |scope| {
            let mlp = Mlp::new(scope, config)?;
            Ok(Box::new(move |x, pass| mlp.forward(x, pass)))
        });
    }
}
