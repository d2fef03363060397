"""Results -> one page: claims and verdicts first, a section for each, then the tables.

The page is the same as HTML, by one template, and as Markdown, which is what is kept of a run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean

from markupsafe import Markup

from manyview.bench.cells import Line, Store
from manyview.machine import whole_file
from manyview.report.render import digest, make_environment, palette_rules
from manyview.reproduce import methods, paper
from manyview.reproduce.claims import CLAIMS, HOLDS, PARTLY, Case, Claim, Measured
from manyview.reproduce.drawings import draw
from manyview.reproduce.measures import MEASURES
from manyview.reproduce.plan import Options, entries
from manyview.reproduce.problems import PROBLEMS, Problem
from manyview.reproduce.results import NEAREST, Results, Row
from manyview.reproduce.run import TABLES, count_unfinished
from manyview.wording import count

PAGE, TEXT = "reproduce.html", "reproduce.md"
_MOST_COLOURS = 12  # of the curves of a figure
_CODE = ("commit", "dirty", "cpu", "cores", "system", "versions")


@dataclass(frozen=True)
class Table:
    """Columns and cells of text; the first column names a line."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Section:
    """A part of the page: words, a figure, a table, and in a fold the fits they rest on."""

    name: str
    title: str
    text: str = ""
    table: Table | None = None
    picture: Markup | None = None
    lines: Sequence[Line] = ()

    @property
    def evidence(self) -> Table | None:
        """The fits, those that differ in the seed alone as one line."""
        return _evidence(self.lines)


@dataclass(frozen=True)
class Page:
    """All that a page says."""

    form: str
    made_at: str
    n_lines: int
    n_unfinished: int
    claims: Table
    sections: Sequence[Section]
    tables: Sequence[Section]
    runs: Table


def build_page(names: Sequence[str], options: Options, store: Store) -> Page:
    """The page of the tables and figures that were asked for."""
    problems = [problem for name in names for problem in TABLES.get(name, ())]
    results = Results(options, store, problems)
    titles = {line["name"]: line for line in paper.read_table("sections.csv")}
    claims, sections, is_quick = [], [], options.form == "quick"
    for name, measure in MEASURES.items():
        own, measured = [c for c in CLAIMS if c.section == name], measure(results)
        cases = measured.cases
        claims += [
            [c.title, c.paper, c.here(cases), c.verdict(cases, is_quick=is_quick)] for c in own
        ]
        if not cases:
            continue
        drawn = [one for case in cases for one in case.drawn]
        picture = draw(measured.plot, drawn) if drawn else None
        table = _add_verdicts(measured, [] if is_quick else own)
        title, text, lines = titles[name]["title"], titles[name]["text"], _distinct(cases)
        sections.append(Section(name, title, text, table, picture, lines))
    tables = [_describe_table(PROBLEMS[name], results) for name in problems]
    return Page(
        options.form,
        datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        len(store),
        count_unfinished(names, options, store),
        Table(["Claim", "Paper", "Here", "Verdict"], claims),
        sections,
        tables,
        _describe_runs(store.all_lines()),
    )


def _add_verdicts(measured: Measured, claims: Sequence[Claim]) -> Table:
    """The table of a section; claims that say nothing of each other's cases share a column."""
    judged = [[claim.judge(case) for claim in claims] for case in measured.cases]
    names = [f"Verdict, {claim.key}" for claim in claims]
    if claims and all(sum(map(bool, verdicts)) < 2 for verdicts in judged):
        judged, names = [["".join(verdicts)] for verdicts in judged], ["Verdict"]
    pairs = zip(measured.cases, judged, strict=True)
    return Table([*measured.head, *names], [[*case.cells, *verdicts] for case, verdicts in pairs])


def _distinct(cases: Iterable[Case]) -> list[Line]:
    return list({line["id"]: line for case in cases for line in case.lines}.values())


def _describe_table(problem: Problem, results: Results) -> Section:
    """All rows of a data set, or what the paper prints where it is not here."""
    info = problem.info
    text = f"{info.n_samples} rows, {info.n_clusters} classes, {count(len(problem.view_names), 'view')}."
    rows: list[Sequence[str]]
    if not problem.is_present():
        head = ["As the paper prints it", "Accuracy", "NMI", "Inverse purity", "Seconds"]
        rows = [[row.label, *map(_printed, row[2:])] for row in paper.ROWS[problem.name]]
        text += f" It is {problem.how_to_get()}"
        return Section(problem.name, problem.title, text, Table(head, rows))
    shown = [row for row in results.rows[problem.name] if row.protocol != NEAREST]
    shown.sort(key=lambda row: row.protocol)
    head = ["Method", "Protocol", "Accuracy", "Paper", "NMI", "Paper", "Inverse purity", "Paper",
            "Purity", "ARI", "Seconds", "Paper", "Rows", "Seeds", "Settings"]  # fmt: skip
    rows = [_describe_row(row) for row in shown]
    known = {row.entry for row in shown}
    missing = [entry for entry in entries(problem) if entry not in known]
    rows += [[e.label, e.why_not(results.store), *[""] * (len(head) - 2)] for e in missing]
    lines = [line for row in shown for line in row.lines]
    return Section(problem.name, problem.title, text, Table(head, rows), None, lines)


