"""`isomorph.pyg` against PyTorch Geometric's own loaders over the same graph in memory. Run by `cargo xtask train`."""

from __future__ import annotations

import copy
import pickle
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import isomorph
import numpy as np
import peer_sampler
import pytest
import torch
from graphs import heterogeneous, homogeneous
from isomorph.pyg import Feature, FeatureStore, GraphStore, Sampler, from_pyg, stores, to_pyg
from scipy.stats import chi2
from torch_geometric.data import Data, HeteroData
from torch_geometric.loader import LinkLoader, NeighborLoader, NodeLoader
from torch_geometric.sampler import NegativeSampling

warnings.filterwarnings("ignore", message=".*pyg-lib.*")
assert peer_sampler.use(), "python peer_sampler.py    compiles it"

X, Y = ["f0", "f1", "f2", "f3"], "y"
OF_TYPES = {type: {"x": ["f0", "f1", "f2"], "y": "y"} for type in ("paper", "author", "field")}


@pytest.fixture(autouse=True)
def stable(monkeypatch: pytest.MonkeyPatch) -> None:
    """PyTorch Geometric sorts edges by target with a sort that is not stable: here it is, so that batches are equal to the last position."""
    from torch_geometric.sampler import utils

    sort = utils.index_sort
    monkeypatch.setattr(utils, "index_sort", lambda column, max_value=None: sort(column, max_value, stable=True))


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return homogeneous(tmp_path_factory.mktemp("one") / "graph.graphar")


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return heterogeneous(tmp_path_factory.mktemp("many") / "graph.graphar")


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return heterogeneous(tmp_path_factory.mktemp("both") / "graph.graphar", reverse=True)


def canonical(batch: Any) -> list[tuple[Any, ...]]:
    """What a batch says, whatever the positions of its nodes and edges."""
    parts: list[tuple[Any, ...]] = []
    if isinstance(batch, Data):
        nodes = {None: batch}
        edges = {(None, "", None): batch}
    else:
        nodes = {type: batch[type] for type in batch.node_types}
        edges = {type: batch[type] for type in batch.edge_types}
    for type, store in nodes.items():
        x = store.x[store.n_id.argsort(stable=True)].tolist() if "x" in store else None
        parts.append((type, sorted(store.n_id.tolist()), x, getattr(store, "batch_size", None)))
    for name, store in edges.items():
        source, target = store.edge_index.tolist()
        ends = nodes[name[0]].n_id.tolist(), nodes[name[2]].n_id.tolist()
        parts.append((name, sorted((ends[0][at], ends[1][to], number) for at, to, number in zip(source, target, store.e_id.tolist()))))
    return parts


def equal(left: Any, right: Any) -> bool:
    """Whether all tensors of two batches are equal, in the same order."""
    for store, other in zip(left.stores, right.stores):
        for name in ("n_id", "e_id", "edge_index", "x", "y", "batch"):
            one, two = getattr(store, name, None), getattr(other, name, None)
            if (one is None) != (two is None) or (one is not None and not torch.equal(one, two)):
                return False
    return True


def in_memory(graph: Path, features: Any) -> Any:
    return to_pyg(isomorph.open(graph), features)


@pytest.mark.parametrize("hops", [1, 2, 3])
@pytest.mark.parametrize("subgraph_type", ["directional", "induced", "bidirectional"])
def test_all_neighbours_of_a_graph_of_one_type(one: Path, hops: int, subgraph_type: str) -> None:
    features = {"x": X, "y": Y}
    data = in_memory(one, features)
    assert isinstance(data, Data)
    seeds = torch.arange(0, 400, 7)
    theirs = NeighborLoader(data, [-1] * hops, input_nodes=seeds, batch_size=16, subgraph_type=subgraph_type)
    own = stores(one, features)
    sampler = Sampler(own, [-1] * hops, subgraph_type=subgraph_type)
    # The in-memory data with our sampler, and both stores with it.
    for data_of in (data, own):
        mine = NodeLoader(data_of, sampler, input_nodes=seeds, batch_size=16)
        count = 0
        for expected, found in zip(theirs, mine, strict=True):
            assert isinstance(found, Data)
            if subgraph_type == "bidirectional":
                # Which of two edges gives the number of both is not defined.
                edges = [sorted(zip(batch.n_id[batch.edge_index[0]].tolist(), batch.n_id[batch.edge_index[1]].tolist())) for batch in (expected, found)]
                assert edges[0] == edges[1] and torch.equal(expected.n_id, found.n_id)
            else:
                assert canonical(expected) == canonical(found)
                assert equal(expected, found)
            assert torch.equal(expected.x, found.x) and torch.equal(expected.y, found.y)
            count += 1
        assert count == 4


