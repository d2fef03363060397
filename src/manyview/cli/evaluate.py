"""``manyview evaluate``: how well clusters agree with known classes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from manyview.cli.failure import Failure
from manyview.cli.results import SCORES, known_rows, say_unlabelled
from manyview.cli.shared import current, say, shared_options

if TYPE_CHECKING:
    from manyview.readers import LabelFile


@click.command(name="evaluate")
@click.argument("true", metavar="TRUE")
@click.argument("predicted", metavar="PRED")
@click.option(
    "--id-column", metavar="NAME", help="Column that identifies rows; id and row are known."
)
@click.option(
    "--join",
    type=click.Choice(["exact", "inner", "order"]),
    default="exact",
    show_default=True,
    help="By id, the same in both; by id, the common ones; or by place.",
)
@shared_options("quiet", "verbose", "as_json")
def command(true: str, predicted: str, id_column: str | None, join: str) -> None:
    """Compare clusters with known classes, row by row.

    TRUE and PRED are files with one label a row, FILE or FILE::COLUMN, of any format that fit
    reads. Where both have ids, rows are matched by them. Names of clusters do not matter.
    """
    from manyview import metrics
    from manyview.readers import read_labels

    classes = read_labels(true, id_column=id_column)
    clusters = read_labels(predicted, id_column=id_column)
    for file in (classes, clusters):
        say(file.note)
    if id_column is not None and id_column not in (classes.ids_name, clusters.ids_name):
        raise Failure(
            f"neither file has a column {id_column!r} to identify rows by.", is_bad_input=True
        )
    y_true, y_pred = _match(classes, clusters, (true, predicted), join)
    known = known_rows(y_true) & known_rows(y_pred)
    say_unlabelled(known)
    y_true, y_pred = y_true[known], y_pred[known]
    scores = metrics.scores(y_true, y_pred)
    counts = {
        "n_rows": len(y_true),
        "n_classes": len(set(y_true.tolist())),
        "n_clusters": len(set(y_pred.tolist())),
    }
    if current().as_json:
        click.echo(json.dumps({**counts, **scores}, indent=2))
        return
    click.echo(
        f"{counts['n_rows']} rows, {counts['n_classes']} classes, {counts['n_clusters']} clusters"
    )
    width = max(map(len, SCORES.values()))
    for name, title in SCORES.items():
        click.echo(f"{title:<{width}}  {scores[name]:.4f}")


def _match(
    classes: LabelFile, clusters: LabelFile, names: tuple[str, str], join: str
) -> tuple[Any, Any]:
    """Give both labels of the same rows."""
    from manyview.cli.inputs import options_in_words
    from manyview.views.joining import match_ids

    have_ids = [classes.ids is not None, clusters.ids is not None]
    ids = [file.ids for file in (classes, clusters) if file.ids is not None]
    if all(have_ids) and join != "order":
        match = match_ids(ids, names, join, options_in_words())
        say(match.note)
        first, second = match.places
        return (
            classes.labels if first is None else classes.labels[first],
            clusters.labels if second is None else clusters.labels[second],
        )
    if len(classes.labels) != len(clusters.labels):
        raise Failure(
            f"{names[0]} has {len(classes.labels)} labels but {names[1]} has "
            f"{len(clusters.labels)}, and there are no ids on both sides to match them by.",
            is_bad_input=True,
        )
    if any(have_ids) and join != "order" and not (classes.are_places and clusters.are_places):
        raise Failure(
            f"only {names[0] if have_ids[0] else names[1]} has ids. If both files have their rows in "
            "the same order, say --join order.",
            is_bad_input=True,
        )
    say("Rows are matched by their place in the files.")
    return classes.labels, clusters.labels
