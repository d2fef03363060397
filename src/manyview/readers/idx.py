"""The format of MNIST: bytes or numbers with a short head, packed or not."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from manyview.errors import ReadError
from manyview.readers.contents import Contents, Request
from manyview.readers.text import open_bytes, packing_errors
from manyview.sources import Part
from manyview.sources.room import refuse_large
from manyview.wording import count

_TYPES = {0x08: "u1", 0x09: "i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}


def read_array(path: Path) -> npt.NDArray[Any]:
    """The array of an idx file, such as ``train-images-idx3-ubyte.gz``, in the machine's byte order."""
    with packing_errors(path), open_bytes(path) as file:
        head = file.read(4)
        if len(head) < 4 or head[:2] != b"\0\0" or head[2] not in _TYPES:
            raise ReadError(f"{path} does not start like an idx file.")
        dtype, sizes = np.dtype(_TYPES[head[2]]), file.read(4 * head[3])
        if len(sizes) < 4 * head[3]:
            raise ReadError(f"{path} is cut short inside its head.")
        shape = tuple(int(size) for size in np.frombuffer(sizes, dtype=">u4"))
        expected = math.prod(shape) * dtype.itemsize
        refuse_large(expected, path)
        raw = file.read(expected + 1)
    if len(raw) != expected:
        more = "more" if len(raw) > expected else str(len(raw))
        raise ReadError(
            f"{path} has {more} bytes of values, but its head says {shape}, which are {expected}."
        )
    array = np.frombuffer(raw, dtype=dtype).reshape(shape)
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