@pytest.mark.parametrize("hops", [1, 2, 3])
@pytest.mark.parametrize("subgraph_type", ["directional", "induced"])
@pytest.mark.parametrize("reverse", [False, True])
def test_all_neighbours_of_a_graph_of_several_types(many: Path, both: Path, hops: int, subgraph_type: str, reverse: bool) -> None:
    graph = both if reverse else many
    data = in_memory(graph, OF_TYPES)
    assert isinstance(data, HeteroData) and (("field", "rev_about", "paper") in data.edge_types) == reverse
    own = stores(graph, OF_TYPES)
    for type in ("paper", "author", "field"):
        seeds = (type, torch.arange(0, data[type].num_nodes, 5))
        theirs = NeighborLoader(data, [-1] * hops, input_nodes=seeds, batch_size=8, subgraph_type=subgraph_type)
        sampler = Sampler(own, [-1] * hops, subgraph_type=subgraph_type)
        for data_of in (data, own):
            mine = NodeLoader(data_of, sampler, input_nodes=seeds, batch_size=8)
            for expected, found in zip(theirs, mine, strict=True):
                assert canonical(expected) == canonical(found)
                # torch_sparse follows rev_about before about, so that nodes are found in another order.
                assert reverse or equal(expected, found)


def test_numbers_of_neighbours_by_edge_type(both: Path) -> None:
    many = both
    data = in_memory(many, OF_TYPES)
    counts = {name: [-1, 0] if name[1] in ("cites", "knows") else [0, -1] for name in data.edge_types}
    seeds = ("paper", torch.arange(50))
    theirs = NeighborLoader(data, counts, input_nodes=seeds, batch_size=10)
    mine = NodeLoader(data, Sampler(many, counts), input_nodes=seeds, batch_size=10)
    for expected, found in zip(theirs, mine, strict=True):
        assert canonical(expected) == canonical(found)


@pytest.mark.parametrize("replace", [False, True])
def test_draws_have_the_distribution_of_in_memory_draws(one: Path, replace: bool) -> None:
    """With replacement. Without, torch_sparse 0.6.18 draws the last edges of a node too rarely (Floyd's algorithm with a bound that is one too small), so
    that only numbers are compared; ``python/tests/test_subgraphs.py`` has the exact probabilities."""
    data = in_memory(one, {"x": X})
    degree = torch.bincount(data.edge_index[1], minlength=400)
    seeds = degree.argsort(descending=True)[:8]
    theirs = NeighborLoader(data, [3, 2], input_nodes=seeds, batch_size=8, replace=replace)
    sampler = Sampler(one, [3, 2], replace=replace, seed=7)
    mine = NodeLoader(data, sampler, input_nodes=seeds, batch_size=8)
    epochs = 1500
    counts = [Counter(), Counter()]  # type: list[Counter[int]]
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for counter, loader in zip(counts, (theirs, mine)):
            for batch in loader:
                counter.update(batch.e_id.tolist())
    assert abs(counts[0].total() - counts[1].total()) < 0.02 * counts[0].total()
    if not replace:
        return
    # Edges of the second hop are drawn if the node of the first was, so that draws of one batch depend on each other.
    numbers = [number for number in set(counts[0]) | set(counts[1]) if counts[0][number] + counts[1][number] >= 40]
    statistic = sum((counts[0][number] - counts[1][number]) ** 2 / (counts[0][number] + counts[1][number]) for number in numbers)
    assert len(numbers) > 100 and statistic < 1.3 * chi2.ppf(0.9999, len(numbers)), (statistic, len(numbers))


