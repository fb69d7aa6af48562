//! An operation on slices with its gradient, and the one adapter that puts it on candle's tape.

use std::ops::Deref;

use candle_core::{CpuStorage, CustomOp3, DType, Device, Layout, Result, Shape, Tensor, bail};

use crate::element::{Element, unsupported};
use crate::slices::with_slices;
use crate::tracked::{Accumulator, Tracked, anchor};

/// The numbers of an input or an output in row-major order, with their shape.
#[derive(Debug, Clone, Copy)]
pub struct Operand<'a, T> {
    /// Row by row.
    pub values: &'a [T],
    /// The sizes of its dimensions.
    pub dims: &'a [usize],
}

impl<T> Operand<'_, T> {
    /// The rows and columns of a matrix.
    ///
    /// # Errors
    /// Unless it is one.
    pub fn dims2(&self) -> Result<(usize, usize)> {
        match *self.dims {
            [rows, columns] => Ok((rows, columns)),
            _ => bail!("expected a matrix, found {:?}", self.dims),
        }
    }
}

impl<T> Deref for Operand<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.values
    }
}

/// The result of a forward pass.
#[derive(Debug, Clone)]
pub struct Forward<T, S = ()> {
    /// The numbers of the output, row by row.
    pub values: Vec<T>,
    /// Its shape.
    pub shape: Shape,
    /// What the gradient needs besides inputs and output.
    pub saved: S,
}

impl<T> Forward<T> {
    /// An output whose gradient needs nothing else.
    pub fn new(values: Vec<T>, shape: impl Into<Shape>) -> Self {
        Self {
            values,
            shape: shape.into(),
            saved: (),
        }
    }
}

/// The arguments of a backward pass.
#[derive(Debug, Clone, Copy)]
pub struct Backward<'a, T, S, const N: usize> {
    /// The inputs of the forward pass.
    pub inputs: [Operand<'a, T>; N],
    /// Its output.
    pub output: Operand<'a, T>,
    /// What it saved.
    pub saved: &'a S,
    /// The gradient of the output.
    pub gradient: &'a [T],
    /// Which inputs need a gradient.
    pub wanted: [bool; N],
}

impl<T: Element, S, const N: usize> Backward<'_, T, S, N> {
    /// The gradient of an output that is a single number.
    pub fn scalar_gradient(&self) -> f64 {
        self.gradient.first().map_or(0.0, |gradient| gradient.to_f64())
    }
}

/// An operation on `N` tensors of `T` (one to three), as functions on slices.
///
/// ```
/// use candle_core::{Device, Var};
/// use egg_tensor::{Backward, Element, Forward, Operand, Operation, apply};
///
/// /// `x y`, number by number.
/// struct Times;
///
/// impl<T: Element> Operation<T, 2> for Times {
///     type Saved = ();
///     type Error = candle_core::Error;
///
///     fn name(&self) -> &'static str {
///         "times"
///     }
///
///     fn forward(&self, [x, y]: [Operand<'_, T>; 2]) -> candle_core::Result<Forward<T>> {
///         let product = x.iter().zip(y.values).map(|(x, y)| *x * *y).collect();
///         Ok(Forward::new(product, x.dims))
///     }
///
///     fn backward(&self, of: Backward<'_, T, (), 2>) -> candle_core::Result<[Option<Vec<T>>; 2]> {
///         let times = |by: Operand<'_, T>| of.gradient.iter().zip(by.values).map(|(g, by)| *g * *by).collect();
///         let [x, y] = of.inputs;
///         Ok([Some(times(y)), Some(times(x))])
///     }
/// }
///
/// let (x, y) = (Var::new(&[2f32, 3.0], &Device::Cpu)?, Var::new(&[5f32, 7.0], &Device::Cpu)?);
/// let product = apply(Times, [&x, &y])?;
/// let square = apply(Times, [&product, &product])?;
/// let gradients = egg_tensor::backward(&square.sum_all()?)?; // of x^2 y^2
/// assert_eq!(gradients.get(&x).unwrap().to_vec1::<f32>()?, [100.0, 294.0]);
/// # Ok::<(), candle_core::Error>(())
/// ```
pub trait Operation<T, const N: usize>: Send + Sync + 'static {
    /// What the forward pass saves for the backward pass.
    type Saved: Send + Sync + 'static;
    /// The error of either pass.
    type Error: From<candle_core::Error> + Into<candle_core::Error>;

    /// The name in candle's error messages.
    fn name(&self) -> &'static str;

    /// The output.
    ///
    /// # Errors
    /// If the inputs are invalid.
    fn forward(
        &self,
        inputs: [Operand<'_, T>; N],
    ) -> std::result::Result<Forward<T, Self::Saved>, Self::Error>;

    /// The gradients of the inputs: of those that are wanted, and of others if they cost nothing.
    ///
    /// # Errors
    /// If the gradient can't be computed.
    fn backward(
        &self,
        of: Backward<'_, T, Self::Saved, N>,
    ) -> std::result::Result<[Option<Vec<T>>; N], Self::Error>;
}

