"""Sums over graph rows -> the vectors that embed them; a number of clusters, where none is given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from manyview.engines.base import SampledRows, run_side_by_side, thread_pool
from manyview.pipeline.evident import MOST_ROWS, count_evident, standardise
from manyview.pipeline.graphs import ScaledSample, choose_graphs, scale_sample
from manyview.pipeline.settings import Settings, n_vectors_for
from manyview.stages.embedding import (
    Basis,
    count_spare,
    leading_rotation,
    participation,
    spectral_basis,
    weigh_vectors,
)
from manyview.stages.fusion import Moments, graph_moments, repeat_scales
from manyview.stages.grams import Gram, fused_gram
from manyview.stages.graph import AnchorGraph, GraphRows, GraphTile
from manyview.stages.mapping import unit_rows
from manyview.stages.n_clusters import (
    MOST_APART,
    Suggestion,
    candidate_numbers,
    suggest_n_clusters,
)
from manyview.stages.rows import Array
from manyview.stages.sampling import spread_evenly
from manyview.stages.scaling import choose_kind, is_mostly_binary
from manyview.views.selection import split_rows

_SUGGESTING_ROWS, _SUGGESTING_REPEATS = 2_000, 3
_NARROW = 5  # columns in which valleys between clusters can be seen
_MOST_DIRECTIONS = 30  # in which they are looked for
_SMALL = 3000  # anchors up to which repeats are worked on at a time; twice, if no matrix is whole


def find_bases(
    moments: Moments,
    graphs: Sequence[AnchorGraph],
    settings: Settings,
    n_vectors: int | None = None,
    *,
    n_jobs: int = 1,
) -> tuple[Basis, ...]:
    """The leading singular vectors of each repeat, from the sums over graph rows.

    There are some to spare unless their number was given.
    """
    n_sure = settings.n_components or n_vectors or settings.n_vectors
    wanted = settings.n_components or count_spare(n_sure)
    scales = repeat_scales(moments.column_sums, graphs, degree_norm=settings.degree_norm)
    tasks = [
        partial(_find_basis, gram, own, wanted, n_sure)
        for gram, own in zip(moments.grams, scales, strict=True)
    ]
    is_whole = any(isinstance(gram, np.ndarray) for gram in moments.grams)
    fits = max(map(len, scales)) <= (_SMALL if is_whole else 2 * _SMALL)
    if fits and len(tasks) > 1:
        return tuple(run_side_by_side(tasks, n_jobs))
    with thread_pool(n_jobs) as pool:
        return tuple(task(each=pool.map) for task in tasks)


def _find_basis(gram: Gram, scales: Array, n_vectors: int, n_sure: int, each: Any = map) -> Basis:
    return spectral_basis(fused_gram(gram, scales, each), scales, n_vectors, n_sure)


def suggest(
    sample: SampledRows,
    names: Sequence[str],
    settings: Settings,
    *,
    n_jobs: int,
    rng: np.random.Generator,
) -> Suggestion:
    """A number of clusters from the graph of a few sampled rows."""
    few = sample.sample_rows(spread_evenly(sample.n_rows, MOST_ROWS))
    some = sample.sample_rows(spread_evenly(sample.n_rows, _SUGGESTING_ROWS))
    scaled = scale_sample(some, names, _flags_kept(some.arrays, settings.scaling), settings)
    rngs = rng.spawn(_SUGGESTING_REPEATS)
    graphs, weights, _ = choose_graphs(some, scaled, settings, rngs)
    spectrum = _Spectrum.of(scaled, graphs, settings)
    numbers = candidate_numbers(some.n_rows)
    n_few = sum(k <= MOST_APART for k in numbers)  # tried before any vectors for more are found
    embeddings_for, candidates = spectrum.embed(numbers[:n_few])

    def blur(k: int) -> tuple[Callable[[int], list[Array]], list[sparse.csr_array]]:
        """The same of rows without clusters, for numbers up to this one."""
        blurred, weighed = _blur(scaled, rngs[0]), replace(settings, view_weights=tuple(weights))
        graphs, *_ = choose_graphs(some, blurred, weighed, rngs)
        spectrum = _Spectrum.of(blurred, graphs, settings)
        return spectrum.embed([k])[0], spectrum.scaled_rows()

    is_dense = _may_be_gaussian(some.arrays, scaled)
    with thread_pool(n_jobs) as pool:
        return suggest_n_clusters(
            embeddings_for,
            spectrum.scaled_rows(),
            candidates,
            seed=int(rng.integers(2**30)),
            each=pool.map,
            n_pieces=count_evident(few.arrays, names) if settings.may_be_evident else 1,
            columns=partial(_leading_columns, some.arrays, names) if is_dense else None,
            is_narrow=sum(int(array.shape[1]) for array in some.arrays) <= _NARROW,
            more=partial(spectrum.embed, numbers[n_few:]) if n_few < len(numbers) else None,
            blur=blur if is_dense else None,
        )


def _leading_columns(arrays: Sequence[Any], names: Sequence[str]) -> Array:
    """Standardised columns of all views, turned to their strongest directions if they are many."""
    columns = standardise(arrays, names)
    if columns.shape[1] <= _MOST_DIRECTIONS:
        return columns
    columns = columns - columns.mean(axis=0)
    turned: Array = columns @ leading_rotation(columns, _MOST_DIRECTIONS)
    return turned


def _may_be_gaussian(arrays: Sequence[Any], scaled: ScaledSample) -> bool:
    """Whether all rows have all views, and these are neither sparse nor mostly yes and no."""
    is_dense = all(isinstance(rows, np.ndarray) for rows in scaled.rows.arrays)
    return is_dense and not any(map(is_mostly_binary, arrays))


def _blur(scaled: ScaledSample, rng: np.random.Generator) -> ScaledSample:
    """Gaussian rows in place of a sample's, with its means and the covariances of all its columns."""
    means = [rows.mean(axis=0) for rows in scaled.rows.arrays]
    each = zip(scaled.rows.arrays, means, strict=True)
    root = np.linalg.qr(np.hstack([rows - mean for rows, mean in each]), mode="r")
    n, ends = scaled.rows.n_rows, np.cumsum([len(mean) for mean in means])
    drawn = np.split(rng.normal(scale=n**-0.5, size=(n, len(root))) @ root, ends[:-1], axis=1)
    blurred = [rows + mean for rows, mean in zip(drawn, means, strict=True)]
    return scaled._replace(rows=scaled.rows.with_arrays(blurred))


