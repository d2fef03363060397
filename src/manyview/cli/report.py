"""``manyview report``: the page of a finished fit, once more."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from manyview.cli.failure import Failure
from manyview.cli.shared import current, remarks, say, shared_options


@click.command(name="report")
@click.argument("folder", metavar="FOLDER", type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Where the page goes; report.html in FOLDER by default.",
)
@click.option("--static", is_flag=True, help="No scripts: pictures instead of an interactive map.")
@click.option("--force", is_flag=True, help="Replace the page if it is there.")
@shared_options("quiet", "verbose", "as_json")
def command(folder: Path, output: Path | None, static: bool, force: bool) -> None:
    """Write the report of a fit as one HTML file.

    FOLDER is what 'manyview fit' wrote. The facts come from its summary.json; if the fit ran with
    --no-report, the views are read again from where they were.
    """
    from manyview.cli.folder import claim_file, write_record
    from manyview.report import write_report

    record = folder / "summary.json"
    path = output or folder / "report.html"
    facts = _read_facts(record)
    claim_file(path, force=force)
    if "map" not in facts:
        facts = _build_facts(folder, facts)
        write_record(record, facts)
    try:
        write_report(facts, path, static=static, force=True)
    except KeyError as error:
        raise Failure(f"{record} is damaged: it lacks {error}.", is_bad_input=True) from error
    if current().as_json:
        click.echo(json.dumps({"report": str(path), "bytes": path.stat().st_size}))
    else:
        click.echo(str(path))


def _read_facts(record: Path) -> dict[str, Any]:
    try:
        facts = json.loads(record.read_text(encoding="utf-8"))
    except OSError as error:
        raise Failure(
            f"{record.parent} has no summary.json, so it is not what 'manyview fit' wrote.",
            is_bad_input=True,
        ) from error
    except ValueError as error:
        raise Failure(f"{record} is damaged: {error}.", is_bad_input=True) from error
    if not isinstance(facts, dict) or not isinstance(facts.get("fit"), dict):
        raise Failure(f"{record} was not written by 'manyview fit'.", is_bad_input=True)
    return facts


def _build_facts(folder: Path, facts: dict[str, Any]) -> dict[str, Any]:
    """Give the facts of a report from the model and the views."""
    import numpy as np

    from manyview import load
    from manyview.cli.inputs import Inputs, memory_for_views
    from manyview.report import build_summary

    fit = facts["fit"]
    lacking = [name for name in ("inputs", "command", "seed") if name not in fit]
    if lacking:
        raise Failure(
            f"{folder / 'summary.json'} is damaged: it lacks {lacking[0]!r}.", is_bad_input=True
        )
    say("The fit left no facts for a report: reading its views again.")
    model = load(folder / "model.mv")
    model.embedding_ = np.load(folder / "embedding.npy", mmap_mode="r")
    data = Inputs.from_record(fit["inputs"]).read(memory_limit=memory_for_views())
    with remarks():
        made = build_summary(
            model, data.views, ids=data.ids, command=fit["command"], random_state=fit["seed"]
        )
    return {**made, "fit": fit}
