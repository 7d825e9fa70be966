"""Trains GraphSAGE from a graph on disk, and from the same graph in memory, and compares their accuracies.

    python train.py [NODES]

Prints a table; fails if they differ by more than the noise between seeds.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import isomorph
import peer_sampler
import torch
from graphs import communities
from isomorph.pyg import Sampler, stores, to_pyg
from torch_geometric.loader import NeighborLoader, NodeLoader
from torch_geometric.nn import SAGEConv

warnings.filterwarnings("ignore", message=".*pyg-lib.*")
assert peer_sampler.use(), "python peer_sampler.py    compiles it"

FEATURES = {"x": [f"f{at}" for at in range(16)], "y": "y", "train": "train"}
NEIGHBORS = [10, 5]
EPOCHS = 4
SEEDS = 4


class Sage(torch.nn.Module):
    """Two layers of GraphSAGE."""

    def __init__(self, inputs: int, hidden: int, classes: int) -> None:
        super().__init__()
        self.first, self.second = SAGEConv(inputs, hidden), SAGEConv(hidden, classes)

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        return self.second(self.first(x, edge_index).relu(), edge_index)


def trained(make: Any, sampler: Sampler | None, train: torch.Tensor, test: torch.Tensor, seed: int) -> float:
    """The accuracy on nodes that were not trained with."""
    torch.manual_seed(seed)
    model = Sage(16, 64, 5)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(EPOCHS):
        if sampler is not None:
            sampler.set_epoch(epoch)
        for batch in make(train, True):
            optimizer.zero_grad()
            out = model(batch.x, batch.edge_index)[: batch.batch_size]
            torch.nn.functional.cross_entropy(out, batch.y[: batch.batch_size]).backward()
            optimizer.step()
    right = 0
    with torch.no_grad():
        for batch in make(test, False):
            out = model(batch.x, batch.edge_index)[: batch.batch_size]
            right += int((out.argmax(dim=1) == batch.y[: batch.batch_size]).sum())
    return right / len(test)


def main() -> int:
    nodes = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        graph = isomorph.open(communities(Path(folder) / "graph.graphar", nodes))
        data = to_pyg(graph, FEATURES)
        train, test = data.train.nonzero().view(-1), (~data.train).nonzero().view(-1)
        own = stores(graph, FEATURES)
        found: dict[str, list[float]] = {"from disk": [], "in memory": []}
        took = dict.fromkeys(found, 0.0)
        for seed in range(SEEDS):
            sampler = Sampler(own, NEIGHBORS, seed=seed)

            def from_disk(nodes: torch.Tensor, shuffle: bool) -> Any:
                return NodeLoader(own, sampler, input_nodes=nodes, batch_size=512, shuffle=shuffle)

            def in_memory(nodes: torch.Tensor, shuffle: bool) -> Any:
                return NeighborLoader(data, NEIGHBORS, input_nodes=nodes, batch_size=512, shuffle=shuffle)

            for name, make, own_sampler in (("from disk", from_disk, sampler), ("in memory", in_memory, None)):
                start = time.perf_counter()
                found[name].append(trained(make, own_sampler, train, test, seed))
                took[name] += time.perf_counter() - start
        for name, accuracies in found.items():
            shown = " ".join(f"{accuracy:.4f}" for accuracy in accuracies)
            print(f"{name:10} accuracy {statistics.mean(accuracies):.4f} ({shown})  {took[name] / SEEDS:.1f} s a run")
        # Twice the standard error of the difference, and never less than half a percent.
        spread = sum(statistics.variance(accuracies) / SEEDS for accuracies in found.values()) ** 0.5
        difference = statistics.mean(found["from disk"]) - statistics.mean(found["in memory"])
        allowed = max(0.005, 2 * spread)
        print(f"difference {difference:+.4f}, at most ±{allowed:.4f}")
        del own
        return 0 if abs(difference) <= allowed and min(map(min, found.values())) > 0.5 else 1


if __name__ == "__main__":
    sys.exit(main())
