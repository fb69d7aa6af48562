//! Which directions are kept of matrices with known singular values, from one row to
//! ten million: the noise level of the rank must not grow with the rows.

use egg_geometry::{RankRule, Scalar, rectify, rectify_nodes};
use ndarray::{Array1, Array2, ArrayView2, Axis};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;

const M: usize = 8;

fn full() -> bool {
    std::env::var_os("EGG_TEST_FULL").is_some()
}

fn row_counts() -> Vec<usize> {
    let mut counts = vec![1, 2, 3, 7, 8, 9, 64, 1000, 4096, 4097, 100_003, 1 << 20];
    if full() {
        counts.extend([1 << 23, 10_000_000]);
    }
    counts
}

/// n x 8, `Q diag(sigma) V^T`: column j of Q lives on every so-many-th row, so that the
/// columns are orthonormal to rounding; V is a random rotation, or nothing.
fn planted<T: Scalar>(n: usize, sigma: &[f64], mixed: bool, seed: u64) -> Array2<T> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let v = match mixed {
        true => rotation(&mut rng),
        false => Array2::eye(M),
    };
    let mut weights = Array1::from_shape_simple_fn(n, || rng.sample::<f64, _>(StandardNormal) + 3.0);
    for start in 0..sigma.len() {
        let length = weights.iter().skip(start).step_by(sigma.len());
        let length = length.map(|weight| weight * weight).sum::<f64>().sqrt();
        for weight in weights.iter_mut().skip(start).step_by(sigma.len()) {
            *weight *= sigma[start] / length;
        }
    }
    Array2::from_shape_fn((n, M), |(row, column)| {
        T::rounded(weights[row] * v[[row % sigma.len(), column]])
    })
}

/// By Gram-Schmidt, twice.
fn rotation(rng: &mut ChaCha8Rng) -> Array2<f64> {
    let mut v = Array2::from_shape_simple_fn((M, M), || rng.sample::<f64, _>(StandardNormal));
    for row in 0..M {
        for _ in 0..2 {
            for earlier in 0..row {
                let overlap = v.row(row).dot(&v.row(earlier));
                let direction = v.row(earlier).to_owned();
                v.row_mut(row).scaled_add(-overlap, &direction);
            }
        }
        let length = v.row(row).dot(&v.row(row)).sqrt();
        v.row_mut(row).mapv_inplace(|entry| entry / length);
    }
    v
}

/// Spectra that end in `weakest`: falling evenly, flat before it, and two values only.
fn spectra(weakest: f64, most: usize) -> Vec<Vec<f64>> {
    let falling = |count: usize| -> Vec<f64> {
        let last = count.saturating_sub(1).max(1) as f64;
        (0..count).map(|at| weakest.powf(at as f64 / last)).collect()
    };
    let mut flat = vec![1.0; most];
    if most > 1 {
        flat[most - 1] = weakest;
    }
    vec![falling(most), flat, falling(most.min(2))]
}

fn weak_directions_are_kept_and_zeros_are_not<T: Scalar>(weakest: f64) {
    for n in row_counts() {
        // One direction less than there are columns: the last singular value is 0.
        for (at, sigma) in spectra(weakest, n.min(M - 1)).into_iter().enumerate() {
            for mixed in [true, false] {
                let h = planted::<T>(n, &sigma, mixed, at as u64);
                for rule in [
                    RankRule::Fixed(M),
                    RankRule::Ratio(1.0),
                    RankRule::Relative(0.0),
                    RankRule::Energy(1.0),
                ] {
                    let kept = rectify(h.view(), rule).unwrap();
                    let about = || format!("{n} x {M}, {sigma:?}, {rule:?}: {:?}", kept.singular_values);
                    assert_eq!(kept.choice.p, sigma.len(), "{}", about());
                    assert_eq!(kept.choice.numerical_rank, sigma.len(), "{}", about());
                    if n > 1 << 20 {
                        break;
                    }
                }
                if n <= 100_003 || full() {
                    let nodes = rectify_nodes(h.view(), RankRule::Fixed(M)).unwrap();
                    assert_eq!(nodes.choice.p, sigma.len(), "{n} nodes, {sigma:?}");
                    assert_orthonormal(&nodes.basis, n);
                }
            }
        }
    }
}

