"""Result lines -> the rows of the tables as plain facts: means, spreads, bests, and their lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean, stdev
from typing import Any

from manyview.reproduce import methods, paper
from manyview.reproduce.cells import Cell, Store
from manyview.reproduce.made import WORDS_FROM
from manyview.reproduce.plan import (
    MADE,
    RELEASED,
    TUNED,
    UNLABELLED,
    VARIANTS,
    Row,
    Table,
    describe_cells,
)
from manyview.reproduce.problems import Data, Problem
from manyview.wording import count

Facts = dict[str, Any]

SCORES = {
    "accuracy": "Accuracy",
    "nmi": "NMI (max)",
    "nmi_arithmetic": "NMI (arithmetic)",
    "purity": "Purity",
    "inverse_purity": "Inverse purity",
    "ari": "ARI",
}
"""The columns of scores, and their titles."""

PROTOCOLS = {
    TUNED: "Tuned with labels: optimistic, as in the paper",
    UNLABELLED: "Without labels; the paper's figures beside were tuned with labels",
    MADE: "Made data, time and memory only",
}
"""The protocols, and the headings of their rows."""

_TIMED = (*methods.BASELINES, methods.KMEANS, methods.KMEANS_STANDARDISED)
_NO_PARTNER = "LMVSC was not timed on these rows on the same machine"


def describe_table(table: Table, store: Store) -> Facts:
    """One data set's table as facts: rows by protocol, times against baselines, memory needed."""
    problem = table.problem
    rows = [
        {**_describe_row(row, problem, store), "elsewhere": _elsewhere(row, table, store)}
        for row in table.rows
    ]
    ratios = _ratios(table, store)
    by_protocol = {name: [row for row in rows if row["protocol"] == name] for name in PROTOCOLS}
    return {
        "name": problem.name,
        "title": problem.title,
        "is_present": table.is_present,
        "how_to_get": None if table.is_present else problem.how_to_get(),
        "n_rows": problem.info.n_samples,
        "n_clusters": problem.info.n_clusters,
        "widths": list(problem.widths),
        "largest_class": _largest_class(problem, store),
        "made_sparsity": None if table.is_present else WORDS_FROM.get(problem.registry),
        "sections": [
            {"protocol": name, "title": PROTOCOLS[name], "rows": own}
            for name, own in by_protocol.items()
            if own
        ],
        "ratios": ratios,
        "untimed": _untimed(rows, ratios),
        "refusals": _refusals(table, store),
        # The paper's rows of a data set that is not here: its table is whole all the same.
        "paper_only": [
            {"label": methods.title(row.method, row.view), "paper": _printed(row)}
            for row in paper.ROWS[problem.name]
            if not table.is_present
        ],
    }


def _describe_row(row: Row, problem: Problem, store: Store) -> Facts:
    cells = row.result_cells(store)
    lines, done = store.lines(cells), store.done(cells)
    printed = _find_printed(row, problem.name)
    is_tuned = row.protocol == TUNED and len(row.candidates) > 1
    reasons = sorted({line["reason"] for line in lines if line["status"] != "done"})
    tried = store.done(row.tuning_cells) if is_tuned else []
    finished = Counter(str(line["settings"]) for line in tried)
    n_tried = sum(n == max(finished.values()) for n in finished.values())
    settings = methods.describe(cells[0].settings)
    of_all = f"{len(done)} of {len(cells)} seeds"
    how = [_how_chosen(row, settings, n_tried)]
    how.append(of_all if len(done) < len(cells) else count(len(done), "seed"))
    states = {str([line.get(key) for key in ("commit", "dirty", "versions")]) for line in done}
    if len(states) > 1:
        how.append(f"by {len(states)} versions of the code or its libraries")
    return {
        "label": row.label,
        "method": row.method,
        "view": row.view,
        "protocol": row.protocol,
        "note": methods.NOTES.get(row.method),
        "paper": None if printed is None else _printed(printed),
        "status": "done" if done else lines[0]["status"] if lines else "not run yet",
        "reason": "; ".join(reasons) if reasons else None,
        "how": "; ".join(how),
        "budget": row.budget.describe(problem.info.n_samples, is_tuned=is_tuned),
        "n_rows": row.data.n_rows,
        "n_seeds": len(done),
        "scores": {name: summarise([line["scores"][name] for line in done]) for name in SCORES},
        "seconds": summarise([line["seconds"] for line in done]),
        "peak_bytes": max((line["peak_bytes"] or 0 for line in done), default=0) or None,
        "largest_cluster": fmean(line["largest_cluster"] for line in done) if done else None,
        "each": [{"seed": line["seed"], "id": line["id"], **line["scores"]} for line in done],
        "lines": [line["id"] for line in lines],
    }


def _elsewhere(row: Row, table: Table, store: Store) -> list[Facts]:
    """A published variant's chosen setting on the rows that other methods were cut to, one seed."""
    if row.label not in VARIANTS or not table.is_present:
        return []
    cells = table.partners(store, [row.label])
    moved = [replace(row, final=cell.data, final_seeds=(cell.seed,)) for cell in cells]
    found = [_describe_row(one, table.problem, store) for one in moved]
    return sorted((facts for facts in found if facts["n_seeds"]), key=lambda f: f["n_rows"])


