//! The decomposition behind a projector, of matrices with any bits.

use egg_geometry::{Error, Factors, Flatten, RankRule, Scalar, Workspace};
use ndarray::Array2;

use super::Target;
use crate::outcome::Outcome;

pub(super) const TARGET: Target = Target {
    name: "decomposition",
    run,
    words: &[],
    reader: None,
};

/// Every kind of rule, at the ends of its range and within.
pub(crate) const RULES: [RankRule; 13] = [
    RankRule::Fixed(1),
    RankRule::Fixed(2),
    RankRule::Fixed(usize::MAX),
    RankRule::Ratio(0.5),
    RankRule::Ratio(1.0),
    RankRule::Threshold(0.0),
    RankRule::Threshold(0.8),
    RankRule::Relative(0.0),
    RankRule::Relative(0.5),
    RankRule::Energy(0.5),
    RankRule::Energy(0.9),
    RankRule::Energy(1.0),
    RankRule::Squares(0.9),
];

/// A number from some bytes, whatever they are.
pub(crate) trait Bits: Scalar {
    fn from_bits_of(bytes: &[u8]) -> Vec<Self>;
}

impl Bits for f32 {
    fn from_bits_of(bytes: &[u8]) -> Vec<Self> {
        bytes
            .as_chunks()
            .0
            .iter()
            .map(|bits| Self::from_le_bytes(*bits))
            .collect()
    }
}

impl Bits for f64 {
    fn from_bits_of(bytes: &[u8]) -> Vec<Self> {
        bytes
            .as_chunks()
            .0
            .iter()
            .map(|bits| Self::from_le_bytes(*bits))
            .collect()
    }
}

/// Mostly small, because ties, zeros and extremes meet there; sometimes larger
/// than one block of the algorithms.
pub(crate) fn side(byte: u8) -> usize {
    match byte {
        0..240 => 1 + usize::from(byte % 10),
        _ => 11 + usize::from(byte - 240) * 4,
    }
}

/// Three bytes say how large, how cut and how precise; the rest are the entries,
/// repeated as often as needed.
fn run(input: &[u8]) -> Outcome {
    let [rows, columns, rule, bytes @ ..] = input else {
        return Outcome::refused(&"nothing");
    };
    let (rows, columns) = (side(*rows), side(*columns));
    let (double, rule) = (*rule >= 128, RULES[usize::from(*rule) % RULES.len()]);
    if double {
        exercise(&f64::from_bits_of(bytes), rows, columns, rule)
    } else {
        exercise(&f32::from_bits_of(bytes), rows, columns, rule)
    }
}

/// A matrix of numbers that are repeated as often as needed.
pub(crate) fn matrix<T: Scalar>(numbers: &[T], rows: usize, columns: usize) -> Array2<T> {
    Array2::from_shape_fn((rows, columns), |(row, column)| {
        let at = (row * columns + column).checked_rem(numbers.len());
        at.map_or(T::zero(), |at| numbers[at])
    })
}

fn exercise<T: Scalar>(numbers: &[T], rows: usize, columns: usize, rule: RankRule) -> Outcome {
    let h = matrix(numbers, rows, columns);
    let (mut factors, mut workspace) = (Factors::new(), Workspace::new());
    let computed = factors.compute(h.view(), rule, &mut workspace);
    if let Some(((row, column), value)) = h.indexed_iter().find(|(_, value)| !value.is_finite()) {
        match computed {
            Err(Error::NonFinite {
                row: named_row,
                column: named_column,
                ..
            }) => assert_eq!((named_row, named_column), (row, column)),
            other => panic!("{value} at ({row}, {column}) gave {other:?}"),
        }
        return Outcome::refused(&"not finite");
    }
    if let Err(error) = computed {
        panic!("a finite matrix is refused: {error}\n{h}");
    }
    let is_zero = h.iter().all(|entry| *entry == T::zero());
    let choice = factors.choice();
    assert_eq!(choice.p == 0, is_zero);
    assert!(choice.p <= rows.min(columns) && choice.p <= choice.numerical_rank);
    assert!(choice.gap.is_finite() && (0.0..=1.0 + 1e-12).contains(&choice.captured));
    let sigma: Vec<f64> = factors.singular_values().collect();
    assert!(sigma.iter().all(|value| value.is_finite() && *value >= 0.0));
    assert!(sigma.is_sorted_by(|left, right| left >= right));

    let tolerance = 16.0 * T::eps() * (rows + columns) as f64;
    let projector = factors.projector::<T>().mapv(T::as_f64);
    check_projector(&projector, choice.p, tolerance);
    check_residual(&h, &projector, &sigma, choice.p, tolerance);
    check_gradient(&h, &factors, numbers, &mut workspace);
    Outcome::read(&[
        rows,
        columns,
        choice.p,
        choice.numerical_rank,
        usize::from(choice.extended_by_tie),
        usize::from(choice.gap > 1e-3),
    ])
}

