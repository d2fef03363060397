"""What a fit leaves in its folder, and what it prints."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from manyview.cli import how_to_install
from manyview.cli.console import current, print_result, say
from manyview.cli.folder import print_files, write_record
from manyview.machine import whole_file

if TYPE_CHECKING:
    from manyview import LMVSC
    from manyview.cli.inputs import Inputs
    from manyview.readers import Assembled

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
        for name in FILES:
            (folder / name).unlink(missing_ok=True)
        for name in ("labels.csv", "labels.npy"):
            write_labels(folder / name, self.model.labels_, self.data.ids, self.inputs.id_column)
            done.append(name)
        write_array(folder / "embedding.npy", self.model.embedding_)
        done.append("embedding.npy")
        with whole_file(folder / "model.mv") as path:
            self.model.save(path)
        done.append("model.mv")
        facts = {"fit": self.facts()}
        write_record(folder / "summary.json", facts)  # all that 'manyview report' needs
        done.append("summary.json")
        return facts

    def write_report(self, folder: Path, facts: dict[str, Any], done: list[str]) -> None:
        """Add what a report shows to the facts, and write the page made of them."""
        try:
            facts = {**report_facts(self.model, self.data, facts["fit"]), **facts}
            write_record(folder / "summary.json", facts)
            from manyview.report import write_report

            write_report(facts, folder / "report.html", force=True)
        except ModuleNotFoundError as error:
            advice = how_to_install(error)
            if advice is None:
                raise
            say(f"No report.html: {advice}")
        else:
            done.append("report.html")

    def facts(self) -> dict[str, Any]:
        """Everything there is to know about the fit, as JSON."""
        import manyview

        views, model = self.data.views, self.model
        kinds = zip(
            views.names,
            self.data.files,
            views.n_features,
            model.scaling_,
            map(float, model.view_weights_),
            strict=True,
        )
        names = ("name", "file", "n_features", "scaling", "weight")
        columns = zip(views.names, views.feature_names, strict=True)
        params = {n: v for n, v in model.get_params().items() if n not in ("engine", "verbose")}
        return {
            "manyview_version": manyview.__version__,
            "command": self.command,
            "n_rows": views.n_rows,
            "n_clusters": len(model.cluster_centers_),
            "cluster_sizes": self._sizes(),
            "views": [dict(zip(names, kind, strict=True)) for kind in kinds],
            "columns": {name: list(found) for name, found in columns if found},
            "has_ids": self.data.ids is not None,
            "notes": list(self.data.notes),
            "scores": self._scores(),
            "parameters": _plain(params),
            "choices": _plain(getattr(model, "choices_", [])),
            "seed": self.seed,
            "seconds": round(self.seconds, 3),
            "stage_seconds": {s: round(float(t), 4) for s, t in model.stage_seconds_.items()},
            "stage_memory": model.stage_memory_,
            "warnings": self.warnings,
            "inputs": self.inputs.record(),
        }

    def _sizes(self) -> list[int]:
        import numpy as np

        k = len(self.model.cluster_centers_)
        return [int(n) for n in np.bincount(self.model.labels_, minlength=k)]

    def _scores(self) -> dict[str, float] | None:
        """The agreement with the true labels, where they are known."""
        from manyview import metrics

        target = self.data.views.target
        if target is None:
            return None
        known = known_rows(target)
        return metrics.scores(target[known], self.model.labels_[known])

    def print_answer(self, folder: Path, facts: dict[str, Any]) -> None:
        """Print the clusters, the scores and the files."""

        def show() -> None:
            sizes, views = facts["cluster_sizes"], self.data.views
            click.echo(
                f"{views.n_rows} rows in {views.n_views} view(s) ({describe_views(views)}): "
                f"{len(sizes)} clusters in {self.seconds:.1f} s"
            )
            click.echo(
                f"sizes: {', '.join(map(str, sizes[:20]))}{', ...' if len(sizes) > 20 else ''}"
            )
            if current().verbose:
                for choice in getattr(self.model, "choices_", []):
                    say(f"chosen: {choice['parameter']} = {choice['value']} ({choice['why']})")
            if facts["scores"] is not None:
                words = (f"{title} {facts['scores'][name]:.3f}" for name, title in SCORES.items())
                click.echo(f"against the true labels: {', '.join(words)}")
            if not current().quiet:
                print_files(folder, FILES)

        print_result(facts, show)


def describe_views(views: Any) -> str:
    """Names and widths of views in words."""
    return ", ".join(
        f"{name} {width}" for name, width in zip(views.names, views.n_features, strict=True)
    )


def known_rows(labels: Any) -> Any:
    """Which rows have a label, as a mask; ``None``, NaN and empty text are none.

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


def write_array(path: Path, array: Any) -> None:
    """Write an npy file, whole or not at all."""
    import numpy as np

    with whole_file(path) as unfinished, unfinished.open("wb") as file:
        np.save(file, array)


def write_labels(path: Path, labels: Any, ids: Any, id_column: str | None) -> None:
    """Write the clusters as an array (.npy), or with the ids or numbers of the rows (.csv)."""
    if path.suffix == ".npy":
        write_array(path, labels)
        return
    with whole_file(path) as part, part.open("w", newline="", encoding="utf-8") as file:
        write_label_lines(file, labels, ids, id_column)


def write_label_lines(file: Any, labels: Any, ids: Any, id_column: str | None) -> None:
    """Write lines with the id (or the number) and the cluster of every row."""
    import numpy as np

    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["row" if ids is None else id_column or "id", "cluster"])
    first = range(len(labels)) if ids is None else np.asarray(ids).tolist()
    writer.writerows(zip(first, np.asarray(labels).tolist(), strict=True))


def report_facts(model: LMVSC, data: Assembled, fit: dict[str, Any]) -> dict[str, Any]:
    """What a report shows, from a model, its views and the facts of its fit."""
    from manyview.report import build_summary

    facts: dict[str, Any] = build_summary(
        model, data.views, ids=data.ids, command=fit["command"], random_state=fit["seed"]
    )
    return facts


def _plain(value: Any) -> Any:
    """Parameters and what was chosen, as JSON."""

    def as_text(value: Any) -> Any:
        is_number = hasattr(value, "item") and getattr(value, "ndim", 1) == 0
        return value.item() if is_number else str(value)

    return json.loads(json.dumps(value, default=as_text))
