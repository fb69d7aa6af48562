//! Graphs one after the other in flat arrays: what [`crate::Graph`],
//! [`crate::GraphDataset`] and [`crate::GraphBatch`] have in common.
//!
//! Flat, because a data set has up to a hundred thousand small graphs: a batch
//! is then a handful of copies, and a cache file a handful of reads.

use std::ops::Range;

use ndarray::{Array2, Axis};

use crate::adjacency::{self, MAX_NODES};
use crate::error::{Error, Result};
use crate::features::Features;
use crate::labels::Labels;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Store {
    /// Where each graph's nodes begin, and the end: one more than graphs.
    pub(crate) nodes: Vec<usize>,
    /// Where each node's neighbours begin, and the end: one more than nodes.
    pub(crate) offsets: Vec<usize>,
    /// Ids within the graph, or, in a batch, within the batch.
    pub(crate) neighbours: Vec<u32>,
    /// One per entry of `neighbours`, the same in both directions.
    pub(crate) weights: Option<Vec<f32>>,
    /// One row per entry of `neighbours`, the same in both directions.
    pub(crate) attributes: Option<Array2<f32>>,
    pub(crate) features: Features,
    pub(crate) labels: Option<Labels>,
}

impl Store {
    /// Only the structure, already checked.
    pub(crate) fn bare(nodes: Vec<usize>, offsets: Vec<usize>, neighbours: Vec<u32>) -> Self {
        let features = Features::none(offsets.len() - 1);
        Self {
            nodes,
            offsets,
            neighbours,
            weights: None,
            attributes: None,
            features,
            labels: None,
        }
    }

    pub(crate) fn graph_count(&self) -> usize {
        self.nodes.len() - 1
    }

