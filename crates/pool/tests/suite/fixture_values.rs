//! Values, selected nodes, coarser graphs and gradients against PyTorch Geometric.

use std::collections::{BTreeMap, BTreeSet};

use approx::abs_diff_eq;
use candle_core::{DType, Device, Tensor, Var};
use egg_graph::CsrMatrix;
use egg_nn::{Parameters, Pass};
use egg_pool::pooling::{EdgePooling, PanPooling, SagPooling, TopKPooling};
use egg_pool::{Pooled, Pooling, PoolingConfig, Structure};
use serde::Deserialize;

use crate::samples::{assert_close, entries, flat, rng};

#[derive(Deserialize)]
struct Stored {
    shape: Vec<usize>,
    values: Vec<f64>,
}

impl Stored {
    fn tensor(&self, dtype: DType) -> Tensor {
        let tensor = Tensor::from_slice(&self.values, self.shape.as_slice(), &Device::Cpu).unwrap();
        tensor.to_dtype(dtype).unwrap()
    }

    fn largest(&self) -> f64 {
        self.values
            .iter()
            .fold(1.0, |most: f64, value| most.max(value.abs()))
    }
}

#[derive(Deserialize)]
struct StoredGraph {
    nodes: usize,
    edges: Vec<(usize, usize)>,
}

#[derive(Deserialize)]
struct Batch {
    graphs: Vec<StoredGraph>,
    h: Stored,
    cases: BTreeMap<String, Case>,
}

#[derive(Deserialize)]
struct Case {
    state: BTreeMap<String, Stored>,
    readout: Stored,
    coarser: Option<Stored>,
    sizes: Option<Vec<usize>>,
    edges: Option<Vec<(usize, usize, f64)>>,
    kept: Option<Vec<usize>>,
    clusters: Option<Vec<usize>>,
    #[serde(rename = "R")]
    r: Stored,
    #[serde(rename = "Q")]
    q: Option<Stored>,
    gradients: BTreeMap<String, Stored>,
}

fn batches() -> BTreeMap<String, Batch> {
    serde_json::from_str(include_str!("../fixtures/poolings.json")).unwrap()
}

impl Batch {
    /// With self loops, where there are any.
    fn structure(&self) -> Structure {
        let (mut offsets, mut pairs) = (vec![0], BTreeSet::new());
        for graph in &self.graphs {
            let first = offsets[offsets.len() - 1];
            for (a, b) in &graph.edges {
                pairs.extend([(first + a, first + b), (first + b, first + a)]);
            }
            offsets.push(first + graph.nodes);
        }
        let nodes = offsets[offsets.len() - 1];
        let rows = (0..=nodes).map(|row| pairs.range(..(row, 0)).count()).collect();
        let columns: Vec<u32> = pairs.iter().map(|pair| u32::try_from(pair.1).unwrap()).collect();
        let values = columns.iter().map(|_| 1.0).collect();
        Structure::new(&offsets, CsrMatrix::new(rows, columns, values, nodes).unwrap()).unwrap()
    }
}

/// Our name of a parameter, and how many of PyTorch's numbers we have: what a softmax
/// cancels is left out.
fn ours(name: &str, features: usize) -> Option<(&str, Option<usize>)> {
    match name {
        "weight" => Some(("conv.weight", None)),
        "pool.gate_nn.bias" | "pool.lin.bias" => None,
        "pool.lin.weight" => Some(("lin.weight", Some(features))),
        name => Some((name.strip_prefix("pool.").unwrap(), None)),
    }
}

fn load(case: &Case, parameters: &Parameters, features: usize) {
    let mut left: Vec<String> = parameters.snapshot().unwrap().into_keys().collect();
    for (name, value) in &case.state {
        let Some((name, first)) = ours(name, features) else {
            continue;
        };
        let tensor = value.tensor(parameters.dtype());
        let tensor = first.map_or(tensor.clone(), |first| {
            tensor.narrow(1, 0, first).unwrap().copy().unwrap()
        });
        parameters.get(name).unwrap().set(&tensor).unwrap();
        left.retain(|other| other != name);
    }
    assert!(left.is_empty(), "not in the fixture: {left:?}");
}

type Choice = Box<dyn Fn(&Tensor, &Structure) -> Vec<usize>>;

/// A pooling as it was built for a case, and which nodes it keeps or joins.
struct Built {
    pooling: Box<dyn Pooling>,
    parameters: Parameters,
    choice: Choice,
}

fn build(name: &str, features: usize, dtype: DType) -> Built {
    let mut rng = rng(0);
    let mut parameters = Parameters::new(dtype, &Device::Cpu).unwrap();
    let mut scope = parameters.root(&mut rng);
    macro_rules! built {
        ($pooling:expr, $choose:ident) => {{
            let pooling = $pooling.unwrap();
            let chooser = pooling.clone();
            let choice = Box::new(move |h: &Tensor, s: &Structure| chooser.$choose(h, s).unwrap());
            Built {
                pooling: Box::new(pooling),
                parameters,
                choice,
            }
        }};
    }
    match name {
        "topk" => built!(TopKPooling::new(&mut scope, features, 0.5), select),
        "topk-0.3" => built!(TopKPooling::new(&mut scope, features, 0.3), select),
        "sag" => built!(SagPooling::new(&mut scope, features, 0.5), select),
        "sag-0.7" => built!(SagPooling::new(&mut scope, features, 0.7), select),
        "pan" => built!(PanPooling::new(&mut scope, features, 0.5, 2), select),
        "pan-0.4-3" => built!(PanPooling::new(&mut scope, features, 0.4, 3), select),
        "edge" => built!(EdgePooling::new(&mut scope, features), clusters),
        name => {
            let config: PoolingConfig = name.parse().unwrap();
            let pooling = config.build(&mut scope, features).unwrap();
            let choice = Box::new(|_: &Tensor, _: &Structure| Vec::new());
            Built {
                pooling,
                parameters,
                choice,
            }
        }
    }
}

