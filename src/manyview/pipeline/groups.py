"""Groups of rows, such as batches: views scaled, and what is common to a group taken off its rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manyview import metrics
from manyview.engines.base import Engine, Rows, Run, SampledRows, one_thread_per_product
from manyview.errors import InputError, warn_user
from manyview.pipeline.settings import Settings
from manyview.sources import are_missing
from manyview.stages.rows import Array
from manyview.stages.scaling import COUNTED, Scaler, fit_scaler
from manyview.wording import count, first_few

Codes = npt.NDArray[np.int32]

_AXES = 50  # that wider views are turned to


@dataclass(frozen=True)
class Groups:
    """How views are scaled, and the mean of each group then, which is taken off its rows."""

    names: tuple[str, ...]
    scalers: tuple[Scaler, ...]  # one a view
    means: tuple[Array, ...]  # (g, p) a view

    def check(self) -> None:
        """Raise ValueError unless the arrays fit together, as those of a damaged file may not."""
        if len({*self.names}) != len(self.names) or len(self.scalers) != len(self.means):
            raise ValueError("the groups do not fit the views")
        for scaler, means in zip(self.scalers, self.means, strict=True):
            scaler.check()
            if means.shape != (len(self.names), scaler.width):
                raise ValueError(f"the groups' means do not fit view {scaler.name!r}")

    def codes_of(self, groups: Any, n_rows: int) -> Codes:
        """The place of each row's group; for those not known one past the last, and a warning."""
        given = read_groups(groups, n_rows)
        places = {name: place for place, name in enumerate(self.names)}
        names, inverse = np.unique(given, return_inverse=True)
        if unknown := [str(name) for name in names if name not in places]:
            warn_user(
                f"The fit had no rows of {count(len(unknown), 'group')} ({first_few(unknown)}): such "
                "rows are scaled as all rows together, and nothing of their own is taken off.",
                UserWarning,
            )
        codes: Codes = np.array([places.get(str(name), len(places)) for name in names], np.int32)
        return codes[inverse]

    def correct(self, rows: Rows, codes: Codes) -> list[Any]:
        """Each view's scaled rows less their group's mean, wherever the engine keeps results."""
        joined = rows.map_rows(partial(_correct, groups=self, codes=codes), stage="groups")
        ends = np.cumsum([0, *(scaler.width for scaler in self.scalers)]).tolist()
        return [joined[:, start:end] for start, end in pairwise(ends)]


def read_groups(groups: Any, n_rows: int) -> npt.NDArray[np.str_]:
    """The name of each row's group as text; refuses another number of them, and missing ones."""
    given = np.asarray(groups)
    if given.shape != (n_rows,):
        raise ValueError(
            f"groups must be one name a row, {n_rows} in all; their shape is {given.shape}."
        )
    if n_missing := int(are_missing(groups).sum()):
        raise ValueError(f"groups must say of every row where it is from; {n_missing} are missing.")
    return given.astype(str)


def learn_groups(
    rows: Rows,
    sample: SampledRows,
    names: Sequence[str],
    groups: npt.NDArray[np.str_],
    settings: Settings,
    weights: Array | None = None,
) -> tuple[Groups, Codes]:
    """Scaling by the sample, means by all rows; every group counts by its own rows, however few."""
    if settings.is_litekmeans or not isinstance(settings.anchor_method, str):
        raise ValueError(
            "groups cannot be taken off where anchors are given, nor in the published method."
        )
    found, places = np.unique(groups, return_inverse=True)
    codes: Codes = places.astype(np.int32)
    n_counted = np.bincount(codes, None if weights is None else weights > 0)
    if alone := found[n_counted == 1].tolist():
        raise ValueError(
            f"{count(len(alone), 'group')} with one row that counts ({first_few(alone)}): nothing would "
            "be left of the row without its group's mean. Leave it out, or put it into another group."
        )
    scalers = tuple(
        fit_scaler(X, name=name, kind=kind, n_axes=_count_axes(X, kind))
        for X, name, kind in zip(sample.arrays, names, settings.scaling, strict=True)
    )
    add_up = partial(_add_up, scalers=scalers, codes=codes, n_groups=len(found), weights=weights)
    sums = rows.map_reduce(add_up, stage="groups")
    counts = np.bincount(codes, weights, minlength=len(found))
    means = sums / np.where(counts > 0, counts, 1.0)[:, None]
    ends = np.cumsum([scaler.width for scaler in scalers])[:-1]
    parts = tuple(np.ascontiguousarray(part) for part in np.split(means, ends, axis=1))
    return Groups(tuple(found.tolist()), scalers, parts), codes


def _count_axes(array: Any, kind: str | None) -> int | str | None:
    """None of a narrow view; of counts of molecules, no more than they show."""
    if array.shape[1] <= _AXES:
        return None
    return "auto" if kind in COUNTED else _AXES


def correct_rows(
    arrays: Sequence[Any], groups: Groups, codes: Codes, *, engine: Engine, run: Run
) -> list[Any]:
    """New rows, scaled and less their group's mean."""
    with one_thread_per_product():
        return groups.correct(engine.open(arrays, run), codes)


def measure_mixing(groups: Any, labels: npt.NDArray[Any]) -> float:
    """How little clusters tell of groups: 0 if one follows from the other, 1 if they say nothing.

    It is 1 less the mutual information over the smaller entropy. Outliers, -1, do not count.

    Examples
    --------
    >>> measure_mixing(np.array(["a", "a", "b", "b"]), np.array([0, 1, 0, 1]))
    1.0
    """
    counted = labels >= 0
    return 1.0 - metrics.nmi(groups[counted], labels[counted], average="min")


def _scale(tile: Sequence[Any], first_row: int, scalers: Sequence[Scaler]) -> Array:
    """Scaled rows of all views side by side."""
    parts = []
    for scaler, block in zip(scalers, tile, strict=True):
        rows = scaler.apply(block, first_row)
        if rows.present is not None:
            raise InputError(
                f"Some rows lack view {scaler.name!r}, and groups are taken off rows that have all "
                "views. Leave out these rows, or groups."
            )
        parts.append(rows.dense())
    return np.hstack(parts)


def _add_up(
    tile: Sequence[Any],
    first_row: int,
    *,
    scalers: Sequence[Scaler],
    codes: Codes,
    n_groups: int,
    weights: Array | None,
) -> Array:
    """The sum of each group's scaled rows, (g, p of all views)."""
    rows = _scale(tile, first_row, scalers)
    n = len(rows)
    some = slice(first_row, first_row + n)
    counted = np.ones(n) if weights is None else weights[some]
    members = sparse.csr_array((counted, (codes[some], np.arange(n))), shape=(n_groups, n))
    return np.asarray(members @ rows)


def _correct(tile: Sequence[Any], first_row: int, *, groups: Groups, codes: Codes) -> Array:
    rows = _scale(tile, first_row, groups.scalers)
    means = np.hstack(groups.means)
    # Scaled rows have mean zero over all, which is what groups that are not known get.
    means = np.vstack([means, np.zeros(means.shape[1])])
    rows -= means[codes[first_row : first_row + len(rows)]]
    return rows
