"""What a fit leaves in its folder, and what it prints."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from manyview.cli.shared import current, say
from manyview.machine import whole_file

if TYPE_CHECKING:
    from manyview import LMVSC
    from manyview.cli.inputs import Inputs
    from manyview.views.files import Assembled

FILES = {
    "report.html": "the report: open this first",
    "labels.csv": "id and cluster of every row",
    "labels.npy": "the clusters as an array",
    "embedding.npy": "where each row lies in the embedding",
    "model.mv": "the model, for manyview predict",
    "summary.json": "all facts: sizes, scores, settings, choices, seconds",
}
"""Everything that a fit writes, the first thing to open first."""

SCORES = {
    "accuracy": "accuracy",
    "nmi": "NMI (max)",
    "ari": "ARI",
    "f_score": "F-score",
    "purity": "purity",
    "inverse_purity": "inverse purity",
}
"""Scores that are shown, and their names."""


@dataclass(frozen=True)
class Fitted:
    """A finished fit, ready to be written.

    Attributes
    ----------
    model : LMVSC
        Fitted.
    data : Assembled
        What it was fitted to.
    inputs : Inputs
        Where that came from.
    command : str
        What the user typed.
    seed : int
        Seed of the fit.
    seconds : float
        How long reading and fitting took.
    warnings : list of str
        What the library remarked.
    """

    model: LMVSC
    data: Assembled
    inputs: Inputs
    command: str
    seed: int
    seconds: float
    warnings: list[str]

    def write(self, folder: Path, done: list[str]) -> dict[str, Any]:
        """Write labels, embedding, model and facts; note in ``done`` what is written.

        What an earlier run left is removed first, so that nothing in the folder is of another run.
        """
        import numpy as np

        from manyview.cli.folder import write_record

        for name in FILES:
            (folder / name).unlink(missing_ok=True)
        with whole_file(folder / "labels.csv") as path:
            write_labels(path, self.model.labels_, self.data.ids, self.inputs.id_column)
        done.append("labels.csv")
        for name, array in (
            ("labels.npy", self.model.labels_),
            ("embedding.npy", self.model.embedding_),
        ):
            with whole_file(folder / name) as path, path.open("wb") as file:
                np.save(file, array)
            done.append(name)
        with whole_file(folder / "model.mv") as path:
            self.model.save(path)
        done.append("model.mv")
        facts = {"fit": self._facts()}
        write_record(folder / "summary.json", facts)  # all that 'manyview report' needs
        done.append("summary.json")
        return facts

    def write_report(self, folder: Path, facts: dict[str, Any], done: list[str]) -> None:
        """Add what a report shows to the facts, and write the page made of them."""
        from manyview.cli.folder import write_record

        facts = {**_report_facts(self.model, self.data, self.command, self.seed), **facts}
        write_record(folder / "summary.json", facts)
        if draw_report(facts, folder / "report.html", force=True):
            done.append("report.html")

    def scores(self) -> dict[str, float] | None:
        """Give the agreement with the true labels, where they are known."""
        from manyview import metrics

        target = self.data.views.target
        if target is None:
            return None
        known = known_rows(target)
        return metrics.scores(target[known], self.model.labels_[known])

    def sizes(self) -> list[int]:
        """Give the number of rows of each cluster."""
        import numpy as np

        k = len(self.model.cluster_centers_)
        return [int(n) for n in np.bincount(self.model.labels_, minlength=k)]

    def _facts(self) -> dict[str, Any]:
        import manyview

        views = self.data.views
        model = self.model
        columns = dict(zip(views.names, views.feature_names, strict=True))
        params = {n: v for n, v in model.get_params().items() if n not in ("engine", "verbose")}
        return {
            "manyview_version": manyview.__version__,
            "command": self.command,
            "n_rows": views.n_rows,
            "n_clusters": len(model.cluster_centers_),
            "cluster_sizes": self.sizes(),
            "views": [
                {
                    "name": name,
                    "file": file,
                    "n_features": width,
                    "scaling": scaling,
                    "weight": weight,
                }
                for name, file, width, scaling, weight in zip(
                    views.names,
                    self.data.files,
                    views.n_features,
                    model.scaling_,
                    [float(w) for w in model.view_weights_],
                    strict=True,
                )
            ],
            "columns": {name: list(found) for name, found in columns.items() if found},
            "has_ids": self.data.ids is not None,
            "notes": list(self.data.notes),
            "scores": self.scores(),
            "parameters": {name: _plain(value) for name, value in params.items()},
            "choices": [
                {name: _plain(value) for name, value in choice.items()}
                for choice in getattr(model, "choices_", [])
            ],
            "seed": self.seed,
            "seconds": round(self.seconds, 3),
            "stage_seconds": {s: round(float(t), 4) for s, t in model.stage_seconds_.items()},
            "stage_memory": model.stage_memory_,
            "warnings": self.warnings,
            "inputs": self.inputs.record(),
        }

    def print_answer(self, folder: Path, report: bool) -> None:
        """Print the clusters, the scores and the files."""
        if current().as_json:
            facts = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
            click.echo(json.dumps(facts["fit"], indent=2))
            return
        views, sizes = self.data.views, self.sizes()
        listed = ", ".join(f"{n} {d}" for n, d in zip(views.names, views.n_features, strict=True))
        click.echo(
            f"{views.n_rows} rows in {views.n_views} view(s) ({listed}): {len(sizes)} clusters in "
            f"{self.seconds:.1f} s"
        )
        shown = ", ".join(map(str, sizes[:20])) + (", ..." if len(sizes) > 20 else "")
        click.echo(f"sizes: {shown}")
        if current().verbose:
            for choice in getattr(self.model, "choices_", []):
                say(f"chosen: {choice['parameter']} = {choice['value']} ({choice['why']})")
        scores = self.scores()
        if scores is not None:
            words = (f"{title} {scores[name]:.3f}" for name, title in SCORES.items())
            click.echo(f"against the true labels: {', '.join(words)}")
        if not current().quiet:
            print_files(folder)


def known_rows(labels: Any) -> Any:
    """Give which rows have a label, as a mask; ``None``, NaN and empty text are none.

    Raises
    ------
    ValueError
        If no row has one.
    """
    from manyview.report.classes import encode_classes

    known = encode_classes(labels, len(labels)).codes >= 0
    if not known.any():
        raise ValueError("No row has a label: all of them are empty or NaN.")
    return known


def say_unlabelled(known: Any) -> None:
    """Tell how many rows have no label, if there are any."""
    from manyview.wording import count

    if not known.all():
        say(f"{count(int((~known).sum()), 'row')} without a label, left out of the scores.")


def print_files(folder: Path) -> None:
    """List what is in the folder."""
    found = {name: words for name, words in FILES.items() if (folder / name).exists()}
    width = max(len(str(folder / name)) for name in found)
    for name, words in found.items():
        click.echo(f"  {folder / name!s:<{width}}  {words}")


def write_labels(path: Path, labels: Any, ids: Any, id_column: str | None) -> None:
    """Write a CSV file with the id (or the number) and the cluster of every row."""
    header = "row" if ids is None else id_column or "id"
    with path.open("w", newline="", encoding="utf-8") as file:
        write_label_lines(file, labels, ids, header)


def write_label_lines(file: Any, labels: Any, ids: Any, header: str) -> None:
    """Write lines with the id and the cluster of every row."""
    import numpy as np

    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([header, "cluster"])
    first = range(len(labels)) if ids is None else np.asarray(ids).tolist()
    writer.writerows(zip(first, np.asarray(labels).tolist(), strict=True))


def _report_facts(model: LMVSC, data: Assembled, command: str, seed: int) -> dict[str, Any]:
    """Give the facts of a report; nothing where this installation cannot make them."""
    try:
        from manyview.report import build_summary
    except ModuleNotFoundError:
        return {}
    facts: dict[str, Any] = build_summary(
        model, data.views, ids=data.ids, command=command, random_state=seed
    )
    return facts


def draw_report(facts: dict[str, Any], path: Path, *, force: bool, static: bool = False) -> bool:
    """Write the page of some facts; say what to install where it cannot be drawn."""
    from manyview.cli.extras import how_to_install

    if set(facts) <= {"fit", "made_by"}:
        return False
    try:
        from manyview.report import write_report

        write_report(facts, path, static=static, force=force)
    except ModuleNotFoundError as error:
        advice = how_to_install(error)
        if advice is None:
            raise
        say(f"No report.html: {advice}")
        return False
    return True


def _plain(value: Any) -> Any:
    """Give a parameter as JSON."""
    if isinstance(value, str | int | float | bool | None):
        return value
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value.item() if hasattr(value, "item") and getattr(value, "ndim", 1) == 0 else str(value)
