//! The graph crate's sparse products, convolution and batching, and the dense
//! layers below them, against PyTorch and PyTorch Geometric.

use super::suite::{Comparison, SHORT_TURN, Suite};

/// Results are f32, and sums run in different orders. The checksum is a sum of
/// logarithms, about 10 to 60.
const F32: f64 = 1e-5;

pub(super) const SUITE: Suite = Suite {
    name: "graph",
    package: "egg-graph",
    bench: "ratio",
    needs_backend: false,
    script: "xtask/peers/graph.py",
    requirements: "xtask/peers/torch-requirements.txt",
    turn: SHORT_TURN,
    datasets: &[],
    comparisons: &[
        Comparison::with_peer(
            "sparse product, 16,000 entries x 64, vs index_add",
            "spmm",
            "spmm_index_add",
        )
        .at_least(2.0)
        .within(F32),
        Comparison::with_peer(
            "sparse product, vs CSR with the transpose by hand",
            "spmm",
            "spmm_csr_by_hand",
        )
        .at_least(1.0)
        .within(F32)
        .quick(),
        Comparison::with_peer("sparse product, vs CSR as autograd has it", "spmm", "spmm_csr").within(F32),
        Comparison::with_peer(
            "GCN layer 64-64, 32 graphs, vs GCNConv",
            "gcn_hidden",
            "gcn_hidden_plain",
        )
        .at_least(3.0)
        .within(F32)
        .quick(),
        Comparison::with_peer(
            "GCN layer 64-64, vs GCNConv, normalised once",
            "gcn_hidden",
            "gcn_hidden_normalised",
        )
        .within(F32),
        Comparison::with_peer(
            "GCN layer 64-64, vs GCNConv, normalised once, CSR",
            "gcn_hidden",
            "gcn_hidden_csr",
        )
        .within(F32)
        .quick(),
        Comparison::with_peer(
            "GCN layer 3-64, 32 graphs, vs GCNConv",
            "gcn_input",
            "gcn_input_plain",
        )
        .at_least(3.0)
        .within(F32),
        Comparison::with_peer(
            "GCN layer 3-64, vs GCNConv, normalised once",
            "gcn_input",
            "gcn_input_normalised",
        )
        .within(F32),
        Comparison::with_peer(
            "GCN layer 3-64, vs GCNConv, normalised once, CSR",
            "gcn_input",
            "gcn_input_csr",
        )
        .within(F32),
        Comparison::with_peer(
            "an epoch's batches of 32, vs DataLoader",
            "batching",
            "dataloader",
        )
        .at_least(10.0)
        .quick(),
        Comparison::with_peer(
            "first layer, 2,708 x 1,433 sparse to 64, vs dense",
            "first_layer",
            "cora_dense",
        )
        .within(F32),
        Comparison::with_peer("first layer, vs CSR by hand", "first_layer", "cora_sparse").within(F32),
        Comparison::with_peer("linear and ReLU, 4,000 x 64-64", "linear_relu", "linear_relu").within(F32),
        Comparison::with_peer("batch norm, 4,000 x 64", "batch_norm", "batch_norm").within(F32),
    ],
};
