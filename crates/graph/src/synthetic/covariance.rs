//! Graphs whose classes differ in nothing but the covariance of their features.

use ndarray::{Array1, Array2};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use super::inner;
use crate::dataset::GraphDataset;
use crate::draw;
use crate::error::{Error, Result};
use crate::features::Features;
use crate::graph::Graph;
use crate::labels::{Labels, Targets};

/// Two classes of graphs that first-order pooling can't distinguish.
///
/// The graphs come in pairs, one of each class, with the same nodes and edges:
/// a 4-regular graph of a random even size. The features of a class lie near a
/// subspace of its own, with the same spectrum in both classes, and in every
/// graph half of the nodes have the negated features of the other half, so that
/// the features sum to zero.
///
/// Hence sizes, degrees and means say nothing. After any number of *linear*
/// convolutions neither do the sum and the average of the nodes: the rows and
/// columns of `D^(-1/2) (A + I) D^(-1/2)` sum to 1 in a regular graph, so
/// `1^T A^k X W = 1^T X W = 0` in both classes. The subspace that the rows span
/// separates the classes. A nonlinearity lets covariance through to first-
/// order pools too.
///
/// ```
/// use egg_graph::synthetic::CovarianceSet;
/// use rand::SeedableRng;
/// use rand_chacha::ChaCha8Rng;
///
/// let dataset = CovarianceSet::default().generate(&mut ChaCha8Rng::seed_from_u64(0))?;
/// assert_eq!((dataset.len(), dataset.features().width()), (400, 10));
/// assert_eq!(dataset.classes().map(|classes| classes.class_sizes()), Some(vec![200, 200]));
/// # Ok::<(), egg_graph::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CovarianceSet {
    /// How many graphs; even.
    pub graphs: usize,
    /// The fewest nodes of a graph; even, at least 8.
    pub fewest_nodes: usize,
    /// The most nodes of a graph; even.
    pub most_nodes: usize,
    /// Features of a node.
    pub features: usize,
    /// Dimension of a class's subspace, below the number of features.
    pub dimension: usize,
    /// Standard deviation of the noise around the subspace, in which it is 1.
    pub noise: f64,
}

impl Default for CovarianceSet {
    fn default() -> Self {
        Self {
            graphs: 400,
            fewest_nodes: 20,
            most_nodes: 40,
            features: 10,
            dimension: 3,
            noise: 0.3,
        }
    }
}

/// The seed of [`CovarianceSet::standard`].
const STANDARD_SEED: u64 = 2022;

impl CovarianceSet {
    /// The default set drawn with a fixed seed: the one that results are
    /// reported on. [`crate::write_tu`] writes it as TU files.
    ///
    /// # Errors
    /// None; the type is that of [`Self::generate`].
    ///
    /// ```
    /// use egg_graph::synthetic::CovarianceSet;
    /// assert_eq!(CovarianceSet::standard()?, CovarianceSet::standard()?);
    /// # Ok::<(), egg_graph::Error>(())
    /// ```
    pub fn standard() -> Result<GraphDataset> {
        Self::default().generate(&mut ChaCha8Rng::seed_from_u64(STANDARD_SEED))
    }

    /// Draws the data set.
    ///
    /// # Errors
    /// [`Error::Parameter`] if a field is not as it is described.
    pub fn generate(&self, rng: &mut impl Rng) -> Result<GraphDataset> {
        self.check()?;
        let bases = [self.basis(rng), self.basis(rng)];
        let mut graphs = Vec::with_capacity(self.graphs);
        let mut classes = Vec::with_capacity(self.graphs);
        for _ in 0..self.graphs / 2 {
            let half = self.fewest_nodes / 2;
            let nodes = 2 * (half + draw::index(rng, self.most_nodes / 2 - half + 1));
            let graph = regular(nodes, rng)?;
            for (class, basis) in (0i64..).zip(&bases) {
                let features = self.features(nodes, basis, rng);
                graphs.push(graph.clone().with_features(Features::dense(features)?)?);
                classes.push(class);
            }
        }
        GraphDataset::from_graphs("COVARIANCE", &graphs)?
            .with_targets(Targets::Classes(Labels::from_values(&classes)))
    }

    fn check(&self) -> Result<()> {
        let wrong = |name, value: usize, requirement: &str| Err(Error::parameter(name, value, requirement));
        if self.graphs < 2 || self.graphs % 2 == 1 {
            return wrong("graphs", self.graphs, "even, at least 2");
        }
        if self.fewest_nodes < 8 || self.fewest_nodes % 2 == 1 {
            return wrong("fewest_nodes", self.fewest_nodes, "even, at least 8");
        }
        if self.most_nodes < self.fewest_nodes || self.most_nodes % 2 == 1 {
            return wrong("most_nodes", self.most_nodes, "even, at least fewest_nodes");
        }
        if self.dimension == 0 || self.dimension >= self.features {
            return wrong(
                "dimension",
                self.dimension,
                "at least 1 and below the number of features",
            );
        }
        if !(self.noise >= 0.0 && self.noise.is_finite()) {
            return Err(Error::parameter("noise", self.noise, "at least 0"));
        }
        Ok(())
    }

    /// Orthonormal columns, features x dimension, by Gram and Schmidt.
    fn basis(&self, rng: &mut impl Rng) -> Array2<f64> {
        let mut basis = Array2::<f64>::zeros((self.features, self.dimension));
        for column in 0..self.dimension {
            loop {
                let mut direction = Array1::from_shape_simple_fn(self.features, || normal(rng));
                for before in 0..column {
                    let before = basis.column(before);
                    let along = inner(before, direction.view());
                    direction.scaled_add(-along, &before);
                }
                let length = inner(direction.view(), direction.view()).sqrt();
                if length > 0.1 {
                    basis.column_mut(column).assign(&(direction / length));
                    break;
                }
            }
        }
        basis
    }

