//! Smoothed features: node embeddings by a fixed low-pass filter, without training.
//!
//! `H = f(S) X` averages the features of each node with those of its neighbours, t times over; `f` is one of
//! [`Filter`]. What varies slowly along edges stays, and nodes of a cluster come to lie near each other. `H` is n x m
//! and dense, so it is not formed where X is wide: all that clustering needs of it are its first singular values and
//! left singular vectors, which a randomised decomposition finds from products.
//!
//! EGG with `Fixed(k)` and flat weights on `H` of the [lazy walk](Filter::LazyWalk) is AGC (Zhang et al., *Attributed
//! Graph Clustering via Adaptive Graph Convolution*, 2019), whose spectral clustering of the kernel `H H^T` is k-means
//! on the first k left singular vectors of `H`.

mod filter;
mod map;

use egg_graph::{Features, Graph};
use ndarray::{Array1, Array2, Axis, s};
use rand::Rng;
use serde::{Deserialize, Serialize};

pub use filter::Filter;

use crate::egg::RandomisedConfig;
use crate::error::{Error, Result, require};
use crate::normalised::Normalised;
use crate::tall;
use map::{Signal, SmoothMap};

/// Features of up to so many columns are smoothed as they are, and decomposed by their Gram matrix.
const NARROW: usize = 256;

/// Power iterations from the singular vectors of another number of steps.
const REFINEMENTS: usize = 2;

/// Settings of smoothed features.
///
/// ```
/// use egg_cluster::smooth::SmoothConfig;
/// use egg_graph::synthetic::karate_club;
/// use rand::SeedableRng;
/// use rand_chacha::ChaCha8Rng;
///
/// // A graph without features: the rows of the filter itself.
/// let smooth = SmoothConfig { steps: 3, directions: 4, ..SmoothConfig::default() }.check()?;
/// let dataset = karate_club()?;
/// let graph = dataset.graph(0)?.to_graph();
/// let features = egg_graph::Features::none(34);
/// let found = smooth.embed(&graph, &features, &mut ChaCha8Rng::seed_from_u64(0))?;
/// assert_eq!(found.h.dim(), (34, 4));
/// # Ok::<(), egg_cluster::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SmoothConfig {
    /// The filter.
    pub filter: Filter,
    /// Its degree t: how far a node sees. With 0 the features stay as they are.
    pub steps: usize,
    /// How many directions of `H` are kept: coordinates in its first right singular vectors, which have all distances
    /// that the best approximation of this rank has. At least 1; features with fewer columns have fewer.
    pub directions: usize,
}

impl Default for SmoothConfig {
    fn default() -> Self {
        Self {
            filter: Filter::default(),
            steps: 8,
            directions: 64,
        }
    }
}

impl SmoothConfig {
    /// Checks every setting.
    ///
    /// # Errors
    /// [`Error::Setting`], naming the first that is out of its range.
    pub fn check(self) -> Result<Smooth> {
        self.filter.check()?;
        require(
            self.directions >= 1,
            "directions",
            self.directions,
            "it must be at least 1",
        )?;
        require(
            self.steps <= 10_000,
            "steps",
            self.steps,
            "it must be at most 10000",
        )?;
        Ok(Smooth { config: self })
    }
}

/// Smoothing with settings that have been checked; see [`SmoothConfig`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Smooth {
    config: SmoothConfig,
}

/// Smoothed features, in coordinates of their strongest directions.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SmoothEmbedding {
    /// `U_r S_r` of `H = f(S) X` (n x r), or `H` itself if X has no more columns than directions were asked for.
    pub h: Array2<f64>,
    /// The share of `||H||_F^2` that it has.
    pub captured_squares: f64,
}

impl Smooth {
    /// The settings.
    pub fn config(&self) -> &SmoothConfig {
        &self.config
    }

