"""Results as tables: text, Markdown or LaTeX."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from manyview.checks import check_option
from manyview.wording import align

if TYPE_CHECKING:
    from manyview.bench.results import Figure, Results

Cells = list[list[str]]
_NONE = {"text": "-", "markdown": "–", "latex": "--"}


def write_table(
    results: Results, score: str, *, protocol: str, kind: str, spread: bool = False
) -> str:
    """Data sets as rows, methods as columns, then the mean and the mean rank of each."""
    check_option("kind", kind, tuple(_WRITERS))
    methods = results.methods
    means = results.means(score, protocol)
    ranking = results.ranking(score, protocol)
    ranks = dict(zip(ranking.methods, ranking.ranks, strict=True))
    rows = [[score if protocol == "label-free" else f"{score}, {protocol}", *methods]]
    for name, values in zip(results.data, means, strict=True):
        best = np.nanmax(values) if np.isfinite(values).any() else np.nan
        figures = [results.figure(method, name, score, protocol) for method in methods]
        rows.append([name, *(_cell(each, best, kind, spread=spread) for each in figures)])
    with np.errstate(invalid="ignore"):
        # Over the data sets that all methods have a result on, so that means can be compared.
        shared = means[np.isfinite(means).all(axis=1)]
    averages = shared.mean(axis=0) if len(shared) else np.full(len(methods), np.nan)
    title = "mean" if len(shared) == len(means) else f"mean of {len(shared)}"
    rows.append([title, *(_number(value, kind) for value in averages)])
    rows.append(["rank", *(f"{ranks[method]:.2f}" for method in methods)])
    return _WRITERS[kind](rows)


def _number(value: float, kind: str) -> str:
    return f"{value:.3f}".removeprefix("0") if np.isfinite(value) else _NONE[kind]


def _cell(figure: Figure, best: float, kind: str, *, spread: bool) -> str:
    text = _number(figure.mean, kind)
    is_best = np.isfinite(best) and round(figure.mean, 3) == round(float(best), 3)
    if spread and figure.values:
        sign = {"text": "±", "markdown": " ± ", "latex": r" $\pm$ "}[kind]
        text += sign + f"{figure.spread:.3f}".removeprefix("0")
    if is_best and kind != "text":
        return f"**{text}**" if kind == "markdown" else rf"\textbf{{{text}}}"
    return text


def _text(rows: Cells) -> str:
    apart = [[f"{row[0]}  ", *row[1:]] for row in rows]
    return "\n".join(align(apart, right=range(1, len(rows[0]))))


def _markdown(rows: Cells) -> str:
    header, *body = ([cell.replace("|", "\\|") for cell in row] for row in rows)
    rule = ["---", *["---:"] * (len(header) - 1)]
    return "\n".join("| " + " | ".join(row) + " |" for row in (header, rule, *body))


_WORDS = {
    "~": "asciitilde", "^": "asciicircum", "\\": "backslash", "<": "less", ">": "greater", "|": "bar",
}  # fmt: skip
_SPECIAL = str.maketrans(
    {character: f"\\{character}" for character in "&%$#_{}"}
    | {character: rf"\text{word}{{}}" for character, word in _WORDS.items()}
    | {character: f"{{{character}}}" for character in "[*"}  # at the end of a row LaTeX reads on
)


def _latex(rows: Cells) -> str:
    def line(row: Sequence[str]) -> str:
        return " & ".join([row[0].translate(_SPECIAL), *row[1:]]) + r" \\"

    header = [rows[0][0], *(name.translate(_SPECIAL) for name in rows[0][1:])]
    return "\n".join(
        [
            rf"\begin{{tabular}}{{l{'r' * (len(header) - 1)}}}",
            r"\toprule",
            line(header),
            r"\midrule",
            *map(line, rows[1:-2]),
            r"\midrule",
            *map(line, rows[-2:]),
            r"\bottomrule",
            r"\end{tabular}",
        ]
    )


_WRITERS: dict[str, Callable[[Cells], str]] = {
    "text": _text,
    "markdown": _markdown,
    "latex": _latex,
}
