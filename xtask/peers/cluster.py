"""The other side of `cargo xtask bench cluster`: PyTorch and scikit-learn.

    python cluster.py DIRECTORY
"""

import os

import numpy as np
import torch
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.metrics.cluster import contingency_matrix
from torch.nn import functional
from torch_geometric.nn import GCNConv

from protocol import read_inputs, serve

torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
inputs = read_inputs()


class Encoder(torch.nn.Module):
    """Two GCN layers; the normalised adjacency is computed once."""

    def __init__(self, features):
        super().__init__()
        self.hidden = GCNConv(features, 32, bias=False, cached=True)
        self.mean = GCNConv(32, 16, bias=False, cached=True)
        self.log_sigma = GCNConv(32, 16, bias=False, cached=True)

    def forward(self, x, edges):
        h = torch.relu(self.hidden(x, edges))
        return self.mean(h, edges), self.log_sigma(h, edges).clamp(max=10)


def epoch(name):
    """An epoch with the likelihood of all pairs, as dense matrices."""
    x, edges = (torch.from_numpy(inputs[f"{name}_{part}"]) for part in ("x", "edges"))
    n, s = len(x), edges.shape[1]
    target = torch.eye(n)
    target[edges[0], edges[1]] = 1
    pos_weight = torch.tensor((n * n - s) / s)
    norm = n * n / (2 * (n * n - s))
    torch.manual_seed(0)
    model = Encoder(x.shape[1])
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01)

    def work():
        optimiser.zero_grad()
        mean, log_sigma = model(x, edges)
        z = mean + torch.randn_like(mean) * log_sigma.exp()
        likelihood = functional.binary_cross_entropy_with_logits(z @ z.t(), target, pos_weight=pos_weight)
        divergence = -0.5 * (1 + 2 * log_sigma - mean.square() - (2 * log_sigma).exp()).sum(1).mean()
        loss = norm * likelihood + divergence / n
        loss.backward()
        optimiser.step()
        return loss.item()

    # Weights and noise are drawn by different generators.
    return work, lambda _: (1, None)


def left_vectors():
    h = inputs["embedding"].astype(np.float64)
    u = np.linalg.svd(h, full_matrices=False)[0][:, :13]
    return u.astype(np.float32)


def kmeans(of_projector, starts):
    def work():
        u = left_vectors()
        rows = u @ u.T if of_projector else u
        return KMeans(3, n_init=starts, random_state=0).fit(rows).inertia_

    # k-means starts elsewhere, and may end elsewhere.
    return work, lambda _: (starts, None)


def metrics():
    classes, clusters = inputs["classes"], inputs["clusters"]

    def work():
        table = contingency_matrix(classes, clusters)
        rows, columns = linear_sum_assignment(-table)
        accuracy = table[rows, columns].sum() / len(classes)
        return (
            normalized_mutual_info_score(classes, clusters)
            + adjusted_rand_score(classes, clusters)
            + accuracy
        )

    return work, lambda total: (1, float(total))


serve(
    {
        "epoch_Cora": lambda: epoch("Cora"),
        "epoch_Citeseer": lambda: epoch("Citeseer"),
        "epoch_Pubmed": lambda: epoch("Pubmed"),
        "kmeans_projector": lambda: kmeans(True, 1),
        "kmeans_10": lambda: kmeans(False, 10),
        "metrics": metrics,
    },
    packages=["numpy", "scikit-learn", "scipy", "torch", "torch_geometric"],
)
