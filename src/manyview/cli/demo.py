"""``manyview demo``: cluster the embedded digits, score the clusters, draw them."""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from manyview.cli.bench import kmeans_labels
from manyview.cli.console import current, print_result, print_table, shared_options
from manyview.cli.options import force_option, output_option
from manyview.cli.results import SCORES, claim_folder, describe_views, print_files, write_record

# What takes long to import is imported when the command runs, so that --help is quick.
if TYPE_CHECKING:
    from manyview import LMVSC, Views
    from manyview.cli.display import StageBars

_RECORD = "scores.json"
_FILES = {
    "embedding.png": "the picture: open this first",
    "labels.csv": "row, cluster and true digit of every image",
    "labels.npy": "the clusters as an array",
    "model.mv": "the model: manyview.load(...).predict(...)",
    _RECORD: "all scores, seconds and settings",
}
_N_CLUSTERS = 10


@dataclass(frozen=True)
class _Contest:
    """What the two methods made of the same views."""

    model: LMVSC
    scores: dict[str, dict[str, float]]
    compile_seconds: float


@click.command(name="demo", short_help="Cluster handwritten digits, and draw them.")
@output_option("FOLDER", "Where results go.", default=Path("manyview-demo"), show_default=True)
@force_option("Replace files that this command did not write.")
@shared_options("seed", "quiet", "as_json", "verbose")
def command(output: Path, force: bool) -> None:
    """Cluster 1797 handwritten digits seen in five ways, and draw them.

    Prints scores beside those of k-means, and writes the clusters, the model and a picture. Files
    of an earlier demo in FOLDER are replaced; nothing else in it is touched.
    """
    from manyview.cli.display import stage_bars
    from manyview.cli.picture import draw
    from manyview.datasets import digits_views

    claim_folder(output, _FILES, record=_RECORD, force=force)
    views = digits_views()
    with stage_bars() as bars:
        contest = _compare(views, current().seed, bars)
        with bars.step("picture"):
            figure = draw(views, contest.model, seed=current().seed)
    record = _write(output, views, contest, figure)

    def show() -> None:
        _print_scores(views, contest)
        if not current().quiet:
            click.echo("Written:")
            print_files(output, _FILES)

    print_result(record, show)


def _compare(views: Views, seed: int, bars: StageBars) -> _Contest:
    """Fit both methods to the views, and score them."""
    from manyview import LMVSC, metrics
    from manyview.cli.display import Watched

    times = [time.perf_counter()]
    with bars.step("compiling (first run only)"):
        LMVSC(_N_CLUSTERS, random_state=seed).fit(views[:400])
    times.append(time.perf_counter())
    model = LMVSC(_N_CLUSTERS, engine=Watched("memory", bars), random_state=seed).fit(views)
    times.append(time.perf_counter())
    with bars.step("k-means to compare with"):
        others = kmeans_labels(views, _N_CLUSTERS, seed)
    times.append(time.perf_counter())
    compiling, fitting, comparing = (b - a for a, b in pairwise(times))
    scores = {
        "LMVSC": metrics.scores(views.target, model.labels_) | {"seconds": fitting},
        "k-means": metrics.scores(views.target, others) | {"seconds": comparing},
    }
    return _Contest(model, scores, compiling)


def _write(folder: Path, views: Views, contest: _Contest, figure: Any) -> dict[str, Any]:
    import numpy as np

    import manyview
    from manyview.cli.picture import save

    model, labels = contest.model, contest.model.labels_
    facts = {
        "manyview_version": manyview.__version__,
        "seed": current().seed,
        "n_clusters": _N_CLUSTERS,
        "scores": contest.scores,
        "stage_seconds": model.stage_seconds_,
    }
    # The record comes first: should writing be interrupted, the next run knows its own files.
    record = write_record(folder / _RECORD, facts)
    save(figure, folder / "embedding.png")
    np.save(folder / "labels.npy", labels)
    model.save(folder / "model.mv")
    table = np.column_stack([np.arange(len(labels)), labels, np.asarray(views.target)])
    kind: dict[str, Any] = {"fmt": "%d", "delimiter": ",", "comments": ""}
    np.savetxt(folder / "labels.csv", table, header="row,cluster,digit", **kind)
    return record


def _print_scores(views: Views, contest: _Contest) -> None:
    click.echo(f"{views.n_rows} digits in {views.n_views} views ({describe_views(views)})")
    click.echo(f"LMVSC: n_clusters={_N_CLUSTERS}, all else on default, seed {current().seed}")
    click.echo("k-means: all views side by side, columns standardised, best of 10 starts\n")
    found = contest.scores.values()
    rows = [[title, *(f"{s[key]:.3f}" for s in found)] for key, title in SCORES.items()]
    rows.append(["seconds", *(f"{s['seconds']:.2f}" for s in found)])
    stages = contest.model.stage_seconds_.items()
    rows += [[f"  {stage}", f"{seconds:.2f}", ""] for stage, seconds in stages]
    print_table(["", *contest.scores], rows, right=[1, 2])
    if contest.compile_seconds > 3:
        click.echo(
            f"Compiling, which later runs skip, took {contest.compile_seconds:.0f} s before that."
        )
    click.echo()
