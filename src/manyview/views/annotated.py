"""AnnData and MuData objects as parts: a matrix, the names of its columns and of its cells.

Told by their attributes, so neither library is imported. What is backed by a file stays there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from manyview.errors import ReadError
from manyview.sources import Part, as_ids, is_source
from manyview.views import frames
from manyview.views.blocks import read_block
from manyview.views.ids import find_places, refuse_repeated
from manyview.views.selection import select_rows


def is_annotated(data: Any) -> bool:
    """Whether this looks like an AnnData."""
    return hasattr(data, "obs_names") and hasattr(data, "X")


def has_modalities(data: Any) -> bool:
    """Whether this looks like a MuData."""
    return hasattr(data, "obs_names") and hasattr(data, "mod")


def read_matrix(data: Any, key: str = "X", *, modality: str | None = None) -> Part:
    """A matrix of an AnnData, one row a cell: ``X``, ``raw``, a key of ``obsm``, or ``layers/NAME``.

    It is called by its key, or by the modality of a MuData that the AnnData is.
    """
    where = "The AnnData" if modality is None else f"Modality {modality!r}"
    kind, _, inner = key.partition("/")
    obsm = getattr(data, "obsm", {})
    names = getattr(data, "var_names", None)
    if key == "X":
        values = data.X
        if values is None:
            raise ValueError(f"{where} has no X. Say which matrix to use; it has {_options(data)}.")
    elif kind == "layers" and inner in data.layers:
        values = data.layers[inner]
    elif key in obsm or (kind == "obsm" and inner in obsm):
        values, names = obsm[key if key in obsm else inner], None
    elif key == "raw" and getattr(data, "raw", None) is not None:
        values, names = data.raw.X, data.raw.var_names
    else:
        raise KeyError(f"{where} has no {key!r}; it has {_options(data)}.")
    name = key if modality is None else modality
    rows = read_block(values, name)
    if names is None:
        names = rows.feature_names if is_source(rows) else None
        names = frames.column_names(values) if frames.is_frame(values) else names
    columns = None if names is None else tuple(map(str, names))
    return Part(name, rows, columns, np.asarray(data.obs_names))


def _options(data: Any) -> str:
    found = ["'X'"] * (data.X is not None)
    found += ["'raw'"] * (getattr(data, "raw", None) is not None)
    found += [repr(str(key)) for key in getattr(data, "obsm", {})]
    # Among the layers of anndata 0.13, None is X.
    found += [repr(f"layers/{key}") for key in getattr(data, "layers", {}) if key is not None]
    return ", ".join(found) or "none"


def read_modalities(data: Any, keys: str | Mapping[str, str] = "X") -> dict[str, Part]:
    """One matrix for each modality of a MuData, its samples the whole's cells.

    ``keys`` say which, as in :func:`read_matrix`: the same of each modality, or by its name; then only
    those named are used.
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
    cells = np.asarray(data.obs_names)
    return {
        str(name): _align(read_matrix(data.mod[name], key, modality=str(name)), cells)
        for name, key in wanted.items()
    }


def _align(part: Part, cells: npt.NDArray[Any]) -> Part:
    """A modality with one sample a cell of the whole; those it does not have lack it."""
    own, wanted = as_ids(part.ids), as_ids(cells)
    if np.array_equal(own, wanted):
        return part
    try:
        refuse_repeated(own, f"Modality {part.name!r}")
        refuse_repeated(wanted, "The MuData")
    except ReadError as error:
        raise ValueError(f"{error} Call obs_names_make_unique() first.") from None
    return replace(part, rows=select_rows(part.rows, find_places(own, wanted)), ids=cells)
