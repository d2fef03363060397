"""Two clusterings of the same rows side by side, with bands for the rows that they share."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from manyview.report.displays import _INK, _Display
from manyview.report.palette import choose_colours

Labels = npt.NDArray[np.integer]

_WIDTH = 0.06  # of a bar
_GAP = 0.15  # of all height, between bars
_LONG = 24  # characters of a name
_CURVE = np.linspace(0, 1, 40)


class FlowDisplay(_Display):
    """Clusters before and after as bars, and bands as thick as the rows that went from one to another.

    Parameters
    ----------
    before, after : array-like of int of shape (n,)
        Clusters of the same rows; numbers that are the same are meant to be the same cluster, as
        :func:`manyview.metrics.match_labels` makes them.
    names : tuple of str
        What stands above the two sides.

    Attributes
    ----------
    ax_, figure_
        What was drawn on.

    See Also
    --------
    manyview.metrics.match_labels : new clusters with the numbers of the old.
    AgreementDisplay : how far views agree.

    Examples
    --------
    >>> from manyview.report import FlowDisplay
    >>> FlowDisplay([0, 0, 1], [0, 1, 1]).flows
    [(0, 0, 1), (0, 1, 1), (1, 1, 1)]
    """

    def __init__(self, before: Any, after: Any, *, names: tuple[str, str] = ("A", "B")) -> None:
        pairs = np.stack([np.asarray(before), np.asarray(after)], axis=1)
        found, counts = np.unique(pairs, axis=0, return_counts=True)
        self.flows = [(int(a), int(b), int(n)) for (a, b), n in zip(found, counts, strict=True)]
        self.names = names

    @property
    def n_bars(self) -> int:
        """Number of bars on the side that has more."""
        return max(len({flow[side] for flow in self.flows}) for side in (0, 1))

    def plot(self, *, ax: Any = None) -> FlowDisplay:
        """Draw; on new axes by default."""
        ax = self._axes(ax, (6, max(4.0, 0.25 * self.n_bars)))
        clusters = sorted({flow[side] for flow in self.flows for side in (0, 1)})
        colours = dict(zip(clusters, choose_colours(len(clusters)), strict=True))
        sides = [self._bars(0), self._bars(1)]
        for x, bars in zip((0.0, 1.0), sides, strict=True):
            for cluster, (start, size) in bars.items():
                ax.barh(start + size / 2, _WIDTH, size, left=x - _WIDTH / 2, color=colours[cluster])
                ax.text(
                    x + (-0.06 if x == 0 else 0.06), start + size / 2, str(cluster), color=_INK,
                    ha="right" if x == 0 else "left", va="center",
                )  # fmt: skip
        used = [dict.fromkeys(bars, 0.0) for bars in sides]
        # Those that stay are drawn first, so that moves lie above them.
        for a, b, size in sorted(self.flows, key=lambda flow: flow[0] != flow[1]):
            low, high = sides[0][a][0] + used[0][a], sides[1][b][0] + used[1][b]
            used[0][a] += size
            used[1][b] += size
            _draw_band(ax, low, high, size, colours[a], alpha=0.35 if a == b else 0.7)
        for x, name in zip((0.0, 1.0), self.names, strict=True):
            short = name if len(name) <= _LONG else f"...{name[-_LONG:]}"
            ax.text(
                x, -0.02 * self._height, short, ha="center", va="bottom", color=_INK, weight="bold"
            )
        ax.set_xlim(-0.2, 1.2)
        ax.set_ylim(1.02 * self._height, -0.1 * self._height)
        ax.set_axis_off()
        return self

    @property
    def _height(self) -> float:
        return (1 + _GAP) * sum(flow[2] for flow in self.flows)

    def _bars(self, side: int) -> dict[int, tuple[float, float]]:
        """Where the bar of each cluster of a side begins, and how long it is."""
        sizes: dict[int, float] = {}
        for flow in self.flows:
            sizes[flow[side]] = sizes.get(flow[side], 0.0) + flow[2]
        gap = (self._height - sum(sizes.values())) / max(len(sizes) - 1, 1)
        bars, start = {}, 0.0
        for cluster in sorted(sizes):
            bars[cluster] = (start, sizes[cluster])
            start += sizes[cluster] + gap
        return bars


def _draw_band(ax: Any, low: float, high: float, size: float, colour: str, *, alpha: float) -> None:
    """A band from ``low`` on the left to ``high`` on the right."""
    smooth = 3 * _CURVE**2 - 2 * _CURVE**3
    edge = low + (high - low) * smooth
    x = _WIDTH / 2 + (1 - _WIDTH) * _CURVE
    ax.fill_between(x, edge, edge + size, color=colour, alpha=alpha, linewidth=0)
