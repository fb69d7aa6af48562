//! The geometry crate against SciPy, NumPy and Pymanopt, and its projector
//! against the bare linear algebra inside it.

use super::suite::{Comparison, SHORT_TURN, Suite};

/// The projector may cost at most 15 % more than the raw calls it is made of.
const NO_MORE_THAN_15_PERCENT: f64 = 1.0 / 1.15;

pub(super) const SUITE: Suite = Suite {
    name: "geometry",
    package: "egg-geometry",
    bench: "ratio",
    needs_backend: true,
    script: "xtask/peers/geometry.py",
    requirements: "xtask/peers/geometry-requirements.txt",
    turn: SHORT_TURN,
    datasets: &[],
    comparisons: &[
        Comparison::with_peer(
            "angles, 1,000 pairs 64x8, vs SciPy",
            "angles_64x8",
            "scipy_angles_64x8",
        )
        .at_least(10.0)
        .quick(),
        Comparison::with_peer(
            "angles, 1,000 pairs 64x20, vs SciPy",
            "angles_64x20",
            "scipy_angles_64x20",
        )
        .at_least(10.0),
        Comparison::with_peer(
            "all distances of 500 points, vs Pymanopt",
            "distances_500",
            "pymanopt_dist_500",
        )
        .at_least(10.0),
        Comparison::with_peer(
            "all distances of 500 points, vs NumPy at its best",
            "distances_500",
            "numpy_distances_500",
        )
        .at_least(1.0)
        .quick(),
        Comparison::with_peer(
            "all distances of 500 points, vs NumPy, stacked Gram matrix",
            "distances_500",
            "numpy_stacked_500",
        ),
        Comparison::with_peer(
            "exp, 1,000 one by one, vs Pymanopt",
            "exp_64x8",
            "pymanopt_exp_64x8",
        )
        .at_least(3.0),
        Comparison::with_peer(
            "log, 1,000 one by one, vs Pymanopt",
            "log_64x8",
            "pymanopt_log_64x8",
        )
        .at_least(3.0)
        .quick(),
        Comparison::with_peer(
            "exp, 1,000 as a batch, vs Pymanopt",
            "exp_batch_64x8",
            "pymanopt_exp_64x8",
        ),
        Comparison::with_peer(
            "log, 1,000 as a batch, vs Pymanopt",
            "log_batch_64x8",
            "pymanopt_log_64x8",
        ),
        // Sums of f32 results carry f32 rounding.
        Comparison::with_ourselves(
            "projector, 64 of 64x30 f32, vs raw calls",
            "projector_64x30",
            "projector_64x30_raw",
        )
        .at_least(NO_MORE_THAN_15_PERCENT)
        .within(1e-4)
        .quick(),
        Comparison::with_ourselves(
            "projector, 64 of 64x30 f64, vs raw calls",
            "projector_64x30_f64",
            "projector_64x30_raw_f64",
        )
        .at_least(NO_MORE_THAN_15_PERCENT),
    ],
};
