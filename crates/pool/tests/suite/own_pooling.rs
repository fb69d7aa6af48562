//! A user's own coarsening, in one file: what the crate offers for it is enough.

use approx::assert_abs_diff_eq;
use candle_core::{DType, Device, Var};
use egg_graph::CsrMatrix;
use egg_graph::conv::{SparseMatrix, spmm};
use egg_nn::{Init, Parameters, Pass, Scope, Tracked};
use egg_pool::{Coarser, Pooled, Pooling, Result, Structure};

use crate::samples::{flat, normal, rng, structure};

/// Joins the nodes of each graph two by two, in their order, as `scale (h_a + h_b)`;
/// new nodes are all joined to each other. Reads out the standard deviation.
#[derive(Debug)]
struct PairPooling {
    scale: Var,
    features: usize,
}

impl PairPooling {
    fn new(scope: &mut Scope<'_>, features: usize) -> Result<Self> {
        let scale = scope.parameter("scale", features, Init::Ones)?;
        Ok(Self { scale, features })
    }
}

impl Pooling for PairPooling {
    fn width(&self) -> usize {
        self.features
    }

    fn pool(&self, h: &Tracked, structure: &Structure, pass: &mut Pass<'_>) -> Result<Pooled> {
        let nodes = structure.node_count();
        let (mut members, mut starts, mut offsets) = (Vec::new(), vec![0], vec![0]);
        let (mut columns, mut rows) = (Vec::new(), vec![0]);
        for range in structure.segments().ranges() {
            let (nodes, first): (Vec<u32>, _) = (
                (range.start as u32..range.end as u32).collect(),
                offsets[offsets.len() - 1],
            );
            let pairs = nodes.len().div_ceil(2);
            for pair in nodes.chunks(2) {
                members.extend_from_slice(pair);
                starts.push(members.len());
                columns.extend(first as u32..(first + pairs) as u32);
                rows.push(columns.len());
            }
            offsets.push(first + pairs);
        }
        let count = starts.len() - 1;
        let ones = vec![1.0; members.len()];
        let joined = SparseMatrix::new(CsrMatrix::new(starts, members, ones, nodes)?);
        let scaled = pass.input(h).broadcast_mul(&pass.parameter(&self.scale))?;
        let h = spmm(&joined, &scaled)?;

        let values = vec![1.0; columns.len()];
        let structure = Structure::new(&offsets, CsrMatrix::new(rows, columns, values, count)?)?;
        let graphs = structure.segments();
        let variance = (graphs.mean(&h.sqr()?)? - graphs.mean(&h)?.sqr()?)?;
        Ok(Pooled {
            readout: variance.relu()?.affine(1.0, 1e-12)?.sqrt()?.into(),
            coarser: Some(Coarser { h, structure }),
            ranks: None,
        })
    }
}

#[test]
fn a_users_pooling_trains_and_has_gradients() {
    let (mut rng, mut parameters) = (rng(0), Parameters::new(DType::F64, &Device::Cpu).unwrap());
    let pooling: Box<dyn Pooling> =
        Box::new(PairPooling::new(&mut parameters.root(&mut rng).enter("pool"), 3).unwrap());
    let structure = structure(&[(5, vec![(0, 1)]), (0, vec![]), (4, vec![])]);
    let h = Var::from_tensor(&normal(9, 3, 1)).unwrap();
    let pooled = pooling
        .pool(&(&h).into(), &structure, &mut Pass::Training(&mut rng))
        .unwrap();
    assert_eq!(pooled.readout.dims(), [3, pooling.width()]);
    let coarser = pooled.coarser.unwrap();
    assert_eq!(coarser.structure.offsets(), [0, 3, 3, 5]);
    let (rows, old) = (flat(&coarser.h), flat(&h));
    assert_abs_diff_eq!(rows[0], old[0] + old[3], epsilon = 1e-15);

    // And once more, on what it made.
    let again = pooling
        .pool(&coarser.h, &coarser.structure, &mut Pass::Training(&mut rng))
        .unwrap();
    let gradients = again.readout.sum_all().unwrap().backward().unwrap();
    for variable in [&h, parameters.get("pool.scale").unwrap()] {
        assert!(
            flat(gradients.get(variable).unwrap())
                .iter()
                .any(|number| *number != 0.0)
        );
    }
}
