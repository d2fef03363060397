"""What is known about data sets and where to download them; it is written in ``registry.toml``."""

from __future__ import annotations

import difflib
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any


@dataclass(frozen=True)
class Source:
    """One place to download a data set from.

    Attributes
    ----------
    address : str
        A file, an archive, or (ending in a slash) a folder; or the name of a scikit-learn fetcher.
    sha256 : str or None
        Checksum of the file at that address, or None where the address was never tried.
    members : tuple of str
        Files wanted out of the archive or folder.
    note : str
        How this copy differs from the original, if it does.
    """

    address: str
    sha256: str | None = None
    members: tuple[str, ...] = ()
    note: str = ""

    @property
    def status(self) -> str:
        """``"verified"`` with a checksum, ``"checked by scikit-learn"``, or ``"unverified"``."""
        if self.address.startswith("sklearn."):
            return "checked by scikit-learn"
        return "verified" if self.sha256 else "unverified"


@dataclass(frozen=True)
class DatasetInfo:
    """What is known about one data set.

    Attributes
    ----------
    name, title : str
        Its name here, and what it is.
    n_samples, n_clusters : int
        Numbers of samples and of classes.
    view_names : tuple of str
        A name for each view.
    n_features : tuple of int
        Number of columns of each view.
    class_counts : tuple of int or None
        Sizes of the classes in any order, where known.
    is_published : bool
        Whether it is one of the data sets of the LMVSC paper, in the paper's form.
    files : tuple of str
        Original files, or folders of them, that are recognised beside ``NAME.npz``.
    formats : tuple of str
        What these files are.
    homepage, licence, citation : str
        Where to get it, on which terms, and what to cite.
    sources : tuple of Source
        Where it is downloaded from, first to last.
    other_widths : tuple of tuple of int
        Widths of the same data in other people's files.
    is_multilabel : bool
        Whether samples have several classes in the source; some may then be no sample's target.
    note : str
        How else to get it, or why it cannot be had.
    warning : str
        What a user must know, given as a warning by ``load``.

    See Also
    --------
    info : what is known about one.
    load : reads it.

    Examples
    --------
    >>> from manyview import datasets
    >>> datasets.info("handwritten").n_features
    (216, 76, 64, 6, 240, 47)
    """

    name: str
    title: str
    n_samples: int
    n_clusters: int
    view_names: tuple[str, ...]
    n_features: tuple[int, ...]
    class_counts: tuple[int, ...] | None = None
    is_published: bool = False
    files: tuple[str, ...] = ()
    formats: tuple[str, ...] = ("npz",)
    homepage: str = ""
    licence: str = "not stated by the source"
    citation: str = ""
    sources: tuple[Source, ...] = ()
    other_widths: tuple[tuple[int, ...], ...] = ()
    is_multilabel: bool = False
    note: str = ""
    warning: str = ""


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
