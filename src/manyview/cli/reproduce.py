"""``manyview reproduce``: the LMVSC paper's experiments, every table and figure."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import click

from manyview.cli.shared import current, say, shared_options

_RECORD = "run.json"


@click.command(name="reproduce", short_help="Run the paper's experiments again, all or some.")
@click.argument("names", nargs=-1, metavar="[all | TABLE | FIGURE]...")
@click.option("--seeds", type=click.IntRange(min=1), metavar="N", help="Seeds of each fit; 10 by "
              "default, 2 with --quick. Slow methods have fewer, as their rows say.")  # fmt: skip
@click.option("--quick", is_flag=True, help="Samples and small grids: all within ten minutes.")
@click.option("--no-budget", is_flag=True, help="All rows, all settings, however long it takes.")
@click.option("--list", "is_list", is_flag=True, help="Show the names of tables and figures.")
@click.option("-o", "--output", "folder", metavar="FOLDER", default=Path("manyview-reproduce"),
              type=click.Path(file_okay=False, path_type=Path), show_default=True,
              help="Where results go; a run that is started again goes on there.")  # fmt: skip
@click.option("--force", is_flag=True, help="Write into a folder that this command did not write.")
@shared_options("quiet", "verbose", "as_json")
def command(
    names: tuple[str, ...],
    seeds: int | None,
    quick: bool,
    no_budget: bool,
    is_list: bool,
    folder: Path,
    force: bool,
) -> None:
    """Run the experiments of the LMVSC paper again, and write one page with the paper's figures beside.

    Everything takes at most three hours on two cores; what was cut for that is printed. Every finished
    fit is kept at once, so a run that was stopped goes on. Data sets that are not on this machine are
    named, and made data of their shape is timed instead.
    """
    from manyview.reproduce.run import FIGURES, TABLES, targets

    if is_list:
        click.echo(f"tables:  {' '.join(TABLES)}\nfigures: {' '.join(FIGURES)}")
        return
    if quick and no_budget:
        raise click.UsageError("--quick and --no-budget exclude each other.")
    wanted = targets(names)
    form = "quick" if quick else "unlimited" if no_budget else "full"
    _run(wanted, form, seeds, folder, force=force)


def _run(wanted: list[str], form: str, seeds: int | None, folder: Path, *, force: bool) -> None:
    from manyview.cli.folder import claim_folder, write_record
    from manyview.reproduce.cells import Store
    from manyview.reproduce.facts import build_facts
    from manyview.reproduce.page import PAGE, TEXT, write_pages
    from manyview.reproduce.plan import Options
    from manyview.reproduce.run import run, targets

    files = [_RECORD, "results.jsonl", PAGE, TEXT]
    claim_folder(folder, files, record=_RECORD, force=force)
    shown = targets([*wanted, *_shown_before(folder / _RECORD)])
    write_record(folder / _RECORD, {"targets": shown, "form": form, "seeds": seeds})
    options, store = Options(form, seeds), Store(folder / "results.jsonl")
    n_before, started = len(store), time.monotonic()
    try:
        is_complete = run(wanted, options, store, _Teller())
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"{len(store)} finished cells are kept in {folder}; the same command goes on."
        ) from None
    facts = build_facts(shown, options, store, is_complete=is_complete)
    write_pages(facts, folder)
    seconds = time.monotonic() - started
    if current().as_json:
        click.echo(json.dumps(_summary(facts, folder, len(store) - n_before, seconds), indent=2))
        return
    if not is_complete:
        say("The time of a run was up before everything was reached; the same command goes on.")
    for finding in facts["findings"]:
        click.echo(f"{finding['verdict']:<26} {finding['title']}")
    click.echo(f"{len(store) - n_before} cells computed in {seconds:.0f} s, {n_before} were there.")
    for name in (PAGE, TEXT, "results.jsonl"):
        click.echo(f"  {folder / name}")


def _shown_before(record: Path) -> list[str]:
    """Names of what the page of an earlier run into the same folder shows."""
    try:
        found = json.loads(record.read_text(encoding="utf-8"))["targets"]
    except (OSError, ValueError, KeyError, TypeError):
        return []
    return [str(name) for name in found] if isinstance(found, list) else []


def _summary(
    facts: dict[str, Any], folder: Path, n_computed: int, seconds: float
) -> dict[str, Any]:
    return {
        "folder": str(folder),
        "form": facts["form"],
        "is_complete": facts["is_complete"],
        "n_computed": n_computed,
        "n_lines": len(facts["lines"]),
        "seconds": round(seconds, 1),
        "findings": [{"title": f["title"], "verdict": f["verdict"]} for f in facts["findings"]],
    }


class _Teller:
    """Tells which job is running and how far it is; on a terminal the line is written over."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._title = ""

    def __call__(self, title: str, n_cells: int, n_done: int) -> None:
        if current().quiet:
            return
        is_new, self._title = title != self._title, title
        elapsed = time.monotonic() - self._started
        text = f"{elapsed:6.0f} s  {title} ({n_done} of {n_cells})"
        if sys.stderr.isatty():
            click.echo(("\n" if is_new else "\r") + text + "\033[K", err=True, nl=False)
        elif is_new:
            click.echo(text, err=True)
