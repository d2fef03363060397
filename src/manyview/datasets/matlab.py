"""MATLAB and HDF5 files of data sets: a cell of views, and labels, under many names."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy.typing as npt

from manyview.readers.contents import LABEL_NAMES
from manyview.readers.matlab import orient, pick_labels, pick_views, read_variables


class RawData(NamedTuple):
    """Views with samples as rows, and their labels, as a file holds them."""

    arrays: list[Any]
    labels: npt.NDArray[Any]


def read_mat(path: Path) -> RawData:
    """Views and labels of a MATLAB file of any version, or of a plain HDF5 file.

    Parameters
    ----------
    path : Path
        The file. Version 7.3 is HDF5, and read with h5py.

    Returns
    -------
    RawData
    """
    variables = read_variables(path)
    found = pick_labels(variables)
    if found is None:
        raise ValueError(
            f"no labels: none of {list(LABEL_NAMES)} is among its variables {sorted(variables)}"
        )
    views = pick_views(variables)
    return RawData(orient(list(views.values()), len(found[1])), found[1])
