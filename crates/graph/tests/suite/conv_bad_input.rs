//! What does not fit is refused with an error that says so; nothing panics.

use candle_core::{DType, Device, Tensor};
use egg_graph::conv::{GcnConv, GinConv, JumpingKnowledge, NodeInput, SparseMatrix, VirtualNode, spmm};
use egg_graph::{CsrMatrix, Error, Features, MAX_NODES, Result};
use egg_nn::{Pass, Tracked};
use ndarray::Array2;

use crate::conv_tensors::{assert_close, normal, scrambled};

fn zeros(shape: &[usize], dtype: DType) -> Tensor {
    Tensor::zeros(shape, dtype, &Device::Cpu).unwrap()
}

/// Four nodes, no edges but self loops.
fn identity() -> SparseMatrix {
    SparseMatrix::new(CsrMatrix::from_dense(Array2::eye(4).view()).unwrap())
}

type Convolution = Box<dyn Fn(&NodeInput, &SparseMatrix) -> Result<Tracked>>;

/// GCN, the same with a ReLU, and GIN, 3 features to 5.
fn convolutions() -> [Convolution; 3] {
    let (gcn, _) = scrambled(DType::F32, 1, |scope| GcnConv::new(scope, 3, 5));
    let (gin, _) = scrambled(DType::F32, 2, |scope| GinConv::new(scope, 3, 5));
    let with_relu = gcn.clone();
    [
        Box::new(move |x, matrix| gcn.forward(x, matrix, &mut Pass::Evaluation)),
        Box::new(move |x, matrix| {
            with_relu
                .clone()
                .with_relu()
                .forward(x, matrix, &mut Pass::Evaluation)
        }),
        Box::new(move |x, matrix| gin.forward(x, matrix, &mut Pass::Evaluation)),
    ]
}

#[test]
fn wrong_widths_are_refused() {
    for conv in convolutions() {
        let dense = conv(&zeros(&[4, 2], DType::F32).into(), &identity());
        let sparse = conv(&NodeInput::Sparse(identity()), &identity());
        for (refused, width) in [(dense, 2), (sparse, 4)] {
            assert!(
                matches!(refused, Err(Error::Length { expected: 3, found, .. }) if found == width),
                "{refused:?}"
            );
        }
    }
}

#[test]
fn wrong_node_counts_are_refused() {
    for conv in convolutions() {
        for rows in [0, 3, 5] {
            let refused = conv(&zeros(&[rows, 3], DType::F32).into(), &identity());
            assert!(
                matches!(refused, Err(Error::Length { expected: 4, found, .. }) if found == rows),
                "{refused:?}"
            );
        }
        let features = Features::one_hot(vec![0, 1, 2], 3).unwrap();
        let features = NodeInput::from_features(&features, DType::F32, &Device::Cpu).unwrap();
        assert!(matches!(
            conv(&features, &identity()),
            Err(Error::Length { found: 3, .. })
        ));
    }
    let refused = spmm(&identity(), zeros(&[3, 2], DType::F32));
    assert!(matches!(
        refused,
        Err(Error::Length {
            expected: 4,
            found: 3,
            ..
        })
    ));
}

#[test]
fn gin_refuses_a_matrix_that_is_not_square() {
    let wide = SparseMatrix::membership(&[0, 2, 3, 3, 3]).unwrap();
    assert_eq!(wide.shape(), (3, 4));
    let [gcn, _, gin] = convolutions();
    let x: NodeInput = zeros(&[4, 3], DType::F32).into();
    assert!(matches!(
        gin(&x, &wide),
        Err(Error::Length {
            expected: 4,
            found: 3,
            ..
        })
    ));
    // A GCN may well go from nodes of one kind to nodes of another.
    assert_eq!(gcn(&x, &wide).unwrap().dims(), [3, 5]);
}

#[test]
fn tensors_of_other_ranks_than_two_are_refused() {
    for shape in [&[][..], &[3], &[4, 2, 3]] {
        let x = zeros(shape, DType::F32);
        assert!(spmm(&identity(), &x).is_err(), "{shape:?}");
        for conv in convolutions() {
            assert!(conv(&x.clone().into(), &identity()).is_err(), "{shape:?}");
        }
        assert!(
            JumpingKnowledge::Max.join(std::slice::from_ref(&x)).is_err(),
            "{shape:?}"
        );
    }
}

#[test]
fn unsupported_and_mixed_types_are_refused() {
    for dtype in [DType::U8, DType::U32, DType::I64, DType::F16, DType::BF16] {
        let x = zeros(&[4, 3], dtype);
        let refused = spmm(&identity(), &x).unwrap_err();
        assert!(
            matches!(&refused, Error::Candle(_)) && refused.to_string().contains("f32 or f64"),
            "{refused}"
        );
        let refused = JumpingKnowledge::Max.join(&[x.clone(), x.clone()]);
        assert!(matches!(refused, Err(Error::Candle(_))), "{refused:?}");
        for conv in convolutions() {
            let refused = conv(&x.clone().into(), &identity());
            assert!(
                matches!(refused, Err(Error::Layer(egg_nn::Error::DType { found, .. })) if found == dtype)
            );
        }
    }
    // f64 into a model in f32.
    for conv in convolutions() {
        let refused = conv(&zeros(&[4, 3], DType::F64).into(), &identity());
        assert!(matches!(refused, Err(Error::Layer(egg_nn::Error::DType { .. }))));
    }
    let mixed = [zeros(&[4, 3], DType::F32), zeros(&[4, 3], DType::F64)];
    for how in [
        JumpingKnowledge::Sum,
        JumpingKnowledge::Concat,
        JumpingKnowledge::Max,
    ] {
        assert!(matches!(how.join(&mixed), Err(Error::Candle(_))), "{how:?}");
    }
}

