"""AnnData and MuData objects as parts of views: a matrix, its column names and its cells.

Told by their attributes, so neither library is imported. What is backed by a file stays there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from manyview.errors import ReadError
from manyview.views.ids import as_ids, find_places, refuse_repeated

Ids = npt.NDArray[Any]


@dataclass(frozen=True)
class Matrix:
    """One matrix of an annotated object, one row a cell.

    Attributes
    ----------
    values : array, sparse array, source or data frame of shape (n, d)
        Its rows.
    ids : ndarray of shape (n,)
        Names of the cells.
    columns : tuple of str, or None
        Names of its columns, if it has them.
    places : ndarray of shape (n,), int64, or None
        Where its rows are in another order, or some cells have none: for each cell of ``ids`` the
        number of its row, or -1.
    """

    values: Any
    ids: Ids
    columns: tuple[str, ...] | None
    places: npt.NDArray[np.int64] | None = None


def is_annotated(data: Any) -> bool:
    """Whether this looks like an AnnData."""
    return hasattr(data, "obs_names") and hasattr(data, "X")


def has_modalities(data: Any) -> bool:
    """Whether this looks like a MuData."""
    return hasattr(data, "obs_names") and hasattr(data, "mod")


def read_matrix(data: Any, key: str = "X", *, name: str | None = None) -> Matrix:
    """Give a matrix of an AnnData.

    Parameters
    ----------
    data : AnnData
        Where it is.
    key : str
        ``X``, a key of ``obsm``, ``obsm/NAME`` or ``layers/NAME``.
    name : str, optional
        Of the modality, for messages.
    """
    where = "The AnnData" if name is None else f"Modality {name!r}"
    kind, _, inner = key.partition("/")
    obsm = getattr(data, "obsm", {})
    if key == "X":
        values = data.X
        if values is None:
            raise ValueError(f"{where} has no X; say which matrix with {_options(data)}.")
    elif kind == "layers" and inner in data.layers:
        values = data.layers[inner]
    elif key in obsm or (kind == "obsm" and inner in obsm):
        return Matrix(obsm[key if key in obsm else inner], _ids(data), None)
    else:
        raise KeyError(f"{where} has no {key!r}; it has {_options(data)}.")
    names = getattr(data, "var_names", None)
    return Matrix(values, _ids(data), None if names is None else tuple(map(str, names)))


def _ids(data: Any) -> Ids:
    return np.asarray(data.obs_names)


def _options(data: Any) -> str:
    found = ["'X'"] * (data.X is not None)
    found += [repr(str(key)) for key in getattr(data, "obsm", {})]
    found += [repr(f"layers/{key}") for key in getattr(data, "layers", {})]
    return ", ".join(found) or "none"


def read_modalities(data: Any, keys: str | Mapping[str, str] = "X") -> dict[str, Matrix]:
    """Give one matrix for each modality of a MuData, with the places of the whole's cells in it.

    Parameters
    ----------
    data : MuData
        Its modalities share cells.
    keys : str or mapping
        Which matrix, as in :func:`read_matrix`: the same of each modality, or by the modality's
        name; only those named are used.
    """
    if getattr(data, "axis", 0) != 0:
        raise ValueError(
            f"The MuData shares axis {data.axis}, not cells; views describe the same cells. Build it "
            "with axis=0."
        )
    if isinstance(keys, Mapping):
        wanted = dict(keys)
        if unknown := [name for name in wanted if name not in data.mod]:
            raise KeyError(f"There is no modality {unknown[0]!r}; there are {list(data.mod)}.")
    else:
        wanted = dict.fromkeys(data.mod, keys)
    if not wanted:
        raise ValueError("Got no views: the MuData has no modalities.")
    whole = np.asarray(data.obs_names)
    return {
        str(name): _align(read_matrix(data.mod[name], key, name=name), whole, str(name))
        for name, key in wanted.items()
    }


def _align(matrix: Matrix, whole: Ids, name: str) -> Matrix:
    """Say where the rows of the whole's cells are."""
    if np.array_equal(matrix.ids, whole):
        return matrix
    own, wanted = as_ids(matrix.ids), as_ids(whole)
    try:
        refuse_repeated(own, f"Modality {name!r}")
        refuse_repeated(wanted, "The MuData")
    except ReadError as error:
        raise ValueError(f"{error} Call obs_names_make_unique() first.") from None
    return replace(matrix, ids=whole, places=find_places(own, wanted))
