"""Facts -> one HTML page that needs nothing but itself."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from manyview.explain.cautions import number, percent
from manyview.machine import whole_file
from manyview.report.layout import draw_points
from manyview.report.palette import choose_colours
from manyview.report.summary import FORMAT, Facts
from manyview.wording import bytes_in_words, seconds_in_words, visible

if TYPE_CHECKING:
    from manyview import LMVSC

_LIGHT = {"none": "#c4c9d0", "sure": "#cfdbea", "unsure": "#8a1538"}
_DARK = {"none": "#4a515b", "sure": "#33415a", "unsure": "#ffd75e"}
_N_LEVELS = 20
_CARD_ROWS = 20_000


def write_report(
    summary: dict[str, Any],
    path: str | os.PathLike[str],
    *,
    static: bool = False,
    force: bool = False,
) -> Path:
    """Write the page of a report.

    Parameters
    ----------
    summary : dict
        What :func:`manyview.report.build_summary` made, perhaps read again from JSON.
    path : path-like
        The file to write.
    static : bool, default=False
        Write a page without any script, whose map is a picture.
    force : bool, default=False
        Replace the file if it exists.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    FileExistsError
        If the file exists and ``force`` is not given.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from manyview import LMVSC, datasets
    >>> from manyview.report import build_summary, write_report
    >>> views = datasets.make_views(60, 2, (3, 4), random_state=0)
    >>> summary = build_summary(LMVSC(2, random_state=0).fit(views), views)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(summary, pathlib.Path(folder, "report.html")).name
    'report.html'
    """
    target = Path(path)
    if target.exists() and not force:
        raise FileExistsError(
            f"{str(target)!r} exists already. Choose another name, or replace it with force=True."
        )
    page = render_report(summary, static=static)
    with whole_file(target) as unfinished:
        unfinished.write_text(page, encoding="utf-8")
    return target


def render_report(summary: dict[str, Any], *, static: bool = False) -> str:
    """The page of a report as HTML; see :func:`write_report`.

    Everything that comes from the user (names, ids, labels) is escaped. A policy inside the page lets
    the browser run nothing but the page's own script, and fetch nothing at all.
    """
    if summary["format"] != FORMAT:
        raise ValueError(
            "The facts of this report are of another version of manyview. Fit again, with this one."
        )
    summary = _with_visible_text(summary)
    n_colours = count_colours(summary)
    style = read_template("style.css") + palette_rules(n_colours)
    script = "" if static else read_template("map.js")
    policy = ["default-src 'none'", f"style-src 'sha256-{digest(style)}'", "base-uri 'none'"]
    if script:
        policy.append(f"script-src 'sha256-{digest(script)}'")
    points = summary["map"]
    return _fill(
        "report.html",
        s=summary,
        style=Markup(style),
        script=Markup(script),
        policy="; ".join(policy),
        data=None if static or points is None else _as_json(_pack_map(summary, n_colours)),
        picture=None if points is None else draw_points(points, summary["n_clusters"]),
        static=static,
    )


def _with_visible_text(value: Any) -> Any:
    """The same facts, control characters and those that turn text around shown as codes."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {_with_visible_text(key): _with_visible_text(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)([_with_visible_text(item) for item in value])
    return value


def show_card(model: LMVSC) -> str:
    """A fitted model as HTML for a notebook, without any script; it costs milliseconds."""
    facts = Facts(model, shown_rows=_CARD_ROWS).overview()
    facts |= {"name": type(model).__name__, "seconds": float(sum(model.stage_seconds_.values()))}
    style = read_template("card.css") + palette_rules(count_colours(facts), ".mv-card")
    return _fill("card.html", s=facts, style=Markup(style))


def read_template(name: str) -> str:
    """A style or script of the page, as it is."""
    return files("manyview.report").joinpath("templates", name).read_text(encoding="utf-8")


def _fill(template: str, **facts: Any) -> str:
    environment = make_environment()
    figures = environment.get_template("figures.html").module
    return environment.get_template(template).render(figures=figures, **facts)


def count_colours(summary: dict[str, Any]) -> int:
    """How many colours a page needs."""
    named = [len(colour["names"]) for colour in (summary.get("map") or {}).get("colours", [])]
    return max([int(summary["n_clusters"]), *named, 1])


@cache
def make_environment(package: str = "manyview.report") -> Environment:
    """What fills in the templates of a package, or else the report's own."""
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package), PackageLoader("manyview.report")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "number": number,
        "percent": percent,
        "score": lambda value: "–" if value is None else f"{value:.2f}",
        "value": _format_value,
        "bytes": bytes_in_words,
        "seconds": seconds_in_words,
        "px": lambda value: f"{value:.1f}",
        "share": lambda value: min(max(value, 0.0), 1.0),
        "level": lambda value: round(_N_LEVELS * min(max(value, 0.0), 1.0)),
        "plural": lambda n, word: f"{number(n)} {word}{'' if n == 1 else 's'}",
    }
    return environment


def palette_rules(n_colours: int, within: str = ":root") -> str:
    """The classes k0, k1, ... that set the colour of a cluster, for light and dark paper."""

    def rules(prefix: str, colours: tuple[str, ...]) -> str:
        return "".join(f"{prefix} .k{i}{{--c:{c}}}" for i, c in enumerate(colours))

    light, dark = choose_colours(n_colours), choose_colours(n_colours, dark=True)
    if within != ":root":
        return rules(within, light)
    return (
        rules(":root", light)
        + "@media screen and (prefers-color-scheme:dark){"
        + rules(':root:not([data-theme="light"])', dark)
        + "}@media screen{"
        + rules(':root[data-theme="dark"]', dark)
        + "}"
    )


def _pack_map(summary: dict[str, Any], n_colours: int) -> dict[str, Any]:
    """The map's points as the page's script wants them."""
    points = summary["map"]

    def pack(values: Any, kind: str) -> str:
        return base64.b64encode(np.asarray(values, dtype=kind).tobytes()).decode("ascii")

    clusters = [str(c) for c in range(summary["n_clusters"])]
    packed = pack(points["cluster"], "<i2")
    colours: list[dict[str, Any]] = [
        {"kind": "cluster", "name": "cluster", "prefix": "cluster", "names": clusters, "codes": packed},
        {"kind": "confidence", "name": "confidence", "prefix": "", "names": [], "codes": ""},
    ]  # fmt: skip
    for colour in points["colours"]:
        prefix = f"{colour['name']} cluster" if colour["kind"] == "view" else ""
        colours.append({**colour, "prefix": prefix, "codes": pack(colour["codes"], "<i2")})
    thousandths: npt.NDArray[Any] = np.rint(1000 * np.asarray(points["confidence"]))
    return {
        "n": len(points["x"]),
        "x": pack(points["x"], "<u2"),
        "y": pack(points["y"], "<u2"),
        "row": pack(points["row"], "<u4"),
        "cluster": packed,
        "second": pack(points["second"], "<i2"),
        "confidence": pack(thousandths, "<u2"),
        "id": points["id"],
        "colours": colours,
        "light": {"palette": choose_colours(n_colours), **_LIGHT},
        "dark": {"palette": choose_colours(n_colours, dark=True), **_DARK},
    }


def _as_json(value: Any) -> Markup:
    """JSON that no HTML parser can take for the end of its script element."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)


def digest(text: str) -> str:
    """What a content security policy knows a style or script by."""
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")


def _format_value(value: float) -> str:
    if 1000 <= abs(value) < 1e6:
        return number(value)
    return f"{value:.3g}".replace("e+0", "e").replace("e-0", "e-")
