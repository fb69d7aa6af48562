//! The stochastic block model, of any size.

use ndarray::Array2;
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};

use super::inner;
use crate::adjacency::{EdgeRows, MAX_NODES, SelfLoops};
use crate::dataset::GraphDataset;
use crate::draw;
use crate::error::{Error, Result};
use crate::features::Features;
use crate::graph::Graph;
use crate::labels::Labels;

/// A graph of blocks of equal size: two nodes of one block are joined with one
/// probability, two of different blocks with another; features are Gaussian
/// around a centre per block.
///
/// ```
/// use egg_graph::synthetic::BlockModel;
/// use rand::SeedableRng;
/// use rand_chacha::ChaCha8Rng;
///
/// let dataset = BlockModel { nodes: 1000, ..BlockModel::default() }.generate(&mut ChaCha8Rng::seed_from_u64(0))?;
/// assert_eq!(dataset.node_count(), 1000);
/// assert!((9_000..11_000).contains(&dataset.edge_count()));
/// # Ok::<(), egg_graph::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BlockModel {
    /// How many nodes.
    pub nodes: usize,
    /// How many blocks, at most 1,000.
    pub blocks: usize,
    /// How many neighbours a node has on average.
    pub degree: f64,
    /// The share of them, on average, in its own block.
    pub inside: f64,
    /// Features of a node.
    pub features: usize,
    /// How far the centres of the blocks lie from the origin, in standard
    /// deviations of the features.
    pub separation: f64,
}

impl Default for BlockModel {
    fn default() -> Self {
        Self {
            nodes: 10_000,
            blocks: 10,
            degree: 20.0,
            inside: 0.7,
            features: 16,
            separation: 1.0,
        }
    }
}

impl BlockModel {
    /// Draws the graph.
    ///
    /// # Complexity
    /// Linear in nodes, edges and features: non-edges are skipped, not drawn.
    ///
    /// # Errors
    /// [`Error::Parameter`] if a field is not as it is described, or if a node
    /// can't have that many neighbours.
    pub fn generate(&self, rng: &mut impl Rng) -> Result<GraphDataset> {
        let (inside, outside) = self.probabilities()?;
        // Blocks are contiguous in the order of drawing; the nodes' numbers are not.
        let names = draw::random_order(self.nodes, rng);
        let mut rows = EdgeRows::default();
        let mut join = |a: usize, b: usize| {
            #[expect(clippy::cast_possible_truncation, reason = "below MAX_NODES")]
            rows.push(names[a] as u32, names[b] as u32);
        };
        for left in 0..self.blocks {
            let lefts = self.block(left);
            for right in left..self.blocks {
                let rights = self.block(right);
                if left == right {
                    let size = lefts.len() as u64;
                    for_each_hit(size * size.saturating_sub(1) / 2, inside, rng, |pair| {
                        let (a, b) = triangle(pair);
                        join(lefts.start + a, lefts.start + b);
                    });
                } else {
                    let width = rights.len() as u64;
                    for_each_hit(lefts.len() as u64 * width, outside, rng, |pair| {
                        let (a, b) = (as_index(pair / width), as_index(pair % width));
                        join(lefts.start + a, rights.start + b);
                    });
                }
            }
        }
        let built = rows.into_adjacency(self.nodes, SelfLoops::Remove, false);

        let centres = Array2::from_shape_simple_fn((self.blocks, self.features), || normal(rng));
        let mut features = Array2::<f32>::zeros((self.nodes, self.features));
        let mut labels = vec![None; self.nodes];
        for block in 0..self.blocks {
            let centre = centres.row(block);
            let length = inner(centre, centre).sqrt().max(f64::MIN_POSITIVE);
            for node in self.block(block) {
                labels[names[node]] = u32::try_from(block).ok();
                for (value, along) in features.row_mut(names[node]).iter_mut().zip(centre) {
                    #[expect(clippy::cast_possible_truncation, reason = "to f32")]
                    {
                        *value = (self.separation * along / length + normal(rng)) as f32;
                    }
                }
            }
        }
        let class_names = (0..self.blocks).map(|block| block.to_string()).collect();
        let graph = Graph::from_built(built.adjacency)
            .with_features(Features::dense(features)?)?
            .with_node_labels(Labels::new(&labels, class_names)?)?;
        Ok(GraphDataset::single(format!("SBM-{}", self.nodes), graph))
    }

    /// The nodes of a block, in the order of drawing.
    fn block(&self, block: usize) -> std::ops::Range<usize> {
        block * self.nodes / self.blocks..(block + 1) * self.nodes / self.blocks
    }

