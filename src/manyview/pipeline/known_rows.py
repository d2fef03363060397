"""What is said of rows when they are fitted: how much they count, and which clusters are known."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from manyview.errors import ParameterError
from manyview.pipeline.settings import Settings
from manyview.wording import first_few


def read_weights(
    sample_weight: Any, n_rows: int, settings: Settings
) -> npt.NDArray[np.float64] | None:
    """Weights of the rows, checked; None if all count alike. Refuses what cannot be weighted."""
    needs_all = settings.is_litekmeans or settings.anchor_method == "kmeans-all"
    if needs_all and (sample_weight is not None or settings.marks_outliers):
        name = "outliers" if sample_weight is None else "sample_weight"
        raise ParameterError(
            name,
            "cannot be used where anchors come from k-means on all rows alike: the published method, "
            "or anchor_method='kmeans-all'. Use anchor_method='kmeans'.",
        )
    if sample_weight is None:
        return None
    try:
        weights = np.asarray(sample_weight, np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"sample_weight must be numbers, one a row: {error}.") from error
    if weights.shape != (n_rows,):
        raise ValueError(
            f"sample_weight must be one number a row, {n_rows} in all; its shape is {weights.shape}."
        )
    if not np.isfinite(weights).all() or weights.min() < 0 or weights.max() == 0:
        raise ValueError("sample_weight must be finite, none negative, and not zero for all rows.")
    n_counted = int(np.count_nonzero(weights))
    if settings.n_clusters is not None and n_counted < settings.n_clusters:
        raise ValueError(
            f"{settings.n_clusters} clusters need as many rows; {n_counted} have a weight above 0."
        )
    return weights


def read_known(
    partial_labels: Any, n_rows: int, settings: Settings
) -> npt.NDArray[np.int32] | None:
    """Clusters of rows that are known, -1 for the others, checked; None if none is known."""
    if partial_labels is None:
        return None
    known = np.asarray(partial_labels)
    if known.shape != (n_rows,):
        raise ParameterError(
            "partial_labels",
            f"must be one number a row, {n_rows} in all; their shape is {known.shape}.",
        )
    most = n_rows if settings.n_clusters is None else settings.n_clusters
    is_whole = known.dtype.kind in "iu" or (
        known.dtype.kind == "f" and (known == np.rint(known)).all()
    )
    if not is_whole or known.min() < -1 or known.max() >= most:
        raise ParameterError(
            "partial_labels",
            f"must be whole numbers from 0 to {most - 1}, the cluster of each row that is known, and -1 "
            f"for the others; got {first_few([*dict.fromkeys(known.tolist())])}.",
        )
    return known.astype(np.int32) if (known >= 0).any() else None
