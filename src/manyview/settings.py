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
    ``anchor_method`` is a name or one array
    of anchors per view. With a positive ``vector_power``, vectors that sit on a handful of rows are
    left out and the others are weighted by that power of their squared singular value.
    """

    n_clusters: int
    n_anchors: tuple[int, ...]
    alpha: tuple[float, ...]
    locality: float
    scaling: tuple[str | None, ...]
    fusion: str
    n_repeats: int
    view_weights: str | tuple[float, ...]
    n_components: int
    vector_power: float
    degree_norm: bool
    row_norm: bool
    anchor_method: str | tuple[npt.NDArray[np.float64], ...]
    impute: str | None
    n_init: int
    max_iter: int
    tol: float
