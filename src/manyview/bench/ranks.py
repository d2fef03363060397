"""Scores of methods on data sets -> mean ranks, and by how much they must differ to mean anything.

Friedman's test and Nemenyi's critical difference, as J. Demsar proposes ("Statistical comparisons of
classifiers over multiple data sets", JMLR 7, 2006).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Ranking:
    """Methods by their mean rank.

    Attributes
    ----------
    methods : tuple of str
        Their names, the best first.
    ranks : ndarray of shape (k,)
        Mean rank of each over the data sets; 1 is the best on all of them.
    n_data : int
        Number of data sets.
    p_value : float
        Friedman's: how likely ranks differ so much if all methods are alike. NaN for fewer than two
        data sets or methods.
    critical_difference : float
        Nemenyi's, at the level 0.05: mean ranks that are nearer than this cannot be told apart.
    """

    methods: tuple[str, ...]
    ranks: FloatArray
    n_data: int
    p_value: float
    critical_difference: float

    def groups(self) -> list[tuple[int, int]]:
        """First and last place of methods that cannot be told apart; only groups that no other holds."""
        found: list[tuple[int, int]] = []
        if not np.isfinite(self.critical_difference):
            return found
        for first, rank in enumerate(self.ranks):
            last = int(np.searchsorted(self.ranks, rank + self.critical_difference, "right")) - 1
            if last > first and (not found or last > found[-1][1]):
                found.append((first, last))
        return found


def rank_methods(scores: FloatArray, methods: list[str]) -> Ranking:
    """Rank methods by scores (n_data, k), higher being better; who has none (NaN) is last.

    Examples
    --------
    >>> ranking = rank_methods(np.array([[0.9, 0.5, 0.7], [0.8, 0.6, np.nan]]), ["a", "b", "c"])
    >>> ranking.methods, ranking.ranks.tolist()
    (('a', 'b', 'c'), [1.0, 2.5, 2.5])
    """
    n, k = scores.shape
    each = stats.rankdata(-np.nan_to_num(scores, nan=-np.inf), axis=1)
    mean = each.mean(axis=0)
    order = np.argsort(mean, kind="stable")
    p_value, difference = np.nan, np.nan
    if n > 1 and k > 1:
        spread = float(mean @ mean - k * (k + 1) ** 2 / 4)
        chi_square = 12 * n / (k * (k + 1)) * spread
        p_value = float(stats.chi2.sf(chi_square, k - 1))
        quantile = float(stats.studentized_range.ppf(0.95, k, np.inf)) / np.sqrt(2)
        difference = quantile * float(np.sqrt(k * (k + 1) / (6 * n)))
    return Ranking(tuple(methods[i] for i in order), mean[order], n, p_value, difference)