@dataclass(frozen=True)
class _Spectrum:
    """Rows of a few samples in the graphs of several anchor seeds, and the sums over them."""

    tile: GraphTile
    graphs: tuple[AnchorGraph, ...]
    moments: Moments
    settings: Settings

    @classmethod
    def of(
        cls, scaled: ScaledSample, graphs: tuple[AnchorGraph, ...], settings: Settings
    ) -> _Spectrum:
        """Those of a scaled sample."""
        tile = GraphRows(scaled.applied, graphs)(scaled.rows.arrays, 0)
        return cls(tile, graphs, graph_moments(tile), settings)

    def scaled_rows(self) -> list[sparse.csr_array]:
        """The fused graph of each anchor seed, columns scaled."""
        degree_norm = self.settings.degree_norm
        scales = repeat_scales(self.moments.column_sums, self.graphs, degree_norm=degree_norm)
        return [Z * each[None, :] for Z, each in zip(self.tile.parts, scales, strict=True)]

    def embed(self, numbers: Sequence[int]) -> tuple[Callable[[int], list[Array]], list[int]]:
        """The rows' embeddings for each of the numbers, and those that the graphs' rank allows."""
        settings, most = self.settings, max(numbers, default=1)
        bases = find_bases(self.moments, self.graphs, settings, n_vectors_for(most))
        shares = participation(self.tile, [basis.transform for basis in bases])
        # Rows times transforms are the vectors themselves: few rows, so all of them are kept.
        vectors = tuple(
            Basis(Z @ basis.transform, basis.singular_values)
            for Z, basis in zip(self.tile.parts, bases, strict=True)
        )

        def embeddings_for(k: int) -> list[Array]:
            chosen = vectors
            if settings.n_components is None:
                weigh = partial(weigh_vectors, n_clusters=k, n_components=n_vectors_for(k))
                chosen = tuple(map(weigh, vectors, shares))
            parts = [basis.transform for basis in chosen]
            return [unit_rows(part) for part in parts] if settings.row_norm else parts

        rank = min(len(basis.singular_values) for basis in bases)
        return embeddings_for, [k for k in numbers if k <= rank]


def _flags_kept(arrays: Sequence[Any], scaling: Sequence[str | None]) -> list[str | None]:
    """Kinds of scaling by which no level of a category is a cluster of its own."""

    def keep(rows: Any, kind: str | None) -> str | None:
        is_by_rank = kind == "auto" and choose_kind(rows)[0] == "normal-scores"
        return "mixed" if is_by_rank and is_mostly_binary(rows) else kind

    each = zip(arrays, scaling, strict=True)
    return [keep(split_rows(array)[0], kind) for array, kind in each]