    /// Rows near the subspace, and their negatives, at random nodes.
    fn features(&self, nodes: usize, basis: &Array2<f64>, rng: &mut impl Rng) -> Array2<f32> {
        let order = draw::random_order(nodes, rng);
        let mut features = Array2::zeros((nodes, self.features));
        for pair in order.chunks_exact(2) {
            let within = Array1::from_shape_simple_fn(self.dimension, || normal(rng));
            let along: Vec<f64> = basis
                .rows()
                .into_iter()
                .map(|row| inner(row, within.view()))
                .collect();
            for (column, value) in along.iter().enumerate() {
                // Short numbers: sums of a few dozen of them are exact, and so
                // is their decimal text.
                #[expect(clippy::cast_possible_truncation, reason = "a multiple of 1/256")]
                let value = ((value + self.noise * normal(rng)) * 256.0).round() as f32 / 256.0;
                features[[pair[0], column]] = value;
                features[[pair[1], column]] = -value;
            }
        }
        features
    }
}

fn normal(rng: &mut impl Rng) -> f64 {
    StandardNormal.sample(rng)
}

/// Every node has four neighbours: the next and the one `step` further on
/// either side of a ring in random order.
fn regular(nodes: usize, rng: &mut impl Rng) -> Result<Graph> {
    // 2, ..., nodes / 2 - 1: neither the next nor the opposite node.
    let step = 2 + draw::index(rng, nodes / 2 - 2);
    let order = draw::random_order(nodes, rng);
    let edges: Vec<_> = (0..nodes)
        .flat_map(|at| [(at, (at + 1) % nodes), (at, (at + step) % nodes)])
        .map(|(a, b)| (order[a], order[b]))
        .collect();
    Graph::from_edges(nodes, &edges)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::propagation::Propagation;

    fn generated() -> GraphDataset {
        CovarianceSet::default()
            .generate(&mut ChaCha8Rng::seed_from_u64(3))
            .unwrap()
    }

    #[test]
    fn standard_set_has_a_fixed_fingerprint_and_survives_tu_files() {
        let standard = CovarianceSet::standard().unwrap();
        let folder = tempfile::tempdir().unwrap();
        crate::write_tu(folder.path(), &standard).unwrap();
        let read = crate::read_tu(folder.path(), &crate::ReadOptions::default()).unwrap();
        assert_eq!(read.fingerprint(), standard.fingerprint());
        // If this changes, so do all results on the set: raise the seed's name,
        // or mend what changed.
        assert_eq!(
            standard.fingerprint(),
            "817c52b91b97a5b388d408843df583930b66eca0a4ce2cd9f38d45e6ebbc7ce1"
        );
    }

    #[test]
    fn first_order_statistics_are_equal() {
        let dataset = generated();
        let graphs: Vec<_> = dataset.graphs().collect();
        for pair in graphs.chunks_exact(2) {
            assert!(pair[0].edges().eq(pair[1].edges()));
            for graph in pair {
                assert!((0..graph.node_count()).all(|node| graph.degree(node) == 4));
                let sums = graph.dense_features().unwrap().sum_axis(ndarray::Axis(0));
                assert!(sums.iter().all(|sum| *sum == 0.0));
            }
        }
        // Nor do they after two linear convolutions.
        let matrix = Propagation::gcn(&dataset).batch(&[7]).unwrap();
        let spread = |x: Array2<f32>| {
            Array2::from_shape_fn(x.dim(), |(row, column)| {
                matrix
                    .row(row)
                    .map(|(other, value)| value * x[[other, column]])
                    .sum()
            })
        };
        let x = graphs[7].dense_features().unwrap().to_owned();
        let sums = spread(spread(x)).sum_axis(ndarray::Axis(0));
        assert!(sums.iter().all(|sum: &f32| sum.abs() < 1e-5), "{sums}");
    }

    #[test]
    fn second_moments_separate_the_classes() {
        let dataset = generated();
        let moment = |index: usize| {
            let view = dataset.graph(index).unwrap();
            let x = view.dense_features().unwrap();
            let product =
                |(a, b): (usize, usize)| x.rows().into_iter().map(|row| row[a] * row[b]).sum::<f32>();
            Array2::from_shape_fn((10, 10), product) / x.nrows() as f32
        };
        let mean = |class: usize| {
            let all = (class..200).step_by(2).map(moment);
            all.reduce(|sum, each| sum + each).unwrap() / 100.0
        };
        let means = [mean(0), mean(1)];
        let far = |a: &Array2<f32>, b: &Array2<f32>| (a - b).mapv(|entry| entry * entry).sum();
        let right = (200..400).filter(|index| {
            let moment = moment(*index);
            let nearest = usize::from(far(&moment, &means[1]) < far(&moment, &means[0]));
            nearest == index % 2
        });
        assert!(right.count() >= 196);
    }

    #[test]
    fn invalid_parameters_are_refused() {
        let good = CovarianceSet::default();
        for bad in [
            CovarianceSet { graphs: 3, ..good },
            CovarianceSet {
                fewest_nodes: 6,
                ..good
            },
            CovarianceSet {
                most_nodes: 10,
                ..good
            },
            CovarianceSet {
                dimension: 10,
                ..good
            },
            CovarianceSet {
                noise: f64::NAN,
                ..good
            },
        ] {
            let refused = bad.generate(&mut ChaCha8Rng::seed_from_u64(0));
            assert!(matches!(refused, Err(Error::Parameter { .. })), "{bad:?}");
        }
    }
}
