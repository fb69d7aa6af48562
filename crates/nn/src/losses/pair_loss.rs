//! Losses that compare two tensors elementwise, as one operation.

use candle_core::Tensor;
use egg_tensor::blocks::{map, map_chunks};
use egg_tensor::{Backward, Element, Forward, Operand, Operation, Tracked, apply};

use crate::check::{check_dtype, check_float};
use crate::{Error, Reduction, Result};

/// Numbers per block.
const BLOCK: usize = 1 << 12;

/// The loss of one prediction, and its derivative by the prediction.
pub(crate) trait PairLoss: Send + Sync + 'static {
    const NAME: &'static str;

    fn value<T: Element>(&self, prediction: T, target: T) -> T;
    fn slope<T: Element>(&self, prediction: T, target: T) -> T;
}

/// The loss of all predictions, a scalar. No gradient goes to the targets.
pub(crate) fn pair_loss(
    loss: impl PairLoss,
    prediction: impl Into<Tracked>,
    target: &Tensor,
    reduction: Reduction,
) -> Result<Tensor> {
    let (prediction, target) = (prediction.into(), Tracked::constant(target));
    check_float("a prediction", prediction.dtype())?;
    check_dtype("a target", target.dtype(), prediction.dtype())?;
    if target.dims() != prediction.dims() {
        // No broadcasting: (n) against (n, 1) would silently compare all pairs.
        return Err(Error::Shape {
            what: "a target".to_owned(),
            found: target.dims().to_vec(),
            expected: format!("{:?}, as the predictions", prediction.dims()),
        });
    }
    let scale = reduction.scale("a prediction", prediction.elem_count(), prediction.dims())?;
    Ok(apply(Pairs { loss, scale }, [prediction, target])?.into())
}

struct Pairs<L> {
    loss: L,
    scale: f64,
}

impl<T: Element, L: PairLoss> Operation<T, 2> for Pairs<L> {
    type Saved = ();
    type Error = Error;

    fn name(&self) -> &'static str {
        L::NAME
    }

    fn forward(&self, [x, y]: [Operand<'_, T>; 2]) -> Result<Forward<T>> {
        let blocks = map(&x, BLOCK, |block, x| {
            let pairs = x.iter().zip(&y[block * BLOCK..]);
            pairs.map(|(&x, &y)| self.loss.value(x, y).to_f64()).sum::<f64>()
        });
        let loss = T::from_f64(self.scale * blocks.iter().sum::<f64>());
        Ok(Forward::new(vec![loss], ()))
    }

    fn backward(&self, of: Backward<'_, T, (), 2>) -> Result<[Option<Vec<T>>; 2]> {
        let scale = T::from_f64(self.scale * of.scalar_gradient());
        let [x, y] = of.inputs;
        let mut out = vec![T::zero(); x.len()];
        map_chunks(&mut out, BLOCK, |block, out| {
            let pairs = x[block * BLOCK..].iter().zip(&y[block * BLOCK..]);
            for (out, (&x, &y)) in out.iter_mut().zip(pairs) {
                *out = self.loss.slope(x, y) * scale;
            }
        });
        Ok([Some(out), None])
    }
}
