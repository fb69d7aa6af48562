//! An epoch of training against PyTorch Geometric.

use super::suite::{Comparison, Suite};

/// What pooling by EGG may cost, in times of SUM.
const AT_MOST_2_5_TIMES: f64 = 1.0 / 2.5;

pub(super) const SUITE: Suite = Suite {
    name: "train",
    package: "egg-pool",
    bench: "ratio",
    needs_backend: true,
    script: "xtask/peers/train.py",
    requirements: "xtask/peers/torch-requirements.txt",
    // An epoch of ours is over sooner than caches are warm; of theirs, some are longer.
    turn: 1.0,
    // The two sides draw orders and weights from different generators: only
    // times are compared.
    datasets: &["PROTEINS", "NCI1", "Mutagenicity", "DD"],
    comparisons: &[
        egg(
            "GCN-EGG, PROTEINS, vs batched eigh",
            "gcn_egg_PROTEINS",
            "gcn_egg_eigh_PROTEINS",
        )
        .quick(),
        egg(
            "GCN-EGG, PROTEINS, vs a loop of SVDs",
            "gcn_egg_PROTEINS",
            "gcn_egg_loop_PROTEINS",
        ),
        egg(
            "GCN-EGG, NCI1, vs batched eigh",
            "gcn_egg_NCI1",
            "gcn_egg_eigh_NCI1",
        ),
        egg(
            "GCN-EGG, NCI1, vs a loop of SVDs",
            "gcn_egg_NCI1",
            "gcn_egg_loop_NCI1",
        ),
        egg(
            "GCN-EGG, Mutagenicity, vs batched eigh",
            "gcn_egg_Mutagenicity",
            "gcn_egg_eigh_Mutagenicity",
        ),
        egg(
            "GCN-EGG, Mutagenicity, vs a loop of SVDs",
            "gcn_egg_Mutagenicity",
            "gcn_egg_loop_Mutagenicity",
        ),
        egg("GCN-EGG, DD, vs batched eigh", "gcn_egg_DD", "gcn_egg_eigh_DD"),
        egg("GCN-EGG, DD, vs a loop of SVDs", "gcn_egg_DD", "gcn_egg_loop_DD"),
        sum("GCN-SUM, PROTEINS", "gcn_sum_PROTEINS").quick(),
        sum("GCN-SUM, NCI1", "gcn_sum_NCI1"),
        sum("GCN-SUM, Mutagenicity", "gcn_sum_Mutagenicity"),
        sum("GCN-SUM, DD", "gcn_sum_DD"),
        egg(
            "GIN-EGG, PROTEINS, vs batched eigh",
            "gin_egg_PROTEINS",
            "gin_egg_eigh_PROTEINS",
        )
        .quick(),
        egg(
            "GIN-EGG, PROTEINS, vs a loop of SVDs",
            "gin_egg_PROTEINS",
            "gin_egg_loop_PROTEINS",
        ),
        sum("GIN-SUM, PROTEINS", "gin_sum_PROTEINS"),
        Comparison::with_peer("GCN-Edge, PROTEINS", "gcn_edge_PROTEINS", "gcn_edge_PROTEINS").at_least(10.0),
        cost(
            "EGG against SUM, ours, PROTEINS",
            "gcn_egg_PROTEINS",
            "gcn_sum_PROTEINS",
        )
        .quick(),
        cost("EGG against SUM, ours, NCI1", "gcn_egg_NCI1", "gcn_sum_NCI1"),
        cost(
            "EGG against SUM, ours, Mutagenicity",
            "gcn_egg_Mutagenicity",
            "gcn_sum_Mutagenicity",
        ),
        cost("EGG against SUM, ours, DD", "gcn_egg_DD", "gcn_sum_DD"),
    ],
};

const fn egg(name: &'static str, ours: &'static str, peer: &'static str) -> Comparison {
    Comparison::with_peer(name, ours, peer).at_least(5.0)
}

const fn sum(name: &'static str, task: &'static str) -> Comparison {
    Comparison::with_peer(name, task, task).at_least(3.0)
}

const fn cost(name: &'static str, egg: &'static str, sum: &'static str) -> Comparison {
    Comparison::with_ourselves(name, egg, sum)
        .at_least(AT_MOST_2_5_TIMES)
        .within(f64::INFINITY)
}
