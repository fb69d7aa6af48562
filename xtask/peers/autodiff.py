"""The other side of `cargo xtask bench autodiff`: PyTorch and PyTorch Geometric.

    python autodiff.py DIRECTORY
"""

import os

import torch
from torch.nn import functional
from torch_geometric.nn import GCNConv
from torch_geometric.nn.conv.gcn_conv import gcn_norm

from protocol import read_inputs, serve

torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
inputs = {name: torch.from_numpy(array) for name, array in read_inputs().items()}

GRAPHS, WIDTH = 64, 64
UPPER = torch.triu_indices(WIDTH, WIDTH)
UPPER = UPPER[0] * WIDTH + UPPER[1]


def variable(name):
    return inputs[name].clone().requires_grad_()


# The embedding of a batch of graphs of equal size: directions whose singular
# value is above half of the largest.


def svd_loop(h):
    """One graph after the other, as the paper's code does it."""
    rows = []
    for graph in h.reshape(GRAPHS, -1, WIDTH):
        u, s, _ = torch.linalg.svd(graph.t(), full_matrices=False)
        u = u[:, s > 0.5 * s[0]]
        p = u @ u.t()
        rows.append(p.flatten().index_select(0, UPPER))
    return torch.stack(rows)


def batched_eigh(h):
    """All graphs at once, which their equal sizes allow: eigenvectors of the
    Gram matrices, the others masked."""
    h = h.reshape(GRAPHS, -1, WIDTH)
    values, vectors = torch.linalg.eigh(h.transpose(1, 2) @ h)
    kept = (values > 0.25 * values[:, -1:]).to(h.dtype)
    u = vectors * kept.unsqueeze(1)
    p = u @ u.transpose(1, 2)
    return p.flatten(1).index_select(1, UPPER)


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


def embedding(way, nodes):
    h, upstream = variable(f"h_{nodes}"), inputs[f"upstream_{nodes}"]
    work, _ = differentiated(lambda: way(h) * upstream, [h])
    # A repeated eigenvalue (n < m) makes NaN of eigh's gradient: nothing to compare.
    return work, lambda results: (1, None if results[1].isnan().any() else checksum(results)[1])


# Layers, at 4,000 x 64.


def linear_relu():
    x, weight, bias = variable("x"), variable("linear.weight"), variable("linear.bias")
    return differentiated(lambda: torch.relu(functional.linear(x, weight, bias)), [x, weight, bias])


def batch_norm():
    x = variable("x")
    layer = torch.nn.BatchNorm1d(WIDTH)
    work, _ = differentiated(lambda: layer(x), [layer.bias, layer.weight, x])
    # For a gradient of ones, those of x and the weight are 0 but for rounding.
    return work, lambda results: checksum(results[:2])


def stepped(model, loss, **options):
    """A task: steps of Adam. The check is the loss before the first step and
    after it."""
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-3, weight_decay=5e-4, **options)

    def work():
        optimiser.zero_grad()
        value = loss()
        value.backward()
        optimiser.step()
        return value.item()

    check = work() + work()
    return work, lambda _: (1, check)


def load(module, name, bias=True):
    with torch.no_grad():
        module.weight.copy_(inputs[f"{name}.weight"])
        if bias:
            module.bias.copy_(inputs[f"{name}.bias"])


def mlp_adam(**options):
    model = torch.nn.Sequential(
        torch.nn.Linear(WIDTH, WIDTH), torch.nn.ReLU(), torch.nn.Linear(WIDTH, WIDTH)
    )
    load(model[0], "mlp.lins.0")
    load(model[2], "mlp.lins.1")
    x, target = inputs["x"], inputs["mlp_target"]
    return stepped(model, lambda: functional.mse_loss(model(x), target), **options)


# The whole step.


class Model(torch.nn.Module):
    def __init__(self, way):
        super().__init__()
        self.way = way
        # The edges are normalised once, as on our side.
        self.conv0 = GCNConv(inputs["step_x"].shape[1], WIDTH, normalize=False)
        self.conv1 = GCNConv(WIDTH, WIDTH, normalize=False)
        for layer, name in [(self.conv0, "conv0"), (self.conv1, "conv1")]:
            load(layer.lin, f"{name}.lin", bias=False)
            with torch.no_grad():
                layer.bias.copy_(inputs[f"{name}.bias"])
        widths = [WIDTH * (WIDTH + 1) // 2, 64, 16, 2]
        self.lins = torch.nn.ModuleList(torch.nn.Linear(*pair) for pair in zip(widths, widths[1:]))
        self.norms = torch.nn.ModuleList(torch.nn.BatchNorm1d(width) for width in widths[1:-1])
        for index, layer in enumerate(self.lins):
            load(layer, f"head.lins.{index}")
        for index, layer in enumerate(self.norms):
            load(layer, f"head.norms.{index}")

    def forward(self, x, edges, weights):
        h = torch.relu(self.conv0(x, edges, weights))
        h = torch.relu(self.conv1(h, edges, weights))
        y = self.way(h)
        for layer, norm in zip(self.lins, self.norms):
            y = torch.relu(norm(layer(y)))
        return self.lins[-1](y)


def step(way, **options):
    model = Model(way)
    x, y = inputs["step_x"], inputs["step_y"]
    edges, weights = gcn_norm(inputs["step_edges"], num_nodes=len(x))
    return stepped(model, lambda: functional.cross_entropy(model(x, edges, weights), y), **options)


tasks = {
    "linear_relu": linear_relu,
    "batch_norm": batch_norm,
    "mlp_adam": mlp_adam,
    "mlp_adam_fused": lambda: mlp_adam(fused=True),
    "step_svd": lambda: step(svd_loop),
    "step_eigh": lambda: step(batched_eigh),
}
for nodes in [10, 30, 100, 300]:
    tasks[f"svd_{nodes}"] = lambda nodes=nodes: embedding(svd_loop, nodes)
    tasks[f"eigh_{nodes}"] = lambda nodes=nodes: embedding(batched_eigh, nodes)

serve(tasks, packages=["numpy", "torch", "torch_geometric"])
