//! Gradient descent through the operations finds what was planted.

use candle_core::{Tensor, Var};
use egg_autodiff::{Embedder, Filter, Flatten, RankRule, SoftEmbedder, projection_distance};

use crate::differences::{normal, orthonormal};

fn scalar(tensor: &Tensor) -> f64 {
    tensor.to_scalar().unwrap()
}

/// Steps down the gradient of a loss.
fn descend(start: &Tensor, rate: f64, steps: usize, loss: impl Fn(&Tensor) -> Tensor) -> f64 {
    let h = Var::from_tensor(start).unwrap();
    for _ in 0..steps {
        let gradients = loss(&h).backward().unwrap();
        let step = (gradients.get(&h).unwrap() * rate).unwrap();
        h.set(&(h.as_tensor() - step).unwrap()).unwrap();
    }
    scalar(&loss(&h))
}

#[test]
fn training_recovers_a_planted_subspace() {
    let (m, p) = (6, 2);
    let planted = orthonormal(m, p, 1);
    let target = Embedder::new(RankRule::Fixed(p), Flatten::Isometric)
        .unwrap()
        .embed(planted.t().unwrap().contiguous().unwrap(), &[0, p])
        .unwrap();
    // Two graphs of different sizes, both towards the same subspace.
    let embedder = Embedder::new(RankRule::Fixed(p), Flatten::Isometric).unwrap();
    let left = descend(&normal(17, m, 2), 1.0, 400, |h| {
        let rows = embedder.embed(h, &[0, 7, 17]).unwrap();
        rows.broadcast_sub(&target)
            .unwrap()
            .sqr()
            .unwrap()
            .sum_all()
            .unwrap()
    });
    assert!(left < 1e-6, "{left} is left of the distance");
}

#[test]
fn soft_training_recovers_a_planted_subspace() {
    let (m, p) = (6, 2);
    let planted = (orthonormal(m, p, 1).t().unwrap() * 3.0).unwrap();
    let embedder = SoftEmbedder::new(Filter::resolvent(0.5).unwrap(), Flatten::Isometric);
    let target = embedder.embed(&planted, &[0, p]).unwrap();
    let left = descend(&normal(8, m, 3), 0.3, 600, |h| {
        let rows = embedder.embed(h, &[0, 8]).unwrap();
        (rows - &target).unwrap().sqr().unwrap().sum_all().unwrap()
    });
    assert!(left < 1e-3, "{left} is left of the distance");
}

#[test]
fn training_aligns_two_bases() {
    let b = orthonormal(7, 3, 4);
    let left = descend(&normal(7, 3, 5), 1.0, 300, |a| {
        projection_distance(a, &b).unwrap().sqr().unwrap()
    });
    assert!(left < 1e-8, "{left} is left of the distance");
}
