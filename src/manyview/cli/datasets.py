"""``manyview datasets``: known data sets, and writing them in other formats."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from manyview.cli.console import (
    Failure,
    echo,
    print_result,
    print_table,
    remarks,
    say,
    shared_options,
)
from manyview.cli.options import force_option, output_option
from manyview.cli.results import claim_file, claim_folder, describe_views, ready
from manyview.machine import whole_file

if TYPE_CHECKING:
    from manyview import Views

_KINDS = ("csv", "npy", "npz", "parquet")
Files = dict[str, Callable[[Path], None]]


@click.group(name="datasets", invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """List, download and convert known data sets."""
    if ctx.invoked_subcommand is None:
        echo(ctx.get_help())


@command.command(name="list")
@shared_options("quiet", "as_json")
def list_names() -> None:
    """List all data sets, and whether they are on this machine."""
    from manyview import datasets
    from manyview.datasets.lookup import is_here

    facts: list[dict[str, Any]] = [
        {
            "name": info.name,
            "n_samples": info.n_samples,
            "n_features": list(info.n_features),
            "n_clusters": info.n_clusters,
            "is_here": is_here(info),
            "title": info.title,
        }
        for info in map(datasets.info, datasets.names())
    ]

    def show() -> None:
        header = ["name", "rows", "columns", "classes", "here", "what"]
        rows = [list(entry.values()) for entry in facts]
        for row in rows:
            row[2], row[4] = " + ".join(map(str, row[2])), "yes" if row[4] else "no"
        print_table(header, rows, right=[1, 3])

    print_result(facts, show)


@command.command(name="info")
@click.argument("name")
@shared_options("quiet", "as_json")
def show_info(name: str) -> None:
    """Show what is known about a data set: shape, licence, sources."""
    from manyview import datasets
    from manyview.datasets.lookup import is_here

    info = datasets.info(name)

    def show() -> None:
        widths = zip(info.view_names, info.n_features, strict=True)
        lines = [
            ("name", info.name),
            ("what", info.title),
            ("rows", info.n_samples),
            ("classes", info.n_clusters),
            ("views", ", ".join(f"{view} {width}" for view, width in widths)),
            ("licence", info.licence),
            ("homepage", info.homepage),
            ("here", "yes" if is_here(info) else "no"),
            ("note", info.note),
            ("warning", info.warning),
            *(("source", f"{source.address} ({source.status})") for source in info.sources),
        ]
        for title, value in lines:
            if value != "":
                echo(f"{title:<9} {value}")

    print_result(asdict(info), show)


@command.command(name="get")
@click.argument("name")
@output_option("FILE.npz", "Write it here as well; fit reads such files.")
@force_option("Replace FILE if it exists.")
@click.option("--unverified", is_flag=True, help="Download even if no checksum is known.")
@shared_options("quiet", "verbose", "as_json")
def get(name: str, output: Path | None, force: bool, unverified: bool) -> None:
    """Download a data set, unless it is already on this machine."""
    from manyview.datasets.loaders import save_npz

    if output is not None:
        claim_file(output, force=force)
    views = _load(name, unverified=unverified)
    if output is not None:
        save_npz(ready(output), views)
    _print_shape(name, views, output)


@command.command(name="convert")
@click.argument("name")
@output_option("FOLDER", "Folder for the files.", required=True)
@click.option("--to", "kind", type=click.Choice(_KINDS), default="npy", show_default=True)
@click.option(
    "--path", type=click.Path(exists=True), help="Read the original files from here instead."
)
@force_option("Replace existing files.")
@shared_options("quiet", "verbose", "as_json")
def convert(name: str, output: Path, kind: str, path: str | None, force: bool) -> None:
    """Write a data set as files.

    There is one file per view, and labels.csv; npz puts everything into one file. Sparse views become
    sparse npz files if the format has no sparse arrays.
    """
    views = _load(name, path)
    files = _files(name, views, kind)
    claim_folder(output, files, force=force)
    for file, write in files.items():
        with whole_file(output / file) as unfinished:
            write(unfinished)
    for file in files:
        say(f"  {output / file}")
    _print_shape(name, views, output)


def _load(name: str, path: str | None = None, *, unverified: bool = False) -> Views:
    from manyview import datasets

    datasets.info(name)  # refuses an unknown name, whatever the path
    try:
        with remarks():
            return datasets.load(name, path=path, download="unverified" if unverified else True)
    except (OSError, ValueError) as error:
        if path is None:
            raise
        raise Failure(f"--path cannot be used: {error}") from error


def _print_shape(name: str, views: Views, where: Path | None) -> None:
    if views.target is None:
        raise Failure(f"data set {name!r} has no labels.", exit_code=1)
    n_classes = len(set(views.target.tolist()))
    facts = {
        "name": name,
        "n_rows": views.n_rows,
        "views": dict(zip(views.names, views.n_features, strict=True)),
        "n_classes": n_classes,
        "written": None if where is None else str(where),
    }
    words = f"{views.n_views} view(s) ({describe_views(views)}), {n_classes} classes"
    print_result(facts, lambda: echo(f"{name}: {views.n_rows} rows, {words}"), indent=None)


def _files(name: str, views: Views, kind: str) -> Files:
    """What to write under which name."""
    import numpy as np
    from scipy import sparse

    from manyview.datasets.loaders import save_npz

    if kind == "npz":
        return {f"{name}.npz": partial(save_npz, views=views)}
    write = {"csv": _write_csv, "npy": _write_binary, "parquet": _write_parquet}[kind]
    files: Files = {}
    for view, array in views.items():
        if sparse.issparse(array):
            files[f"{view}.npz"] = partial(_write_binary, array=array)
        else:
            files[f"{view}.{kind}"] = partial(write, array=array, name=view)
    lines = enumerate(np.asarray(views.target).tolist())
    return files | {"labels.csv": partial(_write_lines, header=["id", "label"], lines=lines)}


def _write_lines(path: Path, header: list[str], lines: Iterable[Any]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *lines])


def _write_csv(path: Path, array: Any, name: str) -> None:
    header = ["id", *(f"{name}_{i}" for i in range(array.shape[1]))]
    _write_lines(path, header, ([i, *row] for i, row in enumerate(array.tolist())))


def _write_binary(path: Path, array: Any, name: str = "") -> None:
    import numpy as np
    from scipy import sparse

    with path.open("wb") as file:
        (sparse.save_npz if sparse.issparse(array) else np.save)(file, array)


def _write_parquet(path: Path, array: Any, name: str) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    columns = {"id": list(range(len(array)))}
    columns |= {f"{name}_{i}": array[:, i] for i in range(array.shape[1])}
    parquet.write_table(pa.table(columns), path)
