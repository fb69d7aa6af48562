//! Tensors whose gradient goes straight from the operation that uses them to the one
//! that made them.
//!
//! candle's backward pass makes a tensor of zeros for every gradient and adds to it, on
//! one thread. For the rows of a large batch that takes as long as a sparse product.

use std::sync::{Arc, Mutex, PoisonError};

use candle_core::backend::BackendStorage;
use candle_core::{
    CpuStorage, CustomOp1, CustomOp2, CustomOp3, DType, Layout, Result, Shape, Storage, Tensor, bail,
};

use crate::numbers::in_order;

/// The result of an operation, with a single number on candle's tape in its place, the
/// *anchor*.
///
/// An operation that [uses](Self::apply_op1) it leaves its gradient here, and gives candle a
/// zero for the anchor. candle goes on to the operation that made it once all
/// who use it are done, and that finds here the sum of what they left. The gradients of
/// parameters and of other inputs are candle's, or those of [`backward`](crate::backward).
///
/// On one tape, one backward pass at a time: two at once would find each other's gradients.
/// A pass that ends with an error may leave a gradient behind; the tape is to be dropped
/// then.
///
/// ```
/// use candle_core::{CpuStorage, CustomOp2, Device, Layout, Result, Shape, Tensor, Var};
/// use egg_nn::{Relayed, Segments};
///
/// /// y = a + b
/// struct Plus;
/// impl CustomOp2 for Plus {
///     fn name(&self) -> &'static str {
///         "plus"
///     }
///     fn cpu_fwd(&self, _: &CpuStorage, _: &Layout, _: &CpuStorage, _: &Layout) -> Result<(CpuStorage, Shape)> {
///         candle_core::bail!("it is worked out before")
///     }
///     fn bwd(&self, _: &Tensor, _: &Tensor, _: &Tensor, g: &Tensor) -> Result<(Option<Tensor>, Option<Tensor>)> {
///         Ok((Some(g.clone()), Some(g.clone())))
///     }
/// }
///
/// let (a, b) = (Var::new(&[[1f32], [2.0]], &Device::Cpu)?, Var::new(&[[5f32], [6.0]], &Device::Cpu)?);
/// let y = Relayed::by_op2((a.as_detached_tensor() + b.as_detached_tensor())?, &a, &b, Plus)?;
/// let sums = Segments::new(&[0, 2])?.sum_relayed(&y)?;
/// assert_eq!(sums.values().to_vec2::<f32>()?, [[14.0]]);
/// let gradients = sums.on_tape()?.sum_all()?.backward()?;
/// assert_eq!(gradients.get(&a).unwrap().to_vec2::<f32>()?, [[1.0], [1.0]]);
/// # Ok::<(), egg_nn::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Relayed {
    values: Tensor,
    anchor: Tensor,
    left: Left,
}

/// What those who use a tensor have left for the one who made it.
#[derive(Debug, Clone, Default)]
struct Left(Arc<Mutex<Option<Tensor>>>);

impl Left {
    fn add(&self, gradient: Tensor) -> Result<()> {
        let mut left = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let sum = match left.take() {
            Some(before) => (before + gradient)?,
            None => gradient,
        };
        // As candle does: a gradient has no history of its own.
        *left = Some(sum.detach());
        Ok(())
    }

    fn take(&self) -> Result<Tensor> {
        let left = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        match left {
            Some(gradient) => Ok(gradient),
            None => {
                bail!("no gradient was left; was there another backward pass on this tape at the same time?")
            }
        }
    }
}

impl Relayed {
    /// `values`, which `op` makes of `a` and `b`. Only the backward half of `op` is called.
    ///
    /// # Errors
    /// If `values` are not f32 or f64, or `a` and `b` not on the CPU.
    pub fn by_op2(
        values: Tensor,
        a: &Tensor,
        b: &Tensor,
        op: impl CustomOp2 + Send + Sync + 'static,
    ) -> Result<Self> {
        let (op, left) = Made::new(&values, None, op);
        let anchor = a.apply_op2(b, op)?;
        Ok(Self::new(values, anchor, left))
    }

    /// `values`, which `op` makes of `x`, `a` and `b`.
    ///
    /// # Errors
    /// As [`Self::by_op2`].
    pub fn by_op3(
        values: Tensor,
        x: &Tensor,
        a: &Tensor,
        b: &Tensor,
        op: impl CustomOp3 + Send + Sync + 'static,
    ) -> Result<Self> {
        let (op, left) = Made::new(&values, None, op);
        let anchor = x.apply_op3(a, b, op)?;
        Ok(Self::new(values, anchor, left))
    }

