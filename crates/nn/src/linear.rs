//! The linear layer `y = x W^T + b`, alone or rectified, as one operation.

use candle_core::backend::BackendStorage;
use candle_core::{CpuStorage, CustomOp2, CustomOp3, Layout, Shape, Tensor, Var};

use crate::affine::{Wanted, backward, forward};
use crate::element::{check_columns, check_dtype, for_element};
use crate::numbers::{in_order, with_values};
use crate::{Error, Init, Pass, Relayed, Result, Scope, given};

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
/// let y = layer.forward_relu(&x, &mut Pass::Evaluation)?;
/// assert_eq!(y.to_vec2::<f32>()?, [[1.5, 0.0]]);
/// # Ok::<(), egg_nn::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Linear {
    weight: Var,
    bias: Option<Var>,
    in_features: usize,
    out_features: usize,
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
        })
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

    /// `x W^T + b`, rows x out.
    ///
    /// # Errors
    /// [`Error::Shape`] unless `x` is rows x in, [`Error::DType`] unless it has
    /// the model's type.
    pub fn forward(&self, x: &Tensor, pass: &mut Pass<'_>) -> Result<Tensor> {
        self.apply(x, pass, false)
    }

    /// `max(x W^T + b, 0)`, rows x out, with the gradient of [`relu`](crate::relu()).
    ///
    /// # Errors
    /// As [`Linear::forward`].
    pub fn forward_relu(&self, x: &Tensor, pass: &mut Pass<'_>) -> Result<Tensor> {
        self.apply(x, pass, true)
    }

    /// `x W^T` alone, rows x out, for layers that add the bias later: a graph
    /// convolution spreads the product along the edges first.
    ///
    /// # Errors
    /// As [`Linear::forward`].
    pub fn product(&self, x: &Tensor, pass: &mut Pass<'_>) -> Result<Tensor> {
        self.apply_with(None, x, pass, false)
    }

    /// [`Self::forward`] of what is relayed.
    ///
    /// # Errors
    /// As [`Linear::forward`].
    pub fn forward_relayed(&self, x: &Relayed, pass: &mut Pass<'_>) -> Result<Tensor> {
        let (Some(bias), true) = (&self.bias, pass.is_training()) else {
            let x = match pass.is_training() {
                true => x.on_tape()?,
                false => x.values().clone(),
            };
            return self.forward(&x, pass);
        };
        self.check_input(x.values())?;
        let op = Affine {
            rectify: false,
            relayed: x.track_op(),
        };
        let weight = pass.parameter(&self.weight);
        Ok(x.apply_op3(&weight, &pass.parameter(bias), op)?)
    }

    fn check_input(&self, x: &Tensor) -> Result<()> {
        check_columns("the input of a linear layer", x, self.in_features)?;
        check_dtype("the input of a linear layer", x, self.weight.dtype())
    }

    fn apply(&self, x: &Tensor, pass: &Pass<'_>, rectify: bool) -> Result<Tensor> {
        self.apply_with(self.bias.as_ref(), x, pass, rectify)
    }

    fn apply_with(&self, bias: Option<&Var>, x: &Tensor, pass: &Pass<'_>, rectify: bool) -> Result<Tensor> {
        self.check_input(x)?;
        let x = pass.input(x);
        let weight = pass.parameter(&self.weight);
        let op = Affine {
            rectify,
            relayed: false,
        };
        Ok(match bias {
            Some(bias) => x.apply_op3(&weight, &pass.parameter(bias), op)?,
            None => x.apply_op2(&weight, op)?,
        })
    }
}

