//! Gradients against central differences, in f64, and none lost.

use approx::abs_diff_eq;
use candle_core::{DType, Device, Tensor, Var};
use egg_nn::{BatchNorm1d, Init, Linear, Mlp, MlpConfig, Parameters, Pass, Result, Tracked, relu};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::fixture::flat;

/// Normal numbers.
pub(crate) fn normal(shape: (usize, usize), seed: u64) -> Tensor {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let normal = Init::Normal {
        mean: 0.0,
        deviation: 1.0,
    };
    normal.tensor(shape, DType::F64, &Device::Cpu, &mut rng).unwrap()
}

/// Compares the gradient of `sum(y * weights)` by every variable with central
/// differences.
pub(crate) fn check_by_differences<T: Into<Tensor>>(vars: &[&Var], y: impl Fn() -> Result<T>) {
    let y = || y().map(Into::<Tensor>::into);
    let first = y().unwrap();
    let elements = first.elem_count();
    let weights = normal((1, elements), 99).reshape(first.shape()).unwrap();
    let loss = || (y().unwrap() * &weights).unwrap().sum_all().unwrap();
    let gradients = loss().backward().unwrap();
    for (index, var) in vars.iter().enumerate() {
        let gradient = gradients
            .get(var)
            .unwrap_or_else(|| panic!("variable {index} has no gradient"));
        let gradient = flat(gradient);
        let start = flat(var);
        for i in 0..start.len() {
            let step = 1e-6 * start[i].abs().max(1.0);
            let at = |value: f64| {
                let mut values = start.clone();
                values[i] = value;
                let tensor = Tensor::from_vec(values, var.shape(), &Device::Cpu).unwrap();
                var.set(&tensor).unwrap();
                loss().to_scalar::<f64>().unwrap()
            };
            let difference = (at(start[i] + step) - at(start[i] - step)) / (2.0 * step);
            at(start[i]);
            assert!(
                abs_diff_eq!(
                    difference,
                    gradient[i],
                    epsilon = 1e-7 * difference.abs().max(1.0)
                ),
                "variable {index}, entry {i}: {} but differences give {difference}",
                gradient[i]
            );
        }
    }
}

#[test]
fn relu_gradient_matches_differences() {
    let x = Var::from_tensor(&normal((4, 5), 1)).unwrap();
    check_by_differences(&[&x], || relu(&x));
}

#[test]
fn layer_gradients_match_differences() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let mut parameters = Parameters::new(DType::F64, &Device::Cpu).unwrap();
    let mut root = parameters.root(&mut rng);
    let linear = Linear::new(&mut root.enter("linear"), 3, 4).unwrap();
    let norm = BatchNorm1d::new(&mut root.enter("norm"), 3).unwrap();
    let mlp = Mlp::new(&mut root.enter("mlp"), &MlpConfig::new(&[3, 5, 2])).unwrap();
    let x = Var::from_tensor(&normal((6, 3), 3)).unwrap();

    let vars = |prefix: &str| -> Vec<Var> {
        let named = parameters
            .trainable()
            .filter(|(name, _)| name.starts_with(prefix));
        named.map(|(_, var)| var.clone()).chain([x.clone()]).collect()
    };
    type Layer<'a> = &'a dyn Fn(&mut Pass<'_>) -> Result<Tracked>;
    let layers: [(&str, Layer<'_>); 5] = [
        ("linear", &|pass| linear.forward(&x, pass)),
        ("linear", &|pass| linear.clone().with_relu().forward(&x, pass)),
        ("norm", &|pass| norm.forward(&x, pass)),
        ("norm", &|pass| norm.clone().with_relu().forward(&x, pass)),
        ("mlp", &|pass| mlp.forward(&x, pass)),
    ];
    for (prefix, layer) in layers {
        let vars = vars(prefix);
        let vars: Vec<&Var> = vars.iter().collect();
        check_by_differences(&vars, || {
            let mut rng = ChaCha8Rng::seed_from_u64(2);
            layer(&mut Pass::Training(&mut rng))
        });
    }
}

#[test]
fn strided_inputs_and_gradients_are_supported() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let mut parameters = Parameters::new(DType::F64, &Device::Cpu).unwrap();
    let mut root = parameters.root(&mut rng);
    let linear = Linear::new(&mut root.enter("linear"), 3, 4).unwrap();
    let norm = BatchNorm1d::new(&mut root.enter("norm"), 4).unwrap();
    // A column slice of a transpose: neither contiguous nor at offset 0.
    let x = Var::from_tensor(&normal((5, 6), 3)).unwrap();
    check_by_differences(&[&x], || {
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        let pass = &mut Pass::Training(&mut rng);
        let y = linear
            .clone()
            .with_relu()
            .forward(&x.t()?.narrow(1, 1, 3)?, pass)?;
        // The transpose sends a strided gradient back.
        Ok(relu(&norm.forward(&y, pass)?.t()?)?.t()?.sqr()?)
    });
}

#[test]
fn constant_inputs_get_no_gradient() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let mut parameters = Parameters::new(DType::F64, &Device::Cpu).unwrap();
    let linear = Linear::new(&mut parameters.root(&mut rng), 3, 4).unwrap();
    let x = normal((6, 3), 3);
    let y = linear.forward(&x, &mut Pass::Training(&mut rng)).unwrap();
    let gradients = y.sum_all().unwrap().backward().unwrap();
    assert!(gradients.get(&x).is_none());
    assert!(
        parameters
            .trainable()
            .all(|(_, var)| gradients.get(var).is_some())
    );
}
