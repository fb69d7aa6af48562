//! Gradients against central differences, and that every parameter has one.

use approx::abs_diff_eq;
use candle_core::{DType, Tensor, Var};
use egg_nn::Pass;
use egg_pool::{Pooling, PoolingConfig, Structure};

use crate::samples::{build, flat, mixed, node_count, normal, rng, structure};

const FEATURES: usize = 4;

/// A fixed weighted sum of the readout and of the coarser rows, if there are any.
fn loss(pooling: &dyn Pooling, h: &Tensor, structure: &Structure) -> Tensor {
    let mut rng = rng(0);
    let pooled = pooling
        .pool(&h.into(), structure, &mut Pass::Training(&mut rng))
        .unwrap();
    let weighted = |x: &Tensor, seed| {
        let (rows, columns) = x.dims2().unwrap();
        (x * normal(rows, columns, seed)).unwrap().sum_all().unwrap()
    };
    let loss = weighted(&pooled.readout, 50);
    match pooled.coarser {
        Some(coarser) => (loss + weighted(&coarser.h, 51)).unwrap(),
        None => loss,
    }
}

/// Central differences of order 4 in every number of a variable.
fn differences(variable: &Var, loss: impl Fn() -> Tensor) -> Vec<f64> {
    let start = flat(variable);
    let step = 2e-4;
    let at = |index: usize, shift: f64| {
        let mut numbers = start.clone();
        numbers[index] += shift;
        let shifted = Tensor::from_vec(numbers, variable.shape(), variable.device()).unwrap();
        variable.set(&shifted).unwrap();
        loss().to_scalar::<f64>().unwrap()
    };
    let found = (0..start.len())
        .map(|index| {
            let near = at(index, step) - at(index, -step);
            let far = at(index, 2.0 * step) - at(index, -2.0 * step);
            (8.0 * near - far) / (12.0 * step)
        })
        .collect();
    variable
        .set(&Tensor::from_vec(start, variable.shape(), variable.device()).unwrap())
        .unwrap();
    found
}

#[test]
fn gradients_of_rows_and_parameters_equal_finite_differences() {
    let graphs = mixed();
    let structure = structure(&graphs);
    for config in PoolingConfig::all() {
        let (pooling, parameters) = build(&config, FEATURES, DType::F64, 3);
        let h = Var::from_tensor(&normal(node_count(&graphs), FEATURES, 4)).unwrap();
        let gradients = loss(&*pooling, &h, &structure).backward().unwrap();
        let variables = parameters.trainable().chain([("h", &h)]);
        for (name, variable) in variables {
            let gradient = gradients.get(variable);
            let gradient = flat(gradient.unwrap_or_else(|| panic!("{config}: {name} has no gradient")));
            let largest = gradient.iter().fold(0.0, |most: f64, g| most.max(g.abs()));
            assert!(
                largest > 1e-3,
                "{config}: the gradient of {name} is at most {largest}"
            );
            let expected = differences(variable, || loss(&*pooling, &h, &structure));
            for (found, expected) in gradient.iter().zip(&expected) {
                let error = (found - expected).abs() / largest;
                assert!(error <= 1e-6, "{config}: {name}: {found} and {expected}");
            }
        }
    }
}

#[test]
fn gradients_reach_rows_through_two_coarsenings() {
    let graphs = mixed();
    let structure = structure(&graphs);
    for config in PoolingConfig::all() {
        if !config.coarsens() {
            continue;
        }
        let (first, _) = build(&config, FEATURES, DType::F64, 3);
        let (second, _) = build(&config, FEATURES, DType::F64, 5);
        let h = Var::from_tensor(&normal(node_count(&graphs), FEATURES, 4)).unwrap();
        let twice = || {
            let mut rng = rng(0);
            let coarser = first
                .pool(&(&h).into(), &structure, &mut Pass::Training(&mut rng))
                .unwrap()
                .coarser
                .unwrap();
            loss(&*second, &coarser.h, &coarser.structure)
        };
        let gradients = twice().backward().unwrap();
        let gradient = flat(gradients.get(&h).unwrap());
        let largest = gradient.iter().fold(0.0, |most: f64, g| most.max(g.abs()));
        for (found, expected) in gradient.iter().zip(differences(&h, twice)) {
            assert!(
                abs_diff_eq!(*found, expected, epsilon = 1e-6 * largest),
                "{config}"
            );
        }
    }
}

#[test]
fn evaluation_builds_no_tape_and_gives_the_same() {
    let graphs = mixed();
    let structure = structure(&graphs);
    for config in PoolingConfig::all() {
        let (pooling, _) = build(&config, FEATURES, DType::F32, 3);
        let h = normal(node_count(&graphs), FEATURES, 4)
            .to_dtype(DType::F32)
            .unwrap();
        let h = Var::from_tensor(&h).unwrap();
        let mut rng = rng(0);
        let training = pooling
            .pool(&(&h).into(), &structure, &mut Pass::Training(&mut rng))
            .unwrap();
        let evaluation = pooling
            .pool(&(&h).into(), &structure, &mut Pass::Evaluation)
            .unwrap();
        assert!(!evaluation.readout.track_op(), "{config}");
        assert!(training.readout.track_op(), "{config}");
        assert_eq!(flat(&training.readout), flat(&evaluation.readout), "{config}");
        if let Some(coarser) = evaluation.coarser {
            assert!(!coarser.h.track_op(), "{config}");
        }
    }
}
