//! Invalid matrices, rank rules and gradients: every function refuses
//! them with the error its documentation names, and the message has the
//! numbers.

use crate::refusal::{NOT_NUMBERS, empty, is, with};
use egg_geometry::*;
use ndarray::{Array1, Array2, ArrayView2, array};

const RULE: RankRule = RankRule::Fixed(1);

#[test]
fn invalid_matrices_are_refused() {
    type Entry = fn(ArrayView2<'_, f64>) -> Result<()>;
    let entries: [Entry; 3] = [
        |h| rectify(h, RULE).map(drop),
        |h| rectify_nodes(h, RULE).map(drop),
        |h| GrassmannPoint::from_data(h, RULE).map(drop),
    ];
    for entry in entries {
        for h in empty() {
            let (n, m) = h.dim();
            refused!(
                entry(h.view()),
                Error::Empty { rows, columns, .. } if (*rows, *columns) == (n, m),
                n, m
            );
        }
    }
    for value in NOT_NUMBERS {
        for entry in [entries[0], entries[2]] {
            let h = with(4, 3, (2, 1), value);
            refused!(
                entry(h.view()),
                Error::NonFinite { row: 2, column: 1, value: v, .. } if is(*v, value),
                2, 1, value
            );
        }
        refused!(
            entries[1](with(4, 3, (2, 1), value).view()),
            Error::NonFinite { .. },
            value
        );
    }
    // The sum of finite entries overflows, and nothing is wrong with that.
    rectify(array![[f64::MAX, f64::MAX]].view(), RULE).unwrap();
    let zero = Array2::<f64>::zeros((4, 3));
    assert_eq!(rectify(zero.view(), RULE).unwrap().choice.p, 0);
    refused!(
        GrassmannPoint::from_data(zero.view(), RULE),
        Error::ZeroSubspace,
        "zero"
    );
    refused!(
        rectify(zero.view(), RULE).unwrap().point(),
        Error::ZeroSubspace,
        "zero"
    );
}

/// `rectify_nodes` decomposes the transpose; that is its own affair.
#[test]
fn node_factors_name_the_bad_entry_of_h() {
    for value in NOT_NUMBERS {
        let h = with(4, 3, (2, 1), value);
        refused!(
            rectify_nodes(h.view(), RULE),
            Error::NonFinite {
                row: 2,
                column: 1,
                ..
            },
            2,
            1,
            value
        );
    }
}

#[test]
fn rank_rules_out_of_range_are_refused() {
    let h = array![[1.0, 2.0], [3.0, 4.0]];
    let bad = [
        (RankRule::Fixed(0), 0.0),
        (RankRule::Ratio(0.0), 0.0),
        (RankRule::Ratio(-0.5), -0.5),
        (RankRule::Ratio(1.5), 1.5),
        (RankRule::Ratio(f64::NAN), f64::NAN),
        (RankRule::Threshold(-0.1), -0.1),
        (RankRule::Threshold(f64::INFINITY), f64::INFINITY),
        (RankRule::Threshold(f64::NAN), f64::NAN),
        (RankRule::Relative(1.0), 1.0),
        (RankRule::Relative(-0.5), -0.5),
        (RankRule::Relative(f64::NAN), f64::NAN),
        (RankRule::Energy(0.0), 0.0),
        (RankRule::Squares(0.0), 0.0),
        (RankRule::Squares(1.5), 1.5),
        (RankRule::Energy(1.25), 1.25),
        (RankRule::Energy(f64::NAN), f64::NAN),
    ];
    for (rule, value) in bad {
        refused!(rule.validate(), Error::Parameter { value: v, .. } if is(*v, value), value);
        refused!(rectify(h.view(), rule), Error::Parameter { value: v, .. } if is(*v, value), value);
        refused!(rectify_nodes(h.view(), rule), Error::Parameter { .. }, value);
        refused!(
            GrassmannPoint::from_data(h.view(), rule),
            Error::Parameter { .. },
            value
        );
        refused!(
            Factors::new().compute(h.view(), rule, &mut Workspace::new()),
            Error::Parameter { .. },
            value
        );
        refused!(
            rectify_batch(&[h.view()], rule),
            Error::InBatch { index: 0, source } if matches!(**source, Error::Parameter { .. }),
            value
        );
        refused!(
            embed_batch(&[h.view()], rule, Flatten::Upper),
            Error::InBatch { .. },
            value
        );
        refused!(project_batch(&[h.view()], rule), Error::InBatch { .. }, value);
    }
    for rule in [
        RankRule::Fixed(usize::MAX),
        RankRule::Threshold(f64::MAX),
        RankRule::Ratio(5e-324),
    ] {
        assert!((1..=2).contains(&rectify(h.view(), rule).unwrap().choice.p));
    }
}

#[test]
fn batch_errors_name_the_element() {
    let (good, bad) = (array![[1.0, 2.0]], array![[1.0, f64::NAN]]);
    let views = [good.view(), good.view(), bad.view(), bad.view()];
    let nan = |error: &Error| {
        matches!(
            error,
            Error::NonFinite {
                row: 0,
                column: 1,
                ..
            }
        )
    };
    refused!(rectify_batch(&views, RULE), Error::InBatch { index: 2, source } if nan(source), 2, "NaN");
    refused!(project_batch(&views, RULE), Error::InBatch { index: 2, source } if nan(source), 2, "NaN");
    refused!(
        embed_batch(&views, RULE, Flatten::Upper),
        Error::InBatch { index: 2, source } if nan(source),
        2, "NaN"
    );
    let wide = array![[1.0, 2.0, 3.0]];
    refused!(
        embed_batch(&[good.view(), wide.view()], RULE, Flatten::Upper),
        Error::InBatch { index: 1, source } if matches!(**source, Error::Shape { columns: 2, found_columns: 3, .. }),
        1, 2, 3
    );
    for hollow in empty() {
        let views = [good.view(), hollow.view()];
        let is_empty = |error: &Error| matches!(error, Error::Empty { .. });
        refused!(rectify_batch(&views, RULE), Error::InBatch { index: 1, source } if is_empty(source), 0);
        refused!(project_batch(&views, RULE), Error::InBatch { index: 1, source } if is_empty(source), 0);
        refused!(
            embed_batch(&views, RULE, Flatten::Upper),
            Error::InBatch { index: 1, .. },
            1
        );
        refused!(
            embed_batch(&[hollow.view()], RULE, Flatten::Upper),
            Error::InBatch { index: 0, .. },
            0
        );
    }
    refused!(
        embed_batch::<f64>(&[], RULE, Flatten::Upper),
        Error::TooFew {
            found: 0,
            needed: 1,
            ..
        },
        0,
        1
    );
    assert!(rectify_batch::<f64>(&[], RULE).unwrap().is_empty());
    assert!(project_batch::<f64>(&[], RULE).unwrap().is_empty());
}

#[test]
fn factors_and_gradients_of_wrong_shapes_are_refused() {
    let h = array![[1.0, 2.0, 0.0], [0.0, 1.0, 3.0]];
    let (mut factors, mut work) = (Factors::new(), Workspace::new());
    for value in NOT_NUMBERS {
        refused!(
            factors.compute(with(2, 3, (1, 2), value).view(), RULE, &mut work),
            Error::NonFinite {
                row: 1,
                column: 2,
                ..
            },
            1,
            2,
            value
        );
    }
    refused!(
        factors.compute(Array2::<f64>::zeros((4, 0)).view(), RULE, &mut work),
        Error::Empty {
            rows: 4,
            columns: 0,
            ..
        },
        4,
        0
    );
    factors
        .compute(Array2::<f64>::zeros((0, 3)).view(), RULE, &mut work)
        .unwrap();
    assert_eq!((factors.choice().p, factors.shape()), (0, (0, 3)));
    factors.compute(h.view(), RULE, &mut work).unwrap();

    let g = Array2::<f64>::eye(3);
    refused!(
        factors.gradient(h.view(), Array2::eye(2).view(), &mut work),
        Error::Shape {
            rows: 3,
            columns: 3,
            found_rows: 2,
            found_columns: 2,
            ..
        },
        "3 x 3",
        "2 x 2"
    );
    refused!(
        factors.gradient(h.t(), g.view(), &mut work),
        Error::Shape {
            rows: 2,
            columns: 3,
            found_rows: 3,
            found_columns: 2,
            ..
        },
        "2 x 3",
        "3 x 2"
    );
    for value in NOT_NUMBERS {
        refused!(
            factors.gradient(h.view(), with(3, 3, (0, 2), value).view(), &mut work),
            Error::NonFinite {
                row: 0,
                column: 2,
                ..
            },
            value
        );
    }
    let mut out = Array2::zeros((2, 3));
    let mut flat = Array1::<f64>::ones(6);
    let short = Array1::<f64>::ones(5);
    refused!(
        factors.gradient_of_embedding(h.view(), short.view(), Flatten::Upper, out.view_mut(), &mut work),
        Error::Length {
            expected: 6,
            found: 5,
            ..
        },
        6,
        5
    );
    let mut wrong = Array2::zeros((3, 3));
    refused!(
        factors.gradient_of_embedding(h.view(), flat.view(), Flatten::Upper, wrong.view_mut(), &mut work),
        Error::Shape {
            rows: 2,
            columns: 3,
            found_rows: 3,
            found_columns: 3,
            ..
        },
        "2 x 3",
        "3 x 3"
    );
    refused!(
        factors.gradient_of_embedding(
            wrong.view(),
            flat.view(),
            Flatten::Upper,
            out.view_mut(),
            &mut work
        ),
        Error::Shape { .. },
        "3 x 3"
    );
    flat[4] = f64::INFINITY;
    refused!(
        factors.gradient_of_embedding(h.view(), flat.view(), Flatten::Upper, out.view_mut(), &mut work),
        Error::NonFinite { .. },
        4,
        "inf"
    );
    let mut slots = [0.0f64; 5];
    refused!(
        factors.embed_into(Flatten::Upper, &mut slots, &mut work),
        Error::Length {
            expected: 6,
            found: 5,
            ..
        },
        6,
        5
    );

    // Factors of nothing yet.
    let none = Factors::new();
    assert_eq!(
        (
            none.choice().p,
            none.basis::<f64>().dim(),
            none.projector::<f64>().dim()
        ),
        (0, (0, 0), (0, 0))
    );
    refused!(
        none.gradient(h.view(), g.view(), &mut work),
        Error::Shape { .. },
        "3 x 3"
    );
    none.embed_into::<f64>(Flatten::Upper, &mut [], &mut work)
        .unwrap();
    let (nothing, mut empty) = (Array2::<f64>::zeros((0, 0)), Array2::zeros((0, 0)));
    let flat = ndarray::Array1::zeros(0);
    none.gradient_of_embedding(
        nothing.view(),
        flat.view(),
        Flatten::Upper,
        empty.view_mut(),
        &mut work,
    )
    .unwrap();
}

/// A matrix that is not the one decomposed, and no matrix at all: the gradient
/// is documented as finite or refused.
#[test]
fn gradient_is_never_nan() {
    let h = array![[1.0, 2.0, 0.0], [0.0, 1.0, 3.0]];
    let (mut factors, mut work) = (Factors::new(), Workspace::new());
    factors.compute(h.view(), RULE, &mut work).unwrap();
    for value in NOT_NUMBERS {
        let broken = with(2, 3, (1, 1), value);
        refused!(
            factors.gradient(broken.view(), Array2::eye(3).view(), &mut work),
            Error::NonFinite {
                row: 1,
                column: 1,
                ..
            },
            value
        );
    }
}
