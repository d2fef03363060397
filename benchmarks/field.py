"""All methods on all data sets that are here, without labels: lines, and what the docs show of them.

python -m benchmarks.field [--seeds N] [--seconds S] [--again METHOD] [--draw]

Goes on from the lines of ``results/field.jsonl``; ``--again LMVSC`` runs a method anew, whatever lines
it has, and no other. ``--draw`` runs nothing, and writes ``docs/guides/methods.inc``,
``docs/guides/traps.inc`` and ``docs/_static/ranks.png`` from the lines of this benchmark and of
``benchmarks.successors``.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.record import RESULTS, ROOT
from manyview.bench import Results, compare
from manyview.bench.methods import names
from manyview.wording import count

LINES = RESULTS / "field.jsonl"
METHODS = (
    "LMVSC", "LMVSC-released", "KMeans", "SpectralKNN", "LSC", "FastMICE", "AIMC", "SMVSC", "FPMVS",
    "OMSC", "EOMSC", "IMVCCBG", "AMGL",
)  # fmt: skip
SETS = (
    "3sources", "msrcv1", "bbcsport", "prokaryotic", "reuters600", "reuters1200", "leaves100", "digits",
    "handwritten", "bdgp2", "wikipedia", "acm", "citeseq_pbmc10x", "citeseq_gse100866", "scene15",
    "aloi100", "hdigit", "adt13", "mnist", "covtype", "tdt2",
)  # fmt: skip
MOST_ROWS = 2000
MOST_SECONDS = 3000.0
MARK = "..\n   Written by ``python -m benchmarks.field --draw``; do not edit.\n\n"


def whole(results: Results) -> Results:
    """Only data sets that every method was tried on, so that ranks can be compared."""
    tried = {(line["method"], line["data"]["name"]) for line in results.lines}
    kept = [name for name in SETS if all((method, name) in tried for method in METHODS)]
    return results.select(METHODS, kept)


def describe(results: Results) -> Iterator[str]:
    """The page's part with figures, in reStructuredText."""
    some = whole(results)
    counts = [len(some.figure(m, d).values) for m in some.methods for d in some.data]
    yield (
        f"NMI on {len(some.data)} data sets, at most {MOST_ROWS} shuffled rows of each, given the "
        "number of classes and nothing else; every method with its own defaults, "
        f"{_range(min(counts), max(counts))} (``benchmarks/results/field.jsonl``). The rule behind "
        "LMVSC's defaults was chosen on these sets, an advantage that it will not have elsewhere.\n\n"
    )
    if absent := [f"``{name}``" for name in SETS if name not in some.data]:
        yield f"Left out, because not every method was run on them: {', '.join(absent)}.\n\n"
    others = [name for name in names() if name not in METHODS]
    yield (
        "Methods other than LMVSC take columns as they are or standardise them, as their authors do; on "
        "counts of words that does them no good, and ``manyview bench --tuned`` lets labels choose "
        f"better. Not run: {', '.join(others)}.\n\n"
    )
    yield from describe_ranks(some)
    yield "Every set:\n\n.. code-block:: text\n\n"
    yield "".join(f"   {line}\n" for line in some.table().splitlines())
    for data in some.data:
        for method in some.methods:
            if why := some.figure(method, data).why:
                yield f"\nNo result of {method} on ``{data}``: {why[:150]}.\n"


def _range(least: int, most: int) -> str:
    return count(most, "seed") if least == most else f"{least} to {most} seeds"


def describe_ranks(some: Results) -> Iterator[str]:
    """Mean ranks as a table, the test, and the picture."""
    ranking, means = some.ranking(), some.means()
    average = dict(zip(some.methods, np.nanmean(means, axis=0), strict=True))
    best = [some.methods[int(np.nanargmax(row))] for row in means]
    rows = [
        [name, f"{rank:.2f}", f"{average[name]:.3f}", str(best.count(name))]
        for name, rank in zip(ranking.methods, ranking.ranks, strict=True)
    ]
    yield list_table(["method", "mean rank", "mean NMI", "sets where it is best"], rows)
    yield (
        f"\nFriedman's test: p = {ranking.p_value:.1g}. Mean ranks that differ by less than "
        f"{ranking.critical_difference:.2f} cannot be told apart (Nemenyi, 5 %).\n\n"
        ".. image:: /_static/ranks.png\n"
        "   :alt: Mean ranks of the methods, with bars over those that cannot be told apart\n\n"
    )


def describe_traps(lines: Sequence[dict[str, Any]]) -> str:
    """Figures of benchmarks.successors, those of the last run of each case."""
    last = {line["case"]: line for line in lines}
    rows = [
        [
            case,
            f"{line['figure']:.3f}",
            f"{line['nmi']:.3f}",
            f"{line['lowest']:.3f} to {line['highest']:.3f}",
            "" if line["published"] is None else "{:.3f}".format(line["published"][0]),
        ]
        for case, line in last.items()
    ]
    return list_table(["Handwritten", "accuracy", "NMI", "lowest to highest", "to meet"], rows)


def list_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in reStructuredText."""
    text = ".. list-table::\n   :header-rows: 1\n\n"
    for row in (header, *rows):
        text += "".join(f"   {'* -' if not i else '  -'} {cell}\n" for i, cell in enumerate(row))
    return text


def draw(lines: Path = LINES, folder: Path = ROOT / "docs") -> None:
    """Write what the documentation shows, from the lines that there are."""
    results = Results.from_file(lines)
    published = (RESULTS / "successors.jsonl").read_text(encoding="utf-8").splitlines()
    texts = {
        "methods.inc": "".join(describe(results)),
        "traps.inc": describe_traps([json.loads(line) for line in published]),
    }
    for name, text in texts.items():
        path = folder / "guides" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(MARK + text, encoding="utf-8")
    whole(results).draw_ranks(folder / "_static" / "ranks.png")


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.field", description=__doc__)
    parser.add_argument("--seeds", type=int, default=5, help="fits of each method on each set")
    parser.add_argument("--seconds", type=float, help="start no fit after so long")
    parser.add_argument("--again", action="append", default=[], help="run only this method, anew")
    parser.add_argument("--draw", action="store_true", help="only write the tables and the picture")
    chosen = parser.parse_args(arguments)
    if not chosen.draw:
        found = compare(
            chosen.again or list(METHODS), list(SETS), seeds=chosen.seeds, results=LINES,
            again=chosen.again, max_rows=MOST_ROWS, max_seconds=MOST_SECONDS,
            total_seconds=chosen.seconds, tell=print,
        )  # fmt: skip
        print(found)
    draw()


if __name__ == "__main__":
    main()
