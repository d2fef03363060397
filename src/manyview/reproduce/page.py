"""Facts -> one HTML page that needs nothing but itself, and the same as Markdown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from markupsafe import Markup

from manyview.machine import whole_file
from manyview.report.render import digest, make_environment, palette_rules
from manyview.reproduce import drawings
from manyview.reproduce.evidence import figure
from manyview.reproduce.figures import SENSITIVE_SCORES
from manyview.reproduce.plan import MADE
from manyview.reproduce.tables import SCORES, Facts

PAGE, TEXT = "reproduce.html", "reproduce.md"
_MOST_COLOURS = 12  # of the classes of a panel, or the curves of a figure


def write_pages(facts: Facts, folder: Path) -> list[Path]:
    """Write the page and its Markdown to a folder, and say where they are."""
    paths = [folder / PAGE, folder / TEXT]
    for path, text in zip(paths, (render_page(facts), render_markdown(facts)), strict=True):
        with whole_file(path) as unfinished:
            unfinished.write_text(text, encoding="utf-8")
    return paths


def render_page(facts: Facts) -> str:
    """The page as HTML: no script, nothing fetched, everything escaped."""
    environment = make_environment("manyview.reproduce")
    source = environment.loader.get_source  # type: ignore[union-attr]
    parts = [source(environment, name)[0] for name in ("style.css", "reproduce.css")]
    style = "".join(parts) + palette_rules(_MOST_COLOURS)
    policy = ["default-src 'none'", f"style-src 'sha256-{digest(style)}'", "img-src data:"]
    return environment.get_template("reproduce.html").render(
        f=facts, style=Markup(style), policy="; ".join([*policy, "base-uri 'none'"]), **_helpers()
    )


def render_markdown(facts: Facts) -> str:
    """The same as Markdown."""
    environment = make_environment("manyview.reproduce").overlay(autoescape=False)
    text = environment.get_template("reproduce.md").render(f=facts, **_helpers())
    return text.strip() + "\n"


def _helpers() -> dict[str, Any]:
    return {
        "drawings": drawings,
        "scores": SCORES,
        "sensitive": SENSITIVE_SCORES,
        "MADE": MADE,
        "printed_scores": ("accuracy", "nmi", "inverse_purity"),
        "mean": figure,
        "best": lambda summary: (
            "–" if not summary or summary["n"] < 2 else f"{summary['best']:.3f}"
        ),
        "heat": _heat,
        "short": lambda text: text if len(text) < 200 else f"{text[:200]}…",
    }


def _heat(grid: Facts, score: str, m: int, alpha: float) -> dict[str, Any] | None:
    """A point of a grid and its level among the grid's values, from 0 to 1."""
    points = {(point["n_anchors"], point["alpha"]): point for point in grid["points"]}
    point = points.get((m, alpha))
    if point is None:
        return None
    low, high = (f(each[score] for each in grid["points"]) for f in (min, max))
    share = (point[score] - low) / ((high - low) or 1.0)
    return {"value": point[score], "share": share, "lines": point["lines"], "is_best": share == 1}
