//! Bad input is an error that says what is wrong and where.

use candle_core::{DType, Device, Tensor, Var};
use egg_autodiff::{
    Embedder, Error, Filter, Flatten, RankRule, grassmann_embed, leverage, principal_angles, projector,
    soft_embed, svd, svd_with_floor,
};

use crate::differences::normal;

/// Asserts the variant, and that the message mentions each of the words.
macro_rules! refused {
    ($result:expr, $pattern:pat $(if $guard:expr)?, $($word:expr),*) => {{
        let error = $result.expect_err(stringify!($result));
        assert!(matches!(&error, $pattern $(if $guard)?), "{} gave {error:?}", stringify!($result));
        let message = error.to_string();
        $(assert!(message.contains($word), "{message:?} does not mention {:?}", $word);)*
    }};
}

const RULE: RankRule = RankRule::Fixed(1);

fn embed(h: &Tensor, offsets: &[usize]) -> egg_autodiff::Result<Tensor> {
    grassmann_embed(h, offsets, RULE, Flatten::Upper)
}

fn with(value: f64, at: usize) -> Tensor {
    let mut entries = vec![1.0; 12];
    entries[at] = value;
    Tensor::from_vec(entries, (6, 2), &Device::Cpu).unwrap()
}

#[test]
fn non_finite_input_is_refused_naming_the_graph() {
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        // Row 3, column 1: row 1 of graph 2, since graph 1 is empty. One in the
        // last graph as well, which is not the first.
        let h = (with(value, 7) + with(value, 11)).unwrap();
        let offsets = [0, 2, 2, 5, 6];
        refused!(
            embed(&h, &offsets),
            Error::InGraph { graph: 2, .. },
            "graph 2",
            "row 1, column 1"
        );
        refused!(
            leverage(&h, &offsets, RULE),
            Error::InGraph { graph: 2, .. },
            "row 1, column 1"
        );
        let filter = Filter::resolvent(1.0).unwrap();
        refused!(
            soft_embed(&h, &offsets, &filter, Flatten::Upper),
            Error::InGraph { graph: 2, .. },
            "row 1"
        );
        refused!(projector(&h, RULE), Error::Geometry(_), "row 3");
        refused!(svd(&h), Error::Geometry(_), "row 3");
        refused!(
            svd(&h.reshape((3, 2, 2)).unwrap()),
            Error::InGraph { graph: 1, .. },
            "graph 1"
        );
        refused!(
            principal_angles(&h, &normal(6, 2, 1)),
            Error::Geometry(_),
            "row 3"
        );
    }
}

#[test]
fn non_finite_upstream_gradient_is_refused_naming_the_graph() {
    let h = Var::from_tensor(&normal(4, 2, 1)).unwrap();
    let weights = Tensor::new(&[[1.0, 1.0, 1.0], [1.0, f64::NAN, 1.0]], &Device::Cpu).unwrap();
    let filter = Filter::resolvent(1.0).unwrap();
    for rows in [
        embed(&h, &[0, 2, 4]),
        soft_embed(&h, &[0, 2, 4], &filter, Flatten::Upper),
    ] {
        let loss = (rows.unwrap() * &weights).unwrap().sum_all().unwrap();
        let message = loss.backward().unwrap_err().to_string();
        assert!(
            message.contains("graph 1") && message.contains("gradient"),
            "{message}"
        );
    }
}

#[test]
fn invalid_offsets_are_refused() {
    let h = normal(5, 2, 2);
    refused!(embed(&h, &[]), Error::Offsets { position: 0, .. }, "at least one");
    refused!(
        embed(&h, &[1, 5]),
        Error::Offsets {
            position: 0,
            value: 1,
            ..
        },
        "must be 0"
    );
    refused!(
        embed(&h, &[0, 3, 2, 5]),
        Error::Offsets {
            position: 2,
            value: 2,
            ..
        },
        "offsets[2] = 2"
    );
    refused!(
        embed(&h, &[0, 4]),
        Error::Offsets {
            position: 1,
            value: 4,
            ..
        },
        "number of rows, 5"
    );
    refused!(embed(&h, &[0]), Error::Offsets { position: 0, .. }, "5");
    refused!(embed(&h, &[0, 9]), Error::Offsets { .. }, "9");
}

#[test]
fn wrong_shapes_types_and_parameters_are_refused() {
    let whole = Tensor::zeros((3, 2), DType::U8, &Device::Cpu).unwrap();
    refused!(embed(&whole, &[0, 3]), Error::DType { .. }, "to_dtype");
    refused!(svd(&whole), Error::DType { .. }, "U8");
    let vector = Tensor::zeros(3, DType::F32, &Device::Cpu).unwrap();
    refused!(embed(&vector, &[0, 3]), Error::Shape { .. }, "[3]");
    refused!(svd(&vector), Error::Shape { .. }, "(rows, columns)");
    let narrow = Tensor::zeros((3, 0), DType::F32, &Device::Cpu).unwrap();
    refused!(embed(&narrow, &[0, 3]), Error::Shape { .. }, "column");
    refused!(
        Embedder::new(RankRule::Ratio(2.0), Flatten::Upper),
        Error::Geometry(_),
        "Ratio"
    );
    refused!(
        Filter::resolvent(f64::NAN),
        egg_geometry::Error::Parameter { .. },
        "NaN"
    );
    refused!(
        svd_with_floor(&normal(2, 2, 1), -1.0),
        Error::Parameter { .. },
        "floor"
    );
    refused!(
        principal_angles(&normal(3, 1, 1), &normal(4, 1, 1)),
        Error::Geometry(_),
        "R^3"
    );
    let parallel = Tensor::new(&[[1.0, 2.0], [1.0, 2.0], [0.0, 0.0]], &Device::Cpu).unwrap();
    refused!(
        principal_angles(&parallel, &normal(3, 1, 1)),
        Error::Geometry(_),
        "span"
    );
    let single = normal(3, 1, 1).to_dtype(DType::F32).unwrap();
    refused!(
        principal_angles(&normal(3, 1, 1), &single),
        Error::DType { .. },
        "f64"
    );
}

#[test]
fn filter_returning_nan_is_named() {
    let filter = Filter::custom(|lambda| 1.0 / (lambda - lambda), |_| 0.0);
    let h = normal(3, 2, 3);
    refused!(
        soft_embed(&h, &[0, 3], &filter, Flatten::Upper),
        Error::InGraph { graph: 0, .. },
        "lambda = 0"
    );
}

#[test]
fn empty_batches_and_empty_graphs_are_accepted() {
    let none = Tensor::zeros((0, 3), DType::F32, &Device::Cpu).unwrap();
    assert_eq!(embed(&none, &[0]).unwrap().dims(), [0, 6]);
    assert_eq!(
        embed(&none, &[0, 0, 0]).unwrap().to_vec2::<f32>().unwrap(),
        [[0.0; 6]; 2]
    );
    assert_eq!(leverage(&none, &[0, 0], RULE).unwrap().dims(), [0]);
    let var = Var::from_tensor(&none).unwrap();
    let loss = embed(&var, &[0, 0]).unwrap().sum_all().unwrap();
    assert_eq!(loss.backward().unwrap().get(&var).unwrap().dims(), [0, 3]);
}
