//! Hard EGG: the projector, its rank and its gradient.

use candle_core::{Device, Tensor, Var};
use egg_autodiff::{Embedder, Flatten, RankRule};
use egg_geometry::{Factors, Workspace};
use ndarray::{Array2, Axis};
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::double_double::Double;
use super::jacobi::Reference;
use super::specimen::{Number, Specimen, frobenius};
use super::tally::{Measure, Tally};

/// Differences are taken where the cut is at least this wide, relative to
/// `sigma_1`: the guard of the gradient changes nothing there that f64 or f32
/// could show.
fn clear_cut<T: Number>() -> f64 {
    if T::GRAM_IS_EXACT { 1e-2 } else { 1e-3 }
}

/// The error of the projector that the conditioning allows.
///
/// f32 data are decomposed in f64, by their Gram matrix: what is left is the
/// rounding of the result, and the noise of that matrix over the gap of its
/// eigenvalues. f64 data can't do better than `eps sigma_1 / gap`.
fn allowed<T: Number>(reference: &Reference, p: usize, is_whole_space: bool) -> f64 {
    let (first, kept, dropped) = (
        reference.sigma(0),
        reference.sigma(p.wrapping_sub(1)),
        reference.sigma(p),
    );
    let gap = kept - dropped;
    let over_gap = if is_whole_space || p == 0 {
        0.0
    } else if T::GRAM_IS_EXACT {
        f64::EPSILON * first * first / (gap * (kept + dropped))
    } else {
        T::OF.eps * first / gap
    };
    (p.max(1) as f64).sqrt() * (T::OF.eps + over_gap)
}

/// How far a computed singular value may be off: an SVD's by eps of the largest,
/// the root of a Gram matrix's eigenvalue by more the smaller it is.
fn singular_value_error<T: Number>(sigma: f64, first: f64) -> f64 {
    let noise = 16.0 * f64::EPSILON;
    if T::GRAM_IS_EXACT {
        noise * first * first / (sigma + noise.sqrt() * first)
    } else {
        noise * first
    }
}

/// Whether the rank depends on a value that lies within rounding of a bound. (Bounds
/// are raised by the noise of the input.)
fn rank_depends_on_rounding<T: Number>(rule: RankRule, sigma: &[f64]) -> bool {
    let first = sigma[0];
    let norm = norm(sigma);
    let noise = (2.0 * T::OF.eps * norm).max(16.0 * f64::EPSILON * first);
    let near = |a: f64, b: f64, sigma: f64| {
        (a - b).abs() <= 2.0 * singular_value_error::<T>(sigma, first) + 1e-12 * b
    };
    let any_near = |bound: f64| sigma.iter().any(|sigma| near(*sigma, bound + noise, *sigma));
    let any_sum_near = |wanted: f64, slack: f64, power: i32| {
        let mut sum = 0.0;
        sigma.iter().any(|sigma| {
            sum += sigma.powi(power);
            (sum - wanted).abs() <= slack
        })
    };
    let is_tie_near = sigma.windows(2).any(|pair| {
        let bound = T::TIE_TOLERANCE * pair[0] + 2.0 * noise;
        near(pair[0] - pair[1], bound, pair[1])
    });
    let is_bound_near = match rule {
        RankRule::Fixed(_) | RankRule::Ratio(_) => false,
        RankRule::Threshold(r) => any_near(r),
        RankRule::Relative(r) => any_near(r * first),
        RankRule::Energy(r) => {
            let total: f64 = sigma.iter().sum();
            let slack: f64 = sigma
                .iter()
                .map(|sigma| singular_value_error::<T>(*sigma, first))
                .sum();
            any_sum_near(r * total - noise, 2.0 * slack + 1e-11 * total, 1)
        }
        RankRule::Squares(r) => {
            let wanted = r * norm * norm - 2.0 * noise * first;
            any_sum_near(wanted, 100.0 * f64::EPSILON * norm * norm, 2)
        }
        other => panic!("it is not known where {other} has its bound"),
    };
    any_near(0.0) || is_tie_near || is_bound_near
}

fn norm(sigma: &[f64]) -> f64 {
    sigma.iter().map(|sigma| sigma * sigma).sum::<f64>().sqrt()
}

