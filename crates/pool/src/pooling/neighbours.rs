//! The sum over a node's neighbours, every edge counting once.

use candle_core::backend::BackendStorage;
use candle_core::{CpuStorage, CustomOp1, Layout, Result, Shape, Tensor, WithDType};
use egg_nn::blocks::map_chunks;
use egg_nn::numbers::{in_order, with_values};

use super::element::{Element, for_element};
use crate::structure::Structure;

/// Numbers that one task makes.
const ROWS: usize = 1024;

/// For each node the sum of its neighbours' numbers: n x 1 -> n x 1.
pub(super) fn sum_of_neighbours(x: &Tensor, structure: &Structure) -> Result<Tensor> {
    x.apply_op1(Neighbours(structure.clone()))
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

impl CustomOp1 for Neighbours {
    fn name(&self) -> &'static str {
        "egg-pool-neighbours"
    }

    fn cpu_fwd(&self, x: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let out = for_element!(x.dtype(), T => {
            let out = summed(&in_order::<T>(x, layout)?, &self.0);
            Ok(<T as WithDType>::to_cpu_storage_owned(out))
        })?;
        Ok((out, layout.shape().clone()))
    }

    // The graph is undirected: the matrix is its own transpose.
    fn bwd(&self, x: &Tensor, _: &Tensor, g: &Tensor) -> Result<Option<Tensor>> {
        for_element!(x.dtype(), T => {
            let dx = with_values::<T, _>(g, |g| Ok(summed(g, &self.0)))?;
            Ok(Some(Tensor::from_vec(dx, x.shape(), x.device())?))
        })
    }
}
