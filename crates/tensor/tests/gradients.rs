//! Operations on slices give candle's gradients, on candle's backward pass and on ours.

use candle_core::backprop::GradStore;
use candle_core::{Device, Result, Tensor, Var};
use egg_tensor::{Backward, Element, Forward, Operand, Operation, Tracked, affine, apply, backward};

/// `a b`, entry by entry.
struct Times;

impl<T: Element> Operation<T, 2> for Times {
    type Saved = ();
    type Error = candle_core::Error;

    fn name(&self) -> &'static str {
        "times"
    }

    fn forward(&self, [a, b]: [Operand<'_, T>; 2]) -> Result<Forward<T>> {
        Ok(Forward::new(
            a.iter().zip(b.values).map(|(a, b)| *a * *b).collect(),
            a.dims,
        ))
    }

    fn backward(&self, of: Backward<'_, T, (), 2>) -> Result<[Option<Vec<T>>; 2]> {
        let [a, b] = of.inputs;
        let times = |by: Operand<'_, T>| of.gradient.iter().zip(by.values).map(|(g, x)| *g * *x).collect();
        Ok([Some(times(b)), Some(times(a))])
    }
}

/// `x w^T + b`.
struct Linear;

impl<T: Element> Operation<T, 3> for Linear {
    type Saved = ();
    type Error = candle_core::Error;

    fn name(&self) -> &'static str {
        "linear"
    }

    fn forward(&self, [x, w, b]: [Operand<'_, T>; 3]) -> Result<Forward<T>> {
        let ((rows, _), (out, inputs)) = (x.dims2()?, w.dims2()?);
        let y = affine::forward(&x, &w, Some(&b), inputs, out, false);
        Ok(Forward::new(y, (rows, out)))
    }

    fn backward(&self, of: Backward<'_, T, (), 3>) -> Result<[Option<Vec<T>>; 3]> {
        let [x, w, _] = of.inputs;
        let (out, inputs) = w.dims2()?;
        let wanted = affine::Wanted {
            input: of.wanted[0],
            bias: true,
        };
        let (dx, dw, db) = affine::backward(&x, &w, None, of.gradient, inputs, out, wanted);
        assert_eq!(dx.is_some(), of.wanted[0]);
        Ok([dx, Some(dw), Some(db)])
    }
}

fn var(numbers: &[f64]) -> Var {
    Var::new(numbers, &Device::Cpu).unwrap()
}

fn matrix(rows: usize, columns: usize, seed: usize) -> Var {
    let numbers: Vec<f64> = (0..rows * columns)
        .map(|i| ((i * 7 + seed) % 5) as f64 - 2.0)
        .collect();
    Var::from_tensor(&Tensor::from_vec(numbers, (rows, columns), &Device::Cpu).unwrap()).unwrap()
}

fn gradient(gradients: &GradStore, of: &Var) -> Vec<f64> {
    let gradient = gradients.get(of).unwrap();
    gradient.flatten_all().unwrap().to_vec1().unwrap()
}

/// Both backward passes, each twice on the same tape: no gradient is left in an accumulator.
fn all_gradients(loss: &Tensor, of: &[&Var]) -> Vec<Vec<f64>> {
    let passes = [loss.backward(), backward(loss), loss.backward(), backward(loss)];
    let mut found = passes
        .into_iter()
        .map(|gradients| gradients.unwrap())
        .map(|gradients| of.iter().map(|of| gradient(&gradients, of)).collect::<Vec<_>>());
    let first = found.next().unwrap();
    found.for_each(|other| assert_eq!(other, first));
    first
}

/// A parameter that is used three times, once by an operation of candle's own, and a product
/// in between that is used by both kinds.
#[test]
fn gradients_match_candle() {
    let (a, b) = (var(&[1.0, 2.0]), var(&[3.0, 5.0]));
    let product = apply(Times, [&a, &b]).unwrap();
    let cube = apply(Times, [&product, &(&a).into()]).unwrap();
    let loss = (cube.sum_all().unwrap() + a.sqr().unwrap().sum_all().unwrap()).unwrap();
    let loss = (loss + product.sqr().unwrap().sum_all().unwrap()).unwrap();
    // a^2 b + a^2 + a^2 b^2
    let expected = vec![
        vec![6.0 + 2.0 + 18.0, 20.0 + 4.0 + 100.0],
        vec![1.0 + 6.0, 4.0 + 40.0],
    ];
    assert_eq!(all_gradients(&loss, &[&a, &b]), expected);
}

