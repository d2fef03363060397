"""``manyview report``: the page of a finished fit, once more."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from manyview.cli.console import Failure, echo, print_result, remarks, say, shared_options
from manyview.cli.inputs import Inputs, memory_for_views
from manyview.cli.options import force_option, output_option
from manyview.cli.results import claim_file, ready, refuse_inputs, write_record
from manyview.cli.staging import settle, writing

_READ = ("model.mv", "embedding.npy", "labels.npy", "labels.csv")


@click.command(name="report")
@click.argument("folder", metavar="FOLDER", type=click.Path(file_okay=False, path_type=Path))
@output_option("FILE", "File for the page; report.html in FOLDER by default.")
@click.option(
    "--static",
    is_flag=True,
    help="Write a page without scripts: pictures instead of an interactive map.",
)
@force_option("Replace an existing page.")
@shared_options("quiet", "verbose", "as_json")
def command(folder: Path, output: Path | None, static: bool, force: bool) -> None:
    """Write the report of a fit as one HTML file.

    FOLDER was written by 'manyview fit'. The facts come from its summary.json; if the fit ran with
    --no-report, the views are read again from their files.
    """
    from manyview.report import write_report

    record = folder / "summary.json"
    path = output or folder / "report.html"
    settle(folder)
    facts = _read_facts(record)
    refuse_inputs([path], [record, *(folder / name for name in _READ)])
    claim_file(path, force=force)
    try:
        if "map" not in facts:
            facts = {**_build_facts(folder, facts["fit"]), **facts}
            write_record(record, facts)
        with writing(path):
            write_report(facts, ready(path), static=static, force=True)
    except KeyError as error:
        raise Failure(f"{record} is damaged: it lacks {error}.") from error
    size = path.stat().st_size
    print_result({"report": str(path), "bytes": size}, lambda: echo(str(path)), indent=None)


def _read_facts(record: Path) -> dict[str, Any]:
    try:
        facts = json.loads(record.read_text(encoding="utf-8"))
    except OSError as error:
        raise Failure(
            f"{record.parent} has no summary.json, so it is not what 'manyview fit' wrote."
        ) from error
    except ValueError as error:
        raise Failure(f"{record} is damaged: {error}.") from error
    if not isinstance(facts, dict) or not isinstance(facts.get("fit"), dict):
        raise Failure(f"{record} was not written by 'manyview fit'.")
    return facts


def _build_facts(folder: Path, fit: dict[str, Any]) -> dict[str, Any]:
    """The facts of a report from the model and the views."""
    import numpy as np

    from manyview import load
    from manyview.report import build_summary

    inputs = Inputs.from_record(fit["inputs"])
    say("The fit left no facts for a report: reading its views again.")
    model = load(folder / "model.mv")
    model.embedding_ = np.load(folder / "embedding.npy", mmap_mode="r")
    data = inputs.read(memory_limit=memory_for_views())
    with remarks():
        return build_summary(model, data.views, command=fit["command"], random_state=fit["seed"])
