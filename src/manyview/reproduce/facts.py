"""Everything a page shows, as plain facts, worked out from the result lines alone."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from manyview.reproduce import figures, findings, methods
from manyview.reproduce.budget import RUN_SECONDS
from manyview.reproduce.cells import Line, Store
from manyview.reproduce.plan import Options, plan_table
from manyview.reproduce.problems import PROBLEMS
from manyview.reproduce.run import FIGURES, TABLES, count_unreached
from manyview.reproduce.tables import Facts, describe_data, describe_table

_RUN_KEYS = ("commit", "dirty", "versions", "cpu", "cores", "system")


def build_facts(targets: Sequence[str], options: Options, store: Store) -> Facts:
    """The facts of the tables and figures named in ``targets``."""
    names = [problem for name in targets if name in TABLES for problem in TABLES[name]]
    tables = [describe_table(plan_table(PROBLEMS[name], options), store) for name in names]
    runs, lines = _describe_lines(store)
    facts: Facts = {
        "form": options.form,
        "run_seconds": RUN_SECONDS[options.form],
        "n_unreached": count_unreached(targets, options, store),
        "made_at": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "descriptions": describe_data(store) if "datasets" in targets else [],
        "tables": tables,
        "distributions": _distributions(tables),
        "figures": {
            name: figures.FIGURES[name][1](options, store) for name in FIGURES if name in targets
        },
        "runs": runs,
        "lines": lines,
    }
    facts["findings"] = findings.find_all(facts) if tables else []
    return facts


def _distributions(tables: Sequence[Facts]) -> list[Facts]:
    """Accuracy of every seed of LMVSC on all views, with the paper's figure."""
    return [
        {
            "data": table["title"],
            **{name: row[name] for name in ("label", "protocol")},
            "paper": row["paper"]["accuracy"],
            "values": [each["accuracy"] for each in row["each"]],
            "lines": [each["id"] for each in row["each"]],
        }
        for table in tables
        for section in table["sections"]
        for row in section["rows"]
        if row["method"] in (methods.PUBLISHED, methods.DEFAULT) and row["view"] is None
        if row["paper"] and row["each"] and table["is_present"]
    ]


def _describe_lines(store: Store) -> tuple[list[Facts], list[Facts]]:
    """The runs (code and machine) and every line, each with the number of its run."""
    runs: dict[str, Facts] = {}
    lines = []
    for line in sorted(store.all_lines(), key=_order):
        key = str([line.get(name) for name in _RUN_KEYS])
        run = runs.setdefault(key, {name: line.get(name) for name in _RUN_KEYS})
        run.setdefault("number", len(runs))
        run["n_lines"] = run.get("n_lines", 0) + 1
        run["first"] = min(run.get("first", line["date"]), line["date"])
        run["last"] = max(run.get("last", line["date"]), line["date"])
        # Made data is for time and memory: its scores say nothing.
        scores = {} if line["data"].get("made") else line.get("scores", {})
        lines.append(
            {
                **{name: line.get(name) for name in ("id", "seed", "status", "reason", "seconds")},
                **{name: scores.get(name) for name in ("accuracy", "nmi")},
                "data": describe_data_key(line),
                "method": _method(line),
                "settings": methods.describe(line["settings"]),
                "run": run["number"],
            }
        )
    return list(runs.values()), lines


def _order(line: Line) -> tuple[str, ...]:
    return (describe_data_key(line), _method(line), str(line["settings"]), f"{line['seed']:06d}")


def _method(line: Line) -> str:
    settings = line["settings"]
    name: str = settings["method"] if line["method"] == "refusal" else line["method"]
    words = [
        methods.title(name, line["view"]),
        settings.get("variant"),
        "standardised" if settings.get("standardised") else None,
        "memory needed" if line["method"] == "refusal" else None,
    ]
    return ", ".join(filter(None, words))


def describe_data_key(line: Line) -> str:
    """The data of a line as text."""
    data = line["data"]
    if "shape" in data:
        n, d, v, k = data["shape"]
        return f"made: n = {n}, d = {d}, v = {v}, k = {k}"
    made = ", made" if data.get("made") else ""
    return f"{data['problem']}{made}, {data.get('rows', 'all')} rows"
