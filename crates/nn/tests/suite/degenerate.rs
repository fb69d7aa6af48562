//! Empty batches, one row, constant columns, large offsets.

use approx::assert_abs_diff_eq;
use candle_core::{DType, Device, Tensor, Var};
use egg_nn::{BatchNorm1d, Linear, Parameters, Pass};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::fixture::flat;
use crate::gradient::normal;

#[test]
fn empty_batch_gives_no_rows_and_zero_gradients() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut parameters = Parameters::new(DType::F32, &Device::Cpu).unwrap();
    let mut root = parameters.root(&mut rng);
    let linear = Linear::new(&mut root.enter("linear"), 3, 2).unwrap();
    let norm = BatchNorm1d::new(&mut root.enter("norm"), 2).unwrap();
    let x = Tensor::zeros((0, 3), DType::F32, &Device::Cpu).unwrap();
    let mut pass = Pass::Training(&mut rng);
    let y = linear.clone().with_relu().forward(&x, &mut pass).unwrap();
    let y = norm.forward(&y, &mut pass).unwrap();
    assert_eq!(y.dims(), [0, 2]);
    let gradients = y.sum_all().unwrap().backward().unwrap();
    for (name, var) in parameters.trainable() {
        assert!(
            flat(gradients.get(var).unwrap()).iter().all(|g| *g == 0.0),
            "{name}"
        );
    }
    assert_eq!(flat(parameters.get("norm.running_mean").unwrap()), [0.0, 0.0]);
    assert_eq!(flat(parameters.get("norm.running_var").unwrap()), [1.0, 1.0]);
}

#[test]
fn one_row_is_normalised_to_the_bias() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut parameters = Parameters::new(DType::F64, &Device::Cpu).unwrap();
    let norm = BatchNorm1d::new(&mut parameters.root(&mut rng), 2).unwrap();
    let x = Var::new(&[[3.0f64, -5.0]], &Device::Cpu).unwrap();
    let y = norm.forward(&x, &mut Pass::Training(&mut rng)).unwrap();
    assert_eq!(flat(&y), [0.0, 0.0]);
    let gradients = y.sum_all().unwrap().backward().unwrap();
    assert_eq!(flat(gradients.get(&x).unwrap()), [0.0, 0.0]);
    let mean = flat(parameters.get("running_mean").unwrap());
    assert_abs_diff_eq!(mean[..], [0.3, -0.5], epsilon = 1e-15);
    assert_eq!(flat(parameters.get("running_var").unwrap()), [1.0, 1.0]);
}

#[test]
fn small_variance_with_large_mean_keeps_its_digits() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut parameters = Parameters::new(DType::F64, &Device::Cpu).unwrap();
    let norm = BatchNorm1d::new(&mut parameters.root(&mut rng), 3).unwrap();
    let x = normal((5000, 3), 8);
    let plain = norm.forward(&x, &mut Pass::Training(&mut rng)).unwrap();
    let far = norm
        .forward((&x + 1e8).unwrap(), &mut Pass::Training(&mut rng))
        .unwrap();
    let apart = (plain - far).unwrap().abs().unwrap().max_all().unwrap();
    assert!(apart.to_scalar::<f64>().unwrap() < 1e-6);
}

#[test]
fn fused_relu_has_gradient_0_at_0() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut parameters = Parameters::new(DType::F64, &Device::Cpu).unwrap();
    let mut root = parameters.root(&mut rng);
    let linear = Linear::new(&mut root.enter("linear"), 3, 2).unwrap();
    let norm = BatchNorm1d::new(&mut root.enter("norm"), 3).unwrap();
    for (_, var) in parameters.trainable() {
        var.set(&var.zeros_like().unwrap()).unwrap();
    }
    let x = Var::from_tensor(&normal((4, 3), 2)).unwrap();
    for is_linear in [true, false] {
        let mut pass = Pass::Training(&mut rng);
        let y = match is_linear {
            true => linear.clone().with_relu().forward(&x, &mut pass).unwrap(),
            false => norm.clone().with_relu().forward(&x, &mut pass).unwrap(),
        };
        assert!(flat(&y).iter().all(|y| *y == 0.0));
        let gradients = y.sum_all().unwrap().backward().unwrap();
        let of_parameters = parameters.trainable().filter_map(|(_, var)| gradients.get(var));
        for gradient in of_parameters.chain(gradients.get(&x)) {
            assert!(flat(gradient).iter().all(|entry| *entry == 0.0));
        }
    }
}
