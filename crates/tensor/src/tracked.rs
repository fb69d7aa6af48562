//! A tensor with a gradient accumulator: its gradient goes straight from the operations that use it to the one that
//! made it.
//!
//! candle's backward pass makes a tensor of zeros for every gradient and adds to it, on one
//! thread. For the rows of a large batch that takes as long as a sparse product.

use std::borrow::Borrow;
use std::ops::{Add, Deref, Div, Mul, Sub};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use candle_core::{CpuStorage, CustomOp1, DType, Layout, Result, Shape, Tensor, Var, bail};

use crate::backward::collect;
use crate::for_element;
use crate::slices::with_slices;

/// A tensor on its way through a model.
///
/// It dereferences to a `Tensor`, and can be passed wherever a `&Tensor` is taken. What an
/// [`Operation`](crate::Operation) made of tensors that need a gradient has a single number in its
/// place on candle's tape, the *anchor*: each operation that uses it adds to its gradient
/// accumulator and gives candle a zero for the anchor. candle continues with the operation that
/// made it once all users are done, and that operation takes the sum from the accumulator.
/// An operation of candle's own
/// gets a copy of the numbers, made on first use, that is on the tape like any other tensor.
///
/// On one tape, one backward pass at a time: two would mix their gradients.
/// A pass that ends with an error may leave a gradient behind; the tape is to be dropped
/// then.
#[derive(Debug, Clone)]
pub struct Tracked {
    values: Tensor,
    source: Source,
}

/// Where the gradient goes.
#[derive(Debug, Clone)]
enum Source {
    /// Nowhere.
    Constant,
    /// To candle: the values are on its tape, or a variable.
    Candle,
    /// To the operation that made it.
    Operation(Arc<Output>),
}

/// What an operation has on the tape.
#[derive(Debug)]
struct Output {
    anchor: Tensor,
    accumulator: Accumulator,
    /// The values, as a tensor of candle's.
    tensor: OnceLock<Tensor>,
}

/// The gradient accumulator of a tensor: the sum over the operations that use it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Accumulator(Arc<Mutex<Option<Tensor>>>);

impl Accumulator {
    fn add(&self, gradient: Tensor) -> Result<()> {
        let mut sum = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let added = match sum.take() {
            Some(before) => (before + gradient)?,
            None => gradient,
        };
        // As candle does: a gradient has no history of its own.
        *sum = Some(added.detach());
        Ok(())
    }

    /// Takes the sum; the accumulator is empty afterwards.
    pub(crate) fn take(&self) -> Result<Tensor> {
        match self.0.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(gradient) => Ok(gradient),
            None => {
                bail!(
                    "the gradient accumulator is empty; was there another backward pass on this tape at the same time?"
                )
            }
        }
    }
}

impl Tracked {
    /// A constant: no gradient is computed for it.
    pub fn constant(values: impl Into<Self>) -> Self {
        Self {
            values: values.into().values.detach(),
            source: Source::Constant,
        }
    }

    /// What an operation made: its values, its anchor on candle's tape, and where it will look
    /// for its gradient.
    pub(crate) fn from_operation(values: Tensor, anchor: Tensor, accumulator: Accumulator) -> Self {
        let output = Output {
            anchor,
            accumulator,
            tensor: OnceLock::new(),
        };
        Self {
            values,
            source: Source::Operation(Arc::new(output)),
        }
    }

    /// The numbers. What is done to them by candle's own operations may be off the tape.
    pub fn values(&self) -> &Tensor {
        &self.values
    }

    /// Whether a gradient is needed.
    pub fn is_tracked(&self) -> bool {
        !matches!(self.source, Source::Constant)
    }

    /// The sizes of its dimensions.
    pub fn dims(&self) -> &[usize] {
        self.values.dims()
    }

    /// The sizes of the two dimensions of a matrix.
    ///
    /// # Errors
    /// Unless it is one.
    pub fn dims2(&self) -> Result<(usize, usize)> {
        self.values.dims2()
    }

    /// Its shape.
    pub fn shape(&self) -> &Shape {
        self.values.shape()
    }

    /// How many numbers it has.
    pub fn elem_count(&self) -> usize {
        self.values.elem_count()
    }

    /// The type of its numbers.
    pub fn dtype(&self) -> DType {
        self.values.dtype()
    }

