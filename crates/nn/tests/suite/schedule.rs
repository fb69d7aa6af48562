//! Learning rates and clipped gradients against PyTorch; early stopping.

use approx::assert_abs_diff_eq;
use candle_core::{DType, Device, Tensor};
use egg_nn::{
    EarlyStopping, Error, Goal, Init, Parameters, Plateau, PlateauConfig, Verdict, clip_gradient_norm,
};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::adam::gradients;
use crate::fixture::{assert_close, flat, tolerance, training};

#[test]
fn plateau_rates_match_pytorch() {
    for case in training().plateau {
        let config = PlateauConfig {
            factor: case.factor,
            patience: case.patience,
            threshold: case.threshold,
            min_rate: case.min_lr,
        };
        let mut plateau = Plateau::new(config).unwrap();
        let mut rate = 0.1;
        let rates = case.metrics.iter().map(|metric| {
            rate = plateau.next_rate(*metric, rate);
            // Kept and restored at every epoch.
            let kept = serde_json::to_string(&plateau).unwrap();
            plateau = serde_json::from_str(&kept).unwrap();
            rate
        });
        assert_eq!(rates.collect::<Vec<f64>>(), case.rates);
    }
}

#[test]
fn non_finite_metric_is_no_improvement() {
    let config = PlateauConfig {
        factor: 0.5,
        patience: 1,
        ..Default::default()
    };
    let mut plateau = Plateau::new(config).unwrap();
    assert_eq!(plateau.next_rate(f64::NAN, 0.1), 0.1);
    assert_eq!(plateau.next_rate(f64::NEG_INFINITY, 0.1), 0.05);
    assert_eq!(plateau.best(), None);
}

#[test]
fn bad_schedules_are_refused() {
    let good = PlateauConfig::default();
    for bad in [
        PlateauConfig { factor: 1.0, ..good },
        PlateauConfig {
            factor: f64::NAN,
            ..good
        },
        PlateauConfig {
            threshold: -1.0,
            ..good
        },
        PlateauConfig {
            min_rate: f64::INFINITY,
            ..good
        },
    ] {
        assert!(matches!(Plateau::new(bad), Err(Error::Parameter { .. })));
    }
}

#[test]
fn early_stopping_waits_for_its_patience() {
    let mut stopping = EarlyStopping::new(Goal::Min, 3);
    let verdicts = [1.0, 0.5, 0.5, 0.6, 0.4, 0.4, f64::NAN, f64::NEG_INFINITY, 0.5].map(|loss| {
        let kept = serde_json::to_string(&stopping).unwrap();
        stopping = serde_json::from_str(&kept).unwrap();
        stopping.observe(loss)
    });
    use Verdict::{Better, Stop, Wait};
    assert_eq!(
        verdicts,
        [Better, Better, Wait, Wait, Better, Wait, Wait, Stop, Stop]
    );
    assert_eq!((stopping.best(), stopping.best_epoch()), (Some(0.4), Some(4)));
    assert_eq!(stopping.epochs(), 9);
}

#[test]
fn early_stopping_stops_without_any_improvement() {
    let mut stopping = EarlyStopping::new(Goal::Max, 2);
    assert_eq!(stopping.observe(f64::NAN), Verdict::Wait);
    assert_eq!(stopping.observe(f64::NAN), Verdict::Stop);
    assert_eq!((stopping.best(), stopping.best_epoch()), (None, None));
}

fn two_parameters(dtype: DType) -> Parameters {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut parameters = Parameters::new(dtype, &Device::Cpu).unwrap();
    let mut root = parameters.root(&mut rng);
    root.parameter("b", 4, Init::Zeros).unwrap();
    root.parameter("w", (3, 2), Init::Zeros).unwrap();
    parameters
}

#[test]
fn clipped_gradients_match_pytorch() {
    for case in training().clip {
        for dtype in [DType::F32, DType::F64] {
            let parameters = two_parameters(dtype);
            let mut gradients = gradients(&parameters, &case.before);
            let norm = clip_gradient_norm(&parameters, &mut gradients, case.greatest).unwrap();
            assert_abs_diff_eq!(norm, case.norm, epsilon = tolerance(dtype));
            for (name, after) in &case.after {
                let found = gradients.get(parameters.get(name).unwrap()).unwrap();
                assert_close(name, found, after, tolerance(dtype));
            }
        }
    }
}

#[test]
fn non_finite_gradient_is_named() {
    let parameters = two_parameters(DType::F32);
    let (b, w) = (parameters.get("b").unwrap(), parameters.get("w").unwrap());
    let mut gradients = b.sum_all().unwrap().backward().unwrap();
    let infinite = Tensor::full(f32::INFINITY, (3, 2), &Device::Cpu).unwrap();
    gradients.insert(w, infinite);
    let refused = clip_gradient_norm(&parameters, &mut gradients, 0.1);
    assert!(matches!(refused, Err(Error::NonFiniteGradient { name }) if name == "w"));
    assert_eq!(flat(gradients.get(b).unwrap()), [1.0; 4]);
    for norm in [0.0, -1.0, f64::NAN] {
        let refused = clip_gradient_norm(&parameters, &mut gradients, norm);
        assert!(matches!(refused, Err(Error::Parameter { .. })));
    }
}
