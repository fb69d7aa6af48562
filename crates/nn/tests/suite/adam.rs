//! Adam and AdamW against PyTorch, step by step.

use std::collections::BTreeMap;

use approx::{abs_diff_eq, assert_abs_diff_eq};
use candle_core::backprop::GradStore;
use candle_core::{DType, Device, Tensor, Var};
use egg_nn::{Adam, AdamConfig, AdamState, Decay, Error, Init, Parameters};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::fixture::{AdamCase, Stored, assert_close, flat, tolerance, training};

fn parameters(dtype: DType) -> Parameters {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut parameters = Parameters::new(dtype, &Device::Cpu).unwrap();
    let mut root = parameters.root(&mut rng);
    root.parameter("w", (3, 2), Init::Zeros).unwrap();
    root.parameter("b", 4, Init::Zeros).unwrap();
    root.buffer("running", 4, Init::Ones).unwrap();
    parameters
}

/// A store with these gradients: those of `sum(parameter * gradient)`.
pub(crate) fn gradients(parameters: &Parameters, values: &BTreeMap<String, Option<Stored>>) -> GradStore {
    let terms = values.iter().filter_map(|(name, gradient)| {
        let gradient = gradient.as_ref()?.tensor(parameters.dtype());
        Some(
            (parameters.get(name).unwrap().as_tensor() * gradient)
                .unwrap()
                .sum_all()
                .unwrap(),
        )
    });
    let terms: Vec<Tensor> = terms.collect();
    Tensor::stack(&terms, 0)
        .unwrap()
        .sum_all()
        .unwrap()
        .backward()
        .unwrap()
}

fn start(case: &AdamCase, dtype: DType) -> Parameters {
    let parameters = parameters(dtype);
    for (name, first) in &case.first {
        parameters.get(name).unwrap().set(&first.tensor(dtype)).unwrap();
    }
    parameters
}

#[test]
fn adam_steps_match_pytorch() {
    let cases = training().adam;
    for (name, decay) in [
        ("plain", Decay::L2(0.0)),
        ("plain", Decay::Decoupled(0.0)),
        ("l2", Decay::L2(0.1)),
        ("decoupled", Decay::Decoupled(0.1)),
    ] {
        for dtype in [DType::F32, DType::F64] {
            let case = &cases[name];
            let parameters = start(case, dtype);
            let mut adam = Adam::new(&parameters, AdamConfig::new(0.05, decay)).unwrap();
            for step in &case.steps {
                adam.set_learning_rate(step.rate).unwrap();
                adam.step(&gradients(&parameters, &step.gradients)).unwrap();
                for (name, after) in &step.after {
                    assert_close(name, parameters.get(name).unwrap(), after, tolerance(dtype));
                }
            }
            let state = adam.state().unwrap();
            assert_eq!(state.config.learning_rate, 0.02);
            for (name, moments) in &case.moments {
                let found = &state.moments[name];
                assert_eq!(found.steps, moments.steps, "{name}");
                assert_close(name, &found.first, &moments.first, tolerance(dtype));
                assert_close(name, &found.second, &moments.second, tolerance(dtype));
            }
        }
    }
}

#[test]
fn loaded_adam_state_resumes_bit_for_bit() {
    let case = &training().adam["l2"];
    let config = AdamConfig::new(0.05, Decay::L2(0.1));
    let straight = start(case, DType::F32);
    let mut adam = Adam::new(&straight, config).unwrap();
    let resumed = start(case, DType::F32);
    let mut first = Adam::new(&resumed, config).unwrap();
    for step in &case.steps[..3] {
        adam.step(&gradients(&straight, &step.gradients)).unwrap();
        first.step(&gradients(&resumed, &step.gradients)).unwrap();
    }
    let state = first.state().unwrap();
    drop(first);
    let mut second = Adam::new(&resumed, AdamConfig::new(1.0, Decay::Decoupled(0.0))).unwrap();
    second.load_state(&state).unwrap();
    for step in &case.steps[3..] {
        adam.step(&gradients(&straight, &step.gradients)).unwrap();
        second.step(&gradients(&resumed, &step.gradients)).unwrap();
    }
    for (name, var) in straight.trainable() {
        assert_eq!(flat(var), flat(resumed.get(name).unwrap()), "{name}");
    }
}

#[test]
fn step_updates_layers_in_place_and_keeps_buffers() {
    let parameters = parameters(DType::F32);
    let shared: Var = parameters.get("w").unwrap().clone();
    let mut adam = Adam::new(&parameters, AdamConfig::new(0.1, Decay::L2(0.0))).unwrap();
    adam.step(&shared.sum_all().unwrap().backward().unwrap()).unwrap();
    assert!(
        flat(&shared)
            .iter()
            .all(|w| abs_diff_eq!(*w, -0.1, epsilon = 1e-6))
    );
    assert_eq!(flat(parameters.get("b").unwrap()), [0.0; 4]);
    assert_eq!(flat(parameters.get("running").unwrap()), [1.0; 4]);
}

