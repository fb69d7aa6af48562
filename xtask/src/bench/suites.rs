//! What is compared. Each suite is a bench program of ours, a script of the peers', and a table.

use super::suite::{Comparison, Suite, ourselves, peer};

/// A turn of tasks that take milliseconds.
const SHORT_TURN: f64 = 0.05;

/// Sums of f32 results run in different orders. The checksum is a sum of logarithms, about 10 to 60, or of two losses.
const F32: f64 = 1e-4;
/// The same where nothing is decomposed.
const F32_LAYERS: f64 = 1e-5;

/// The projector may cost at most 15 % more than the raw calls it is made of.
const NO_MORE_THAN_15_PERCENT: f64 = 1.0 / 1.15;
/// What pooling by EGG may cost, in times of SUM.
const AT_MOST_2_5_TIMES: f64 = 1.0 / 2.5;

/// The geometry crate against SciPy, NumPy and Pymanopt, and its projector against the bare linear algebra inside it.
#[rustfmt::skip] // It is a table.
pub(super) const GEOMETRY: Suite = Suite {
    name: "geometry",
    package: "egg-geometry",
    needs_backend: true,
    script: "xtask/peers/geometry.py",
    requirements: "xtask/peers/geometry-requirements.txt",
    turn: SHORT_TURN,
    datasets: &[],
    comparisons: &[
        peer("angles, 1,000 pairs 64x8, vs SciPy", "angles_64x8", "scipy_angles_64x8").at_least(10.0).quick(),
        peer("angles, 1,000 pairs 64x20, vs SciPy", "angles_64x20", "scipy_angles_64x20").at_least(10.0),
        peer("all distances of 500 points, vs Pymanopt", "distances_500", "pymanopt_dist_500").at_least(10.0),
        peer("all distances of 500 points, vs NumPy at its best", "distances_500", "numpy_distances_500").at_least(1.0).quick(),
        peer("all distances of 500 points, vs NumPy, stacked Gram matrix", "distances_500", "numpy_stacked_500"),
        peer("exp, 1,000 one by one, vs Pymanopt", "exp_64x8", "pymanopt_exp_64x8").at_least(3.0),
        peer("log, 1,000 one by one, vs Pymanopt", "log_64x8", "pymanopt_log_64x8").at_least(3.0).quick(),
        peer("exp, 1,000 as a batch, vs Pymanopt", "exp_batch_64x8", "pymanopt_exp_64x8"),
        peer("log, 1,000 as a batch, vs Pymanopt", "log_batch_64x8", "pymanopt_log_64x8"),
        ourselves("projector, 64 of 64x30 f32, vs raw calls", "projector_64x30", "projector_64x30_raw").at_least(NO_MORE_THAN_15_PERCENT).within(F32).quick(),
        ourselves("projector, 64 of 64x30 f64, vs raw calls", "projector_64x30_f64", "projector_64x30_raw_f64").at_least(NO_MORE_THAN_15_PERCENT),
    ],
};

/// Sparse products, convolution and batching, and the dense layers below them, against PyTorch and PyTorch Geometric.
#[rustfmt::skip] // It is a table.
pub(super) const GRAPH: Suite = Suite {
    name: "graph",
    package: "egg-graph",
    needs_backend: false,
    script: "xtask/peers/graph.py",
    requirements: "xtask/peers/torch-requirements.txt",
    turn: SHORT_TURN,
    datasets: &[],
    comparisons: &[
        layer("sparse product, 16,000 entries x 64, vs index_add", "spmm", "spmm_index_add").at_least(2.0),
        layer("sparse product, vs CSR with the transpose by hand", "spmm", "spmm_csr_by_hand").at_least(1.0).quick(),
        layer("sparse product, vs CSR as autograd has it", "spmm", "spmm_csr"),
        layer("GCN layer 64-64, 32 graphs, vs GCNConv", "gcn_hidden", "gcn_hidden_plain").at_least(3.0).quick(),
        layer("GCN layer 64-64, vs GCNConv, normalised once", "gcn_hidden", "gcn_hidden_normalised"),
        layer("GCN layer 64-64, vs GCNConv, normalised once, CSR", "gcn_hidden", "gcn_hidden_csr").quick(),
        layer("GCN layer 3-64, 32 graphs, vs GCNConv", "gcn_input", "gcn_input_plain").at_least(3.0),
        layer("GCN layer 3-64, vs GCNConv, normalised once", "gcn_input", "gcn_input_normalised"),
        layer("GCN layer 3-64, vs GCNConv, normalised once, CSR", "gcn_input", "gcn_input_csr"),
        peer("an epoch's batches of 32, vs DataLoader", "batching", "dataloader").at_least(10.0).quick(),
        layer("first layer, 2,708 x 1,433 sparse to 64, vs dense", "first_layer", "cora_dense"),
        layer("first layer, vs CSR by hand", "first_layer", "cora_sparse"),
        layer("linear and ReLU, 4,000 x 64-64", "linear_relu", "linear_relu"),
        layer("batch norm, 4,000 x 64", "batch_norm", "batch_norm"),
    ],
};

