"""``manyview fit``: cluster files, named by options or a run file, and write all there is to know."""

from __future__ import annotations

import difflib
import shlex
import sys
import time
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from manyview.cli import how_to_install, options, results
from manyview.cli.console import Failure, current, echo, print_result, remarks, say, shared_options
from manyview.cli.inputs import Inputs, input_options, likely_ids, memory_for_views, whole_text
from manyview.cli.staging import replacing, writing
from manyview.wording import bytes_in_words, count

# What takes long to import is imported when the command runs, so that --help is quick.
if TYPE_CHECKING:
    from manyview import LMVSC, Views
    from manyview.cli.display import StageLine
    from manyview.views.files import Assembled

FILES = {
    "report.html": "the report: open this first",
    "labels.csv": "id, cluster and confidence of every row",
    "labels.npy": "the clusters as an array",
    "embedding.npy": "where each row lies in the embedding",
    "model.mv": "the model, for manyview predict",
    "summary.json": "all facts: sizes, scores, settings, choices, seconds",
}
"""Everything that a fit writes, the first thing to open first."""

_KEYS = (
    "views", "n_clusters", "output", "labels", "id_column", "label_column", "columns", "drop",
    "encode", "keep", "categories", "decimal", "encoding", "transpose", "join", "seed", "report",
    "engine", "memory_limit", "parameters",
)  # fmt: skip
"""What a run file may hold: options under their names, and tables of some of them."""

_REPEATED = ("id_column", "columns", "drop", "encode", "keep", "transpose", "texts")

_EXAMPLES = """\b
Examples:
  manyview fit colour.csv shape.parquet --id-column id -k 5 -o results
  manyview fit cells.h5mu::rna cells.h5mu::protein -k auto -o results
  manyview fit table.csv --columns colour=r,g,b --columns shape=w*,h* -k 5 -o results
"""


