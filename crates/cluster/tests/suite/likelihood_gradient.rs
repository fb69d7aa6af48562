//! Gradients against finite differences, properties, and the same bits on any
//! number of threads.

use approx::{abs_diff_eq, assert_abs_diff_eq};
use candle_core::{DType, Device, Tensor, Var};
use egg_cluster::vgae::{LinkTarget, Posterior, exact_likelihood, sampled_likelihood};
use egg_graph::Graph;
use egg_nn::Pass;
use proptest::prelude::*;

use crate::tensors::{assert_close, flat, normal, on_threads, random_graph, rng, scalar};

/// Central differences of a function of one matrix, entry by entry.
fn differences(z: &Tensor, function: impl Fn(&Tensor) -> f64) -> Tensor {
    let numbers = flat(z);
    let step = 1e-5;
    let at = |entry: usize, by: f64| {
        let mut numbers = numbers.clone();
        numbers[entry] += by;
        function(&Tensor::from_vec(numbers, z.shape(), &Device::Cpu).unwrap())
    };
    let slopes: Vec<f64> = (0..numbers.len())
        .map(|entry| (at(entry, step) - at(entry, -step)) / (2.0 * step))
        .collect();
    Tensor::from_vec(slopes, z.shape(), &Device::Cpu).unwrap()
}

fn gradient(z: &Tensor, function: impl Fn(&Tensor) -> Tensor) -> Tensor {
    let z = Var::from_tensor(z).unwrap();
    let gradients = function(&z).backward().unwrap();
    gradients.get(&z).unwrap().clone()
}

#[test]
fn the_exact_likelihood_has_the_gradient_of_finite_differences() {
    let target = LinkTarget::new(random_graph(13, 0.3, 1).view()).unwrap();
    let z = normal((13, 3), DType::F64, 2);
    let expected = differences(&z, |z| scalar(&exact_likelihood(z, &target).unwrap()));
    let found = gradient(&z, |z| exact_likelihood(z, &target).unwrap());
    assert_close("exact", &found, &expected, 1e-8);
}

#[test]
fn the_sampled_likelihood_has_the_gradient_of_finite_differences() {
    // More than one range of nodes and, with 9,000 edges, more than one block.
    for (nodes, chance, width) in [(13, 0.3, 3), (300, 0.2, 1)] {
        let target = LinkTarget::new(random_graph(nodes, chance, 1).view()).unwrap();
        let z = normal((nodes, width), DType::F64, 2);
        let value = |z: &Tensor| sampled_likelihood(z, &target, &mut rng(9)).unwrap();
        let expected = differences(&z, |z| scalar(&value(z)));
        assert_close("sampled", &gradient(&z, value), &expected, 1e-7);
    }
}

#[test]
fn a_large_sampled_likelihood_has_the_directional_derivative_of_finite_differences() {
    // Enough nodes for ranges of first nodes, and several blocks.
    let nodes = 70_000;
    let edges: Vec<_> = (0..nodes).map(|node| (node, (node + 1) % nodes)).collect();
    let target = LinkTarget::new(Graph::from_edges(nodes, &edges).unwrap().view()).unwrap();
    let (z, along) = (
        normal((nodes, 2), DType::F64, 1),
        normal((nodes, 2), DType::F64, 2),
    );
    let value = |z: &Tensor| sampled_likelihood(z, &target, &mut rng(9)).unwrap();
    let at = |step: f64| scalar(&value(&(&z + (&along * step).unwrap()).unwrap()));
    let expected = (at(1e-5) - at(-1e-5)) / 2e-5;
    let found = on_threads(1, || gradient(&z, value));
    let slope = scalar(&(&found * &along).unwrap().sum_all().unwrap());
    assert_abs_diff_eq!(slope, expected, epsilon = 1e-7 * expected.abs().max(1.0));
    assert!(flat(&found) == flat(&on_threads(4, || gradient(&z, value))));
}

#[test]
fn a_posterior_sample_has_the_gradient_of_finite_differences() {
    // One entry above the limit: its noise is that of the limit, its gradient 0.
    let mu = normal((4, 3), DType::F64, 1);
    let log_sigma = normal((4, 3), DType::F64, 2);
    let mut numbers = flat(&log_sigma);
    numbers[5] = 11.0;
    let log_sigma = Tensor::from_vec(numbers, (4, 3), &Device::Cpu).unwrap();
    let weights = normal((4, 3), DType::F64, 3);
    let value = |mu: &Tensor, log_sigma: &Tensor| {
        let posterior = Posterior::new(mu.clone(), Some(log_sigma.clone().into())).unwrap();
        let z = posterior.sample(&mut Pass::Training(&mut rng(7))).unwrap();
        (z * &weights).unwrap().sum_all().unwrap()
    };
    let by_mu = gradient(&mu, |mu| value(mu, &log_sigma));
    assert_close("mu", &by_mu, &weights, 1e-14);
    let expected = differences(&log_sigma, |log_sigma| scalar(&value(&mu, log_sigma)));
    let found = gradient(&log_sigma, |log_sigma| value(&mu, log_sigma));
    assert_eq!((flat(&found)[5], flat(&expected)[5]), (0.0, 0.0));
    assert_close("log sigma", &found, &expected, 1e-6);
}

