"""The other side of `cargo xtask bench train`: PyTorch Geometric.

    python train.py DIRECTORY

A task is one epoch: every graph once, in batches of 32, forward, backward and a
step of Adam.
"""

import os

import torch
from torch.nn import BatchNorm1d, Dropout, Linear, ModuleList, ReLU, Sequential, functional
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import EdgePooling, GCNConv, GINConv, global_add_pool, global_mean_pool
from torch_geometric.nn.conv.gcn_conv import gcn_norm

from protocol import read_inputs, serve

torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
inputs = {name: torch.from_numpy(array) for name, array in read_inputs().items()}

BATCH, THRESHOLD = 32, 0.5


def graph(x, edges, y):
    """With the edges as GCN wants them, normalised once."""
    index, weight = gcn_norm(edges, num_nodes=len(x))
    return Data(x=x, edge_index=edges, y=y, gcn_index=index, gcn_weight=weight)


def graphs_of(name):
    nodes, edges, x = (inputs[f"{name}_{part}"] for part in ("nodes", "edges", "x"))
    # Where the edges of each graph begin.
    first = torch.searchsorted(edges[0].contiguous(), nodes)
    graphs = [
        graph(
            x[nodes[g] : nodes[g + 1]].clone(),
            (edges[:, first[g] : first[g + 1]] - nodes[g]).contiguous(),
            inputs[f"{name}_y"][g : g + 1].clone(),
        )
        for g in range(len(nodes) - 1)
    ]
    if os.environ.get("EGG_BENCH_DATA"):
        # Where memory is measured: only what training needs stays.
        del inputs[f"{name}_x"], inputs[f"{name}_edges"]
    return graphs


# The projector onto the directions whose singular value is above a threshold.
# Its own gradient (pairs across the cut only), since those of torch.linalg.svd
# and eigh are NaN wherever two singular values are equal, as the zeros of a
# graph with fewer nodes than features are.


def pull_back(vectors, values, kept, gradient):
    """dL/dC for C = V diag(values) V^T, all in batches."""
    gradient = (gradient + gradient.transpose(-1, -2)) / 2
    kept = kept.unsqueeze(-1)
    across = kept != kept.transpose(-1, -2)
    difference = values.unsqueeze(-1) - values.unsqueeze(-2)
    factor = torch.where(
        across & kept, 1 / difference, torch.where(across, -1 / difference, torch.zeros_like(difference))
    )
    inner = vectors.transpose(-1, -2) @ gradient @ vectors
    return vectors @ (factor * inner) @ vectors.transpose(-1, -2)


class LoopedProjector(torch.autograd.Function):
    """One graph: an SVD, as the paper's code does it."""

    @staticmethod
    def forward(ctx, h):
        # All of U is needed, and V never: for more nodes than features the thin one has it.
        u, s, _ = torch.linalg.svd(h.t(), full_matrices=h.shape[0] < h.shape[1])
        values = functional.pad(s.square(), (0, len(u) - len(s)))
        kept = values > THRESHOLD**2
        kept[0] = True
        ctx.save_for_backward(h, u, values, kept)
        u = u[:, kept]
        return u @ u.t()

    @staticmethod
    def backward(ctx, gradient):
        h, u, values, kept = ctx.saved_tensors
        return 2 * h @ pull_back(u, values, kept, gradient)


class BatchedProjector(torch.autograd.Function):
    """All graphs at once: eigenvectors of their Gram matrices C."""

    @staticmethod
    def forward(ctx, c):
        try:
            values, vectors = torch.linalg.eigh(c)
        except torch.linalg.LinAlgError:
            # In f32 it does not always converge.
            values, vectors = (part.to(c.dtype) for part in torch.linalg.eigh(c.double()))
        kept = values > THRESHOLD**2
        kept[:, -1] = True
        ctx.save_for_backward(vectors, values, kept)
        u = vectors * kept.unsqueeze(1)
        return u @ u.transpose(1, 2)

    @staticmethod
    def backward(ctx, gradient):
        return pull_back(*ctx.saved_tensors, gradient)


def flattened(p):
    m = p.shape[-1]
    upper = torch.triu_indices(m, m)
    return p.flatten(-2).index_select(-1, upper[0] * m + upper[1])


