"""Figures as SVG: places of rows, seeds beside the paper's figure, and time on logarithmic axes.

matplotlib draws them; colours and letters come from the page by classes, on light and dark paper.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from typing import Any

import matplotlib
import numpy as np
from markupsafe import Markup, escape
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch
from matplotlib.path import Path as Outline

from manyview.reproduce.pictures import GRID
from manyview.reproduce.tables import Facts

_MARKERS = "os^DvPX<>p*h"  # so that no curve is told by its colour alone
_STYLE = {"svg.fonttype": "none", "path.simplify": False, "font.size": 12, "lines.linewidth": 2}
_KEPT = ("stroke-width", "text-anchor")


def draw_panel(panel: Facts, data: str) -> Markup:
    """Draw the places of one panel, coloured by class."""
    points, classes = np.asarray(panel["points"]), np.asarray(panel["classes"])
    text = (
        f"{len(points)} rows of {data}, coloured by class; {panel['neighbours']:.0%} have "
        "their nearest neighbour in the picture in the same class."
    )
    with matplotlib.rc_context(_STYLE):
        figure, axes = _paper(GRID + 40, GRID + 40)
        axes.set(position=(0, 0, 1, 1), xlim=(-20, GRID + 20), ylim=(-20, GRID + 20))
        axes.set_axis_off()
        size = min(max(320 / np.sqrt(len(points)), 8), 22)
        for label in np.unique(classes):  # dots are lines without length, with round ends
            ends = np.repeat(points[classes == label], 2, axis=0)
            dots = Outline(ends, np.tile([Outline.MOVETO, Outline.LINETO], len(ends) // 2))
            axes.add_patch(
                PathPatch(dots, linewidth=round(size), gid=f"points k{label}", clip_on=False)
            )
        return _finish(figure, panel["title"], text, kind="panel")


def draw_seeds(distributions: Sequence[Facts]) -> Markup:
    """Draw the accuracy of every seed as a dot, and the paper's figure as a line, a row a method."""
    with matplotlib.rc_context(_STYLE):
        figure, axes = _paper(1100, 26 * len(distributions) + 38)
        for i, row in enumerate(distributions):
            axes.plot(row["paper"], i, "|", markersize=18, gid="paper", clip_on=False)
            axes.plot(row["values"], [i] * len(row["values"]), "o", markersize=9, gid="seed")
        names = [f"{row['data']}: {row['label']}, {row['protocol']}" for row in distributions]
        axes.set_yticks(range(len(names)), names)
        axes.set_ylim(len(names) - 0.5, -0.5)
        axes.grid(axis="x")
        axes.xaxis.tick_top()
        axes.xaxis.set_major_formatter("{x:.2f}")
        axes.tick_params(length=0)
        text = "One dot a seed; the upright line is the figure that the paper prints."
        return _finish(figure, "Accuracy over seeds", text, kind="wide")


def draw_growth(
    curves: Sequence[Facts], *, title: str, x_title: str, text: str, kind: str = "wide"
) -> Markup:
    """Draw seconds against size, both axes logarithmic; curves are named in the order they end in."""
    with matplotlib.rc_context(_STYLE):
        figure, axes = _paper(*((900, 420) if kind == "wide" else (440, 330)))
        lines = []
        for i, curve in enumerate(curves):
            slope = "" if curve["slope"] is None else f", power {curve['slope']:.2f}"
            x = [point["x"] for point in curve["points"]]
            y = [max(point["y"], 1e-4) for point in curve["points"]]
            (line,) = axes.loglog(
                x, y, marker=_MARKERS[i % 12], label=f"{curve['title']}{slope}", gid=f"curve k{i}"
            )
            lines.append(line)
        sizes = sorted({point["x"] for curve in curves for point in curve["points"]})
        axes.set_xticks(sizes, [f"{x / 1000:g}k" if x >= 1000 else f"{x:g}" for x in sizes])
        axes.minorticks_off()
        axes.yaxis.set_major_formatter("{x:g} s")
        axes.set_xlabel(x_title)
        axes.grid(axis="y")
        lines.sort(key=lambda line: -line.get_ydata()[-1])
        legend = axes.legend(
            handles=lines, frameon=False, loc="center left", bbox_to_anchor=(1, 0.5)
        )
        for entry, line in zip(legend.legend_handles, lines, strict=True):
            entry.set_gid(line.get_gid())
        return _finish(figure, title, text, kind=kind)


def _paper(width: float, height: float) -> tuple[Figure, Any]:
    """A figure and its axes; a unit is a point, and there is no frame."""
    figure = Figure((width / 72, height / 72), dpi=72, frameon=False, layout="constrained")
    return figure, figure.add_subplot(frame_on=False)


def _finish(figure: Figure, title: str, text: str, *, kind: str) -> Markup:
    """The figure as part of a page: names of its groups become classes, styles of its own go."""
    for artist in figure.findobj(include_self=False):
        artist.set_clip_on(False)
    file = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": title}):  # names of marks, which differ by figure
        figure.savefig(file, format="svg", metadata={"Date": None})
    head, drawn = file.getvalue().split("</style>\n </defs>")
    box = re.findall(r'viewBox="([^"]*)"', head)[0]
    drawn = re.sub(r' style="([^"]*)"', _keep, drawn.removesuffix("</svg>\n"))
    drawn = re.sub(r' id="(text|line2d|paper|seed|[a-z]+ k\d+)(_\d+)?"', r' class="\1"', drawn)
    drawn = re.sub(r' id="(?!m[0-9a-f]{10}")[^"]*"|\s*\n\s*(?=<)', "", drawn)
    return Markup(
        f'<svg class="figure {kind}" viewBox="{box}" role="img" aria-label="{escape(title)}. '
        f'{escape(text)}"><title>{escape(title)}</title><desc>{escape(text)}</desc>{drawn}</svg>'
    )


def _keep(style: re.Match[str]) -> str:
    """Of a style, what no class of the page says, as attributes: styles are allowed in its head only."""
    parts = [part.partition(":") for part in style[1].replace(" ", "").split(";")]
    return "".join(f' {name}="{value}"' for name, _, value in parts if name in _KEPT)


def draw_digits(picture: Facts) -> Markup:
    """Show a sheet of digits, clean in the first line and noisier below."""
    levels = ", ".join(f"{level:g}" for level in picture["levels"][1:])
    text = f"Digits 0 to 9: as they are in the first line, then with {picture['noise']} noise: {levels}."
    return Markup(
        f'<img class="digits" width="560" height="224" alt="{escape(text)}" '
        f'src="data:image/png;base64,{escape(picture["png"])}">'
    )
