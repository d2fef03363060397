"""Sums over graph rows -> the vectors that embed them; a number of clusters, where none is given."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from manyview.engines.base import Run, SampledRows, thread_pool
from manyview.pipeline.settings import Settings, n_vectors_for
from manyview.stages.embedding import Basis, count_spare, spectral_basis, weigh_vectors
from manyview.stages.fusion import Moments, fused_gram, graph_moments, repeat_scales
from manyview.stages.graph import AnchorGraph, GraphRows
from manyview.stages.n_clusters import Suggestion, candidate_numbers, suggest_n_clusters
from manyview.stages.rows import Array
from manyview.stages.sampling import spread_evenly
from manyview.stages.scaling import unit_rows

_SUGGESTING_ROWS = 2_000


def find_bases(
    moments: Moments,
    graphs: Sequence[AnchorGraph],
    settings: Settings,
    *,
    n_rows: int,
    sum_quartics: Callable[[Sequence[Array]], Array],
) -> tuple[tuple[Basis, ...], int]:
    """Each repeat's basis from the sums over n graph rows, and the smallest rank among them.

    ``sum_quartics`` sums the fourth powers of the embedding columns that transforms make, over all rows:
    vectors that sit on a handful of rows are left out, and the others weighted, unless their number was
    given.
    """
    bases = _spectral_bases(moments, graphs, settings, settings.n_vectors)
    rank = min(len(basis.singular_values) for basis in bases)
    if settings.n_components is None:
        quartics = sum_quartics([basis.transform for basis in bases])
        k = settings.known_clusters
        bases = _weigh(bases, quartics, n_rows=n_rows, n_clusters=k)
    return bases, rank


def suggest(
    sample: SampledRows,
    build: GraphRows,
    graphs: Sequence[AnchorGraph],
    settings: Settings,
    *,
    run: Run,
    rng: np.random.Generator,
) -> Suggestion:
    """A number of clusters from the graph of a few sampled rows."""
    some = sample.sample_rows(spread_evenly(sample.n_rows, _SUGGESTING_ROWS))
    tile = build(some.arrays, 0)
    moments = graph_moments(tile)
    most = max(candidate_numbers(some.n_rows), default=1)
    bases = _spectral_bases(moments, graphs, settings, n_vectors_for(most))
    # Rows times transforms are the vectors themselves: few rows, so all of them are kept.
    vectors = tuple(
        Basis(Z @ basis.transform, basis.singular_values)
        for Z, basis in zip(tile.parts, bases, strict=True)
    )
    quartics = np.concatenate([(basis.transform**4).sum(axis=0) for basis in vectors])

    def embeddings_for(k: int) -> list[Array]:
        chosen = vectors
        if settings.n_components is None:
            chosen = _weigh(vectors, quartics, n_rows=some.n_rows, n_clusters=k)
        parts = [basis.transform for basis in chosen]
        return [unit_rows(part) for part in parts] if settings.row_norm else parts

    scales = repeat_scales(moments.column_sums, graphs, degree_norm=settings.degree_norm)
    rank = min(len(basis.singular_values) for basis in bases)
    with thread_pool(run.n_jobs) as pool:
        return suggest_n_clusters(
            embeddings_for,
            [Z * each[None, :] for Z, each in zip(tile.parts, scales, strict=True)],
            candidate_numbers(some.n_rows, most=rank),
            seed=int(rng.integers(2**30)),
            each=pool.map,
        )


def _spectral_bases(
    moments: Moments, graphs: Sequence[AnchorGraph], settings: Settings, n_vectors: int
) -> tuple[Basis, ...]:
    """The leading singular vectors of each repeat; some to spare unless their number was given."""
    wanted = settings.n_components or count_spare(n_vectors)
    scales = repeat_scales(moments.column_sums, graphs, degree_norm=settings.degree_norm)
    return tuple(
        spectral_basis(fused_gram(gram, each), each, wanted)
        for gram, each in zip(moments.grams, scales, strict=True)
    )


def _weigh(
    bases: Sequence[Basis], quartics: Array, *, n_rows: int, n_clusters: int
) -> tuple[Basis, ...]:
    ends = np.cumsum([len(basis.singular_values) for basis in bases])
    n_components = n_vectors_for(n_clusters)
    return tuple(
        weigh_vectors(basis, part, n_rows=n_rows, n_clusters=n_clusters, n_components=n_components)
        for basis, part in zip(bases, np.split(quartics, ends[:-1]), strict=True)
    )
