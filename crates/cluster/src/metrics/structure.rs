//! Measures of a partition by the edges of its graph; no classes needed.

use egg_graph::Graph;

use super::contingency::numbered;
use crate::error::{Error, Result};

/// The edges of a graph, counted by cluster.
///
/// ```
/// use egg_cluster::metrics::Cut;
/// use egg_graph::Graph;
///
/// // Two triangles joined by an edge.
/// let graph = Graph::from_edges(6, &[(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (2, 3)])?;
/// let cut = Cut::new(&graph, &[0, 0, 0, 1, 1, 1])?;
/// assert!((cut.modularity()? - (6.0 / 7.0 - 0.5)).abs() < 1e-15);
/// assert!((cut.mean_conductance()? - 1.0 / 7.0).abs() < 1e-15);
/// # Ok::<(), egg_cluster::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Cut {
    /// The weight of the edges within each cluster, each edge once.
    inside: Vec<f64>,
    /// The degrees of each cluster's nodes, added up; a self loop counts twice.
    volume: Vec<f64>,
    /// The weight of the edges that leave each cluster.
    leaving: Vec<f64>,
}

impl Cut {
    /// Counts the edges, by weight if they have any, for a clustering of the
    /// nodes. Labels may be any numbers.
    ///
    /// # Complexity
    /// Linear in nodes and edges.
    ///
    /// # Errors
    /// [`Error::Length`] if there is not one label per node, [`Error::Empty`]
    /// for a graph without nodes, [`Error::Undefined`] for a negative weight.
    pub fn new(graph: &Graph, clusters: &[u32]) -> Result<Self> {
        let nodes = graph.node_count();
        if clusters.len() != nodes {
            return Err(Error::Length {
                what: "clustering",
                unit: "labels",
                expected: nodes,
                found: clusters.len(),
            });
        }
        if nodes == 0 {
            return Err(Error::Empty { what: "graph" });
        }
        let weights = graph.edge_weights();
        if weights.is_some_and(|weights| weights.iter().any(|weight| *weight < 0.0)) {
            return Err(Error::Undefined {
                measure: "a cut",
                reason: "an edge has a negative weight",
            });
        }
        let (clusters, sizes) = numbered(clusters);
        let count = sizes.len();
        let (mut inside, mut volume, mut leaving) = (vec![0.0; count], vec![0.0; count], vec![0.0; count]);
        for (node, bounds) in graph.offsets().windows(2).enumerate() {
            let own = clusters[node] as usize;
            for entry in bounds[0]..bounds[1] {
                let other = graph.entries()[entry] as usize;
                let weight = weights.map_or(1.0, |weights| f64::from(weights[entry]));
                if other == node {
                    // Stored once; every other edge is stored from both nodes.
                    volume[own] += 2.0 * weight;
                    inside[own] += weight;
                } else {
                    volume[own] += weight;
                    if clusters[other] as usize == own {
                        inside[own] += 0.5 * weight;
                    } else {
                        leaving[own] += weight;
                    }
                }
            }
        }
        Ok(Self {
            inside,
            volume,
            leaving,
        })
    }

    /// Newman's modularity, `sum_c (L_c / m - (vol_c / 2m)^2)`, as in NetworkX.
    ///
    /// # Errors
    /// [`Error::Undefined`] for a graph without edges.
    pub fn modularity(&self) -> Result<f64> {
        self.modularity_at(1.0)
    }

    /// Modularity at a resolution gamma: `sum_c (L_c / m - gamma (vol_c / 2m)^2)`.
    ///
    /// # Errors
    /// As [`Self::modularity`].
    pub fn modularity_at(&self, resolution: f64) -> Result<f64> {
        let twice: f64 = self.volume.iter().sum();
        if twice == 0.0 {
            return Err(Error::Undefined {
                measure: "modularity",
                reason: "the graph has no edges",
            });
        }
        let parts = self.inside.iter().zip(&self.volume);
        Ok(parts
            .map(|(inside, volume)| 2.0 * inside / twice - resolution * (volume / twice).powi(2))
            .sum())
    }

    /// The conductance of each cluster that occurs, in ascending order of its
    /// label: the weight of the edges that leave it over the smaller of its
    /// volume and the rest's, as in NetworkX. `None` where that is 0, as for
    /// the only cluster and for isolated nodes.
    ///
    /// ```
    /// use egg_cluster::metrics::Cut;
    /// use egg_graph::Graph;
    /// let cut = Cut::new(&Graph::from_edges(3, &[(0, 1)])?, &[0, 1, 2])?;
    /// assert_eq!(cut.conductances(), [Some(1.0), Some(1.0), None]);
    /// # Ok::<(), egg_cluster::Error>(())
    /// ```
    pub fn conductances(&self) -> Vec<Option<f64>> {
        // The rest added up, not subtracted: nothing cancels.
        let mut before: Vec<f64> = Vec::with_capacity(self.volume.len());
        let mut sum = 0.0;
        for volume in &self.volume {
            before.push(sum);
            sum += volume;
        }
        let mut after = 0.0;
        let mut conductances: Vec<Option<f64>> = (0..self.volume.len())
            .rev()
            .map(|cluster| {
                let rest = before[cluster] + after;
                after += self.volume[cluster];
                let smaller = self.volume[cluster].min(rest);
                (smaller > 0.0).then(|| self.leaving[cluster] / smaller)
            })
            .collect();
        conductances.reverse();
        conductances
    }

    /// The mean of the conductances that are defined.
    ///
    /// # Errors
    /// [`Error::Undefined`] if none is.
    pub fn mean_conductance(&self) -> Result<f64> {
        let defined: Vec<f64> = self.conductances().into_iter().flatten().collect();
        if defined.is_empty() {
            return Err(Error::Undefined {
                measure: "conductance",
                reason: "no cluster and its rest both have edges: there must be at least two that do",
            });
        }
        Ok(defined.iter().sum::<f64>() / defined.len() as f64)
    }
}
