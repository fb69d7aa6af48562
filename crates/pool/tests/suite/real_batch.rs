//! Every pooling on a real batch.

use candle_core::{DType, Device, Var};
use egg_graph::conv::NodeInput;
use egg_graph::{GraphBatch, ReadOptions, read_tu};
use egg_nn::{Linear, Parameters, Pass};
use egg_pool::{PoolingConfig, Structure};

use crate::real_data::find;
use crate::samples::{flat, rng};

/// Many nodes of real graphs have the same label and so the same row: ties all over.
#[test]
fn poolings_of_real_graphs_are_finite_with_gradients() {
    let Some(path) = find("MUTAG.zip") else { return };
    let dataset = read_tu(&path, &ReadOptions::default()).unwrap();
    let batch = GraphBatch::all(&dataset).unwrap();
    let structure = Structure::from_batch(&batch).unwrap();
    for config in PoolingConfig::all() {
        let mut rng = rng(0);
        let mut parameters = Parameters::new(DType::F32, &Device::Cpu).unwrap();
        let width = dataset.features().width();
        let lift = Linear::new(&mut parameters.root(&mut rng).enter("lift"), width, 8).unwrap();
        let pooling = config
            .build(&mut parameters.root(&mut rng).enter("pool"), 8)
            .unwrap();
        let x = match NodeInput::from_batch(&batch, DType::F32, &Device::Cpu).unwrap() {
            NodeInput::Dense(x) => x,
            NodeInput::Sparse(matrix) => {
                let numbers: Vec<f32> = matrix.csr().to_dense().into_iter().collect();
                candle_core::Tensor::from_vec(numbers, matrix.shape(), &Device::Cpu)
                    .unwrap()
                    .into()
            }
            NodeInput::Propagated(_) => unreachable!("features as they are"),
        };
        let h = lift.forward(&x, &mut Pass::Training(&mut rng)).unwrap();
        let pooled = pooling
            .pool(&(&h).into(), &structure, &mut Pass::Training(&mut rng))
            .unwrap();
        assert_eq!(pooled.readout.dims(), [188, pooling.width()]);
        assert!(
            flat(&pooled.readout).iter().all(|number| number.is_finite()),
            "{config}"
        );
        let gradients = pooled
            .readout
            .sqr()
            .unwrap()
            .sum_all()
            .unwrap()
            .backward()
            .unwrap();
        for (name, variable) in parameters.trainable() {
            let variable: &Var = variable;
            let gradient = flat(gradients.get(variable).unwrap());
            assert!(
                gradient.iter().all(|number| number.is_finite()),
                "{config}: {name}"
            );
            assert!(gradient.iter().any(|number| *number != 0.0), "{config}: {name}");
        }
        if let Some(ranks) = pooled.ranks {
            // Seven kinds of atoms.
            assert!(ranks.iter().all(|p| (1..=7).contains(p)), "{ranks:?}");
        }
        if let Some(coarser) = pooled.coarser {
            let adjacency = coarser.structure.adjacency().clone();
            Structure::new(coarser.structure.offsets(), adjacency).unwrap();
        }
    }
}
