//! Configurations in files and by name.

use candle_core::{DType, Device};
use egg_autodiff::{Flatten, RankRule};
use egg_nn::Parameters;
use egg_pool::{Error, FilterConfig, PoolingConfig};
use serde::{Deserialize, Serialize};

use crate::samples::{build, rng};

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct File {
    pooling: PoolingConfig,
}

fn various() -> Vec<PoolingConfig> {
    let mut all = PoolingConfig::all().to_vec();
    for rank in [
        RankRule::Fixed(3),
        RankRule::Ratio(0.2),
        RankRule::Threshold(0.8),
        RankRule::Relative(0.1),
        RankRule::Energy(0.9),
    ] {
        let flatten = Flatten::Isometric;
        all.push(PoolingConfig::Egg { rank, flatten });
    }
    for filter in [
        FilterConfig::Resolvent(2.5),
        FilterConfig::Sqrt,
        FilterConfig::Log1p,
    ] {
        let flatten = Flatten::Upper;
        all.push(PoolingConfig::SoftEgg { filter, flatten });
    }
    all.push(PoolingConfig::Pan {
        ratio: 0.25,
        filter_size: 4,
    });
    all.push(PoolingConfig::Random { ratio: 0.1, seed: 77 });
    all
}

#[test]
fn goes_through_json_and_toml() {
    for pooling in various() {
        let file = File { pooling };
        let json = serde_json::to_string(&file).unwrap();
        assert_eq!(serde_json::from_str::<File>(&json).unwrap(), file, "{json}");
        let toml = toml::to_string(&file).unwrap();
        assert_eq!(toml::from_str::<File>(&toml).unwrap(), file, "{toml}");
    }
}

#[test]
fn reads_as_people_write() {
    let read = |text: &str| toml::from_str::<File>(text).unwrap().pooling;
    let flatten = Flatten::Upper;
    assert_eq!(read("pooling = 'edge'"), PoolingConfig::Edge);
    assert_eq!(read("pooling = { kind = 'egg' }"), PoolingConfig::default());
    let rank = RankRule::Energy(0.9);
    assert_eq!(
        read("pooling = { kind = 'egg', rank = { energy = 0.9 } }"),
        PoolingConfig::Egg { rank, flatten }
    );
    let filter = FilterConfig::Sqrt;
    assert_eq!(
        read("[pooling]\nkind = 'soft-egg'\nfilter = 'sqrt'"),
        PoolingConfig::SoftEgg { filter, flatten }
    );
    assert_eq!(
        read("pooling = { kind = 'top-k', ratio = 0.8 }"),
        PoolingConfig::TopK { ratio: 0.8 }
    );
    let random = read("pooling = { kind = 'random', seed = 5 }");
    assert_eq!(random, PoolingConfig::Random { ratio: 0.5, seed: 5 });
}

#[test]
fn refuses_what_it_does_not_know() {
    for (text, part) in [
        ("pooling = 'summ'", "there is no pooling \"summ\""),
        ("pooling = { kind = 'summ' }", "there is no pooling \"summ\""),
        ("pooling = { kind = 'topk', share = 0.5 }", "unknown field"),
        ("pooling = { kind = 'topk', ratio = 1.5 }", "ratio = 1.5"),
        ("pooling = { kind = 'sag', ratio = 0.0 }", "ratio = 0"),
        (
            "pooling = { kind = 'pan', filter_size = 0 }",
            "paths have from 1 to 16 steps",
        ),
        (
            "pooling = { kind = 'egg', rank = { ratio = 80.0 } }",
            "x must be in (0, 1]",
        ),
        (
            "pooling = { kind = 'soft-egg', filter = { resolvent = 0.0 } }",
            "r = 0",
        ),
        (
            "pooling = { kind = 'sum', ratio = 0.5 }",
            "sum pooling has no setting ratio",
        ),
        (
            "pooling = { kind = 'pan', seed = 1 }",
            "pan pooling has no setting seed",
        ),
        ("pooling = 3", "the name of a pooling, or a table"),
        ("pooling = { ratio = 0.5 }", "missing field `kind`"),
    ] {
        let error = toml::from_str::<File>(text).unwrap_err().to_string();
        assert!(error.contains(part), "{text}: {error}");
    }
}

#[test]
fn names_are_those_of_the_poolings() {
    for (config, name) in PoolingConfig::all().iter().zip(PoolingConfig::NAMES) {
        assert_eq!(config.name(), name);
        assert_eq!(config.to_string(), name);
        assert_eq!(&name.parse::<PoolingConfig>().unwrap(), config);
    }
    let error = "mean".parse::<PoolingConfig>().unwrap_err();
    assert!(matches!(&error, Error::UnknownPooling { name, .. } if name == "mean"));
    assert!(error.to_string().contains("egg, soft-egg, sum"));
}

#[test]
fn bad_settings_are_typed_errors() {
    let mut rng = rng(0);
    let mut parameters = Parameters::new(DType::F32, &Device::Cpu).unwrap();
    let mut refused = |config: PoolingConfig, features: usize| {
        config
            .build(&mut parameters.root(&mut rng), features)
            .unwrap_err()
    };
    for ratio in [0.0, -0.5, 1.0, 1.5, f64::NAN, f64::INFINITY] {
        for config in [
            PoolingConfig::TopK { ratio },
            PoolingConfig::Sag { ratio },
            PoolingConfig::Random { ratio, seed: 0 },
            PoolingConfig::Pan {
                ratio,
                filter_size: 2,
            },
        ] {
            let error = refused(config, 4);
            assert!(
                matches!(error, Error::PoolingParameter { name: "ratio", .. }),
                "{error}"
            );
        }
    }
    let filter_size = 17;
    let error = refused(
        PoolingConfig::Pan {
            ratio: 0.5,
            filter_size,
        },
        4,
    );
    assert!(matches!(
        error,
        Error::PoolingParameter {
            name: "filter_size",
            ..
        }
    ));
    let flatten = Flatten::Upper;
    let rank = RankRule::Fixed(0);
    assert!(matches!(
        refused(PoolingConfig::Egg { rank, flatten }, 4),
        Error::Embedding(_)
    ));
    let filter = FilterConfig::Resolvent(f64::NAN);
    assert!(matches!(
        refused(PoolingConfig::SoftEgg { filter, flatten }, 4),
        Error::Embedding(_)
    ));
    for config in PoolingConfig::all() {
        let error = refused(config, 0);
        assert!(
            matches!(error, Error::PoolingParameter { name: "features", .. }),
            "{error}"
        );
    }
}

#[test]
fn widths_are_known_before_building() {
    for config in various() {
        let (pooling, _) = build(&config, 6, DType::F32, 0);
        assert_eq!(pooling.width(), config.width(6), "{config:?}");
        let egg = config.name().ends_with("egg");
        assert_eq!(config.width(6), if egg { 21 } else { 6 });
    }
}
