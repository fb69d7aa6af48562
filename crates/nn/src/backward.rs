//! The backward pass, in which gradients of parameters do not go over candle's sums.
//!
//! candle makes a tensor of zeros for every gradient and adds to it, on one thread. EGG's
//! first weight behind a projector has 133,000 numbers, and on two threads that took as
//! long as a tenth of a step.

use std::cell::RefCell;
use std::collections::HashSet;

use candle_core::backprop::GradStore;
use candle_core::{Result, Tensor, TensorId, bail};

thread_local! {
    /// The pass that this thread is in.
    static PASS: RefCell<Option<Collected>> = const { RefCell::new(None) };
}

/// What a pass has of the parameters of its loss.
#[derive(Default)]
struct Collected {
    parameters: HashSet<TensorId>,
    gradients: Vec<(Tensor, Tensor)>,
}

/// `loss.backward()`, faster: the same gradients, of the first order. (They are the same to the sign
/// of a zero, and to rounding where a parameter has three uses and more, some of them in operations
/// that don't know of this.)
///
/// Operations that know of it [give](given) gradients of parameters here, as the layers of this
/// crate do. All others work as ever, and all work under candle's own `backward`; only
/// inside of a pass, in the backward half of an operation, take this one for a loss that
/// has parameters in common with it.
///
/// # Errors
/// As candle's; and if a gradient has not the shape and type of its parameter.
///
/// ```
/// use candle_core::{DType, Device, Tensor};
/// use egg_nn::{Linear, Parameters, Pass};
/// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
///
/// let mut rng = ChaCha8Rng::seed_from_u64(1);
/// let mut parameters = Parameters::new(DType::F32, &Device::Cpu)?;
/// let linear = Linear::new(&mut parameters.root(&mut rng), 3, 1)?;
/// let x = Tensor::new(&[[1f32, 2.0, 3.0], [10.0, 20.0, 30.0]], &Device::Cpu)?;
/// let loss = linear.forward(&x, &mut Pass::Training(&mut rng))?.sum_all()?;
/// let gradients = egg_nn::backward(&loss)?;
/// assert_eq!(gradients.get(linear.weight()).unwrap().to_vec2::<f32>()?, [[11.0, 22.0, 33.0]]);
/// # Ok::<(), egg_nn::Error>(())
/// ```
pub fn backward(loss: &Tensor) -> Result<GradStore> {
    let pass = Collecting::begin(loss);
    let mut gradients = loss.backward()?;
    for (parameter, gradient) in pass.end() {
        if (gradient.dims(), gradient.dtype()) != (parameter.dims(), parameter.dtype()) {
            bail!(
                "the gradient of a parameter of {:?}, {:?}, has {:?}, {:?}",
                parameter.dims(),
                parameter.dtype(),
                gradient.dims(),
                gradient.dtype()
            );
        }
        let gradient = match gradients.remove(&parameter) {
            Some(before) => (before + gradient)?,
            None => gradient,
        };
        gradients.insert(&parameter, gradient.detach());
    }
    Ok(gradients)
}

/// For the backward half of an operation: what it is to return to candle as the gradient of
/// `of`. Nothing if `of` is a parameter and the pass is one of [`backward`], which then has it.
///
/// ```
/// use candle_core::{CpuStorage, CustomOp1, Device, Layout, Result, Shape, Tensor, Var};
///
/// /// 2 x
/// struct Twice;
/// impl CustomOp1 for Twice {
///     fn name(&self) -> &'static str {
///         "twice"
///     }
///     fn cpu_fwd(&self, x: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
///         let x = x.as_slice::<f32>()?.iter().map(|x| 2.0 * x).collect();
///         Ok((CpuStorage::F32(x), layout.shape().clone()))
///     }
///     fn bwd(&self, x: &Tensor, _: &Tensor, g: &Tensor) -> Result<Option<Tensor>> {
///         Ok(egg_nn::given(x, (g * 2.0)?))
///     }
/// }
///
/// let x = Var::new(&[3f32], &Device::Cpu)?;
/// let loss = x.apply_op1(Twice)?.sum_all()?;
/// for gradients in [loss.backward()?, egg_nn::backward(&loss)?] {
///     assert_eq!(gradients.get(&x).unwrap().to_vec1::<f32>()?, [2.0]);
/// }
/// # Ok::<(), candle_core::Error>(())
/// ```
pub fn given(of: &Tensor, gradient: Tensor) -> Option<Tensor> {
    PASS.with_borrow_mut(|pass| match pass {
        // A thread that waits for others may meanwhile differentiate something else.
        Some(pass) if pass.parameters.contains(&of.id()) => {
            pass.gradients.push((of.clone(), gradient));
            None
        }
        _ => Some(gradient),
    })
}

/// A pass of this thread. One inside another, as of an operation that
/// differentiates something itself, has its own gradients.
struct Collecting {
    outer: Option<Collected>,
}

