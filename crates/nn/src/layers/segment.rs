//! Sums, means, maxima and softmax over segments of rows.

use std::ops::Range;
use std::sync::Arc;

use egg_tensor::{Backward, Element, Forward, Operand, Operation, Tracked, apply};

use crate::check::check_float;
use crate::kernels::segment::{self as kernel, Spread};
use crate::{Error, Result};

/// A division of the rows of a stacked matrix: segment g owns the rows
/// `offsets[g]..offsets[g + 1]`, as the graphs of a batch own its nodes.
///
/// Segments are processed in parallel, each in the order of its rows, so that the number of threads
/// changes no bit. An empty segment gives a row of zeros.
///
/// # Example
/// ```
/// use candle_core::{Device, Tensor};
/// use egg_nn::Segments;
///
/// let segments = Segments::new(&[0, 2, 2, 3])?;
/// let x = Tensor::new(&[[1f64, 5.0], [3.0, 4.0], [7.0, 8.0]], &Device::Cpu)?;
/// assert_eq!(segments.sum(&x)?.to_vec2::<f64>()?, [[4.0, 9.0], [0.0, 0.0], [7.0, 8.0]]);
/// assert_eq!(segments.mean(&x)?.to_vec2::<f64>()?, [[2.0, 4.5], [0.0, 0.0], [7.0, 8.0]]);
/// assert_eq!(segments.max(&x)?.to_vec2::<f64>()?, [[3.0, 5.0], [0.0, 0.0], [7.0, 8.0]]);
/// # Ok::<(), egg_nn::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segments {
    offsets: Arc<[usize]>,
}

impl Segments {
    /// Segments with these boundaries: from 0, never decreasing, to the number
    /// of rows.
    ///
    /// # Errors
    /// [`Error::Offsets`] if there are none, the first is not 0, or one is less
    /// than the one before.
    ///
    /// # Example
    /// ```
    /// use egg_nn::{Error, Segments};
    /// assert_eq!(Segments::new(&[0, 2, 5])?.len(), 2);
    /// assert!(matches!(Segments::new(&[0, 3, 2]), Err(Error::Offsets { index: 2, .. })));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn new(offsets: &[usize]) -> Result<Self> {
        let fault = match offsets.first() {
            Some(0) => offsets
                .windows(2)
                .position(|pair| pair[1] < pair[0])
                .map(|at| at + 1),
            _ => Some(0),
        };
        match fault {
            None => Ok(Self {
                offsets: offsets.into(),
            }),
            Some(index) => Err(Error::Offsets {
                index,
                value: offsets.get(index).copied(),
            }),
        }
    }

    /// The number of segments.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there are no segments.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of rows in all segments together.
    pub fn rows(&self) -> usize {
        self.offsets[self.len()]
    }

    /// The boundaries, one more than there are segments.
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// The rows of each segment, in order.
    pub fn ranges(&self) -> impl Iterator<Item = Range<usize>> {
        self.offsets.windows(2).map(|pair| pair[0]..pair[1])
    }

    /// The sum of each segment: rows x columns -> segments x columns.
    ///
    /// # Errors
    /// [`Error::Shape`] unless `x` is a matrix with [`Segments::rows`] rows,
    /// [`Error::DType`] unless it is f32 or f64.
    pub fn sum(&self, x: impl Into<Tracked>) -> Result<Tracked> {
        self.apply(x, Kind::Sum)
    }

    /// The mean of each segment: rows x columns -> segments x columns.
    ///
    /// # Errors
    /// As [`Segments::sum`].
    pub fn mean(&self, x: impl Into<Tracked>) -> Result<Tracked> {
        self.apply(x, Kind::Mean)
    }

    /// The maximum of each segment and column: rows x columns -> segments x
    /// columns. NaN counts as the greatest.
    ///
    /// Of several rows that have the maximum, the **first** gets the whole
    /// gradient.
    ///
    /// # Errors
    /// As [`Segments::sum`].
    ///
    /// # Example
    /// ```
    /// use candle_core::{Device, Var};
    /// use egg_nn::Segments;
    ///
    /// let x = Var::new(&[[1f64], [2.0], [2.0]], &Device::Cpu)?;
    /// let gradients = Segments::new(&[0, 3])?.max(&x)?.sum_all()?.backward()?;
    /// let gradient = gradients.get(&x).map(|g| g.to_vec2::<f64>()).transpose()?;
    /// assert_eq!(gradient, Some(vec![vec![0.0], vec![1.0], vec![0.0]]));
    /// # Ok::<(), egg_nn::Error>(())
    /// ```
    pub fn max(&self, x: impl Into<Tracked>) -> Result<Tracked> {
        self.apply(x, Kind::Max)
    }

    /// `exp(x) / sum exp(x)` over the rows of each segment, column by column,
    /// of the shape of `x`. The maximum is subtracted first, so that nothing
    /// overflows.
    ///
    /// # Errors
    /// As [`Segments::sum`].
    ///
    /// # Example
    /// ```
    /// use candle_core::{Device, Tensor};
    /// use egg_nn::Segments;
    ///
    /// let x = Tensor::new(&[[1000f64], [1000.0], [-5.0]], &Device::Cpu)?;
    /// let y = Segments::new(&[0, 2, 3])?.softmax(&x)?;
    /// assert_eq!(y.to_vec2::<f64>()?, [[0.5], [0.5], [1.0]]);
    /// # Ok::<(), egg_nn::Error>(())
    /// ```
    pub fn softmax(&self, x: impl Into<Tracked>) -> Result<Tracked> {
        self.apply(x, Kind::Softmax)
    }

    fn apply(&self, x: impl Into<Tracked>, kind: Kind) -> Result<Tracked> {
        let x = x.into();
        check_float("the input of a segment operation", x.dtype())?;
        match x.dims() {
            &[rows, _] if rows == self.rows() => {}
            found => {
                return Err(Error::Shape {
                    what: "the input of a segment operation".to_owned(),
                    found: found.to_vec(),
                    expected: format!("({}, columns), as the offsets end", self.rows()),
                });
            }
        }
        let offsets = self.offsets.clone();
        apply(Reduce { offsets, kind }, [x])
    }
}