const fn layer(name: &'static str, ours: &'static str, other: &'static str) -> Comparison {
    peer(name, ours, other).within(F32_LAYERS)
}

/// The differentiable embedding and the training parts against PyTorch, and a whole step against PyTorch Geometric.
#[rustfmt::skip] // It is a table.
pub(super) const AUTODIFF: Suite = Suite {
    name: "autodiff",
    package: "egg-autodiff",
    needs_backend: true,
    script: "xtask/peers/autodiff.py",
    requirements: "xtask/peers/torch-requirements.txt",
    turn: SHORT_TURN,
    datasets: &[],
    comparisons: &[
        single("embedding, 64 graphs of 10 x 64, vs a loop of SVDs", "hard_10", "svd_10").at_least(3.0),
        single("embedding, 64 graphs of 30 x 64, vs a loop of SVDs", "hard_30", "svd_30").at_least(3.0).quick(),
        single("embedding, 64 graphs of 100 x 64, vs a loop of SVDs", "hard_100", "svd_100").at_least(3.0),
        single("embedding, 64 graphs of 300 x 64, vs a loop of SVDs", "hard_300", "svd_300").at_least(3.0),
        single("embedding, 10 x 64, vs batched eigh", "hard_10", "eigh_10"),
        single("embedding, 30 x 64, vs batched eigh", "hard_30", "eigh_30").quick(),
        single("embedding, 100 x 64, vs batched eigh", "hard_100", "eigh_100"),
        single("embedding, 300 x 64, vs batched eigh", "hard_300", "eigh_300").quick(),
        // Two different functions of the same graphs: only the times compare.
        ourselves("soft embedding, 100 x 64, vs the hard one", "soft_100", "hard_100").at_least(2.0).within(f64::INFINITY),
        ourselves("soft embedding, 30 x 64, vs the hard one", "soft_30", "hard_30").within(f64::INFINITY),
        single("linear and ReLU, 4,000 x 64-64", "linear_relu", "linear_relu").at_least(1.0),
        single("batch norm, 4,000 x 64", "batch_norm", "batch_norm").at_least(1.0),
        single("MLP 4,000 x 64-64-64 and Adam", "mlp_adam", "mlp_adam").at_least(1.0).quick(),
        single("MLP 4,000 x 64-64-64 and Adam, fused there", "mlp_adam", "mlp_adam_fused"),
        single("whole EGG step, vs a loop of SVDs", "step", "step_svd").at_least(3.0),
        single("whole EGG step, vs batched eigh", "step", "step_eigh").quick(),
    ],
};

const fn single(name: &'static str, ours: &'static str, other: &'static str) -> Comparison {
    peer(name, ours, other).within(F32)
}

/// An epoch of training against PyTorch Geometric. The two sides draw orders and weights from different generators:
/// only times are compared.
#[rustfmt::skip] // It is a table.
pub(super) const TRAIN: Suite = Suite {
    name: "train",
    package: "egg-pool",
    needs_backend: true,
    script: "xtask/peers/train.py",
    requirements: "xtask/peers/torch-requirements.txt",
    // An epoch of ours is over sooner than caches are warm; of theirs, some are longer.
    turn: 1.0,
    datasets: &["PROTEINS", "NCI1", "Mutagenicity", "DD"],
    comparisons: &[
        peer("GCN-EGG, PROTEINS, vs batched eigh", "gcn_egg_PROTEINS", "gcn_egg_eigh_PROTEINS").at_least(5.0).quick(),
        peer("GCN-EGG, PROTEINS, vs a loop of SVDs", "gcn_egg_PROTEINS", "gcn_egg_loop_PROTEINS").at_least(5.0),
        peer("GCN-EGG, NCI1, vs batched eigh", "gcn_egg_NCI1", "gcn_egg_eigh_NCI1").at_least(5.0),
        peer("GCN-EGG, NCI1, vs a loop of SVDs", "gcn_egg_NCI1", "gcn_egg_loop_NCI1").at_least(5.0),
        peer("GCN-EGG, Mutagenicity, vs batched eigh", "gcn_egg_Mutagenicity", "gcn_egg_eigh_Mutagenicity").at_least(5.0),
        peer("GCN-EGG, Mutagenicity, vs a loop of SVDs", "gcn_egg_Mutagenicity", "gcn_egg_loop_Mutagenicity").at_least(5.0),
        peer("GCN-EGG, DD, vs batched eigh", "gcn_egg_DD", "gcn_egg_eigh_DD").at_least(5.0),
        peer("GCN-EGG, DD, vs a loop of SVDs", "gcn_egg_DD", "gcn_egg_loop_DD").at_least(5.0),
        peer("GCN-SUM, PROTEINS", "gcn_sum_PROTEINS", "gcn_sum_PROTEINS").at_least(3.0).quick(),
        peer("GCN-SUM, NCI1", "gcn_sum_NCI1", "gcn_sum_NCI1").at_least(3.0),
        peer("GCN-SUM, Mutagenicity", "gcn_sum_Mutagenicity", "gcn_sum_Mutagenicity").at_least(3.0),
        peer("GCN-SUM, DD", "gcn_sum_DD", "gcn_sum_DD").at_least(3.0),
        peer("GIN-EGG, PROTEINS, vs batched eigh", "gin_egg_PROTEINS", "gin_egg_eigh_PROTEINS").at_least(5.0).quick(),
        peer("GIN-EGG, PROTEINS, vs a loop of SVDs", "gin_egg_PROTEINS", "gin_egg_loop_PROTEINS").at_least(5.0),
        peer("GIN-SUM, PROTEINS", "gin_sum_PROTEINS", "gin_sum_PROTEINS").at_least(3.0),
        peer("GCN-Edge, PROTEINS", "gcn_edge_PROTEINS", "gcn_edge_PROTEINS").at_least(10.0),
        cost("EGG against SUM, ours, PROTEINS", "gcn_egg_PROTEINS", "gcn_sum_PROTEINS").quick(),
        cost("EGG against SUM, ours, NCI1", "gcn_egg_NCI1", "gcn_sum_NCI1"),
        cost("EGG against SUM, ours, Mutagenicity", "gcn_egg_Mutagenicity", "gcn_sum_Mutagenicity"),
        cost("EGG against SUM, ours, DD", "gcn_egg_DD", "gcn_sum_DD"),
    ],
};

