"""Results as pictures: mean ranks with the critical difference, and scores on every data set."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from manyview.bench.ranks import Ranking
    from manyview.bench.results import Results

_MARKERS = "Dos^vP*Xph<>8d"
_SPACE = 0.32  # inches between lines


def draw_ranks(ranking: Ranking, path: Path) -> None:
    """Methods on an axis of mean ranks, the best on the right; bars join those that may be equal."""
    k = len(ranking.methods)
    half = (k + 1) // 2
    groups = ranking.groups()
    top = 0.6 + 0.22 * len(groups)
    figure, axes = _paper(half + top + 1.6)
    low, high = 1.0, float(max(k, 2))
    axes.set_xlim(high + 0.35 * (high - low), low - 0.35 * (high - low))  # the best is on the right
    axes.set_ylim(-half - top - 0.3, 1.8)
    axes.axis("off")
    axes.plot([low, high], [0, 0], color="black", linewidth=1)
    for tick in range(1, k + 1):
        axes.plot([tick, tick], [0, 0.15], color="black", linewidth=1)
        axes.text(tick, 0.25, str(tick), ha="center", va="bottom", fontsize=8)
    for place, (name, rank) in enumerate(zip(ranking.methods, ranking.ranks, strict=True)):
        is_right = place < half
        height = -top - (place if is_right else k - 1 - place) - 0.2
        edge = low - 0.03 * (high - low) if is_right else high + 0.03 * (high - low)
        axes.plot([rank, rank, edge], [0, height, height], color="0.4", linewidth=0.8)
        text = f"{name}  {rank:.2f}" if is_right else f"{rank:.2f}  {name}"
        axes.text(edge, height, text, ha="left" if is_right else "right", va="center", fontsize=9)
    for level, (first, last) in enumerate(groups):
        ends = ranking.ranks[first] - 0.04, ranking.ranks[last] + 0.04
        axes.plot(ends, [-0.35 - 0.22 * level] * 2, color="tab:blue", linewidth=3)
    if np.isfinite(ranking.critical_difference):
        difference = ranking.critical_difference
        axes.plot([low, min(low + difference, high)], [1.2, 1.2], color="tab:blue", linewidth=3)
        axes.text(
            low, 1.4, f"critical difference {difference:.2f}, {ranking.n_data} data sets",
            ha="right", va="bottom", fontsize=8,
        )  # fmt: skip
    _save(figure, path)


def draw_scores(results: Results, path: Path, score: str, protocol: str) -> None:
    """A line for each data set, a mark for each method, sets sorted by their best score."""
    means = results.means(score, protocol)
    best = np.nan_to_num(np.nanmax(np.nan_to_num(means, nan=-1.0), axis=1))
    order = np.argsort(best, kind="stable")
    figure, axes = _paper(len(order) + 3)
    for column, method in enumerate(results.methods):
        axes.plot(
            means[order, column], np.arange(len(order)), linestyle="none", label=method,
            marker=_MARKERS[column % len(_MARKERS)], markersize=8 if column == 0 else 5,
            color=f"C{column % 10}" if column < 10 else str(0.2 + 0.06 * (column % 10)),
            zorder=3 if column == 0 else 2,
        )  # fmt: skip
    axes.set_yticks(np.arange(len(order)), [results.data[i] for i in order])
    axes.set_xlabel(f"{score}, {protocol}")
    axes.grid(axis="y", color="0.9")
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=8, frameon=False)
    _save(figure, path)


def _paper(n_lines: float) -> tuple[Figure, Any]:
    """A figure with room for so many lines, and its axes; no window opens."""
    figure = Figure(figsize=(8, n_lines * _SPACE))
    return figure, figure.subplots()


def _save(figure: Figure, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(
        path, dpi=150, bbox_inches="tight", metadata={} if path.suffix == ".pdf" else None
    )
