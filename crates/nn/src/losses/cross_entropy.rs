//! Cross entropy of logits, as one operation.

use candle_core::{DType, Tensor};
use egg_tensor::blocks::{map, map_chunks, rows_in_cache};
use egg_tensor::{Backward, Element, Forward, Operand, Operation, Tracked, apply};

use crate::check::check_float;
use crate::{Error, Reduction, Result};

/// `-log softmax(logits)[class]`, summed or averaged over the rows: a scalar.
///
/// `logits` is n x C (f32 or f64), `classes` has n numbers below C (u32). With
/// `m = max x` of a row, the loss is `m - x[class] + ln sum exp(x - m)`, which no
/// logit overflows. The gradient is `softmax(logits) - onehot(classes)`.
///
/// # Errors
/// [`Error::Shape`] unless there is one class per row and, for
/// [`Reduction::Mean`], a row; [`Error::DType`] for other types;
/// [`Error::Class`] for a class that has no column.
///
/// # Example
/// ```
/// use candle_core::{Device, Tensor, Var};
/// use egg_nn::{Reduction, cross_entropy};
///
/// let logits = Var::new(&[[0f64, 0.0], [1000.0, 0.0]], &Device::Cpu)?;
/// let classes = Tensor::new(&[1u32, 0], &Device::Cpu)?;
/// let loss = cross_entropy(&logits, &classes, Reduction::Sum)?;
/// assert!((loss.to_scalar::<f64>()? - 2f64.ln()).abs() < 1e-15);
///
/// let gradients = loss.backward()?;
/// let gradient = gradients.get(&logits).map(|g| g.to_vec2::<f64>()).transpose()?;
/// assert_eq!(gradient, Some(vec![vec![0.5, -0.5], vec![0.0, 0.0]]));
/// # Ok::<(), egg_nn::Error>(())
/// ```
pub fn cross_entropy(logits: impl Into<Tracked>, classes: &Tensor, reduction: Reduction) -> Result<Tensor> {
    let logits = logits.into();
    check_float("the logits of cross entropy", logits.dtype())?;
    let &[rows, columns] = logits.dims() else {
        return Err(Error::Shape {
            what: "the logits of cross entropy".to_owned(),
            found: logits.dims().to_vec(),
            expected: "(rows, classes)".to_owned(),
        });
    };
    let op = CrossEntropy {
        classes: checked_classes(classes, rows, columns)?,
        scale: reduction.scale("the logits of cross entropy", rows, logits.dims())?,
    };
    Ok(apply(op, [logits])?.into())
}

/// The value of [`cross_entropy`], without a tape.
///
/// # Errors
/// As [`cross_entropy`].
///
/// # Example
/// ```
/// use candle_core::{Device, Tensor};
/// use egg_nn::{Reduction, cross_entropy_value};
///
/// let logits = Tensor::zeros((3, 4), candle_core::DType::F64, &Device::Cpu)?;
/// let classes = Tensor::new(&[0u32, 1, 2], &Device::Cpu)?;
/// let loss = cross_entropy_value(&logits, &classes, Reduction::Mean)?;
/// assert!((loss - 4f64.ln()).abs() < 1e-15);
/// # Ok::<(), egg_nn::Error>(())
/// ```
pub fn cross_entropy_value(
    logits: impl Into<Tracked>,
    classes: &Tensor,
    reduction: Reduction,
) -> Result<f64> {
    let loss = cross_entropy(Tracked::constant(logits), classes, reduction)?;
    Ok(loss.to_dtype(DType::F64)?.to_scalar::<f64>()?)
}

fn checked_classes(classes: &Tensor, rows: usize, columns: usize) -> Result<Vec<u32>> {
    if classes.dtype() != DType::U32 {
        return Err(Error::DType {
            what: "the classes of cross entropy".to_owned(),
            found: classes.dtype(),
            expected: "u32",
        });
    }
    if classes.dims() != [rows] {
        return Err(Error::Shape {
            what: "the classes of cross entropy".to_owned(),
            found: classes.dims().to_vec(),
            expected: format!("({rows}): one for each row of logits"),
        });
    }
    let classes = classes.to_vec1::<u32>()?;
    match classes.iter().position(|&class| class as usize >= columns) {
        None => Ok(classes),
        Some(row) => Err(Error::Class {
            row,
            class: classes[row],
            columns,
        }),
    }
}

struct CrossEntropy {
    classes: Vec<u32>,
    scale: f64,
}

impl<T: Element> Operation<T, 1> for CrossEntropy {
    /// The greatest logit of each row and `ln sum exp(x - greatest)`. Kept separate: in their sum
    /// the second term would be rounded away for large logits.
    type Saved = Vec<(f64, f64)>;
    type Error = Error;

    fn name(&self) -> &'static str {
        "egg-cross-entropy"
    }

    fn forward(&self, [x]: [Operand<'_, T>; 1]) -> Result<Forward<T, Self::Saved>> {
        let (_, columns) = x.dims2()?;
        let chunk_rows = rows_in_cache(columns);
        let blocks = map(&x, chunk_rows * columns, |block, x| {
            let classes = &self.classes[block * chunk_rows..];
            let mut sum = 0.0;
            let mut saved = Vec::with_capacity(x.len() / columns);
            for (row, &class) in x.chunks_exact(columns).zip(classes) {
                let most = row
                    .iter()
                    .fold(row[0], |most, &v| if v > most { v } else { most });
                let total = row.iter().fold(T::zero(), |total, &v| total + (v - most).exp());
                let logarithm = total.to_f64().ln();
                sum += logarithm - (row[class as usize] - most).to_f64();
                saved.push((most.to_f64(), logarithm));
            }
            (sum, saved)
        });
        let sum: f64 = blocks.iter().map(|(sum, _)| sum).sum();
        Ok(Forward {
            values: vec![T::from_f64(self.scale * sum)],
            shape: ().into(),
            saved: blocks.into_iter().flat_map(|(_, saved)| saved).collect(),
        })
    }

    fn backward(&self, of: Backward<'_, T, Self::Saved, 1>) -> Result<[Option<Vec<T>>; 1]> {
        let ([x], saved) = (of.inputs, of.saved);
        let (_, columns) = x.dims2()?;
        let scale = T::from_f64(self.scale * of.scalar_gradient());
        let chunk_rows = rows_in_cache(columns);
        let mut out = vec![T::zero(); x.len()];
        map_chunks(&mut out, chunk_rows * columns, |block, out| {
            let first = block * chunk_rows;
            let rows = out
                .chunks_exact_mut(columns)
                .zip(x[first * columns..].chunks_exact(columns));
            for ((out, x), (saved, &class)) in rows.zip(saved[first..].iter().zip(&self.classes[first..])) {
                let (most, logarithm) = (T::from_f64(saved.0), T::from_f64(saved.1));
                for (out, &x) in out.iter_mut().zip(x) {
                    *out = ((x - most) - logarithm).exp() * scale;
                }
                out[class as usize] -= scale;
            }
        });
        Ok([Some(out)])
    }
}
