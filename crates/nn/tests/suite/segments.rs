//! Segment operations against PyTorch, central differences and plain loops.

use approx::abs_diff_eq;
use candle_core::{DType, Device, Tensor, Var};
use egg_nn::{Error, Result, Segments, Tracked};
use proptest::prelude::*;

use crate::fixture::{assert_close, flat, tolerance, training};
use crate::gradient::{check_by_differences, normal};

type Operation = fn(&Segments, &Tensor) -> Result<Tracked>;

const OPERATIONS: [(&str, Operation); 4] = [
    ("sum", |segments, x| segments.sum(x)),
    ("mean", |segments, x| segments.mean(x)),
    ("max", |segments, x| segments.max(x)),
    ("softmax", |segments, x| segments.softmax(x)),
];

#[test]
fn segment_values_and_gradients_match_pytorch() {
    let cases = training().segments;
    for (name, operation) in OPERATIONS {
        let case = &cases[name];
        let segments = Segments::new(&case.offsets).unwrap();
        for dtype in [DType::F32, DType::F64] {
            let x = Var::from_tensor(&case.x.tensor(dtype)).unwrap();
            let y = operation(&segments, &x).unwrap();
            assert_close(name, &y, &case.y, tolerance(dtype));
            let loss = (y * case.g.tensor(dtype)).unwrap().sum_all().unwrap();
            let gradients = loss.backward().unwrap();
            assert_close(name, gradients.get(&x).unwrap(), &case.gradient, tolerance(dtype));
        }
    }
}

#[test]
fn segment_gradients_match_differences() {
    let x = Var::from_tensor(&normal((7, 3), 1)).unwrap();
    let segments = Segments::new(&[0, 0, 4, 5, 7, 7]).unwrap();
    let other = Segments::new(&[0, 2, 3]).unwrap();
    for (_, operation) in OPERATIONS {
        check_by_differences(&[&x], || operation(&segments, &x));
        check_by_differences(&[&x], || {
            operation(&other, &x.t()?)?.t()?.sqr().map_err(Error::from)
        });
    }
}

#[test]
fn first_of_equal_maxima_gets_the_gradient() {
    let x = Var::new(&[[1f32, 2.0], [1.0, 2.0], [0.0, 2.0], [5.0, 5.0]], &Device::Cpu).unwrap();
    let segments = Segments::new(&[0, 3, 4]).unwrap();
    let gradients = segments.max(&x).unwrap().sum_all().unwrap().backward().unwrap();
    let gradient = gradients.get(&x).unwrap().to_vec2::<f32>().unwrap();
    assert_eq!(gradient, [[1.0, 1.0], [0.0, 0.0], [0.0, 0.0], [1.0, 1.0]]);
}

#[test]
fn maxima_may_be_infinite_or_nan() {
    let low = f32::NEG_INFINITY;
    let x = Var::new(&[[low, 1.0], [low, f32::NAN], [low, 2.0]], &Device::Cpu).unwrap();
    let segments = Segments::new(&[0, 3]).unwrap();
    let y = segments.max(&x).unwrap();
    let values = y.to_vec2::<f32>().unwrap();
    assert!(values[0][0] == low && values[0][1].is_nan());
    let gradients = y.sum_all().unwrap().backward().unwrap();
    let gradient = gradients.get(&x).unwrap().to_vec2::<f32>().unwrap();
    assert_eq!(gradient, [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]);
}

#[test]
fn empty_segments_give_empty_or_zero_output() {
    for (offsets, shape) in [
        (vec![0], (0, 3)),
        (vec![0, 0, 0], (0, 3)),
        (vec![0, 2, 4], (4, 0)),
    ] {
        let segments = Segments::new(&offsets).unwrap();
        let x = Var::zeros(shape, DType::F64, &Device::Cpu).unwrap();
        for (name, operation) in OPERATIONS {
            let y = operation(&segments, &x).unwrap();
            assert!(flat(&y).iter().all(|y| *y == 0.0), "{name}");
            let gradients = y.sum_all().unwrap().backward().unwrap();
            assert_eq!(gradients.get(&x).unwrap().dims2().unwrap(), shape, "{name}");
        }
    }
}

#[test]
fn softmax_of_large_logits_is_finite() {
    let x = Tensor::new(&[[1e30f64], [1e30], [-1e30], [-1e30]], &Device::Cpu).unwrap();
    let y = Segments::new(&[0, 2, 4]).unwrap().softmax(&x).unwrap();
    assert_eq!(flat(&y), [0.5; 4]);
}

#[test]
fn bad_segments_are_refused() {
    for (offsets, at) in [(vec![], 0), (vec![1, 2], 0), (vec![0, 4, 3, 5], 2)] {
        assert!(matches!(Segments::new(&offsets), Err(Error::Offsets { index, .. }) if index == at));
    }
    let segments = Segments::new(&[0, 2, 4]).unwrap();
    for (_, operation) in OPERATIONS {
        let refused = operation(&segments, &normal((5, 2), 1));
        assert!(matches!(refused, Err(Error::Shape { .. })));
        let refused = operation(&segments, &normal((4, 1), 1).flatten_all().unwrap());
        assert!(matches!(refused, Err(Error::Shape { .. })));
        let refused = operation(
            &segments,
            &Tensor::zeros((4, 1), DType::U32, &Device::Cpu).unwrap(),
        );
        assert!(matches!(refused, Err(Error::DType { .. })));
    }
}

proptest! {
    #[test]
    fn segments_match_plain_loops(sizes in prop::collection::vec(0usize..700, 0..20), width in 1usize..20) {
        let mut offsets = vec![0];
        for size in &sizes {
            offsets.push(offsets[offsets.len() - 1] + size);
        }
        let segments = Segments::new(&offsets).unwrap();
        let x = normal((segments.rows(), width), 3);
        let (values, sums) = (flat(&x), flat(&segments.sum(&x).unwrap()));
        let maxima = flat(&segments.max(&x).unwrap());
        let shares = segments.softmax(&x).unwrap();
        let totals = flat(&segments.sum(&shares).unwrap());
        for (g, rows) in segments.ranges().enumerate() {
            for column in 0..width {
                let entries = rows.clone().map(|row| values[row * width + column]);
                prop_assert_eq!(entries.clone().sum::<f64>() + 0.0, sums[g * width + column]);
                let most = entries.reduce(f64::max).unwrap_or(0.0);
                prop_assert_eq!(most, maxima[g * width + column]);
                let one = if rows.is_empty() { 0.0 } else { 1.0 };
                prop_assert!(abs_diff_eq!(totals[g * width + column], one, epsilon = 1e-12));
            }
        }
    }
}