const fn cost(name: &'static str, egg: &'static str, sum: &'static str) -> Comparison {
    ourselves(name, egg, sum)
        .at_least(AT_MOST_2_5_TIMES)
        .within(f64::INFINITY)
}

/// Node clustering against a dense autoencoder in PyTorch and scikit-learn. Weights, noise and starts are drawn by
/// different generators: but for the measures, only times are compared.
#[rustfmt::skip] // It is a table.
pub(super) const CLUSTER: Suite = Suite {
    name: "cluster",
    package: "egg-cluster",
    needs_backend: true,
    script: "xtask/peers/cluster.py",
    requirements: "xtask/peers/cluster-requirements.txt",
    turn: SHORT_TURN,
    datasets: &["Cora", "Citeseer", "Pubmed"],
    comparisons: &[
        peer("exact epoch, Cora, vs dense PyTorch", "epoch_Cora", "epoch_Cora").at_least(3.0).quick(),
        peer("exact epoch, Citeseer, vs dense PyTorch", "epoch_Citeseer", "epoch_Citeseer").at_least(3.0).quick(),
        peer("exact epoch, Pubmed, vs dense PyTorch", "epoch_Pubmed", "epoch_Pubmed").at_least(8.0),
        peer("EGG and k-means, Pubmed, vs scikit-learn on U U^T", "egg_kmeans_1", "kmeans_projector").at_least(20.0),
        peer("EGG and k-means x 10, Pubmed, vs scikit-learn on U", "egg_kmeans_10", "kmeans_10").at_least(1.0).quick(),
        peer("measures of a million points, vs scikit-learn", "metrics", "metrics").quick(),
    ],
};

/// Peaks of memory instead of times: `memory.rs`. Its tasks are those of `train` and `cluster`.
#[rustfmt::skip] // It is a table.
pub(super) const MEMORY: Suite = Suite {
    name: "memory",
    package: "egg-pool",
    needs_backend: true,
    script: "xtask/peers/train.py",
    requirements: "xtask/peers/torch-requirements.txt",
    // Once to warm up, and once more.
    turn: 0.0,
    datasets: &["PROTEINS", "DD", "Pubmed"],
    comparisons: &[
        peer("GCN-EGG, PROTEINS", "gcn_egg_PROTEINS", "gcn_egg_eigh_PROTEINS").at_least(1.0),
        peer("GCN-SUM, PROTEINS", "gcn_sum_PROTEINS", "gcn_sum_PROTEINS").at_least(1.0),
        peer("GCN-EGG, DD", "gcn_egg_DD", "gcn_egg_eigh_DD").at_least(1.0),
        peer("GCN-SUM, DD", "gcn_sum_DD", "gcn_sum_DD").at_least(1.0),
        peer("clustering, all pairs, Pubmed", "epoch_Pubmed", "epoch_Pubmed").at_least(1.0),
    ],
};

/// All that are measured in times.
pub(super) const TIMED: [&Suite; 5] = [&GEOMETRY, &GRAPH, &AUTODIFF, &TRAIN, &CLUSTER];
