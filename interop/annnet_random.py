"""Graphs that annnet makes from numbers, with most of its features: `python annnet_random.py FOLDER FIRST COUNT`.

Runs in the environment of annnet. Each graph is a directory in FOLDER with its number as the name.
"""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random
from typing import Any

import annnet

# Ids that are often handled wrongly. annnet itself loses members of hyperedges whose ids parse as JSON, so these are not among
# them; as ends of edges they work.
PLAIN = ["a", "b", "é", "😀", "a b", "a/b", "a,b", "", "漢", "x y", "\\", "node", "{a}", "[x", "(b)"]
LIKE_JSON = ["1", "null", "1e5", '"q"', "true"]
FLOATS = [1.0, 0.0, -1.5, 0.1, 5e-324, 16777217.0]
ASPECTS = {"relation": ["social", "work_ed", "é"], "time": ["t0", "t1"]}


def attributes(random: Random) -> dict[str, Any]:
    """Some attributes; each name always has the same type."""
    chosen = {"score": random.choice([*FLOATS, 1e300, float("inf")]), "label": random.choice(PLAIN + LIKE_JSON), "seen": random.random() < 0.5}
    return {name: value for name, value in chosen.items() if random.random() < 0.4}


def make(number: int) -> annnet.AnnNet:
    """The graph for a number."""
    random = Random(number)
    graph = annnet.AnnNet(directed=random.choice([True, False, None]))
    multilayer = random.random() < 0.5
    layers: list[dict[str, str] | None] = [None]
    if multilayer:
        names = list(ASPECTS)[: random.randint(1, 2)]
        graph.layers.set_aspects(names, {name: ASPECTS[name] for name in names})
        layers = [{name: random.choice(ASPECTS[name]) for name in names} for _ in range(3)]
        if random.random() < 0.5:
            graph.layers.set_ordered(names[0])
    ends: list[Any] = []
    members: list[Any] = []
    for name in random.sample(PLAIN + LIKE_JSON, random.randint(2, 9)):
        for layer in random.sample(layers, random.randint(1, len(layers))):
            graph.add_nodes(name, layer=layer, **attributes(random))
            end = name if layer is None else (name, tuple(layer.values()))
            ends.append(end)
            if name not in LIKE_JSON:
                members.append(end)
    slices = ["default", *random.sample(["s1", "é", "empty"], random.randint(0, 3))]
    for name in slices[1:]:
        graph.slices.add(name, **({"colour": "red"} if random.random() < 0.5 else {}))
    edges = edges_of(graph, random, ends, members, slices)
    for edge in edges:
        graph.attrs.update("edges", {edge: attributes(random)})
        if random.random() < 0.3 and len(slices) > 1:
            graph.slices.attach_edges(slices[-1], [edge])
            graph.attrs.update("edge_slices", {(slices[-1], edge): {"weight": random.choice(FLOATS), "note": "n"}})
    if multilayer and edges and random.random() < 0.3:
        # Set explicitly: a type that does not follow from the ends.
        graph.edge_layers[random.choice(edges)] = tuple(random.choice([layer for layer in layers if layer]).values())
        graph.edge_kind[random.choice(edges)] = random.choice(["intra", "inter", "coupling"])
    if random.random() < 0.5:
        graph.uns["scores"] = [1, 2.5, float("nan"), {"deep": None, "é": "\u2028"}]
    if random.random() < 0.5:
        graph.history.snapshot("before")
    return graph


def edges_of(graph: annnet.AnnNet, random: Random, ends: list[Any], members: list[Any], slices: list[str]) -> list[str]:
    """Adds edges of every kind, and returns the ids of those that have ends."""
    edges = []
    for number in range(random.randint(0, 8)):
        source, target = random.choice(ends), random.choice(ends)
        name = random.choice(["e", "1", "é "]) + str(number)
        graph.add_edges(
            source,
            target,
            edge_id=name,
            weight=random.choice(FLOATS),
            directed=random.random() < 0.5,
            slice=random.choice(slices),
            parallel="parallel",
            as_entity=random.random() < 0.2,
        )
        edges.append(name)
    for number in range(random.randint(0, 4) if len(members) > 1 else 0):
        name, chosen = f"h{number}", random.sample(members, random.randint(2, len(members)))
        cut = random.randint(1, len(chosen) - 1)
        sides = {"members": chosen} if random.random() < 0.5 else {"head": chosen[:cut], "tail": chosen[cut:]}
        graph.add_edges([{"edge_id": name, "weight": random.choice(FLOATS), **sides}], slice=random.choice(slices))
        if random.random() < 0.3:
            graph.set_edge_coeffs(name, {end: random.choice([-1.0, 0.5, 3.0]) for end in chosen})
        edges.append(name)
    if random.random() < 0.3:
        graph.add_edges([{"edge_id": "placeholder"}], as_entity=True)
    return edges


if __name__ == "__main__":
    folder, first, count = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    for number in range(first, first + count):
        make(number).write(folder / str(number))
