"""Pages made from scripts: run an example, and keep what it prints and draws.

``python docs/gallery.py [NAME ...]`` runs ``examples/NAME.py``, all of them by default, and writes
``docs/gallery/NAME.rst`` with its code, its output and its figures, which are kept in the repository:
building the documentation needs neither data nor hours. The tutorial is such a page, too. ``--text``
runs nothing, and only renews the text of all pages.

A script starts with a docstring, title first. A line ``# %%`` starts a part: comment lines that follow
are its text, in reStructuredText. Figures get their description from ``plt.subplots(num="...")``.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path
from typing import Any, NamedTuple

from console import Session

DOCS = Path(__file__).parent
EXAMPLES = DOCS.parent / "examples"
KEPT = DOCS / "gallery"
MARK = "..\n   Written by ``make gallery`` from ``examples/{name}.py``; do not edit.\n\n"
_OUTPUT = re.compile(
    r"(?:\.\. code-block:: none\n\n((?: +.*\n|\n)+))?((?:\.\. image:: /gallery.*\n.*\n\n)*)"
)


class Part(NamedTuple):
    """Some text of a page and the code below it; either may be empty."""

    text: str
    code: str


def find_examples() -> list[Path]:
    """The scripts that have a page; those that make a file have none."""
    return sorted(path for path in EXAMPLES.glob("*.py") if not path.name.startswith("make_"))


def page_of(example: Path) -> Path:
    """Where the page of an example is kept."""
    return (DOCS if example.stem == "tutorial" else KEPT) / f"{example.stem}.rst"


def read_parts(source: str) -> list[Part]:
    """The docstring of a script and what comes after it, divided at lines ``# %%``."""
    source = re.sub(
        r" *# fmt: skip$", "", source, flags=re.MULTILINE
    )  # only the formatter reads it
    head = re.match(r'"""\n?(.*?)"""\n', source, re.DOTALL)
    parts = []
    for i, piece in enumerate(re.split(r"^# %%.*\n", source[head.end() :], flags=re.MULTILINE)):
        text = re.match(r"(?:#.*\n)*", piece)[0] if i else ""
        prose = "\n".join(line[2:] for line in text.splitlines())
        parts.append(Part(head[1].strip() if i == 0 else prose, piece[len(text) :].strip("\n")))
    return parts


def run_parts(parts: list[Part], folder: Path) -> list[tuple[str, list[Any]]]:
    """What each part prints, and the figures it leaves open, when run in an empty folder."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    plt.close("all")  # what others left open is none of its figures
    session, found = Session(folder), []
    for part in parts:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            session.run_python(part.code, name="example")
        found.append((printed.getvalue().rstrip(), [plt.figure(n) for n in plt.get_fignums()]))
        plt.close("all")
    return found


def show_block(language: str, text: str) -> str:
    return f".. code-block:: {language}\n\n{textwrap.indent(text, '   ')}\n\n" if text else ""


def compose(name: str, parts: list[Part], results: list[tuple[str, list[str]]]) -> str:
    """The page: text, code, output and figures (their descriptions) of every part."""
    page, n_figures = MARK.format(name=name), 0
    for part, (printed, figures) in zip(parts, results, strict=True):
        page += part.text + "\n\n" if part.text else ""
        page += show_block("python", part.code) + show_block("none", printed)
        for description in figures:
            n_figures += 1
            page += f".. image:: /gallery/{name}-{n_figures}.png\n   :alt: {description}\n\n"
    return page.rstrip() + "\n"


def read_results(page: str, parts: list[Part]) -> list[tuple[str, list[str]]]:
    """What a kept page says that these parts print and draw; a ValueError if their code is another."""
    found, place, page = [], 0, page + "\n"
    for part in parts:
        block = show_block("python", part.code)
        place = page.index(block, place) + len(block)
        printed, figures = _OUTPUT.match(page, place).groups() if block else (None, "")
        text = re.sub(r"^   ", "", printed or "", flags=re.MULTILINE).strip("\n")
        found.append((text, re.findall(r":alt: (.*)", figures)))
    return found


def save_figure(figure: Any, path: Path) -> None:
    """A small picture: few colours are enough for charts."""
    from PIL import Image

    with io.BytesIO() as buffer:
        figure.savefig(buffer, dpi=120, facecolor="white", format="png")
        Image.open(buffer).convert("RGB").quantize(256).save(path, optimize=True)


def record(example: Path) -> None:
    """Run an example, and write its page and its figures."""
    parts = read_parts(example.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as name:
        results = run_parts(parts, Path(name) / "work")
    for old in KEPT.glob(f"{example.stem}-[0-9]*.png"):
        old.unlink()
    figures = [figure for _, made in results for figure in made]
    for i, figure in enumerate(figures, start=1):
        save_figure(figure, KEPT / f"{example.stem}-{i}.png")
    described = [
        (printed, [f.get_label() or part.text.split(".")[0].replace("\n", " ") for f in made])
        for part, (printed, made) in zip(parts, results, strict=True)
    ]
    page_of(example).write_text(compose(example.stem, parts, described), encoding="utf-8")
    print(f"{example.stem}: {sum(os.times()[:2]):.0f} s of CPU, {len(figures)} figures")


def main(names: list[str]) -> None:
    if names == ["--text"]:
        for path in find_examples():
            parts = read_parts(path.read_text(encoding="utf-8"))
            with contextlib.suppress(ValueError):  # its code is new: it has to run
                kept = read_results(page_of(path).read_text(encoding="utf-8"), parts)
                page_of(path).write_text(compose(path.stem, parts, kept), encoding="utf-8")
    elif len(names) == 1:
        record(EXAMPLES / f"{names[0]}.py")
    else:
        for name in names or [path.stem for path in find_examples()]:  # each in its own process
            subprocess.run([sys.executable, __file__, name], check=True)


if __name__ == "__main__":
    main(sys.argv[1:])