def _describe_row(row: Row) -> list[str]:
    printed = [""] * 4 if row.printed is None else [_printed(value) for value in row.printed[2:]]
    chosen = f"; best of {row.n_tried}" if row.n_tried > 1 else ""
    if row.tuned_on is not None and row.tuned_on != row.n_rows:
        chosen += f" on {row.tuned_on} rows"
    return [
        row.label, row.protocol, row.figure("accuracy"), printed[0], row.figure("nmi"), printed[1],
        row.figure("inverse_purity"), printed[2], row.figure("purity"), row.figure("ari"),
        f"{row.seconds:.2f}", printed[3], f"{row.n_rows}", f"{len(row.lines)}",
        f"{row.settings}{chosen}",
    ]  # fmt: skip


def _printed(value: float | None) -> str:
    return "-" if value is None else f"{value:g}"


def _evidence(lines: Sequence[Line]) -> Table | None:
    groups: dict[tuple[str, ...], list[Line]] = {}
    for line in lines:
        data = line["data"]
        order = f", shuffled by {data['shuffled']}" if "shuffled" in data else ""
        key = (methods.title(line["method"], line["view"]), PROBLEMS[data["problem"]].title,
               f"{data.get('rows', 'all')}{order}", methods.describe(line["settings"]),
               (line.get("commit") or "")[:10])  # fmt: skip
        groups.setdefault(key, []).append(line)
    rows = [
        [*key[:4], ", ".join(str(line["seed"]) for line in same), _mean(same, "accuracy"),
         _mean(same, "nmi"), _mean(same, "seconds"), key[4]]
        for key, same in groups.items()
    ]  # fmt: skip
    head = ["Method", "Data", "Rows", "Settings", "Seeds", "Accuracy", "NMI", "Seconds", "Commit"]
    return Table(head, rows) if rows else None


def _mean(lines: Sequence[Line], name: str) -> str:
    return f"{fmean((line | line['scores'])[name] for line in lines):.3f}"


def _describe_runs(lines: Sequence[Line]) -> Table:
    """Which code on which machines made the lines."""
    runs: dict[str, list[Line]] = {}
    for line in lines:
        runs.setdefault(str([line.get(name) for name in _CODE]), []).append(line)
    rows = []
    for same in runs.values():
        one = same[0]
        versions = ", ".join(f"{name} {value}" for name, value in one["versions"].items())
        commit = (one["commit"] or "no checkout")[:12] + (", with changes" if one["dirty"] else "")
        machine = f"{one['cpu']}, {one['cores']} cores, {one['system']}"
        dates = sorted(line["date"] for line in same)
        rows.append([commit, machine, versions, f"{len(same)}", f"{dates[0]} to {dates[-1]}"])
    return Table(["Commit", "Machine", "Versions", "Lines", "When"], rows)


def write_pages(page: Page, folder: Path) -> list[Path]:
    """Write the page and its Markdown to a folder, and say where they are."""
    paths = [folder / PAGE, folder / TEXT]
    for path, text in zip(paths, (render_page(page), render_markdown(page)), strict=True):
        with whole_file(path) as unfinished:
            unfinished.write_text(text, encoding="utf-8")
    return paths


def render_page(page: Page) -> str:
    """The page as HTML: no script, nothing fetched, everything escaped."""
    environment = make_environment("manyview.reproduce")
    source = environment.loader.get_source  # type: ignore[union-attr]
    parts = [source(environment, name)[0] for name in ("style.css", "reproduce.css")]
    style = "".join(parts) + palette_rules(_MOST_COLOURS)
    policy = f"default-src 'none'; style-src 'sha256-{digest(style)}'; base-uri 'none'"
    template = environment.get_template("reproduce.html")
    return template.render(page=page, style=Markup(style), policy=policy, look=_look)


def _look(column: str, cell: str, is_prose: bool) -> str:
    """The class of a cell: a verdict, the paper's, a number, or words."""
    if column.startswith("Verdict"):
        kind = "holds" if cell.startswith(HOLDS) and not cell.startswith(PARTLY) else "other"
        return "verdict fails" if cell.startswith("does not") else f"verdict {kind}"
    if column.lower().endswith(("paper", "paper's ratio")):
        return "paper" if is_prose else "n paper"
    return "n" if not is_prose and re.fullmatch(r"[-+–.\d± /]+(of \d+)?", cell) else ""


def render_markdown(page: Page) -> str:
    """The same as Markdown, pictures left out: what they show is in the tables."""
    environment = make_environment("manyview.reproduce").overlay(autoescape=False)
    text = environment.get_template("reproduce.md").render(page=page, table=_markdown_table)
    return text.strip() + "\n"


def _markdown_table(table: Table) -> str:
    lines = [table.head, ["---"] * len(table.head), *table.rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in lines)
