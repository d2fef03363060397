"""The fused graph's spectrum, and the number of clusters its largest gap suggests."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

_CLEARLY = 1.5


def describe_spectrum(singular_values: npt.ArrayLike, n_clusters: int) -> dict[str, Any]:
    """The squared singular values, the gaps between them, and what the largest suggests.

    A graph of k groups with no edges between them has k values of one, and a gap after the k-th. The
    first gap is left out: every connected graph has it. ``suggested`` is None if too few values are
    known. ``is_at_odds`` is whether that gap is clearly larger (by half) than the one after
    ``n_clusters``, and neither fewer than half as many clusters nor more than twice: the first gaps of
    a long spectrum tell of coarser groups.

    Examples
    --------
    >>> found = describe_spectrum([1.0, 0.95, 0.9, 0.3, 0.25], 4)
    >>> found["suggested"], found["is_at_odds"]
    (3, True)
    """
    values = np.asarray(singular_values, dtype=np.float64) ** 2
    gaps = -np.diff(values)
    suggested, is_at_odds = None, False
    if len(gaps) > 1:
        suggested = int(gaps[1:].argmax()) + 2
        known = 1 <= n_clusters <= len(gaps)
        own = gaps[n_clusters - 1] if known else 0.0
        is_near = suggested != n_clusters and n_clusters / 2 <= suggested <= 2 * n_clusters
        is_at_odds = is_near and bool(known and gaps[suggested - 1] > _CLEARLY * own)
    return {
        "values": [round(float(v), 6) for v in values],
        "gaps": [round(float(g), 6) for g in gaps],
        "suggested": suggested,
        "is_at_odds": is_at_odds,
    }
