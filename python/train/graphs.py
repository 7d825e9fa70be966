"""Graphs that tests and the example of training share."""

from __future__ import annotations

from pathlib import Path

import isomorph
import numpy as np
import pyarrow as pa


def homogeneous(path: Path, nodes: int = 400, edges: int = 3000, seed: int = 1) -> Path:
    """Random edges, some parallel, some loops, in no order."""
    chance = np.random.default_rng(seed)
    table = pa.table({"id": chance.permutation(nodes), **{f"f{at}": chance.normal(size=nodes).astype(np.float32) for at in range(4)}, "y": chance.integers(0, 3, nodes)})
    ends = chance.integers(0, nodes, (2, edges)) ** 2 // nodes
    isomorph.write(path, nodes={"node": table}, edges={"to": pa.table({"source": ends[0], "target": ends[1], "w": chance.normal(size=edges)})}, to="graphar")
    return path


def heterogeneous(path: Path, reverse: bool = False, seed: int = 2) -> Path:
    """Three node types; relations within a type and between types. Acquaintance has no direction, and with ``reverse`` neither has what papers are about."""
    chance = np.random.default_rng(seed)
    sizes = {"paper": 300, "author": 200, "field": 20}
    nodes = {
        type: pa.table({"id": chance.permutation(size), **{f"f{at}": chance.normal(size=size).astype(np.float32) for at in range(3)}, "y": chance.integers(0, 4, size)})
        for type, size in sizes.items()
    }

    def table(source: str, target: str, count: int) -> pa.Table:
        return pa.table({"source": chance.integers(0, sizes[source], count), "target": chance.integers(0, sizes[target], count)})

    # In the order in which torch_sparse follows them: by their names.
    edges = {
        ("author", "knows", "author"): table("author", "author", 600),
        ("author", "wrote", "paper"): table("author", "paper", 700),
        ("paper", "about", "field"): table("paper", "field", 400),
        ("paper", "cites", "paper"): table("paper", "paper", 1500),
    }
    directed = {name: name[1] != "knows" and not (reverse and name[1] == "about") for name in edges}
    isomorph.write(path, nodes=nodes, edges=edges, directed=directed, to="graphar")
    return path


def communities(path: Path, nodes: int = 20_000, classes: int = 5, degree: int = 10, alike: float = 0.55, noise: float = 3.0, seed: int = 3) -> Path:
    """Nodes of some classes. Of the edges, a share is within a class; features say little about the class of their own node."""
    chance = np.random.default_rng(seed)
    label = chance.integers(0, classes, nodes)
    members = [np.flatnonzero(label == of) for of in range(classes)]
    source = np.repeat(np.arange(nodes), degree)
    own = chance.random(len(source)) < alike
    target = chance.integers(0, nodes, len(source))
    for of in range(classes):
        chosen = own & (label[source] == of)
        target[chosen] = chance.choice(members[of], int(chosen.sum()))
    center = chance.normal(size=(classes, 16))
    x = (center[label] + chance.normal(scale=noise, size=(nodes, 16))).astype(np.float32)
    table = pa.table({"id": np.arange(nodes), **{f"f{at}": x[:, at] for at in range(16)}, "y": label, "train": chance.random(nodes) < 0.5})
    isomorph.write(path, nodes={"node": table}, edges={"to": pa.table({"source": target, "target": source})}, to="graphar", verify=False)
    return path