    /// What `op` makes of these, relayed too.
    ///
    /// # Errors
    /// Whatever `op` refuses.
    pub fn then_op1(&self, op: impl CustomOp1 + Send + Sync + 'static) -> Result<Self> {
        let values = self.with_storage(|storage, layout| op.cpu_fwd(storage, layout))?;
        let values = match values {
            (CpuStorage::F32(numbers), shape) => Tensor::from_vec(numbers, shape, self.values.device())?,
            (CpuStorage::F64(numbers), shape) => Tensor::from_vec(numbers, shape, self.values.device())?,
            (other, _) => bail!("egg-nn computes in f32 or f64, not {:?}", other.dtype()),
        };
        let (op, left) = Made::new(&values, Some(self.clone()), op);
        let anchor = self.anchor.apply_op1(op)?;
        Ok(Self::new(values, anchor, left))
    }

    /// `values`, which `op` makes of these, `a` and `b`.
    ///
    /// # Errors
    /// As [`Self::by_op2`].
    pub fn then_op3(
        &self,
        values: Tensor,
        a: &Tensor,
        b: &Tensor,
        op: impl CustomOp3 + Send + Sync + 'static,
    ) -> Result<Self> {
        let (op, left) = Made::new(&values, Some(self.clone()), op);
        let anchor = self.anchor.apply_op3(a, b, op)?;
        Ok(Self::new(values, anchor, left))
    }

    fn new(values: Tensor, anchor: Tensor, left: Left) -> Self {
        Self {
            values: values.detach(),
            anchor,
            left,
        }
    }

    /// The numbers, off the tape.
    pub fn values(&self) -> &Tensor {
        &self.values
    }

    /// Whether somebody wants the gradient.
    pub fn track_op(&self) -> bool {
        self.anchor.track_op()
    }

    /// What `op` makes of the numbers, as a tensor like any other.
    ///
    /// # Errors
    /// Whatever `op` refuses.
    pub fn apply_op1(&self, op: impl CustomOp1 + Send + Sync + 'static) -> Result<Tensor> {
        self.anchor.apply_op1(Used {
            op,
            from: self.clone(),
        })
    }

    /// What `op` makes of the numbers, `a` and `b`, as a tensor like any other.
    ///
    /// # Errors
    /// Whatever `op` refuses.
    pub fn apply_op3(
        &self,
        a: &Tensor,
        b: &Tensor,
        op: impl CustomOp3 + Send + Sync + 'static,
    ) -> Result<Tensor> {
        let from = self.clone();
        self.anchor.apply_op3(a, b, Used { op, from })
    }

    /// The numbers as a tensor like any other.
    ///
    /// # Errors
    /// None for numbers on the CPU.
    pub fn on_tape(&self) -> Result<Tensor> {
        self.apply_op1(Identity)
    }

    fn with_storage<R>(&self, work: impl FnOnce(&CpuStorage, &Layout) -> Result<R>) -> Result<R> {
        let (storage, layout) = self.values.storage_and_layout();
        match &*storage {
            Storage::Cpu(storage) => work(storage, layout),
            _ => bail!("this operation runs on the CPU; move the tensor there with to_device(&Device::Cpu)"),
        }
    }

    /// Leaves a gradient; what candle is given in its place.
    fn leave(&self, gradient: Option<Tensor>) -> Result<Option<Tensor>> {
        match gradient {
            Some(gradient) if self.track_op() => {
                if gradient.dims() != self.values.dims() {
                    bail!(
                        "the gradient of {:?} has the shape {:?}",
                        self.values.dims(),
                        gradient.dims()
                    );
                }
                self.left.add(gradient)?;
                Ok(Some(self.anchor.zeros_like()?))
            }
            _ => Ok(None),
        }
    }
}

/// One number, for the tape.
fn anchor(like: &Tensor) -> Result<(CpuStorage, Shape)> {
    let storage = match like.dtype() {
        DType::F32 => CpuStorage::F32(vec![0.0]),
        DType::F64 => CpuStorage::F64(vec![0.0]),
        other => bail!("egg-nn computes in f32 or f64, not {other:?}"),
    };
    Ok((storage, 1.into()))
}

/// An operation whose result is relayed, and perhaps its first input too.
struct Made<O> {
    op: O,
    values: Tensor,
    left: Left,
    from: Option<Relayed>,
}

