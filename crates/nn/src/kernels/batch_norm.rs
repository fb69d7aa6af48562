//! The kernels of batch normalisation, on slices in row-major order.

use egg_tensor::blocks::{map, map_new, rows_in_cache};
use egg_tensor::columns::part;
use egg_tensor::{Element, for_columns, vectorised};

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
    let blocks = map(x, rows_in_cache(width) * width, |_, x| block_moments(x, width));
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

vectorised! {
    /// Rows, column means, and sums of squares about these.
    fn block_moments<T: Element>(x: &'a [T], width: usize) -> (f64, Vec<T>, Vec<T>) {
        let rows = x.len() / width;
        let mut mean = vec![T::zero(); width];
        let mut squares = vec![T::zero(); width];
        let share = T::from_f64(1.0 / rows as f64);
        for_columns!(width, at, N => {
            let mut sums = [T::zero(); N];
            for row in x.chunks_exact(width) {
                let row = part::<T, N>(row, at);
                for lane in 0..N {
                    sums[lane] += row[lane];
                }
            }
            for sum in &mut sums {
                *sum *= share;
            }
            let mut apart = [T::zero(); N];
            for row in x.chunks_exact(width) {
                let row = part::<T, N>(row, at);
                for lane in 0..N {
                    apart[lane] += (row[lane] - sums[lane]) * (row[lane] - sums[lane]);
                }
            }
            mean[at..at + N].copy_from_slice(&sums);
            squares[at..at + N].copy_from_slice(&apart);
        });
        (rows as f64, mean, squares)
    }
}

/// `(x - mean) / sqrt(variance + epsilon) * weight + bias`, or its ReLU.
pub(crate) fn normalise<T: Element>(
    x: &[T],
    moments: &Moments,
    epsilon: f64,
    weight: &[T],
    bias: &[T],
    relu: bool,
) -> Vec<T> {
    let width = weight.len();
    let mean = moments.mean_as::<T>();
    let scales = moments.inverse_deviation(epsilon).zip(weight);
    let scale: Vec<T> = scales.map(|(s, w)| T::from_f64(s * w.to_f64())).collect();
    let chunk = rows_in_cache(width) * width;
    let (out, _) = map_new(x.len(), chunk, |block, out: &mut [T]| {
        let x = &x[block * chunk..][..out.len()];
        normalise_block(x, &mean, &scale, bias, relu, out);
    });
    out
}

vectorised! {
    /// `(x - mean) scale + bias`, or its ReLU.
    fn normalise_block<T: Element>(
        x: &'a [T],
        mean: &'a [T],
        scale: &'a [T],
        bias: &'a [T],
        relu: bool,
        out: &'a mut [T],
    ) -> () {
        let width = mean.len();
        for_columns!(width, at, N => {
            let (mean, scale, bias) = (part::<T, N>(mean, at), part::<T, N>(scale, at), part::<T, N>(bias, at));
            for (out, x) in out.chunks_exact_mut(width).zip(x.chunks_exact(width)) {
                let mut row = part::<T, N>(x, at);
                for lane in 0..N {
                    let y = (row[lane] - mean[lane]) * scale[lane] + bias[lane];
                    row[lane] = if relu { (y).relu() } else { y };
                }
                out[at..at + N].copy_from_slice(&row);
            }
        });
    }
}

/// Gradients with respect to `x`, weight and bias, for moments of the batch
/// itself; `output` is the result, if it is of a ReLU.
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
        let output = output.map(|output| &output[range.clone()]);
        block_sums(x, &mean, &gradient[range], output)
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
    let (dx, _) = map_new(x.len(), chunk, |block, dx: &mut [T]| {
        let range = block * chunk..block * chunk + dx.len();
        let output = output.map(|output| &output[range.clone()]);
        let constants = Constants {
            mean: &mean,
            front: &front,
            shift: &shift,
            slope: &slope,
        };
        block_gradient(&x[range.clone()], constants, &gradient[range], output, dx);
    });
    let narrow = |v: Vec<f64>| v.into_iter().map(T::from_f64).collect();
    (dx, narrow(dw), narrow(db))
}

vectorised! {
    /// Column sums of g and of g (x - mean), g being gated by the output.
    fn block_sums<T: Element>(
        x: &'a [T],
        mean: &'a [T],
        gradient: &'a [T],
        output: Option<&'a [T]>,
    ) -> (Vec<T>, Vec<T>) {
        let width = mean.len();
        let mut plain = vec![T::zero(); width];
        let mut centred = vec![T::zero(); width];
        for_columns!(width, at, N => {
            let mean = part::<T, N>(mean, at);
            let (mut sums, mut products) = ([T::zero(); N], [T::zero(); N]);
            let rows = x.chunks_exact(width).zip(gradient.chunks_exact(width));
            for (row, (x, g)) in rows.enumerate() {
                let (x, g) = (part::<T, N>(x, at), part::<T, N>(g, at));
                let g = gated(g, output, row * width + at);
                for lane in 0..N {
                    sums[lane] += g[lane];
                    products[lane] += g[lane] * (x[lane] - mean[lane]);
                }
            }
            plain[at..at + N].copy_from_slice(&sums);
            centred[at..at + N].copy_from_slice(&products);
        });
        (plain, centred)
    }
}

/// Numbers of a gradient where the `output` of a ReLU, if there is one, is above 0 from place `at` on,
/// 0 elsewhere.
#[inline(always)]
fn gated<T: Element, const N: usize>(mut gradient: [T; N], output: Option<&[T]>, at: usize) -> [T; N] {
    if let Some(output) = output {
        let output = part::<T, N>(output, at);
        for lane in 0..N {
            gradient[lane] = gradient[lane].gated_by(output[lane]);
        }
    }
    gradient
}

/// One number per column each.
#[derive(Clone, Copy)]
struct Constants<'a, T> {
    mean: &'a [T],
    front: &'a [T],
    shift: &'a [T],
    slope: &'a [T],
}

vectorised! {
    /// `front (g - shift - (x - mean) slope)`, g being gated by the output.
    fn block_gradient<T: Element>(
        x: &'a [T],
        constants: Constants<'a, T>,
        gradient: &'a [T],
        output: Option<&'a [T]>,
        dx: &'a mut [T],
    ) -> () {
        let Constants { mean, front, shift, slope } = constants;
        let width = mean.len();
        for_columns!(width, at, N => {
            let (mean, front) = (part::<T, N>(mean, at), part::<T, N>(front, at));
            let (shift, slope) = (part::<T, N>(shift, at), part::<T, N>(slope, at));
            let rows = dx.chunks_exact_mut(width).zip(x.chunks_exact(width));
            for (row, ((dx, x), g)) in rows.zip(gradient.chunks_exact(width)).enumerate() {
                let x = part::<T, N>(x, at);
                let mut g = gated(part::<T, N>(g, at), output, row * width + at);
                for lane in 0..N {
                    g[lane] = front[lane] * (g[lane] - shift[lane] - (x[lane] - mean[lane]) * slope[lane]);
                }
                dx[at..at + N].copy_from_slice(&g);
            }
        });
    }
}
