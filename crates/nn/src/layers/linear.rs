//! The linear layer `y = x W^T + b`, optionally followed by a ReLU, as one operation.

use candle_core::Var;
use egg_tensor::{Backward, Element, Forward, Operand, Operation, Tracked, affine, apply};

use crate::check::{check_columns, check_dtype};
use crate::{Error, Init, Pass, Result, Scope};

/// `y = x W^T + b` for `x` (rows x in), `W` (out x in) and `b` (out).
///
/// Parameters: `weight`, and `bias` unless made [without
/// one](Linear::without_bias), both uniform on `+-1 / sqrt(in)` at first, as in
/// PyTorch. Inputs may have no rows, and any strides.
///
/// # Example
/// ```
/// use candle_core::{DType, Device, Tensor};
/// use egg_nn::{Linear, Parameters, Pass};
/// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
///
/// let mut rng = ChaCha8Rng::seed_from_u64(7);
/// let mut parameters = Parameters::new(DType::F32, &Device::Cpu)?;
/// let layer = Linear::new(&mut parameters.root(&mut rng).enter("lin"), 3, 2)?;
/// layer.weight().set(&Tensor::new(&[[1f32, 0.0, 0.0], [0.0, -1.0, 0.0]], &Device::Cpu)?)?;
/// parameters.get("lin.bias").unwrap().set(&Tensor::new(&[0.5f32, 0.5], &Device::Cpu)?)?;
///
/// let x = Tensor::new(&[[1f32, 2.0, 3.0]], &Device::Cpu)?;
/// let y = layer.forward(&x, &mut Pass::Evaluation)?;
/// assert_eq!(y.to_vec2::<f32>()?, [[1.5, -1.5]]);
/// let y = layer.with_relu().forward(&x, &mut Pass::Evaluation)?;
/// assert_eq!(y.to_vec2::<f32>()?, [[1.5, 0.0]]);
/// # Ok::<(), egg_nn::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Linear {
    weight: Var,
    bias: Option<Var>,
    in_features: usize,
    out_features: usize,
    relu: bool,
}

impl Linear {
    /// A layer with a bias.
    ///
    /// # Errors
    /// [`Error::Parameter`] if a width is 0, [`Error::DuplicateName`] if the
    /// scope has a layer already.
    pub fn new(scope: &mut Scope<'_>, in_features: usize, out_features: usize) -> Result<Self> {
        let mut layer = Self::without_bias(scope, in_features, out_features)?;
        layer.bias = Some(scope.parameter("bias", out_features, Init::linear(in_features))?);
        Ok(layer)
    }

    /// A layer without a bias: `y = x W^T`.
    ///
    /// # Errors
    /// As [`Linear::new`].
    pub fn without_bias(scope: &mut Scope<'_>, in_features: usize, out_features: usize) -> Result<Self> {
        Self::with_weight(scope, in_features, out_features, Init::linear(in_features))
    }

    /// A layer without a bias whose weight starts as `init` says; graph
    /// convolutions take [`Init::GlorotUniform`].
    ///
    /// # Errors
    /// As [`Linear::new`].
    pub fn with_weight(
        scope: &mut Scope<'_>,
        in_features: usize,
        out_features: usize,
        init: Init,
    ) -> Result<Self> {
        check_width("in_features", in_features)?;
        check_width("out_features", out_features)?;
        Ok(Self {
            weight: scope.parameter("weight", (out_features, in_features), init)?,
            bias: None,
            in_features,
            out_features,
            relu: false,
        })
    }

    /// The same layer with a [ReLU](crate::relu()) behind it, in one operation.
    pub fn with_relu(mut self) -> Self {
        self.relu = true;
        self
    }

    /// The weight, out x in.
    pub fn weight(&self) -> &Var {
        &self.weight
    }

    /// The bias, if there is one.
    pub fn bias(&self) -> Option<&Var> {
        self.bias.as_ref()
    }

    /// The width of the input.
    pub fn in_features(&self) -> usize {
        self.in_features
    }

    /// The width of the output.
    pub fn out_features(&self) -> usize {
        self.out_features
    }

