"""A data set by name: from the user's folder, the cache, or the network."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

from manyview.datasets.digits import digits_views
from manyview.datasets.download import cache_folder
from manyview.datasets.download import download as download_views
from manyview.datasets.loaders import find_files, read_views
from manyview.datasets.registry import DatasetInfo
from manyview.datasets.registry import info as find_info
from manyview.errors import DatasetNotFoundError, ParameterError, warn_user
from manyview.views.container import Views


def load(
    name: str,
    *,
    path: str | os.PathLike[str] | None = None,
    download: bool | Literal["unverified"] = True,
) -> Views:
    """A data set as views with their true classes.

    It is looked for in the folder named by the environment variable ``MANYVIEW_DATA`` (as
    ``NAME.npz`` or as its original files), then in the user's cache (``MANYVIEW_CACHE``, or the
    platform's place), then downloaded and kept in the cache. What is found must have the known
    shapes and class counts.

    Parameters
    ----------
    name : str
        One of :func:`manyview.datasets.names`.
    path : path-like, optional
        The original file, or a folder with the original files, to read instead.
    download : bool or "unverified", default=True
        Whether the network may be used. Files of which no checksum is known are downloaded only with
        "unverified"; :func:`manyview.datasets.info` tells the status of each source.

    Returns
    -------
    Views
        ``target`` holds the classes, numbered from 0. Sparse views are CSR. Values are raw.

    Raises
    ------
    DatasetNotFoundError
        Where it is nowhere; the message says where it was looked for, and how to get it.
    ValueError
        Where the name or ``download`` is unknown, or a file is damaged or holds other data.

    Examples
    --------
    >>> from manyview import datasets
    >>> views = datasets.load("digits")
    >>> views.n_views, len(views), sorted(set(views.target.tolist()))
    (5, 1797, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    """
    info = find_info(name)
    if download not in (True, False, "unverified"):
        raise ParameterError("download", f"must be True, False or 'unverified'; got {download!r}.")
    if path is None:
        views = _find(info, download=download)
    else:
        views = read_views(Path(path).expanduser(), info)
    if info.warning:
        warn_user(info.warning, UserWarning)
    return views


def _find(info: DatasetInfo, *, download: bool | str) -> Views:
    if info.name == "digits":
        return digits_views()
    for folder in _folders():
        if (found := find_files(folder, info)) is not None:
            return read_views(found, info)
    reason = "downloading was not allowed"
    if download:
        try:
            return download_views(info, may_be_unverified=download == "unverified")
        except DatasetNotFoundError as error:
            reason = str(error)
    remedy = (
        f"To use it, get the file and call load({info.name!r}, path=...), or put it into a folder and "
        "name that folder in $MANYVIEW_DATA."
    )
    has_more = download is True and any(s.status == "unverified" for s in info.sources)
    if has_more:
        remedy += f" load({info.name!r}, download='unverified') takes it without a checksum."
    raise DatasetNotFoundError(
        _where_it_is_not(info, reason),
        remedy=remedy,
        parameter="unverified" if has_more else "path",
    )


def is_here(info: DatasetInfo) -> bool:
    """Whether a data set is on this machine; nothing is read or downloaded."""
    return info.name == "digits" or any(find_files(folder, info) for folder in _folders())


def _folders() -> list[Path]:
    """Folders that data sets are looked for in, first to last."""
    return [folder for folder in (_data_folder(), cache_folder()) if folder is not None]


def _data_folder() -> Path | None:
    chosen = os.environ.get("MANYVIEW_DATA")
    return Path(chosen).expanduser() if chosen else None


def _where_it_is_not(info: DatasetInfo, reason: str) -> str:
    files = ", ".join((f"{info.name}.npz", *info.files))
    cache = cache_folder()
    where = [
        f"in $MANYVIEW_DATA ({_describe_data_folder()})",
        f"in the cache ({cache or 'none: set $MANYVIEW_CACHE, or install pooch'})",
    ]
    steps = [
        f"Data set {info.name!r} is not on this machine.",
        f"Looked for {files} {' and '.join(where)}.",
        f"Download: {reason.removesuffix('.')}.",
        info.note,
        f"Its home is {info.homepage}." if info.homepage else "",
    ]
    return " ".join(filter(None, steps))


def _describe_data_folder() -> str:
    folder = _data_folder()
    if folder is None:
        return "not set"
    return str(folder) if folder.is_dir() else f"{folder}, which is not a folder"