/// P = P^T, P^2 = P, and the trace counts the directions.
pub(crate) fn check_projector(projector: &Array2<f64>, p: usize, tolerance: f64) {
    let apart = |left: &Array2<f64>, right: &Array2<f64>| {
        left.iter().zip(right).fold(0.0, |most: f64, (a, b)| {
            if (a - b).abs() <= most {
                most
            } else {
                (a - b).abs()
            }
        })
    };
    let transposed = projector.t().as_standard_layout().to_owned();
    assert_eq!(apart(projector, &transposed), 0.0, "a projector is symmetric");
    let defect = apart(&projector.dot(projector), projector);
    assert!(
        defect <= tolerance,
        "P^2 - P is {defect:e}, tolerance {tolerance:e}"
    );
    let off = (projector.diag().sum() - p as f64).abs();
    assert!(
        off <= tolerance * p.max(1) as f64,
        "the trace is off by {off:e} for p = {p}"
    );
}

/// What the projector leaves of H is what the dropped singular values say.
fn check_residual<T: Scalar>(
    h: &Array2<T>,
    projector: &Array2<f64>,
    sigma: &[f64],
    p: usize,
    tolerance: f64,
) {
    let scale = h
        .iter()
        .fold(0.0, |most: f64, entry| most.max(entry.as_f64().abs()));
    // A singular value beyond the largest number is given as that.
    if scale == 0.0 || sigma.first().is_some_and(|value| *value >= f64::MAX) {
        return;
    }
    let scaled = h.mapv(|entry| entry.as_f64() / scale);
    let residual = &scaled - &scaled.dot(projector);
    let norm = residual.iter().map(|entry| entry * entry).sum::<f64>().sqrt();
    let dropped = sigma
        .iter()
        .skip(p)
        .map(|value| (value / scale).powi(2))
        .sum::<f64>()
        .sqrt();
    // Singular values that are denormal have few digits.
    let rounding = sigma.len() as f64 * f64::from_bits(1) / scale;
    let largest = scaled.iter().map(|entry| entry * entry).sum::<f64>().sqrt();
    assert!(
        norm <= dropped + rounding + tolerance * largest,
        "|H - H P| = {norm:e}, but the dropped singular values make {dropped:e} of {largest:e}"
    );
}

/// The gradient is finite for every finite upstream gradient, and refused for
/// others.
fn check_gradient<T: Scalar>(h: &Array2<T>, factors: &Factors, numbers: &[T], workspace: &mut Workspace) {
    let columns = h.ncols();
    let reversed: Vec<T> = numbers.iter().rev().copied().collect();
    let upstream = matrix(&reversed, columns, columns);
    let finite = upstream.iter().all(|entry| entry.is_finite());
    match factors.gradient(h.view(), upstream.view(), workspace) {
        Ok(gradient) => assert!(
            finite && gradient.iter().all(|entry| entry.is_finite()),
            "{gradient}"
        ),
        Err(Error::NonFinite { .. }) if !finite => {}
        Err(error) => panic!("no gradient: {error}"),
    }
    let flat = matrix(&reversed, 1, Flatten::length(columns)).remove_axis(ndarray::Axis(0));
    let finite = flat.iter().all(|entry| entry.is_finite());
    for flatten in [Flatten::Upper, Flatten::Isometric] {
        let mut gradient = Array2::from_elem(h.dim(), T::nan());
        let made =
            factors.gradient_of_embedding(h.view(), flat.view(), flatten, gradient.view_mut(), workspace);
        match made {
            Ok(()) => assert!(
                finite && gradient.iter().all(|entry| entry.is_finite()),
                "{gradient}"
            ),
            Err(Error::NonFinite { .. }) if !finite => {}
            Err(error) => panic!("no gradient of the embedding: {error}"),
        }
    }
}
