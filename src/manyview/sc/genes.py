"""Highly variable genes: chosen in one pass over the cells, wherever they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manyview.engines import choose_engine
from manyview.engines.base import Run
from manyview.machine import count_jobs
from manyview.sc.scaling import each_scaling
from manyview.stages.counts import recognise_counts
from manyview.stages.sampling import spread_evenly
from manyview.stages.scaling import Scaler, fit_scaler
from manyview.views.container import Views
from manyview.views.selection import REST, select_columns, split_rows
from manyview.wording import count, first_few, repeated

Array = npt.NDArray[np.float64]

_MANY, _KEPT = 5000, 2000  # genes from which on they are chosen unasked, and how many are kept
_ROWS = 1000  # that genes are known by
_BINS = 20  # of genes with about the same mean
OTHERS = "all other genes"
"""The column with the counts of the genes that are not kept: the total of a cell is that of all."""


def keep_variable(
    views: Views,
    use_hvg: Any,
    *,
    scaling: Any = "auto",
    engine: Any = "auto",
    n_jobs: int | None = None,
) -> Views:
    """Views with the most variable columns of those that count genes, as many as are asked for.

    Where the total of a cell matters to the ``scaling``, the sum of the others is the last column.
    ``use_hvg`` is a number, True for 2000, False for all; None is 2000 of more than 5000.
    """
    if use_hvg is False:
        return views
    if use_hvg is not None and (not isinstance(use_hvg, int | np.integer) or use_hvg < 1):
        raise ValueError(
            f"use_hvg must be None, True, False or a number of genes; got {use_hvg!r}."
        )
    least = _MANY if use_hvg is None else 0
    wanted = _KEPT if use_hvg is None or use_hvg is True else int(use_hvg)
    if max(views.n_features) <= max(least, wanted):
        return views
    few = views[spread_evenly(views.n_rows, _ROWS)].load().arrays
    kinds = each_scaling(scaling, views.names)
    kept = {}
    for number, kind in enumerate(recognise_counts(few, are_cells=True)):
        width = views.n_features[number]
        if kind is not None and kind[0] == "lognorm" and width > max(least, wanted):
            scores = _score(views.arrays[number], few[number], engine, n_jobs)
            places = np.sort(np.argsort(-scores, kind="stable")[:wanted]).tolist()
            needs_total = kinds[number : number + 1] in (["auto"], ["lognorm"])
            kept[views.names[number]] = [*places, REST] if needs_total else places
    return select(views, kept)


def keep_known(views: Views, known: Mapping[str, Sequence[str] | None]) -> Views:
    """Views without columns that a model does not know, where it knows all others by their names.

    ``known`` are the columns of the model's views, by the views' names.
    """
    kept = {}
    for name, found in zip(views.names, views.feature_names, strict=True):
        wanted = known.get(name)
        if found is None or wanted is None or sorted(found) == sorted(wanted):
            continue  # they are brought into order later
        has_others = wanted[-1] == OTHERS
        genes = wanted[:-1] if has_others else wanted
        _refuse_lacking(name, genes, found, needs_others=has_others)
        kept[name] = [*_find_places(name, genes, found), *([REST] if has_others else [])]
    return select(views, kept)


def _refuse_lacking(
    name: str, genes: Sequence[str], found: Sequence[str], *, needs_others: bool
) -> None:
    there = set(found)
    if lacking := [gene for gene in genes if gene not in there]:
        raise ValueError(
            f"View {name!r} lacks {count(len(lacking), 'column')} of the {len(genes)} that the model "
            f"uses: {first_few(lacking)}. Are names of the same kind, such as symbols? If columns were "
            "left out because nothing was counted, add them as zeros."
        )
    if needs_others and len(genes) == len(found):
        raise ValueError(
            f"View {name!r} has no more than the {len(genes)} genes that were chosen as variable, "
            "but counts are divided by the total of all genes. Pass cells with all of them."
        )


def _find_places(name: str, wanted: Sequence[str], found: Sequence[str]) -> list[int]:
    places = {column: place for place, column in enumerate(found)}
    twice = {*repeated(found)}
    if unclear := [column for column in dict.fromkeys(wanted) if column in twice]:
        raise ValueError(
            f"View {name!r} has {first_few(unclear)} more than once: which of them were "
            "fitted cannot be told. Call var_names_make_unique() before fitting."
        )
    return [places[column] for column in wanted]


def select(views: Views, kept: Mapping[str, Sequence[int]]) -> Views:
    """Views with these columns only; all columns of those that are not named."""
    if not kept:
        return views
    parts = views.parts()
    for name, places in kept.items():
        part, names = parts[name], parts[name].columns
        parts[name] = replace(
            part,
            rows=select_columns(part.rows, places),
            columns=None
            if names is None
            else tuple(OTHERS if place == REST else names[place] for place in places),
        )
    return Views(parts, target=views.target, ids=views.ids)


def _score(array: Any, few: Any, engine: Any, n_jobs: int | None) -> Array:
    """How much each gene varies, beyond what others of its mean do: in deviations of these."""
    scaler = fit_scaler(few, name="genes", kind="lognorm")
    run = Run(count_jobs(n_jobs))
    with run.resources:
        rows = choose_engine(engine, (array,)).open([array], run)
        n, total, squares = rows.map_reduce(partial(_add_up, scaler=scaler), stage="genes")
    mean = total / n
    return beyond_trend(mean, squares / n - mean**2)


def beyond_trend(mean: Array, variance: Array) -> Array:
    """Variances (d,) less the middle one of columns with about the same mean, in their deviations.

    Columns that do not vary are last.

    Examples
    --------
    >>> mean = np.repeat([1.0, 10.0], 50)
    >>> variance = mean * np.tile([0.9, 1.0, 1.1, 1.0, 1.0], 20)
    >>> variance[70] = 20.0
    >>> int(beyond_trend(mean, variance).argmax())
    70
    """
    scores = np.full(len(mean), -np.inf)
    varies = np.flatnonzero(variance > 0)
    for members in np.array_split(varies[np.argsort(mean[varies], kind="stable")], _BINS):
        if len(members):
            logs = np.log(variance[members])
            middle = np.median(logs)
            spread = np.median(np.abs(logs - middle))
            scores[members] = (logs - middle) / max(spread, 1e-3)
    return scores


class _Sums(tuple[Any, ...]):
    """Sums that add up one by one."""

    def __add__(self, other: Any) -> _Sums:
        return _Sums(a + b for a, b in zip(self, other, strict=True))


def _add_up(tile: Any, first_row: int, *, scaler: Scaler) -> _Sums:
    """The number of rows, and the sum and the sum of squares of each scaled column."""
    rows = sparse.csr_array(split_rows(tile[0])[0])
    values: Any = scaler.apply(rows, first_row).matrix  # sparse, so not centred
    d = values.shape[1]
    total = np.bincount(values.indices, values.data, minlength=d)
    return _Sums((rows.shape[0], total, np.bincount(values.indices, values.data**2, minlength=d)))
