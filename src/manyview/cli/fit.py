"""``manyview fit``: cluster files, and write everything there is to know about the clusters."""

from __future__ import annotations

import shlex
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from manyview.cli.config import use_run_file
from manyview.cli.inputs import Inputs, input_options, memory_for_views, take_inputs
from manyview.cli.parameters import parameter_options, take_parameters
from manyview.cli.results import FILES, Fitted, known_rows, say_unlabelled
from manyview.cli.shared import current, remarks, say, shared_options
from manyview.cli.values import Numbers, Size
from manyview.wording import bytes_in_words

# What takes long to import is imported when the command runs, so that --help is quick.
if TYPE_CHECKING:
    from manyview import LMVSC
    from manyview.cli.display import StageBars
    from manyview.views.files import Assembled

_CHECKPOINT = "checkpoint"
_EXAMPLES = """\b
Examples:
  manyview fit colour.csv shape.parquet --id-column id -k 5 -o results
  manyview fit cells.h5mu::rna cells.h5mu::protein -k auto -o results
  manyview fit table.csv --columns colour=r,g,b --columns shape=w*,h* -k 5 -o results
"""


@dataclass(frozen=True)
class _Plan:
    """What was asked for."""

    inputs: Inputs
    n_clusters: Any
    folder: Path
    parameters: dict[str, Any]
    engine: str
    memory_limit: int
    report: bool


@click.command(
    name="fit", short_help="Cluster the rows of files; write a report.", epilog=_EXAMPLES
)
@input_options(labels=True)
@click.option(
    "-k",
    "--n-clusters",
    type=Numbers(int, words=["auto"]),
    metavar="K|auto",
    help="Number of clusters, or auto to choose it.",
)
@click.option(
    "-o",
    "--output",
    "folder",
    metavar="FOLDER",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where results go.",
)
@click.option(
    "--config",
    metavar="FILE",
    type=click.Path(path_type=Path),
    is_eager=True,
    expose_value=False,
    callback=use_run_file,
    help="A run file (TOML) with these options; flags override it.",
)
@click.option("--report/--no-report", default=True, help="Write report.html (the default), or not.")
@click.option("--force", is_flag=True, help="Replace results that are there.")
@click.option(
    "--engine",
    type=click.Choice(["auto", "memory", "disk"]),
    default="auto",
    show_default=True,
    help="Load the views, or read them from disk block by block; auto loads what fits.",
)
@click.option(
    "--memory-limit",
    type=Size(),
    metavar="SIZE",
    help="Bytes that views may take in memory (500MB, 4GB); a quarter of what is free by default.",
)
@parameter_options
@shared_options("seed", "quiet", "verbose", "as_json")
def command(**options: Any) -> None:
    """Cluster the rows of files; write clusters, model and a report.

    VIEW is PATH, NAME=PATH, or PATH::KEY for a variable inside a file. Each file is one way to see
    the same things, one row each. Reads npy, npz, CSV and TSV (also gzipped), Parquet, Arrow, HDF5,
    zarr, MATLAB, svmlight, Matrix Market, h5ad, h5mu and idx.
    """
    plan = _plan(options)
    _claim(plan, force=options["force"])
    started = time.perf_counter()
    kept = _Kept(plan.folder)
    try:
        fitted = _run(plan, kept, started)
        fitted.print_answer(plan.folder, plan.report)
    except KeyboardInterrupt as stopped:
        raise KeyboardInterrupt(kept.describe()) from stopped


def _plan(options: dict[str, Any]) -> _Plan:
    ctx = click.get_current_context()
    if not options["texts"]:
        options["texts"] = tuple((ctx.default_map or {}).get("texts", ()))
    for name, flag in (("n_clusters", "-k"), ("folder", "-o")):
        if options[name] is None:
            raise click.UsageError(f"Missing option '{flag}'.", ctx)
    limit = options["memory_limit"]
    return _Plan(
        inputs=take_inputs(options),
        n_clusters=options["n_clusters"],
        folder=Path(options["folder"]),
        parameters=take_parameters(options),
        engine=options["engine"],
        memory_limit=memory_for_views() if limit is None else limit,
        report=options["report"],
    )


