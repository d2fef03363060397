"""``manyview evaluate``: how well clusters agree with known classes."""

from __future__ import annotations

import click

from manyview.cli.console import echo, print_result, shared_options
from manyview.cli.label_files import join_option, read_label_pair
from manyview.cli.results import SCORES, known_rows, say_unlabelled


@click.command(name="evaluate")
@click.argument("true", metavar="TRUE")
@click.argument("predicted", metavar="PRED")
@click.option(
    "--id-column",
    metavar="NAME",
    help="Column that identifies rows; 'id' and 'row' are recognised.",
)
@join_option
@shared_options("quiet", "verbose", "as_json")
def command(true: str, predicted: str, id_column: str | None, join: str) -> None:
    """Score clusters against known classes.

    TRUE and PRED are files with one label per row, FILE or FILE::COLUMN, in any format that fit
    reads. If both have ids, rows are matched by id. Names of clusters do not matter.
    """
    from manyview import metrics

    y_true, y_pred, _ = read_label_pair((true, predicted), id_column=id_column, join=join)
    known = known_rows(y_true) & known_rows(y_pred)
    say_unlabelled(known)
    y_true, y_pred = y_true[known], y_pred[known]
    scores = metrics.scores(y_true, y_pred)
    n_classes, n_clusters = (len(set(labels.tolist())) for labels in (y_true, y_pred))
    counts = {"n_rows": len(y_true), "n_classes": n_classes, "n_clusters": n_clusters}

    def show() -> None:
        echo(f"{len(y_true)} rows, {n_classes} classes, {n_clusters} clusters")
        width = max(map(len, SCORES.values()))
        for name, title in SCORES.items():
            echo(f"{title:<{width}}  {scores[name]:.4f}")

    print_result({**counts, **scores}, show)
