//! One score per node: `x w`, as one operation.

use candle_core::backend::BackendStorage;
use candle_core::{CpuStorage, CustomOp2, Layout, Result, Shape, Tensor, WithDType};
use egg_nn::blocks::{map, map_chunks};
use egg_nn::numbers::{in_order, with_values};

use super::element::{Element, for_element};

/// Rows that one task takes; also the rows of one term of a sum.
const ROWS: usize = 256;

/// `x w` for `x` (n x m) and `w` (m numbers, in any shape): n x 1.
pub(super) fn project(x: &Tensor, w: &Tensor) -> Result<Tensor> {
    let width = x.dims2()?.1;
    if w.elem_count() != width {
        candle_core::bail!("{width} columns can't be weighed with {} weights", w.elem_count());
    }
    x.apply_op2(w, Project)
}

/// `sum(a o b)`, in an order that vectors like.
#[inline(always)]
pub(super) fn dot<T: Element>(a: &[T], b: &[T]) -> T {
    const LANES: usize = 8;
    let mut sums = [T::default(); LANES];
    let (a_lanes, b_lanes) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest = a_lanes.remainder().iter().zip(b_lanes.remainder());
    let mut sum = rest.fold(T::default(), |sum, (a, b)| sum + *a * *b);
    for (a, b) in a_lanes.zip(b_lanes) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    for lane in sums {
        sum += lane;
    }
    sum
}

struct Project;

fn forward<T: Element>(x: &[T], w: &[T], rows: usize) -> Vec<T> {
    let width = w.len();
    let mut out = vec![T::default(); rows];
    map_chunks(&mut out, ROWS, |block, out| {
        let x = &x[block * ROWS * width..];
        for (row, out) in out.iter_mut().enumerate() {
            *out = dot(&x[row * width..(row + 1) * width], w);
        }
    });
    out
}

/// `g w^T`, the gradient of `x`.
fn outer<T: Element>(g: &[T], w: &[T]) -> Vec<T> {
    let width = w.len();
    let mut out = vec![T::default(); g.len() * width];
    map_chunks(&mut out, ROWS * width, |block, out| {
        for (out, g) in out.chunks_exact_mut(width.max(1)).zip(&g[block * ROWS..]) {
            out.iter_mut().zip(w).for_each(|(out, w)| *out = *g * *w);
        }
    });
    out
}

/// `x^T g`, the gradient of `w`.
fn weighted_sum<T: Element>(x: &[T], g: &[T], width: usize) -> Vec<T> {
    let add = |sums: &mut [T], row: &[T], g: T| {
        sums.iter_mut().zip(row).for_each(|(sum, x)| *sum += g * *x);
    };
    let partial = map(x, ROWS * width, |block, x| {
        let mut sums = vec![T::default(); width];
        for (row, g) in x.chunks_exact(width.max(1)).zip(&g[block * ROWS..]) {
            add(&mut sums, row, *g);
        }
        sums
    });
    let mut sums = vec![T::default(); width];
    for partial in &partial {
        sums.iter_mut().zip(partial).for_each(|(sum, x)| *sum += *x);
    }
    sums
}

impl CustomOp2 for Project {
    fn name(&self) -> &'static str {
        "egg-pool-project"
    }

    fn cpu_fwd(
        &self,
        x: &CpuStorage,
        x_layout: &Layout,
        w: &CpuStorage,
        w_layout: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        let rows = x_layout.shape().dims2()?.0;
        let out = for_element!(x.dtype(), T => {
            let out = forward(&in_order::<T>(x, x_layout)?, &in_order::<T>(w, w_layout)?, rows);
            Ok(<T as WithDType>::to_cpu_storage_owned(out))
        })?;
        Ok((out, (rows, 1).into()))
    }

    fn bwd(
        &self,
        x: &Tensor,
        w: &Tensor,
        _: &Tensor,
        g: &Tensor,
    ) -> Result<(Option<Tensor>, Option<Tensor>)> {
        let width = w.elem_count();
        for_element!(x.dtype(), T => with_values::<T, _>(g, |g| {
            let dx = match x.track_op() {
                false => None,
                true => {
                    let dx = with_values::<T, _>(w, |w| Ok(outer(g, w)))?;
                    Some(Tensor::from_vec(dx, x.shape(), x.device())?)
                }
            };
            let dw = with_values::<T, _>(x, |x| Ok(weighted_sum(x, g, width)))?;
            Ok((dx, Some(Tensor::from_vec(dw, w.shape(), w.device())?)))
        }))
    }
}
