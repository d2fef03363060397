"""``manyview demo``: cluster the embedded digits, score the clusters, draw them."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from manyview.cli.shared import current, shared_options

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
_SCORES = {
    "accuracy": "accuracy",
    "nmi": "NMI (max)",
    "purity": "purity",
    "inverse_purity": "inverse purity",
    "ari": "ARI",
}
_N_CLUSTERS = 10


@dataclass(frozen=True)
class _Contest:
    """What the two methods made of the same views."""

    model: LMVSC
    scores: dict[str, dict[str, float]]
    compile_seconds: float


@click.command(name="demo", short_help="Cluster handwritten digits, and draw them.")
@click.option(
    "-o",
    "--output",
    "folder",
    metavar="FOLDER",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("manyview-demo"),
    show_default=True,
    help="Where results go.",
)
@click.option("--force", is_flag=True, help="Replace files that this command did not write.")
@shared_options("seed", "quiet", "as_json", "verbose")
def command(folder: Path, force: bool) -> None:
    """Cluster 1797 handwritten digits seen in five ways, and draw them.

    Prints scores beside those of k-means, and writes the clusters, the model and a picture. Files
    of an earlier demo in FOLDER are replaced; nothing else in it is touched.
    """
    import numpy as np

    from manyview.cli.display import stage_bars
    from manyview.cli.folder import claim_folder
    from manyview.cli.picture import draw
    from manyview.datasets import digits_views

    seed, quiet = current().seed, current().quiet
    claim_folder(folder, list(_FILES), record=_RECORD, force=force)
    views = digits_views()
    with stage_bars(quiet=quiet) as bars:
        contest = _compare(views, seed, bars)
        with bars.step("picture"):
            images, digits = views["pixels"].reshape(-1, 8, 8), np.asarray(views.target)
            figure = draw(images, digits, contest.model, seed=seed)
    _write(folder, views, contest, figure, seed)
    if current().as_json:
        click.echo((folder / _RECORD).read_text(encoding="utf-8"), nl=False)
        return
    _print_scores(views, contest, seed)
    if not quiet:
        _print_files(folder)


def _compare(views: Views, seed: int, bars: StageBars) -> _Contest:
    """Fit both methods to the views, and score them."""
    from manyview import LMVSC, metrics
    from manyview.cli.display import Watched

    with bars.step("compiling (first run only)"):
        started = time.perf_counter()
        LMVSC(_N_CLUSTERS, random_state=seed).fit(views[:400])
        compile_seconds = time.perf_counter() - started
    started = time.perf_counter()
    model = LMVSC(_N_CLUSTERS, engine=Watched("memory", bars), random_state=seed).fit(views)
    seconds = time.perf_counter() - started
    with bars.step("k-means to compare with"):
        rival_labels, rival_seconds = _run_kmeans(views, seed)
    scores = {
        "LMVSC": metrics.scores(views.target, model.labels_) | {"seconds": seconds},
        "k-means": metrics.scores(views.target, rival_labels) | {"seconds": rival_seconds},
    }
    return _Contest(model, scores, compile_seconds)


def _run_kmeans(views: Views, seed: int) -> tuple[Any, float]:
    """Labels of k-means on all standardised columns side by side, and its seconds."""
    import numpy as np
    from sklearn.cluster import KMeans
    from sklearn.preprocessing import StandardScaler

    started = time.perf_counter()
    X = StandardScaler().fit_transform(np.hstack(views.arrays))
    labels = KMeans(_N_CLUSTERS, n_init=10, random_state=seed).fit_predict(X)
    return labels, time.perf_counter() - started


def _write(folder: Path, views: Views, contest: _Contest, figure: Any, seed: int) -> None:
    import numpy as np

    import manyview
    from manyview.cli.folder import write_record
    from manyview.cli.picture import save

    model, labels = contest.model, contest.model.labels_
    # The record comes first: should writing be interrupted, the next run knows its own files.
    write_record(
        folder / _RECORD,
        {
            "manyview_version": manyview.__version__,
            "seed": seed,
            "n_clusters": _N_CLUSTERS,
            "scores": contest.scores,
            "stage_seconds": model.stage_seconds_,
        },
    )
    save(figure, folder / "embedding.png")
    np.save(folder / "labels.npy", labels)
    model.save(folder / "model.mv")
    table = np.column_stack([np.arange(len(labels)), labels, np.asarray(views.target)])
    np.savetxt(
        folder / "labels.csv",
        table,
        fmt="%d",
        delimiter=",",
        header="row,cluster,digit",
        comments="",
    )


def _print_scores(views: Views, contest: _Contest, seed: int) -> None:
    from rich.box import SIMPLE
    from rich.console import Console
    from rich.table import Table

    views_listed = ", ".join(f"{name} {array.shape[1]}" for name, array in views.items())
    console = Console(highlight=False, soft_wrap=True)
    console.print(f"{views.n_rows} digits in {views.n_views} views ({views_listed})")
    console.print(f"LMVSC: n_clusters={_N_CLUSTERS}, all else on default, seed {seed}")
    console.print("k-means: all views side by side, columns standardised, best of 10 starts")
    table = Table("", *contest.scores, box=SIMPLE, pad_edge=False)
    for column in table.columns[1:]:
        column.justify = "right"
    for key, title in _SCORES.items():
        values = [scores[key] for scores in contest.scores.values()]
        table.add_row(title, *(_strong(f"{v:.3f}", v == max(values)) for v in values))
    table.add_row("seconds", *(f"{s['seconds']:.2f}" for s in contest.scores.values()))
    for stage, seconds in contest.model.stage_seconds_.items():
        table.add_row(f"  {stage}", f"{seconds:.2f}", "")
    console.print(table)
    if contest.compile_seconds > 3:
        console.print(
            f"Compiling, which later runs skip, took {contest.compile_seconds:.0f} s before that."
        )


def _strong(text: str, is_best: bool) -> str:
    return f"[bold]{text}[/bold]" if is_best else text


def _print_files(folder: Path) -> None:
    click.echo("Written:")
    width = max(len(str(folder / name)) for name in _FILES)
    for name, content in _FILES.items():
        click.echo(f"  {folder / name!s:<{width}}  {content}")
