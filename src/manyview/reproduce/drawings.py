"""Figures as SVG: seeds beside a mark, and curves.

matplotlib draws them; colours and letters come from the page by classes, on light and dark paper.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import matplotlib
import numpy as np
from markupsafe import Markup, escape
from matplotlib.figure import Figure

_MARKERS = "os^DvPX<>p*h"  # so that no curve is told by its colour alone
_STYLE = {"svg.fonttype": "none", "path.simplify": False, "font.size": 12, "lines.linewidth": 2}
_KEPT = ("stroke-width", "text-anchor")


class Dots(NamedTuple):
    """A row of dots, and what they are to be seen beside: the figure that is printed, or a limit."""

    label: str
    values: Sequence[float]
    mark: float | None = None


class Curve(NamedTuple):
    """Points joined by a line."""

    label: str
    x: Sequence[float]
    y: Sequence[float]


class Plot(NamedTuple):
    """What a figure is called, says in words, and has on its axes."""

    title: str
    text: str
    x_title: str = ""
    y_title: str = ""
    is_log: bool = False


def draw(plot: Plot, drawn: Sequence[Dots | Curve]) -> Markup:
    """Draw rows of dots, or curves, which are named in the order they end in."""
    dots = [one for one in drawn if isinstance(one, Dots)]
    curves = [one for one in drawn if isinstance(one, Curve)]
    with matplotlib.rc_context(_STYLE):
        figure, axes = _paper(900, 26 * len(dots) + 38 if dots else 380)
        if dots:
            _draw_dots(axes, dots)
        else:
            _draw_curves(axes, curves, plot)
        return _finish(figure, plot.title, plot.text)


def _draw_dots(axes: Any, rows: Sequence[Dots]) -> None:
    """One row above the other, each with its mark as an upright line."""
    for i, row in enumerate(rows):
        if row.mark is not None:
            axes.plot(row.mark, i, "|", markersize=18, gid="mark")
        axes.plot(row.values, [i] * len(row.values), "o", markersize=9, gid="seed")
    axes.set_yticks(range(len(rows)), [row.label for row in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.grid(axis="x")
    axes.xaxis.tick_top()
    axes.tick_params(length=0)


def _draw_curves(axes: Any, curves: Sequence[Curve], plot: Plot) -> None:
    """Curves over a logarithmic axis."""
    lines = []
    for i, curve in enumerate(curves):
        y = np.maximum(curve.y, 1e-4)
        lines += axes.plot(
            curve.x, y, marker=_MARKERS[i % 12], label=curve.label, gid=f"curve k{i}"
        )
    axes.set(xscale="log", yscale="log" if plot.is_log else "linear")
    places = sorted({x for curve in curves for x in curve.x})
    axes.set_xticks(places, [f"{x / 1000:.3g}k" if x >= 1000 else f"{x:g}" for x in places])
    axes.minorticks_off()
    axes.yaxis.set_major_formatter("{x:g}")
    axes.set(xlabel=plot.x_title, ylabel=plot.y_title)
    axes.grid(axis="y")
    lines.sort(key=lambda line: -line.get_ydata()[-1])
    legend = axes.legend(handles=lines, frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    for entry, line in zip(legend.legend_handles, lines, strict=True):
        entry.set_gid(line.get_gid())


def _paper(width: float, height: float) -> tuple[Figure, Any]:
    """A figure and its axes; a unit is a point, and there is no frame."""
    figure = Figure((width / 72, height / 72), dpi=72, frameon=False, layout="constrained")
    return figure, figure.add_subplot(frame_on=False)


def _finish(figure: Figure, title: str, text: str) -> Markup:
    """The figure and its caption: names of its groups become classes, styles of its own go."""
    for artist in figure.findobj(include_self=False):
        artist.set_clip_on(False)
    file = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": title}):  # names of marks, which differ by figure
        figure.savefig(file, format="svg", metadata={"Date": None})
    head, drawn = file.getvalue().split("</style>\n </defs>")
    box = re.findall(r'viewBox="([^"]*)"', head)[0]
    drawn = re.sub(r' style="([^"]*)"', _keep, drawn.removesuffix("</svg>\n"))
    drawn = re.sub(r' id="(text|line2d|mark|seed|[a-z]+ k\d+)(_\d+)?"', r' class="\1"', drawn)
    drawn = re.sub(r' id="(?!m[0-9a-f]{10}")[^"]*"|\s*\n\s*(?=<)', "", drawn)
    return Markup(
        f'<svg class="figure wide" viewBox="{box}" role="img" aria-label="{escape(title)}">'
        f'<title>{escape(title)}</title>{drawn}</svg><p class="caption">{escape(text)}</p>'
    )


def _keep(style: re.Match[str]) -> str:
    """Of a style, what no class of the page says, as attributes: styles are allowed in its head only."""
    parts = [part.partition(":") for part in style[1].replace(" ", "").split(";")]
    return "".join(f' {name}="{value}"' for name, _, value in parts if name in _KEPT)