def _claim(plan: _Plan, *, force: bool) -> None:
    from manyview.cli.folder import claim_folder

    claim_folder(plan.folder, list(FILES), record=None, force=force)


class _Kept:
    """What would be left if the run stopped now."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.written: list[str] = []
        self.is_writing = False
        self.uses_checkpoint = False

    @property
    def checkpoint(self) -> Path:
        """Where the disk engine notes how far it is."""
        return self._folder / _CHECKPOINT

    def describe(self) -> str:
        """Give it in words."""
        if self.is_writing:
            missing = [name for name in FILES if name not in self.written]
            return (
                f"Kept in {self._folder}: {', '.join(self.written) or 'nothing'}; missing: "
                f"{', '.join(missing)}."
                + (f" 'manyview report {self._folder}' makes the report."
                   if "summary.json" in self.written else "")
            )  # fmt: skip
        if self.uses_checkpoint and self.checkpoint.exists() and any(self.checkpoint.iterdir()):
            return (
                f"Kept: what was computed so far, in {self.checkpoint}; the same command goes on from "
                "there."
            )
        return f"Nothing was written to {self._folder}."


def _run(plan: _Plan, kept: _Kept, started: float) -> Fitted:
    from manyview.cli.display import stage_bars

    shared = current()
    with stage_bars(quiet=shared.quiet) as bars:
        with bars.step("reading"):
            data = _read(plan)
        with remarks() as warnings:
            model = _fit(plan, data, bars, kept)
        fitted = Fitted(
            model=model,
            data=data,
            inputs=plan.inputs,
            command=_command_line(),
            seed=shared.seed,
            seconds=time.perf_counter() - started,
            warnings=warnings,
        )
        kept.is_writing = True
        facts = fitted.write(plan.folder, kept.written)
        if plan.report:
            with bars.step("report"):
                fitted.write_report(plan.folder, facts, kept.written)
    if kept.uses_checkpoint:  # otherwise a folder of that name is the user's
        _remove_checkpoint(kept.checkpoint)
    return fitted


def _read(plan: _Plan) -> Assembled:
    limit = 1 << 62 if plan.engine == "memory" else plan.memory_limit
    data = plan.inputs.read(memory_limit=None if plan.engine == "disk" else limit)
    if data.views.target is not None:
        say_unlabelled(known_rows(data.views.target))
    return data


def _fit(plan: _Plan, data: Assembled, bars: StageBars, kept: _Kept) -> LMVSC:
    from manyview import LMVSC
    from manyview.cli.display import Watched
    from manyview.errors import CheckpointError

    engine: Any = plan.engine
    if not data.views.is_in_memory or engine == "disk":
        kept.uses_checkpoint = True
        engine = _disk_engine(plan, kept.checkpoint)
        say(
            "Views are read from disk block by block, within "
            f"{bytes_in_words(plan.memory_limit)} of memory."
        )
    model = LMVSC(
        plan.n_clusters,
        random_state=current().seed,
        engine=Watched(engine, bars),
        **plan.parameters,
    )
    try:
        model.fit(data.views)
    except CheckpointError:
        kept.uses_checkpoint = False
        raise
    except TypeError as error:
        # The library's word for a parameter of the wrong kind.
        raise ValueError(str(error)) from error
    model.engine = "auto"  # what watched it is of no interest to whoever loads the model
    return model


def _disk_engine(plan: _Plan, checkpoint: Path) -> Any:
    from manyview.engines import Disk

    return Disk(memory_limit=plan.memory_limit, checkpoint=checkpoint)


def _remove_checkpoint(folder: Path) -> None:
    import shutil

    if folder.is_dir():
        shutil.rmtree(folder, ignore_errors=True)


def _command_line() -> str:
    return shlex.join(["manyview", *sys.argv[1:]])
