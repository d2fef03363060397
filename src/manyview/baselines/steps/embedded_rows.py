"""Rows' weights over anchors -> their left singular vectors, row by row, and the nearest centre."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import linalg
from sklearn.cluster import KMeans

from manyview.baselines.steps import FloatArray
from manyview.stages.kmeans import nearest_centers
from manyview.stages.mapping import unit_rows
from manyview.stages.rows import ScaledRows

_NEGLIGIBLE = 1e-12  # share of the largest eigenvalue below which there is only rounding


@dataclass(frozen=True)
class SingularRows:
    """The map from weights z to rows of U, where Z = U S V' are the fitted rows; of unit length."""

    transform: FloatArray  # V / S (m, r), without the vectors whose singular value is zero
    centers: FloatArray  # (k, r), of the clusters among such rows

    def embed(self, Z: FloatArray) -> FloatArray:
        """Rows of U of unit length, (n, r)."""
        return unit_rows(Z @ self.transform)

    def label(self, Z: FloatArray) -> npt.NDArray[np.int32]:
        """The nearest centre of each row."""
        return nearest_centers(ScaledRows(self.embed(Z)), self.centers)[0]


def fit_singular_rows(
    Z: FloatArray, n_clusters: int, *, n_init: int, rng: np.random.Generator
) -> SingularRows:
    """The map of weights (n, m), and centres of its rows by k-means, the best of ``n_init`` starts.

    Examples
    --------
    >>> Z = np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [0.1, 0.9]])
    >>> rows = fit_singular_rows(Z, 2, n_init=1, rng=np.random.default_rng(0))
    >>> labels = rows.label(Z)
    >>> bool(labels[0] == labels[1] != labels[2])
    True
    """
    values, vectors = linalg.eigh(Z.T @ Z)
    values, vectors = values[::-1], vectors[:, ::-1]
    used = values > _NEGLIGIBLE * values[0]
    transform = vectors[:, used] / np.sqrt(values[used])
    seed = int(rng.integers(2**31))
    model = KMeans(n_clusters, init="random", n_init=n_init, random_state=seed)
    model.fit(unit_rows(Z @ transform))
    return SingularRows(transform, model.cluster_centers_)
