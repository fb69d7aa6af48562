//! The kernels of segment operations, on slices in row-major order.
//!
//! Each segment is processed by one thread, in the order of its rows.

use egg_tensor::Element;
use egg_tensor::blocks::share;

/// Segments are processed in groups of at least this many numbers.
const GROUP: usize = 1 << 12;

/// How an output is divided among segments.
#[derive(Clone, Copy)]
enum Place {
    /// One row per segment.
    Segment,
    /// The segment's own rows.
    Rows,
}

/// Runs `work(segment, its part of out)` for every segment; groups of segments are divided among
/// the threads.
fn each<T: Send>(
    offsets: &[usize],
    width: usize,
    place: Place,
    out: &mut [T],
    work: &(impl Fn(usize, &mut [T]) + Sync),
) {
    let at = |segment: usize| match place {
        Place::Segment => segment * width,
        Place::Rows => offsets[segment] * width,
    };
    let count = offsets.len() - 1;
    let (mut groups, mut rest, mut start) = (Vec::new(), out, 0);
    while start < count {
        let mut end = start + 1;
        while end < count && (offsets[end] - offsets[start]) * width < GROUP {
            end += 1;
        }
        let (part, after) = rest.split_at_mut(at(end) - at(start));
        groups.push((start..end, part));
        (rest, start) = (after, end);
    }
    share(
        offsets[count] * width,
        groups.into_iter(),
        |_, (segments, mut part)| {
            for segment in segments {
                let (own, after) = part.split_at_mut(at(segment + 1) - at(segment));
                work(segment, own);
                part = after;
            }
        },
    );
}

/// The rows of a segment, as slices.
fn rows<'a, T>(
    x: &'a [T],
    offsets: &[usize],
    segment: usize,
    width: usize,
) -> std::slice::ChunksExact<'a, T> {
    // Without columns there is nothing to visit; chunks of 0 are not allowed.
    x[offsets[segment] * width..offsets[segment + 1] * width].chunks_exact(width.max(1))
}

/// The sum or the mean of each segment.
pub(crate) fn sum<T: Element>(x: &[T], offsets: &[usize], width: usize, mean: bool) -> Vec<T> {
    let mut out = vec![T::zero(); (offsets.len() - 1) * width];
    each(offsets, width, Place::Segment, &mut out, &|segment, out| {
        let rows = rows(x, offsets, segment, width);
        let share = T::from_f64(1.0 / rows.len().max(1) as f64);
        for row in rows {
            out.iter_mut().zip(row).for_each(|(sum, &v)| *sum += v);
        }
        if mean {
            out.iter_mut().for_each(|sum| *sum *= share);
        }
    });
    out
}

/// The maximum of each segment and column, and the first row that has it.
pub(crate) fn max<T: Element>(x: &[T], offsets: &[usize], width: usize) -> (Vec<T>, Vec<usize>) {
    let count = (offsets.len() - 1) * width;
    let mut pairs = vec![(T::zero(), usize::MAX); count];
    each(offsets, width, Place::Segment, &mut pairs, &|segment, out| {
        for (index, row) in (offsets[segment]..).zip(rows(x, offsets, segment, width)) {
            for (best, &v) in out.iter_mut().zip(row) {
                // `v != v`: the first NaN wins, and nothing is above it.
                #[expect(clippy::eq_op, reason = "only a NaN differs from itself")]
                if best.1 == usize::MAX || v > best.0 || (v != v && best.0 == best.0) {
                    *best = (v, index);
                }
            }
        }
    });
    pairs.into_iter().unzip()
}

/// Which rows of a segment get its gradient.
#[derive(Clone, Copy)]
pub(crate) enum Spread<'a> {
    /// Each row all of it.
    Whole,
    /// Each row an equal share.
    Evenly,
    /// In each column one row, whose index is listed.
    To(&'a [usize]),
}

/// The gradient of each row, from the gradient `g` of each segment.
pub(crate) fn spread<T: Element>(g: &[T], offsets: &[usize], width: usize, how: Spread<'_>) -> Vec<T> {
    let mut out = vec![T::zero(); offsets[offsets.len() - 1] * width];
    each(offsets, width, Place::Rows, &mut out, &|segment, out| {
        let first = offsets[segment];
        let count = offsets[segment + 1] - first;
        let columns = segment * width..(segment + 1) * width;
        let g = &g[columns.clone()];
        match how {
            Spread::Whole => {
                for row in out.chunks_exact_mut(width.max(1)) {
                    row.copy_from_slice(g);
                }
            }
            Spread::Evenly => {
                let share = T::from_f64(1.0 / count.max(1) as f64);
                for row in out.chunks_exact_mut(width.max(1)) {
                    row.iter_mut().zip(g).for_each(|(out, &g)| *out = g * share);
                }
            }
            Spread::To(_) if count == 0 => {}
            Spread::To(winners) => {
                for (column, (&row, &g)) in winners[columns].iter().zip(g).enumerate() {
                    out[(row - first) * width + column] = g;
                }
            }
        }
    });
    out
}

/// Softmax over the rows of each segment, column by column.
pub(crate) fn softmax<T: Element>(x: &[T], offsets: &[usize], width: usize) -> Vec<T> {
    let mut out = vec![T::zero(); x.len()];
    each(offsets, width, Place::Rows, &mut out, &|segment, out| {
        let mut most = vec![T::NEGATIVE_INFINITY; width];
        for row in rows(x, offsets, segment, width) {
            for (most, &v) in most.iter_mut().zip(row) {
                *most = if v > *most { v } else { *most };
            }
        }
        let mut total = vec![T::zero(); width];
        for (out, row) in out
            .chunks_exact_mut(width.max(1))
            .zip(rows(x, offsets, segment, width))
        {
            let columns = most.iter().zip(&mut total);
            for ((out, &v), (&most, total)) in out.iter_mut().zip(row).zip(columns) {
                *out = (v - most).exp();
                *total += *out;
            }
        }
        for out in out.chunks_exact_mut(width.max(1)) {
            out.iter_mut().zip(&total).for_each(|(out, &total)| *out /= total);
        }
    });
    out
}

/// `y (g - sum g y)`, the sum over the rows of each segment.
pub(crate) fn softmax_backward<T: Element>(y: &[T], g: &[T], offsets: &[usize], width: usize) -> Vec<T> {
    let mut out = vec![T::zero(); y.len()];
    each(offsets, width, Place::Rows, &mut out, &|segment, out| {
        let pairs = || rows(y, offsets, segment, width).zip(rows(g, offsets, segment, width));
        let mut total = vec![T::zero(); width];
        for (y, g) in pairs() {
            for (total, (&y, &g)) in total.iter_mut().zip(y.iter().zip(g)) {
                *total += y * g;
            }
        }
        for (out, (y, g)) in out.chunks_exact_mut(width.max(1)).zip(pairs()) {
            for ((out, &total), (&y, &g)) in out.iter_mut().zip(&total).zip(y.iter().zip(g)) {
                *out = y * (g - total);
            }
        }
    });
    out
}