#[test]
fn strided_inputs_are_read_by_their_strides() {
    let x = normal((3, 6), DType::F32, 3)
        .t()
        .unwrap()
        .narrow(0, 1, 4)
        .unwrap();
    assert!(!x.is_contiguous());
    let copied = x.contiguous().unwrap();
    for conv in convolutions() {
        let found = conv(&x.clone().into(), &identity()).unwrap();
        let expected = conv(&copied.clone().into(), &identity()).unwrap();
        assert_close("strided", &found, &expected, 0.0);
    }
    let found = spmm(&identity(), &x).unwrap();
    assert_close("strided", &found, &copied, 0.0);
    // One row for all: a stride of 0.
    let row = normal((1, 3), DType::F32, 4).broadcast_as((4, 3)).unwrap();
    let found = spmm(&identity(), &row).unwrap();
    assert_close("broadcast", &found, &row.contiguous().unwrap(), 0.0);
}

#[test]
fn invalid_offsets_are_refused() {
    let refused = |offsets: &[usize]| SparseMatrix::membership(offsets).unwrap_err();
    assert!(matches!(refused(&[]), Error::Length { found: 0, .. }));
    // Nodes 0 would belong to no graph.
    for offsets in [&[1, 3][..], &[1], &[5, 5]] {
        assert!(
            matches!(refused(offsets), Error::Rows { row: 0, .. }),
            "{offsets:?}"
        );
    }
    assert!(matches!(refused(&[0, 3, 2]), Error::Rows { row: 1, .. }));
    for nodes in [MAX_NODES + 1, usize::MAX] {
        assert!(matches!(refused(&[0, nodes]), Error::TooManyNodes { .. }));
    }
    let (node, _) = scrambled(DType::F32, 5, |scope| VirtualNode::new(scope, 3, 2));
    for offsets in [&[][..], &[1, 3], &[0, 3, 2], &[0, usize::MAX]] {
        assert!(node.begin(offsets, &Pass::Evaluation).is_err(), "{offsets:?}");
    }
}

#[test]
fn virtual_node_refuses_other_shapes_and_layers() {
    let (node, _) = scrambled(DType::F32, 6, |scope| VirtualNode::new(scope, 3, 2));
    let pass = &mut Pass::Evaluation;
    let mut state = node.begin(&[0, 2, 4], pass).unwrap();
    for shape in [&[3, 3][..], &[5, 3], &[4, 2], &[4], &[1, 3]] {
        let nodes = zeros(shape, DType::F32);
        assert!(state.read(&nodes).is_err(), "{shape:?}");
        assert!(node.update(0, &mut state, &nodes, pass).is_err(), "{shape:?}");
    }
    let nodes = zeros(&[4, 3], DType::F32);
    let refused = node.update(0, &mut state, zeros(&[4, 3], DType::F64), pass);
    assert!(refused.is_err());
    assert!(state.read(zeros(&[4, 3], DType::F16)).is_err());
    // Two layers have one update between them.
    let refused = node.update(1, &mut state, &nodes, pass);
    assert!(matches!(refused, Err(Error::Parameter { name: "layer", .. })));
    // What was refused changed nothing.
    assert!(node.update(0, &mut state, &nodes, pass).is_ok());
}

#[test]
fn layers_of_width_zero_are_refused() {
    let mut parameters = egg_nn::Parameters::new(DType::F32, &Device::Cpu).unwrap();
    let mut rng = crate::conv_tensors::rng(1);
    let mut root = parameters.root(&mut rng);
    assert!(matches!(
        GcnConv::new(&mut root.enter("a"), 0, 2),
        Err(Error::Layer(_))
    ));
    assert!(matches!(
        GcnConv::new(&mut root.enter("b"), 2, 0),
        Err(Error::Layer(_))
    ));
    assert!(matches!(
        GinConv::new(&mut root.enter("c"), 0, 2),
        Err(Error::Layer(_))
    ));
    assert!(matches!(
        VirtualNode::new(&mut root.enter("d"), 0, 2),
        Err(Error::Layer(_))
    ));
    assert!(GcnConv::new(&mut root.enter("e"), 2, 2).is_ok());
    assert!(matches!(
        GcnConv::new(&mut root.enter("e"), 2, 2),
        Err(Error::Layer(_))
    ));
}

#[test]
fn jumping_knowledge_refuses_layers_of_different_shapes() {
    let layers = |shapes: &[[usize; 2]]| -> Vec<Tensor> {
        shapes.iter().map(|shape| zeros(shape, DType::F32)).collect()
    };
    for how in [
        JumpingKnowledge::Sum,
        JumpingKnowledge::Concat,
        JumpingKnowledge::Max,
    ] {
        assert!(matches!(
            how.join::<Tensor>(&[]),
            Err(Error::Length { found: 0, .. })
        ));
        let refused = how.join(&layers(&[[2, 3], [2, 3], [1, 3]]));
        assert!(matches!(
            refused,
            Err(Error::Length {
                unit: "rows",
                expected: 2,
                found: 1,
                ..
            })
        ));
        let wider = how.join(&layers(&[[2, 3], [2, 4]]));
        match how {
            JumpingKnowledge::Concat => assert_eq!(wider.unwrap().dims(), [2, 7]),
            _ => assert!(matches!(
                wider,
                Err(Error::Length {
                    unit: "columns",
                    expected: 3,
                    found: 4,
                    ..
                })
            )),
        }
        assert_eq!(how.join(&layers(&[[2, 3]])).unwrap().dims(), [2, 3]);
        assert_eq!(how.join(&layers(&[[0, 3], [0, 3]])).unwrap().dims()[0], 0);
    }
}
