//! The embedding as candle's module, in models of candle-nn.

use candle_core::{DType, Module, Var};
use candle_nn::seq;
use egg_autodiff::{Embedder, Flatten, RankRule};

use crate::differences::{flat, normal};

#[test]
fn module_matches_the_embedder() {
    let offsets = [0, 3, 3, 10, 11];
    for dtype in [DType::F32, DType::F64] {
        let h = Var::from_tensor(&normal(11, 5, 1).to_dtype(dtype).unwrap()).unwrap();
        let embedder = Embedder::new(RankRule::Relative(0.5), Flatten::Isometric).unwrap();
        let embedded = embedder.embed(&h, &offsets).unwrap();
        let model = seq().add(embedder.with_offsets(offsets));
        let applied = model.forward(&h).unwrap();
        assert_eq!(flat(&applied), flat(&embedded));

        let gradient = |rows: &candle_core::Tensor| {
            let loss = rows.sqr().unwrap().sum_all().unwrap();
            flat(loss.backward().unwrap().get(&h).unwrap())
        };
        assert_eq!(gradient(&applied), gradient(&embedded));
    }
}

#[test]
fn module_errors_name_the_fault() {
    let embedder = Embedder::new(RankRule::Fixed(1), Flatten::Upper).unwrap();
    let short = embedder.with_offsets(vec![0, 2]);
    let refused = short.forward(&normal(3, 2, 1)).unwrap_err();
    assert!(
        refused.to_string().contains("offsets[1] = 2 is not allowed"),
        "{refused}"
    );
}