@pytest.mark.parametrize("kind", ["one", "many"])
def test_a_seed_gives_the_same_batches_whatever_the_number_of_workers(one: Path, many: Path, kind: str) -> None:
    own = stores(one, {"x": X, "y": Y}) if kind == "one" else stores(many, OF_TYPES)
    seeds: Any = torch.arange(100) if kind == "one" else ("paper", torch.arange(100))

    def batches(seed: int, epoch: int = 0, **options: Any) -> list[Any]:
        sampler = Sampler(own, [3, 2], seed=seed)
        sampler.set_epoch(epoch)
        return list(NodeLoader(own, sampler, input_nodes=seeds, batch_size=16, **options))

    expected = batches(1)
    for options in ({"num_workers": 1}, {"num_workers": 2}, {"num_workers": 2, "multiprocessing_context": "spawn"}, {"num_workers": 3, "persistent_workers": True}):
        found = batches(1, **options)
        assert len(found) == len(expected) == 7 and all(map(equal, expected, found)), options
    assert not all(map(equal, expected, batches(2))) and not all(map(equal, expected, batches(1, epoch=1)))


def test_workers_that_live_on_see_the_next_epoch(one: Path) -> None:
    own = stores(one, {"x": X})
    sampler = Sampler(own, [3, 2], seed=1)
    loader = NodeLoader(own, sampler, input_nodes=torch.arange(64), batch_size=16, num_workers=2, persistent_workers=True)
    alone = Sampler(own, [3, 2], seed=1)
    for epoch in (0, 1, 5):
        sampler.set_epoch(epoch)
        alone.set_epoch(epoch)
        assert all(map(equal, NodeLoader(own, alone, input_nodes=torch.arange(64), batch_size=16), loader))


def test_subgraphs_of_seeds_are_disjoint(many: Path) -> None:
    own = stores(many, OF_TYPES)
    seeds = ("paper", torch.tensor([1, 2, 3, 2]))
    (batch,) = NodeLoader(own, Sampler(own, [-1, -1], disjoint=True), input_nodes=seeds, batch_size=4)
    assert batch["paper"].batch[:4].tolist() == [0, 1, 2, 3]
    single = [next(iter(NodeLoader(own, Sampler(own, [-1, -1]), input_nodes=("paper", torch.tensor([row])), batch_size=1))) for row in (1, 2, 3, 2)]
    for type in batch.node_types:
        for at, alone in enumerate(single):
            assert sorted(batch[type].n_id[batch[type].batch == at].tolist()) == sorted(alone[type].n_id.tolist())
    for name in batch.edge_types:
        source, target = batch[name].edge_index
        assert torch.equal(batch[name[0]].batch[source], batch[name[2]].batch[target])
        assert len(source) == sum(alone[name].edge_index.shape[1] for alone in single)


@pytest.mark.parametrize("mode", [None, "binary", "triplet"])
@pytest.mark.parametrize("disjoint", [False, True])
def test_edges_as_seeds(one: Path, many: Path, mode: str | None, disjoint: bool) -> None:
    negative = None if mode is None else NegativeSampling(mode, 2)
    for graph, features, label_index in (
        (one, {"x": X}, None),
        (many, OF_TYPES, ("author", "wrote", "paper")),
        (many, OF_TYPES, ("paper", "cites", "paper")),
    ):
        own = stores(graph, features)
        index = in_memory(graph, None).edge_index if label_index is None else (label_index, None)

        def batches(**options: Any) -> list[Any]:
            sampler = Sampler(own, [4, 2], seed=3, disjoint=disjoint)
            if label_index is None:
                data = in_memory(graph, features)
                return list(LinkLoader(data, sampler, edge_label_index=index[:, :200], neg_sampling=negative, batch_size=50, **options))
            return list(LinkLoader(own, sampler, edge_label_index=index, neg_sampling=negative, batch_size=200, **options))

        expected = batches()
        for options in ({"num_workers": 2}, {"num_workers": 1}):
            found = batches(**options)
            assert all(map(equal, expected, found)) and len(found) == len(expected)
            for one_batch, other in zip(expected, found):
                stores_of = (one_batch, other) if label_index is None else (one_batch[label_index], other[label_index])
                for name in ("edge_label_index", "edge_label", "src_index", "dst_pos_index", "dst_neg_index"):
                    values = [getattr(store, name, None) for store in stores_of]
                    assert (values[0] is None) == (values[1] is None) and (values[0] is None or torch.equal(*values)), name
        if mode is None and label_index is None:
            for at, batch in enumerate(expected):
                ends = batch.n_id[batch.edge_label_index]
                assert torch.equal(ends, index[:, at * 50 : (at + 1) * 50])


