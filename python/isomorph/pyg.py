"""Graphs on disk for PyTorch Geometric: a sampler, and stores of features and edges.

::

    from isomorph.pyg import stores, Sampler
    from torch_geometric.loader import NodeLoader

    data = stores("graph.graphar", features={"paper": {"x": ["a", "b"], "y": "label"}})
    sampler = Sampler(data, num_neighbors=[15, 10], seed=1)
    loader = NodeLoader(data, node_sampler=sampler, input_nodes="paper", batch_size=1024, num_workers=2)

Edges and features are read from files, which all workers share. A graph with one node type and one relation is homogeneous: its batches are
``Data``, otherwise ``HeteroData``.

This module needs ``torch`` and ``torch_geometric``.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ._graph import Graph
from ._imports import needed
from ._networks import _directions
from ._options import usage, whole
from ._prepared import EdgeType, Feature, Features, Prepared, batches_of, by_type, warn_of_hyperedges
from ._progress import Progress

if TYPE_CHECKING:
    import torch
    from torch_geometric.data import FeatureStore as _FeatureStore
    from torch_geometric.data import GraphStore as _GraphStore
    from torch_geometric.sampler import BaseSampler as _BaseSampler
else:
    torch = needed("torch", purpose="isomorph.pyg")
    _data = needed("torch_geometric.data", "torch_geometric", purpose="isomorph.pyg")
    _sampling = needed("torch_geometric.sampler", "torch_geometric", purpose="isomorph.pyg")
    _FeatureStore, _GraphStore, _BaseSampler = _data.FeatureStore, _data.GraphStore, _sampling.BaseSampler

__all__ = ["Feature", "FeatureStore", "GraphStore", "Sampler", "from_pyg", "stores", "to_pyg"]


def stores(
    graph: Graph | str | os.PathLike[str],
    features: Mapping[str, Features] | Features | None = None,
    *,
    homogeneous: bool | None = None,
    cache: str | os.PathLike[str] | None = None,
    progress: Progress = None,
) -> tuple[FeatureStore, GraphStore]:
    """The stores of a graph: what loaders of PyTorch Geometric take as ``data``.

    :param graph: a graph, or its path
    :param features: tensors by node type and name: ``{"paper": {"x": ["a", "b"], "y": "label"}}``; the type can be left out if there is one
    :param homogeneous: whether batches are ``Data``; by default if there is one node type and one relation
    :param cache: a directory that keeps the prepared files for other processes; by default, they are removed with the stores
    """
    prepared = Prepared(graph, cache, progress=progress)
    return FeatureStore(prepared, features, homogeneous=homogeneous), GraphStore(prepared, homogeneous=homogeneous)


def _is_homogeneous(prepared: Prepared, wanted: bool | None) -> bool:
    if wanted and not prepared.is_homogeneous():
        raise usage(
            f"the graph has {len(prepared.node_types)} node types and {len(prepared.relations)} relations, so it is not homogeneous",
            "graph.part(types=…)    one of each",
        )
    return prepared.is_homogeneous() if wanted is None else wanted


class FeatureStore(_FeatureStore):  # type: ignore[misc]
    """Features of nodes in files. Cannot be written."""

    def __init__(self, prepared: Prepared, features: Mapping[str, Features] | Features | None = None, *, homogeneous: bool | None = None) -> None:
        super().__init__()
        # The base class is a mapping of its attributes in some versions: ours are set like those of an object.
        self.__dict__["prepared"] = prepared
        self.__dict__["homogeneous"] = _is_homogeneous(prepared, homogeneous)
        self.__dict__["features"] = by_type(features, list(prepared.node_types), "node types")

    def _place(self, attr: Any) -> tuple[str, Feature] | None:
        type = next(iter(self.prepared.node_types)) if self.homogeneous else attr.group_name
        feature = self.features.get(type, {}).get(attr.attr_name)
        return None if feature is None else (type, feature)

    def _get_tensor(self, attr: Any) -> torch.Tensor:
        place = self._place(attr)
        if place is None:
            known = ", ".join(f"{type}.{name}" for type, own in self.features.items() for name in own) or "none"
            raise usage(f"there is no feature {attr.attr_name!r} of {attr.group_name!r}", f"the features are {known}")
        type, feature = place
        index = attr.index
        if isinstance(index, slice):
            index = torch.arange(*index.indices(self.prepared.node_types[type]))
        elif index is None:
            index = torch.arange(self.prepared.node_types[type])
        index = torch.as_tensor(index)
        if index.dtype == torch.bool:
            index = index.nonzero().view(-1)
        rows = index.reshape(-1).to(torch.int64).cpu().numpy()
        array = self.prepared.feature(type, attr.attr_name, feature)
        found = _room((len(rows), *array.shape[1:]), array.dtype)
        self.prepared.take(type, attr.attr_name, feature, rows, out=found.numpy())
        return found

    def _get_tensor_size(self, attr: Any) -> tuple[int, ...] | None:
        place = self._place(attr)
        if place is None:
            return None
        type, feature = place
        return tuple(self.prepared.feature(type, attr.attr_name, feature).shape)

    def get_all_tensor_attrs(self) -> list[Any]:
        """The features, by node type and name."""
        return [
            self._tensor_attr_cls(None if self.homogeneous else type, name)
            for type, own in self.features.items()
            for name in own
        ]

    def _put_tensor(self, tensor: Any, attr: Any) -> bool:
        raise usage("features of a graph on disk cannot be written", "isomorph.write(…)")

    def _remove_tensor(self, attr: Any) -> bool:
        raise usage("features of a graph on disk cannot be removed")

    def __reduce__(self) -> tuple[Any, ...]:
        return (_feature_store, (self.prepared, self.features, self.homogeneous))

    def __repr__(self) -> str:
        return f"<isomorph.pyg.FeatureStore {self.prepared.graph.location}>"


class GraphStore(_GraphStore):  # type: ignore[misc]
    """Edges in files. ``Sampler`` draws from them where they are; what asks for whole edge indices gets tensors in memory. Cannot be written."""

    def __init__(self, prepared: Prepared, *, homogeneous: bool | None = None) -> None:
        super().__init__()
        self.__dict__["prepared"] = prepared
        self.__dict__["homogeneous"] = _is_homogeneous(prepared, homogeneous)

    def get_all_edge_attrs(self) -> list[Any]:
        """The edges, in the order of their numbers."""
        types = self.prepared.node_types
        return [
            self._edge_attr_cls(None if self.homogeneous else name, "coo", False, (types[name[0]], types[name[2]]))
            for name in self.prepared.relations
        ]

    def _get_edge_index(self, edge_attr: Any) -> tuple[torch.Tensor, torch.Tensor] | None:
        name = next(iter(self.prepared.relations), None) if self.homogeneous else edge_attr.edge_type
        if name not in self.prepared.relations or edge_attr.layout.value == "csr":
            return None
        if edge_attr.layout.value == "csc":
            starts, sources, _ = self.prepared.by_target(name)
            return torch.from_numpy(sources), torch.from_numpy(starts)
        source, target = self.prepared.edge_index(name)
        return torch.from_numpy(source), torch.from_numpy(target)

    def _put_edge_index(self, edge_index: Any, edge_attr: Any) -> bool:
        raise usage("edges of a graph on disk cannot be written", "isomorph.write(…)")

    def _remove_edge_index(self, edge_attr: Any) -> bool:
        raise usage("edges of a graph on disk cannot be removed")

    def __reduce__(self) -> tuple[Any, ...]:
        return (_graph_store, (self.prepared, self.homogeneous))

    def __repr__(self) -> str:
        return f"<isomorph.pyg.GraphStore {self.prepared.graph.location}>"


class Sampler(_BaseSampler):  # type: ignore[misc]
    """Draws neighbours from files, for ``NodeLoader(…, node_sampler=)`` and ``LinkLoader(…, link_sampler=)``.

    A batch depends on ``seed``, the epoch (:meth:`set_epoch`) and its seeds, and not on the worker that draws it: a seed gives the same batches
    whatever the number of workers. ``e_id`` are rows of the table of edges, as in the edge index of :class:`GraphStore`.

    :param graph: the stores of a graph, one of them, a graph, or its path
    :param num_neighbors: neighbours of a node in each hop, ``-1`` for all of them; or such a list for each (source type, relation, target type)
    :param subgraph_type: ``directional``, ``bidirectional`` or ``induced``, as ``NeighborLoader`` has it
    :param replace: whether a neighbour can be drawn several times
    :param disjoint: whether each seed has a subgraph of its own
    :param seed: the seed of random choices
    :param homogeneous: whether batches are ``Data``; by default as the stores have it
    :param cache: as for :func:`stores`, if ``graph`` is not a store
    """

    def __init__(
        self,
        graph: Any,
        num_neighbors: Any,
        *,
        subgraph_type: Any = "directional",
        replace: bool = False,
        disjoint: bool = False,
        seed: int = 0,
        homogeneous: bool | None = None,
        cache: str | os.PathLike[str] | None = None,
        time_attr: str | None = None,
        weight_attr: str | None = None,
    ) -> None:
        if time_attr is not None:
            raise usage("Sampler does not support temporal sampling (time_attr)", "graph.sample(…, time=)    edges at a time")
        if weight_attr is not None:
            raise usage("Sampler draws uniformly and does not support weight_attr", "graph.sample(…, strategy='weighted')")
        kind = getattr(subgraph_type, "value", subgraph_type)
        if kind not in ("directional", "bidirectional", "induced"):
            raise usage(f"subgraph_type must be one of directional, bidirectional, induced; found {kind!r}")
        if disjoint and kind == "induced":
            raise usage("induced edges of disjoint subgraphs are not supported", "subgraph_type='directional'")
        self.prepared, stored = _prepared(graph, cache)
        self.homogeneous = _is_homogeneous(self.prepared, stored if homogeneous is None else homogeneous)
        self.subgraph_type, self.replace, self.disjoint = kind, replace, disjoint
        self.seed: int = whole("seed", seed, least=-(2**63))
        self.num_neighbors = num_neighbors
        self._counts = self.prepared.counts(_plain(num_neighbors))
        # In shared memory, so that workers that live on see the next epoch.
        self._epoch = _shared(torch.zeros(1, dtype=torch.int64))

    def set_epoch(self, epoch: int) -> None:
        """Sets the epoch, before the loader is iterated. Without it, equal batches have equal neighbours in all epochs."""
        self._epoch[0] = whole("epoch", epoch)

    @property
    def num_nodes(self) -> int | dict[str, int]:
        """Number of nodes, by type unless the graph is homogeneous."""
        types = self.prepared.node_types
        return next(iter(types.values())) if self.homogeneous else dict(types)

    @property
    def edge_permutation(self) -> None:
        """``None``: numbers of edges are those of the graph."""
        return None

    def sample_from_nodes(self, index: Any, **_kwargs: Any) -> Any:
        """The subgraph around some nodes."""
        from torch_geometric.sampler.neighbor_sampler import node_sample

        _no_time(index.time)
        return self._finished(node_sample(index, self._sample))

    def sample_from_edges(self, index: Any, neg_sampling: Any = None) -> Any:
        """The subgraph around the ends of some edges, and of edges that are not in the graph."""
        import numpy as np
        from torch_geometric.sampler.neighbor_sampler import edge_sample

        _no_time(index.time)
        if neg_sampling is None:
            return self._finished(edge_sample(index, self._sample, self.num_nodes, self.disjoint, None, None))
        # Negative edges are drawn by the generators of torch and numpy, which differ between workers: here they start from what the batch is.
        ends = torch.cat([index.row, index.col, self._epoch]).numpy()
        start = np.random.SeedSequence([self.seed % 2**64, *ends.view(np.uint64).tolist()]).generate_state(2, np.uint64)
        states = torch.random.get_rng_state(), np.random.get_state()
        try:
            torch.default_generator.manual_seed(int(start[0]) >> 1)
            np.random.seed(int(start[1]) >> 32)
            out = edge_sample(index, self._sample, self.num_nodes, self.disjoint, None, neg_sampling)
        finally:
            torch.random.set_rng_state(states[0])
            np.random.set_state(states[1])
        return self._finished(out)

    def _finished(self, out: Any) -> Any:
        return out.to_bidirectional(keep_orig_edges=False) if self.subgraph_type == "bidirectional" else out

    def _sample(self, seed: Any, seed_time: Any = None, **_kwargs: Any) -> Any:
        from torch_geometric.sampler import HeteroSamplerOutput, SamplerOutput

        _no_time(seed_time)
        only = next(iter(self.prepared.node_types))
        given = seed if isinstance(seed, Mapping) else {only: seed}
        unknown = [type for type in given if type not in self.prepared.node_types]
        if unknown:
            raise usage(f"there is no node type {unknown[0]!r}", f"the node types are {', '.join(self.prepared.node_types)}")
        if not isinstance(seed, Mapping) and not self.homogeneous:
            raise usage("the seeds have no type, but the graph is heterogeneous", "input_nodes=(type, rows)")
        drawn = self.prepared.draw(
            {type: rows.to(torch.int64).cpu().numpy() for type, rows in given.items()},
            self._counts,
            replace=self.replace,
            disjoint=self.disjoint,
            induced=self.subgraph_type == "induced",
            seed=self.seed,
            epoch=int(self._epoch),
        )
        nodes, owners, sources, targets, edges, nodes_by_hop, edges_by_hop = drawn
        tensors = [[torch.from_numpy(array) for array in arrays] for arrays in (nodes, owners, sources, targets, edges)]
        induced = self.subgraph_type == "induced"
        if self.homogeneous:
            empty = torch.empty(0, dtype=torch.int64)
            return SamplerOutput(
                node=tensors[0][0],
                row=tensors[2][0] if sources else empty,
                col=tensors[3][0] if targets else empty,
                edge=tensors[4][0] if edges else empty,
                batch=tensors[1][0] if self.disjoint else None,
                num_sampled_nodes=None if induced else nodes_by_hop[0],
                num_sampled_edges=None if induced else (edges_by_hop[0] if edges_by_hop else [0] * len(nodes_by_hop[0][1:])),
            )
        types, relations = list(self.prepared.node_types), list(self.prepared.relations)
        return HeteroSamplerOutput(
            node=dict(zip(types, tensors[0])),
            row=dict(zip(relations, tensors[2])),
            col=dict(zip(relations, tensors[3])),
            edge=dict(zip(relations, tensors[4])),
            batch=dict(zip(types, tensors[1])) if self.disjoint else None,
            num_sampled_nodes=None if induced else dict(zip(types, nodes_by_hop)),
            num_sampled_edges=None if induced else dict(zip(relations, edges_by_hop)),
        )

    def __repr__(self) -> str:
        return f"<isomorph.pyg.Sampler {self.prepared.graph.location} {self.num_neighbors}>"


def _prepared(graph: Any, cache: str | os.PathLike[str] | None) -> tuple[Prepared, bool | None]:
    """The prepared graph, and whether it is used as homogeneous."""
    parts = graph if isinstance(graph, tuple) else (graph,)
    for part in parts:
        if isinstance(part, (FeatureStore, GraphStore)):
            if cache is not None:
                raise usage("cache= is said where the stores are made", "stores(…, cache=)")
            return part.prepared, part.homogeneous
    if isinstance(graph, Prepared):
        return graph, None
    if isinstance(graph, (Graph, str, os.PathLike)):
        return Prepared(graph, cache), None
    raise usage(f"Sampler needs a graph on disk, or its stores; found {type(graph).__name__}", "isomorph.pyg.from_pyg(data, path)    writes one")


def _shared(tensor: Any) -> torch.Tensor:
    moved: torch.Tensor = tensor.share_memory_()
    return moved


def _plain(num_neighbors: Any) -> Any:
    """Numbers of neighbours as lists, of ``NumNeighbors``, too."""
    if isinstance(num_neighbors, Mapping):
        return {tuple(name): list(counts) for name, counts in num_neighbors.items()}
    if hasattr(num_neighbors, "values") and not callable(num_neighbors.values):
        if getattr(num_neighbors, "default", None) is not None:
            raise usage("NumNeighbors with a default is not supported", "a list for each edge type")
        values = num_neighbors.values
        if isinstance(values, Mapping):
            return {name.to_tuple() if hasattr(name, "to_tuple") else tuple(name): list(counts) for name, counts in values.items()}
        return list(values)
    if not isinstance(num_neighbors, Sequence) or isinstance(num_neighbors, str):
        raise usage(f"num_neighbors must be a list of numbers, or one for each edge type; found {type(num_neighbors).__name__}")
    return list(num_neighbors)


def _no_time(time: Any) -> None:
    if time is not None:
        raise usage("Sampler does not support temporal sampling (input_time)")


def _room(shape: tuple[int, ...], dtype: Any) -> torch.Tensor:
    """A tensor for features. In a worker it is in shared memory from the start, so that it is not copied there when it is sent."""
    import numpy as np

    found = torch.from_numpy(np.empty(0, dtype=dtype))
    bytes = math.prod(shape) * found.element_size()
    if torch.utils.data.get_worker_info() is not None and bytes:
        found = found.new(found.untyped_storage()._new_shared(bytes))
    else:
        found = found.new_empty(math.prod(shape))
    return found.view(shape)


def _feature_store(prepared: Prepared, features: Any, homogeneous: bool) -> FeatureStore:
    return FeatureStore(prepared, features, homogeneous=homogeneous)


def _graph_store(prepared: Prepared, homogeneous: bool) -> GraphStore:
    return GraphStore(prepared, homogeneous=homogeneous)


def to_pyg(
    graph: Graph,
    features: Mapping[str, Features] | Features | None = None,
    edge_features: Mapping[EdgeType, Features] | Features | None = None,
    *,
    homogeneous: bool | None = None,
    progress: Progress = None,
) -> Any:
    """See :meth:`isomorph.Graph.to_pyg`."""
    import numpy as np
    from torch_geometric.data import Data, HeteroData

    from ._isomorph import edge_rows
    from ._progress import shown

    warn_of_hyperedges(graph)
    tables = graph.tables()
    nodes = [table for table in tables if table.kind == "nodes"]
    types = [table.type or table.name for table in nodes]
    edges: dict[EdgeType, tuple[Any, Any]] = {}
    numbers: dict[EdgeType, Any] = {}
    names: dict[EdgeType, str] = {}
    directions = _directions(graph)
    with shown(progress) as tell:
        for at, table in enumerate(table for table in tables if table.kind == "edges"):
            name = (table.source or "", table.type or "edges", table.target or "")
            ends = edge_rows(graph._graph, at, tell)
            rows = np.arange(len(ends[0]), dtype=np.int64)
            if name in edges:
                raise usage(f"two edge types are called {name!r}", "graph.part(types=…)    one of them")
            names[name] = table.name
            if name[0] != name[2]:
                edges[name], numbers[name] = (ends[0], ends[1]), rows
                if len(ends[2]) or directions.get((table.source, table.type, table.target), "directed") != "directed":
                    again = (name[2], f"rev_{name[1]}", name[0])
                    edges[again], names[again] = (ends[2], ends[3]), table.name
                    numbers[again] = None
            elif len(ends[2]):
                edges[name] = np.concatenate([ends[0], ends[2]]), np.concatenate([ends[1], ends[3]])
                numbers[name] = None
            else:
                edges[name], numbers[name] = (ends[0], ends[1]), rows
    is_homogeneous = len(types) == 1 and len(edges) <= 1
    if homogeneous and not is_homogeneous:
        raise usage(f"the graph has {len(types)} node types and {len(edges)} relations, so it is not homogeneous", "graph.part(types=…)    one of each")
    own = by_type(features, types, "node types")
    of_edges = by_type(edge_features, list(edges), "edges")
    for name in of_edges:
        if numbers[name] is None:
            raise usage(f"edges {name!r} without a direction are there twice, so that their features are not read by to_pyg", "isomorph.loader.NeighborLoader(…, edge_features=)")

    def tensor(table: str, name: str, feature: Feature) -> torch.Tensor:
        return torch.from_numpy(np.concatenate(list(batches_of(graph.table(table), name, feature))))

    plain = is_homogeneous if homogeneous is None else homogeneous
    data = Data() if plain else HeteroData()
    for table, type in zip(nodes, types):
        store = data if plain else data[type]
        store.num_nodes = graph.table(table.name).count()
        for attr, feature in own.get(type, {}).items():
            store[attr] = tensor(table.name, attr, feature)
    for name, (source, target) in edges.items():
        store = data if plain else data[name]
        store.edge_index = torch.from_numpy(np.stack([source, target]))
        for attr, feature in of_edges.get(name, {}).items():
            store[attr] = tensor(names[name], attr, feature)
    if plain and not edges:
        data.edge_index = torch.empty((2, 0), dtype=torch.int64)
    return data


def from_pyg(data: Any, path: str | os.PathLike[str], to: str | None = None, *, node_type: str = "node", relation: str = "edge", **options: Any) -> Any:
    """Writes a ``Data`` or ``HeteroData``. Nodes have their row as the key ``id``; tensors with a value or a list of values for each node or edge are
    their properties. What belongs to the whole graph is not written, and warned of.

    :param node_type: the type of the nodes of a ``Data``
    :param relation: the relation of its edges
    """
    import warnings

    import numpy as np
    import pyarrow as pa
    from torch_geometric.data import Data, HeteroData

    from ._write import write

    if not isinstance(data, (Data, HeteroData)):
        raise usage(f"from_pyg needs a Data or HeteroData, found {type(data).__name__}")
    is_plain = isinstance(data, Data)
    node_stores = [(node_type, data)] if is_plain else [(type, data[type]) for type in data.node_types]
    edge_stores = [((node_type, relation, node_type), data)] if is_plain else [(name, data[name]) for name in data.edge_types]
    left: list[str] = []

    def columns(store: Any, rows: int, is_own: Any, names: Sequence[str], what: str) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for name in store.keys():
            if name in ("edge_index", "num_nodes") or not is_own(name):
                continue
            value = store[name]
            if not isinstance(value, torch.Tensor) or value.dim() not in (1, 2) or value.shape[0] != rows or value.is_sparse:
                left.append(f"{what}.{name}")
                continue
            if name in names:
                raise usage(f"{what} has a tensor {name}, which would be mixed up with its key or its ends", "rename it")
            array = value.detach().cpu().numpy()
            made[name] = pa.array(array) if array.ndim == 1 else pa.FixedSizeListArray.from_arrays(pa.array(np.ascontiguousarray(array).reshape(-1)), array.shape[1])
            if array.ndim == 2:
                made[name] = made[name].cast(pa.list_(made[name].type.value_type))
        return made

    nodes: dict[str, Any] = {}
    for name, store in node_stores:
        rows = int(store.num_nodes)
        own = columns(store, rows, store.is_node_attr, ("id",), name)
        nodes[name] = pa.table({"id": np.arange(rows, dtype=np.int64), **own})
    edges: dict[EdgeType, Any] = {}
    for name, store in edge_stores:
        index = store.get("edge_index") if is_plain else getattr(store, "edge_index", None)
        if index is None:
            if is_plain:
                index = torch.empty((2, 0), dtype=torch.int64)
            else:
                raise usage(f"edges {name!r} have no edge_index", "T.ToUndirected and adj_t are not read: edge_index")
        source, target = index.cpu().numpy().astype(np.int64)
        own = columns(store, len(source), store.is_edge_attr, ("source", "target"), "_".join(name))
        edges[name] = pa.table({"source": source, "target": target, **own})
    if is_plain:
        left += [name for name in data.keys() if name not in ("edge_index", "num_nodes") and not data.is_node_attr(name) and not data.is_edge_attr(name)]
    else:
        left += list(data._global_store.keys())
    if left:
        warnings.warn(f"{', '.join(left[:5])}: not written", UserWarning, stacklevel=2)
    return write(path, nodes=nodes, edges=edges, to=to, key="id", source="source", target="target", **options)
