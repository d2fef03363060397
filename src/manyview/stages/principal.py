"""Sampled rows of a view -> whether its columns are principal components already."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from manyview.stages.rows import Array
from manyview.stages.sampling import spread_evenly

_MOST_COLUMNS, _MOST_ROWS = 100, 4000  # that correlations are measured on
_OFF_CENTER = 0.5  # most mean distance of columns' means from zero, in standard deviations
_LEAST, _NEVER_BY_CHANCE = 3, 0.05  # columns, and their most correlation in any order
_LEAST_IN_ORDER, _BY_CHANCE = 8, 2.0  # the same where variances fall from the first column on
_SMALL = 0.1  # most mean correlation in any case: among few rows, chance allows for too much
_ORDER = 0.8  # least rank correlation of columns' places and falling variances


def are_principal(rows: npt.NDArray[Any]) -> bool:
    """Whether columns (n, d) look like scores along principal axes: centred and uncorrelated.

    Their variances say how much each axis tells. Those of these very rows have no correlation at all,
    which chance never gives. Those of more rows have some, but no more than independent columns, which
    may be told in any units; so variances must fall from the first of eight columns or more.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 10)) @ rng.normal(size=(10, 10))
    >>> U, s, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    >>> are_principal(X), are_principal(U * s)
    (False, True)
    """
    few = np.asarray(rows[spread_evenly(len(rows), _MOST_ROWS)], np.float64)
    mean, deviation = few.mean(axis=0), few.std(axis=0)
    varies = np.flatnonzero(deviation > 1e-12 * np.abs(mean))
    if len(varies) < _LEAST:
        return False
    if (np.abs(mean[varies]) / deviation[varies]).mean() > _OFF_CENTER:
        return False
    lead = varies[:_MOST_COLUMNS]
    by_chance = np.sqrt(2.0 / (np.pi * len(few)))
    correlation = _mean_correlation((few[:, lead] - mean[lead]) / deviation[lead])
    if correlation <= _NEVER_BY_CHANCE * by_chance:
        return True
    is_small = correlation <= min(_BY_CHANCE * by_chance, _SMALL)
    places = np.argsort(np.argsort(-deviation[varies], kind="stable"))
    order = float(np.corrcoef(places, np.arange(len(places)))[0, 1])
    return len(varies) >= _LEAST_IN_ORDER and order >= _ORDER and is_small


def _mean_correlation(standard: Array) -> float:
    """The mean correlation of columns, whatever its sign."""
    n, d = standard.shape
    return float(np.abs(standard.T @ standard / n)[np.triu_indices(d, 1)].mean())
