"""``manyview predict``: the clusters of new rows."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from manyview.cli.console import Failure, current, print_result, remarks, say, shared_options
from manyview.cli.inputs import Inputs, input_options
from manyview.cli.options import check_ending, force_option, output_option
from manyview.cli.results import claim_file, refuse_inputs, write_label_lines, write_labels
from manyview.cli.staging import settle

if TYPE_CHECKING:
    from manyview import LMVSC


@click.command(name="predict", short_help="Label new rows with a fitted model.")
@click.argument("model", type=click.Path(path_type=Path), metavar="MODEL")
@input_options(is_new=False)
@output_option("FILE", "File for the clusters: .csv (with ids) or .npy. Printed as CSV by default.")
@force_option("Replace FILE if it exists.")
@shared_options("quiet", "verbose", "as_json")
def command(model: Path, output: Path | None, force: bool, **options: Any) -> None:
    """Label new rows with a fitted model.

    MODEL is model.mv, or a folder written by 'manyview fit'. VIEW is as in fit: the same views, by
    name or in the same order. Table columns are matched by name, and the id column of the fit is
    used.
    """
    from manyview.cli.display import stage_line

    if output is not None:
        check_ending(output, (".csv", ".npy"), flag="-o")
    inputs = Inputs.take(options)
    if output is not None:
        refuse_inputs([output], [*_files_of(model), *inputs.paths()])
        claim_file(output, force=force)
    estimator, fitted = _load(model)
    with stage_line() as line:
        with line.step("reading"):
            data = inputs.read_like(estimator, fitted)
        estimator.verbose = line
        with remarks():
            labels, confidence = estimator.predict_with_confidence(data.views)
    id_column = inputs.id_name or (fitted.id_name if fitted else None)
    if output is not None:
        write_labels(output, labels, data.ids, id_column, confidence=confidence)
    _print(output, labels, data.ids, id_column, confidence=confidence)


def _files_of(path: Path) -> list[Path]:
    """The model's file, and the facts beside it."""
    file = path / "model.mv" if path.is_dir() else path
    return [file, file.with_name("summary.json")]


def _load(path: Path) -> tuple[LMVSC, Inputs | None]:
    """The model, and how the files of its fit were read, where that is noted beside it."""
    from manyview import load

    file, facts_file = _files_of(path)
    settle(file.parent)
    if not file.is_file():
        raise Failure(f"there is no model {file}.")
    model = load(file)
    try:
        facts = json.loads(facts_file.read_text(encoding="utf-8"))
        return model, Inputs.from_record(facts["fit"]["inputs"])
    except (OSError, ValueError, KeyError, TypeError):
        return model, None


def _print(
    output: Path | None, labels: Any, ids: Any, id_column: str | None, *, confidence: Any
) -> None:
    import numpy as np

    from manyview.sources import as_ids

    counts = {int(k): int(n) for k, n in zip(*np.unique(labels, return_counts=True), strict=True)}
    facts: dict[str, Any] = {"n_rows": len(labels), "cluster_sizes": counts}
    if output is None and current().as_json:
        facts["labels"] = np.asarray(labels).tolist()
        facts["confidence"] = np.asarray(confidence).tolist()
        named = ids if ids is None or ids.dtype.kind in "iu" else as_ids(ids)
        facts["ids"] = None if named is None else named.tolist()

    def show() -> None:
        if output is None:
            write_label_lines(sys.stdout, labels, ids, id_column, confidence=confidence)
        else:
            n_marked = counts.get(-1, 0)
            marked = f", {n_marked} of them in none (-1)" if n_marked else ""
            n_clusters = len(counts.keys() - {-1})
            say(f"{len(labels)} rows in {n_clusters} clusters{marked}, written to {output}")

    print_result(facts, show, indent=None)
