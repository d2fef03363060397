"""What methods are compared on: known data sets, files, folders of files, or views in memory."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import joblib
import numpy as np

from manyview import datasets
from manyview.datasets.lookup import is_here
from manyview.errors import ParameterError
from manyview.readers import read_view
from manyview.views.container import Views
from manyview.views.files import read_views

Source = str | Path | Views
"""A name of the registry, a file or folder, or the views themselves."""


@dataclass(frozen=True)
class Rows:
    """Which rows of a data set: all or so many, in the order of the file or ``shuffled`` by a seed.

    ``content`` tells data sets of one's own apart that have the same name; see :func:`content_of`.
    """

    name: str
    rows: int | None = None
    shuffled: int | None = None
    content: str | None = None


def as_sources(data: Any) -> dict[str, Source]:
    """Data sets by name, from names, paths, views or a mapping of names to them.

    "all" stands for every known data set that is on this machine.

    Examples
    --------
    >>> from manyview import datasets
    >>> list(as_sources(["digits", datasets.make_views(9, 3, (2, 2), random_state=0)]))
    ['digits', 'data_1']
    """
    if isinstance(data, Mapping):
        return {str(name): _checked(one, str(name)) for name, one in data.items()}
    found: dict[str, Source] = {}
    for number, one in enumerate(data if isinstance(data, list | tuple) else [data]):
        if one == "all":
            found |= {name: name for name in datasets.names() if is_here(datasets.info(name))}
            continue
        name = f"data_{number}" if isinstance(one, Views) else os.fspath(one)
        known = name in datasets.names()
        title = name if known or isinstance(one, Views) else Path(name).stem
        if title in found:
            raise ParameterError(
                "data",
                f"has {title!r} twice. Rename one, or name them in Python: {{'a': {name!r}, ...}}.",
            )
        found[title] = _checked(one, title)
    if not found:
        raise ValueError("No data to compare on.")
    return found


def _checked(source: Any, name: str) -> Source:
    if isinstance(source, Views):
        if source.target is None:
            raise ValueError(f"Views {name!r} have no target: a bench needs the true classes.")
        return source
    if isinstance(source, str) and source in datasets.names():
        return source
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        if not path.exists():
            raise ParameterError(
                "data",
                f"must be names of data sets, or files; there is no {str(path)!r}. Names are "
                f"{', '.join(datasets.names())}.",
            )
        return path
    raise TypeError(f"Data {name!r} must be a name, a path or Views; got {type(source).__name__}.")


def content_of(source: Source) -> str | None:
    """Letters that change when the data does; None for a known data set, whose name is enough."""
    if isinstance(source, str):
        return None
    if isinstance(source, Views):
        return str(joblib.hash((source.names, source.arrays, source.target)))
    total = hashlib.blake2b(digest_size=16)
    for path in sorted(source.rglob("*")) if source.is_dir() else [source]:
        if path.is_file():
            with path.open("rb") as file:
                content = hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16))
            total.update(f"{path.name} {content.hexdigest()}".encode())
    return total.hexdigest()


def load(source: Source) -> Views:
    """The views and classes of a data set."""
    if isinstance(source, Views):
        return source
    if isinstance(source, str):
        return datasets.load(source, download=False)
    views = _read_folder(source) if source.is_dir() else read_views([str(source)]).views
    if views.target is None:
        raise ValueError(f"{source} has no labels: a bench needs the true classes.")
    return views.load()


def _read_folder(folder: Path) -> Views:
    """Every file of a folder as a view, but for ``labels.*``, which holds the classes.

    Rows are matched by the column ``id``, if all files of views have one.
    """
    files = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    labels = [path for path in files if path.stem == "labels"]
    texts = [str(path) for path in files if path not in labels]
    if not texts:
        raise ValueError(f"{folder} holds no files of views.")
    parts = [part for text in texts for part in read_view(text).parts]
    has_ids = all("id" in (part.columns or ()) for part in parts)
    truth = str(labels[0]) if labels else None
    return read_views(texts, labels=truth, id_column="id" if has_ids else None).views


def choose_rows(views: Views, wanted: Rows) -> Views:
    """The rows that are asked for; the first of a shuffle, where there are more."""
    n = len(views)
    most = n if wanted.rows is None else min(n, wanted.rows)
    if wanted.shuffled is None:
        if most == n:
            return views
        drawn: Views = views[np.sort(np.random.default_rng(0).permutation(n)[:most])]
        return drawn
    shuffled: Views = views[np.random.default_rng(wanted.shuffled).permutation(n)[:most]]
    return shuffled
