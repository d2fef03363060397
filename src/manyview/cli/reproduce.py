"""``manyview reproduce``: the LMVSC paper's experiments, every table and figure."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import click

from manyview.cli.console import Failure, current, print_result, say, shared_options
from manyview.cli.options import force_option, output_option
from manyview.cli.results import claim_folder, write_record

_RECORD, _LINES = "run.json", "results.jsonl"


@click.command(name="reproduce", short_help="Run the paper's experiments again, all or some.")
@click.argument("names", nargs=-1, metavar="[all | TABLE | FIGURE]...")
@click.option("--seeds", type=click.IntRange(min=1), metavar="N", help="Seeds of each fit; 10 by "
              "default, 2 with --quick. Slow methods have fewer, as their rows say.")  # fmt: skip
@click.option("--quick", is_flag=True, help="Samples and small grids; stops before ten minutes.")
@click.option("--no-budget", is_flag=True, help="All rows, all settings, however long it takes.")
@click.option("--list", "is_list", is_flag=True, help="Show the names of tables and figures.")
@output_option(
    "FOLDER",
    "Where results go; a run that is started again goes on there.",
    default=Path("manyview-reproduce"),
    show_default=True,
)
@force_option("Write into a folder that this command did not write.")
@shared_options("quiet", "verbose", "as_json")
def command(
    names: tuple[str, ...],
    seeds: int | None,
    quick: bool,
    no_budget: bool,
    is_list: bool,
    output: Path,
    force: bool,
) -> None:
    """Run the experiments of the LMVSC paper again, and write one page with the paper's figures beside.

    What was cut to keep it short is printed, and a run stops before three hours have passed (ten minutes
    with --quick); every finished fit is kept at once, so the same command goes on. Data sets that are
    not on this machine are named, and made data of their shape is timed instead.
    """
    from manyview.reproduce.run import FIGURES, TABLES, targets

    if is_list:
        click.echo(f"tables:  {' '.join(TABLES)}\nfigures: {' '.join(FIGURES)}")
        return
    if quick and no_budget:
        raise click.UsageError("--quick and --no-budget exclude each other.")
    wanted = targets(names)
    form = "quick" if quick else "unlimited" if no_budget else "full"
    _run(wanted, form, seeds, output, force=force)


def _run(wanted: list[str], form: str, seeds: int | None, folder: Path, *, force: bool) -> None:
    from manyview.reproduce.cells import Store
    from manyview.reproduce.facts import build_facts
    from manyview.reproduce.page import PAGE, TEXT, write_pages
    from manyview.reproduce.plan import Options
    from manyview.reproduce.run import run, targets

    claim_folder(folder, [_RECORD, _LINES, PAGE, TEXT], record=_RECORD, force=force)
    options, before = Options(form, seeds), _read_record(folder / _RECORD)
    if before and (before["form"], before["seeds"]) != (form, options.n_seeds):
        # One folder is one page, and a page does not mix forms and numbers of seeds.
        raise Failure(
            f"{folder} holds a {before['form']} run with --seeds {before['seeds']}, and this is a "
            f"{form} run with --seeds {options.n_seeds}. Choose another folder with -o, or ask for "
            "the same form and seeds to go on there."
        )
    shown = targets([*wanted, *before.get("targets", [])])
    write_record(folder / _RECORD, {"targets": shown, "form": form, "seeds": options.n_seeds})
    store = Store(folder / _LINES)
    n_before, started = len(store), time.monotonic()
    try:
        run(wanted, options, store, _Teller())
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"{len(store)} finished cells are kept in {folder}; the same command goes on."
        ) from None
    facts = build_facts(shown, options, store)
    write_pages(facts, folder)
    seconds = time.monotonic() - started
    n_computed = len(store) - n_before

    def show() -> None:
        if facts["n_unreached"]:
            say(
                f"{facts['n_unreached']} cells of the page were not reached; the same command goes on."
            )
        for finding in facts["findings"]:
            scope = f" ({finding['scope']})" if finding["scope"] else ""
            click.echo(f"{finding['verdict']:<26} {finding['title']}{scope}")
        click.echo(f"{n_computed} cells computed in {seconds:.0f} s, {n_before} were there.")
        for name in (PAGE, TEXT, _LINES):
            click.echo(f"  {folder / name}")

    summary = {
        "folder": str(folder),
        "form": facts["form"],
        "is_complete": facts["n_unreached"] == 0,
        "n_computed": n_computed,
        "n_lines": len(facts["lines"]),
        "seconds": round(seconds, 1),
        "findings": [{"title": f["title"], "verdict": f["verdict"]} for f in facts["findings"]],
    }
    print_result(summary, show)


def _read_record(record: Path) -> dict[str, Any]:
    """What an earlier run into the same folder was asked for; nothing if there was none."""
    from manyview.reproduce.plan import Options

    try:
        found = json.loads(record.read_text(encoding="utf-8"))
        n_seeds = Options(found["form"], found["seeds"]).n_seeds
        return {"targets": list(found["targets"]), "form": found["form"], "seeds": n_seeds}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


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
