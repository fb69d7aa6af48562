//! Bad input of autoencoders is refused.

use approx::assert_abs_diff_eq;
use candle_core::{DType, Device, Tensor};
use egg_cluster::vgae::{
    Autoencoder, AutoencoderConfig, EncoderConfig, LinkTarget, LinkTask, Posterior, StopEarly,
    exact_likelihood, link_logits, sampled_likelihood,
};
use egg_cluster::{Error, Silent};
use egg_graph::{Features, Graph, GraphDataset};

use crate::tensors::{communities, normal, random_graph, rng};

fn train(dataset: &GraphDataset, config: &AutoencoderConfig) -> egg_cluster::Result<Autoencoder> {
    Autoencoder::train(&LinkTask::all_edges(dataset)?, config, 0, None, &mut Silent)
}

#[test]
fn embeddings_of_other_shapes_or_types_are_refused() {
    let target = LinkTarget::new(random_graph(5, 0.5, 1).view()).unwrap();
    let wrong = [
        normal((4, 2), DType::F32, 1),
        normal((5, 0), DType::F32, 1),
        normal((5, 2), DType::F64, 1).flatten_all().unwrap(),
    ];
    for z in &wrong {
        let refused = exact_likelihood(z, &target);
        assert!(
            matches!(refused, Err(Error::EmbeddingShape { nodes: 5, .. })),
            "{:?}",
            z.dims()
        );
        let refused = sampled_likelihood(z, &target, &mut rng(0));
        assert!(matches!(refused, Err(Error::EmbeddingShape { nodes: 5, .. })));
    }
    let whole = Tensor::zeros((5, 2), DType::U32, &Device::Cpu).unwrap();
    assert!(matches!(exact_likelihood(&whole, &target), Err(Error::Layer(_))));
    let (mu, log_sigma) = (normal((5, 2), DType::F32, 1), normal((5, 3), DType::F32, 1));
    assert!(matches!(
        Posterior::new(mu, Some(log_sigma.into())),
        Err(Error::Layer(_))
    ));
    let z = normal((5, 2), DType::F32, 1);
    let refused = link_logits(&z, &[(0, 1), (5, 0)]);
    assert!(matches!(
        refused,
        Err(Error::Pair {
            pair: 1,
            node: 5,
            nodes: 5
        })
    ));
}

#[test]
fn graphs_without_edges_or_without_non_edges_are_refused() {
    let none = Graph::from_edges(3, &[]).unwrap();
    assert!(matches!(
        LinkTarget::new(none.view()),
        Err(Error::NoEdges { nodes: 3 })
    ));
    let dataset = GraphDataset::single("none", none.clone());
    assert!(matches!(
        LinkTask::all_edges(&dataset),
        Err(Error::NoEdges { .. })
    ));
    assert!(matches!(
        LinkTask::split(&dataset, 0.1, 0.1, &mut rng(0)),
        Err(Error::NoEdges { .. })
    ));
    let empty = GraphDataset::single("empty", Graph::from_edges(0, &[]).unwrap());
    assert!(matches!(
        LinkTask::all_edges(&empty),
        Err(Error::NoEdges { nodes: 0 })
    ));
    let two = GraphDataset::from_graphs("two", &[none.clone(), none]).unwrap();
    assert!(matches!(
        LinkTask::all_edges(&two),
        Err(Error::NotOneGraph { graphs: 2 })
    ));

    let complete = LinkTarget::new(random_graph(4, 1.1, 0).view()).unwrap();
    let z = normal((4, 2), DType::F32, 1);
    assert!(exact_likelihood(&z, &complete).is_ok());
    let refused = sampled_likelihood(&z, &complete, &mut rng(0));
    assert!(matches!(refused, Err(Error::NoNonEdges { nodes: 4 })));

    // Nothing can be held out of a complete graph; one edge fewer will do.
    let split = |edges: &[(usize, usize)]| {
        let dataset = GraphDataset::single("dense", Graph::from_edges(9, edges).unwrap());
        LinkTask::split(&dataset, 0.05, 0.1, &mut rng(0))
    };
    let pairs: Vec<(usize, usize)> = (0..9).flat_map(|a| (a + 1..9).map(move |b| (a, b))).collect();
    assert!(matches!(split(&pairs), Err(Error::NoNonEdges { nodes: 9 })));
    let task = split(&pairs[1..]).unwrap();
    assert_eq!(task.validation().unwrap().negative, [(0, 1)]);
    assert!(task.test().is_none());
}

