"""All that decides a result, with nothing left on "auto"."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Settings:
    """The estimator's parameters, resolved.

    The names are the estimator's; ``n_anchors`` and ``alpha`` are tuples (one graph of each view for
    every pair of them), ``scaling`` has one kind per view ("auto" is settled by the sample),
    ``anchor_method`` is a name or one array of anchors per view. Three more are settled on the way:
    without ``n_clusters`` it is suggested by the sample; without ``n_components``, vectors that sit
    on a handful of rows are left out and the others are weighted by their strength; and with
    ``are_anchors_auto`` there are more anchors where samples lack views.
    """

    n_clusters: int | None
    n_anchors: tuple[int, ...]
    alpha: tuple[float, ...]
    locality: float
    scaling: tuple[str | None, ...]
    fusion: str
    n_repeats: int
    view_weights: str | tuple[float, ...]
    n_components: int | None
    degree_norm: bool
    row_norm: bool
    anchor_method: str | tuple[npt.NDArray[np.float64], ...]
    impute: str | None
    n_init: int
    max_iter: int
    tol: float
    are_anchors_auto: bool = False

    @property
    def known_clusters(self) -> int:
        """The number of clusters, once it is settled."""
        assert self.n_clusters is not None
        return self.n_clusters

    @property
    def n_vectors(self) -> int:
        """Number of singular vectors kept."""
        if self.n_components is not None:
            return self.n_components
        return n_vectors_for(self.known_clusters)


def n_vectors_for(n_clusters: int) -> int:
    """Vectors kept by default: half as many again as clusters, two more at least."""
    return n_clusters + max(2, n_clusters // 2)
