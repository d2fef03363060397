"""All that decides a result, with nothing left on "auto"."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Settings:
    """The estimator's parameters, resolved.

    The names are the estimator's; ``n_anchors`` and ``alpha`` are tuples (one graph of each view for
    every pair of them), ``scaling`` has one kind per view, ``anchor_method`` is a name or one array
    of anchors per view.
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
    degree_norm: bool
    row_norm: bool
    anchor_method: str | tuple[npt.NDArray[np.float64], ...]
    impute: str | None
    n_init: int
    max_iter: int
    tol: float