def summarise(values: Sequence[float]) -> Facts | None:
    """Mean, spread (sample standard deviation; None for one value) and best; None of nothing."""
    if not values:
        return None
    return {
        "mean": fmean(values),
        "sd": stdev(values) if len(values) > 1 else None,
        "best": max(values),
        "n": len(values),
    }


def _find_printed(row: Row, problem: str) -> paper.PaperRow | None:
    """The paper's row beside ours: every LMVSC row of all views stands beside the paper's."""
    if row.method in (methods.PUBLISHED, methods.DEFAULT):
        return paper.find_row(problem, "LMVSC") if row.view is None else None
    return paper.find_row(problem, row.method, row.view)


def _printed(row: paper.PaperRow) -> Facts:
    scores = {"accuracy": row.accuracy, "nmi": row.nmi, "inverse_purity": row.purity}
    return {**scores, "seconds": row.seconds}


def _how_chosen(row: Row, settings: str, n_tried: int) -> str:
    n_settings = len(row.candidates)
    if row.protocol == UNLABELLED:
        return settings
    if row.protocol == MADE:
        return f"{settings}, fixed"
    if n_settings == 1:
        return "not tuned: its defaults"
    count = f"{n_tried}" if n_tried == n_settings else f"{n_tried} of {n_settings}"
    how = f"{settings}; best accuracy of {count} settings"
    if row.tuning_data.n_rows != row.data.n_rows:
        how += f" on {row.tuning_data.n_rows} rows"
        how += ", or its defaults" if row.has_defaults else ""
    return how


def _largest_class(problem: Problem, store: Store) -> float | None:
    """Share of the largest class in the whole data set, where it is known."""
    counts = problem.info.class_counts
    if counts is not None:
        return max(counts) / sum(counts)
    line = store.get(Cell(Data(problem.name), "describe"))
    return None if line is None else line.get("largest_class")


def _untimed(rows: Sequence[Facts], ratios: Sequence[Facts]) -> list[Facts]:
    """Baselines that have no time to compare, and why."""
    timed = {ratio["label"] for ratio in ratios}
    return [
        {
            "label": row["label"],
            "reason": row["reason"] or (_NO_PARTNER if row["status"] == "done" else row["status"]),
            "lines": row["lines"],
        }
        for row in rows
        if row["method"] in _TIMED and row["protocol"] != TUNED and row["label"] not in timed
    ]


def _ratios(table: Table, store: Store) -> list[Facts]:
    """Seconds of each baseline over those of the published method on the same rows, and the paper's."""
    own = next(row for row in table.rows if row.label == RELEASED)
    partners = {cell.data: cell for cell in table.partners(store, [RELEASED])}
    printed_own = next(r for r in paper.ROWS[table.problem.name] if r.method == "LMVSC")
    found = []
    for row in table.rows:
        if row.method not in _TIMED or row.protocol == TUNED:
            continue
        lines = store.done(row.result_cells(store))
        ours = store.done(own.result_cells(store))
        if row.data != own.data:
            ours = store.done([partners[row.data]]) if row.data in partners else []
        machines = {(line.get("cpu"), line.get("cores")) for line in (*lines, *ours)}
        if not lines or not ours or len(machines) > 1:
            continue
        baseline = fmean(line["seconds"] for line in lines)
        whole = fmean(line["seconds"] for line in ours)
        timed = fmean(line["seconds"] - line["stage_seconds"]["anchors"] for line in ours)
        printed = paper.find_row(table.problem.name, row.method, row.view)
        found.append(
            {
                "label": row.label,
                "method": row.method,
                "n_rows": row.data.n_rows,
                "settings": methods.describe(ours[0]["settings"]),
                "baseline_seconds": baseline,
                "seconds": whole,
                "ratio": baseline / whole,
                "ratio_without_anchors": baseline / timed,
                "paper_ratio": printed and printed.seconds / printed_own.seconds,
                "lines": [line["id"] for line in (*lines, *ours)],
            }
        )
    return found


def _refusals(table: Table, store: Store) -> list[Facts]:
    return [
        {
            "label": methods.title(line["settings"]["method"], line["view"]),
            **{name: line[name] for name in ("bytes_needed", "bytes_free")},
            "is_refused": line["status"] == "refused",
            "lines": [line["id"]],
        }
        for line in store.lines(table.refusals)
        if line["status"] in ("refused", "fits")
    ]


def describe_data(store: Store) -> list[Facts]:
    """The two descriptions of data sets: what was loaded beside what the paper prints."""
    found = []
    for problem, cell in describe_cells():
        line, ours = store.get(cell), None
        views = list(zip(paper.VIEWS[problem.name], problem.widths, strict=True))
        why_absent = problem.how_to_get() if not problem.is_present() else "not loaded yet"
        if line is not None and line["status"] == "done":
            ours = {name: line[name] for name in ("views", "n_rows", "largest_class")}
            ours |= {"n_classes": line["n_clusters"], "lines": [line["id"]]}
        elif line is not None and problem.is_present():
            why_absent = str(line.get("reason", line["status"]))
        printed = {"n_classes": problem.info.n_clusters, "n_rows": problem.info.n_samples}
        found.append(
            {
                "title": problem.title,
                "paper": {"views": views, **printed},
                "ours": ours,
                "why_absent": why_absent,
            }
        )
    return found