/// `U^T U`, with sums in pairs: one sum over all rows, or over as many blocks, would round
/// by more than is allowed.
fn gram<T: Scalar>(basis: ArrayView2<'_, T>) -> Array2<f64> {
    if basis.nrows() > 4096 {
        let (top, bottom) = basis.split_at(Axis(0), basis.nrows() / 2);
        return gram(top) + gram(bottom);
    }
    let wide = basis.mapv(T::as_f64);
    wide.t().dot(&wide)
}

fn assert_orthonormal<T: Scalar>(basis: &Array2<T>, n: usize) {
    let off = gram(basis.view()) - Array2::<f64>::eye(basis.ncols());
    let most = off.iter().fold(0.0, |most: f64, entry| most.max(entry.abs()));
    // A level of blocks of 1,024 rows leaves 8 of them; each adds the rounding of an SVD.
    let levels = 1 + usize::from(n > 4096) + usize::from(n > 128 * 4096);
    assert!(
        most <= (32 * levels) as f64 * T::eps(),
        "{n} nodes: off by {most:e}: {off:.2e}"
    );
}

#[test]
fn f32_directions_of_1e_6_are_kept_for_any_row_count() {
    weak_directions_are_kept_and_zeros_are_not::<f32>(1e-6);
}

#[test]
fn f64_directions_of_1e_13_are_kept_for_any_row_count() {
    weak_directions_are_kept_and_zeros_are_not::<f64>(1e-13);
}

/// Columns of a moderate spectrum, as clustering meets them: an earlier cap, which
/// grew with the rows, kept 3 of 7 at 2^20 rows of f32, and none from 2^23 on.
#[test]
fn columns_from_1_to_0_005_are_all_kept() {
    let sigma: Vec<f64> = (0..7).map(|at| 0.005f64.powf(f64::from(at) / 6.0)).collect();
    let largest = if full() { 1 << 23 } else { 1 << 20 };
    for n in [1 << 10, 1 << 16, largest] {
        let h = planted::<f32>(n, &sigma, false, 1);
        for rule in [RankRule::Ratio(0.8), RankRule::Relative(0.001)] {
            assert_eq!(rectify(h.view(), rule).unwrap().choice.p, 7, "{n} {rule:?}");
        }
    }
}

/// For every rule, and for any spread of the entries.
#[test]
fn nonzero_columns_have_a_direction() {
    for n in row_counts() {
        for entry in [1.0f32, f32::MIN_POSITIVE, f32::from_bits(1), f32::MAX] {
            let mut h = Array2::zeros((n, M));
            h[[n / 2, 3]] = entry;
            for rule in [
                RankRule::Threshold(1e30),
                RankRule::Fixed(1),
                RankRule::Energy(0.1),
            ] {
                assert_eq!(rectify(h.view(), rule).unwrap().choice.p, 1, "{n} {entry:e}");
            }
        }
        let h = Array2::<f32>::from_elem((n, M), 0.1);
        assert_eq!(rectify(h.view(), RankRule::Fixed(5)).unwrap().choice.p, 1, "{n}");
    }
}

/// The kept directions are those that were planted, and rows of a shuffled matrix give
/// the same.
#[test]
fn weak_directions_match_the_planted_ones() {
    let sigma = [1.0, 0.5, 1e-13];
    let h = planted::<f64>(20_000, &sigma, true, 4);
    let v = rotation(&mut ChaCha8Rng::seed_from_u64(4));
    let kept = rectify(h.view(), RankRule::Fixed(3)).unwrap();
    let inside = kept.basis.t().dot(&v.slice(ndarray::s![..3, ..]).t());
    // The rounding of H is about 1e-16 of sigma_1, 1e-3 of the weakest.
    for column in inside.axis_iter(Axis(1)) {
        assert!((column.dot(&column).sqrt() - 1.0).abs() < 1e-2, "{inside}");
    }
    let order: Vec<usize> = (0..20_000).map(|row| (row * 7919) % 20_000).collect();
    let shuffled = rectify(h.select(Axis(0), &order).view(), RankRule::Fixed(3)).unwrap();
    let moved = kept.projector() - shuffled.projector();
    assert!(moved.iter().all(|entry| entry.abs() < 2e-2), "{moved}");
}
