use candle_core::{Device, Var};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::*;
use crate::Segments;
use crate::linear::linear_gradients;
use crate::{Linear, Parameters, Pass};

/// `x w^T`, without its bias.
struct Product {
    of_input: bool,
}

impl CustomOp3 for Product {
    fn name(&self) -> &'static str {
        "product"
    }

    fn cpu_fwd(
        &self,
        _: &CpuStorage,
        _: &Layout,
        _: &CpuStorage,
        _: &Layout,
        _: &CpuStorage,
        _: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        bail!("only the backward half is called")
    }

    fn bwd(
        &self,
        x: &Tensor,
        w: &Tensor,
        _: &Tensor,
        y: &Tensor,
        g: &Tensor,
    ) -> Result<(Option<Tensor>, Option<Tensor>, Option<Tensor>)> {
        assert_eq!(y.dims(), g.dims());
        let (dx, dw) = linear_gradients(x, w, g, self.of_input)?;
        Ok((dx, Some(dw), None))
    }
}

fn var(rows: usize, columns: usize, seed: usize) -> Var {
    let numbers: Vec<f64> = (0..rows * columns)
        .map(|i| ((i * 7 + seed) % 5) as f64 - 2.0)
        .collect();
    Var::from_tensor(&Tensor::from_vec(numbers, (rows, columns), &Device::Cpu).unwrap()).unwrap()
}

fn gradient(of: &Var, loss: &Tensor) -> Vec<Vec<f64>> {
    let gradients = loss.backward().unwrap();
    gradients.get(of).unwrap().to_vec2().unwrap()
}

/// Two products one after the other, the first used twice, against candle's own tape.
#[test]
fn gradients_are_candles() {
    let (x, v, w, none) = (var(6, 3, 0), var(4, 3, 1), var(2, 4, 3), var(1, 1, 0));
    let segments = Segments::new(&[0, 2, 6]).unwrap();

    let first = x.matmul(&v.t().unwrap()).unwrap();
    let second = first.matmul(&w.t().unwrap()).unwrap();
    let once = segments.sum(&first).unwrap().sqr().unwrap().sum_all().unwrap();
    let twice = segments.max(&second).unwrap().sqr().unwrap().sum_all().unwrap();
    let plain = (once + twice).unwrap();

    let product = |x: &Tensor, w: &Var| x.detach().matmul(&w.as_detached_tensor().t().unwrap()).unwrap();
    let op = || Product { of_input: true };
    let first = Relayed::by_op3(product(&x, &v), &x, &v, &none, op()).unwrap();
    let values = product(first.values(), &w);
    let second = first.then_op3(values, &w, &none, op()).unwrap();
    let once = segments
        .sum_relayed(&first)
        .unwrap()
        .on_tape()
        .unwrap()
        .sqr()
        .unwrap()
        .sum_all()
        .unwrap();
    let twice = segments
        .max_relayed(&second)
        .unwrap()
        .on_tape()
        .unwrap()
        .sqr()
        .unwrap()
        .sum_all()
        .unwrap();
    let relayed = (once + twice).unwrap();

    assert_eq!(
        relayed.to_scalar::<f64>().unwrap(),
        plain.to_scalar::<f64>().unwrap()
    );
    // Twice on the same tape: nothing is left behind.
    for _ in 0..2 {
        for of in [&x, &v, &w] {
            assert_eq!(gradient(of, &relayed), gradient(of, &plain));
        }
    }
}

#[test]
fn nobody_leaves_what_nobody_wants() {
    let (v, w, none) = (var(4, 3, 1), var(2, 4, 3), var(1, 1, 0));
    let constant = v.as_detached_tensor();
    let first = Relayed::by_op3(
        var(6, 4, 0).as_detached_tensor(),
        &constant,
        &constant,
        &none.as_detached_tensor(),
        Product { of_input: false },
    )
    .unwrap();
    assert!(!first.track_op());
    let values = first
        .values()
        .matmul(&w.as_detached_tensor().t().unwrap())
        .unwrap();
    let second = first
        .then_op3(values, &w, &none, Product { of_input: true })
        .unwrap();
    assert!(second.track_op());
    let sum = Segments::new(&[0, 6]).unwrap().sum_relayed(&second).unwrap();
    let gradients = sum.on_tape().unwrap().sum_all().unwrap().backward().unwrap();
    assert!(gradients.get(&w).is_some());
    assert!(first.left.take().is_err(), "a gradient was left");
}

/// A linear layer behind a relayed sum, on candle's tape and off it, with and without a bias.
#[test]
fn a_linear_layer_takes_what_is_relayed() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let mut parameters = Parameters::new(DType::F64, &Device::Cpu).unwrap();
    let mut scope = parameters.root(&mut rng);
    let layers = [
        Linear::new(&mut scope.enter("with"), 4, 3).unwrap(),
        Linear::without_bias(&mut scope.enter("without"), 4, 3).unwrap(),
    ];
    let (x, v, none) = (var(6, 3, 0), var(4, 3, 1), var(1, 1, 0));
    let segments = Segments::new(&[0, 2, 6]).unwrap();
    let mut pass = Pass::Training(&mut rng);
    for layer in layers {
        let rows = x.matmul(&v.t().unwrap()).unwrap();
        let plain = layer.forward(&segments.sum(&rows).unwrap(), &mut pass).unwrap();
        let relayed = Relayed::by_op3(rows.detach(), &x, &v, &none, Product { of_input: true }).unwrap();
        let sums = segments.sum_relayed(&relayed).unwrap();
        let found = layer.forward_relayed(&sums, &mut pass).unwrap();
        assert_eq!(found.to_vec2::<f64>().unwrap(), plain.to_vec2::<f64>().unwrap());

        let loss = |y: &Tensor| y.sqr().unwrap().sum_all().unwrap();
        for of in [&x, &v, layer.weight()] {
            assert_eq!(gradient(of, &loss(&found)), gradient(of, &loss(&plain)));
            let ours = crate::backward(&loss(&found)).unwrap();
            let ours: Vec<Vec<f64>> = ours.get(of).unwrap().to_vec2().unwrap();
            assert_eq!(ours, gradient(of, &loss(&plain)));
        }
        let evaluated = layer.forward_relayed(&sums, &mut Pass::Evaluation).unwrap();
        assert!(!evaluated.track_op());
        assert_eq!(
            evaluated.to_vec2::<f64>().unwrap(),
            plain.to_vec2::<f64>().unwrap()
        );
        assert!(
            layer
                .forward_relayed(&relayed.then_op1(Wider).unwrap(), &mut pass)
                .is_err()
        );
    }
}

/// As many columns again.
struct Wider;

impl CustomOp1 for Wider {
    fn name(&self) -> &'static str {
        "wider"
    }

    fn cpu_fwd(&self, storage: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let CpuStorage::F64(numbers) = storage else {
            bail!("f64 alone")
        };
        let (rows, columns) = layout.shape().dims2()?;
        let twice = [&numbers[..], &numbers[..]].concat();
        Ok((CpuStorage::F64(twice), (rows, 2 * columns).into()))
    }
}
