"""The format of MNIST: bytes or numbers with a short head, packed or not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from manyview.errors import ReadError
from manyview.readers.contents import Contents, Request
from manyview.readers.text import open_bytes, packing_errors
from manyview.sources import Part
from manyview.wording import count

_TYPES = {0x08: "u1", 0x09: "i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}


def read_array(path: Path) -> npt.NDArray[Any]:
    """The array of an idx file, such as ``train-images-idx3-ubyte.gz``, in the machine's byte order."""
    with packing_errors(path), open_bytes(path) as file:
        raw = file.read()
    if len(raw) < 4 or raw[:2] != b"\0\0" or raw[2] not in _TYPES:
        raise ReadError(f"{path} does not start like an idx file.")
    dtype, start = np.dtype(_TYPES[raw[2]]), 4 + 4 * raw[3]
    if len(raw) < start:
        raise ReadError(f"{path} is cut short inside its head.")
    shape = tuple(int(size) for size in np.frombuffer(raw[4:start], dtype=">u4"))
    expected = int(np.prod(shape)) * dtype.itemsize
    if len(raw) - start != expected:
        raise ReadError(
            f"{path} has {len(raw) - start} bytes of values, but its head says {shape}, which are "
            f"{expected}."
        )
    array = np.frombuffer(raw, dtype=dtype, offset=start).reshape(shape)
    return array.astype(dtype.newbyteorder("="), copy=False)


def read(request: Request) -> Contents:
    """Images, one a row, their pixels side by side."""
    if request.key is not None:
        raise ReadError(f"{request.path} holds one array; leave out '::{request.key}'.")
    array = read_array(request.path)
    if array.ndim < 2:
        raise ReadError(
            f"{request.path} holds {count(array.size, 'label')}, not images. Give it with "
            f"{request.vocabulary.labels}."
        )
    if len(array) == 0:
        raise ReadError(f"{request.path} holds no images.")
    size = " x ".join(map(str, array.shape[1:]))
    note = f"{request.path}: idx, {count(len(array), 'row')}, one image of {size} each."
    name = request.path.name.split("-idx")[0]
    return Contents((Part(name, array.reshape(len(array), -1)),), note)


def vectors(path: Path) -> dict[str, npt.NDArray[Any]]:
    """The labels of an idx1 file."""
    array = read_array(path)
    return {"": array} if array.ndim == 1 else {}