    /// `x W^T + b`, or its ReLU: rows x out.
    ///
    /// # Errors
    /// [`Error::Shape`] unless `x` is rows x in, [`Error::DType`] unless it has
    /// the model's type.
    pub fn forward(&self, x: impl Into<Tracked>, pass: &mut Pass<'_>) -> Result<Tracked> {
        let x = pass.input(x);
        check_columns("the input of a linear layer", &x, self.in_features)?;
        check_dtype("the input of a linear layer", x.dtype(), self.weight.dtype())?;
        let weight = pass.parameter(&self.weight);
        let op = Affine { relu: self.relu };
        match &self.bias {
            Some(bias) => apply(op, [x, weight, pass.parameter(bias)]),
            None => apply(op, [x, weight]),
        }
    }
}

/// `x W^T` for rows x in and out x in, without a bias: for layers that add one later.
///
/// # Errors
/// [`Error::Shape`] unless both have the same number of columns, [`Error::DType`] unless both have
/// the same type.
///
/// # Example
/// ```
/// use candle_core::{Device, Tensor, Var};
/// let x = Tensor::new(&[[1f64, 2.0]], &Device::Cpu)?;
/// let weight = Var::new(&[[3f64, 4.0], [5.0, 6.0]], &Device::Cpu)?;
/// let y = egg_nn::linear_product(&x, &weight)?;
/// assert_eq!(y.to_vec2::<f64>()?, [[11.0, 17.0]]);
/// # Ok::<(), egg_nn::Error>(())
/// ```
pub fn linear_product(x: impl Into<Tracked>, weight: impl Into<Tracked>) -> Result<Tracked> {
    let (x, weight) = (x.into(), weight.into());
    let (_, in_features) = weight.dims2()?;
    check_columns("the left side of a product", &x, in_features)?;
    check_dtype("the left side of a product", x.dtype(), weight.dtype())?;
    apply(Affine { relu: false }, [x, weight])
}

/// Refuses a layer without features.
pub(crate) fn check_width(name: &'static str, width: usize) -> Result<()> {
    if width > 0 {
        return Ok(());
    }
    Err(Error::Parameter {
        name,
        value: 0.0,
        requirement: "a layer needs at least one feature",
    })
}

/// `x W^T (+ b)`, or its ReLU.
struct Affine {
    relu: bool,
}

impl Affine {
    fn run<T: Element>(
        &self,
        x: Operand<'_, T>,
        weight: Operand<'_, T>,
        bias: Option<Operand<'_, T>>,
    ) -> Result<Forward<T>> {
        let ((rows, _), (out_features, in_features)) = (x.dims2()?, weight.dims2()?);
        let bias = bias.as_deref();
        let y = affine::forward(&x, &weight, bias, in_features, out_features, self.relu);
        Ok(Forward::new(y, (rows, out_features)))
    }

    /// Gradients with respect to the input, the weight and the bias.
    fn pull_back<T: Element, const N: usize>(
        &self,
        of: &Backward<'_, T, (), N>,
    ) -> Result<affine::Gradients<T>> {
        let (x, weight) = (of.inputs[0], of.inputs[1]);
        let (out_features, in_features) = weight.dims2()?;
        let output = self.relu.then_some(of.output.values);
        let wanted = affine::Wanted {
            input: of.wanted[0],
            bias: N == 3,
        };
        let gradients = affine::backward(
            &x,
            &weight,
            output,
            of.gradient,
            in_features,
            out_features,
            wanted,
        );
        Ok(gradients)
    }
}

impl<T: Element> Operation<T, 2> for Affine {
    type Saved = ();
    type Error = Error;

    fn name(&self) -> &'static str {
        "egg-linear"
    }

    fn forward(&self, [x, weight]: [Operand<'_, T>; 2]) -> Result<Forward<T>> {
        self.run(x, weight, None)
    }

    fn backward(&self, of: Backward<'_, T, (), 2>) -> Result<[Option<Vec<T>>; 2]> {
        let (dx, dw, _) = self.pull_back(&of)?;
        Ok([dx, Some(dw)])
    }
}

impl<T: Element> Operation<T, 3> for Affine {
    type Saved = ();
    type Error = Error;

    fn name(&self) -> &'static str {
        "egg-linear-bias"
    }

    fn forward(&self, [x, weight, bias]: [Operand<'_, T>; 3]) -> Result<Forward<T>> {
        self.run(x, weight, Some(bias))
    }

    fn backward(&self, of: Backward<'_, T, (), 3>) -> Result<[Option<Vec<T>>; 3]> {
        let (dx, dw, db) = self.pull_back(&of)?;
        Ok([dx, Some(dw), Some(db)])
    }
}
