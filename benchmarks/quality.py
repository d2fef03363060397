"""Labels without labels: the defaults beside rivals that are told k and scaled as the labels like best.

python -m benchmarks.quality [--sets A,B,easy] [--draws FROM:TO] [--methods default,umap,...]
    [--seeds 0,1,2] [--again] [--quick] [--data FOLDER] [--results FOLDER]
python -m benchmarks.quality --summary [--commit C] [--against C] [--results FOLDER]

Every data set, method and seed is a line of quality.jsonl (easy draws: quality_easy.jsonl).
What has a line is not run again, but for our own methods when the code has changed (``--again``: in any
case), so a long run may be stopped, and made in parts. Rows are shuffled before every fit; of the
largest sets, 10 000 are drawn. ``--summary`` runs nothing: it prints tables of the lines there are, of
each of our methods those of one commit (its last, or C), beside those of another. The folder of
``--data`` holds ``NAME.npz`` files with ``view_0``, ``view_1``, ... (or CSR parts) and ``labels``. CPU
seconds are those of all threads; OMP_NUM_THREADS=1 makes them repeatable.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

from benchmarks import quality_summary
from benchmarks.easy import N_DRAWS, draw_easy
from benchmarks.quality_methods import METHODS, RIVALS
from benchmarks.record import RESULTS, Report, code_and_machine
from manyview import Views, datasets
from manyview.bench.cells import Cell
from manyview.bench.compute import Computer
from manyview.bench.data import Rows
from manyview.datasets.originals import read_one
from manyview.errors import DatasetNotFoundError

MOST_ROWS = {"mnist": 10_000, "covtype": 10_000, "adt13": 10_000}
"""Sets of which so many rows are drawn, other ones for every seed; NAME-whole is all of them."""
QUICK_ROWS = 2_100
SCORES = ("nmi", "accuracy", "ari")
Key = tuple[str, str, int]


class Sources(dict[str, Views]):
    """Data sets of the registry, files of the same format, and draws of the easy family."""

    def __init__(self, folder: Path | None = None) -> None:
        super().__init__()
        self.folder = folder

    def __missing__(self, name: str) -> Views:
        if name.startswith("easy-"):
            return draw_easy(int(name.removeprefix("easy-"))).views
        name = name.removesuffix("-whole")
        if self.folder is None or name in datasets.names():
            return datasets.load(name, download=False)
        raw = read_one(self.folder / f"{name}.npz")
        return Views(raw.arrays, target=raw.labels)


def measure(report: Report, computer: Computer, name: str, key: str, seed: int) -> None:
    """Add a line: every setting of a method on shuffled rows, and the best by the labels."""
    method, rows, tried = METHODS[key], Rows(name, MOST_ROWS.get(name), seed), {}
    for setting in method.tries:
        cell = Cell(rows, method.name, {"setting": setting}, seed)
        computer.prepare([cell])
        (found,) = computer.compute([cell])
        if found["status"] != "done":
            raise MemoryError(found["reason"])
        tried[setting] = {
            **{score: round(found["scores"][score], 4) for score in SCORES},
            "largest_share": round(found["largest_cluster"], 4),
            "n_found": found["n_found"],
            "cpu_seconds": round(found["cpu_seconds"], 3),
        }
    best, k = max(tried, key=lambda setting: tried[setting]["nmi"]), found["n_clusters"]
    report.add(
        f"{name}: {method.name}, seed {seed}", tried[best]["nmi"], seed=seed,
        data=name, method=key, settings=best, tried=tried, n_rows=found["n_rows"], n_clusters=k,
        note=f"ACC {tried[best]['accuracy']:.3f} found {tried[best]['n_found']} of {k} "
        f"{tried[best]['cpu_seconds']:.1f} s [{best}]",
    )  # fmt: skip


def has_line(lines: Sequence[dict[str, Any]]) -> set[Key]:
    """What need not be run again: rivals, and ours where it was measured with this very code."""
    now = code_and_machine()
    return {
        (line["data"], line["method"], line["seed"])
        for line in lines
        if line["method"] in METHODS
        and (
            not METHODS[line["method"]].is_ours
            or (line["commit"] == now["commit"] and not (line["dirty"] or now["dirty"]))
        )
    }


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The lines of a result file that were made by :func:`measure`; none where there is no file."""
    if not path.exists():
        return []
    lines = map(json.loads, path.read_text().splitlines())
    return [line for line in lines if isinstance(line.get("tried"), dict) and "data" in line]


