//! One score per node: `x w`, as one operation.

use candle_core::Result;
use egg_tensor::blocks::{map, map_chunks};
use egg_tensor::sums::sum_in_order;
use egg_tensor::{Backward, Element, Forward, Operand, Operation, Tracked, apply};

/// Rows that one task takes; also the rows of one term of a sum.
const ROWS: usize = 256;

/// `x w` for `x` (n x m) and `w` (m numbers, in any shape): n x 1.
pub(super) fn project(x: impl Into<Tracked>, w: impl Into<Tracked>) -> Result<Tracked> {
    let (x, w) = (x.into(), w.into());
    let width = x.dims2()?.1;
    if w.elem_count() != width {
        candle_core::bail!("{width} columns can't be weighed with {} weights", w.elem_count());
    }
    apply(Project, [x, w])
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
    sum_in_order(&partial, width)
}

impl<T: Element> Operation<T, 2> for Project {
    type Saved = ();
    type Error = candle_core::Error;

    fn name(&self) -> &'static str {
        "egg-pool-project"
    }

    fn forward(&self, [x, w]: [Operand<'_, T>; 2]) -> Result<Forward<T>> {
        let (rows, _) = x.dims2()?;
        Ok(Forward::new(forward(&x, &w, rows), (rows, 1)))
    }

    fn backward(&self, of: Backward<'_, T, (), 2>) -> Result<[Option<Vec<T>>; 2]> {
        let ([x, w], g) = (of.inputs, of.gradient);
        let dx = of.wanted[0].then(|| outer(g, &w));
        Ok([dx, Some(weighted_sum(&x, g, w.len()))])
    }
}
