"""What pictures show: places of rows by t-SNE."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from manyview import LMVSC
from manyview.report.layout import lay_out, quantise
from manyview.report.samples import choose_balanced
from manyview.reproduce.cells import Cell, Line
from manyview.views.container import Views

GRID = 1000
"""Places are whole numbers from 0 to this."""

_WIDEST = 50  # columns of raw views that t-SNE sees, as is usual


def place_rows(views: Views, cell: Cell) -> Line:
    """Places in the plane of some rows: of a raw view, or of an embedding of all views.

    ``settings["of"]`` is "raw", "default" or "released"; the last needs ``n_anchors`` and ``alpha``.
    """
    settings = cell.settings
    target = np.asarray(views.target)
    rows = choose_balanced(target, settings["points"], np.random.default_rng(cell.seed))
    k = cell.data.n_clusters
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if settings["of"] == "raw":
            X = _reduced(views.arrays[0][rows], cell.seed)
        else:
            model = LMVSC(k, random_state=cell.seed)
            if settings["of"] == "released":
                m, alpha = settings["n_anchors"], settings["alpha"]
                model = LMVSC.as_published(k, m, alpha, variant="released", random_state=cell.seed)
            X = np.asarray(model.fit(views).embedding_[rows], dtype=np.float64)
            # Vectors of unit length over all rows have tiny entries.
            X = X / (np.sqrt((X**2).sum(axis=1).mean()) or 1.0)
        points = quantise(lay_out(X, np.arange(len(rows)), seed=cell.seed))
    places = np.rint(points * (GRID / 65535)).astype(int)
    return {"points": places.tolist(), "classes": target[rows].tolist(), "n_rows": views.n_rows}


def _reduced(X: Any, seed: int) -> npt.NDArray[np.float64]:
    from scipy import sparse
    from sklearn.decomposition import PCA, TruncatedSVD

    if sparse.issparse(X):
        X = TruncatedSVD(min(_WIDEST, X.shape[1] - 1), random_state=seed).fit_transform(X)
    elif X.shape[1] > _WIDEST:
        X = PCA(_WIDEST, random_state=seed).fit_transform(np.asarray(X, dtype=np.float64))
    return np.asarray(X, dtype=np.float64)