def compare(
    reports: tuple[Report, Report],
    names: Sequence[str],
    methods: Sequence[str],
    seeds: Sequence[int],
    *,
    folder: Path | None = None,
    again: bool = False,
) -> None:
    """Measure what has no line yet; lines of easy draws go to the second report."""
    done: set[Key] = set()
    if not again:
        done = has_line([line for report in reports for line in read_lines(_file_of(report))])
    most = QUICK_ROWS if reports[0].quick else math.inf
    chosen = [METHODS[key] for key in methods]
    computer = Computer(
        [replace(method, most_rows=min(method.most_rows, most)) for method in chosen],
        Sources(folder),
    )
    for name in names:
        is_easy = name.startswith("easy-")
        for seed, key in product(seeds[:1] if is_easy else seeds, methods):
            if (name, key, seed) in done:
                continue
            try:
                measure(reports[is_easy], computer, name, key, seed)
            except DatasetNotFoundError as error:
                print(f"  {name}: left out ({error})"[:200])
                break
            except Exception as error:  # a rival's failure must not end a run of hours
                print(f"  {name}: {METHODS[key].name} did not run: {error}"[:200])


def _file_of(report: Report) -> Path:
    return report.folder / f"{report.name}.jsonl"


def make_reports(folder: Path, *, quick: bool) -> tuple[Report, Report]:
    """Where lines go: those of data sets, and those of easy draws."""
    easy, sets = (Report(name, quick=quick, folder=folder) for name in ("quality_easy", "quality"))
    return sets, easy


def run(report: Report) -> None:
    """Measure everything on the data sets of this machine and the easy family."""
    reports = report, make_reports(report.folder, quick=report.quick)[1]
    names = [*quality_summary.ALL, *find_names("easy", None)]
    keys = ["default", "auto", *RIVALS]
    if report.quick:
        names, keys = names[:25], ["default", "kmeans"]
    compare(reports, names, keys, [0] if report.quick else range(5))
    show(reports)


def find_names(sets: str | None, folder: Path | None, draws: str = f"0:{N_DRAWS}") -> Iterator[str]:
    """Names of data sets, ``easy`` standing for all draws; by default all there are."""
    known = quality_summary.ALL if folder is None else sorted(p.stem for p in folder.glob("*.npz"))
    for name in sets.split(",") if sets else known:
        if name == "easy":
            yield from (f"easy-{i}" for i in range(*map(int, draws.split(":"))))
        else:
            yield name


def show(
    reports: tuple[Report, Report], commit: str | None = None, against: str | None = None
) -> None:
    """Print the tables of the lines there are, and draw them."""
    sets, easy = (read_lines(_file_of(report)) for report in reports)
    print(quality_summary.describe(sets, easy, commit=commit, against=against))
    if sets and importlib.util.find_spec("matplotlib"):
        quality_summary.draw(sets, _file_of(reports[0]).with_suffix(".png"), commit=commit)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality", description=__doc__)
    parser.add_argument("--quick", action="store_true", help=f"sets of {QUICK_ROWS} rows at most")
    parser.add_argument("--data", type=Path, help="a folder of files in the same format")
    parser.add_argument("--sets", help="names with commas between; easy is the made family")
    parser.add_argument("--draws", default=f"0:{N_DRAWS}", help="which of the easy family")
    parser.add_argument(
        "--methods", default="default,auto," + ",".join(RIVALS),
        help=f"some of {', '.join(METHODS)}",
    )  # fmt: skip
    parser.add_argument("--seeds", default="0,1,2,3,4", help="numbers with commas between")
    parser.add_argument("--again", action="store_true", help="measure what has a line, too")
    parser.add_argument("--summary", action="store_true", help="only sum up the lines there are")
    parser.add_argument("--commit", help="whose lines of our methods count; by default the last")
    parser.add_argument("--against", help="a commit that the summary compares them with")
    parser.add_argument(
        "--results", type=Path,
        help="folder for result lines; by default benchmarks/results, with --data quality-results",
    )  # fmt: skip
    chosen = parser.parse_args()
    if chosen.data is not None:
        os.environ["MANYVIEW_DATA"] = str(chosen.data)
    folder = chosen.results or (RESULTS if chosen.data is None else Path("quality-results"))
    reports = make_reports(folder, quick=chosen.quick)
    if not chosen.summary:
        compare(
            reports,
            list(find_names(chosen.sets, chosen.data, chosen.draws)),
            chosen.methods.split(","),
            [int(seed) for seed in chosen.seeds.split(",")],
            folder=chosen.data,
            again=chosen.again,
        )
    show(reports, chosen.commit, chosen.against)


if __name__ == "__main__":
    main()