#[test]
fn bad_settings_and_states_are_refused() {
    let parameters = parameters(DType::F32);
    let good = AdamConfig::new(0.1, Decay::L2(0.0));
    for bad in [
        AdamConfig {
            learning_rate: -1.0,
            ..good
        },
        AdamConfig {
            learning_rate: f64::NAN,
            ..good
        },
        AdamConfig { beta1: 1.0, ..good },
        AdamConfig { beta2: -0.1, ..good },
        AdamConfig { epsilon: 0.0, ..good },
        AdamConfig {
            decay: Decay::L2(f64::INFINITY),
            ..good
        },
    ] {
        assert!(matches!(
            Adam::new(&parameters, bad),
            Err(Error::Parameter { .. })
        ));
    }
    let mut adam = Adam::new(&parameters, good).unwrap();
    assert!(matches!(
        adam.set_learning_rate(f64::INFINITY),
        Err(Error::Parameter { .. })
    ));

    let state = adam.state().unwrap();
    let change = |change: &dyn Fn(&mut AdamState)| {
        let mut changed = state.clone();
        change(&mut changed);
        changed
    };
    let missing = change(&|state| drop(state.moments.remove("b")));
    assert!(matches!(adam.load_state(&missing), Err(Error::MissingName { name }) if name == "b"));
    let extra = change(&|state| {
        let moments = state.moments["b"].clone();
        state.moments.insert("c".to_owned(), moments);
    });
    assert!(matches!(adam.load_state(&extra), Err(Error::UnexpectedName { name }) if name == "c"));
    let misshapen = change(&|state| {
        let moments = state.moments["b"].clone();
        state.moments.insert("w".to_owned(), moments);
    });
    assert!(matches!(adam.load_state(&misshapen), Err(Error::Shape { .. })));
}

#[test]
fn gradient_of_wrong_shape_changes_no_parameter() {
    let parameters = parameters(DType::F32);
    let (b, w) = (parameters.get("b").unwrap(), parameters.get("w").unwrap());
    let mut gradients = b.sum_all().unwrap().backward().unwrap();
    gradients.insert(w, Tensor::ones(6, DType::F32, &Device::Cpu).unwrap());
    let mut adam = Adam::new(&parameters, AdamConfig::new(0.1, Decay::L2(0.0))).unwrap();
    assert!(matches!(adam.step(&gradients), Err(Error::Shape { .. })));
    assert_eq!(flat(b), [0.0; 4]);
}

#[test]
fn strided_gradients_are_supported() {
    let parameters = parameters(DType::F64);
    let w = parameters.get("w").unwrap();
    let gradient = Tensor::new(&[[1f64, 2.0, 3.0], [4.0, 5.0, 6.0]], &Device::Cpu).unwrap();
    let mut gradients = w.sum_all().unwrap().backward().unwrap();
    gradients.insert(w, gradient.t().unwrap());
    let mut adam = Adam::new(&parameters, AdamConfig::new(0.1, Decay::L2(0.0))).unwrap();
    adam.step(&gradients).unwrap();
    let first = flat(&adam.state().unwrap().moments["w"].first);
    for (found, expected) in first.iter().zip([1.0, 4.0, 2.0, 5.0, 3.0, 6.0]) {
        assert_abs_diff_eq!(*found, 0.1 * expected, epsilon = 1e-15);
    }
}

/// The weights of a dead unit, whose only gradient is the decay's: they shrink to 0 without passing
/// through slow subnormal numbers.
#[test]
fn vanishing_parameters_and_moments_become_zero() {
    let parameters = parameters(DType::F32);
    let w = parameters.get("w").unwrap();
    let values = [0.3f32, -0.2, 1e-2, -0.05, 1e-30, 1e-42];
    w.set(&Tensor::from_slice(&values, (3, 2), &Device::Cpu).unwrap())
        .unwrap();
    let mut adam = Adam::new(&parameters, AdamConfig::new(5e-3, Decay::L2(5e-4))).unwrap();
    let zeros = w.zeros_like().unwrap();
    for _ in 0..3000 {
        let nothing = (w.as_tensor() * &zeros).unwrap();
        let gradients = nothing.sum_all().unwrap().backward().unwrap();
        adam.step(&gradients).unwrap();
        for value in flat(w.as_tensor()) {
            assert!(value == 0.0 || value.abs() >= 1e-19, "{value:e}");
        }
        let moments = &adam.state().unwrap().moments["w"];
        for value in flat(&moments.first).into_iter().chain(flat(&moments.second)) {
            let smallest = f64::from(f32::MIN_POSITIVE);
            assert!(value == 0.0 || value.abs() >= smallest, "{value:e}");
        }
    }
    assert_eq!(flat(w.as_tensor()), [0.0; 6]);
}
