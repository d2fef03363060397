"""What stages of a fit will cost, in relation to each other: enough to tell the time left."""

from __future__ import annotations

from manyview.engines.base import TILE_ROWS

_LARGE_SAMPLE = 32_000  # rows, of a thousand anchors


def foretell(n_rows: int) -> dict[str, float]:
    """Relative costs of the stages that every fit has, by name, where settings are the defaults.

    Stages that look at a sample cost the same from some size on; others grow with the rows.

    Examples
    --------
    >>> small, large = foretell(10_000), foretell(10_000_000)
    >>> small["anchors"] > small["graph"], large["anchors"] < large["graph"]
    (True, True)
    """
    n_tiles = n_rows / TILE_ROWS
    sample = min(n_rows / _LARGE_SAMPLE, 1.0)
    return {
        "sample": 0.1,
        "pilot": 2.0,
        "anchors": 2.0 + 28.0 * sample,
        "graph": 1.2 * n_tiles,
        "spectrum": 1.0 + 4.0 * sample,
        "clusters": 4.0 + 5.0 * sample,
        "embedding": 0.02 * n_tiles,
        "labels": 0.05 * n_tiles,
        "oddness": 0.5 + 0.3 * n_tiles,
        "confidence": 0.2 + 0.02 * n_tiles,
    }