def egg_loop(h, batch):
    sizes = torch.bincount(batch).tolist()
    return torch.stack([flattened(LoopedProjector.apply(graph)) for graph in h.split(sizes)])


def egg_eigh(h, batch):
    # A product per graph, rather than all graphs padded to the largest.
    sizes = torch.bincount(batch).tolist()
    grams = torch.stack([graph.t() @ graph for graph in h.split(sizes)])
    return flattened(BatchedProjector.apply(grams))


class Head(torch.nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.layers = Sequential(
            *(Linear(inputs, 64), BatchNorm1d(64), ReLU(), Dropout(0.5)),
            *(Linear(64, 16), BatchNorm1d(16), ReLU(), Dropout(0.5)),
            *(Linear(16, outputs), BatchNorm1d(outputs)),
        )

    def forward(self, x):
        return self.layers(x)


class Gcn(torch.nn.Module):
    def __init__(self, inputs, outputs, pool, layers, hidden):
        super().__init__()
        widths = [inputs] + [hidden] * layers
        self.convs = ModuleList(GCNConv(*pair, normalize=False) for pair in zip(widths, widths[1:]))
        self.pool = EdgePooling(hidden) if pool == "edge" else pool
        wide = pool in (egg_loop, egg_eigh)
        self.head = Head(hidden * (hidden + 1) // 2 if wide else hidden, outputs)

    def forward(self, data):
        x, batch = data.x, data.batch
        for conv in self.convs:
            x = torch.relu(conv(x, data.gcn_index, data.gcn_weight))
        if isinstance(self.pool, EdgePooling):
            x, _, batch, _ = self.pool(x, data.edge_index, batch)
            return self.head(global_mean_pool(x, batch))
        return self.head(self.pool(x, batch))


class Gin(torch.nn.Module):
    def __init__(self, inputs, outputs, pool, layers, hidden):
        super().__init__()
        widths = [inputs] + [hidden] * layers
        self.convs = ModuleList(
            GINConv(
                Sequential(Linear(a, b), BatchNorm1d(b), ReLU(), Linear(b, b)), train_eps=True
            )
            for a, b in zip(widths, widths[1:])
        )
        self.pool = pool
        wide = pool in (egg_loop, egg_eigh)
        self.heads = ModuleList(
            Head(hidden * (hidden + 1) // 2 if wide else hidden, outputs) for _ in range(layers)
        )

    def forward(self, data):
        x, scores = data.x, 0
        for conv, head in zip(self.convs, self.heads):
            x = conv(x, data.edge_index)
            scores = scores + head(self.pool(x, data.batch))
        return scores


def epoch(name, kind, pool, layers, hidden):
    graphs = graphs_of(name)
    torch.manual_seed(0)
    outputs = int(inputs[f"{name}_y"].max()) + 1
    model = kind(graphs[0].x.shape[1], outputs, pool, layers, hidden)
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-3, weight_decay=5e-4)
    loader = DataLoader(graphs, batch_size=BATCH, shuffle=True)

    def work():
        total = 0.0
        for batch in loader:
            optimiser.zero_grad()
            loss = functional.cross_entropy(model(batch), batch.y, reduction="sum")
            loss.backward()
            optimiser.step()
            total += loss.item()
        return total

    # Orders, dropout and first weights are drawn by different generators.
    return work, lambda total: (len(loader), None)


POOLS = {"sum": global_add_pool, "egg_loop": egg_loop, "egg_eigh": egg_eigh, "edge": "edge"}
tasks = {}
for name, layers in [("PROTEINS", 2), ("NCI1", 3), ("Mutagenicity", 2), ("DD", 2)]:
    for pool in ("sum", "egg_loop", "egg_eigh"):
        tasks[f"gcn_{pool}_{name}"] = (name, Gcn, POOLS[pool], layers, 64)
tasks["gcn_edge_PROTEINS"] = ("PROTEINS", Gcn, POOLS["edge"], 2, 64)
for pool in ("sum", "egg_loop", "egg_eigh"):
    tasks[f"gin_{pool}_PROTEINS"] = ("PROTEINS", Gin, POOLS[pool], 4, 32)

serve(
    {task: (lambda task=task: epoch(*tasks[task])) for task in tasks},
    packages=["numpy", "torch", "torch_geometric"],
)
