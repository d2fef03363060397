"""All known data sets by name; what is known about them is in ``registry.toml``."""

from __future__ import annotations

import difflib
import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

from manyview.datasets.entry import DatasetInfo, Source


@cache
def entries() -> dict[str, DatasetInfo]:
    """What is known about every data set, by its name."""
    text = (files("manyview.datasets") / "registry.toml").read_text(encoding="utf-8")
    return {name: _entry(name, fields) for name, fields in tomllib.loads(text).items()}


def _entry(name: str, fields: dict[str, Any]) -> DatasetInfo:
    counts = fields.get("class_counts")
    if isinstance(counts, int):
        fields["class_counts"] = [counts] * fields["n_clusters"]
    sources = tuple(Source(**_as_tuples(source)) for source in fields.pop("sources", []))
    return DatasetInfo(name=name, sources=sources, **_as_tuples(fields))


def _as_tuples(value: Any) -> Any:
    """The same with tuples in place of lists, so that an entry cannot be changed."""
    if isinstance(value, dict):
        return {name: _as_tuples(part) for name, part in value.items()}
    return tuple(map(_as_tuples, value)) if isinstance(value, list) else value


def names() -> list[str]:
    """Names of all known data sets, those of the LMVSC paper first.

    Returns
    -------
    list of str

    Examples
    --------
    >>> from manyview import datasets
    >>> datasets.names()[:3]
    ['handwritten', 'caltech101-7', 'caltech101-20']
    """
    return list(entries())


def info(name: str) -> DatasetInfo:
    """What is known about a data set: shape, classes, licence, sources.

    Parameters
    ----------
    name : str
        One of :func:`names`.

    Returns
    -------
    DatasetInfo

    Examples
    --------
    >>> from manyview import datasets
    >>> info = datasets.info("handwritten")
    >>> info.n_samples, info.n_clusters, info.n_features
    (2000, 10, (216, 76, 64, 6, 240, 47))
    >>> [source.status for source in info.sources]
    ['verified', 'unverified']
    """
    known = entries()
    if name not in known:
        close = difflib.get_close_matches(str(name).lower(), known, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise ValueError(f"No data set {name!r}.{hint} The names are: {', '.join(known)}.")
    return known[name]