impl<O> Made<O> {
    fn new(values: &Tensor, from: Option<Relayed>, op: O) -> (Self, Left) {
        let left = Left::default();
        let made = Self {
            op,
            values: values.detach(),
            left: left.clone(),
            from,
        };
        (made, left)
    }
}

impl<O: CustomOp1> CustomOp1 for Made<O> {
    fn name(&self) -> &'static str {
        self.op.name()
    }

    fn cpu_fwd(&self, _: &CpuStorage, _: &Layout) -> Result<(CpuStorage, Shape)> {
        anchor(&self.values)
    }

    fn bwd(&self, x: &Tensor, _: &Tensor, _: &Tensor) -> Result<Option<Tensor>> {
        let gradient = self.left.take()?;
        let Some(from) = &self.from else {
            return self.op.bwd(x, &self.values, &gradient);
        };
        from.leave(self.op.bwd(&from.values, &self.values, &gradient)?)
    }
}

impl<O: CustomOp2> CustomOp2 for Made<O> {
    fn name(&self) -> &'static str {
        self.op.name()
    }

    fn cpu_fwd(&self, _: &CpuStorage, _: &Layout, _: &CpuStorage, _: &Layout) -> Result<(CpuStorage, Shape)> {
        anchor(&self.values)
    }

    fn bwd(
        &self,
        a: &Tensor,
        b: &Tensor,
        _: &Tensor,
        _: &Tensor,
    ) -> Result<(Option<Tensor>, Option<Tensor>)> {
        self.op.bwd(a, b, &self.values, &self.left.take()?)
    }
}

impl<O: CustomOp3> CustomOp3 for Made<O> {
    fn name(&self) -> &'static str {
        self.op.name()
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
        anchor(&self.values)
    }

    fn bwd(
        &self,
        x: &Tensor,
        a: &Tensor,
        b: &Tensor,
        _: &Tensor,
        _: &Tensor,
    ) -> Result<(Option<Tensor>, Option<Tensor>, Option<Tensor>)> {
        let gradient = self.left.take()?;
        let Some(from) = &self.from else {
            return self.op.bwd(x, a, b, &self.values, &gradient);
        };
        let (dx, da, db) = self.op.bwd(&from.values, a, b, &self.values, &gradient)?;
        Ok((from.leave(dx)?, da, db))
    }
}

/// An operation on a relayed tensor, with a result like any other.
struct Used<O> {
    op: O,
    from: Relayed,
}

impl<O: CustomOp1> CustomOp1 for Used<O> {
    fn name(&self) -> &'static str {
        self.op.name()
    }

    fn cpu_fwd(&self, _: &CpuStorage, _: &Layout) -> Result<(CpuStorage, Shape)> {
        self.from
            .with_storage(|storage, layout| self.op.cpu_fwd(storage, layout))
    }

    fn bwd(&self, _: &Tensor, y: &Tensor, g: &Tensor) -> Result<Option<Tensor>> {
        let gradient = self.op.bwd(&self.from.values, y, g)?;
        self.from.leave(gradient)
    }
}

impl<O: CustomOp3> CustomOp3 for Used<O> {
    fn name(&self) -> &'static str {
        self.op.name()
    }

    fn cpu_fwd(
        &self,
        _: &CpuStorage,
        _: &Layout,
        a: &CpuStorage,
        a_layout: &Layout,
        b: &CpuStorage,
        b_layout: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        self.from
            .with_storage(|x, layout| self.op.cpu_fwd(x, layout, a, a_layout, b, b_layout))
    }

    fn bwd(
        &self,
        _: &Tensor,
        a: &Tensor,
        b: &Tensor,
        y: &Tensor,
        g: &Tensor,
    ) -> Result<(Option<Tensor>, Option<Tensor>, Option<Tensor>)> {
        let (dx, da, db) = self.op.bwd(&self.from.values, a, b, y, g)?;
        Ok((self.from.leave(dx)?, da, db))
    }
}

struct Identity;

impl CustomOp1 for Identity {
    fn name(&self) -> &'static str {
        "egg-on-tape"
    }

    fn cpu_fwd(&self, storage: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let storage = match storage.dtype() {
            DType::F32 => CpuStorage::F32(in_order::<f32>(storage, layout)?.into_owned()),
            _ => CpuStorage::F64(in_order::<f64>(storage, layout)?.into_owned()),
        };
        Ok((storage, layout.shape().clone()))
    }

    fn bwd(&self, _: &Tensor, _: &Tensor, g: &Tensor) -> Result<Option<Tensor>> {
        Ok(Some(g.clone()))
    }
}

#[cfg(test)]
mod tests;
