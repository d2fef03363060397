"""``manyview predict``: the clusters of new rows."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from manyview.cli.failure import Failure
from manyview.cli.inputs import (
    input_options,
    memory_for_views,
    options_in_words,
    take_inputs,
)
from manyview.cli.shared import current, remarks, say, shared_options
from manyview.machine import whole_file

if TYPE_CHECKING:
    from manyview import LMVSC, Views
    from manyview.cli.inputs import Inputs
    from manyview.readers import Request
    from manyview.views.files import Assembled


@click.command(name="predict")
@click.argument("model", type=click.Path(path_type=Path), metavar="MODEL")
@input_options(labels=False)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Where the clusters go: .csv (with ids) or .npy. Printed as CSV by default.",
)
@click.option("--force", is_flag=True, help="Replace FILE if it is there.")
@shared_options("quiet", "verbose", "as_json")
def command(model: Path, output: Path | None, force: bool, **options: Any) -> None:
    """Give new rows to the clusters of a fitted model.

    MODEL is model.mv, or the folder that 'manyview fit' wrote. VIEW is as in fit: the same views,
    by name, or in the same order. Columns of tables are found by their names, rows by the ids of
    the fit.
    """
    from manyview.cli.display import Watched, stage_bars
    from manyview.cli.folder import claim_file

    if output is not None:
        _check_ending(output)
        claim_file(output, force=force)
    estimator, facts = _load(model)
    given = take_inputs(options)
    inputs = _as_fitted(given, facts)
    with stage_bars(quiet=current().quiet) as bars:
        with bars.step("reading"):
            data = _read(inputs, estimator, facts, needs_ids=given.id_column is not None)
            views = _in_order(data, estimator, is_named=_is_named(inputs))
            views = _align_columns(views, facts)
        estimator.engine = Watched("auto", bars)
        with remarks():
            labels = estimator.predict(views)
    _write(output, labels, data, inputs)


def _check_ending(output: Path) -> None:
    if output.suffix not in (".csv", ".npy"):
        raise click.BadParameter(f"{output} must end in .csv or .npy.", param_hint="'-o'")


def _load(path: Path) -> tuple[LMVSC, dict[str, Any]]:
    """Give the model, and what the fit noted beside it."""
    from manyview import load

    file = path / "model.mv" if path.is_dir() else path
    if not file.is_file():
        raise Failure(f"there is no model {file}.", is_bad_input=True)
    estimator = load(file)
    try:
        facts = json.loads((file.parent / "summary.json").read_text(encoding="utf-8"))["fit"]
    except (OSError, ValueError, KeyError, TypeError):
        facts = {}
    return estimator, facts if isinstance(facts, dict) else {}


def _as_fitted(inputs: Inputs, facts: dict[str, Any]) -> Inputs:
    """Read new files as those of the fit were read, where nothing else is asked for."""
    fitted = facts.get("inputs", {})
    if inputs.columns is None and len(inputs.texts) == 1 and fitted.get("columns"):
        inputs = replace(inputs, columns=fitted["columns"])
    if inputs.id_column is None and inputs.join != "order":
        inputs = replace(inputs, id_column=fitted.get("id_column"))
    return inputs


def _read(inputs: Inputs, estimator: LMVSC, facts: dict[str, Any], *, needs_ids: bool) -> Assembled:
    from manyview.readers import parse
    from manyview.views.files import assemble

    if not inputs.texts:
        raise click.UsageError("Missing argument 'VIEW...'.", click.get_current_context())
    known = {} if inputs.columns else facts.get("columns", {})
    requests = []
    for place, text in enumerate(inputs.texts):
        request = replace(
            parse(text),
            id_column=inputs.id_column,
            label_column=inputs.label_column,
            columns=inputs.columns or {},
            drop=inputs.drop,
            vocabulary=options_in_words(),
        )
        number = _fitted_view(request, place, len(inputs.texts), estimator)
        is_transposed = (request.name or request.key or request.stem) in inputs.transpose
        if number is not None and not is_transposed:  # then its columns are not known yet
            request = replace(
                request,
                n_features=int(estimator.n_features_per_view_[number]),
                features=known.get(estimator.view_names_[number]),
            )
        requests.append(request)
    data = assemble(
        requests,
        needs=(inputs.id_column,) if needs_ids else (),
        transpose=inputs.transpose,
        join=inputs.join,
        memory_limit=memory_for_views(),
    )
    for note in data.notes:
        say(note)
    return data


def _fitted_view(request: Request, place: int, n_files: int, estimator: LMVSC) -> int | None:
    """Give which fitted view a file is: the one with its name, else the one at its place."""
    names = list(estimator.view_names_)
    own = request.name or request.key or request.stem
    if own in names:
        return names.index(own)
    return place if n_files == len(names) else None


def _is_named(inputs: Inputs) -> bool:
    """Whether the user named the views."""
    from manyview.readers import parse

    return any(parse(text).name is not None for text in inputs.texts)


def _in_order(data: Assembled, estimator: LMVSC, *, is_named: bool) -> Views:
    """Give the views under the names that were fitted."""
    from manyview import Views

    views, fitted = data.views, list(estimator.view_names_)
    if set(views.names) == set(fitted) or views.n_views != len(fitted):
        return views
    if is_named:
        raise Failure(
            f"the views are called {', '.join(views.names)}, but the model was fitted to "
            f"{', '.join(fitted)}. Use the same names, NAME=PATH.",
            is_bad_input=True,
        )
    pairs = ", ".join(f"{new} as {old}" for new, old in zip(views.names, fitted, strict=True))
    say(f"Views are taken in the model's order: {pairs}.")
    renamed = Views(list(views.arrays), names=fitted)
    renamed.feature_names = views.feature_names
    return renamed


def _align_columns(views: Views, facts: dict[str, Any]) -> Views:
    """Give the columns of every view, where they have names, in the order that was fitted."""
    from manyview import Views
    from manyview.views.selection import select_columns
    from manyview.wording import lacks_columns

    known, arrays, names = facts.get("columns", {}), [], []
    for (name, array), found in zip(views.items(), views.feature_names, strict=True):
        wanted = None if found is None or name not in known else tuple(known[name])
        arrays.append(array)
        names.append(found if wanted is None else wanted)
        if found is None or wanted is None or wanted == found:
            continue
        places = {column: place for place, column in enumerate(found)}
        missing = [column for column in wanted if column not in places]
        if missing:
            raise Failure(lacks_columns(f"view {name!r}", missing), is_bad_input=True)
        arrays[-1] = select_columns(array, [places[column] for column in wanted])
    aligned = Views(arrays, names=views.names)
    aligned.feature_names = tuple(names)
    return aligned


def _write(output: Path | None, labels: Any, data: Assembled, inputs: Inputs) -> None:
    import numpy as np

    from manyview.cli.results import write_label_lines, write_labels

    if output is not None:
        with whole_file(output) as path:
            if output.suffix == ".npy":
                with path.open("wb") as file:
                    np.save(file, labels)
            else:
                write_labels(path, labels, data.ids, inputs.id_column)
    counts = {int(k): int(n) for k, n in zip(*np.unique(labels, return_counts=True), strict=True)}
    if current().as_json:
        result: dict[str, Any] = {"n_rows": len(labels), "cluster_sizes": counts}
        if output is None:
            result["labels"] = np.asarray(labels).tolist()
            result["ids"] = None if data.ids is None else data.ids.tolist()
        click.echo(json.dumps(result))
    elif output is None:
        header = "row" if data.ids is None else inputs.id_column or "id"
        write_label_lines(sys.stdout, labels, data.ids, header)
    else:
        say(f"{len(labels)} rows in {len(counts)} clusters to {output}")