/// The gradients of `y = x W^T` with respect to `x` (if `of_input`) and `W`, from that of
/// `y`: for operations that have such a product within.
///
/// # Errors
/// If the shapes or types do not fit.
///
/// # Example
/// ```
/// use candle_core::{Device, Tensor};
/// let x = Tensor::new(&[[1f64, 2.0]], &Device::Cpu)?;
/// let weight = Tensor::new(&[[3f64, 4.0], [5.0, 6.0]], &Device::Cpu)?;
/// let g = Tensor::new(&[[1f64, 10.0]], &Device::Cpu)?;
/// let (dx, dw) = egg_nn::linear_gradients(&x, &weight, &g, true)?;
/// assert_eq!(dx.unwrap().to_vec2::<f64>()?, [[53.0, 64.0]]);
/// assert_eq!(dw.to_vec2::<f64>()?, [[1.0, 2.0], [10.0, 20.0]]);
/// # Ok::<(), candle_core::Error>(())
/// ```
pub fn linear_gradients(
    x: &Tensor,
    weight: &Tensor,
    g: &Tensor,
    of_input: bool,
) -> candle_core::Result<(Option<Tensor>, Tensor)> {
    let ((rows, in_features), (out_features, width)) = (x.dims2()?, weight.dims2()?);
    if width != in_features || g.dims2()? != (rows, out_features) {
        candle_core::bail!(
            "x {:?}, weight {:?} and gradient {:?} are not of one product",
            x.dims(),
            weight.dims(),
            g.dims()
        );
    }
    let wanted = Wanted {
        input: of_input,
        bias: false,
    };
    let op = Affine {
        rectify: false,
        relayed: false,
    };
    let (dx, dw, _) = op.pull_back(x, weight, g, g, wanted)?;
    Ok((dx, dw))
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

/// `x W^T (+ b)`, rectified or not.
struct Affine {
    rectify: bool,
    /// The input is off the tape, and its gradient wanted all the same.
    relayed: bool,
}

type Operand<'a> = (&'a CpuStorage, &'a Layout);

impl Affine {
    /// The input's gradient if it is on a tape, or relayed.
    fn wanted(&self, x: &Tensor, bias: bool) -> Wanted {
        Wanted {
            input: self.relayed || x.track_op(),
            bias,
        }
    }

    fn run(
        &self,
        x: Operand<'_>,
        w: Operand<'_>,
        b: Option<Operand<'_>>,
    ) -> candle_core::Result<(CpuStorage, Shape)> {
        let (out_features, in_features) = w.1.shape().dims2()?;
        let rows = x.1.shape().dims2()?.0;
        let out = for_element!(x.0.dtype(), T => {
            let b = b.map(|(storage, layout)| in_order::<T>(storage, layout)).transpose()?;
            let (x, w) = (in_order::<T>(x.0, x.1)?, in_order::<T>(w.0, w.1)?);
            let y = forward(&x, &w, b.as_deref(), in_features, out_features, self.rectify);
            candle_core::Result::Ok(<T as candle_core::WithDType>::to_cpu_storage_owned(y))
        })?;
        Ok((out, (rows, out_features).into()))
    }

    /// Gradients with respect to the input, the weight and the bias.
    fn pull_back(
        &self,
        x: &Tensor,
        w: &Tensor,
        y: &Tensor,
        g: &Tensor,
        wanted: Wanted,
    ) -> candle_core::Result<(Option<Tensor>, Tensor, Tensor)> {
        for_element!(x.dtype(), T => {
            let (dx, dw, db) = with_values::<T, _>(x, |xs| {
                with_values::<T, _>(w, |ws| {
                    with_values::<T, _>(g, |gs| {
                        let run = |ys: Option<&[T]>| {
                            let (out_features, in_features) = w.dims2()?;
                            Ok(backward(xs, ws, ys, gs, in_features, out_features, wanted))
                        };
                        if self.rectify { with_values(y, |ys| run(Some(ys))) } else { run(None) }
                    })
                })
            })?;
            let dx = dx.map(|dx| Tensor::from_vec(dx, x.shape(), x.device())).transpose()?;
            let dw = Tensor::from_vec(dw, w.shape(), w.device())?;
            let db = Tensor::from_vec(db, w.dims2()?.0, w.device())?;
            candle_core::Result::Ok((dx, dw, db))
        })
    }
}

impl CustomOp2 for Affine {
    fn name(&self) -> &'static str {
        "egg-linear"
    }

    fn cpu_fwd(
        &self,
        x: &CpuStorage,
        x_layout: &Layout,
        w: &CpuStorage,
        w_layout: &Layout,
    ) -> candle_core::Result<(CpuStorage, Shape)> {
        self.run((x, x_layout), (w, w_layout), None)
    }

    fn bwd(
        &self,
        x: &Tensor,
        w: &Tensor,
        y: &Tensor,
        g: &Tensor,
    ) -> candle_core::Result<(Option<Tensor>, Option<Tensor>)> {
        let (dx, dw, _) = self.pull_back(x, w, y, g, self.wanted(x, false))?;
        Ok((dx.and_then(|dx| given(x, dx)), given(w, dw)))
    }
}

impl CustomOp3 for Affine {
    fn name(&self) -> &'static str {
        "egg-linear-bias"
    }

    fn cpu_fwd(
        &self,
        x: &CpuStorage,
        x_layout: &Layout,
        w: &CpuStorage,
        w_layout: &Layout,
        b: &CpuStorage,
        b_layout: &Layout,
    ) -> candle_core::Result<(CpuStorage, Shape)> {
        self.run((x, x_layout), (w, w_layout), Some((b, b_layout)))
    }

    fn bwd(
        &self,
        x: &Tensor,
        w: &Tensor,
        b: &Tensor,
        y: &Tensor,
        g: &Tensor,
    ) -> candle_core::Result<(Option<Tensor>, Option<Tensor>, Option<Tensor>)> {
        let (dx, dw, db) = self.pull_back(x, w, y, g, self.wanted(x, true))?;
        Ok((dx.and_then(|dx| given(x, dx)), given(w, dw), given(b, db)))
    }
}
