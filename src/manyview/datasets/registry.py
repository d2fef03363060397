"""All known data sets by name.

Shapes and class counts are what a loaded data set is checked against. An address with a SHA-256
was downloaded and compared with the data the library was measured on; one without was never
tried, and says "unverified".
"""

from __future__ import annotations

import difflib

from manyview.datasets.entry import DatasetInfo
from manyview.datasets.others import OTHERS
from manyview.datasets.published import PUBLISHED

_REGISTRY = {entry.name: entry for entry in PUBLISHED + OTHERS}


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
    return list(_REGISTRY)


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
    if name not in _REGISTRY:
        close = difflib.get_close_matches(str(name).lower(), _REGISTRY, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise ValueError(f"No data set {name!r}.{hint} The names are: {', '.join(_REGISTRY)}.")
    return _REGISTRY[name]
