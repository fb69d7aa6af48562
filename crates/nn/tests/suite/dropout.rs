//! Dropout: its gradient, its seed, and when it does nothing.

use approx::abs_diff_eq;
use candle_core::{DType, Device, Tensor, Var};
use egg_nn::{Dropout, Error, Pass};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::fixture::flat;
use crate::gradient::{check_by_differences, normal};

#[test]
fn dropout_gradient_uses_the_mask_of_the_values() {
    let dropout = Dropout::new(0.4).unwrap();
    let x = Var::from_tensor(&normal((5, 6), 1)).unwrap();
    let dropped = |x: &Tensor| {
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        dropout.forward(x, &mut Pass::Training(&mut rng))
    };
    check_by_differences(&[&x], || dropped(&x));
    check_by_differences(&[&x], || dropped(&x.t()?));
    let pairs = flat(&x).into_iter().zip(flat(&dropped(&x).unwrap()));
    for (x, y) in pairs {
        assert!(y == 0.0 || abs_diff_eq!(y, x / 0.6, epsilon = 1e-15));
    }
}

#[test]
fn each_pass_draws_a_new_mask() {
    let dropout = Dropout::new(0.5).unwrap();
    let x = Tensor::ones((64, 8), DType::F32, &Device::Cpu).unwrap();
    let two = |seed| {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        [(); 2].map(|()| flat(&dropout.forward(&x, &mut Pass::Training(&mut rng)).unwrap()))
    };
    let [first, second] = two(1);
    assert_ne!(first, second);
    assert_eq!(two(1), [first.clone(), second]);
    assert_ne!(two(2)[0], first);
}

#[test]
fn dropout_is_identity_in_evaluation_and_at_probability_0() {
    let x = Var::from_tensor(&normal((5, 6), 1)).unwrap();
    let y = Dropout::new(0.9)
        .unwrap()
        .forward(&x, &mut Pass::Evaluation)
        .unwrap();
    assert!(!y.track_op());
    assert_eq!(flat(&x), flat(&y));
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let untouched = rng.clone();
    let y = Dropout::new(0.0)
        .unwrap()
        .forward(&x, &mut Pass::Training(&mut rng))
        .unwrap();
    assert_eq!(flat(&x), flat(&y));
    assert_eq!(rng, untouched);
}

#[test]
fn probabilities_out_of_range_are_refused() {
    for probability in [-0.1, 1.0, 2.0, f64::NAN] {
        assert!(matches!(Dropout::new(probability), Err(Error::Parameter { .. })));
    }
    let x = Tensor::zeros(3, DType::U32, &Device::Cpu).unwrap();
    let refused = Dropout::new(0.5).unwrap().forward(&x, &mut Pass::Evaluation);
    assert!(matches!(refused, Err(Error::DType { .. })));
}