/// Applies `op` to `inputs`, and records its gradient.
///
/// It runs on the CPU, and on the tape if an input needs a gradient.
///
/// # Errors
/// Whatever `op` refuses; inputs that are not all f32 or all f64, or not on the CPU.
pub fn apply<O, E, I, const N: usize>(op: O, inputs: [I; N]) -> std::result::Result<Tracked, E>
where
    O: Operation<f32, N, Error = E> + Operation<f64, N, Error = E>,
    E: From<candle_core::Error> + Into<candle_core::Error>,
    I: Into<Tracked>,
{
    let inputs = inputs.map(Into::into);
    match inputs.first().map(Tracked::dtype) {
        Some(DType::F32) => Ok(run::<f32, _, _, _, _, N>(op, inputs, Saved::F32, |_| ())?.0),
        Some(DType::F64) => Ok(run::<f64, _, _, _, _, N>(op, inputs, Saved::F64, |_| ())?.0),
        other => Err(unsupported(other).into()),
    }
}

/// [`apply`] for an operation that saves the same type for f32 and f64; `inspect` gets what was
/// saved.
///
/// # Errors
/// As [`apply`].
pub fn apply_and_inspect<O, E, S, R, I, const N: usize>(
    op: O,
    inputs: [I; N],
    inspect: impl FnOnce(&S) -> R,
) -> std::result::Result<(Tracked, R), E>
where
    O: Operation<f32, N, Error = E, Saved = S> + Operation<f64, N, Error = E, Saved = S>,
    E: From<candle_core::Error> + Into<candle_core::Error>,
    I: Into<Tracked>,
{
    let inputs = inputs.map(Into::into);
    match inputs.first().map(Tracked::dtype) {
        Some(DType::F32) => run::<f32, _, _, _, _, N>(op, inputs, Saved::F32, inspect),
        Some(DType::F64) => run::<f64, _, _, _, _, N>(op, inputs, Saved::F64, inspect),
        other => Err(unsupported(other).into()),
    }
}

fn run<T, O, S, E, R, const N: usize>(
    op: O,
    inputs: [Tracked; N],
    wrap: impl FnOnce(S) -> Saved<O, N>,
    inspect: impl FnOnce(&S) -> R,
) -> std::result::Result<(Tracked, R), E>
where
    T: Element,
    O: Operation<T, N, Error = E, Saved = S> + Operation<f32, N> + Operation<f64, N>,
    E: From<candle_core::Error>,
{
    let made = with_slices(inputs.each_ref().map(Tracked::values), |slices: [&[T]; N]| {
        Ok(<O as Operation<T, N>>::forward(&op, operands(slices, &inputs)))
    })??;
    let output = Tensor::from_vec(made.values, made.shape, &Device::Cpu)?;
    let found = inspect(&made.saved);
    if !inputs.iter().any(Tracked::is_tracked) {
        return Ok((output.into(), found));
    }
    let accumulator = Accumulator::default();
    // candle's operations have up to three inputs; those that are not there are constants.
    let none = Tensor::zeros((), DType::F32, &Device::Cpu)?;
    let on_tape = |index: usize| inputs.get(index).map_or(&none, Tracked::on_tape).clone();
    let [first, second, third] = [0, 1, 2].map(on_tape);
    let node = Node {
        op,
        inputs,
        output: output.clone(),
        saved: wrap(made.saved),
        accumulator: accumulator.clone(),
    };
    let anchor = first.apply_op3(&second, &third, node)?;
    Ok((Tracked::from_operation(output, anchor, accumulator), found))
}

