"""Mini-batches of a graph for training, as arrays of numpy.

``NeighborLoader`` draws subgraphs around nodes from files, so that a graph need not fit into memory::

    from isomorph.loader import NeighborLoader

    loader = NeighborLoader("graph.graphar", [15, 10], nodes="paper", features={"paper": {"x": ["a", "b"], "y": "label"}})
    for batch in loader:
        batch.features["paper"]["x"], batch.edge_index["paper", "cites", "paper"], batch.batch_size

:mod:`isomorph.pyg` has the same for PyTorch Geometric.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ._graph import Graph
from ._imports import needed
from ._options import usage, whole
from ._prepared import EdgeType, Feature, Features, Prepared, by_type
from ._progress import Progress

if TYPE_CHECKING:
    import numpy as np

__all__ = ["Batch", "Feature", "NeighborLoader"]

_SUBGRAPHS = ("directional", "induced")


@dataclass
class Batch:
    """A subgraph around some nodes. Arrays by node type, or by source type, relation and target type."""

    nodes: dict[str, np.ndarray[Any, Any]]
    """Rows of the nodes: the seeds, then those that each hop found."""
    edge_index: dict[EdgeType, np.ndarray[Any, Any]]
    """Positions in ``nodes`` of the sources and targets of the edges: two rows."""
    edges: dict[EdgeType, np.ndarray[Any, Any]]
    """Numbers of the edges: their rows; those of edges without a direction, from target to source, come after all rows."""
    features: dict[str, dict[str, np.ndarray[Any, Any]]]
    """The features of ``nodes``."""
    edge_features: dict[EdgeType, dict[str, np.ndarray[Any, Any]]]
    """The features of ``edges``."""
    input_type: str
    """The type of the seeds."""
    input_nodes: np.ndarray[Any, Any]
    """Rows of the seeds: the first :attr:`batch_size` of ``nodes``."""
    owners: dict[str, np.ndarray[Any, Any]] | None
    """For each node the position of its seed, if subgraphs are disjoint."""
    num_sampled_nodes: dict[str, list[int]]
    """Number of seeds, and of nodes that each hop found."""
    num_sampled_edges: dict[EdgeType, list[int]] | None
    """Number of edges that each hop followed; ``None`` if edges are induced."""

    @property
    def batch_size(self) -> int:
        """Number of seeds."""
        return len(self.input_nodes)


class NeighborLoader:
    """Batches of nodes of one type with their neighbours, drawn from files.

    A node gets messages over its incoming edges: each hop follows edges from target to source. Equal seeds give equal batches, whatever the
    number of workers; each pass over the loader is another epoch, which draws other neighbours.

    :param graph: a graph, or its path
    :param num_neighbors: neighbours of a node in each hop, ``-1`` for all of them; or such a list for each (source type, relation, target type)
    :param nodes: the seeds: a node type, or a pair of a type and rows (integers, or a mask); all nodes if there is one type
    :param batch_size: number of seeds
    :param shuffle: whether the seeds are in another order in each epoch
    :param drop_last: whether a last batch that is smaller is left out
    :param features: arrays by node type and name: ``{"paper": {"x": ["a", "b"], "y": "label"}}``; the type can be left out if there is one
    :param edge_features: arrays by edges and name
    :param replace: whether a neighbour can be drawn several times
    :param subgraph_type: ``directional``, the edges that were followed; ``induced``, all edges between the nodes
    :param disjoint: whether each seed has a subgraph of its own
    :param seed: the seed of random choices
    :param workers: threads that make batches ahead of time
    :param cache: a directory that keeps the prepared files for other processes; by default, they are removed with the loader
    """

    def __init__(
        self,
        graph: Graph | str | os.PathLike[str],
        num_neighbors: Sequence[int] | Mapping[EdgeType, Sequence[int]],
        *,
        nodes: str | tuple[str, Any] | None = None,
        batch_size: int = 1024,
        shuffle: bool = False,
        drop_last: bool = False,
        features: Mapping[str, Features] | Features | None = None,
        edge_features: Mapping[EdgeType, Features] | Features | None = None,
        replace: bool = False,
        subgraph_type: str = "directional",
        disjoint: bool = False,
        seed: int = 0,
        workers: int = 0,
        cache: str | os.PathLike[str] | None = None,
        progress: Progress = None,
    ) -> None:
        np = needed("numpy", purpose="NeighborLoader")
        if subgraph_type not in _SUBGRAPHS:
            raise usage(f"subgraph_type must be one of {', '.join(_SUBGRAPHS)}; found {subgraph_type!r}")
        if disjoint and subgraph_type == "induced":
            raise usage("induced edges of disjoint subgraphs are not supported", "subgraph_type='directional'")
        self.batch_size: int = whole("batch_size", batch_size, least=1)
        self.seed: int = whole("seed", seed, least=-(2**63))
        self._workers: int = whole("workers", workers)
        self._shuffle, self._drop_last = shuffle, drop_last
        self._replace, self._disjoint, self._induced = replace, disjoint, subgraph_type == "induced"
        self.prepared = Prepared(graph, cache, progress=progress)
        self._counts = self.prepared.counts(num_neighbors)
        self._features = by_type(features, list(self.prepared.node_types), "node types")
        self._edge_features = by_type(edge_features, list(self.prepared.relations), "edges")
        self.input_type, self.input_nodes = self._seeds(np, nodes)
        #: The number of the next pass.
        self.epoch = 0

    def _seeds(self, np: Any, nodes: str | tuple[str, Any] | None) -> tuple[str, Any]:
        types = self.prepared.node_types
        if isinstance(nodes, tuple) and len(nodes) == 2 and isinstance(nodes[0], str):
            type, rows = nodes
        elif isinstance(nodes, str) or (nodes is None and len(types) == 1):
            type, rows = nodes or next(iter(types)), None
        else:
            raise usage("nodes must name the type of the seeds", f"nodes= one of {', '.join(types)}, or a pair of one and rows")
        if type not in types:
            raise usage(f"there is no node type {type!r}", f"the node types are {', '.join(types)}")
        if rows is None:
            return type, np.arange(types[type], dtype=np.int64)
        array = np.asarray(rows)
        if array.dtype == bool:
            if array.shape != (types[type],):
                raise usage(f"a mask must have a value for each of the {types[type]} nodes of type {type}")
            array = np.flatnonzero(array)
        if array.ndim != 1 or (array.dtype.kind not in "iu" and len(array)):
            raise usage(f"the seeds must be rows of nodes, found an array of {array.dtype.name} with {array.ndim} dimensions")
        array = array.astype(np.int64)
        if len(array) and (int(array.min()) < 0 or int(array.max()) >= types[type]):
            raise usage(f"the seeds must be rows from 0 to {types[type] - 1}")
        return type, array

    def __len__(self) -> int:
        whole_batches, more = divmod(len(self.input_nodes), self.batch_size)
        return whole_batches if self._drop_last or not more else whole_batches + 1

    def __iter__(self) -> Iterator[Batch]:
        np = needed("numpy", purpose="NeighborLoader")
        epoch, self.epoch = self.epoch, self.epoch + 1
        order = self.input_nodes
        if self._shuffle:
            key = [self.seed % 2**64, epoch % 2**64]
            order = order[np.random.Generator(np.random.Philox(key=key)).permutation(len(order))]
        batches = (order[at * self.batch_size : (at + 1) * self.batch_size] for at in range(len(self)))
        if not self._workers:
            for rows in batches:
                yield self.batch(rows, epoch)
            return
        with ThreadPoolExecutor(self._workers, thread_name_prefix="isomorph-batch") as threads:
            ahead: deque[Future[Batch]] = deque()
            try:
                for rows in batches:
                    ahead.append(threads.submit(self.batch, rows, epoch))
                    if len(ahead) > 2 * self._workers:
                        yield ahead.popleft().result()
                while ahead:
                    yield ahead.popleft().result()
            finally:
                for batch in ahead:
                    batch.cancel()

    def batch(self, rows: Any, epoch: int = 0) -> Batch:
        """The batch of these seeds."""
        np = needed("numpy", purpose="NeighborLoader")
        rows = np.ascontiguousarray(rows, dtype=np.int64)
        prepared = self.prepared
        drawn = prepared.draw(
            {self.input_type: rows},
            self._counts,
            replace=self._replace,
            disjoint=self._disjoint,
            induced=self._induced,
            seed=self.seed,
            epoch=epoch,
        )
        nodes, owners, sources, targets, edges, nodes_by_hop, edges_by_hop = drawn
        by_node = list(prepared.node_types)
        by_edge = list(prepared.relations)
        found = dict(zip(by_node, nodes))
        numbers = dict(zip(by_edge, edges))
        return Batch(
            nodes=found,
            edge_index={name: np.stack(ends) for name, *ends in zip(by_edge, sources, targets)},
            edges=numbers,
            features={
                type: {name: prepared.take(type, name, feature, found[type]) for name, feature in own.items()}
                for type, own in self._features.items()
            },
            edge_features={
                type: {name: prepared.take(type, name, feature, numbers[type]) for name, feature in own.items()}
                for type, own in self._edge_features.items()
            },
            input_type=self.input_type,
            input_nodes=rows,
            owners=dict(zip(by_node, owners)) if self._disjoint else None,
            num_sampled_nodes=dict(zip(by_node, nodes_by_hop)),
            num_sampled_edges=None if self._induced else dict(zip(by_edge, edges_by_hop)),
        )

    def __repr__(self) -> str:
        return f"<isomorph.loader.NeighborLoader {self.prepared.graph.location} {self.input_type}>"
