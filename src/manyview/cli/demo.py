"""``manyview demo``: cluster the embedded digits, score the clusters, draw them."""

from __future__ import annotations

import time
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from manyview.cli.console import current, echo, print_result, print_table, shared_options
from manyview.cli.options import force_option, output_option
from manyview.cli.results import SCORES, claim_folder, describe_views, print_files, write_record
from manyview.cli.speed import kmeans_labels

# What takes long to import is imported when the command runs, so that --help is quick.
if TYPE_CHECKING:
    from manyview import LMVSC, Views
    from manyview.cli.display import StageLine

_RECORD = "scores.json"
_FILES = {
    "embedding.png": "the picture: open this first",
    "labels.csv": "row, cluster and true digit of every image",
    "labels.npy": "the clusters as an array",
    "model.mv": "the model: manyview.load(...).predict(...)",
    _RECORD: "all scores, seconds and settings",
}
_N_CLUSTERS = 10
Scores = dict[str, dict[str, float]]


@click.command(name="demo", short_help="Cluster handwritten digits and draw them.")
@output_option(
    "FOLDER", "Folder for the results.", default=Path("manyview-demo"), show_default=True
)
@force_option("Replace files that this command did not write.")
@shared_options("seed", "quiet", "as_json", "verbose")
def command(output: Path, force: bool) -> None:
    """Cluster 1797 handwritten digits from five views, and draw them.

    Prints the scores next to those of k-means, and writes the clusters, a model and a picture. Files
    of an earlier demo in FOLDER are replaced; nothing else in it is touched.
    """
    from manyview.cli.display import stage_line
    from manyview.cli.picture import draw
    from manyview.datasets import digits_views

    claim_folder(output, _FILES, record=_RECORD, force=force)
    views = digits_views()
    with stage_line() as line:
        model, scores = _compare(views, current().seed, line)
        with line.step("picture"):
            figure = draw(views, model, seed=current().seed)
    record = _write(output, views, model, scores, figure)

    def show() -> None:
        _print_scores(views, model, scores)
        if not current().quiet:
            echo("Written:")
            print_files(output, _FILES)

    print_result(record, show)


def _compare(views: Views, seed: int, line: StageLine) -> tuple[LMVSC, Scores]:
    """Fit both methods to the views, and score them."""
    from manyview import LMVSC, metrics
    from manyview.engines import Memory

    with line.step("compiling, once, about 6 s"):
        LMVSC(_N_CLUSTERS, n_repeats=1).fit(views[:400])
    times = [time.perf_counter()]
    engine = Memory(track_memory=True)
    model = LMVSC(_N_CLUSTERS, engine=engine, verbose=line, random_state=seed).fit(views)
    model.set_params(engine="auto", verbose=0)
    times.append(time.perf_counter())
    with line.step("k-means to compare with"):
        labels = {"LMVSC": model.labels_, "k-means": kmeans_labels(views, _N_CLUSTERS, seed)}
    times.append(time.perf_counter())
    seconds = (after - before for before, after in pairwise(times))
    return model, {
        name: metrics.scores(views.target, found) | {"seconds": taken}
        for (name, found), taken in zip(labels.items(), seconds, strict=True)
    }


def _write(folder: Path, views: Views, model: LMVSC, scores: Scores, figure: Any) -> dict[str, Any]:
    import numpy as np

    import manyview
    from manyview.cli.picture import save

    facts = {
        "manyview_version": manyview.__version__,
        "seed": current().seed,
        "n_clusters": _N_CLUSTERS,
        "scores": scores,
        "stage_seconds": model.stage_seconds_,
    }
    # The record comes first: should writing be interrupted, the next run knows its own files.
    record = write_record(folder / _RECORD, facts)
    save(figure, folder / "embedding.png")
    np.save(folder / "labels.npy", model.labels_)
    model.save(folder / "model.mv")
    table = np.column_stack([np.arange(views.n_rows), model.labels_, np.asarray(views.target)])
    kind: dict[str, Any] = {"fmt": "%d", "delimiter": ",", "comments": ""}
    np.savetxt(folder / "labels.csv", table, header="row,cluster,digit", **kind)
    return record


def _print_scores(views: Views, model: LMVSC, scores: Scores) -> None:
    echo(f"{views.n_rows} digits in {views.n_views} views ({describe_views(views)})")
    echo(f"LMVSC: n_clusters={_N_CLUSTERS}, all else on default, seed {current().seed}")
    echo("k-means: all views side by side, columns standardised, best of 10 starts\n")
    found = scores.values()
    rows = [[title, *(f"{own[key]:.3f}" for own in found)] for key, title in SCORES.items()]
    rows.append(["seconds", *(f"{own['seconds']:.2f}" for own in found)])
    rows += [[f"  {stage}", f"{taken:.2f}", ""] for stage, taken in model.stage_seconds_.items()]
    print_table(["", *scores], rows, right=[1, 2])
    echo()