/// Memory that is reused from matrix to matrix, as in a training loop.
#[derive(Default)]
pub(crate) struct Memory {
    factors: Factors,
    shuffled: Factors,
    workspace: Workspace,
}

pub(crate) fn judge<T: Number>(
    specimen: &Specimen<T>,
    rule: RankRule,
    with_differences: bool,
    rng: &mut ChaCha8Rng,
    memory: &mut Memory,
    tally: &mut Tally,
) {
    let Specimen {
        h, reference, scale, ..
    } = specimen;
    let (n, m) = h.dim();
    let Memory {
        factors,
        shuffled,
        workspace,
    } = memory;
    let about = || {
        format!(
            "{rule:?} of {n} x {m}, sigma {:?} times {scale:e}",
            specimen.sigma()
        )
    };

    let outcome = factors.compute(h.view(), rule, workspace);
    if let Err(error) = outcome {
        return tally.fail(format!("{error}: {}", about()));
    }
    tally.decompositions += 2;
    let p = factors.choice().p;
    let sigma = specimen.sigma();
    let scaled_rule = match rule {
        RankRule::Threshold(r) => RankRule::Threshold((r / scale).min(f64::MAX)),
        other => other,
    };
    let ambiguous = rank_depends_on_rounding::<T>(scaled_rule, &sigma);
    match scaled_rule.choose_for::<T>(&sigma, m, norm(&sigma)) {
        Ok(choice) if choice.p == p => {}
        Ok(_) if ambiguous => tally.on_the_edge += 1,
        Ok(choice) => tally.fail(format!("p = {p}, not {}: {}", choice.p, about())),
        Err(error) => tally.fail(format!("{error}: {}", about())),
    }
    tally.require((p == 0) == (sigma[0] == 0.0), || format!("p = {p}: {}", about()));

    let projector = factors.projector::<T>();
    let wide = projector.mapv(T::as_f64);
    let weights = |_: &Reference| vec![Double::ONE; p];
    let allowed_error = allowed::<T>(reference, p, p == m);
    let error = frobenius(&wide, &reference.weighted(&weights(reference)));
    tally.note(Measure::Projector, error / allowed_error, about);
    let root = (p.max(1) as f64).sqrt();
    let defect = frobenius(&wide.dot(&wide), &wide) / (T::OF.eps * root);
    tally.note(Measure::Idempotent, defect, about);
    let trace = (wide.diag().sum() - p as f64).abs() / (T::OF.eps * p.max(1) as f64);
    tally.note(Measure::Trace, trace, about);
    tally.require(
        wide.indexed_iter()
            .all(|((i, j), entry)| (entry - wide[[j, i]]).abs() <= T::OF.eps),
        || format!("not symmetric: {}", about()),
    );

    let mut order: Vec<usize> = (0..n).collect();
    order.shuffle(rng);
    match shuffled.compute(h.select(Axis(0), &order).view(), rule, workspace) {
        Ok(()) if shuffled.choice().p == p => {
            let other = shuffled.projector::<T>().mapv(T::as_f64);
            // Two errors, each of what is allowed.
            let moved = frobenius(&wide, &other) / (2.0 * allowed_error);
            tally.note(Measure::Permuted, moved, about);
        }
        Ok(()) if ambiguous => tally.on_the_edge += 1,
        Ok(()) => tally.fail(format!("another p for another order: {}", about())),
        Err(error) => tally.fail(format!("{error}: {}", about())),
    }

    let g = specimen.upstream(rng);
    let gradient = match factors.gradient(h.view(), g.view(), workspace) {
        Ok(gradient) => gradient,
        Err(error) => return tally.fail(format!("{error}: {}", about())),
    };
    tally.require(gradient.iter().all(|entry| entry.is_finite()), || {
        format!("gradient not finite: {}", about())
    });
    // As in training: only the triangle, and its gradient.
    let length = Flatten::length(m);
    let (mut flat, mut by_triangle) = (vec![T::rounded(0.0); length], Array2::zeros(h.dim()));
    let weights_of_g = ndarray::Array1::from(upper_weights(&g));
    let outcome = factors
        .embed_into(Flatten::Upper, &mut flat, workspace)
        .and_then(|()| {
            let out = by_triangle.view_mut();
            factors.gradient_of_embedding(h.view(), weights_of_g.view(), Flatten::Upper, out, workspace)
        });
    if let Err(error) = outcome {
        return tally.fail(format!("{error}: {}", about()));
    }
    // Sums of p products, in another order.
    let upper = projector.indexed_iter().filter(|((i, j), _)| i <= j);
    tally.require(
        flat.iter()
            .zip(upper)
            .all(|(found, (_, entry))| (found.as_f64() - entry.as_f64()).abs() <= 2.0 * T::OF.eps),
        || format!("the embedding is not the projector: {}", about()),
    );
    tally.require(by_triangle.iter().all(|entry| entry.is_finite()), || {
        format!("gradient of the embedding not finite: {}", about())
    });

    let (first, kept, dropped) = (sigma[0], reference.sigma(p.wrapping_sub(1)), reference.sigma(p));
    let gap = kept - dropped;
    let is_cut = with_differences && p > 0 && p < m;
    let is_clear = gap >= clear_cut::<T>() * first;
    tally.cuts += usize::from(is_cut);
    tally.narrow_cuts += usize::from(is_cut && !is_clear);
    if is_cut && is_clear {
        let direction = specimen.direction(rng);
        let wanted = specimen.difference(&direction, 1e-9 * gap, &g.mapv(T::as_f64), weights);
        for gradient in [&gradient, &by_triangle] {
            if let Some((found, slack)) = specimen.along(gradient, &direction) {
                tally.derivatives += 1;
                let off = ((found - wanted).abs() - slack).max(0.0);
                let allowed = T::OF.eps / gap + allowed_error / gap;
                tally.note(Measure::Gradient, off / allowed, about);
            }
        }
    }
    if with_differences {
        through_the_tape(specimen, rule, &flat, &by_triangle, weights_of_g.to_vec(), tally);
    }
}

