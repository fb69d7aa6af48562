//! Configurations in files and by name.

use candle_core::{DType, Device};
use egg_autodiff::{Flatten, RankRule};
use egg_nn::Parameters;
use egg_pool::pooling::{Avg, Concat, Edge, Egg, FilterConfig, Max, Pan, Random, Sag, SoftEgg, Sum, TopK};
use egg_pool::{Error, PoolingConfig};
use serde::{Deserialize, Serialize};

use crate::samples::{build, rng};

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct File {
    pooling: PoolingConfig,
}

fn various() -> Vec<PoolingConfig> {
    let mut all = PoolingConfig::all();
    for rank in [
        RankRule::Fixed(3),
        RankRule::Ratio(0.2),
        RankRule::Threshold(0.8),
        RankRule::Relative(0.1),
        RankRule::Energy(0.9),
    ] {
        let flatten = Flatten::Isometric;
        all.push(Egg { rank, flatten }.into());
    }
    for filter in [
        FilterConfig::Resolvent(2.5),
        FilterConfig::Sqrt,
        FilterConfig::Log1p,
    ] {
        let flatten = Flatten::Upper;
        all.push(SoftEgg { filter, flatten }.into());
    }
    all.push(
        Pan {
            ratio: 0.25,
            filter_size: 4,
        }
        .into(),
    );
    all.push(Random { ratio: 0.1, seed: 77 }.into());
    all.push(
        Concat {
            parts: vec![Max.into(), SoftEgg::default().into(), Sum.into()],
        }
        .into(),
    );
    all
}

#[test]
fn survives_json_toml_and_its_own_text() {
    for pooling in various() {
        let file = File { pooling };
        let json = serde_json::to_string(&file).unwrap();
        assert_eq!(serde_json::from_str::<File>(&json).unwrap(), file, "{json}");
        let toml = toml::to_string(&file).unwrap();
        assert_eq!(toml::from_str::<File>(&toml).unwrap(), file, "{toml}");
        let text = file.pooling.to_string();
        assert_eq!(text.parse::<PoolingConfig>().unwrap(), file.pooling, "{text}");
    }
}

#[test]
fn names_tables_and_texts_are_read() {
    let read = |text: &str| toml::from_str::<File>(text).unwrap().pooling;
    let flatten = Flatten::Upper;
    assert_eq!(read("pooling = 'edge'"), Edge.into());
    assert_eq!(read("pooling = { kind = 'egg' }"), PoolingConfig::default());
    let rank = RankRule::Energy(0.9);
    assert_eq!(
        read("pooling = { kind = 'egg', rank = { energy = 0.9 } }"),
        Egg { rank, flatten }.into()
    );
    let filter = FilterConfig::Sqrt;
    assert_eq!(
        read("[pooling]\nkind = 'soft-egg'\nfilter = 'sqrt'"),
        SoftEgg { filter, flatten }.into()
    );
    assert_eq!(
        read("pooling = { kind = 'top-k', ratio = 0.8 }"),
        TopK { ratio: 0.8 }.into()
    );
    let random = read("pooling = { kind = 'random', seed = 5 }");
    assert_eq!(random, Random { ratio: 0.5, seed: 5 }.into());
    assert_eq!(read("pooling = 'mean'"), Avg.into());
    assert_eq!(read("pooling = 'egg:energy=0.9'"), Egg { rank, flatten }.into());
    assert_eq!(
        read("pooling = 'soft-egg:filter=sqrt'"),
        SoftEgg { filter, flatten }.into()
    );
    let parts = vec![Avg.into(), Egg { rank, flatten }.into()];
    assert_eq!(
        read("pooling = 'concat:parts=mean+[egg:energy=0.9]'"),
        Concat { parts }.into()
    );
}

#[test]
fn unknown_names_and_settings_are_refused() {
    for (text, part) in [
        ("pooling = 'summ'", "there is no pooling called \"summ\""),
        (
            "pooling = { kind = 'summ' }",
            "there is no pooling called \"summ\"",
        ),
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
            "sum: it has no settings, so no ratio",
        ),
        (
            "pooling = { kind = 'pan', seed = 1 }",
            "pan: unknown field `seed`",
        ),
        ("pooling = 3", "3 is neither a name nor a table"),
        (
            "pooling = 'topk:share=0.5'",
            "no such setting as share; there are ratio",
        ),
        ("pooling = 'topk:ratio=2'", "ratio = 2"),
        ("pooling = 'concat:parts=[]'", "parts is empty"),
        ("pooling = 'concat:parts=avg+topk'", "topk makes smaller graphs"),
        ("pooling = { ratio = 0.5 }", "a table needs its kind"),
    ] {
        let error = toml::from_str::<File>(text).unwrap_err().to_string();
        assert!(error.contains(part), "{text}: {error}");
    }
}

#[test]
fn names_are_those_of_the_poolings() {
    let all = PoolingConfig::all();
    let names = PoolingConfig::names();
    assert_eq!(
        names[..all.len()],
        all.iter().map(PoolingConfig::name).collect::<Vec<_>>()
    );
    for (config, name) in all.iter().zip(names) {
        assert_eq!(config.to_string(), name);
        assert_eq!(&name.parse::<PoolingConfig>().unwrap(), config);
    }
    let error = "median".parse::<PoolingConfig>().unwrap_err();
    assert!(matches!(&error, Error::UnknownName { name, .. } if name == "median"));
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
            PoolingConfig::from(TopK { ratio }),
            Sag { ratio }.into(),
            Random { ratio, seed: 0 }.into(),
            Pan {
                ratio,
                filter_size: 2,
            }
            .into(),
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
        Pan {
            ratio: 0.5,
            filter_size,
        }
        .into(),
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
        refused(Egg { rank, flatten }.into(), 4),
        Error::Embedding(_)
    ));
    let filter = FilterConfig::Resolvent(f64::NAN);
    assert!(matches!(
        refused(SoftEgg { filter, flatten }.into(), 4),
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
    for (text, width) in [
        ("sum", 6),
        ("topk", 6),
        ("egg", 21),
        ("soft-egg", 21),
        ("concat:parts=avg+egg", 27),
    ] {
        assert_eq!(text.parse::<PoolingConfig>().unwrap().width(6), width, "{text}");
    }
    for config in various() {
        let (pooling, _) = build(&config, 6, DType::F32, 0);
        assert_eq!(pooling.width(), config.width(6), "{config:?}");
    }
}
