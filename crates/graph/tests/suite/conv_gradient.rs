//! Gradients against central differences, in f64, and none lost.

use candle_core::{DType, Device, Tensor, Var};
use egg_graph::conv::{GcnConv, GinConv, JumpingKnowledge, NodeInput, SparseMatrix, VirtualNode, spmm};
use egg_graph::{CsrMatrix, GraphDataset, Propagation, Result};
use egg_nn::{Parameters, Pass};
use ndarray::{Array2, array};

use crate::conv_tensors::{flat, normal, rng, scrambled};
use crate::small_graphs::weighted;

/// Six nodes with weights, a self loop and an isolated node.
fn matrices() -> (SparseMatrix, SparseMatrix) {
    let mut adjacency = Array2::zeros((6, 6));
    for (a, b, weight) in [(0, 1, 1.5), (1, 2, 0.5), (0, 2, 2.0), (2, 3, 1.0), (3, 3, 0.25)] {
        adjacency[[a, b]] = weight;
        adjacency[[b, a]] = weight;
    }
    let dataset = GraphDataset::single("six", weighted(adjacency.view()));
    let matrix = |propagation: Propagation| propagation.matrix(&[0]).unwrap();
    (
        matrix(Propagation::gcn(&dataset)),
        matrix(Propagation::sum(&dataset)),
    )
}

fn variable(shape: (usize, usize), seed: u64) -> Var {
    Var::from_tensor(&normal(shape, DType::F64, seed)).unwrap()
}

/// Compares the gradient of `sum(y * weights)` by every variable with central
/// differences: at most `1e-6` apart, relative to the larger of it and 1.
fn check<T: Into<Tensor>>(names: &[(&str, &Var)], y: impl Fn() -> Result<T>) {
    let y = || y().map(Into::<Tensor>::into);
    let first = y().unwrap();
    let weights = normal(first.shape(), DType::F64, 99);
    let loss = || (y().unwrap() * &weights).unwrap().sum_all().unwrap();
    let (candles, gradients) = (loss().backward().unwrap(), egg_nn::backward(&loss()).unwrap());
    assert!(!names.is_empty());
    for (name, var) in names {
        let gradient = gradients.get(var);
        assert_eq!(gradient.map(flat), candles.get(var).map(flat), "{name}");
        let gradient = flat(gradient.unwrap_or_else(|| panic!("{name} has no gradient")));
        let start = flat(var);
        for i in 0..start.len() {
            let step = 1e-5 * start[i].abs().max(1.0);
            let at = |value: f64| {
                let mut values = start.clone();
                values[i] = value;
                let tensor = Tensor::from_vec(values, var.shape(), &Device::Cpu).unwrap();
                var.set(&tensor).unwrap();
                loss().to_scalar::<f64>().unwrap()
            };
            let difference = (at(start[i] + step) - at(start[i] - step)) / (2.0 * step);
            at(start[i]);
            let apart = (difference - gradient[i]).abs() / difference.abs().max(1.0);
            assert!(
                apart <= 1e-6,
                "{name}[{i}]: {} but differences give {difference}",
                gradient[i]
            );
        }
    }
}

