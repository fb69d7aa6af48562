//! The differentiable embedding and the training parts against PyTorch, and a
//! whole step of training against PyTorch Geometric.

use super::suite::{Comparison, SHORT_TURN, Suite};

/// Results are f32, and sums run in different orders. The checksum is a sum of
/// logarithms, about 10 to 60, or of two losses.
const F32: f64 = 1e-4;

pub(super) const SUITE: Suite = Suite {
    name: "autodiff",
    package: "egg-autodiff",
    bench: "ratio",
    needs_backend: true,
    script: "xtask/peers/autodiff.py",
    requirements: "xtask/peers/torch-requirements.txt",
    turn: SHORT_TURN,
    datasets: &[],
    comparisons: &[
        embedding(
            "embedding, 64 graphs of 10 x 64, vs a loop of SVDs",
            "hard_10",
            "svd_10",
        )
        .at_least(3.0),
        embedding(
            "embedding, 64 graphs of 30 x 64, vs a loop of SVDs",
            "hard_30",
            "svd_30",
        )
        .at_least(3.0)
        .quick(),
        embedding(
            "embedding, 64 graphs of 100 x 64, vs a loop of SVDs",
            "hard_100",
            "svd_100",
        )
        .at_least(3.0),
        embedding(
            "embedding, 64 graphs of 300 x 64, vs a loop of SVDs",
            "hard_300",
            "svd_300",
        )
        .at_least(3.0),
        embedding("embedding, 10 x 64, vs batched eigh", "hard_10", "eigh_10"),
        embedding("embedding, 30 x 64, vs batched eigh", "hard_30", "eigh_30").quick(),
        embedding("embedding, 100 x 64, vs batched eigh", "hard_100", "eigh_100"),
        embedding("embedding, 300 x 64, vs batched eigh", "hard_300", "eigh_300").quick(),
        // Two different functions of the same graphs: only the times compare.
        Comparison::with_ourselves(
            "soft embedding, 100 x 64, vs the hard one",
            "soft_100",
            "hard_100",
        )
        .at_least(2.0)
        .within(f64::INFINITY),
        Comparison::with_ourselves("soft embedding, 30 x 64, vs the hard one", "soft_30", "hard_30")
            .within(f64::INFINITY),
        Comparison::with_peer("linear and ReLU, 4,000 x 64-64", "linear_relu", "linear_relu")
            .at_least(1.0)
            .within(F32),
        Comparison::with_peer("batch norm, 4,000 x 64", "batch_norm", "batch_norm")
            .at_least(1.0)
            .within(F32),
        Comparison::with_peer("MLP 4,000 x 64-64-64 and Adam", "mlp_adam", "mlp_adam")
            .at_least(1.0)
            .within(F32)
            .quick(),
        Comparison::with_peer(
            "MLP 4,000 x 64-64-64 and Adam, fused there",
            "mlp_adam",
            "mlp_adam_fused",
        )
        .within(F32),
        Comparison::with_peer("whole EGG step, vs a loop of SVDs", "step", "step_svd")
            .at_least(3.0)
            .within(F32),
        Comparison::with_peer("whole EGG step, vs batched eigh", "step", "step_eigh")
            .within(F32)
            .quick(),
    ],
};

const fn embedding(name: &'static str, ours: &'static str, peer: &'static str) -> Comparison {
    Comparison::with_peer(name, ours, peer).within(F32)
}