fn check_structure(what: &str, case: &Case, pooled: &Pooled, tolerance: f64) {
    let Some(coarser) = &pooled.coarser else {
        assert!(case.coarser.is_none(), "{what}");
        return;
    };
    let expected = case.coarser.as_ref().unwrap();
    assert_eq!(coarser.h.dims(), expected.shape, "{what}");
    assert_close(what, &flat(&coarser.h), &expected.values, tolerance);
    let offsets = coarser.structure.offsets();
    let sizes: Vec<usize> = offsets.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(Some(sizes), case.sizes, "{what}");
    let (found, expected) = (
        entries(coarser.structure.adjacency()),
        case.edges.as_ref().unwrap(),
    );
    assert_eq!(found.len(), expected.len(), "{what}: edges");
    for (found, expected) in found.iter().zip(expected) {
        // Adjacencies are kept in f32.
        let near = abs_diff_eq!(found.2, expected.2, epsilon = 1e-6 * expected.2.abs().max(1.0));
        assert!(
            (found.0, found.1) == (expected.0, expected.1) && near,
            "{what}: {found:?} {expected:?}"
        );
    }
    // What is known to be sound is so.
    Structure::new(offsets, coarser.structure.adjacency().clone()).unwrap();
}

fn check(batch_name: &str, batch: &Batch, name: &str, dtype: DType, relative: f64) {
    let what = format!("{name} of {batch_name}, {dtype:?}");
    let (case, features, structure) = (&batch.cases[name], batch.h.shape[1], batch.structure());
    let Built {
        pooling,
        parameters,
        choice,
    } = build(name, features, dtype);
    load(case, &parameters, features);
    assert_eq!(pooling.width(), features);

    let h = Var::from_tensor(&batch.h.tensor(dtype)).unwrap();
    if let Some(expected) = case.kept.as_ref().or(case.clusters.as_ref()) {
        assert_eq!(&choice(&h, &structure), expected, "{what}");
    }
    let mut rng = rng(1);
    let pooled = pooling
        .pool(&(&h).into(), &structure, &mut Pass::Training(&mut rng))
        .unwrap();
    assert_eq!(pooled.readout.dims(), case.readout.shape);
    let tolerance = relative * case.readout.largest();
    assert_close(&what, &flat(&pooled.readout), &case.readout.values, tolerance);
    check_structure(&what, case, &pooled, tolerance);

    // Of several equal maxima ours gives the gradient to the first, PyTorch to all.
    if (name, batch_name) == ("max", "ties") {
        return;
    }
    let mut loss = (&pooled.readout * case.r.tensor(dtype))
        .unwrap()
        .sum_all()
        .unwrap();
    if let (Some(coarser), Some(q)) = (&pooled.coarser, &case.q) {
        loss = (loss + (&coarser.h * q.tensor(dtype)).unwrap().sum_all().unwrap()).unwrap();
    }
    let gradients = loss.backward().unwrap();
    for (name, expected) in &case.gradients {
        let tolerance = relative * expected.largest();
        let what = format!("gradient of {name}, {what}");
        if name == "h" {
            assert_close(
                &what,
                &flat(gradients.get(&h).unwrap()),
                &expected.values,
                tolerance,
            );
            continue;
        }
        let found = match ours(name, features) {
            // A sign, which has none.
            Some(("select.weight", _)) if !name_is_trained(&parameters) => vec![],
            Some((name, _)) => flat(gradients.get(parameters.get(name).unwrap()).unwrap()),
            None => vec![],
        };
        // What is left out has gradient 0.
        let (head, tail) = expected.values.split_at(found.len());
        assert_close(&what, &found, head, tolerance);
        assert_close(&what, tail, &vec![0.0; tail.len()], 1e-13);
    }
}

fn name_is_trained(parameters: &Parameters) -> bool {
    parameters.trainable().any(|(name, _)| name == "select.weight")
}

#[test]
fn every_pooling_matches_pytorch_geometric_in_f64() {
    for (batch_name, batch) in batches() {
        for name in batch.cases.keys() {
            // The sums of paths of tied nodes come out of PyTorch with different rounding.
            if batch_name == "ties" && name.starts_with("pan") {
                continue;
            }
            check(&batch_name, &batch, name, DType::F64, 1e-12);
        }
    }
}

#[test]
fn every_pooling_is_permutation_invariant_in_f32() {
    // Without ties: those of f32 are not those of f64.
    let batch = &batches()["mixed"];
    for name in batch.cases.keys() {
        check("mixed", batch, name, DType::F32, 3e-5);
    }
}