    /// Of an edge inside a block and of one between two.
    fn probabilities(&self) -> Result<(f64, f64)> {
        if !(1..=1000).contains(&self.blocks) || self.blocks > self.nodes {
            let requirement = "at least 1, at most 1,000 and the number of nodes";
            return Err(Error::parameter("blocks", self.blocks, requirement));
        }
        if self.nodes > MAX_NODES {
            return Err(Error::TooManyNodes {
                nodes: self.nodes as u64,
            });
        }
        if !(0.0..=1.0).contains(&self.inside) {
            return Err(Error::parameter("inside", self.inside, "from 0 to 1"));
        }
        if !self.separation.is_finite() {
            return Err(Error::parameter("separation", self.separation, "a finite number"));
        }
        let size = self.nodes as f64 / self.blocks as f64;
        let probability = |degree: f64, others: f64| match degree {
            0.0 => Some(0.0),
            degree if degree > 0.0 && degree <= others => Some(degree / others),
            _ => None,
        };
        let inside = probability(self.degree * self.inside, size - 1.0);
        let outside = probability(self.degree * (1.0 - self.inside), self.nodes as f64 - size);
        inside.zip(outside).ok_or_else(|| {
            Error::parameter(
                "degree",
                self.degree,
                format!(
                    "a node has {:.0} others in its block and {:.0} outside",
                    size - 1.0,
                    self.nodes as f64 - size
                ),
            )
        })
    }
}

/// Calls `hit` for each of `count` trials that succeeds, skipping from one to
/// the next: the gaps are geometric.
fn for_each_hit(count: u64, probability: f64, rng: &mut impl Rng, mut hit: impl FnMut(u64)) {
    if probability <= 0.0 {
        return;
    }
    let mut at = 0u64;
    loop {
        if probability < 1.0 {
            // 1 - u is in (0, 1].
            let gap = (1.0 - draw::unit(rng)).ln() / (-probability).ln_1p();
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "saturates"
            )]
            let gap = gap as u64;
            at = at.saturating_add(gap);
        }
        if at >= count {
            return;
        }
        hit(at);
        at += 1;
    }
}

/// The `pair`-th of the pairs (a, b) with a > b >= 0, a ascending.
fn triangle(pair: u64) -> (usize, usize) {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a first guess, mended below"
    )]
    let mut a = ((0.25 + 2.0 * pair as f64).sqrt() + 0.5) as u64;
    while a * (a - 1) / 2 > pair {
        a -= 1;
    }
    while a * (a + 1) / 2 <= pair {
        a += 1;
    }
    (as_index(a), as_index(pair - a * (a - 1) / 2))
}

fn as_index(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

fn normal(rng: &mut impl Rng) -> f64 {
    StandardNormal.sample(rng)
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    #[test]
    fn pairs_are_numbered_without_gaps() {
        let mut expected = 0;
        for a in 1..200 {
            for b in 0..a {
                assert_eq!(triangle(expected), (a, b));
                expected += 1;
            }
        }
        let far = u64::from(u32::MAX);
        let (a, b) = triangle(far * (far - 1) / 2 - 1);
        assert_eq!((a as u64, b as u64), (far - 1, far - 2));
    }

    #[test]
    fn edges_fall_inside_and_outside_as_asked() {
        let model = BlockModel {
            nodes: 5000,
            blocks: 7,
            ..BlockModel::default()
        };
        let dataset = model.generate(&mut ChaCha8Rng::seed_from_u64(5)).unwrap();
        let labels = dataset.node_labels().unwrap();
        let graph = dataset.graph(0).unwrap();
        let inside = graph
            .edges()
            .filter(|(a, b)| labels.get(*a) == labels.get(*b))
            .count();
        let total = dataset.edge_count();
        // Six standard deviations of 50,000 and of its share.
        assert!(total.abs_diff(50_000) < 1350, "{total}");
        assert_abs_diff_eq!(inside as f64 / total as f64, 0.7, epsilon = 0.013);
        assert!(labels.class_sizes().iter().all(|size| (714..=715).contains(size)));
        assert_eq!(dataset.notes().self_loops, 0);
    }

    #[test]
    fn probabilities_of_0_and_1_are_accepted_and_others_refused() {
        let rng = &mut ChaCha8Rng::seed_from_u64(5);
        let complete = BlockModel {
            nodes: 6,
            blocks: 1,
            degree: 5.0,
            inside: 1.0,
            features: 0,
            separation: 0.0,
        };
        assert_eq!(complete.generate(rng).unwrap().edge_count(), 15);
        let empty = BlockModel {
            degree: 0.0,
            ..complete
        };
        assert_eq!(empty.generate(rng).unwrap().edge_count(), 0);
        for bad in [
            BlockModel {
                degree: 6.0,
                ..complete
            },
            BlockModel {
                degree: f64::NAN,
                ..complete
            },
            BlockModel {
                blocks: 0,
                ..complete
            },
            BlockModel {
                blocks: 7,
                ..complete
            },
            BlockModel {
                inside: 1.5,
                ..complete
            },
            BlockModel {
                nodes: MAX_NODES + 1,
                ..complete
            },
        ] {
            assert!(bad.generate(rng).is_err(), "{bad:?}");
        }
    }
}
