//! Names, loading, and first values.

use std::collections::BTreeMap;

use candle_core::{DType, Device, Tensor};
use egg_nn::{Error, Init, Linear, Mlp, MlpConfig, Parameters};
use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::fixture::flat;

fn mlp(dtype: DType, seed: u64) -> Parameters {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut parameters = Parameters::new(dtype, &Device::Cpu).unwrap();
    Mlp::new(
        &mut parameters.root(&mut rng).enter("head"),
        &MlpConfig::new(&[3, 4, 2]),
    )
    .unwrap();
    parameters
}

#[test]
fn names_follow_pytorch_and_are_sorted() {
    let parameters = mlp(DType::F32, 1);
    let trainable: Vec<&str> = parameters.trainable().map(|(name, _)| name).collect();
    let expected = [
        "head.lins.0.bias",
        "head.lins.0.weight",
        "head.lins.1.bias",
        "head.lins.1.weight",
        "head.norms.0.bias",
        "head.norms.0.weight",
    ];
    assert_eq!(trainable, expected);
    let buffers: Vec<&str> = parameters.buffers().map(|(name, _)| name).collect();
    assert_eq!(buffers, ["head.norms.0.running_mean", "head.norms.0.running_var"]);
}

#[test]
fn f32_starts_at_the_rounded_values_of_f64() {
    let (single, double) = (mlp(DType::F32, 5), mlp(DType::F64, 5));
    for (name, var) in double.trainable() {
        let rounded: Vec<f64> = flat(var).iter().map(|v| f64::from(*v as f32)).collect();
        assert_eq!(flat(single.get(name).unwrap()), rounded, "{name}");
    }
}

#[test]
fn failed_load_changes_no_parameter() {
    let parameters = mlp(DType::F32, 1);
    let before = parameters.snapshot().unwrap();
    let other = mlp(DType::F32, 2).snapshot().unwrap();
    let short = Tensor::zeros(1, DType::F32, &Device::Cpu).unwrap();

    let mut missing = other.clone();
    missing.remove("head.norms.0.weight");
    let refused = parameters.load(&missing);
    assert!(matches!(refused, Err(Error::MissingName { name }) if name == "head.norms.0.weight"));

    let mut extra = other.clone();
    extra.insert("tail.weight".to_owned(), short.clone());
    let refused = parameters.load(&extra);
    assert!(matches!(refused, Err(Error::UnexpectedName { name }) if name == "tail.weight"));

    let mut misshapen = other.clone();
    misshapen.insert("head.norms.0.running_var".to_owned(), short);
    let refused = parameters.load(&misshapen);
    assert!(matches!(refused, Err(Error::Shape { what, .. }) if what == "head.norms.0.running_var"));

    let same = |left: &BTreeMap<String, Tensor>, right: &BTreeMap<String, Tensor>| {
        left.iter().all(|(name, value)| flat(value) == flat(&right[name]))
    };
    assert!(same(&parameters.snapshot().unwrap(), &before));
    parameters.load(&other).unwrap();
    assert!(same(&parameters.snapshot().unwrap(), &other));
}

proptest! {
    #[test]
    fn linear_starts_within_its_bounds(from in 1usize..40, to in 1usize..40, seed: u64) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut parameters = Parameters::new(DType::F64, &Device::Cpu).unwrap();
        Linear::new(&mut parameters.root(&mut rng), from, to).unwrap();
        let bound = 1.0 / (from as f64).sqrt();
        for (_, var) in parameters.trainable() {
            prop_assert!(flat(var).iter().all(|v| v.abs() <= bound));
        }
    }

    #[test]
    fn glorot_starts_within_its_bounds(from in 1usize..40, to in 1usize..40, seed: u64) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let weight = Init::GlorotUniform.tensor((to, from), DType::F64, &Device::Cpu, &mut rng).unwrap();
        let bound = (6.0 / (from + to) as f64).sqrt();
        prop_assert!(flat(&weight).iter().all(|v| v.abs() <= bound));
    }
}
