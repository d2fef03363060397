"""Views as files, one function a format: each gives what to write under which name."""

from __future__ import annotations

import csv
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from manyview.cli.failure import Failure
from manyview.views.container import Views

Files = dict[str, Callable[[Path], None]]


def _one_each(ending: str, write: Callable[..., None]) -> Callable[[str, Views], Files]:
    """Give a writer of one file a view; sparse views become sparse npz files."""

    def files(name: str, views: Views) -> Files:
        found: Files = {}
        for view, array in views.items():
            if sparse.issparse(array):
                found[f"{view}.npz"] = partial(_write_sparse, array=array)
            else:
                found[f"{view}{ending}"] = partial(write, array=array, name=view)
        return found | {"labels.csv": partial(_write_labels, target=views.target)}

    return files


def _write_labels(path: Path, *, target: Any) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["id", "label"])
        writer.writerows(enumerate(np.asarray(target).tolist()))


def _write_sparse(path: Path, *, array: Any) -> None:
    with path.open("wb") as file:
        sparse.save_npz(file, array)


def _write_npy(path: Path, array: Any, name: str) -> None:
    with path.open("wb") as file:
        np.save(file, array)


def _write_csv(path: Path, array: Any, name: str) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["id", *(f"{name}_{i}" for i in range(array.shape[1]))])
        writer.writerows([i, *row] for i, row in enumerate(array.tolist()))


def _write_parquet(path: Path, array: Any, name: str) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    columns = {"id": pa.array(np.arange(len(array)))}
    columns |= {f"{name}_{i}": pa.array(array[:, i]) for i in range(array.shape[1])}
    parquet.write_table(pa.table(columns), path)


def _npz(name: str, views: Views) -> Files:
    from manyview.datasets.loaders import save_npz

    return {f"{name}.npz": partial(save_npz, views=views)}


def _hdf5(name: str, views: Views) -> Files:
    _refuse_sparse(views, "hdf5")
    return {f"{name}.h5": partial(_write_hdf5, views=views)}


def _write_hdf5(path: Path, *, views: Views) -> None:
    import h5py

    with h5py.File(path, "w") as file:
        for view, array in views.items():
            file[view] = array
        file["labels"] = views.target


def _mat(name: str, views: Views) -> Files:
    return {f"{name}.mat": partial(_write_mat, views=views)}


def _write_mat(path: Path, *, views: Views) -> None:
    from scipy.io import savemat

    cell = np.empty((1, views.n_views), dtype=object)
    for i, array in enumerate(views.arrays):
        cell[0, i] = sparse.csc_array(array) if sparse.issparse(array) else array
    with path.open("wb") as file:
        savemat(file, {"X": cell, "Y": np.asarray(views.target)[:, None]})


def _refuse_sparse(views: Views, kind: str) -> None:
    wide = [name for name, array in views.items() if sparse.issparse(array)]
    if wide:
        raise Failure(
            f"views {', '.join(wide)} are sparse, which {kind} would store with all their zeros. Use "
            "--to npy or --to npz.",
            is_bad_input=True,
        )


WRITERS: dict[str, Callable[[str, Views], Files]] = {
    "csv": _one_each(".csv", _write_csv),
    "npy": _one_each(".npy", _write_npy),
    "npz": _npz,
    "parquet": _one_each(".parquet", _write_parquet),
    "hdf5": _hdf5,
    "mat": _mat,
}
"""What each format writes."""
