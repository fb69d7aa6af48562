//! Soft EGG: a filter instead of the cut, and its gradient.

use candle_core::{Device, Tensor};
use egg_autodiff::{Filter, Flatten, soft_embed};
use ndarray::{Array2, Axis};
use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::double_double::Double;
use super::hard::{on_tape, upper_weights};
use super::jacobi::Reference;
use super::specimen::{Number, Specimen, frobenius};
use super::tally::{Measure, Tally};

/// What the conditioning allows, as a factor on the size of what is computed.
/// With `x = sigma_1 / r`, f64 data can't do better than `eps (1 + x)`; Cholesky,
/// up to x = 100, has `eps x^2`. f32 data are processed in f64, by Cholesky up to
/// x = 1e4, and rounded.
fn allowed<T: Number>(x: f64) -> f64 {
    if T::GRAM_IS_EXACT {
        T::OF.eps + f64::EPSILON * (x + (x * x).min(1e8))
    } else {
        T::OF.eps * (1.0 + x + (x * x).min(1e4))
    }
}

/// `sigma^2 / (sigma^2 + r^2)` of each; no square leaves the range.
fn filtered(reference: &Reference, r: f64) -> Vec<Double> {
    let filter = |sigma: &Double| {
        if sigma.value() <= r {
            let square = sigma.over(Double::from_f64(r)) * sigma.over(Double::from_f64(r));
            return square.over(square + Double::ONE);
        }
        let square = Double::from_f64(r).over(*sigma) * Double::from_f64(r).over(*sigma);
        Double::ONE.over(Double::ONE + square)
    };
    reference.sigma.iter().map(filter).collect()
}

/// P (m x m) and the gradient of `<G, P>` by H.
fn run<T: Number>(
    h: &Array2<T>,
    filter: &Filter,
    g: &Array2<T>,
) -> egg_autodiff::Result<(Array2<f64>, Array2<T>)> {
    let (n, m) = h.dim();
    let tape = on_tape(h)?;
    let rows = soft_embed(&tape, &[0, n], filter, Flatten::Upper)?;
    let weights = Tensor::from_vec(upper_weights(g), rows.shape(), &Device::Cpu)?;
    let gradients = (&rows * weights)?.sum_all()?.backward()?;
    let found = gradients
        .get(&tape)
        .ok_or_else(|| candle_core::Error::msg("no gradient"))?;
    let mut flat = rows.flatten_all()?.to_vec1::<T>()?.into_iter();
    let mut projector = Array2::zeros((m, m));
    for i in 0..m {
        for j in i..m {
            let entry = flat.next().map_or(f64::NAN, T::as_f64);
            projector[[i, j]] = entry;
            projector[[j, i]] = entry;
        }
    }
    let gradient: Vec<T> = found.flatten_all()?.to_vec1()?;
    let gradient = Array2::from_shape_vec((n, m), gradient).map_err(candle_core::Error::wrap)?;
    Ok((projector, gradient))
}

pub(crate) fn judge<T: Number>(
    specimen: &Specimen<T>,
    with_differences: bool,
    rng: &mut ChaCha8Rng,
    tally: &mut Tally,
) {
    let Specimen {
        h, reference, scale, ..
    } = specimen;
    let (n, m) = h.dim();
    let first = reference.sigma(0);
    // From far below the values to far above, or on one of them.
    let soft_cut = if rng.random_bool(0.3) {
        reference.sigma(rng.random_range(0..reference.sigma.len()))
    } else {
        first * 10f64.powf(rng.random_range(-8.0..3.0))
    };
    let r = (soft_cut * scale).clamp(f64::MIN_POSITIVE, f64::MAX);
    let (in_units, x) = (r / scale, first / (r / scale));
    let about = || {
        format!(
            "r = {r:e} of {n} x {m}, sigma {:?} times {scale:e}",
            specimen.sigma()
        )
    };
    let g = specimen.upstream(rng);
    let filter = match Filter::resolvent(r) {
        Ok(filter) => filter,
        Err(error) => return tally.fail(format!("{error}: {}", about())),
    };
    let (projector, gradient) = match run(h, &filter, &g) {
        Ok(both) => both,
        Err(error) => return tally.fail(format!("{error}: {}", about())),
    };
    tally.decompositions += 2;
    tally.require(gradient.iter().all(|entry| entry.is_finite()), || {
        format!("gradient not finite: {}", about())
    });

    // Where all is far below the cut, P is small and keeps its digits.
    let root = (n.min(m) as f64).sqrt();
    let size = (x * x).min(1.0);
    let allowed_error = root * (size * allowed::<T>(x) + m as f64 * T::OF.least);
    let error = frobenius(&projector, &reference.weighted(&filtered(reference, in_units)));
    tally.note(Measure::Soft, error / allowed_error, about);

    let mut order: Vec<usize> = (0..n).collect();
    order.shuffle(rng);
    match run(&h.select(Axis(0), &order), &filter, &g) {
        Ok((other, _)) => {
            let moved = frobenius(&projector, &other) / (2.0 * allowed_error);
            tally.note(Measure::SoftPermuted, moved, about);
        }
        Err(error) => tally.fail(format!("{error}: {}", about())),
    }

    // Below this the differences of the reference lose their digits.
    if with_differences && first > 0.0 && x <= 1e6 && (in_units * in_units).is_normal() {
        let direction = specimen.direction(rng);
        let step = 1e-9 * in_units.min(first);
        let weights = |reference: &Reference| filtered(reference, in_units);
        let wanted = specimen.difference(&direction, step, &g.mapv(T::as_f64), weights);
        if let Some((found, slack)) = specimen.along(&gradient, &direction) {
            tally.derivatives += 1;
            let off = ((found - wanted).abs() - slack).max(0.0);
            // 1 / r at most, and sigma_1 / r^2 where that is smaller.
            let allowed = x.min(1.0) / in_units * allowed::<T>(x);
            tally.note(Measure::SoftGradient, off / allowed, about);
        }
    }
    if with_differences {
        for filter in [Filter::sqrt(), Filter::log1p()] {
            match run(h, &filter, &g) {
                Ok((projector, gradient)) => tally.require(
                    projector.iter().all(|entry| entry.is_finite())
                        && gradient.iter().all(|entry| entry.is_finite()),
                    || format!("{filter:?} not finite: {}", about()),
                ),
                Err(error) => tally.fail(format!("{filter:?}: {error}: {}", about())),
            }
        }
    }
}
