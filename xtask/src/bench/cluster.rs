//! Node clustering against a dense autoencoder in PyTorch and scikit-learn.

use super::suite::{Comparison, SHORT_TURN, Suite};

pub(super) const SUITE: Suite = Suite {
    name: "cluster",
    package: "egg-cluster",
    bench: "ratio",
    needs_backend: true,
    script: "xtask/peers/cluster.py",
    requirements: "xtask/peers/cluster-requirements.txt",
    turn: SHORT_TURN,
    // Weights, noise and starts are drawn by different generators: but for the
    // measures, only times are compared.
    datasets: &["Cora", "Citeseer", "Pubmed"],
    comparisons: &[
        Comparison::with_peer("exact epoch, Cora, vs dense PyTorch", "epoch_Cora", "epoch_Cora")
            .at_least(3.0)
            .quick(),
        Comparison::with_peer(
            "exact epoch, Citeseer, vs dense PyTorch",
            "epoch_Citeseer",
            "epoch_Citeseer",
        )
        .at_least(3.0)
        .quick(),
        Comparison::with_peer(
            "exact epoch, Pubmed, vs dense PyTorch",
            "epoch_Pubmed",
            "epoch_Pubmed",
        )
        .at_least(8.0),
        Comparison::with_peer(
            "EGG and k-means, Pubmed, vs scikit-learn on U U^T",
            "egg_kmeans_1",
            "kmeans_projector",
        )
        .at_least(20.0),
        Comparison::with_peer(
            "EGG and k-means x 10, Pubmed, vs scikit-learn on U",
            "egg_kmeans_10",
            "kmeans_10",
        )
        .at_least(1.0)
        .quick(),
        Comparison::with_peer(
            "measures of a million points, vs scikit-learn",
            "metrics",
            "metrics",
        )
        .quick(),
    ],
};
