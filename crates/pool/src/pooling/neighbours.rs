//! The sum over a node's neighbours, every edge counting once.

use candle_core::Result;
use egg_tensor::blocks::map_chunks;
use egg_tensor::{Backward, Element, Forward, Operand, Operation, Tracked, apply};

use crate::structure::Structure;

/// Numbers that one task makes.
const ROWS: usize = 1024;

/// For each node the sum of its neighbours' numbers: n x 1 -> n x 1.
pub(super) fn sum_of_neighbours(x: Tracked, structure: &Structure) -> Result<Tracked> {
    apply(Neighbours(structure.clone()), [x])
}

/// The same on slices.
pub(super) fn summed<T: Element>(x: &[T], structure: &Structure) -> Vec<T> {
    let adjacency = structure.adjacency();
    let (offsets, columns) = (adjacency.offsets(), adjacency.columns());
    let mut out = vec![T::default(); x.len()];
    map_chunks(&mut out, ROWS, |block, out| {
        for (out, bounds) in out.iter_mut().zip(offsets[block * ROWS..].windows(2)) {
            for column in &columns[bounds[0]..bounds[1]] {
                *out += x[*column as usize];
            }
        }
    });
    out
}

struct Neighbours(Structure);

impl<T: Element> Operation<T, 1> for Neighbours {
    type Saved = ();
    type Error = candle_core::Error;

    fn name(&self) -> &'static str {
        "egg-pool-neighbours"
    }

    fn forward(&self, [x]: [Operand<'_, T>; 1]) -> Result<Forward<T>> {
        Ok(Forward::new(summed(&x, &self.0), x.dims))
    }

    // The graph is undirected: the matrix is its own transpose.
    fn backward(&self, of: Backward<'_, T, (), 1>) -> Result<[Option<Vec<T>>; 1]> {
        Ok([Some(summed(of.gradient, &self.0))])
    }
}