#[test]
fn a_single_non_edge_is_found_as_often_as_there_are_edges() {
    // All pairs of 600 nodes but one: drawing until one is hit would take an hour.
    let pairs = (0..600usize).flat_map(|a| (a + 1..600).map(move |b| (a, b)));
    let edges: Vec<(usize, usize)> = pairs.filter(|pair| *pair != (17, 400)).collect();
    let graph = Graph::from_edges(600, &edges).unwrap();
    let target = LinkTarget::new(graph.view()).unwrap();
    let mut numbers = vec![0.0; 600];
    (numbers[17], numbers[400]) = (2.0, 1.5);
    let z = candle_core::Tensor::from_vec(numbers, (600, 1), &candle_core::Device::Cpu).unwrap();
    let loss = sampled_likelihood(&z, &target, &mut rng(0)).unwrap();
    // Every edge has a logit of 0, every sampled pair one of 3.
    let expected = 2f64.ln() + 3f64.exp().ln_1p();
    let found = loss.to_scalar::<f64>().unwrap();
    // 180,000 equal terms are added in order, and round alike.
    assert_abs_diff_eq!(found, expected, epsilon = 180_000.0 * f64::EPSILON);
}

#[test]
fn missing_or_non_finite_features_are_refused() {
    let bare = GraphDataset::single("bare", random_graph(10, 0.3, 1));
    assert!(matches!(
        train(&bare, &AutoencoderConfig::default()),
        Err(Error::Graph(_) | Error::Layer(_))
    ));
    let nan = Features::dense(ndarray::array![[f32::NAN]]).map_err(Error::from);
    assert!(matches!(
        nan,
        Err(Error::Graph(egg_graph::Error::NonFinite { .. }))
    ));
    // Finite, but too large to learn from.
    let huge = Features::dense(ndarray::Array2::from_elem((10, 2), f32::MAX)).unwrap();
    let huge = bare.with_features(huge).unwrap();
    let refused = train(&huge, &AutoencoderConfig::default());
    assert!(matches!(refused, Err(Error::Diverged { epoch: 1, .. })));
}

#[test]
fn settings_out_of_range_are_refused() {
    let dataset = communities(120, 1);
    let default = AutoencoderConfig::default();
    for config in [
        AutoencoderConfig {
            beta: -1.0,
            ..default
        },
        AutoencoderConfig {
            beta: f64::NAN,
            ..default
        },
        AutoencoderConfig {
            encoder: EncoderConfig {
                hidden: 0,
                ..EncoderConfig::default()
            },
            ..default
        },
        AutoencoderConfig {
            encoder: EncoderConfig {
                latent: usize::MAX,
                ..EncoderConfig::default()
            },
            ..default
        },
        AutoencoderConfig {
            stop_early: Some(StopEarly { patience: 1 }),
            validate_every: 0,
            ..default
        },
        // Nothing is held out.
        AutoencoderConfig {
            stop_early: Some(StopEarly { patience: 1 }),
            ..default
        },
    ] {
        assert!(
            matches!(train(&dataset, &config), Err(Error::Setting { .. })),
            "{config:?}"
        );
    }
    let rate = AutoencoderConfig {
        learning_rate: f64::NAN,
        ..default
    };
    assert!(matches!(train(&dataset, &rate), Err(Error::Layer(_))));
    for share in [-0.1, 1.0, f64::NAN] {
        assert!(matches!(
            LinkTask::split(&dataset, share, 0.1, &mut rng(0)),
            Err(Error::Graph(_))
        ));
    }
    let none = AutoencoderConfig { epochs: 0, ..default };
    assert_eq!(train(&dataset, &none).unwrap().history, []);
    assert!(serde_json::from_str::<AutoencoderConfig>(r#"{"epoch": 3}"#).is_err());
}