#[test]
fn samples_have_the_means_and_deviations_of_the_posterior() {
    let nodes = 20_000;
    let mu = Tensor::full(2f64, (nodes, 1), &Device::Cpu).unwrap();
    let log_sigma = Tensor::full(0.5f64.ln(), (nodes, 1), &Device::Cpu).unwrap();
    let posterior = Posterior::new(mu, Some(log_sigma.into())).unwrap();
    let z = flat(&posterior.sample(&mut Pass::Training(&mut rng(1))).unwrap());
    let mean = z.iter().sum::<f64>() / nodes as f64;
    let variance = z.iter().map(|z| (z - mean).powi(2)).sum::<f64>() / nodes as f64;
    // Five standard errors.
    assert_abs_diff_eq!(mean, 2.0, epsilon = 0.018);
    assert_abs_diff_eq!(variance, 0.25, epsilon = 0.013);
    assert_eq!(
        flat(&posterior.sample(&mut Pass::Evaluation).unwrap()),
        vec![2.0; nodes]
    );
}

#[test]
fn sampled_negatives_estimate_the_mean_over_all_of_them() {
    let graph = random_graph(60, 0.1, 4);
    let target = LinkTarget::new(graph.view()).unwrap();
    let z = normal((60, 2), DType::F64, 5);
    let rows = z.to_vec2::<f64>().unwrap();
    let softplus = |x: f64| x.exp().ln_1p();
    let (mut positive, mut negative) = ((0.0, 0), (0.0, 0));
    for a in 0..60 {
        for b in 0..a {
            let x = rows[a].iter().zip(&rows[b]).map(|(x, y)| x * y).sum::<f64>();
            let edge = graph.neighbours(a).binary_search(&(b as u32)).is_ok();
            let sum = if edge { &mut positive } else { &mut negative };
            *sum = (sum.0 + softplus(if edge { -x } else { x }), sum.1 + 1);
        }
    }
    let exact = positive.0 / f64::from(positive.1) + negative.0 / f64::from(negative.1);
    let mut rng = rng(6);
    let draws = 400;
    let mean = (0..draws)
        .map(|_| scalar(&sampled_likelihood(&z, &target, &mut rng).unwrap()))
        .sum::<f64>()
        / f64::from(draws);
    assert_abs_diff_eq!(mean, exact, epsilon = 0.02);
}

#[test]
fn the_same_bits_on_any_number_of_threads() {
    let nodes = 700;
    let graph = random_graph(nodes, 0.05, 7);
    let target = LinkTarget::new(graph.view()).unwrap();
    for dtype in [DType::F32, DType::F64] {
        let z = normal((nodes, 16), dtype, 8);
        let run = || {
            let mut results = Vec::new();
            let functions: [&dyn Fn(&Tensor) -> Tensor; 2] =
                [&|z| exact_likelihood(z, &target).unwrap(), &|z| {
                    sampled_likelihood(z, &target, &mut rng(3)).unwrap()
                }];
            for function in functions {
                results.push(scalar(&function(&z)).to_bits());
                results.extend(flat(&gradient(&z, function)).iter().map(|g| g.to_bits()));
            }
            let posterior = Posterior::new(z.clone(), Some(z.clone().into())).unwrap();
            let sample = posterior.sample(&mut Pass::Training(&mut rng(2))).unwrap();
            results.extend(flat(&sample).iter().map(|z| z.to_bits()));
            results.push(scalar(&posterior.divergence().unwrap().unwrap()).to_bits());
            results
        };
        let one = on_threads(1, run);
        assert!(
            one == on_threads(2, run) && one == on_threads(4, run),
            "{dtype:?}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Which node is called what makes no difference, and a rotation neither.
    #[test]
    fn likelihood_is_invariant_to_node_order_and_rotation(
        nodes in 2usize..200, chance in 0.05f64..0.9, seed in 0u64..1000, angle in 0f64..6.0,
    ) {
        let graph = random_graph(nodes, chance, seed);
        let z = normal((nodes, 2), DType::F64, seed);
        let value = scalar(&exact_likelihood(&z, &LinkTarget::new(graph.view()).unwrap()).unwrap());
        let order = egg_graph::random_order(nodes, &mut rng(seed));
        let edges: Vec<_> = graph.view().edges().map(|(a, b)| (order[a], order[b])).collect();
        let renamed = Graph::from_edges(nodes, &edges).unwrap();
        let (sin, cos) = angle.sin_cos();
        let rows = z.to_vec2::<f64>().unwrap();
        let mut moved = vec![vec![0.0; 2]; nodes];
        for (row, place) in rows.iter().zip(&order) {
            moved[*place] = vec![cos * row[0] - sin * row[1], sin * row[0] + cos * row[1]];
        }
        let moved = Tensor::new(moved, &Device::Cpu).unwrap();
        let again = scalar(&exact_likelihood(&moved, &LinkTarget::new(renamed.view()).unwrap()).unwrap());
        prop_assert!(abs_diff_eq!(value, again, epsilon = 1e-12 * value));
    }

    /// f32 stays within 1e-6 of f64 and a rounding of the logits, which shows where
    /// these are large and the loss is nearly 0.
    #[test]
    fn single_precision_meets_its_error_bound(
        nodes in 2usize..400, scale in 0.01f64..10.0, seed in 0u64..1000,
    ) {
        let target = LinkTarget::new(random_graph(nodes, 0.1, seed).view()).unwrap();
        // Rounded first, so that both see the same numbers.
        let z = (normal((nodes, 16), DType::F64, seed) * scale).unwrap().to_dtype(DType::F32).unwrap();
        let exact = scalar(&exact_likelihood(z.to_dtype(DType::F64).unwrap(), &target).unwrap());
        let single = scalar(&exact_likelihood(&z, &target).unwrap());
        let wide = z.to_dtype(DType::F64).unwrap();
        let logits = wide.matmul(&wide.t().unwrap()).unwrap();
        let size = scalar(&logits.abs().unwrap().mean_all().unwrap()) * target.norm();
        let allowed = 1e-6 * exact + f64::from(f32::EPSILON) * size;
        prop_assert!(abs_diff_eq!(single, exact, epsilon = allowed), "{single} for {exact}, allowed {allowed}");
    }
}