impl Collecting {
    fn begin(loss: &Tensor) -> Self {
        let nodes = loss.sorted_nodes();
        let variables = nodes.iter().filter(|node| node.is_variable());
        let pass = Collected {
            parameters: variables.map(|node| node.id()).collect(),
            gradients: Vec::new(),
        };
        Self {
            outer: PASS.replace(Some(pass)),
        }
    }

    /// What was given. The outer pass, if there is one, goes on.
    fn end(self) -> Vec<(Tensor, Tensor)> {
        PASS.take().unwrap_or_default().gradients
    }
}

impl Drop for Collecting {
    fn drop(&mut self) {
        PASS.set(self.outer.take());
    }
}

#[cfg(test)]
mod tests {
    use candle_core::{CpuStorage, CustomOp1, CustomOp2, Device, Layout, Shape, Var};

    use super::*;

    /// `a b`, entry by entry.
    struct Times;

    impl CustomOp2 for Times {
        fn name(&self) -> &'static str {
            "times"
        }

        fn cpu_fwd(
            &self,
            a: &CpuStorage,
            layout: &Layout,
            b: &CpuStorage,
            _: &Layout,
        ) -> Result<(CpuStorage, Shape)> {
            let (CpuStorage::F64(a), CpuStorage::F64(b)) = (a, b) else {
                bail!("f64 alone")
            };
            let product = a.iter().zip(b).map(|(a, b)| a * b).collect();
            Ok((CpuStorage::F64(product), layout.shape().clone()))
        }

        fn bwd(
            &self,
            a: &Tensor,
            b: &Tensor,
            _: &Tensor,
            g: &Tensor,
        ) -> Result<(Option<Tensor>, Option<Tensor>)> {
            Ok((given(a, (g * b)?), given(b, (g * a)?)))
        }
    }

    fn var(numbers: &[f64]) -> Var {
        Var::new(numbers, &Device::Cpu).unwrap()
    }

    fn gradient(gradients: &GradStore, of: &Var) -> Vec<f64> {
        gradients.get(of).unwrap().to_vec1().unwrap()
    }

    /// A parameter that is used three times, once by an operation of candle's own, and a
    /// number that is no parameter in between.
    #[test]
    fn gradients_are_candles() {
        let (a, b) = (var(&[1.0, 2.0]), var(&[3.0, 5.0]));
        let product = a.apply_op2(&b, Times).unwrap();
        let square = product.apply_op2(&a, Times).unwrap();
        let loss = (square.sum_all().unwrap() + a.sqr().unwrap().sum_all().unwrap()).unwrap();

        let (ours, candles) = (backward(&loss).unwrap(), loss.backward().unwrap());
        // a^2 b + a^2
        assert_eq!(gradient(&ours, &a), [8.0, 24.0]);
        assert_eq!(gradient(&ours, &b), [1.0, 4.0]);
        for of in [&a, &b] {
            assert_eq!(gradient(&ours, of), gradient(&candles, of));
        }
    }

    /// An operation whose backward half has a pass of its own.
    struct Nested;

    impl CustomOp1 for Nested {
        fn name(&self) -> &'static str {
            "nested"
        }

        fn cpu_fwd(&self, storage: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
            let CpuStorage::F64(numbers) = storage else {
                bail!("f64 alone")
            };
            Ok((CpuStorage::F64(numbers.clone()), layout.shape().clone()))
        }

        fn bwd(&self, _: &Tensor, _: &Tensor, g: &Tensor) -> Result<Option<Tensor>> {
            let inner = var(&[7.0, 7.0]);
            let loss = inner.apply_op2(&inner, Times)?.sum_all()?;
            assert_eq!(gradient(&backward(&loss)?, &inner), [14.0, 14.0]);
            assert_eq!(
                gradient(&loss.backward()?, &inner),
                [14.0, 14.0],
                "a pass of candle's"
            );
            Ok(Some(g.clone()))
        }
    }

    #[test]
    fn a_pass_in_a_pass_and_one_that_fails_leave_nothing_behind() {
        let (a, b) = (var(&[1.0, 2.0]), var(&[3.0, 5.0]));
        let product = a.apply_op2(&b, Times).unwrap();
        let loss = product.apply_op1(Nested).unwrap();
        let loss = loss.apply_op2(&b, Times).unwrap().sum_all().unwrap();
        let gradients = backward(&loss).unwrap();
        assert_eq!(gradient(&gradients, &a), [9.0, 25.0]);
        assert_eq!(gradient(&gradients, &b), [6.0, 20.0]);

        struct Refuses;
        impl CustomOp1 for Refuses {
            fn name(&self) -> &'static str {
                "refuses"
            }
            fn cpu_fwd(&self, storage: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
                Nested.cpu_fwd(storage, layout)
            }
        }
        let refused = product.apply_op1(Refuses).unwrap();
        assert!(backward(&refused.apply_op2(&b, Times).unwrap().sum_all().unwrap()).is_err());
        assert!(
            given(&b, b.as_detached_tensor()).is_some(),
            "a pass is still going on"
        );
    }
}
