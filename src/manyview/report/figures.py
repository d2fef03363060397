"""Small figures as SVG: text stays text, colours come from the page's classes, no script."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup, escape

from manyview.report.layout import GRID
from manyview.report.samples import choose_balanced

_STATIC_POINTS = 5_000


def draw_spectrum(spectrum: dict[str, Any], n_clusters: int) -> Markup:
    """Draw the squared singular values as stems, with the largest gap marked."""
    values, suggested = spectrum["values"], spectrum["suggested"]
    width, height, left, bottom, top = 720, 260, 46, 34, 18
    span = height - bottom - top
    step = (width - left - 16) / max(len(values), 1)
    highest = float(max([*values, 1e-12]))

    def x(i: int) -> float:
        return left + step * (i + 0.5)

    def y(value: float) -> float:
        return top + span * (1 - value / highest)

    parts = []
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        at = y(share * highest)
        parts.append(f'<path class="grid" d="M{left} {at:.1f}H{width - 16}"/>')
        parts.append(write_text(left - 8, at + 4, f"{share * highest:.2f}", "end"))
    if suggested is not None and suggested < len(values):
        parts.append(
            f'<rect class="gap" x="{x(suggested - 1):.1f}" y="{top}" width="{step:.1f}" '
            f'height="{span}" rx="3"/>'
        )
        middle = (x(suggested - 1) + x(suggested)) / 2
        anchor = "end" if middle > width - 150 else "start" if middle < 150 else "middle"
        parts.append(
            write_text(middle, top - 5, f"largest gap, after {suggested}", anchor, "strong")
        )
    every = max(len(values) // 24, 1)
    for i, value in enumerate(values):
        kind = "stem" if i < n_clusters else "stem beyond"
        parts.append(f'<path class="{kind}" d="M{x(i):.1f} {y(0):.1f}V{y(value):.1f}"/>')
        parts.append(f'<circle class="{kind}" cx="{x(i):.1f}" cy="{y(value):.1f}" r="4"/>')
        if (i + 1) % every == 0 or i + 1 == n_clusters:
            parts.append(
                write_text(
                    x(i), height - 14, str(i + 1), "middle", "strong" if i + 1 == n_clusters else ""
                )
            )
    title = "Squared singular values of the fused graph"
    where = f"The largest gap comes after value {suggested}." if suggested else ""
    return wrap_figure(width, height, parts, title, f"{len(values)} values, descending. {where}")


def draw_histogram(histogram: dict[str, Any], unsure_below: float) -> Markup:
    """Draw how many points have which sureness; the unsure ones are marked."""
    counts, edges = histogram["counts"], histogram["edges"]
    width, height, bottom, top = 460, 150, 26, 6
    span = height - bottom - top
    step = (width - 20) / len(counts)
    highest = max(max(counts), 1)
    parts = []
    for i, count in enumerate(counts):
        size = span * count / highest
        kind = "bar unsure" if edges[i + 1] <= unsure_below + 1e-9 else "bar"
        parts.append(
            f'<rect class="{kind}" x="{10 + i * step + 1:.1f}" y="{top + span - size:.1f}" '
            f'width="{step - 2:.1f}" height="{size:.1f}"/>'
        )
    parts.append(f'<path class="axis" d="M10 {top + span}H{width - 10}"/>')
    for value in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0):
        x = 10 + value * (width - 20)
        anchor = "start" if value == 0 else "end" if value == 1 else "middle"
        parts.append(write_text(x, height - 8, f"{value:.1f}", anchor))
    return wrap_figure(
        width,
        height,
        parts,
        "Sureness of the points",
        "Number of points by sureness, 0 to 1.",
        kind="narrow",
    )


def draw_sizes(clusters: Sequence[dict[str, Any]]) -> Markup:
    """Draw the clusters' sizes as one bar, in the clusters' colours."""
    width, height = 1000, 34
    total = sum(cluster["size"] for cluster in clusters) or 1
    parts, at = [], 0.0
    for cluster in clusters:
        size = width * cluster["size"] / total
        if size <= 0:
            continue
        number = cluster["cluster"]
        parts.append(
            f'<rect class="k{number}" x="{at:.2f}" width="{max(size - 1.5, 0.5):.2f}" '
            f'height="12" rx="2"/>'
        )
        if size > 9 * len(str(number)) + 4:
            parts.append(write_text(at + size / 2 - 0.75, 29, str(number), "middle"))
        at += size
    return wrap_figure(
        width, height, parts, "Sizes of the clusters", "One bar, divided by the clusters' sizes."
    )


def draw_range(sureness: dict[str, float] | None) -> Markup:
    """Draw one cluster's sureness: from the tenth to the ninetieth percentile, and the median."""
    if sureness is None:
        return Markup("")
    low, middle, high = (
        4 + 92 * min(max(sureness[key], 0.0), 1.0) for key in ("low", "median", "high")
    )
    return Markup(
        '<svg class="spark" viewBox="0 0 100 14" aria-hidden="true" focusable="false">'
        '<path class="rail" d="M4 7H96"/>'
        f'<path class="span" d="M{low:.1f} 7H{high:.1f}"/>'
        f'<circle cx="{middle:.1f}" cy="7" r="4.2"/></svg>'
    )


def draw_bar(share: float, *, kind: str = "") -> Markup:
    """Draw a bar that fills this share of its cell; negative ones to the left of the middle."""
    if kind == "signed":
        size = 50 * min(abs(share), 1.0)
        x = 50 - size if share < 0 else 50
        body = '<path class="rail" d="M50 0V12"/>'
        body += f'<rect x="{x:.1f}" y="2" width="{size:.1f}" height="8"/>'
    else:
        body = f'<rect y="2" width="{100 * min(max(share, 0.0), 1.0):.1f}" height="8" rx="1.5"/>'
    return Markup(
        f'<svg class="bar {escape(kind)}" viewBox="0 0 100 12" preserveAspectRatio="none" '
        f'aria-hidden="true" focusable="false">{body}</svg>'
    )


def draw_map(points: dict[str, Any], n_clusters: int) -> Markup:
    """Draw the map without a script: at most 5000 points, one path for each cluster."""
    import numpy as np

    labels = np.asarray(points["cluster"])
    rows = choose_balanced(labels, _STATIC_POINTS, np.random.default_rng(0))
    scale = 1000 / GRID
    xs = (np.asarray(points["x"])[rows] * scale).round().astype(int) + 20
    ys = 1020 - (np.asarray(points["y"])[rows] * scale).round().astype(int)
    low, high = int(ys.min()) - 20, int(ys.max()) + 20
    left, right = int(xs.min()) - 20, int(xs.max()) + 20
    size = min(max(300 / np.sqrt(len(rows)), 4), 11)
    parts, names = [], []
    for cluster in range(n_clusters):
        mine = labels[rows] == cluster
        if not mine.any():
            continue
        path = "".join(f"M{x} {y}h0" for x, y in zip(xs[mine], ys[mine], strict=True))
        parts.append(f'<path class="points k{cluster}" stroke-width="{size:.1f}" d="{path}"/>')
        x, y = np.median(xs[mine]), np.median(ys[mine])
        at = np.argmin((xs[mine] - x) ** 2 + (ys[mine] - y) ** 2)
        if n_clusters <= 40:
            names.append(write_text(xs[mine][at], ys[mine][at] + 8, str(cluster), "middle", "tag"))
    box = f"{left} {low} {right - left} {high - low}"
    described = (
        f"{len(rows)} points, coloured by cluster; each cluster's number stands in its middle."
    )
    return wrap_figure(box, None, parts + names, "Map of the embedding", described, kind="map")


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
