//! The matrices: every shape and degeneracy that we could think of, drawn at
//! random. They are made in f64 and rounded to the type that is tested, and the
//! reference decomposes what rounding left.

use ndarray::{Array1, Array2, Axis, s};
use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

/// What is known of the type that a matrix is for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Type {
    pub(crate) eps: f64,
    /// Exponents of ten that a matrix may be scaled by.
    pub(crate) decades: f64,
    /// The least number of the type.
    pub(crate) least: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    Gaussian,
    Graded,
    ExactTies,
    NearTies,
    AllTied,
    Zero,
    RankOne,
    LowRank,
    NoiseFloor,
    OneRow,
    Tall,
    Wide,
    Scaled,
    Denormal,
    Uneven,
    SmallIntegers,
    Repeated,
}

impl Family {
    pub(crate) const ALL: [Self; 17] = [
        Self::Gaussian,
        Self::Graded,
        Self::ExactTies,
        Self::NearTies,
        Self::AllTied,
        Self::Zero,
        Self::RankOne,
        Self::LowRank,
        Self::NoiseFloor,
        Self::OneRow,
        Self::Tall,
        Self::Wide,
        Self::Scaled,
        Self::Denormal,
        Self::Uneven,
        Self::SmallIntegers,
        Self::Repeated,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Gaussian => "normal numbers",
            Self::Graded => "singular values over 8 or 16 decades",
            Self::ExactTies => "exact ties",
            Self::NearTies => "near ties, 1e-2 to 1e-16 apart",
            Self::AllTied => "all values tied",
            Self::Zero => "rank 0",
            Self::RankOne => "rank 1",
            Self::LowRank => "low rank, to rounding",
            Self::NoiseFloor => "values around the numerical rank",
            Self::OneRow => "n = 1",
            Self::Tall => "n >> m",
            Self::Wide => "m >> n",
            Self::Scaled => "scales 1e-30 to 1e30 and to the end of the range",
            Self::Denormal => "denormal entries",
            Self::Uneven => "rows and columns of any scale",
            Self::SmallIntegers => "entries -1, 0, 1",
            Self::Repeated => "repeated and zero rows and columns",
        }
    }

    /// A matrix of the family.
    pub(crate) fn draw(self, of: Type, rng: &mut ChaCha8Rng) -> Array2<f64> {
        let (n, m) = self.shape(rng);
        let k = n.min(m);
        match self {
            Self::Gaussian | Self::OneRow | Self::Tall | Self::Wide => {
                let h = normal(n, m, rng);
                if self == Self::Gaussian || rng.random_bool(0.5) {
                    return h;
                }
                // Long or wide, and graded as well.
                let sigma = powers(k, 0.8 * of.eps.log10(), rng);
                with_values(n, m, &sigma, rng)
            }
            Self::Graded => {
                let lowest = 1.05 * of.eps.log10();
                let sigma = powers(k, lowest, rng);
                with_values(n, m, &sigma, rng)
            }
            Self::ExactTies => exact_ties(n, m, rng),
            Self::NearTies => {
                let mut sigma = Array1::from_shape_simple_fn(k, || rng.random_range(0.1..1.0));
                for at in 1..k {
                    if rng.random_bool(0.6) {
                        sigma[at] = sigma[at - 1] * (1.0 - 10f64.powf(rng.random_range(-16.0..-2.0)));
                    }
                }
                with_values(n, m, &sigma, rng)
            }
            Self::AllTied => with_values(n, m, &Array1::ones(k), rng),
            Self::Zero => {
                let sign = if rng.random_bool(0.5) { 0.0 } else { -0.0 };
                Array2::from_elem((n, m), sign)
            }
            Self::RankOne => {
                let (left, right) = (normal(n, 1, rng), normal(1, m, rng));
                if rng.random_bool(0.5) {
                    // Exactly of rank one.
                    let short = |x: f64| (x * 16.0).round() / 16.0;
                    left.mapv(short).dot(&right.mapv(short))
                } else {
                    left.dot(&right)
                }
            }
            Self::LowRank => {
                let rank = rng.random_range(1..=k);
                normal(n, rank, rng).dot(&normal(rank, m, rng))
            }
            Self::NoiseFloor => {
                let noise = of.eps * n.max(m) as f64;
                let mut sigma =
                    Array1::from_shape_simple_fn(k, || noise * 10f64.powf(rng.random_range(-1.0..2.0)));
                sigma[0] = 1.0;
                if k > 2 && rng.random_bool(0.5) {
                    sigma[1] = rng.random_range(0.01..1.0);
                }
                with_values(n, m, &sigma, rng)
            }
            Self::Scaled => {
                let decades = if rng.random_bool(0.5) { 30.0 } else { of.decades };
                normal(n, m, rng) * 10f64.powf(rng.random_range(-decades..decades))
            }
            Self::Denormal => {
                let most = 10f64.powf(rng.random_range(0.0..6.0));
                normal(n, m, rng).mapv(|x| (x * most).round() * of.least)
            }
            Self::Uneven => {
                let mut h = normal(n, m, rng);
                let mut scale = || 10f64.powf(rng.random_range(-15.0..15.0));
                h.rows_mut().into_iter().for_each(|mut row| row *= scale());
                if n % 2 == 0 {
                    h.columns_mut()
                        .into_iter()
                        .for_each(|mut column| column *= scale());
                }
                h
            }
            Self::SmallIntegers => {
                Array2::from_shape_simple_fn((n, m), || f64::from(rng.random_range(-1i8..=1)))
            }
            Self::Repeated => {
                let mut h = normal(n, m, rng);
                for _ in 0..rng.random_range(1..=n) {
                    let (from, to) = (rng.random_range(0..n), rng.random_range(0..n));
                    let row = h.row(from).to_owned() * [1.0, -2.0, 0.0][rng.random_range(0..3)];
                    h.row_mut(to).assign(&row);
                }
                let (from, to) = (rng.random_range(0..m), rng.random_range(0..m));
                let column = h.column(from).to_owned();
                h.column_mut(to).assign(&column);
                h
            }
        }
    }

    fn shape(self, rng: &mut ChaCha8Rng) -> (usize, usize) {
        match self {
            Self::OneRow => (1, rng.random_range(1..=24)),
            Self::Tall => (rng.random_range(80..=300), rng.random_range(1..=6)),
            Self::Wide => (rng.random_range(1..=5), rng.random_range(40..=80)),
            _ => (rng.random_range(1..=14), rng.random_range(1..=14)),
        }
    }
}

