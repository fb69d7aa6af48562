//! The backward pass with its own accumulators for the gradients of parameters, instead of candle's sums.
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

/// The parameters of a pass's loss and the gradients collected for them.
#[derive(Default)]
struct Collected {
    parameters: HashSet<TensorId>,
    gradients: Vec<(Tensor, Tensor)>,
}

/// `loss.backward()`, faster: the same gradients, of the first order. (They are the same to the sign
/// of a zero, and to rounding where a parameter has three uses and more, some of them in operations
/// of candle's own.)
///
/// An [`Operation`](crate::Operation) passes it the gradients of parameters directly. All other
/// operations work unchanged, and all work under candle's own `backward`;
/// only inside of a pass, in the backward half of an
/// operation, take this one for a loss that has parameters in common with it.
///
/// # Errors
/// As candle's; and if a gradient has not the shape and type of its parameter.
///
/// ```
/// use candle_core::{Device, Var};
///
/// let x = Var::new(&[3f32], &Device::Cpu)?;
/// let gradients = egg_tensor::backward(&x.sqr()?.sum_all()?)?;
/// assert_eq!(gradients.get(&x).unwrap().to_vec1::<f32>()?, [6.0]);
/// # Ok::<(), candle_core::Error>(())
/// ```
pub fn backward(loss: &Tensor) -> Result<GradStore> {
    let pass = Collecting::begin(loss);
    let mut gradients = loss.backward()?;
    for (parameter, gradient) in pass.finish() {
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

/// What candle gets as the gradient of `of`: nothing if it is a parameter and the
/// pass is one of [`backward`], which then has it.
pub(crate) fn collect(of: &Tensor, gradient: Tensor) -> Option<Tensor> {
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

    /// The collected gradients. The outer pass, if there is one, continues.
    fn finish(self) -> Vec<(Tensor, Tensor)> {
        PASS.take().unwrap_or_default().gradients
    }
}

impl Drop for Collecting {
    fn drop(&mut self) {
        PASS.set(self.outer.take());
    }
}
