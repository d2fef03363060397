"""The embedding as a map of images, coloured by cluster, beside each cluster's most typical images.

Drawn on a canvas of its own, so no window opens and no global setting of matplotlib changes.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.offsetbox import AnnotationBbox, OffsetImage

from manyview import LMVSC, Views
from manyview.report.layout import lay_out
from manyview.report.palette import choose_colours
from manyview.stages.rows import Array

_INK, _FAINT = "#222222", "#6b6b6b"
_N_TYPICAL = 6


@dataclass(frozen=True)
class _Cluster:
    """One cluster, and the digit most of its images show."""

    number: int
    colour: str
    rows: npt.NDArray[np.int64]  # the most typical first
    digit: int
    share: float


def draw(views: Views, model: LMVSC, *, seed: int = 0) -> Figure:
    """A figure of the digits that a model was fitted to; their target marks the wrong company."""
    images, digits = views["pixels"].reshape(-1, 8, 8), np.asarray(views.target)
    clusters = _describe_clusters(model, digits)
    points = lay_out(model.embedding_, np.arange(len(images)), seed=seed)
    figure = Figure(figsize=(13, 7.6), dpi=130, facecolor="white")
    FigureCanvasAgg(figure)
    grid = figure.add_gridspec(
        1, 2, width_ratios=(1.55, 1), left=0.02, right=0.985, top=0.88, bottom=0.055, wspace=0.04
    )
    left, right = figure.add_subplot(grid[0]), figure.add_subplot(grid[1])
    _draw_map(left, points, digits, clusters)
    _draw_medoids(left, points, images, clusters)
    _draw_typical(right, images, clusters)
    title = f"{len(images)} handwritten digits, {model.n_views_} views, {len(clusters)} clusters"
    explanation = (
        "Found without labels. On the map (t-SNE), neighbours in the embedding stay close."
    )
    figure.text(0.025, 0.945, title, fontsize=19, color=_INK, weight="bold")
    figure.text(0.025, 0.905, explanation, fontsize=12, color=_FAINT)
    return figure


def save(figure: Figure, path: Path) -> None:
    """Write the figure as PNG, with few enough colours to be small."""
    from PIL import Image

    figure.canvas.draw()
    canvas: Any = figure.canvas
    pixels = Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")
    pixels.quantize(192, dither=Image.Dither.NONE).save(path, format="PNG", optimize=True)


def _describe_clusters(model: LMVSC, digits: npt.NDArray[np.integer]) -> list[_Cluster]:
    """Clusters in the order of their digits."""
    found = []
    for number, center in enumerate(model.cluster_centers_):
        rows = np.flatnonzero(model.labels_ == number)
        if rows.size == 0:
            continue
        distances = ((model.embedding_[rows] - center) ** 2).sum(axis=1)
        rows = rows[np.argsort(distances, kind="stable")]
        counts = np.bincount(digits[rows])
        digit = int(counts.argmax())
        found.append((digit, -rows.size, number, rows, counts[digit] / rows.size))
    found.sort(key=lambda cluster: cluster[:3])
    return [
        _Cluster(number, colour, rows, digit, float(share))
        for (digit, _, number, rows, share), colour in zip(
            found, choose_colours(len(found)), strict=True
        )
    ]


def _draw_map(
    axes: Any, points: Array, digits: npt.NDArray[np.integer], clusters: list[_Cluster]
) -> None:
    axes.set_axis_off()
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.07, 0.14)  # room for the images beside the lowest clusters
    for cluster in clusters:
        axes.scatter(*points[cluster.rows].T, s=22, color=cluster.colour, alpha=0.8, linewidths=0)
    wrong = np.concatenate([c.rows[digits[c.rows] != c.digit] for c in clusters])
    axes.scatter(*points[wrong].T, s=14, color=_INK, marker="x", linewidths=0.7)
    share = len(wrong) / len(points)
    text = f"✕  its digit is not the most frequent one of its cluster ({share:.0%} of the images)"
    axes.text(0.005, -0.01, text, transform=axes.transAxes, fontsize=10.5, color=_FAINT, va="top")


def _draw_medoids(axes: Any, points: Array, images: Array, clusters: list[_Cluster]) -> None:
    """Show each cluster's most typical image beside its place, away from the middle of the map."""
    middle = points.mean(axis=0)
    for cluster in clusters:
        medoid = cluster.rows[0]
        outwards = points[medoid] - middle
        axes.add_artist(
            AnnotationBbox(
                OffsetImage(images[medoid], zoom=3.2, cmap="gray_r", interpolation="nearest"),
                tuple(points[medoid]),
                xybox=tuple(52 * outwards / np.hypot(*outwards)),
                boxcoords="offset points",
                pad=0.15,
                bboxprops={"edgecolor": cluster.colour, "linewidth": 2.2},
                arrowprops={"arrowstyle": "-", "color": _INK, "linewidth": 0.8},
            )
        )


def _draw_typical(axes: Any, images: Array, clusters: list[_Cluster]) -> None:
    """One line a cluster: number, size, its most typical images, and what they show."""
    columns = {"cluster": 0.0, "images": 3.2, "most typical": 4.0, "mostly": _N_TYPICAL + 6.6}
    pitch = 1.5
    for title, x in columns.items():
        side = "left" if title in ("cluster", "most typical") else "right"
        axes.text(x, -1.0, title, fontsize=10.5, color=_FAINT, va="center", ha=side)
    for line, cluster in enumerate(clusters):
        y = line * pitch
        axes.scatter([0.25], [y], s=130, color=cluster.colour)
        axes.text(0.75, y, f"{cluster.number}", fontsize=13, color=_INK, va="center")
        size, show = f"{len(cluster.rows)}", f"{cluster.digit}  ({cluster.share:.0%})"
        for x, text in ((columns["images"], size), (columns["mostly"], show)):
            axes.text(x, y, text, fontsize=12, color=_INK, va="center", ha="right")
        for place, row in enumerate(cluster.rows[:_N_TYPICAL]):
            x = columns["most typical"] + place
            axes.imshow(
                images[row], extent=(x, x + 0.94, y + 0.47, y - 0.47), cmap="gray_r", vmin=0, vmax=1
            )
    axes.set_xlim(-0.1, columns["mostly"] + 0.1)
    axes.set_ylim((len(clusters) - 0.4) * pitch, -1.4)
    axes.set_aspect("equal", anchor="N")
    axes.set_axis_off()