    /// As a tensor of candle's.
    pub fn tensor(&self) -> &Tensor {
        match &self.source {
            Source::Constant | Source::Candle => &self.values,
            Source::Operation(output) => output.tensor.get_or_init(|| {
                let op = OnTape {
                    values: self.values.clone(),
                    accumulator: output.accumulator.clone(),
                };
                // The values are an operation's: f32 or f64, on the CPU.
                let tensor = output.anchor.apply_op1(op);
                tensor.unwrap_or_else(|error| unreachable!("a copy of numbers on the CPU: {error}"))
            }),
        }
    }

    /// What candle's tape has in its place; a constant for constants.
    pub(crate) fn on_tape(&self) -> &Tensor {
        match &self.source {
            Source::Constant | Source::Candle => &self.values,
            Source::Operation(output) => &output.anchor,
        }
    }

    /// Hands over a gradient to where it goes; gives what candle gets in its place.
    pub(crate) fn accept(&self, gradient: Tensor) -> Result<Option<Tensor>> {
        if gradient.dims() != self.dims() {
            bail!(
                "the gradient of {:?} has the shape {:?}",
                self.dims(),
                gradient.dims()
            );
        }
        match &self.source {
            Source::Constant => Ok(None),
            Source::Candle => Ok(collect(&self.values, gradient)),
            Source::Operation(output) => {
                output.accumulator.add(gradient)?;
                Ok(Some(output.anchor.zeros_like()?))
            }
        }
    }
}

impl Deref for Tracked {
    type Target = Tensor;

    fn deref(&self) -> &Tensor {
        self.tensor()
    }
}

impl AsRef<Tensor> for Tracked {
    fn as_ref(&self) -> &Tensor {
        self.tensor()
    }
}

impl Borrow<Tensor> for Tracked {
    fn borrow(&self) -> &Tensor {
        self.tensor()
    }
}

impl Borrow<Tensor> for &Tracked {
    fn borrow(&self) -> &Tensor {
        self.tensor()
    }
}

/// Arithmetic as candle's, with a tensor as its result.
macro_rules! arithmetic {
    ($($Trait:ident $method:ident),+) => {$(
        impl<B: Borrow<Tensor>> $Trait<B> for Tracked {
            type Output = Result<Tensor>;

            fn $method(self, other: B) -> Result<Tensor> {
                $Trait::$method(self.tensor(), other)
            }
        }

        impl<B: Borrow<Tensor>> $Trait<B> for &Tracked {
            type Output = Result<Tensor>;

            fn $method(self, other: B) -> Result<Tensor> {
                $Trait::$method(self.tensor(), other)
            }
        }
    )+};
}

arithmetic!(Add add, Sub sub, Mul mul, Div div);

impl From<Tensor> for Tracked {
    fn from(values: Tensor) -> Self {
        let source = match values.track_op() {
            true => Source::Candle,
            false => Source::Constant,
        };
        Self { values, source }
    }
}

impl From<&Tensor> for Tracked {
    fn from(values: &Tensor) -> Self {
        values.clone().into()
    }
}

impl From<&Var> for Tracked {
    fn from(variable: &Var) -> Self {
        variable.as_tensor().into()
    }
}

impl From<&Tracked> for Tracked {
    fn from(tracked: &Tracked) -> Self {
        tracked.clone()
    }
}

impl From<Tracked> for Tensor {
    fn from(tracked: Tracked) -> Self {
        tracked.tensor().clone()
    }
}

/// One number, for the tape.
pub(crate) fn anchor(dtype: DType) -> Result<(CpuStorage, Shape)> {
    let storage = match dtype {
        DType::F32 => CpuStorage::F32(vec![0.0]),
        _ => CpuStorage::F64(vec![0.0]),
    };
    Ok((storage, 1.into()))
}

/// From an anchor to the numbers it stands for.
struct OnTape {
    values: Tensor,
    accumulator: Accumulator,
}

impl CustomOp1 for OnTape {
    fn name(&self) -> &'static str {
        "egg-on-tape"
    }

    fn cpu_fwd(&self, _: &CpuStorage, _: &Layout) -> Result<(CpuStorage, Shape)> {
        let storage = for_element!(self.values.dtype(), T => with_slices([&self.values], |[values]: [&[T]; 1]| {
            Ok(<T as candle_core::WithDType>::to_cpu_storage_owned(values.to_vec()))
        }))?;
        Ok((storage, self.values.shape().clone()))
    }

    fn bwd(&self, anchor: &Tensor, _: &Tensor, gradient: &Tensor) -> Result<Option<Tensor>> {
        self.accumulator.add(gradient.clone())?;
        Ok(Some(anchor.zeros_like()?))
    }
}