    /// Smooths the features of a graph's nodes; without features (width 0), the rows of the n x n identity. The same
    /// state of the generator gives the same bits on any number of threads.
    ///
    /// # Complexity
    /// With l = directions + 10 and w = 16 sweeps: `O(w l (t edges + entries of X) + w n l^2)` time, `O(n l)` memory.
    /// Features of at most 256 columns, or as many as directions, are smoothed as they are, in `O(t edges m + n m^2)`.
    ///
    /// # Errors
    /// [`Error::Empty`] for no nodes, [`Error::Undefined`] for negative weights, [`Error::Length`] if there is not one
    /// row per node.
    pub fn embed<R: Rng + ?Sized>(
        &self,
        graph: &Graph,
        features: &Features,
        rng: &mut R,
    ) -> Result<SmoothEmbedding> {
        let SmoothConfig {
            filter,
            steps,
            directions,
        } = self.config;
        Smoother::new(graph, features, filter, directions)?.embed(steps, rng)
    }
}

/// The features of a graph, to be smoothed by several numbers of steps: each decomposition starts from the one before.
pub(crate) struct Smoother<'a> {
    matrix: Normalised<'a>,
    features: &'a Features,
    filter: Filter,
    directions: usize,
    /// None of features that are narrow enough to be smoothed as they are.
    signal: Option<Signal>,
    /// Right singular vectors of the last decomposition, one per row.
    basis: Option<Array2<f64>>,
}

impl<'a> Smoother<'a> {
    /// # Errors
    /// As [`Smooth::embed`].
    pub(crate) fn new(
        graph: &'a Graph,
        features: &'a Features,
        filter: Filter,
        directions: usize,
    ) -> Result<Self> {
        let matrix = Normalised::with_self_loop(graph, 1.0)?;
        if features.rows() != matrix.nodes() {
            return Err(Error::Length {
                what: "features",
                unit: "rows",
                expected: matrix.nodes(),
                found: features.rows(),
            });
        }
        let is_narrow = (1..=NARROW.max(directions)).contains(&features.width());
        Ok(Self {
            matrix,
            features,
            filter,
            directions,
            signal: match is_narrow {
                true => None,
                false => Some(Signal::new(features)?),
            },
            basis: None,
        })
    }

    /// `H` after so many steps.
    pub(crate) fn embed<R: Rng + ?Sized>(&mut self, steps: usize, rng: &mut R) -> Result<SmoothEmbedding> {
        let Some(signal) = &self.signal else {
            let x = self.features.to_dense().iter().map(|x| f64::from(*x)).collect();
            let width = self.features.width();
            let h = self.filter.apply(&self.matrix, steps, width, x);
            return leading(tall::matrix(h, self.matrix.nodes(), width), self.directions);
        };
        let map = SmoothMap {
            matrix: &self.matrix,
            filter: self.filter,
            steps,
            signal,
        };
        let config = RandomisedConfig::new(self.directions);
        let found = match self.basis.take() {
            None => config.check()?.run(&map, rng)?,
            Some(basis) => {
                let config = RandomisedConfig {
                    power_iterations: REFINEMENTS,
                    ..config
                };
                config.check()?.run_from(&map, basis, rng)?
            }
        };
        let captured_squares = share(&found.s, found.norm);
        let mut h = found.u;
        h.axis_iter_mut(Axis(1))
            .zip(&found.s)
            .for_each(|(mut column, value)| column *= *value);
        self.basis = Some(found.vt);
        Ok(SmoothEmbedding { h, captured_squares })
    }
}

/// The first directions of a narrow matrix, by its Gram matrix.
fn leading(h: Array2<f64>, directions: usize) -> Result<SmoothEmbedding> {
    if h.ncols() <= directions {
        return Ok(SmoothEmbedding {
            h,
            captured_squares: 1.0,
        });
    }
    let (values, vectors) = tall::symmetric(tall::cross(&h, &h)?)?;
    let values: Array1<f64> = values.into_iter().map(|value| value.max(0.0).sqrt()).collect();
    let norm = values.dot(&values).sqrt();
    let captured_squares = share(&values.slice(s![..directions]).to_owned(), norm);
    Ok(SmoothEmbedding {
        h: tall::times(&h, vectors.slice(s![..directions, ..]).t())?,
        captured_squares,
    })
}

fn share(values: &Array1<f64>, norm: f64) -> f64 {
    if norm == 0.0 {
        return 0.0;
    }
    values
        .iter()
        .map(|value| (value / norm).powi(2))
        .sum::<f64>()
        .min(1.0)
}
