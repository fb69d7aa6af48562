//! The kernels of batch normalisation, on slices in row-major order.

use crate::blocks::{map, map_chunks, rows_in_cache};
use crate::element::Element;
use crate::relu::{gated, rectified};

/// Mean and biased variance of each column.
#[derive(Debug, Clone)]
pub(crate) struct Moments {
    pub(crate) mean: Vec<f64>,
    pub(crate) variance: Vec<f64>,
}

impl Moments {
    pub(crate) fn new<T: Element>(mean: &[T], variance: &[T]) -> Self {
        Self {
            mean: mean.iter().map(|v| v.to_f64()).collect(),
            variance: variance.iter().map(|v| v.to_f64()).collect(),
        }
    }

    fn mean_as<T: Element>(&self) -> Vec<T> {
        self.mean.iter().map(|&v| T::from_f64(v)).collect()
    }

    /// `1 / sqrt(variance + epsilon)`.
    fn inverse_deviation(&self, epsilon: f64) -> impl Iterator<Item = f64> {
        self.variance.iter().map(move |v| 1.0 / (v + epsilon).sqrt())
    }
}

/// The moments of the `width` columns of `x`; zeros if it has no rows.
///
/// Each block, while in cache, gives its mean and the sum of squares about that
/// mean; blocks are merged in f64 by Chan's formula. No difference of large
/// numbers is formed, so a variance far below the squared mean is not lost.
pub(crate) fn moments<T: Element>(x: &[T], width: usize) -> Moments {
    let blocks = map(x, rows_in_cache(width) * width, |_, x| {
        let rows = x.len() / width;
        let mut mean = vec![T::zero(); width];
        for row in x.chunks_exact(width) {
            mean.iter_mut().zip(row).for_each(|(sum, &v)| *sum += v);
        }
        let share = T::from_f64(1.0 / rows as f64);
        mean.iter_mut().for_each(|m| *m *= share);
        let mut squares = vec![T::zero(); width];
        for row in x.chunks_exact(width) {
            for ((sum, &v), &m) in squares.iter_mut().zip(row).zip(&mean) {
                *sum += (v - m) * (v - m);
            }
        }
        (rows as f64, mean, squares)
    });
    let mut seen = 0.0;
    let mut total = Moments {
        mean: vec![0.0; width],
        variance: vec![0.0; width],
    };
    for (rows, mean, squares) in &blocks {
        let all = seen + rows;
        let columns = total.mean.iter_mut().zip(&mut total.variance);
        for ((mean_all, squares_all), (mean, squares)) in columns.zip(mean.iter().zip(squares)) {
            let apart = mean.to_f64() - *mean_all;
            *mean_all += apart * rows / all;
            *squares_all += squares.to_f64() + apart * apart * seen * rows / all;
        }
        seen = all;
    }
    if seen > 0.0 {
        total.variance.iter_mut().for_each(|v| *v /= seen);
    }
    total
}

/// `(x - mean) / sqrt(variance + epsilon) * weight + bias`, rectified if asked.
pub(crate) fn normalise<T: Element>(
    x: &[T],
    moments: &Moments,
    epsilon: f64,
    weight: &[T],
    bias: &[T],
    rectify: bool,
) -> Vec<T> {
    let width = weight.len();
    let mean = moments.mean_as::<T>();
    let scales = moments.inverse_deviation(epsilon).zip(weight);
    let scale: Vec<T> = scales.map(|(s, w)| T::from_f64(s * w.to_f64())).collect();
    let mut out = vec![T::zero(); x.len()];
    let chunk = rows_in_cache(width) * width;
    map_chunks(&mut out, chunk, |block, out| {
        let x = &x[block * chunk..][..out.len()];
        for (out, x) in out.chunks_exact_mut(width).zip(x.chunks_exact(width)) {
            let columns = mean.iter().zip(&scale).zip(bias);
            for ((out, &x), ((&m, &s), &b)) in out.iter_mut().zip(x).zip(columns) {
                let y = (x - m) * s + b;
                *out = if rectify { rectified(y) } else { y };
            }
        }
    });
    out
}

