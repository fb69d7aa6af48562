//! Values and gradients against dense PyTorch.

use std::collections::BTreeMap;

use approx::assert_abs_diff_eq;
use candle_core::{DType, Device, Var};
use egg_cluster::vgae::{EncoderConfig, GraphEncoder, LinkTarget, Posterior, exact_likelihood};
use egg_graph::{Graph, GraphDataset, Propagation};
use egg_nn::{Parameters, Pass};
use serde::Deserialize;

use crate::tensors::{Stored, assert_close, rng, scalar};

#[derive(Deserialize)]
struct Fixture {
    likelihood: Vec<LikelihoodCase>,
    divergence: DivergenceCase,
    model: ModelCase,
}

#[derive(Deserialize)]
struct LikelihoodCase {
    nodes: usize,
    edges: Vec<(usize, usize)>,
    z: Stored,
    value: f64,
    gradient: Stored,
}

#[derive(Deserialize)]
struct DivergenceCase {
    mu: Stored,
    log_sigma: Stored,
    value: f64,
    gradients: BTreeMap<String, Stored>,
}

#[derive(Deserialize)]
struct ModelCase {
    nodes: usize,
    edges: Vec<(usize, usize)>,
    hidden: usize,
    latent: usize,
    beta: f64,
    x: Stored,
    noise: Stored,
    state: BTreeMap<String, Stored>,
    rounded: Step,
    exact: Step,
}

#[derive(Deserialize)]
struct Step {
    mu: Stored,
    log_sigma: Stored,
    value: f64,
    gradients: BTreeMap<String, Stored>,
}

fn fixture() -> Fixture {
    serde_json::from_str(include_str!("../fixtures/vgae.json")).unwrap()
}

fn tolerance(dtype: DType) -> f64 {
    if dtype == DType::F32 { 1e-6 } else { 1e-12 }
}

#[test]
fn the_exact_likelihood_equals_dense_pytorch() {
    for case in fixture().likelihood {
        let graph = Graph::from_edges(case.nodes, &case.edges).unwrap();
        let target = LinkTarget::new(graph.view()).unwrap();
        for dtype in [DType::F32, DType::F64] {
            let z = Var::from_tensor(&case.z.tensor(dtype)).unwrap();
            let loss = exact_likelihood(&z, &target).unwrap();
            let off = (scalar(&loss) - case.value).abs() / case.value;
            assert!(off <= tolerance(dtype), "{} nodes, {dtype:?}: {off}", case.nodes);
            let gradients = loss.backward().unwrap();
            let what = format!("gradient of {} nodes in {dtype:?}", case.nodes);
            let expected = case.gradient.tensor(DType::F64);
            assert_close(&what, gradients.get(&z).unwrap(), &expected, tolerance(dtype));
            // The chain rule scales it.
            let gradients = (loss * -2.5).unwrap().backward().unwrap();
            let expected = (expected * -2.5).unwrap();
            assert_close(&what, gradients.get(&z).unwrap(), &expected, tolerance(dtype));
        }
    }
}

#[test]
fn the_divergence_equals_pytorch_geometric_with_its_limit() {
    let case = fixture().divergence;
    for dtype in [DType::F32, DType::F64] {
        let mu = Var::from_tensor(&case.mu.tensor(dtype)).unwrap();
        let log_sigma = Var::from_tensor(&case.log_sigma.tensor(dtype)).unwrap();
        let posterior = Posterior::new(mu.as_tensor().clone(), Some(log_sigma.as_tensor().into())).unwrap();
        let loss = posterior.divergence().unwrap().unwrap();
        assert_abs_diff_eq!(scalar(&loss), case.value, epsilon = tolerance(dtype) * case.value);
        let gradients = loss.backward().unwrap();
        for (name, var) in [("mu", &mu), ("log_sigma", &log_sigma)] {
            let expected = case.gradients[name].tensor(DType::F64);
            assert_close(name, gradients.get(var).unwrap(), &expected, tolerance(dtype));
        }
    }
}

#[test]
fn a_whole_step_equals_dense_pytorch() {
    let case = fixture().model;
    let graph = Graph::from_edges(case.nodes, &case.edges).unwrap();
    let target = LinkTarget::new(graph.view()).unwrap();
    let propagation = Propagation::gcn(&GraphDataset::single("drawn", graph))
        .matrix(&[0])
        .unwrap();
    // The coefficients of a propagation are f32; PyTorch's, unrounded, differ by 6e-8.
    for (dtype, step, tolerance) in [
        (DType::F32, &case.exact, 3e-6),
        (DType::F64, &case.exact, 1e-6),
        (DType::F64, &case.rounded, 1e-12),
    ] {
        let mut parameters = Parameters::new(dtype, &Device::Cpu).unwrap();
        let config = EncoderConfig {
            variational: true,
            hidden: case.hidden,
            latent: case.latent,
        };
        let mut rng = rng(0);
        let features = case.x.shape[1];
        let encoder = GraphEncoder::new(&mut parameters.root(&mut rng), features, &config).unwrap();
        let state = case.state.iter();
        let state = state.map(|(name, value)| (name.clone(), value.tensor(dtype)));
        parameters.load(&state.collect()).unwrap();
        let x = case.x.tensor(dtype).into();
        let posterior = encoder
            .encode(&x, &propagation, &mut Pass::Training(&mut rng))
            .unwrap();
        let log_sigma = posterior.log_sigma().unwrap();
        assert_close("mu", posterior.mu(), &step.mu.tensor(DType::F64), tolerance);
        assert_close(
            "log sigma",
            log_sigma,
            &step.log_sigma.tensor(DType::F64),
            tolerance,
        );
        assert_close(
            "H",
            &encoder.embed(&x, &propagation).unwrap(),
            &step.mu.tensor(DType::F64),
            tolerance,
        );
        let noise = (log_sigma.exp().unwrap() * case.noise.tensor(dtype)).unwrap();
        let z = (posterior.mu() + noise).unwrap();
        let divergence = posterior.divergence().unwrap().unwrap();
        let weight = case.beta / case.nodes as f64;
        let loss = (exact_likelihood(&z, &target).unwrap() + (divergence * weight).unwrap()).unwrap();
        assert_abs_diff_eq!(scalar(&loss), step.value, epsilon = tolerance * step.value);
        let gradients = loss.backward().unwrap();
        assert_eq!(step.gradients.len(), parameters.trainable().count());
        for (name, expected) in &step.gradients {
            let found = gradients.get(parameters.get(name).unwrap()).unwrap();
            assert_close(name, found, &expected.tensor(DType::F64), tolerance);
        }
    }
}