#[derive(Clone, Copy)]
enum Kind {
    Sum,
    Mean,
    Max,
    Softmax,
}

struct Reduce {
    offsets: Arc<[usize]>,
    kind: Kind,
}

impl<T: Element> Operation<T, 1> for Reduce {
    /// The row of each maximum, for [`Kind::Max`].
    type Saved = Vec<usize>;
    type Error = Error;

    fn name(&self) -> &'static str {
        match self.kind {
            Kind::Sum => "egg-segment-sum",
            Kind::Mean => "egg-segment-mean",
            Kind::Max => "egg-segment-max",
            Kind::Softmax => "egg-segment-softmax",
        }
    }

    fn forward(&self, [x]: [Operand<'_, T>; 1]) -> Result<Forward<T, Vec<usize>>> {
        let (rows, width) = x.dims2()?;
        let (values, saved) = match self.kind {
            Kind::Sum => (kernel::sum(&x, &self.offsets, width, false), Vec::new()),
            Kind::Mean => (kernel::sum(&x, &self.offsets, width, true), Vec::new()),
            Kind::Max => kernel::max(&x, &self.offsets, width),
            Kind::Softmax => (kernel::softmax(&x, &self.offsets, width), Vec::new()),
        };
        let rows = match self.kind {
            Kind::Softmax => rows,
            _ => self.offsets.len() - 1,
        };
        Ok(Forward {
            values,
            shape: (rows, width).into(),
            saved,
        })
    }

    fn backward(&self, of: Backward<'_, T, Vec<usize>, 1>) -> Result<[Option<Vec<T>>; 1]> {
        let (_, width) = of.inputs[0].dims2()?;
        let spread = |to: Spread<'_>| kernel::spread(of.gradient, &self.offsets, width, to);
        Ok([Some(match self.kind {
            Kind::Sum => spread(Spread::Whole),
            Kind::Mean => spread(Spread::Evenly),
            Kind::Max => spread(Spread::To(of.saved)),
            Kind::Softmax => kernel::softmax_backward(&of.output, of.gradient, &self.offsets, width),
        })])
    }
}
