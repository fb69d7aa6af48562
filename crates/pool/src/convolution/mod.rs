//! Graph convolutions by name: what a layer of a
//! [`GraphClassifier`](crate::model::GraphClassifier) does with its nodes.
//!
//! | name | convolution | of rows X and edges A |
//! |---|---|---|
//! | `gcn` | [`Gcn`] | `D^(-1/2) (A + I) D^(-1/2) X W + b` |
//! | `gin` | [`Gin`] | `MLP((1 + eps) X + A X)` |
//! | `blind` | [`Blind`] | none: the control that sees no edges |

mod blind;
mod config;
mod gcn;
mod gin;

use std::fmt::Debug;

use egg_graph::conv::{NodeInput, SparseMatrix};
use egg_nn::{Pass, Tracked, relu};

pub use blind::Blind;
pub use config::{ConvolutionConfig, ConvolutionSettings, register_convolution};
pub use gcn::Gcn;
pub use gin::Gin;

use crate::component::Registry;
use crate::error::Result;

/// The convolutions that are built in. A new one is its file and its line here.
static CONVOLUTIONS: Registry<ConvolutionConfig> = Registry::new(
    "convolution",
    &[
        ConvolutionConfig::entry::<Gcn>(),
        ConvolutionConfig::entry::<Gin>(),
        ConvolutionConfig::entry::<Blind>(),
    ],
);

/// One layer: new rows for all nodes, from their own and their neighbours'.
///
/// ```
/// use egg_graph::conv::{NodeInput, SparseMatrix, spmm};
/// use egg_nn::{Linear, Pass, Tracked};
/// use egg_pool::{Convolution, Result};
///
/// /// `A (X W + b)`.
/// #[derive(Debug)]
/// struct Neighbours {
///     linear: Linear,
/// }
///
/// impl Convolution for Neighbours {
///     fn forward(&self, x: &NodeInput, edges: &SparseMatrix, pass: &mut Pass<'_>) -> Result<Tracked> {
///         Ok(spmm(edges, x.linear(&self.linear, pass)?)?)
///     }
/// }
/// ```
pub trait Convolution: Debug + Send + Sync {
    /// `x` (n x inputs, the nodes of all graphs of a batch) -> n x outputs. `edges` is
    /// the matrix that [`ConvolutionSettings::propagation`] asked for.
    ///
    /// # Errors
    /// [`Error::Graph`](crate::Error::Graph) if the input does not fit.
    fn forward(&self, x: &NodeInput, edges: &SparseMatrix, pass: &mut Pass<'_>) -> Result<Tracked>;

    /// The same with a ReLU behind it; for those that can do both at once.
    ///
    /// # Errors
    /// As [`Self::forward`].
    fn forward_relu(&self, x: &NodeInput, edges: &SparseMatrix, pass: &mut Pass<'_>) -> Result<Tracked> {
        Ok(relu(self.forward(x, edges, pass)?)?)
    }

    /// Whether [`Self::forward`] takes [`NodeInput::Propagated`], features that were
    /// multiplied with `edges` beforehand.
    fn takes_propagated(&self) -> bool {
        false
    }
}