/// Two layers, the first used twice, against candle's own operations.
#[test]
fn stacked_operations_match_candle() {
    let (x, v, w, c, d) = (
        matrix(6, 3, 0),
        matrix(4, 3, 1),
        matrix(2, 4, 3),
        var(&[1.0, -1.0, 0.5, 2.0]),
        var(&[3.0, 0.25]),
    );
    let candle = |x: &Tensor, w: &Var, b: &Var| {
        let product = x.matmul(&w.t().unwrap()).unwrap();
        product.broadcast_add(b).unwrap()
    };
    let first = candle(&x, &v, &c);
    let second = candle(&first, &w, &d);
    let of = [&x, &v, &c, &w, &d];
    let loss = |first: &Tensor, second: &Tensor| {
        (first.sqr().unwrap().sum_all().unwrap() + second.sqr().unwrap().sum_all().unwrap()).unwrap()
    };
    let plain = loss(&first, &second);

    let ours = apply(Linear, [&x, &v, &c]).unwrap();
    let again = apply(Linear, [ours.clone(), (&w).into(), (&d).into()]).unwrap();
    let tracked = loss(&ours, &again);
    assert_eq!(
        tracked.to_scalar::<f64>().unwrap(),
        plain.to_scalar::<f64>().unwrap()
    );
    assert_eq!(all_gradients(&tracked, &of), all_gradients(&plain, &of));
}

#[test]
fn constants_get_no_gradient_and_no_tape() {
    let (x, w, b) = (matrix(6, 3, 0), matrix(2, 3, 1), var(&[0.0, 1.0]));
    let constants = [&x, &w, &b].map(Tracked::constant);
    let y = apply(Linear, constants.clone()).unwrap();
    assert!(!y.is_tracked() && !y.tensor().track_op());
    // `Linear` asserts that the gradient of its input is made only where it is wanted.
    let [x, _, _] = constants;
    let y = apply(Linear, [x, (&w).into(), (&b).into()]).unwrap();
    assert!(y.is_tracked());
    let gradients = y.sum_all().unwrap().backward().unwrap();
    assert!(gradients.get(&w).is_some() && gradients.get(&b).is_some());
}

#[test]
fn strided_inputs_are_accepted() {
    let x = matrix(3, 4, 2);
    let (w, b) = (matrix(2, 3, 1), var(&[0.0, 0.0]));
    let turned = x.t().unwrap();
    let y = apply(Linear, [Tracked::from(&turned), (&w).into(), (&b).into()]).unwrap();
    let plain = turned.matmul(&w.t().unwrap()).unwrap();
    assert_eq!(y.to_vec2::<f64>().unwrap(), plain.to_vec2::<f64>().unwrap());
    let sum = |y: &Tensor| y.sqr().unwrap().sum_all().unwrap();
    assert_eq!(
        all_gradients(&sum(&y), &[&x, &w]),
        all_gradients(&sum(&plain), &[&x, &w])
    );
}

#[test]
fn mixed_types_are_refused() {
    let (double, single) = (var(&[1.0]), Var::new(&[1f32], &Device::Cpu).unwrap());
    assert!(apply(Times, [&double, &single]).is_err());
    let whole = Tensor::new(&[1u32], &Device::Cpu).unwrap();
    let error = apply(Times, [&whole, &whole]).unwrap_err().to_string();
    assert!(error.contains("f32 or f64"), "{error}");
}

/// An operation whose gradient has a backward pass of its own, or is refused, or is wrong.
#[derive(Clone, Copy)]
enum Odd {
    Nested,
    Refuses,
    Nothing,
    Short,
}

impl<T: Element> Operation<T, 1> for Odd {
    type Saved = ();
    type Error = candle_core::Error;

    fn name(&self) -> &'static str {
        "odd"
    }

    fn forward(&self, [x]: [Operand<'_, T>; 1]) -> Result<Forward<T>> {
        Ok(Forward::new(x.to_vec(), x.dims))
    }

    fn backward(&self, of: Backward<'_, T, (), 1>) -> Result<[Option<Vec<T>>; 1]> {
        match self {
            Self::Nested => {
                let inner = var(&[7.0, 7.0]);
                let loss = apply(Times, [&inner, &inner])?.sum_all()?;
                assert_eq!(gradient(&backward(&loss)?, &inner), [14.0, 14.0]);
                assert_eq!(gradient(&loss.backward()?, &inner), [14.0, 14.0]);
                Ok([Some(of.gradient.to_vec())])
            }
            Self::Refuses => candle_core::bail!("refused"),
            Self::Nothing => Ok([None]),
            Self::Short => Ok([Some(of.gradient[1..].to_vec())]),
        }
    }
}

#[test]
fn nested_and_failed_passes_leave_no_gradients() {
    let (a, b) = (var(&[1.0, 2.0]), var(&[3.0, 5.0]));
    let product = apply(Times, [&a, &b]).unwrap();
    let squared = |odd: Odd| {
        let odd = apply(odd, [&product]).unwrap();
        apply(Times, [odd, (&b).into()]).unwrap().sum_all().unwrap()
    };
    let expected = vec![vec![9.0, 25.0], vec![6.0, 20.0]];
    assert_eq!(all_gradients(&squared(Odd::Nested), &[&a, &b]), expected);
    for odd in [Odd::Refuses, Odd::Nothing, Odd::Short] {
        assert!(backward(&squared(odd)).is_err());
        assert!(squared(odd).backward().is_err());
    }
    assert_eq!(all_gradients(&squared(Odd::Nested), &[&a, &b]), expected);
}