def use_run_file(ctx: click.Context, param: click.Parameter, path: Path | None) -> None:
    """Take what a run file says as defaults of the options, each as its flag would be written."""
    if path is None:
        return
    try:
        with path.open("rb") as file:
            content = tomllib.load(file)
    except OSError as error:
        raise Failure(f"--config {path} cannot be read: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Failure(f"--config {path} is not TOML: {error}.") from error
    _check_keys(content, _KEYS, path)
    for name in ("columns", "parameters"):
        if not isinstance(content.setdefault(name, {}), dict):
            raise Failure(f"--config {path}: {name} must be a table; got {content[name]!r}.")
    parameters = content.pop("parameters")
    _check_keys(parameters, options.PARAMETERS, path)
    if parameters.get("scaling") is False:
        parameters["scaling"] = "none"
    found: dict[str, Any] = {name: _as_flag(value) for name, value in parameters.items()}
    for name in ("labels", "output"):  # paths start at the run file's folder
        if name in content:
            content[name] = str(path.parent / str(content[name]))
    content["columns"] = [f"{view}={_as_flag(c)}" for view, c in content["columns"].items()]
    if "views" in content:
        texts = _texts(content.pop("views"), path)
        content["texts"] = [whole_text(text, path.parent) for text in texts]
    for name in _REPEATED:
        if name in content:
            value = content.pop(name)
            found[name] = list(map(str, value)) if isinstance(value, list) else [str(value)]
    found |= {name: _as_flag(value) for name, value in content.items()}
    ctx.default_map = {**(ctx.default_map or {}), **found}


def _check_keys(content: dict[str, Any], known: Sequence[str], path: Path) -> None:
    for key in content:
        if key not in known:
            near = difflib.get_close_matches(key, known, 1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise Failure(
                f"--config {path} has an unknown key {key!r}.{hint} Known are {', '.join(known)}."
            )


def _as_flag(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def _texts(views: Any, path: Path) -> list[str]:
    """Views as they stand on the command line."""
    if isinstance(views, dict) and all(isinstance(text, str) for text in views.values()):
        return [f"{name}={text}" for name, text in views.items()]
    if isinstance(views, list) and all(isinstance(text, str) for text in views):
        return views
    raise Failure(f"--config {path}: views must be a table NAME = PATH, or a list of paths.")


@click.command(name="fit", short_help="Cluster files, and write a report.", epilog=_EXAMPLES)
@input_options(is_new=True)
@options.clusters_option("Number of clusters, or auto to have one suggested.")
@options.output_option("FOLDER", "Folder for the results.")
@click.option(
    "--config",
    metavar="FILE",
    type=click.Path(path_type=Path),
    is_eager=True,
    expose_value=False,
    callback=use_run_file,
    help="A run file (TOML) with these options; flags override it.",
)
@click.option(
    "--report/--no-report", default=True, help="Whether to write report.html (the default)."
)
@options.force_option("Replace existing results.")
@click.option(
    "--engine",
    type=click.Choice(["auto", "memory", "disk"]),
    default="auto",
    show_default=True,
    help="Load the views, or read them from disk block by block; auto loads what fits.",
)
@click.option(
    "--memory-limit",
    type=options.Size(),
    metavar="SIZE",
    help="Memory for views (500MB, 4GB); a quarter of the free memory by default.",
)
@options.parameter_options
@shared_options("seed", "quiet", "verbose", "as_json")
def command(**given: Any) -> None:
    """Cluster the rows of one or more files; write the clusters, a model and a report.

    VIEW is PATH, NAME=PATH, or PATH::KEY for a variable inside a file. Each view describes the same
    samples, one per row. Reads npy, npz, CSV and TSV (also gzipped), Excel, Parquet, Arrow,
    HDF5, zarr, MATLAB, svmlight, Matrix Market, h5ad, h5mu and idx.
    """
    from manyview.pipeline.settings import check_values

    job = _Job(given)
    check_values({"n_clusters": job.n_clusters, **job.parameters})
    results.refuse_inputs([job.folder / name for name in FILES], job.inputs.paths())
    results.claim_folder(job.folder, FILES, force=given["force"])
    try:
        job.run()
    except KeyboardInterrupt as stopped:
        raise KeyboardInterrupt(job.what_is_kept()) from stopped


class _Job:
    """What was asked for, and how far it is."""

    def __init__(self, given: dict[str, Any]) -> None:
        ctx = click.get_current_context()
        if not given["texts"]:
            given["texts"] = tuple((ctx.default_map or {}).get("texts", ()))
        for name, flag in (("n_clusters", "-k"), ("output", "-o")):
            if given[name] is None:
                raise click.UsageError(f"Missing option '{flag}'.", ctx)
        self.inputs, self.parameters = Inputs.take(given), options.take_parameters(given)
        self.n_clusters, self.folder = given["n_clusters"], Path(given["output"])
        self.engine, self.has_report, self.force = given["engine"], given["report"], given["force"]
        self.memory_limit = given["memory_limit"] or memory_for_views()
        self.checkpoint = self.folder / "checkpoint"  # where the disk engine notes how far it is
        self.is_written = self.uses_checkpoint = False

    def run(self) -> None:
        """Read, fit, write and print."""
        from manyview.cli.display import stage_line
        from manyview.engines.checkpoint import remove_checkpoint

        started = time.perf_counter()
        with stage_line() as line:
            with line.step("reading"):
                data = self._read()
            with remarks() as warnings:
                model = self._fit(data, line)
            compiling = model.stage_seconds_.get("compiling", 0.0)
            facts = {
                **_describe_fit(model, data),
                "seconds": round(time.perf_counter() - started - compiling, 3),
                "warnings": warnings,
                "cautions": list(model.cautions_),
                "inputs": self.inputs.record(data.marks),
            }
            self._write(model, data, facts)
            if self.has_report:
                with line.step("report"):
                    self._write_report(model, data, facts)
        if self.uses_checkpoint:  # otherwise a folder of that name is the user's
            remove_checkpoint(self.checkpoint)
        for caution in facts["cautions"]:
            say(f"Caution: {caution}")
        print_result(facts, lambda: self._print(facts, results.describe_views(data.views)))

    def _read(self) -> Assembled:
        limits = {"disk": None, "memory": 1 << 62}
        data = self.inputs.read(memory_limit=limits.get(self.engine, self.memory_limit))
        if data.views.target is not None:
            results.say_unlabelled(results.known_rows(data.views.target))
        return data

    def _fit(self, data: Assembled, line: StageLine) -> LMVSC:
        from manyview import LMVSC
        from manyview.engines import Disk, Memory
        from manyview.engines.checkpoint import remove_checkpoint
        from manyview.errors import CheckpointError

        engine: Any = Memory(track_memory=True)
        if not data.views.is_in_memory or self.engine == "disk":
            self.uses_checkpoint = True
            limit, checkpoint = self.memory_limit, self.checkpoint
            engine = Disk(memory_limit=limit, checkpoint=checkpoint, track_memory=True)
            say(
                "Views are read from disk block by block, within "
                f"{bytes_in_words(self.memory_limit)} of memory."
            )
        model = LMVSC(
            self.n_clusters,
            categories=self._categories(data.views),
            random_state=current().seed,
            engine=engine,
            verbose=line,
            **self.parameters,
        )
        try:
            model.fit(data.views)
        except CheckpointError as error:
            self.uses_checkpoint = False
            if not self.force or error.parameter == "in use":
                raise
            say(f"{error.problem} It is replaced.")
            self.uses_checkpoint = True
            remove_checkpoint(self.checkpoint)
            model.fit(data.views)
        model.set_params(engine="auto", verbose=0)  # no concern of whoever loads the model
        return model

    def _categories(self, views: Views) -> dict[str, str]:
        """What was asked of columns; likely ids were told of, and are used all the same."""
        asked = self.inputs.treatment
        return {**dict.fromkeys((c for _, c in likely_ids(views, asked)), "keep"), **asked}

    def _write(self, model: LMVSC, data: Assembled, facts: dict[str, Any]) -> None:
        """Write all but the report, in the place of what an earlier run left."""
        with replacing(self.folder, list(FILES)) as new:
            for name in ("labels.csv", "labels.npy"):
                results.write_labels(
                    new / name, model.labels_, data.ids, self.inputs.id_name,
                    confidence=model.confidence_,
                )  # fmt: skip
            results.write_array(new / "embedding.npy", model.embedding_)
            with writing(new / "model.mv"):
                model.save(new / "model.mv")
            results.write_record(new / "summary.json", {"fit": facts})  # enough for a report
        self.is_written = True

    def _write_report(self, model: LMVSC, data: Assembled, facts: dict[str, Any]) -> None:
        """Add what a report shows to the facts, and write the page made of them."""
        try:
            from manyview.explain.cautions import cautions_of_advice
            from manyview.report import build_summary

            command, seed = facts["command"], facts["seed"]
            shown = build_summary(model, data.views, command=command, random_state=seed)
            facts["cautions"] = cautions_of_advice(shown["advice"])
            shown["fit"] = facts
            from manyview.report import write_report

            with replacing(self.folder, ["summary.json", "report.html"]) as new:
                results.write_record(new / "summary.json", shown)
                with writing(new / "report.html"):
                    write_report(shown, new / "report.html", force=True)
        except ModuleNotFoundError as error:
            advice = how_to_install(error)
            if advice is None:
                raise
            say(f"No report.html: {advice}")

    def _print(self, facts: dict[str, Any], views: str) -> None:
        """Print the clusters, the scores and the files."""
        sizes = facts["cluster_sizes"]
        echo(
            f"{facts['n_rows']} rows in {len(facts['views'])} view(s) ({views}): {len(sizes)} "
            f"clusters in {facts['seconds']:.1f} s"
        )
        echo(f"sizes: {', '.join(map(str, sizes[:20]))}{', ...' if len(sizes) > 20 else ''}")
        if facts["n_outliers"]:
            echo(f"outliers, without a cluster (-1): {count(facts['n_outliers'], 'row')}")
        if facts["scores"] is not None:
            words = (
                f"{title} {facts['scores'][name]:.3f}" for name, title in results.SCORES.items()
            )
            echo(f"against the true labels: {', '.join(words)}")
        if not current().quiet:
            results.print_files(self.folder, FILES)

    def what_is_kept(self) -> str:
        """What is left of a run that is stopped now, in words."""
        if self.is_written:
            there = [name for name in FILES if (self.folder / name).exists()]
            missing = [name for name in FILES if name not in there]
            words = f"Kept in {self.folder}: {', '.join(there) or 'nothing'}; missing: "
            words += f"{', '.join(missing)}."
            if "summary.json" in there:
                words += f" 'manyview report {self.folder}' makes the report."
            return words
        if self.uses_checkpoint and self.checkpoint.exists() and any(self.checkpoint.iterdir()):
            return (
                f"Kept: what was computed so far, in {self.checkpoint}; the same command goes on from "
                "there."
            )
        return f"Nothing was written to {self.folder}."


def _describe_fit(model: LMVSC, data: Assembled) -> dict[str, Any]:
    """Everything there is to know about a finished fit, as JSON."""
    import numpy as np

    import manyview
    from manyview.report.provenance import plain

    views = data.views
    clustered = model.labels_[model.labels_ >= 0]
    sizes = np.bincount(clustered, minlength=len(model.cluster_centers_)).tolist()
    weights = map(float, model.view_weights_)
    kinds = zip(views.names, data.files, views.n_features, model.scaling_, weights, strict=True)
    names = ("name", "file", "n_features", "scaling", "weight")
    columns = zip(views.names, views.feature_names, strict=True)
    scores = None
    if views.target is not None:
        known = results.known_rows(views.target) & (model.labels_ >= 0)
        scores = manyview.metrics.scores(views.target[known], model.labels_[known])
    params = {n: v for n, v in model.get_params().items() if n not in ("engine", "verbose")}
    return {
        "manyview_version": manyview.__version__,
        "command": shlex.join(["manyview", *sys.argv[1:]]),
        "n_rows": views.n_rows,
        "n_clusters": len(sizes),
        "cluster_sizes": sizes,
        "n_outliers": len(model.labels_) - len(clustered),
        "views": [dict(zip(names, kind, strict=True)) for kind in kinds],
        "columns": {name: list(found) for name, found in columns if found},
        "has_ids": data.ids is not None,
        "notes": list(data.notes),
        "scores": scores,
        "parameters": plain(params),
        "choices": plain(getattr(model, "choices_", [])),
        "seed": current().seed,
        "stage_seconds": {s: round(float(t), 4) for s, t in model.stage_seconds_.items()},
        "stage_memory": model.stage_memory_,
    }
