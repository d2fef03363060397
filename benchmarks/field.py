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
from manyview.bench.ranks import Ranking
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
        f"{_range(min(filter(None, counts)), max(counts))} (``benchmarks/results/field.jsonl``). "
        "LMVSC's defaults were designed on these sets, an advantage that it will not have "
        "elsewhere.\n\n"
    )
    if absent := [f"``{name}``" for name in SETS if name not in some.data]:
        yield f"Left out, because not every method was run on them: {', '.join(absent)}.\n\n"
    yield (
        "Methods other than LMVSC use the columns as they are, standardise them or scale rows to unit "
        "length, as their authors do. The last works best on word counts; ``manyview bench --tuned`` "
        "lets the labels choose. SSCOMP and E3SC see only the first view.\n\n"
    )
    yield from describe_ranks(some)
    yield "NMI on every set, methods in the order of their mean rank, the best in bold:\n\n"
    yield list_table(*tabulate(some), style="field")
    yield from describe_missing(some)


def tabulate(some: Results) -> tuple[list[str], list[list[str]]]:
    """Header and rows of all figures: a row for each data set, a column for each method."""
    ordered = some.select(some.ranking().methods, some.data)
    rows = []
    for name, scores in zip(ordered.data, ordered.means(), strict=True):
        best = np.nanmax(scores)
        cells = ["–" if np.isnan(one) else f"{one:.3f}".removeprefix("0") for one in scores]
        marks = ["**" if one == best else "" for one in scores]
        rows.append([name, *(mark + cell + mark for mark, cell in zip(marks, cells, strict=True))])
    return ["data set", *ordered.methods], rows


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
        "\nWhere a method has no result, it ranks last, so its rank reflects what it costs as well as "
        "what it finds; its mean NMI is then not shown.\n\n"
        f"Friedman's test: p = {ranking.p_value:.1g}. Mean ranks that differ by less than "
        f"{ranking.critical_difference:.2f} are not significantly different (Nemenyi, 5 %)"
        f"{describe_leaders(ranking)}.\n\n"
        ".. image:: /_static/ranks.png\n"
        "   :alt: Mean ranks of the methods, with bars over those that do not differ significantly\n\n"
    )


def describe_leaders(ranking: Ranking) -> str:
    """How many methods the best one is significantly ahead of, and which it is not."""
    last = next((last for first, last in ranking.groups() if first == 0), 0)
    near = " and ".join(ranking.methods[1 : last + 1])
    behind = len(ranking.methods) - 1 - last
    return f": {ranking.methods[0]} is ahead of {behind} methods" + (
        f", not of {near}" * bool(near)
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
    yield "\nLimits are in seconds by the clock, on a machine that had other work to do.\n"


def describe_traps(lines: Sequence[dict[str, Any]]) -> str:
    """Figures of benchmarks.successors, those of the last run of each case."""
    last = {line["case"]: line for line in lines}
    rows = [
        [
            case,
            f"{line['figure']:.3f}",
            f"{line['nmi']:.3f}",
            f"{line['lowest']:.3f} to {line['highest']:.3f}",
            "" if "sweeps only" in case else compare_published(line),
        ]
        for case, line in last.items()
    ]
    return list_table(["Handwritten", "accuracy", "NMI", "lowest to highest", "to reproduce"], rows)


def compare_published(line: dict[str, Any]) -> str:
    """The accuracy to reproduce, if there is one, and whether it was missed."""
    if line["published"] is None:
        return ""
    return f"{line['published'][0]:.3f}" + ", **missed**" * (line["verdict"] == "miss")


def list_table(
    header: Sequence[str], rows: Sequence[Sequence[str]], *, title: str = "", style: str = ""
) -> str:
    """A table in reStructuredText."""
    text = f".. list-table:: {title}".rstrip() + "\n   :header-rows: 1\n"
    text += f"   :class: {style}\n" * bool(style) + "\n"
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