/// Gradients with respect to `x`, weight and bias, for moments of the batch
/// itself; `output` is the rectified result, if it was rectified.
///
/// With `z = (x - mean) / deviation` and n rows: `db = sum g`, `dw = sum g z`,
/// `dx = weight / deviation * (g - db / n - z dw / n)`.
pub(crate) fn backward<T: Element>(
    x: &[T],
    moments: &Moments,
    epsilon: f64,
    weight: &[T],
    output: Option<&[T]>,
    gradient: &[T],
) -> (Vec<T>, Vec<T>, Vec<T>) {
    let width = weight.len();
    let chunk = rows_in_cache(width) * width;
    let mean = moments.mean_as::<T>();
    let inverse: Vec<f64> = moments.inverse_deviation(epsilon).collect();

    // Sums of g and of g (x - mean) per block, then over blocks in f64.
    let blocks = map(x, chunk, |block, x| {
        let range = block * chunk..block * chunk + x.len();
        let gradient = &gradient[range.clone()];
        let mut plain = vec![T::zero(); width];
        let mut centred = vec![T::zero(); width];
        let mut add = |g: &mut dyn Iterator<Item = (&[T], &[T], Option<&[T]>)>| {
            for (x, g, y) in g {
                let sums = plain.iter_mut().zip(&mut centred).zip(&mean);
                match y {
                    None => {
                        for (((plain, centred), &m), (&x, &g)) in sums.zip(x.iter().zip(g)) {
                            *plain += g;
                            *centred += g * (x - m);
                        }
                    }
                    Some(y) => {
                        for (((plain, centred), &m), ((&x, &g), &y)) in sums.zip(x.iter().zip(g).zip(y)) {
                            let g = gated(g, y);
                            *plain += g;
                            *centred += g * (x - m);
                        }
                    }
                }
            }
        };
        let rows = x.chunks_exact(width).zip(gradient.chunks_exact(width));
        match output {
            None => add(&mut rows.map(|(x, g)| (x, g, None))),
            Some(y) => {
                let y = y[range].chunks_exact(width);
                add(&mut rows.zip(y).map(|((x, g), y)| (x, g, Some(y))));
            }
        }
        (plain, centred)
    });
    let mut db = vec![0.0; width];
    let mut dw = vec![0.0; width];
    for (plain, centred) in &blocks {
        db.iter_mut().zip(plain).for_each(|(sum, v)| *sum += v.to_f64());
        dw.iter_mut().zip(centred).for_each(|(sum, v)| *sum += v.to_f64());
    }
    dw.iter_mut()
        .zip(&inverse)
        .for_each(|(dw, inverse)| *dw *= inverse);

    // dx = front (g - shift - (x - mean) slope), column by column.
    let n = (x.len() / width).max(1) as f64;
    let column =
        |value: &dyn Fn(usize) -> f64| -> Vec<T> { (0..width).map(|c| T::from_f64(value(c))).collect() };
    let front = column(&|c| weight[c].to_f64() * inverse[c]);
    let shift = column(&|c| db[c] / n);
    let slope = column(&|c| dw[c] * inverse[c] / n);
    let mut dx = vec![T::zero(); x.len()];
    map_chunks(&mut dx, chunk, |block, dx| {
        let range = block * chunk..block * chunk + dx.len();
        let rows = dx
            .chunks_exact_mut(width)
            .zip(x[range.clone()].chunks_exact(width));
        let rows = rows.zip(gradient[range.clone()].chunks_exact(width));
        let constants = || mean.iter().zip(&front).zip(shift.iter().zip(&slope));
        match output {
            None => {
                for ((dx, x), g) in rows {
                    let values = dx.iter_mut().zip(x.iter().zip(g));
                    for ((dx, (&x, &g)), ((&m, &f), (&s, &k))) in values.zip(constants()) {
                        *dx = f * (g - s - (x - m) * k);
                    }
                }
            }
            Some(y) => {
                for (((dx, x), g), y) in rows.zip(y[range].chunks_exact(width)) {
                    let values = dx.iter_mut().zip(x.iter().zip(g).zip(y));
                    for ((dx, ((&x, &g), &y)), ((&m, &f), (&s, &k))) in values.zip(constants()) {
                        *dx = f * (gated(g, y) - s - (x - m) * k);
                    }
                }
            }
        }
    });
    let narrow = |v: Vec<f64>| v.into_iter().map(T::from_f64).collect();
    (dx, narrow(dw), narrow(db))
}
