"""``manyview fit``: cluster files, and write everything there is to know about the clusters."""

from __future__ import annotations

import shlex
import shutil
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from manyview.cli.console import current, remarks, say, shared_options
from manyview.cli.folder import claim_folder
from manyview.cli.inputs import Inputs, input_options, memory_for_views
from manyview.cli.options import (
    Size,
    clusters_option,
    force_option,
    output_option,
    parameter_options,
    take_parameters,
)
from manyview.cli.results import FILES, Fitted, known_rows, say_unlabelled
from manyview.cli.run_file import use_run_file
from manyview.wording import bytes_in_words

# What takes long to import is imported when the command runs, so that --help is quick.
if TYPE_CHECKING:
    from manyview import LMVSC
    from manyview.cli.display import StageBars
    from manyview.readers import Assembled

_EXAMPLES = """\b
Examples:
  manyview fit colour.csv shape.parquet --id-column id -k 5 -o results
  manyview fit cells.h5mu::rna cells.h5mu::protein -k auto -o results
  manyview fit table.csv --columns colour=r,g,b --columns shape=w*,h* -k 5 -o results
"""


@click.command(
    name="fit", short_help="Cluster the rows of files; write a report.", epilog=_EXAMPLES
)
@input_options(labels=True)
@clusters_option("Number of clusters, or auto to choose it.")
@output_option("FOLDER", "Where results go.")
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
@force_option("Replace results that are there.")
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
    job = _Job.from_options(options)
    claim_folder(job.folder, FILES, force=options["force"])
    try:
        job.run()
    except KeyboardInterrupt as stopped:
        raise KeyboardInterrupt(job.what_is_kept()) from stopped


@dataclass
class _Job:
    """What was asked for, and how far it is."""

    inputs: Inputs
    n_clusters: Any
    folder: Path
    parameters: dict[str, Any]
    engine: str
    memory_limit: int
    has_report: bool
    written: list[str] = field(default_factory=list)
    is_writing: bool = False
    uses_checkpoint: bool = False

    @classmethod
    def from_options(cls, options: dict[str, Any]) -> _Job:
        ctx = click.get_current_context()
        if not options["texts"]:
            options["texts"] = tuple((ctx.default_map or {}).get("texts", ()))
        for name, flag in (("n_clusters", "-k"), ("output", "-o")):
            if options[name] is None:
                raise click.UsageError(f"Missing option '{flag}'.", ctx)
        return cls(
            inputs=Inputs.take(options),
            n_clusters=options["n_clusters"],
            folder=Path(options["output"]),
            parameters=take_parameters(options),
            engine=options["engine"],
            memory_limit=options["memory_limit"] or memory_for_views(),
            has_report=options["report"],
        )

    @property
    def checkpoint(self) -> Path:
        """Where the disk engine notes how far it is."""
        return self.folder / "checkpoint"

    def run(self) -> None:
        """Read, fit, write and print."""
        from manyview.cli.display import stage_bars

        started = time.perf_counter()
        with stage_bars() as bars:
            with bars.step("reading"):
                data = self._read()
            with remarks() as warnings:
                model = self._fit(data, bars)
            fitted = Fitted(
                model=model,
                data=data,
                inputs=self.inputs,
                command=shlex.join(["manyview", *sys.argv[1:]]),
                seed=current().seed,
                seconds=time.perf_counter() - started,
                warnings=warnings,
            )
            self.is_writing = True
            facts = fitted.write(self.folder, self.written)
            if self.has_report:
                with bars.step("report"):
                    fitted.write_report(self.folder, facts, self.written)
        if self.uses_checkpoint:  # otherwise a folder of that name is the user's
            shutil.rmtree(self.checkpoint, ignore_errors=True)
        fitted.print_answer(self.folder, facts["fit"])

    def _read(self) -> Assembled:
        limits = {"disk": None, "memory": 1 << 62}
        data = self.inputs.read(memory_limit=limits.get(self.engine, self.memory_limit))
        if data.views.target is not None:
            say_unlabelled(known_rows(data.views.target))
        return data

    def _fit(self, data: Assembled, bars: StageBars) -> LMVSC:
        from manyview import LMVSC
        from manyview.cli.display import Watched
        from manyview.engines import Disk
        from manyview.errors import CheckpointError

        engine: Any = self.engine
        if not data.views.is_in_memory or engine == "disk":
            self.uses_checkpoint = True
            engine = Disk(memory_limit=self.memory_limit, checkpoint=self.checkpoint)
            say(
                "Views are read from disk block by block, within "
                f"{bytes_in_words(self.memory_limit)} of memory."
            )
        model = LMVSC(
            self.n_clusters,
            random_state=current().seed,
            engine=Watched(engine, bars),
            **self.parameters,
        )
        try:
            model.fit(data.views)
        except CheckpointError:
            self.uses_checkpoint = False
            raise
        except TypeError as error:
            # The library's word for a parameter of the wrong kind.
            raise ValueError(str(error)) from error
        model.engine = "auto"  # what watched it is of no interest to whoever loads the model
        return model

    def what_is_kept(self) -> str:
        """What is left of a run that is stopped now, in words."""
        if self.is_writing:
            missing = [name for name in FILES if name not in self.written]
            words = f"Kept in {self.folder}: {', '.join(self.written) or 'nothing'}; missing: "
            words += f"{', '.join(missing)}."
            if "summary.json" in self.written:
                words += f" 'manyview report {self.folder}' makes the report."
            return words
        if self.uses_checkpoint and self.checkpoint.exists() and any(self.checkpoint.iterdir()):
            return (
                f"Kept: what was computed so far, in {self.checkpoint}; the same command goes on from "
                "there."
            )
        return f"Nothing was written to {self.folder}."
