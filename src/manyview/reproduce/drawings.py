"""Figures as SVG: places of rows, seeds beside the paper's figure, and time on logarithmic axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from markupsafe import Markup, escape

from manyview.reproduce.pictures import GRID

Facts = dict[str, Any]


def draw_panel(panel: Facts, data: str) -> Markup:
    """Draw the places of one panel, coloured by class."""
    by_class: dict[int, list[str]] = {}
    for (x, y), label in zip(panel["points"], panel["classes"], strict=True):
        by_class.setdefault(label, []).append(f"M{x} {GRID - y}h0")
    size = min(max(320 / math.sqrt(len(panel["points"])), 8), 22)
    parts = [
        f'<path class="points k{label}" stroke-width="{size:.0f}" d="{"".join(marks)}"/>'
        for label, marks in sorted(by_class.items())
    ]
    text = (
        f"{len(panel['points'])} rows of {data}, coloured by class; {panel['neighbours']:.0%} have "
        "their nearest neighbour in the picture in the same class."
    )
    box = f"-20 -20 {GRID + 40} {GRID + 40}"
    return wrap_figure(box, None, parts, panel["title"], text, kind="panel")


def draw_seeds(distributions: Sequence[Facts]) -> Markup:
    """Draw the accuracy of every seed as a dot, and the paper's figure as a line, a row a method."""
    left, width, step, top = 540, 1100, 26, 26
    height = top + step * len(distributions) + 12
    values = [v for d in distributions for v in (*d["values"], d["paper"])]
    low, high = max(min(values) - 0.03, 0.0), min(max(values) + 0.03, 1.0)

    def x(value: float) -> float:
        share: float = (value - low) / (high - low)
        return left + (width - left - 20) * share

    parts = []
    tick = 0.1 if high - low > 0.35 else 0.05
    for i in range(math.ceil(low / tick), math.floor(high / tick) + 1):
        at = x(i * tick)
        parts.append(f'<path class="grid" d="M{at:.1f} {top - 8}V{height - 10}"/>')
        parts.append(write_text(at, top - 12, f"{i * tick:.2f}", "middle"))
    for i, d in enumerate(distributions):
        y = top + step * (i + 0.5)
        parts.append(
            write_text(left - 14, y + 4, f"{d['data']}: {d['label']}, {d['protocol']}", "end")
        )
        parts.append(f'<path class="paper" d="M{x(d["paper"]):.1f} {y - 9:.1f}v18"/>')
        parts += [
            f'<circle class="seed" cx="{x(v):.1f}" cy="{y:.1f}" r="4.5"/>' for v in d["values"]
        ]
    text = "One dot a seed; the upright line is the figure that the paper prints."
    return wrap_figure(width, height, parts, "Accuracy over seeds", text, kind="wide")


def draw_growth(
    curves: Sequence[Facts], *, title: str, x_title: str, text: str, kind: str = "wide"
) -> Markup:
    """Draw seconds against size, both axes logarithmic; each curve is named at its end."""
    width, height = (900, 420) if kind == "wide" else (440, 330)
    left, right, top, bottom = 52, 250 if kind == "wide" else 122, 14, 46
    points = [(p["x"], max(p["y"], 1e-4)) for curve in curves for p in curve["points"]]
    xs, ys = ([math.log10(v) for v in values] for values in zip(*points, strict=True))
    x_low, x_high, y_low, y_high = min(xs), max(xs), math.floor(min(ys)), math.ceil(max(ys))
    y_high = max(y_high, y_low + 1)

    def place(x: float, y: float) -> tuple[float, float]:
        across = (math.log10(x) - x_low) / ((x_high - x_low) or 1.0)
        up = (math.log10(max(y, 1e-4)) - y_low) / (y_high - y_low)
        return left + (width - left - right) * across, top + (height - top - bottom) * (1 - up)

    parts = []
    for power in range(y_low, y_high + 1):
        at = place(10**x_low, 10.0**power)[1]
        parts.append(f'<path class="grid" d="M{left} {at:.1f}H{width - right}"/>')
        parts.append(write_text(left - 8, at + 4, _seconds(power), "end"))
    for value in sorted({p[0] for p in points}):
        at = place(value, 1.0)[0]
        parts.append(f'<path class="grid" d="M{at:.1f} {height - bottom}v5"/>')
        parts.append(write_text(at, height - bottom + 19, _short(value), "middle"))
    parts.append(write_text((left + width - right) / 2, height - 8, x_title, "middle"))
    labels = []
    for i, curve in enumerate(curves):
        spots = [place(p["x"], p["y"]) for p in curve["points"]]
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in spots)
        parts.append(f'<path class="curve k{i}" d="M{path}"/>')
        parts += [f'<circle class="k{i}" cx="{x:.1f}" cy="{y:.1f}" r="3.5"/>' for x, y in spots]
        slope = "" if curve["slope"] is None else f", power {curve['slope']:.2f}"
        labels.append((spots[-1][1], i, spots[-1][0], f"{curve['title']}{slope}"))
    parts += _place_labels(labels, width - right + 12, height - bottom)
    return wrap_figure(width, height, parts, title, text, kind=kind)


def _place_labels(
    labels: list[tuple[float, int, float, str]], x: float, lowest: float
) -> list[str]:
    """Write names beside the ends of curves, moved apart where they would touch."""
    parts, before = [], -1e9
    ordered = sorted(labels)
    room = max(lowest - 15.0 * (len(ordered) - 1), 10.0)
    for rank, (y, i, end, text) in enumerate(ordered):
        at = max(min(y, room + 15.0 * rank), before + 15.0)
        before = at
        parts.append(f'<path class="leader" d="M{end + 5:.1f} {y:.1f}L{x - 3:.1f} {at:.1f}"/>')
        parts.append(f'<circle class="k{i}" cx="{x + 3:.1f}" cy="{at:.1f}" r="3.5"/>')
        parts.append(write_text(x + 11, at + 4, text, "start"))
    return parts


def _seconds(power: int) -> str:
    return f"{10.0**power:g} s"


def _short(value: float) -> str:
    return f"{value / 1000:g}k" if value >= 1000 else f"{value:g}"


def draw_digits(picture: Facts) -> Markup:
    """Show a sheet of digits, clean in the first line and noisier below."""
    levels = ", ".join(f"{level:g}" for level in picture["levels"][1:])
    text = f"Digits 0 to 9: as they are in the first line, then with {picture['noise']} noise: {levels}."
    return Markup(
        f'<img class="digits" width="560" height="224" alt="{escape(text)}" '
        f'src="data:image/png;base64,{escape(picture["png"])}">'
    )


def write_text(x: float, y: float, text: str, anchor: str, kind: str = "") -> str:
    """Write one piece of text of a figure."""
    marked = f' class="{kind}"' if kind else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{marked}>{escape(text)}</text>'


def wrap_figure(
    width: int | str, height: int | None, parts: list[str], title: str, text: str, *, kind: str = ""
) -> Markup:
    """Put the parts of a figure together, with a name and a description for those who cannot see it."""
    box = width if isinstance(width, str) else f"0 0 {width} {height}"
    return Markup(
        f'<svg class="figure {kind}" viewBox="{box}" role="img" '
        f'aria-label="{escape(title)}. {escape(text)}">'
        f"<title>{escape(title)}</title><desc>{escape(text)}</desc>{''.join(parts)}</svg>"
    )