fn normal(rows: usize, columns: usize, rng: &mut ChaCha8Rng) -> Array2<f64> {
    Array2::from_shape_simple_fn((rows, columns), || StandardNormal.sample(rng))
}

/// 1 and others down to `10^lowest`, even in the logarithm.
fn powers(count: usize, lowest: f64, rng: &mut ChaCha8Rng) -> Array1<f64> {
    let mut sigma = Array1::from_shape_simple_fn(count, || 10f64.powf(rng.random_range(lowest..0.0)));
    sigma[0] = 1.0;
    sigma
}

/// Orthonormal columns by Gram-Schmidt, twice.
fn orthonormal(rows: usize, columns: usize, rng: &mut ChaCha8Rng) -> Array2<f64> {
    let mut basis = normal(rows, columns, rng);
    for column in 0..columns {
        let (done, mut rest) = basis.view_mut().split_at(Axis(1), column);
        let mut current = rest.column_mut(0);
        for _ in 0..2 {
            for earlier in done.columns() {
                let along = earlier.dot(&current);
                current.scaled_add(-along, &earlier);
            }
            let length = current.dot(&current).sqrt();
            current /= length;
        }
    }
    basis
}

/// n x m with these singular values, to rounding, in any order.
fn with_values(n: usize, m: usize, sigma: &Array1<f64>, rng: &mut ChaCha8Rng) -> Array2<f64> {
    let k = sigma.len();
    let left = orthonormal(n, k, rng) * sigma;
    left.dot(&orthonormal(m, k, rng).t())
}

/// Singular values that are equal to the last bit: a diagonal of few numbers,
/// with rows and columns shuffled, signs, and every row twice or a rotation by
/// exactly 45 degrees (entries 1 and -1).
fn exact_ties(n: usize, m: usize, rng: &mut ChaCha8Rng) -> Array2<f64> {
    let values = [3.0, 1.0, 0.75, 0.5, 1e-3];
    let few = rng.random_range(1..=3);
    let mut h = Array2::zeros((n, m));
    for at in 0..n.min(m) {
        h[[at, at]] = values[rng.random_range(0..few)] * [1.0, -1.0][rng.random_range(0..2)];
    }
    match rng.random_range(0..3) {
        0 if n >= 2 => {
            let half = n / 2;
            let top = h.slice(s![..half, ..]).to_owned();
            h.slice_mut(s![half..2 * half, ..]).assign(&top);
        }
        1 => {
            for at in 0..m / 2 {
                let (a, b) = (h.column(2 * at).to_owned(), h.column(2 * at + 1).to_owned());
                h.column_mut(2 * at).assign(&(&a + &b));
                h.column_mut(2 * at + 1).assign(&(&a - &b));
            }
        }
        _ => {}
    }
    let mut rows: Vec<usize> = (0..n).collect();
    let mut columns: Vec<usize> = (0..m).collect();
    rows.shuffle(rng);
    columns.shuffle(rng);
    h.select(Axis(0), &rows).select(Axis(1), &columns)
}