fn operands<'a, T, const N: usize>(slices: [&'a [T]; N], inputs: &'a [Tracked; N]) -> [Operand<'a, T>; N] {
    let mut inputs = inputs.iter();
    slices.map(|values| Operand {
        values,
        dims: inputs.next().map_or(&[], Tracked::dims),
    })
}

/// One forward pass on candle's tape.
struct Node<O: Operation<f32, N> + Operation<f64, N>, const N: usize> {
    op: O,
    inputs: [Tracked; N],
    output: Tensor,
    saved: Saved<O, N>,
    accumulator: Accumulator,
}

enum Saved<O: Operation<f32, N> + Operation<f64, N>, const N: usize> {
    F32(<O as Operation<f32, N>>::Saved),
    F64(<O as Operation<f64, N>>::Saved),
}

impl<O: Operation<f32, N> + Operation<f64, N>, const N: usize> Node<O, N> {
    /// Computes the gradients of the inputs and adds them to their accumulators; returns those that candle has to pass on.
    fn propagate_gradients<T: Element>(
        &self,
        saved: &<O as Operation<T, N>>::Saved,
    ) -> Result<[Option<Tensor>; 3]>
    where
        O: Operation<T, N>,
    {
        let gradient = self.accumulator.take()?;
        let wanted = self.inputs.each_ref().map(Tracked::is_tracked);
        let gradients = with_slices(
            self.inputs.each_ref().map(Tracked::values),
            |slices: [&[T]; N]| {
                with_slices([&self.output, &gradient], |[output, gradient]| {
                    let of = Backward {
                        inputs: operands(slices, &self.inputs),
                        output: Operand {
                            values: output,
                            dims: self.output.dims(),
                        },
                        saved,
                        gradient,
                        wanted,
                    };
                    <O as Operation<T, N>>::backward(&self.op, of).map_err(Into::into)
                })
            },
        )?;
        let mut for_candle = [None, None, None];
        for ((input, gradient), for_candle) in self.inputs.iter().zip(gradients).zip(&mut for_candle) {
            if !input.is_tracked() {
                continue;
            }
            let Some(gradient) = gradient else {
                bail!("{} has no gradient for an input that needs one", self.name());
            };
            *for_candle = input.accept(Tensor::from_vec(gradient, input.shape(), &Device::Cpu)?)?;
        }
        Ok(for_candle)
    }
}

impl<O: Operation<f32, N> + Operation<f64, N>, const N: usize> CustomOp3 for Node<O, N> {
    fn name(&self) -> &'static str {
        <O as Operation<f32, N>>::name(&self.op)
    }

    fn cpu_fwd(
        &self,
        _: &CpuStorage,
        _: &Layout,
        _: &CpuStorage,
        _: &Layout,
        _: &CpuStorage,
        _: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        anchor(self.output.dtype())
    }

    fn bwd(
        &self,
        _: &Tensor,
        _: &Tensor,
        _: &Tensor,
        _: &Tensor,
        _: &Tensor,
    ) -> Result<(Option<Tensor>, Option<Tensor>, Option<Tensor>)> {
        let [first, second, third] = match &self.saved {
            Saved::F32(saved) => self.propagate_gradients::<f32>(saved)?,
            Saved::F64(saved) => self.propagate_gradients::<f64>(saved)?,
        };
        Ok((first, second, third))
    }
}