    pub(crate) fn node_count(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The nodes of a graph; `index` must be in range.
    pub(crate) fn node_range(&self, graph: usize) -> Range<usize> {
        self.nodes[graph]..self.nodes[graph + 1]
    }

    /// The entries of a graph; `index` must be in range.
    pub(crate) fn entry_range(&self, graph: usize) -> Range<usize> {
        self.offsets[self.nodes[graph]]..self.offsets[self.nodes[graph + 1]]
    }

    /// Edges and self loops of a graph that is there, with local ids.
    pub(crate) fn edge_counts(&self, graph: usize) -> (usize, usize) {
        let range = self.node_range(graph);
        let loops = (0u32..)
            .zip(range)
            .filter(|(id, node)| {
                let row = &self.neighbours[self.offsets[*node]..self.offsets[node + 1]];
                row.binary_search(id).is_ok()
            })
            .count();
        ((self.entry_range(graph).len() - loops) / 2, loops)
    }

    /// Checks everything that a file could have got wrong.
    pub(crate) fn check(&self) -> Result<()> {
        if self.nodes.first() != Some(&0) {
            return Err(Error::Length {
                what: "graph positions",
                unit: "at the start",
                expected: 0,
                found: self.nodes.first().copied().unwrap_or(usize::MAX),
            });
        }
        adjacency::check_offsets("graph positions", &self.nodes, self.node_count())?;
        if self.node_count() > MAX_NODES {
            return Err(Error::TooManyNodes {
                nodes: self.node_count() as u64,
            });
        }
        // A part of a larger array may begin elsewhere, but this is all of it.
        if adjacency::check_offsets("adjacency", &self.offsets, self.neighbours.len())? != 0 {
            return Err(Error::Rows {
                what: "adjacency",
                row: 0,
                problem: "the first position must be 0".into(),
            });
        }
        for graph in 0..self.graph_count() {
            let range = self.node_range(graph);
            adjacency::check(
                &self.offsets[range.start..=range.end],
                &self.neighbours[self.entry_range(graph)],
            )?;
        }
        self.check_rows("features", self.features.rows(), self.node_count())?;
        self.features.check_width()?;
        if let Some(labels) = &self.labels {
            self.check_rows("node labels", labels.len(), self.node_count())?;
        }
        if let Some(weights) = &self.weights {
            self.check_rows("edge weights", weights.len(), self.neighbours.len())?;
            if let Some((row, value)) = weights.iter().enumerate().find(|(_, value)| !value.is_finite()) {
                return Err(Error::NonFinite {
                    what: "edge weights",
                    row,
                    column: 0,
                    value: *value,
                });
            }
            self.check_symmetric("edge weights", |a, b| weights[a] == weights[b])?;
        }
        if let Some(attributes) = &self.attributes {
            self.check_rows("edge attributes", attributes.nrows(), self.neighbours.len())?;
            if let Some(((row, column), value)) =
                attributes.indexed_iter().find(|(_, value)| !value.is_finite())
            {
                return Err(Error::NonFinite {
                    what: "edge attributes",
                    row,
                    column,
                    value: *value,
                });
            }
            self.check_symmetric("edge attributes", |a, b| attributes.row(a) == attributes.row(b))?;
        }
        Ok(())
    }

    fn check_rows(&self, what: &'static str, found: usize, expected: usize) -> Result<()> {
        if found == expected {
            return Ok(());
        }
        Err(Error::Length {
            what,
            unit: "rows",
            expected,
            found,
        })
    }

    /// Checks that an edge says the same in both directions; the adjacency is
    /// known to be right.
    fn check_symmetric(&self, what: &'static str, same: impl Fn(usize, usize) -> bool) -> Result<()> {
        let mut cursors = self.offsets.clone();
        for graph in 0..self.graph_count() {
            let nodes = self.node_range(graph);
            for node in nodes.clone() {
                for entry in self.offsets[node]..self.offsets[node + 1] {
                    let cursor = &mut cursors[nodes.start + self.neighbours[entry] as usize];
                    if !same(entry, *cursor) {
                        return Err(Error::Rows {
                            what,
                            row: entry,
                            problem: format!(
                                "the edge between nodes {} and {} of graph {graph} differs from its other direction",
                                node - nodes.start,
                                self.neighbours[entry],
                            ),
                        });
                    }
                    *cursor += 1;
                }
            }
        }
        Ok(())
    }

    /// The same without some edges: `unwanted` is asked with the smaller id of
    /// an edge first.
    pub(crate) fn without_edges(mut self, unwanted: impl Fn(usize, usize) -> bool) -> Self {
        let mut kept = Vec::with_capacity(self.neighbours.len());
        let mut offsets = Vec::with_capacity(self.offsets.len());
        offsets.push(0);
        for graph in 0..self.graph_count() {
            for (id, node) in self.node_range(graph).enumerate() {
                kept.extend((self.offsets[node]..self.offsets[node + 1]).filter(|entry| {
                    let other = self.neighbours[*entry] as usize;
                    !unwanted(id.min(other), id.max(other))
                }));
                offsets.push(kept.len());
            }
        }
        self.offsets = offsets;
        self.neighbours = kept.iter().map(|entry| self.neighbours[*entry]).collect();
        self.weights = self
            .weights
            .map(|all| kept.iter().map(|entry| all[*entry]).collect());
        self.attributes = self.attributes.map(|all| all.select(Axis(0), &kept));
        self
    }

    /// Some graphs, in the order asked for; the indices must be in range. With
    /// `block_diagonal`, ids become positions in the result.
    pub(crate) fn gather(&self, graphs: &[usize], block_diagonal: bool) -> Self {
        let ranges: Vec<Range<usize>> = graphs.iter().map(|graph| self.node_range(*graph)).collect();
        let total_nodes: usize = ranges.iter().map(ExactSizeIterator::len).sum();
        let total_entries: usize = graphs.iter().map(|graph| self.entry_range(*graph).len()).sum();
        let mut nodes = Vec::with_capacity(graphs.len() + 1);
        let mut offsets = Vec::with_capacity(total_nodes + 1);
        let mut neighbours = Vec::with_capacity(total_entries);
        let mut weights = self.weights.as_ref().map(|_| Vec::with_capacity(total_entries));
        nodes.push(0);
        for (graph, range) in graphs.iter().zip(&ranges) {
            let entries = self.entry_range(*graph);
            let (first, done) = (offsets.len(), neighbours.len());
            let positions = &self.offsets[range.clone()];
            offsets.extend(positions.iter().map(|position| position - entries.start + done));
            let ids = &self.neighbours[entries.clone()];
            if block_diagonal {
                #[expect(clippy::cast_possible_truncation, reason = "the caller checks MAX_NODES")]
                neighbours.extend(ids.iter().map(|id| id + first as u32));
            } else {
                neighbours.extend_from_slice(ids);
            }
            if let (Some(all), Some(chosen)) = (&self.weights, &mut weights) {
                chosen.extend_from_slice(&all[entries]);
            }
            nodes.push(offsets.len());
        }
        offsets.push(neighbours.len());
        let attributes = self.attributes.as_ref().map(|all| {
            let entries = graphs.iter().flat_map(|graph| self.entry_range(*graph));
            all.select(Axis(0), &entries.collect::<Vec<_>>())
        });
        let labels = self.labels.as_ref();
        let labels = labels.map(|all| all.select(ranges.iter().cloned().flatten()));
        Self {
            nodes,
            offsets,
            neighbours,
            weights,
            attributes,
            features: self.features.gather(&ranges),
            labels,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_must_start_at_zero() {
        let good = Store::bare(vec![0, 2], vec![0, 1, 2], vec![1, 0]);
        assert!(good.check().is_ok());
        for bad in [
            Store {
                offsets: vec![5, 6, 7],
                ..good.clone()
            },
            Store {
                offsets: vec![usize::MAX - 2, usize::MAX - 1, usize::MAX],
                ..good.clone()
            },
            Store {
                nodes: vec![1, 3],
                ..good.clone()
            },
            Store {
                nodes: vec![0, 1],
                ..good.clone()
            },
            Store {
                nodes: vec![0, usize::MAX],
                ..good.clone()
            },
            Store {
                nodes: vec![0, 3, 2],
                ..good.clone()
            },
            Store {
                neighbours: vec![u32::MAX, 0],
                ..good.clone()
            },
            Store {
                weights: Some(vec![1.0]),
                ..good.clone()
            },
            Store {
                weights: Some(vec![1.0, 2.0]),
                ..good.clone()
            },
            Store {
                weights: Some(vec![f32::NAN; 2]),
                ..good.clone()
            },
            Store {
                attributes: Some(ndarray::array![[1.0], [2.0]]),
                ..good.clone()
            },
            Store {
                features: Features::none(3),
                ..good.clone()
            },
        ] {
            assert!(bad.check().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn excessive_width_is_refused_before_allocation() {
        use crate::features::MAX_FEATURES;
        use crate::sparse::CsrMatrix;
        let wide = |width| CsrMatrix::new(vec![0], vec![], vec![], width);
        assert!(wide(usize::MAX).is_err());
        let empty = Store::bare(vec![0, 0], vec![0], vec![]);
        for (width, accepted) in [(MAX_FEATURES, true), (MAX_FEATURES + 1, false)] {
            let sparse = Features::sparse(wide(width).unwrap());
            let dense = Features::dense(Array2::zeros((0, width))).unwrap();
            for features in [sparse, dense] {
                let store = Store {
                    features,
                    ..empty.clone()
                };
                assert_eq!(store.check().is_ok(), accepted, "{width}");
            }
        }
    }
}
