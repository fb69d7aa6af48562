"""The other side of `cargo xtask bench graph`: PyTorch and PyTorch Geometric.

    python graph.py DIRECTORY
"""

import os

import torch
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GCNConv
from torch_geometric.nn.conv.gcn_conv import gcn_norm

from protocol import read_inputs, serve

torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
inputs = {name: torch.from_numpy(array) for name, array in read_inputs().items()}


def checksum(results):
    """The logarithms of the squared norms, so that each result weighs the same."""
    return 1, float(sum(torch.log(result.double().square().sum()) for result in results))


def differentiated(forward, wanted):
    """A task: the result of `forward` and its gradients for a gradient of ones."""
    ones = torch.ones_like(forward())

    def work():
        y = forward()
        return [y.detach(), *torch.autograd.grad(y, wanted, ones)]

    return work, checksum


def variable(name):
    return inputs[name].clone().requires_grad_()


def csr(name, shape, values=None):
    parts = (inputs[f"{name}_offsets"], inputs[f"{name}_columns"])
    return torch.sparse_csr_tensor(*parts, inputs[f"{name}_values"] if values is None else values, shape)


# The sparse product: 4,000 x 4,000 with 16,000 entries, times 4,000 x 64.


def spmm_index_add():
    x = variable("spmm_x")
    offsets, source = inputs["spmm_offsets"], inputs["spmm_columns"]
    target = torch.repeat_interleave(torch.arange(len(offsets) - 1), offsets.diff())
    weight = inputs["spmm_values"].unsqueeze(1)

    def forward():
        return torch.zeros_like(x).index_add(0, target, x[source] * weight)

    return differentiated(forward, [x])


def spmm_csr():
    x = variable("spmm_x")
    matrix = csr("spmm", (len(x), len(x)))
    return differentiated(lambda: torch.sparse.mm(matrix, x), [x])


class Product(torch.autograd.Function):
    """A x with the transpose, made once, in the backward pass."""

    @staticmethod
    def forward(ctx, matrix, transpose, x):
        ctx.transpose = transpose
        return matrix @ x

    @staticmethod
    def backward(ctx, gradient):
        return None, None, ctx.transpose @ gradient


def spmm_csr_by_hand():
    x = variable("spmm_x")
    matrix = csr("spmm", (len(x), len(x)))
    transpose = matrix.to_dense().t().to_sparse_csr()
    return differentiated(lambda: Product.apply(matrix, transpose, x), [x])


# One GCN layer on a batch of 32 graphs.


def gcn(name, way):
    weight, bias = inputs[f"{name}_weight"], inputs[f"{name}_bias"]
    x, edges = inputs[f"{name}_x"].clone(), inputs["batch_edges"]
    layer = GCNConv(weight.shape[1], weight.shape[0], normalize=way == "plain")
    with torch.no_grad():
        layer.lin.weight.copy_(weight)
        layer.bias.copy_(bias)
    wanted = [layer.lin.weight, layer.bias]
    if name == "hidden":
        wanted.append(x.requires_grad_())
    if way == "plain":
        return differentiated(lambda: layer(x, edges), wanted)
    edges, weights = gcn_norm(edges, num_nodes=len(x))
    if way == "normalised":
        return differentiated(lambda: layer(x, edges, weights), wanted)
    # Symmetric, so it is its own transpose.
    adjacency = torch.sparse_coo_tensor(edges, weights, (len(x), len(x))).to_sparse_csr()
    return differentiated(lambda: layer(x, adjacency), wanted)


# An epoch of batches.


def dataloader():
    nodes, edges, x = inputs["epoch_nodes"], inputs["epoch_edges"], inputs["epoch_x"]
    # Where the edges of each graph begin.
    first = torch.searchsorted(edges[0].contiguous(), nodes)
    graphs = [
        Data(
            x=x[nodes[g] : nodes[g + 1]].clone(),
            edge_index=(edges[:, first[g] : first[g + 1]] - nodes[g]).contiguous(),
            y=inputs["epoch_y"][g : g + 1].clone(),
        )
        for g in range(len(nodes) - 1)
    ]
    loader = DataLoader(graphs, batch_size=32, shuffle=True, num_workers=0)

    def work():
        return [(batch.num_nodes, batch.num_edges, batch.y) for batch in loader]

    def check(batches):
        sums = (nodes + edges + int(y.sum()) for nodes, edges, y in batches)
        return len(batches), float(sum(sums))

    return work, check


# The first layer on a graph with sparse features.


def cora_weight():
    # PyTorch's sparse product wants it in x out.
    return inputs["cora_weight"].t().contiguous().requires_grad_()


def cora_features():
    return csr("cora", (len(inputs["cora_offsets"]) - 1, inputs["cora_weight"].shape[1]))


def cora_dense():
    x, weight = cora_features().to_dense(), cora_weight()
    return differentiated(lambda: x @ weight, [weight])


def cora_sparse():
    x, weight = cora_features(), cora_weight()
    transpose = x.to_dense().t().to_sparse_csr()
    return differentiated(lambda: Product.apply(x, transpose, weight), [weight])


# Dense layers.


def linear_relu():
    x, weight, bias = variable("spmm_x"), variable("linear_weight"), variable("linear_bias")

    def forward():
        return torch.relu(torch.nn.functional.linear(x, weight, bias))

    return differentiated(forward, [x, weight, bias])


def batch_norm():
    x = variable("spmm_x")
    layer = torch.nn.BatchNorm1d(x.shape[1])
    work, _ = differentiated(lambda: layer(x), [layer.bias, layer.weight, x])
    # For a gradient of ones, those of x and the weight are 0 but for rounding.
    return work, lambda results: checksum(results[:2])


serve(
    {
        "spmm_index_add": spmm_index_add,
        "spmm_csr": spmm_csr,
        "spmm_csr_by_hand": spmm_csr_by_hand,
        "gcn_input_plain": lambda: gcn("input", "plain"),
        "gcn_input_normalised": lambda: gcn("input", "normalised"),
        "gcn_input_csr": lambda: gcn("input", "csr"),
        "gcn_hidden_plain": lambda: gcn("hidden", "plain"),
        "gcn_hidden_normalised": lambda: gcn("hidden", "normalised"),
        "gcn_hidden_csr": lambda: gcn("hidden", "csr"),
        "dataloader": dataloader,
        "cora_dense": cora_dense,
        "cora_sparse": cora_sparse,
        "linear_relu": linear_relu,
        "batch_norm": batch_norm,
    },
    packages=["numpy", "torch", "torch_geometric"],
)
