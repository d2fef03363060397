"""``manyview datasets``: known data sets, and writing them in other formats."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from manyview.cli.failure import Failure
from manyview.cli.shared import current, remarks, say, shared_options
from manyview.machine import whole_file

if TYPE_CHECKING:
    from manyview import Views

_OUTPUTS = ("csv", "npy", "npz", "parquet", "hdf5", "mat")


@click.group(name="datasets")
def command() -> None:
    """List, fetch and convert known data sets."""


@command.command(name="list")
@shared_options("quiet", "as_json")
def list_names() -> None:
    """List all data sets, and whether they are on this machine."""
    from manyview import datasets

    found: list[dict[str, Any]] = [
        {
            "name": info.name,
            "n_samples": info.n_samples,
            "n_features": list(info.n_features),
            "n_clusters": info.n_clusters,
            "is_here": _is_here(info),
            "title": info.title,
        }
        for info in map(datasets.info, datasets.names())
    ]
    if current().as_json:
        click.echo(json.dumps(found, indent=2))
        return
    from manyview.cli.tables import print_table

    rows = [
        [
            entry["name"],
            entry["n_samples"],
            " + ".join(map(str, entry["n_features"])),
            entry["n_clusters"],
            "yes" if entry["is_here"] else "no",
            entry["title"],
        ]
        for entry in found
    ]
    print_table(["name", "rows", "columns", "classes", "here", "what"], rows, right=[1, 3])


def _is_here(info: Any) -> bool:
    from manyview.datasets.loaders import find_files
    from manyview.datasets.lookup import data_folders

    return info.name == "digits" or any(find_files(f, info) is not None for f in data_folders())


@command.command(name="info")
@click.argument("name")
@shared_options("quiet", "as_json")
def show_info(name: str) -> None:
    """Show what is known about a data set: shape, licence, sources."""
    from manyview import datasets

    info = datasets.info(name)
    if current().as_json:
        click.echo(json.dumps(asdict(info), indent=2))
        return
    widths = ", ".join(f"{n} {d}" for n, d in zip(info.view_names, info.n_features, strict=True))
    lines = {
        "name": info.name,
        "what": info.title,
        "rows": info.n_samples,
        "classes": info.n_clusters,
        "views": widths,
        "licence": info.licence,
        "homepage": info.homepage,
        "here": "yes" if _is_here(info) else "no",
        "note": info.note,
        "warning": info.warning,
    }
    for title, value in lines.items():
        if value != "":
            click.echo(f"{title:<9} {value}")
    for source in info.sources:
        click.echo(f"{'source':<9} {source.address} ({source.status})")


@command.command(name="get")
@click.argument("name")
@click.option(
    "-o",
    "--output",
    metavar="FILE.npz",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write it here as well; fit reads such files.",
)
@click.option("--force", is_flag=True, help="Replace FILE if it is there.")
@shared_options("quiet", "verbose", "as_json")
def get(name: str, output: Path | None, force: bool) -> None:
    """Fetch a data set, unless it is on this machine already."""
    from manyview.cli.folder import claim_file
    from manyview.datasets.loaders import save_npz

    if output is not None:
        claim_file(output, force=force)
    views = _load(name)
    if output is not None:
        save_npz(output, views)
    _print_shape(name, views, output)


@command.command(name="convert")
@click.argument("name")
@click.option(
    "-o",
    "--output",
    "folder",
    metavar="FOLDER",
    type=click.Path(file_okay=False, path_type=Path),
    required=True,
    help="Where the files go.",
)
@click.option("--to", "kind", type=click.Choice(_OUTPUTS), default="npy", show_default=True)
@click.option("--path", type=click.Path(exists=True), help="Original files to read instead.")
@click.option("--force", is_flag=True, help="Replace files that are there.")
@shared_options("quiet", "verbose", "as_json")
def convert(name: str, folder: Path, kind: str, path: str | None, force: bool) -> None:
    """Write a data set as files: one a view, and labels.csv (npz, hdf5 and mat: one file).

    Sparse views become sparse npz files where the format has no sparse arrays.
    """
    from manyview.cli.folder import claim_folder
    from manyview.cli.writers import WRITERS

    views = _load(name, path)
    files = WRITERS[kind](name, views)
    claim_folder(folder, list(files), record=None, force=force)
    for file, write in files.items():
        with whole_file(folder / file) as unfinished:
            write(unfinished)
    for file in files:
        say(f"  {folder / file}")
    _print_shape(name, views, folder)


def _load(name: str, path: str | None = None) -> Views:
    from manyview import datasets

    with remarks():
        return datasets.load(name, path=path)


def _print_shape(name: str, views: Views, where: Path | None) -> None:
    if views.target is None:
        raise Failure(f"data set {name!r} has no labels.")
    facts = {
        "name": name,
        "n_rows": views.n_rows,
        "views": dict(zip(views.names, views.n_features, strict=True)),
        "n_classes": len(set(views.target.tolist())),
        "written": None if where is None else str(where),
    }
    if current().as_json:
        click.echo(json.dumps(facts))
        return
    widths = ", ".join(f"{n} {d}" for n, d in zip(views.names, views.n_features, strict=True))
    click.echo(
        f"{name}: {views.n_rows} rows, {views.n_views} view(s) ({widths}), {facts['n_classes']} classes"
    )
