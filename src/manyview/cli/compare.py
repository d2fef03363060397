"""``manyview compare``: two clusterings of the same rows, and who moved where."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import click

from manyview.cli.console import Failure, echo, print_result, print_table, say, shared_options
from manyview.cli.label_files import join_option, label_path, read_label_pair
from manyview.cli.options import PICTURES, check_ending, force_option, output_option
from manyview.cli.results import claim_file, new_file, refuse_inputs

_SHOWN = 20


@click.command(name="compare", short_help="Compare two clusterings: which rows moved.")
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
@click.option("--id-column", metavar="NAME", help="Column that identifies rows.")
@join_option
@output_option("FILE", "A picture of the moves (.png, .svg, .pdf).")
@click.option(
    "--moved",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write id, old and new cluster of every row that moved (.csv).",
)
@force_option("Replace existing files.")
@shared_options("quiet", "verbose", "as_json")
def command(
    first: str,
    second: str,
    id_column: str | None,
    join: str,
    output: Path | None,
    moved: Path | None,
    force: bool,
) -> None:
    """Compare two clusterings of the same rows: how far they agree, and which rows moved.

    A and B are folders written by 'manyview fit', models (model.mv), or files with one label per
    row. Clusters of B are renumbered to match those of A as far as possible.
    """
    inputs = [label_path(first), label_path(second)]
    for path, endings in ((output, PICTURES), (moved, (".csv",))):
        if path is not None:
            flag = "-o" if path is output else "--moved"
            check_ending(path, endings, flag=flag)
            refuse_inputs([path], inputs, flag=flag)
            claim_file(path, force=force, flag=flag)
    before, after, ids = read_label_pair((first, second), id_column=id_column, join=join)
    facts, matched = _compare(before, after)
    if output is not None:
        _draw(before, matched, output, (first, second))
    if moved is not None:
        _write_moved(moved, before, matched, ids)
    print_result(facts, lambda: _print(facts))


def _compare(before: Any, after: Any) -> tuple[dict[str, Any], Any]:
    """All there is to say, as JSON, and B's labels with A's numbers."""
    import numpy as np

    from manyview import metrics

    for labels in (before, after):
        if labels.dtype.kind not in "iu":
            wrong = next(text for text in map(str, labels.tolist()) if not _is_whole(text))
            raise Failure(
                f"labels must be numbers of clusters; got {wrong!r}. For names of classes, "
                "there is 'manyview evaluate'."
            )
    matched = metrics.match_labels(before, after)
    scores = metrics.scores(before, after)
    pairs, counts = np.unique(np.stack([before, matched], axis=1), axis=0, return_counts=True)
    moves = [
        {"from": int(a), "to": int(b), "rows": int(n)}
        for (a, b), n in zip(pairs, counts, strict=True)
        if a != b
    ]
    moves.sort(key=lambda move: -move["rows"])
    kept = float(np.mean(before == matched))
    numbers = {int(a): int(b) for a, b in zip(after, matched, strict=True)}
    return {
        "n_rows": len(before),
        "n_clusters": [len(np.unique(own[own >= 0])) for own in (before, after)],
        "n_outliers": [int((own < 0).sum()) for own in (before, after)],
        "same": kept,
        "nmi": scores["nmi"],
        "ari": scores["ari"],
        "numbers": numbers,
        "moves": moves,
    }, matched


def _is_whole(text: str) -> bool:
    """Whether some text is a whole number."""
    from manyview.readers.text import is_number

    return is_number(text) and float(text).is_integer()


def _print(facts: dict[str, Any]) -> None:
    first, second = facts["n_clusters"]
    n_moved = sum(move["rows"] for move in facts["moves"])
    echo(
        f"{facts['n_rows']} rows in {first} and {second} clusters: {facts['same']:.1%} are in the same "
        f"cluster, {n_moved} moved (NMI {facts['nmi']:.4f}, ARI {facts['ari']:.4f})"
    )
    if any(facts["n_outliers"]):
        echo("rows without a cluster (-1): {} and {}".format(*facts["n_outliers"]))
    numbers = sorted(facts["numbers"].items())
    renamed = [f"{own} is {known}" for own, known in numbers if own != known]
    if renamed:
        echo(f"clusters of B in A's numbers: {', '.join(renamed[:_SHOWN])}")
    if facts["moves"]:
        rows = [[move["from"], move["to"], move["rows"]] for move in facts["moves"][:_SHOWN]]
        print_table(["from", "to", "rows"], rows, right=[0, 1, 2])
        if len(facts["moves"]) > _SHOWN:
            echo(f"and {len(facts['moves']) - _SHOWN} more")


def _draw(before: Any, matched: Any, path: Path, names: tuple[str, str]) -> None:
    from matplotlib.figure import Figure

    from manyview.report.flows import FlowDisplay

    display = FlowDisplay(before, matched, names=names)
    figure = Figure(figsize=(7, max(4.0, 0.25 * display.n_bars)), dpi=150, layout="constrained")
    display.plot(ax=figure.add_subplot())
    with new_file(path) as unfinished:
        figure.savefig(unfinished, format=path.suffix[1:])
    say(f"The picture is {path}.")


def _write_moved(path: Path, before: Any, matched: Any, ids: Any) -> None:
    import numpy as np

    from manyview.readers.guarding import guard
    from manyview.sources import as_ids

    rows = np.flatnonzero(before != matched)
    names = rows if ids is None else map(guard, as_ids(ids[rows]).tolist())
    with new_file(path) as part, part.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["row" if ids is None else "id", "from", "to"])
        writer.writerows(zip(names, before[rows], matched[rows], strict=True))
    say(f"{len(rows)} rows that moved are in {path}.")
