"""All methods on all data sets that are here, without labels: lines, and what the docs show of them.

python -m benchmarks.field [--seeds N] [--seconds S] [--limit S] [--only METHOD] [--again METHOD]
                           [--draw]

Goes on from the lines of ``results/field.jsonl``; ``--only MLRSSC`` runs no other method, and ``--again
LMVSC`` runs one anew, whatever lines it has. A fit that ``--limit`` stopped is tried again with a
higher one. ``--draw`` runs nothing, and writes ``docs/guides/methods.inc``,
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
from manyview.wording import count

LINES = RESULTS / "field.jsonl"
METHODS = (
    "LMVSC", "LMVSC-released", "LMVSC-paper", "KMeans", "SpectralKNN", "UMAPKMeans", "LSC", "FastMICE",
    "AIMC", "SMVSC", "FPMVS", "OMSC", "EOMSC", "IMVCCBG", "AMGL", "SSCOMP", "E3SC", "MSCIAS", "MLRSSC",
    "SubspaceMVSC",
)  # fmt: skip
SETS = (
    "3sources", "msrcv1", "bbcsport", "prokaryotic", "reuters600", "reuters1200", "leaves100", "digits",
    "handwritten", "bdgp2", "wikipedia", "acm", "citeseq_pbmc10x", "citeseq_gse100866", "scene15",
    "aloi100", "hdigit", "adt13", "mnist", "covtype", "tdt2",
)  # fmt: skip
MOST_ROWS = 2000
MOST_SECONDS = 3000.0
MOST_BYTES = 8 * 2**30
_COLUMNS = 10  # of a table that a page has room for
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
        f"{_range(min(filter(None, counts)), max(counts))} (``benchmarks/results/field.jsonl``). The "
        "rule behind LMVSC's defaults was chosen on these sets, an advantage that it will not have "
        "elsewhere.\n\n"
    )
    if absent := [f"``{name}``" for name in SETS if name not in some.data]:
        yield f"Left out, because not every method was run on them: {', '.join(absent)}.\n\n"
    yield (
        "Methods other than LMVSC take columns as they are, standardise them or scale rows to unit "
        "length, as their authors do. On counts of words the last does best; ``manyview bench --tuned`` "
        "lets labels choose. SSCOMP and E3SC see the first view alone.\n\n"
    )
    yield from describe_ranks(some)
    yield "Every set, methods by their mean rank:\n"
    ordered = some.ranking().methods
    for first in range(0, len(ordered), _COLUMNS):
        part = some.select(ordered[first : first + _COLUMNS], some.data)
        *rows, _, _ = part.table().splitlines()  # means and ranks stand above
        yield "\n.. code-block:: text\n\n" + "".join(f"   {line}\n" for line in rows)
    yield from describe_missing(some)


def _range(least: int, most: int) -> str:
    return count(most, "seed") if least == most else f"{least} to {most} seeds"


def describe_ranks(some: Results) -> Iterator[str]:
    """Mean ranks as a table, the test, and the picture."""
    ranking, means = some.ranking(), some.means()
    best = [some.methods[int(np.nanargmax(row))] for row in means]
    rows = []
    for name, rank in zip(ranking.methods, ranking.ranks, strict=True):
        own = means[:, some.methods.index(name)]
        n_results = int(np.isfinite(own).sum())
        mean = f"{own.mean():.3f}" if n_results == len(own) else "–"
        rows.append([name, f"{rank:.2f}", mean, str(n_results), str(best.count(name))])
    header = ["method", "mean rank", "mean NMI", "sets with a result", "sets where it is best"]
    yield list_table(header, rows)
    yield (
        "\nOn a set without a result a method counts as last, so that its rank says what it costs as "
        "much as what it finds, and its mean NMI is not shown.\n\n"
        f"Friedman's test: p = {ranking.p_value:.1g}. Mean ranks that differ by less than "
        f"{ranking.critical_difference:.2f} cannot be told apart (Nemenyi, 5 %).\n\n"
        ".. image:: /_static/ranks.png\n"
        "   :alt: Mean ranks of the methods, with bars over those that cannot be told apart\n\n"
    )


def describe_missing(some: Results) -> Iterator[str]:
    """Which methods have no result where, and why; reasons that differ after a name's quote are one."""
    for method in some.methods:
        kinds: dict[str, dict[str, str]] = {}
        for data in some.data:
            if why := some.figure(method, data).why:
                kinds.setdefault(why.split("'")[0], {})[data] = why
        for found in kinds.values():
            sets = ", ".join(f"``{data}``" for data in found)
            why = next(iter(found.values())).split(";")[0]
            yield f"\nNo result of {method} on {sets}: {why[:150]}.\n"
    yield "\nSeconds are by the clock of a machine that had other work to do.\n"


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
    parser.add_argument("--limit", type=float, default=MOST_SECONDS, help="most seconds of a fit")
    parser.add_argument("--only", action="append", default=[], help="run only this method")
    parser.add_argument("--again", action="append", default=[], help="run only this method, anew")
    parser.add_argument("--draw", action="store_true", help="only write the tables and the picture")
    chosen = parser.parse_args(arguments)
    if not chosen.draw:
        found = compare(
            chosen.only + chosen.again or list(METHODS), list(SETS), seeds=chosen.seeds,
            results=LINES, again=chosen.again, max_rows=MOST_ROWS, max_seconds=chosen.limit,
            memory_limit=MOST_BYTES, total_seconds=chosen.seconds, tell=print,
        )  # fmt: skip
        print(found)
    draw()


if __name__ == "__main__":
    main()
