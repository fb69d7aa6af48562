//! Losses against PyTorch and against central differences.

use approx::abs_diff_eq;
use candle_core::{DType, Device, Tensor, Var};
use egg_nn::{
    Error, Reduction, Result, bce_with_logits, bce_with_logits_value, cross_entropy, cross_entropy_value,
    mae, mse,
};

use crate::fixture::{assert_close, flat, tolerance, training};
use crate::gradient::{check_by_differences, normal};

type Loss = fn(&Tensor, &Tensor, Reduction) -> Result<Tensor>;

const LOSSES: [(&str, Loss); 8] = [
    ("cross_entropy", |x, y, reduction| cross_entropy(x, y, reduction)),
    ("cross_entropy_far", |x, y, reduction| {
        cross_entropy(x, y, reduction)
    }),
    ("bce_plain", |x, y, reduction| {
        bce_with_logits(x, y, 1.0, reduction)
    }),
    ("bce_weighted", |x, y, reduction| {
        bce_with_logits(x, y, 3.5, reduction)
    }),
    ("bce_far_plain", |x, y, reduction| {
        bce_with_logits(x, y, 1.0, reduction)
    }),
    ("bce_far_weighted", |x, y, reduction| {
        bce_with_logits(x, y, 3.5, reduction)
    }),
    ("mse", |x, y, reduction| mse(x, y, reduction)),
    ("mae", |x, y, reduction| mae(x, y, reduction)),
];

#[test]
fn loss_values_and_gradients_match_pytorch() {
    let cases = training().losses;
    assert_eq!(cases.len(), 2 * LOSSES.len());
    for (name, loss) in LOSSES {
        for (suffix, reduction) in [("sum", Reduction::Sum), ("mean", Reduction::Mean)] {
            let case = &cases[&format!("{name}_{suffix}")];
            for dtype in [DType::F32, DType::F64] {
                let target = if name.starts_with("cross") {
                    DType::U32
                } else {
                    dtype
                };
                let x = Var::from_tensor(&case.x.tensor(dtype)).unwrap();
                let value = loss(&x, &case.target.tensor(target), reduction).unwrap();
                assert_eq!(value.rank(), 0);
                let found = flat(&value)[0];
                let allowed = tolerance(dtype) * case.loss.abs().max(1.0);
                assert!(
                    abs_diff_eq!(found, case.loss, epsilon = allowed),
                    "{name} {found} is not {}",
                    case.loss
                );
                // The loss is scaled before it is pulled back.
                let gradients = value.affine(2.0, 0.0).unwrap().backward().unwrap();
                let gradient = (gradients.get(&x).unwrap() / 2.0).unwrap();
                assert!(flat(&gradient).iter().all(|g| g.is_finite()));
                assert_close(name, &gradient, &case.gradient, tolerance(dtype));
            }
        }
    }
}

#[test]
fn loss_gradients_match_differences() {
    let x = Var::from_tensor(&normal((6, 4), 1)).unwrap();
    let target = normal((6, 4), 2);
    let share = target.sqr().unwrap().affine(-1.0, 0.0).unwrap().exp().unwrap();
    let classes = Tensor::new(&[0u32, 3, 1, 2, 0, 0], &Device::Cpu).unwrap();
    for reduction in [Reduction::Sum, Reduction::Mean] {
        check_by_differences(&[&x], || cross_entropy(&x, &classes, reduction));
        check_by_differences(&[&x], || bce_with_logits(&x, &share, 2.5, reduction));
        check_by_differences(&[&x], || mse(&x, &target, reduction));
        check_by_differences(&[&x], || mae(&x, &target, reduction));
        // Strided input.
        let (target, wide) = (target.t().unwrap(), classes.narrow(0, 0, 4).unwrap());
        check_by_differences(&[&x], || mse(&x.t()?, &target, reduction));
        check_by_differences(&[&x], || cross_entropy(&x.t()?, &wide, reduction));
    }
}

#[test]
fn loss_values_build_no_tape() {
    let x = Var::from_tensor(&normal((6, 4), 1)).unwrap();
    let classes = Tensor::zeros(6, DType::U32, &Device::Cpu).unwrap();
    let taped = flat(&cross_entropy(&x, &classes, Reduction::Mean).unwrap())[0];
    assert_eq!(cross_entropy_value(&x, &classes, Reduction::Mean).unwrap(), taped);
    let target = x.zeros_like().unwrap();
    let taped = flat(&bce_with_logits(&x, &target, 2.0, Reduction::Sum).unwrap())[0];
    assert_eq!(
        bce_with_logits_value(&x, &target, 2.0, Reduction::Sum).unwrap(),
        taped
    );
}

#[test]
fn targets_get_no_gradient() {
    let x = Var::from_tensor(&normal((3, 2), 1)).unwrap();
    let y = Var::from_tensor(&normal((3, 2), 2)).unwrap();
    let gradients = mse(&x, &y, Reduction::Sum).unwrap().backward().unwrap();
    assert!(gradients.get(&x).is_some() && gradients.get(&y).is_none());
}

#[test]
fn empty_batches_have_a_sum_but_no_mean() {
    let x = Var::zeros((0, 3), DType::F32, &Device::Cpu).unwrap();
    let classes = Tensor::zeros(0, DType::U32, &Device::Cpu).unwrap();
    let loss = cross_entropy(&x, &classes, Reduction::Sum).unwrap();
    assert_eq!(flat(&loss), [0.0]);
    assert_eq!(loss.backward().unwrap().get(&x).unwrap().dims(), [0, 3]);
    let refused = cross_entropy(&x, &classes, Reduction::Mean);
    assert!(matches!(refused, Err(Error::Shape { .. })));
    assert!(matches!(mse(&x, &x, Reduction::Mean), Err(Error::Shape { .. })));
    // No classes at all: no class can be right.
    let x = Tensor::zeros((2, 0), DType::F32, &Device::Cpu).unwrap();
    let classes = Tensor::zeros(2, DType::U32, &Device::Cpu).unwrap();
    let refused = cross_entropy(&x, &classes, Reduction::Sum);
    assert!(matches!(
        refused,
        Err(Error::Class {
            row: 0,
            columns: 0,
            ..
        })
    ));
}

#[test]
fn bad_loss_input_is_refused() {
    let x = normal((2, 3), 1);
    let classes = |values: &[u32]| Tensor::new(values, &Device::Cpu).unwrap();
    let refused = cross_entropy(&x, &classes(&[0, 3]), Reduction::Sum);
    assert!(matches!(
        refused,
        Err(Error::Class {
            row: 1,
            class: 3,
            columns: 3
        })
    ));
    let refused = cross_entropy(&x, &classes(&[0, 1, 2]), Reduction::Sum);
    assert!(matches!(refused, Err(Error::Shape { .. })));
    let refused = cross_entropy(x.flatten_all().unwrap(), &classes(&[0, 1]), Reduction::Sum);
    assert!(matches!(refused, Err(Error::Shape { .. })));
    let refused = cross_entropy(&x, &x, Reduction::Sum);
    assert!(matches!(refused, Err(Error::DType { .. })));
    let refused = mse(&x, &normal((2, 1), 1), Reduction::Sum);
    assert!(matches!(refused, Err(Error::Shape { .. })));
    let refused = mae(&x, &x.to_dtype(DType::F32).unwrap(), Reduction::Sum);
    assert!(matches!(refused, Err(Error::DType { .. })));
    for weight in [-1.0, f64::NAN, f64::INFINITY] {
        let refused = bce_with_logits(&x, &x, weight, Reduction::Sum);
        assert!(matches!(refused, Err(Error::Parameter { .. })));
    }
}