/// Checks the input and every parameter.
fn check_all<T: Into<Tensor>>(parameters: &Parameters, x: &Var, y: impl Fn(&mut Pass<'_>) -> Result<T>) {
    let names: Vec<(&str, &Var)> = parameters.trainable().chain([("x", x)]).collect();
    check(&names, || y(&mut Pass::Training(&mut rng(1))));
}

#[test]
fn product_gradient_matches_differences() {
    // Neither square nor symmetric: a forgotten transpose shows.
    let entries = array![
        [0.0, 2.0, -1.0],
        [0.5, 0.0, 0.0],
        [0.0, 0.0, 0.0],
        [1.0, 1.0, 3.0]
    ];
    let matrix = SparseMatrix::new(CsrMatrix::from_dense(entries.view()).unwrap());
    let x = variable((3, 18), 1);
    check(&[("x", &x)], || spmm(&matrix, &x));
    let x = variable((4, 2), 2);
    check(&[("x", &x)], || spmm(&matrix.transposed(), &x));
}

#[test]
fn gcn_gradient_matches_differences() {
    let (gcn, _) = matrices();
    let x = variable((6, 3), 3);
    let (layer, parameters) = scrambled(DType::F64, 4, |scope| GcnConv::new(scope, 3, 17));
    let input = || x.as_tensor().clone().into();
    check_all(&parameters, &x, |pass| layer.forward(&input(), &gcn, pass));
    // ReLU has no derivative at 0, so that all must be away from it.
    let before = layer.forward(&input(), &gcn, &mut Pass::Evaluation).unwrap();
    let before = flat(&before);
    assert!(before.iter().all(|value| value.abs() > 1e-3), "too near a kink");
    assert!(before.iter().any(|value| *value < 0.0) && before.iter().any(|value| *value > 0.0));
    check_all(&parameters, &x, |pass| {
        layer.clone().with_relu().forward(&input(), &gcn, pass)
    });
    let (layer, parameters) = scrambled(DType::F64, 5, |scope| GcnConv::without_bias(scope, 3, 4));
    check_all(&parameters, &x, |pass| layer.forward(&input(), &gcn, pass));
}

#[test]
fn gin_gradient_matches_differences() {
    let (_, sum) = matrices();
    let x = variable((6, 3), 6);
    let (layer, parameters) = scrambled(DType::F64, 7, |scope| GinConv::new(scope, 3, 4));
    assert!(parameters.trainable().any(|(name, _)| name == "eps"));
    check_all(&parameters, &x, |pass| {
        layer.forward(&x.as_tensor().clone().into(), &sum, pass)
    });
}

#[test]
fn sparse_input_weight_gradients_match_differences() {
    let (gcn, sum) = matrices();
    let features = Array2::from_shape_fn((6, 5), |(row, column)| {
        [0.0, 1.0, 0.0, 0.0, 2.5][(row * 3 + column) % 5]
    });
    let input = NodeInput::Sparse(SparseMatrix::new(CsrMatrix::from_dense(features.view()).unwrap()));
    let (layer, parameters) = scrambled(DType::F64, 8, |scope| GcnConv::new(scope, 5, 18));
    let names: Vec<_> = parameters.trainable().collect();
    check(&names, || {
        layer.forward(&input, &gcn, &mut Pass::Training(&mut rng(1)))
    });
    let (layer, parameters) = scrambled(DType::F64, 9, |scope| GinConv::new(scope, 5, 4));
    let names: Vec<_> = parameters.trainable().collect();
    check(&names, || {
        layer.forward(&input, &sum, &mut Pass::Training(&mut rng(1)))
    });
}

#[test]
fn jumping_knowledge_gradient_matches_differences() {
    let layers = [variable((4, 3), 10), variable((4, 3), 11), variable((4, 3), 12)];
    let values: Vec<Vec<f64>> = layers.iter().map(|layer| flat(layer)).collect();
    for at in 0..values[0].len() {
        let mut entries: Vec<f64> = values.iter().map(|layer| layer[at]).collect();
        entries.sort_by(f64::total_cmp);
        assert!(entries[2] - entries[1] > 1e-3, "too near a tie");
    }
    let names: Vec<(&str, &Var)> = ["first", "second", "third"].into_iter().zip(&layers).collect();
    for how in [
        JumpingKnowledge::Sum,
        JumpingKnowledge::Concat,
        JumpingKnowledge::Max,
    ] {
        check(&names, || {
            how.join(&layers.each_ref().map(|layer| layer.as_tensor().clone()))
        });
    }
}

#[test]
fn tied_maximum_passes_its_gradient_to_the_first_layer() {
    let layer = |values: [[f64; 2]; 1]| Var::new(&values, &Device::Cpu).unwrap();
    let layers = [layer([[1.0, 2.0]]), layer([[3.0, 2.0]]), layer([[3.0, 2.0]])];
    let tensors = layers.each_ref().map(|layer| layer.as_tensor().clone());
    let joined = JumpingKnowledge::Max.join(&tensors).unwrap();
    let gradients = (joined.tensor() * 5.0)
        .unwrap()
        .sum_all()
        .unwrap()
        .backward()
        .unwrap();
    let gradient = |layer: usize| flat(gradients.get(&layers[layer]).unwrap());
    assert_eq!(gradient(0), [0.0, 5.0]);
    assert_eq!(gradient(1), [5.0, 0.0]);
    assert_eq!(gradient(2), [0.0, 0.0]);
}

#[test]
fn virtual_node_gradient_matches_differences() {
    let x = variable((9, 3), 13);
    // Four graphs, one without nodes.
    let offsets = [0, 2, 2, 6, 9];
    let (layer, parameters) = scrambled(DType::F64, 14, |scope| VirtualNode::new(scope, 3, 3));
    check_all(&parameters, &x, |pass| {
        let mut state = layer.begin(&offsets, pass)?;
        let mut h = x.as_tensor().clone();
        for update in 0..2 {
            h = state.read(&h)?.into();
            layer.update(update, &mut state, &h, pass)?;
            h = h.sqr()?.affine(0.1, 0.0)?;
        }
        state.read(&h)
    });
}

#[test]
fn strided_inputs_and_gradients_are_read_by_their_strides() {
    let (gcn, sum) = matrices();
    // A column slice of a transpose: neither contiguous nor at offset 0.
    let x = variable((5, 6), 15);
    let slice = || x.t()?.narrow(1, 1, 3);
    let (conv, parameters) = scrambled(DType::F64, 16, |scope| GcnConv::new(scope, 3, 4));
    // A transpose sends a strided gradient back.
    check_all(&parameters, &x, |pass| {
        Ok(conv
            .clone()
            .with_relu()
            .forward(&slice()?.into(), &gcn, pass)?
            .t()?
            .sqr()?)
    });
    let (conv, parameters) = scrambled(DType::F64, 17, |scope| GinConv::new(scope, 3, 4));
    check_all(&parameters, &x, |pass| {
        Ok(conv.forward(&slice()?.into(), &sum, pass)?.t()?.sqr()?)
    });
    check(&[("x", &x)], || Ok(spmm(&gcn, &slice()?)?.t()?.sqr()?));
    check(&[("x", &x)], || {
        let joined = JumpingKnowledge::Max.join(&[slice()?, x.t()?.narrow(1, 2, 3)?])?;
        Ok(joined.t()?.sqr()?)
    });
}

#[test]
fn evaluation_builds_no_tape() {
    let (gcn, sum) = matrices();
    let x = variable((6, 3), 18);
    let pass = &mut Pass::Evaluation;
    let input = NodeInput::from(x.as_tensor().clone());
    let sparse = NodeInput::Sparse(gcn.clone());
    let (conv, _) = scrambled(DType::F64, 19, |scope| GcnConv::new(scope, 3, 4));
    assert!(!conv.forward(&input, &gcn, pass).unwrap().track_op());
    assert!(
        !conv
            .clone()
            .with_relu()
            .forward(&input, &gcn, pass)
            .unwrap()
            .track_op()
    );
    let (conv, _) = scrambled(DType::F64, 20, |scope| GcnConv::new(scope, 6, 4));
    assert!(!conv.forward(&sparse, &gcn, pass).unwrap().track_op());
    let (conv, _) = scrambled(DType::F64, 21, |scope| GinConv::new(scope, 3, 4));
    assert!(!conv.forward(&input, &sum, pass).unwrap().track_op());
    let (conv, _) = scrambled(DType::F64, 22, |scope| GinConv::new(scope, 6, 4));
    assert!(!conv.forward(&sparse, &sum, pass).unwrap().track_op());
    let (node, _) = scrambled(DType::F64, 23, |scope| VirtualNode::new(scope, 3, 2));
    let mut state = node.begin(&[0, 2, 6], pass).unwrap();
    assert!(!state.vectors().track_op());
    assert!(!state.read(x.as_detached_tensor()).unwrap().track_op());
    node.update(0, &mut state, &x, pass).unwrap();
    assert!(!state.vectors().track_op());
}
