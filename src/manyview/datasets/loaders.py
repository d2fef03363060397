"""Files of a data set, in their original formats or as npz -> checked views."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from manyview.datasets.originals import RawData, read_originals
from manyview.datasets.registry import DatasetInfo
from manyview.errors import ReadError
from manyview.machine import whole_file
from manyview.views.container import Views


def find_files(folder: Path, info: DatasetInfo) -> Path | None:
    """Where a data set is in a folder: ``NAME.npz`` or an original file; None if nowhere."""
    paths = (folder / name for name in (f"{info.name}.npz", *info.files))
    return next((path for path in paths if path.exists()), None)


def read_views(path: Path, info: DatasetInfo) -> Views:
    """A data set from a file, or a folder that holds one, after a check that it is the right one."""
    if not path.exists():
        raise FileNotFoundError(f"There is no file or folder {path}.")
    if path.is_dir():
        found = find_files(path, info)
        if found is None:
            wanted = ", ".join((f"{info.name}.npz", *info.files))
            raise FileNotFoundError(
                f"Folder {path} has none of the files of data set {info.name!r}: {wanted}."
            )
        return read_views(found, info)
    try:
        raw = read_originals(path, info)
    except (ImportError, MemoryError):
        raise
    except Exception as error:  # a damaged file can make a parser raise anything
        is_told = isinstance(error, ValueError | ReadError)
        words = f"{error}".rstrip(".") if is_told else f"{type(error).__name__}: {error}"
        raise ValueError(
            f"Cannot read {path} as data set {info.name!r}: {words}. The file may be damaged or of "
            f"another kind; expected {' or '.join(info.formats)} with {info.n_samples} samples."
        ) from error
    return to_views(raw, info, origin=str(path))


def to_views(raw: RawData, info: DatasetInfo, *, origin: str) -> Views:
    """What was read from ``origin``, named and checked; the target numbers the sorted labels from 0."""

    def refuse(expected: str, found: str) -> ValueError:
        return ValueError(
            f"{origin} is not data set {info.name!r}: expected {expected}, found {found}."
        )

    widths = [int(array.shape[1]) for array in raw.arrays]
    arrays = _arrange(raw.arrays, widths, info)
    if arrays is None:
        expected = f"{len(info.n_features)} view(s) of {list(info.n_features)} columns"
        raise refuse(expected, str(widths))
    classes, target, counts = np.unique(raw.labels, return_inverse=True, return_counts=True)
    n_rows = [array.shape[0] for array in arrays]
    if any(n != info.n_samples for n in [*n_rows, len(target)]):
        raise refuse(f"{info.n_samples} samples", f"views of {n_rows} and {len(target)} labels")
    has_fewer = len(classes) < info.n_clusters and not info.is_multilabel
    if len(classes) > info.n_clusters or has_fewer:
        raise refuse(f"{info.n_clusters} classes", f"{len(classes)}")
    # Sorted, because sources number the classes differently.
    if info.class_counts is not None and sorted(counts) != sorted(info.class_counts):
        expected = f"classes of {sorted(info.class_counts)} samples"
        raise refuse(expected, str(sorted(counts.tolist())))
    # MATLAB's files come column by column; everything after works on rows.
    arrays = [a if sparse.issparse(a) else np.ascontiguousarray(a) for a in arrays]
    return Views(arrays, names=info.view_names, target=target.astype(np.int32))


def _arrange(arrays: Sequence[Any], widths: list[int], info: DatasetInfo) -> list[Any] | None:
    """Views in the registry's order, which their widths tell where all differ; None if none fits."""
    for expected in (info.n_features, *info.other_widths):
        if tuple(widths) == expected:
            return list(arrays)
        if sorted(widths) == sorted(expected) and len(set(widths)) == len(widths):
            return [arrays[widths.index(width)] for width in expected]
    return None


def save_npz(path: Path, views: Views) -> None:
    """Write views and target as npz, all at once or not at all.

    Dense views are arrays ``view_0``, ...; sparse ones are parts ``view_0_data``, ``view_0_indices``,
    ``view_0_indptr`` and ``view_0_shape``; target and names are ``labels`` and ``view_names``.
    """
    if views.target is None:
        raise ValueError("These views have no target, which the file must hold as 'labels'.")
    parts: dict[str, Any] = {"labels": views.target, "view_names": np.array(views.names)}
    for i, array in enumerate(views.arrays):
        if sparse.issparse(array):
            parts |= {
                f"view_{i}_{part}": getattr(array, part)
                for part in ("data", "indices", "indptr", "shape")
            }
        else:
            parts[f"view_{i}"] = array
    with whole_file(path) as unfinished, unfinished.open("wb") as file:
        np.savez(file, **parts)
