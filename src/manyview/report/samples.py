"""Which rows a report looks at, so that it takes as long for a million rows as for a few thousand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from manyview.views.container import Views

if TYPE_CHECKING:
    from manyview import LMVSC

Rows = npt.NDArray[np.int64]

SHOWN_ROWS = 100_000
STUDIED_ROWS = 5_000
LEAST_PLACED, MOST_PLACED = 350, 2_000
_LEAST_PER_CLUSTER = 20
_STUDIED_CELLS = 50_000_000


class Samples(NamedTuple):
    """Three samples, each within the one before."""

    shown: Rows  # on the map, ascending; what needs only the embedding is computed from these
    studied: Rows  # positions in ``shown`` that are clustered again, or looked at column by column
    placed: Rows  # positions in ``shown`` that t-SNE places


def choose_samples(
    labels: npt.NDArray[np.integer],
    *,
    n_columns: int,
    rng: np.random.Generator,
    shown_rows: int = SHOWN_ROWS,
) -> Samples:
    """Choose the rows a report looks at, some of every cluster; few if they have very many columns."""
    shown = choose_balanced(labels, shown_rows, rng)
    within = labels[shown]
    wanted = min(STUDIED_ROWS, max(500, _STUDIED_CELLS // max(n_columns, 1)))
    studied = choose_balanced(within, wanted, rng)
    wanted = min(max(len(labels) // 5, LEAST_PLACED), MOST_PLACED)
    placed = studied[choose_balanced(within[studied], wanted, rng)]
    return Samples(shown, studied, placed)


def choose_balanced(labels: npt.NDArray[np.integer], wanted: int, rng: np.random.Generator) -> Rows:
    """Choose about ``wanted`` rows at random, and some of every cluster; ascending.

    Some are twenty, or fewer where there are so many clusters that these would be more than ``wanted``.
    Rows that are marked as outliers, -1, are left out.

    Examples
    --------
    >>> labels = np.array([0] * 10_000 + [1] * 5)
    >>> rows = choose_balanced(labels, 100, np.random.default_rng(0))
    >>> np.bincount(labels[rows]).tolist()
    [100, 5]
    """
    clustered = np.flatnonzero(labels >= 0)
    if len(clustered) <= wanted:
        return clustered
    rows = clustered[rng.choice(len(clustered), wanted, replace=False)]
    k = int(labels.max()) + 1
    sizes = np.bincount(labels[clustered], minlength=k)
    found = np.bincount(labels[rows], minlength=k)
    least = max(1, min(_LEAST_PER_CLUSTER, wanted // k))
    few = np.flatnonzero(found < np.minimum(sizes, least))
    more = [rng.permutation(np.flatnonzero(labels == cluster))[:least] for cluster in few]
    return np.unique(np.concatenate([rows, *more]))


def check_has_labels(model: LMVSC) -> None:
    """Raise if there are no labels to look at: the model is not fitted, or a stream."""
    check_is_fitted(model)
    if not hasattr(model, "labels_"):
        raise ValueError(
            "A stream keeps no labels of its rows, so there is nothing to show of them. Call fit on "
            "the rows to look at."
        )


def read_fitted_rows(model: LMVSC, X: Any) -> Views:
    """The rows that were fitted, as views in the order that was fitted; other rows are refused."""
    views = model.read_rows(X)
    if views.n_rows != len(model.labels_):
        raise ValueError(
            f"The views have {views.n_rows} rows, but the model was fitted to {len(model.labels_)}. "
            "Pass the rows that were fitted, in the same order."
        )
    return views
