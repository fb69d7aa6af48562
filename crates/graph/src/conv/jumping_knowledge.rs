//! Jumping knowledge: what a node, or a graph, is after every layer counts.

use candle_core::Tensor;
use egg_tensor::{Backward, Element, Forward, Operand, Operation, Tracked, apply};

use crate::error::{Error, Result};

/// How the outputs of several layers become one.
///
/// ```
/// use candle_core::{Device, Tensor};
/// use egg_graph::conv::JumpingKnowledge;
///
/// let layers = [Tensor::new(&[[1f32, 5.0]], &Device::Cpu)?, Tensor::new(&[[2f32, 3.0]], &Device::Cpu)?];
/// let joined = |how: JumpingKnowledge| how.join(&layers)?.to_vec2::<f32>().map_err(egg_graph::Error::from);
/// assert_eq!(joined(JumpingKnowledge::Sum)?, [[3.0, 8.0]]);
/// assert_eq!(joined(JumpingKnowledge::Concat)?, [[1.0, 5.0, 2.0, 3.0]]);
/// assert_eq!(joined(JumpingKnowledge::Max)?, [[2.0, 5.0]]);
/// assert_eq!(joined(JumpingKnowledge::Last)?, [[2.0, 3.0]]);
/// # Ok::<(), egg_graph::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum JumpingKnowledge {
    /// The last layer alone counts.
    Last,
    /// Added, as the paper does with the class scores of every layer.
    #[default]
    Sum,
    /// Side by side.
    Concat,
    /// The largest of each entry; of equal ones the first layer's counts.
    Max,
}

impl JumpingKnowledge {
    /// Joins matrices of equally many rows; for `Sum` and `Max` also columns.
    ///
    /// # Errors
    /// [`Error::Length`] if there are none or they don't fit.
    pub fn join<T: AsRef<Tensor>>(self, layers: &[T]) -> Result<Tracked> {
        let layers: Vec<&Tensor> = layers.iter().map(AsRef::as_ref).collect();
        let Some((first, rest)) = layers.split_first() else {
            return Err(Error::Length {
                what: "layers",
                unit: "tensors",
                expected: 1,
                found: 0,
            });
        };
        let (rows, width) = first.dims2()?;
        if self == Self::Last {
            return Ok(Tensor::clone(rest.last().unwrap_or(first)).into());
        }
        for layer in rest {
            let (found_rows, found_width) = layer.dims2()?;
            if found_rows != rows || (self != Self::Concat && found_width != width) {
                return Err(Error::Length {
                    what: "layers to be joined",
                    unit: if found_rows == rows { "columns" } else { "rows" },
                    expected: if found_rows == rows { width } else { rows },
                    found: if found_rows == rows {
                        found_width
                    } else {
                        found_rows
                    },
                });
            }
        }
        Ok(match self {
            Self::Last | Self::Sum => rest
                .iter()
                .try_fold(Tensor::clone(first), |sum, layer| sum + *layer)?
                .into(),
            Self::Concat => Tensor::cat(&layers, 1)?.into(),
            Self::Max => apply(Largest, [Tensor::stack(&layers, 0)?])?,
        })
    }
}

/// The largest entry over the first of three dimensions. candle's own gradient
/// would give every one of several equal entries the full amount.
struct Largest;

impl<T: Element> Operation<T, 1> for Largest {
    type Saved = Vec<usize>;
    type Error = Error;

    fn name(&self) -> &'static str {
        "egg-largest"
    }

    fn forward(&self, [x]: [Operand<'_, T>; 1]) -> Result<Forward<T, Vec<usize>>> {
        let shape = &x.dims[1..];
        let winners = winners(&x, shape.iter().product());
        let values = winners.iter().enumerate();
        Ok(Forward {
            values: values.map(|(at, layer)| x[layer * winners.len() + at]).collect(),
            shape: shape.into(),
            saved: winners,
        })
    }

    fn backward(&self, of: Backward<'_, T, Vec<usize>, 1>) -> Result<[Option<Vec<T>>; 1]> {
        let mut gradient = vec![T::default(); of.inputs[0].len()];
        for ((at, layer), g) in of.saved.iter().enumerate().zip(of.gradient) {
            gradient[layer * of.saved.len() + at] = *g;
        }
        Ok([Some(gradient)])
    }
}

/// Which layer has the largest of each entry.
fn winners<T: Element>(x: &[T], size: usize) -> Vec<usize> {
    let mut winners = vec![0; size];
    for (layer, values) in x.chunks_exact(size.max(1)).enumerate().skip(1) {
        for (at, winner) in winners.iter_mut().enumerate() {
            let (value, most) = (values[at], x[*winner * size + at]);
            // A NaN must come through, as it does everywhere else: it wins.
            if value > most || (is_nan(value) && !is_nan(most)) {
                *winner = layer;
            }
        }
    }
    winners
}

#[expect(clippy::eq_op, reason = "the trait of elements has no is_nan")]
fn is_nan<T: Element>(value: T) -> bool {
    value != value
}
