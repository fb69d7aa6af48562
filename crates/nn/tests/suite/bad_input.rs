//! Input that is refused, with the error that says why.

use candle_core::{DType, Device, Tensor};
use egg_nn::{BatchNorm1d, Error, Init, Linear, Mlp, MlpConfig, Parameters, Pass, relu};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

#[test]
fn layers_refuse_wrong_shapes_and_types() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut parameters = Parameters::new(DType::F32, &Device::Cpu).unwrap();
    let mut root = parameters.root(&mut rng);
    let linear = Linear::new(&mut root.enter("linear"), 3, 2).unwrap();
    let norm = BatchNorm1d::new(&mut root.enter("norm"), 3).unwrap();
    let pass = &mut Pass::Evaluation;
    for shape in [vec![3], vec![2, 4], vec![2, 2, 3], vec![]] {
        let x = Tensor::zeros(shape.as_slice(), DType::F32, &Device::Cpu).unwrap();
        for refused in [linear.forward(&x, pass), norm.forward(&x, pass)] {
            assert!(matches!(refused, Err(Error::Shape { found, .. }) if found == shape));
        }
    }
    let x = Tensor::zeros((2, 3), DType::F64, &Device::Cpu).unwrap();
    for refused in [linear.forward(&x, pass), norm.forward(&x, pass)] {
        assert!(matches!(
            refused,
            Err(Error::DType {
                found: DType::F64,
                ..
            })
        ));
    }
    let x = Tensor::zeros((2, 3), DType::U32, &Device::Cpu).unwrap();
    assert!(matches!(relu(&x), Err(Error::DType { .. })));
}

#[test]
fn layers_without_features_are_refused() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut parameters = Parameters::new(DType::F32, &Device::Cpu).unwrap();
    let mut root = parameters.root(&mut rng);
    assert!(matches!(
        Linear::new(&mut root.enter("a"), 0, 2),
        Err(Error::Parameter { .. })
    ));
    assert!(matches!(
        Linear::new(&mut root.enter("b"), 2, 0),
        Err(Error::Parameter { .. })
    ));
    assert!(matches!(
        BatchNorm1d::new(&mut root.enter("c"), 0),
        Err(Error::Parameter { .. })
    ));
    let short = Mlp::new(&mut root.enter("d"), &MlpConfig::new(&[3]));
    assert!(matches!(short, Err(Error::Parameter { value: 1.0, .. })));
    let wild = Init::Uniform { bound: f64::NAN };
    assert!(matches!(
        root.parameter("e", 3, wild),
        Err(Error::Parameter { .. })
    ));
    assert!(matches!(
        root.parameter("f", 3, Init::GlorotUniform),
        Err(Error::Shape { .. })
    ));
}