/// The fused operation is bit-identical, forwards and backwards.
fn through_the_tape<T: Number>(
    specimen: &Specimen<T>,
    rule: RankRule,
    flat: &[T],
    gradient: &Array2<T>,
    weights: Vec<T>,
    tally: &mut Tally,
) {
    let (n, m) = specimen.h.dim();
    let run = || -> egg_autodiff::Result<(Vec<T>, Vec<T>)> {
        let h = on_tape(&specimen.h)?;
        let rows = Embedder::new(rule, Flatten::Upper)?.embed(&h, &[0, n])?;
        let weights = Tensor::from_vec(weights, rows.shape(), &Device::Cpu)?;
        let gradients = (&rows * weights)?.sum_all()?.backward()?;
        let found = gradients
            .get(&h)
            .ok_or_else(|| candle_core::Error::msg("no gradient"))?;
        Ok((rows.flatten_all()?.to_vec1()?, found.flatten_all()?.to_vec1()?))
    };
    match run() {
        Ok((rows, found)) => {
            tally.require(rows == flat, || {
                format!("the tape has another embedding: {rule:?} of {n} x {m}")
            });
            tally.require(found.iter().eq(gradient.iter()), || {
                format!("the tape has another gradient: {rule:?} of {n} x {m}")
            });
        }
        Err(error) => tally.fail(format!("{error}: {rule:?} of {n} x {m}")),
    }
}

pub(crate) fn on_tape<T: Number>(h: &Array2<T>) -> egg_autodiff::Result<Var> {
    let entries: Vec<T> = h.iter().copied().collect();
    Ok(Var::from_tensor(&Tensor::from_vec(
        entries,
        h.dim(),
        &Device::Cpu,
    )?)?)
}

/// The gradient by the flattened upper triangle that `G` by the whole amounts to.
pub(crate) fn upper_weights<T: Number>(g: &Array2<T>) -> Vec<T> {
    let two = T::rounded(2.0);
    g.indexed_iter()
        .filter(|((i, j), _)| i <= j)
        .map(|((i, j), entry)| if i == j { *entry } else { two * *entry })
        .collect()
}
