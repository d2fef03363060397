"""AnnData (.h5ad) and MuData (.h5mu): cells as rows, one view for each modality.

The files are HDF5 with a documented layout, read with h5py alone.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from manyview.errors import ReadError
from manyview.readers.contents import Contents, Request, as_labels
from manyview.readers.hdf5 import opened, read_values
from manyview.sources import Part, Source, as_ids, stored_ids
from manyview.sources.csc_groups import CscGroupSource
from manyview.sources.csr_groups import CsrGroupSource
from manyview.sources.hdf5 import Hdf5Source
from manyview.wording import count, first_few


def read(request: Request) -> Contents:
    """Views of the cells of a file.

    The key is ``X`` (also without one), or ``layers/NAME`` or ``obsm/NAME``; in MuData
    ``MODALITY``, or ``MODALITY/X`` and so on. Ids are the names of the cells; ``id_column`` and
    ``label_column`` name a column of ``obs``.
    """
    with opened(request.path) as file:
        if "mod" in file:
            return _read_many(file, request)
        if "obs" not in file:
            raise ReadError(f"{request.path} has no 'obs'; it is no AnnData or MuData file.")
        obs = file["obs"]
        ids: npt.NDArray[Any] = _index(obs)
        is_indexed = request.id_column is None or request.id_column not in obs
        if not is_indexed:
            ids = stored_ids(_column(obs[request.id_column]))
        part, note = _read_matrix(file, request.key or "X", ids, request, request.stem)
        note = f"{request.path}: AnnData, {note}."
        return Contents((part,), note, _labels(obs, request), is_indexed=is_indexed)


def _read_many(file: Any, request: Request) -> Contents:
    names = [str(name) for name in file["mod"].attrs.get("mod-order", sorted(file["mod"]))]
    wanted, _, inner = (request.key or "").partition("/")
    if wanted and wanted not in names:
        raise ReadError(f"{request.path} has no modality {wanted!r}; it has {first_few(names)}.")
    chosen = [wanted] if wanted else names
    if not chosen:
        raise ReadError(f"{request.path} is a MuData file without modalities.")
    parts, notes = [], []
    ids = _index(file["mod"][chosen[0]]["obs"])
    for name in chosen:
        group = file["mod"][name]
        if not np.array_equal(_index(group["obs"]), ids):
            raise ReadError(
                f"{request.path}: modality {name!r} does not hold the same cells in the same order as "
                f"{chosen[0]!r}. Give the modalities as views of their own, {request.path}::"
                f"{chosen[0]} and {request.path}::{name}, and they are joined by their names: the "
                f"common ones with {request.vocabulary.inner}, all with {request.vocabulary.outer}."
            )
        part, note = _read_matrix(group, inner or "X", ids, request, name)
        parts.append(part)
        notes.append(note)
    obs = file["obs"] if len(chosen) > 1 else file["mod"][chosen[0]]["obs"]
    labels = _labels(obs, request)
    if labels is not None and len(labels) != len(ids):
        labels = None
    words = f"{request.path}: MuData, {'; '.join(notes)}."
    return Contents(tuple(parts), words, labels, is_indexed=True)


def vectors(path: Path) -> dict[str, npt.NDArray[Any]]:
    """The names of the cells, as ``_index``, and every column of ``obs``."""
    with opened(path) as file:
        obs = file["obs"]
        ids = _index(obs)
        columns = {name: _column(obs[name]) for name in obs if name != obs.attrs["_index"]}
        return {**columns, "_index": ids}


def _read_matrix(
    group: Any, key: str, ids: npt.NDArray[Any], request: Request, name: str
) -> tuple[Part, str]:
    if key not in group or key in ("obs", "var", "uns"):
        options = ["X"] * ("X" in group)
        options += [f"{part}/{n}" for part in ("layers", "obsm") for n in group.get(part, ())]
        raise ReadError(f"{request.path} has no {key!r}; it has {first_few(options)}.")
    item = group[key]
    columns = None
    if not key.startswith("obsm/") and "var" in group:
        columns = tuple(_index(group["var"]).tolist())
    if hasattr(item, "shape"):
        if len(item.shape) != 2:
            raise ReadError(f"{request.path}::{key} has shape {item.shape}; a view has two.")
        data: Source = Hdf5Source(item, path=request.path)
    else:
        data = _read_sparse(item, request)
    if columns is not None and len(columns) != data.shape[1]:
        columns = None
    if data.shape[0] != len(ids):
        raise ReadError(
            f"{request.path}: {name!r} has {data.shape[0]} rows, but 'obs' has {len(ids)}."
        )
    size = f"{count(data.shape[0], 'row')}, one cell each, {count(data.shape[1], 'column')}"
    return Part(name, data, columns, ids), f"{name!r}: {key}, {size}"


def _read_sparse(group: Any, request: Request) -> CsrGroupSource | CscGroupSource:
    kind = str(group.attrs.get("encoding-type", ""))
    if kind not in ("csr_matrix", "csc_matrix"):
        raise ReadError(
            f"{request.path}::{group.name.strip('/')} is stored as {kind or 'an old layout'}. Write the "
            "file again with a current anndata."
        )
    return (CsrGroupSource if kind == "csr_matrix" else CscGroupSource)(group, path=request.path)


def _labels(obs: Any, request: Request) -> npt.NDArray[Any] | None:
    if request.label_column is None or request.label_column not in obs:
        return None
    return as_labels(_column(obs[request.label_column]))


def _index(table: Any) -> npt.NDArray[np.str_]:
    if "_index" not in table.attrs:
        raise ReadError(
            f"{table.file.filename} has an old layout. Write it again with a current anndata."
        )
    return as_ids(_column(table[table.attrs["_index"]]))


def _column(item: Any) -> npt.NDArray[Any]:
    """The values of a column, also of categories or with a mask; None where one is missing."""
    if hasattr(item, "shape"):
        return read_values(item)
    if "categories" in item:
        codes = read_values(item["codes"])
        is_missing, known = codes < 0, _column(item["categories"])
        values = np.full(len(codes), None) if is_missing.all() else known[np.maximum(codes, 0)]
    else:
        values, is_missing = _column(item["values"]), read_values(item["mask"]).astype(bool)
    if is_missing.any():
        values = values.astype(object)
        values[is_missing] = None
    return values