def test_the_loader_of_pyg_takes_the_stores(both: Path) -> None:
    many = both
    own = stores(many, OF_TYPES)
    data = in_memory(many, OF_TYPES)
    seeds = ("paper", torch.arange(30))
    theirs = NeighborLoader(data, [-1, -1], input_nodes=seeds, batch_size=10)
    for expected, found in zip(theirs, NeighborLoader(own, [-1, -1], input_nodes=seeds, batch_size=10), strict=True):
        assert canonical(expected) == canonical(found)
    features, edges = own
    assert features["paper", "x", None].shape == (300, 3) and features.get_tensor_size("paper", "x") == (300, 3)
    assert torch.equal(features["paper", "y", torch.tensor([5, 2])], data["paper"].y[[5, 2]])
    assert torch.equal(features["paper", "y", slice(3, 9)], data["paper"].y[3:9])
    for layout in ("coo", "csc", "csr"):
        row, column, number = getattr(edges, layout)()
        name = ("paper", "cites", "paper")
        assert len(row[name]) and len(column[name])
    with pytest.raises(isomorph.UsageError, match="no feature 'z'"):
        features["paper", "z", None]
    with pytest.raises(isomorph.UsageError):
        features["paper", "x", None] = torch.zeros(300, 3)


def test_pickles_and_copies(one: Path) -> None:
    own = stores(one, {"x": Feature(X, "float64")})
    sampler = Sampler(own, [3, 2], seed=4)
    expected = list(NodeLoader(own, sampler, input_nodes=torch.arange(32), batch_size=8))
    for made in (pickle.loads(pickle.dumps((own, sampler))), copy.copy((own, sampler))):
        found = list(NodeLoader(made[0], made[1], input_nodes=torch.arange(32), batch_size=8))
        assert all(map(equal, expected, found))
    assert expected[0].x.dtype == torch.float64
    assert isinstance(own[0], FeatureStore) and isinstance(own[1], GraphStore)


@pytest.mark.parametrize("options", [{"time_attr": "t"}, {"weight_attr": "w"}, {"subgraph_type": "star"}, {"subgraph_type": "induced", "disjoint": True}, {"homogeneous": True}])
def test_what_is_not_supported_is_refused(many: Path, options: dict[str, Any]) -> None:
    with pytest.raises(isomorph.UsageError):
        Sampler(many, [2], **options)


def test_there_and_back(tmp_path: Path, one: Path, many: Path) -> None:
    for graph, features in ((one, {"x": X, "y": Y}), (many, OF_TYPES)):
        data = in_memory(graph, features)
        path = tmp_path / f"{graph.parent.name}.graphar"
        certificate = from_pyg(data, path, "graphar")
        assert certificate.equal
        wanted = {"x": "x", "y": "y"} if graph is one else {type: {"x": "x", "y": "y"} for type in OF_TYPES}
        again = in_memory(path, wanted)
        assert type(again) is type(data)
        for store, other in zip(data.stores, again.stores):
            assert set(store.keys()) == set(other.keys())
            for name, value in store.items():
                if name == "edge_index":
                    # Formats order edges.
                    assert sorted(zip(*value.tolist())) == sorted(zip(*other[name].tolist()))
                else:
                    assert value == other[name] if name == "num_nodes" else torch.equal(value, other[name]), name
    table = isomorph.open(one)
    assert data is not None and to_pyg(table).num_nodes == 400
    weighted = to_pyg(table, {"x": X}, {"w": "w"})
    w = table.edges("to").select("w").to_arrow().column(0).to_numpy()
    assert np.array_equal(weighted.w.numpy(), w)
    ends = table.edges("to").select("@source", "@target").to_arrow()
    keys = table.nodes("node").select("@key").to_arrow().column(0).to_numpy()
    assert np.array_equal(keys[weighted.edge_index[0].numpy()], ends.column(0).to_numpy())
    assert np.array_equal(keys[weighted.edge_index[1].numpy()], ends.column(1).to_numpy())


def test_from_pyg_names_what_it_does_not_write(tmp_path: Path) -> None:
    data = Data(edge_index=torch.tensor([[0, 1], [1, 2]]), x=torch.rand(3, 2), edge_attr=torch.rand(2), num_nodes=3, title="a graph")
    with pytest.warns(UserWarning, match="title"):
        from_pyg(data, tmp_path / "a.graphar", "graphar")
    graph = isomorph.open(tmp_path / "a.graphar")
    assert graph.edges("edge").select("edge_attr").to_arrow().column(0).to_pylist() == data.edge_attr.tolist()
    with pytest.raises(isomorph.UsageError):
        from_pyg([1], tmp_path / "b.graphar")
