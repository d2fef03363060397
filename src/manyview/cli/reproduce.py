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
from manyview.wording import count

_RECORD, _LINES = "run.json", "results.jsonl"


@click.command(name="reproduce", short_help="Rerun the paper's experiments, all or some.")
@click.argument("names", nargs=-1, metavar="[all | TABLE | FIGURE]...")
@click.option("--seeds", type=click.IntRange(min=1), metavar="N", help="Maximum seeds per fit; 20 by "
              "default, 2 with --quick. Slow methods get fewer; the page says how many.")  # fmt: skip
@click.option("--quick", is_flag=True, help="Samples and small grids; stops before ten minutes.")
@click.option("--no-budget", is_flag=True, help="All rows, all settings, however long it takes.")
@click.option("--list", "is_list", is_flag=True, help="Show the names of tables and figures.")
@output_option(
    "FOLDER",
    "Folder for the results; starting again resumes there.",
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
    """Rerun the experiments of the LMVSC paper, and check its claims on one page.

    A run stops within three hours (ten minutes with --quick). Every finished fit is saved at once, so
    the same command resumes. Data sets that are not on this machine are listed.
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
    from manyview.bench.cells import Store
    from manyview.reproduce.page import PAGE, TEXT, build_page, write_pages
    from manyview.reproduce.plan import Options
    from manyview.reproduce.run import run, targets

    claim_folder(folder, [_RECORD, _LINES, PAGE, TEXT], record=_RECORD, force=force)
    options, before = Options(form, seeds), _read_record(folder / _RECORD)
    if before and (before["form"], before["seeds"]) != (form, seeds):
        # One folder is one page, and a page does not mix forms and numbers of seeds.
        raise Failure(
            f"{folder} holds a run of the {_describe(before['form'], before['seeds'])}, and this is one "
            f"of the {_describe(form, seeds)}. Choose another folder with -o, or ask for the same "
            "form and seeds to go on there."
        )
    shown = targets([*wanted, *before.get("targets", [])])
    write_record(folder / _RECORD, {"targets": shown, "form": form, "seeds": seeds})
    store = Store(folder / _LINES)
    n_before, started = len(store), time.monotonic()
    try:
        run(wanted, options, store, _Teller())
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"{len(store)} finished cells are kept in {folder}; the same command goes on."
        ) from None
    page = build_page(shown, options, store)
    write_pages(page, folder)
    seconds = time.monotonic() - started
    n_computed = len(store) - n_before

    def show() -> None:
        if page.n_unfinished:
            left = count(page.n_unfinished, "job")
            say(f"{left} of the page have work left; the same command goes on.")
        for claim, _, here, verdict in page.claims.rows:
            click.echo(f"{verdict:<24} {claim} ({here})")
        click.echo(f"{n_computed} cells computed in {seconds:.0f} s, {n_before} were there.")
        for name in (PAGE, TEXT, _LINES):
            click.echo(f"  {folder / name}")

    summary = {
        "folder": str(folder),
        "form": form,
        "is_complete": page.n_unfinished == 0,
        "n_computed": n_computed,
        "n_lines": len(store),
        "seconds": round(seconds, 1),
        "claims": [
            dict(zip(("claim", "paper", "here", "verdict"), row, strict=True))
            for row in page.claims.rows
        ],
    }
    print_result(summary, show)


def _describe(form: str, seeds: int | None) -> str:
    return f"{form} form" + ("" if seeds is None else f" with --seeds {seeds}")


def _read_record(record: Path) -> dict[str, Any]:
    """What an earlier run into the same folder was asked for; nothing if there was none."""
    try:
        found = json.loads(record.read_text(encoding="utf-8"))
        return {name: found[name] for name in ("targets", "form", "seeds")}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


class _Teller:
    """Tells which job is running and how far it is; on a terminal the line is written over."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._title = ""

    def __call__(self, title: str, n_done: int) -> None:
        if current().quiet:
            return
        is_new, self._title = title != self._title, title
        elapsed = time.monotonic() - self._started
        text = f"{elapsed:6.0f} s  {title} ({n_done} done)"
        if sys.stderr.isatty():
            click.echo(("\n" if is_new else "\r") + text + "\033[K", err=True, nl=False)
        elif is_new:
            click.echo(text, err=True)
