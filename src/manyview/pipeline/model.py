"""The few frozen arrays that predicting needs, and what they make of a tile of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import InitVar, dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manyview.stages.embedding import Embedding
from manyview.stages.fusion import repeat_scales
from manyview.stages.graph import AnchorGraph, GraphRows, GraphTile, scaled_columns
from manyview.stages.hierarchy import MOST_CLUSTERS, Hierarchy
from manyview.stages.labels import label_rows
from manyview.stages.oddness import Oddness
from manyview.stages.rows import Array
from manyview.stages.scaling import Scaler
from manyview.stages.sureness import label_surely, probabilities, top_probabilities


@dataclass(frozen=True)
class FittedModel:
    """Everything between rows and labels."""

    scalers: tuple[Scaler, ...]  # one per view
    graphs: tuple[AnchorGraph, ...]  # repeat by repeat
    embedding: Embedding  # what makes embedding rows of graph rows
    centers: Array  # (k, c), cluster centres in the embedding
    oddness: Oddness | None = field(default=None, kw_only=True)  # None if it is as published
    hierarchy: Hierarchy | None = field(default=None, kw_only=True)  # None of very many clusters
    sharpness: float = field(kw_only=True)  # of the probabilities of clusters
    sizes: Array | None = field(default=None, kw_only=True)  # (k,), rows, or their weights
    build: InitVar[GraphRows | None] = None  # what makes graph rows of raw rows, if it is there
    _build: GraphRows = field(init=False, repr=False, compare=False)

    def __post_init__(self, build: GraphRows | None) -> None:
        self._check()
        rows = build or GraphRows(self.scalers, self.graphs, is_prepared=False)
        object.__setattr__(self, "_build", rows)

    def embed(self, tile: Any, first_row: int) -> Array:
        """Embedding rows of a tile of raw rows."""
        return self.embedding.rows(self._build(tile, first_row))

    def label(self, tile: Any, first_row: int) -> npt.NDArray[np.int32]:
        """Labels of a tile of raw rows; -1 where they are odd and odd ones are marked."""
        return self._label(self.embed(tile, first_row), tile, first_row)

    def _label(self, rows: Array, tile: Any, first_row: int) -> npt.NDArray[np.int32]:
        labels = label_rows(rows, self.centers)
        if self.oddness is not None and self.oddness.marks:
            labels[self.oddness.is_odd(tile, first_row)] = -1
        return labels

    def leaves(self, tile: Any, first_row: int) -> npt.NDArray[np.int32]:
        """The leaf of the tree that each of a tile of raw rows belongs to; -1 where it is marked."""
        rows = self.embed(tile, first_row)
        labels = self._label(rows, tile, first_row)
        if self.tree.of_columns:
            rows = self.columns(tile, first_row)
        return self.tree.nearest(rows, labels)

    def cut(
        self, tile: Any, first_row: int, *, groups: npt.NDArray[np.int32]
    ) -> npt.NDArray[np.int32]:
        """Labels of a tile of raw rows by the ``groups`` of leaves, as :meth:`groups` gives them."""
        return groups[self.leaves(tile, first_row)]

    def columns(self, tile: Any, first_row: int) -> Array:
        """Scaled columns that the first graph sees of a tile of raw rows."""
        return scaled_columns(self.graphs[0], self.scalers, tile, first_row)

    def groups(self, n_clusters: int) -> npt.NDArray[np.int32]:
        """The cluster of each leaf when there are so many clusters instead, and -1 after them."""
        most = len(self.tree.leaves)
        if n_clusters > most:
            raise ValueError(
                f"The clusters of this model can be split into {most} at most, not {n_clusters}. Fit "
                f"LMVSC({n_clusters}) instead."
            )
        return np.append(self.tree.groups(n_clusters), np.int32(-1))

    @property
    def tree(self) -> Hierarchy:
        """The tree of clusters; ValueError if there is none."""
        if self.hierarchy is None:
            raise ValueError(
                f"This model has no tree of clusters: it has more than {MOST_CLUSTERS}. Fit it with the "
                "number you want."
            )
        return self.hierarchy

    def outlier_scores(self, tile: Any, first_row: int) -> Array:
        """How odd rows of a tile of raw rows are."""
        if self.oddness is None:
            raise ValueError(
                "This model does not know which rows are odd: it was fitted as published, or on a "
                "stream. Fit LMVSC(...) on all rows."
            )
        return self.oddness(tile, first_row)

    def label_surely(self, tile: Any, first_row: int) -> Array:
        """Labels of a tile of raw rows, and how probable they are: (n, 2)."""
        found = label_surely(self.embed(tile, first_row), self.centers, self.sharpness)
        if self.oddness is not None and self.oddness.marks:
            found[self.oddness.is_odd(tile, first_row), 0] = -1
        return found

    def probabilities(self, tile: Any, first_row: int, *, top: int | None = None) -> Array:
        """How probable each cluster is for a tile of raw rows, (n, k); (n, 2 top) of the largest."""
        return self.probabilities_of(self.embed(tile, first_row), top=top)

    def probabilities_of(self, rows: Array, *, top: int | None = None) -> Array:
        """How probable each cluster is for embedding rows (n, c)."""
        if top is None:
            return probabilities(rows, self.centers, self.sharpness)
        return top_probabilities(rows, self.centers, self.sharpness, top)

    def graph_rows(self, arrays: Sequence[Any], first_row: int = 0) -> GraphTile:
        """Graph rows of a few raw rows; ``first_row`` is the first one's number, for messages."""
        return self._build(list(arrays), first_row)

    def fused_graphs(self, arrays: Sequence[Any]) -> list[sparse.csr_array]:
        """Each repeat's fused graph (n, M) of a few raw rows, columns scaled by their sums."""
        tile = self.graph_rows(arrays)
        sums = [np.asarray(Z.sum(axis=0)).ravel() for Z in tile.parts]
        scales = repeat_scales(sums, self.graphs, degree_norm=True)
        return [
            sparse.csr_array(Z * each[None, :]) for Z, each in zip(tile.parts, scales, strict=True)
        ]

    def anchors_in_units(self, graph: AnchorGraph) -> Array:
        """A graph's anchors in its views' own units; scaled if a scaling is not linear."""
        scalers = [self.scalers[v] for v in graph.views]
        if not all(scaler.is_linear for scaler in scalers):
            return graph.anchors
        ends = np.cumsum([scaler.width for scaler in scalers])
        parts = np.split(graph.anchors, ends[:-1], axis=1)
        return np.concatenate(
            [
                scaler.invert(part / factor if factor > 0 else part, graph.whitening)
                for scaler, part, factor in zip(scalers, parts, graph.view_scales, strict=True)
            ],
            axis=1,
        )

    def _check(self) -> None:
        """Raise ValueError unless the arrays fit together, as those of a damaged file may not."""
        if not self.scalers or not self.graphs or not len(self.centers):
            raise ValueError("there are no views, graphs or centres")
        for scaler in self.scalers:
            scaler.check()
        repeats = [graph.repeat for graph in self.graphs]
        if repeats != sorted(repeats) or {*repeats} != {*range(len(self.embedding.transforms))}:
            raise ValueError("the graphs' repeats do not fit the embedding")
        for graph in self.graphs:
            if not graph.views or not all(v in range(len(self.scalers)) for v in graph.views):
                raise ValueError("a graph sees views that there are not")
            if len(graph.anchors) == 0 or sum(graph.view_scales) <= 0:
                raise ValueError("a graph has no anchors, or no view counts in it")
            width = sum(self.scalers[v].width for v in graph.views)
            if graph.anchors.shape[1] != width or len(graph.views) != len(graph.view_scales):
                raise ValueError("anchors do not fit the views")
        parts = [*enumerate(self.embedding.transforms), *enumerate(self.embedding.communities)]
        for repeat, of_anchors in parts:
            size = sum(len(graph.anchors) for graph in self.graphs if graph.repeat == repeat)
            if of_anchors.shape[0] != size:
                raise ValueError("the embedding does not fit the anchors")
        self.embedding.check()
        rotation, joined = (
            self.embedding.rotation,
            sum(t.shape[1] for t in self.embedding.transforms),
        )
        if rotation is not None and rotation.shape[0] != joined:
            raise ValueError("the rotation does not fit the embedding")
        if self.centers.shape[1] != self.embedding.width:
            raise ValueError("the centres do not fit the embedding")
        if self.sizes is not None and self.sizes.shape != (len(self.centers),):
            raise ValueError("the clusters' sizes do not fit the centres")
        if self.hierarchy is not None:
            graph = self.graphs[0]
            width = graph.anchors.shape[1] if self.hierarchy.of_columns else self.embedding.width
            self.hierarchy.check(len(self.centers), width)
