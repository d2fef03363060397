"""Sums and tiles as JSON and arrays, so that they can be written without pickle.

What can be packed: arrays, CSR arrays, numbers, text, tuples, lists, and the package's own dataclasses
of such things.
"""

from __future__ import annotations

import hashlib
import importlib
import json
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

_PACKAGE = "manyview."
_ALIGNED = 64  # arrays begin at multiples of this; compiled code would be slow, or another, if not


def pack(value: Any, arrays: list[npt.NDArray[Any]]) -> Any:
    """Put arrays into ``arrays``; what is left is JSON."""
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, np.ndarray | np.generic) and not value.dtype.hasobject:
        arrays.append(np.asarray(value))
        return {"array" if isinstance(value, np.ndarray) else "number": len(arrays) - 1}
    if isinstance(value, sparse.csr_array):
        parts = [pack(part, arrays) for part in (value.data, value.indices, value.indptr)]
        return {"csr": parts, "shape": list(value.shape)}
    if isinstance(value, list | tuple):
        return {type(value).__name__: [pack(item, arrays) for item in value]}
    kind = type(value)
    if is_dataclass(kind) and kind.__module__.startswith(_PACKAGE):
        content = {
            field.name: pack(getattr(value, field.name), arrays)
            for field in fields(kind)
            if field.init
        }
        return {"class": f"{kind.__module__}:{kind.__qualname__}", "fields": content}
    raise TypeError(f"Cannot store {kind.__module__}.{kind.__qualname__} as arrays and JSON.")


def unpack(value: Any, arrays: list[npt.NDArray[Any]]) -> Any:
    """Give back what :func:`pack` was given."""
    if not isinstance(value, dict):
        return value
    if "array" in value:
        return arrays[value["array"]]
    if "number" in value:
        return arrays[value["number"]][()]
    if "csr" in value:
        parts = tuple(unpack(part, arrays) for part in value["csr"])
        return sparse.csr_array(parts, shape=tuple(value["shape"]))
    if "class" in value:
        return _class(value["class"])(
            **{name: unpack(item, arrays) for name, item in value["fields"].items()}
        )
    ((kind, content),) = value.items()
    items = [unpack(item, arrays) for item in content]
    return tuple(items) if kind == "tuple" else items


def _class(name: str) -> Any:
    module, _, qualname = name.partition(":")
    kind = (
        getattr(importlib.import_module(module), qualname) if module.startswith(_PACKAGE) else None
    )
    if kind is None or not is_dataclass(kind):
        raise ValueError(f"{name!r} is not a dataclass of this package.")
    return kind


def to_bytes(value: Any) -> list[bytes | memoryview]:
    """Give pieces of bytes that, written one after the other, hold the value."""
    arrays: list[npt.NDArray[Any]] = []
    content = pack(value, arrays)
    arrays = [np.asarray(array, order="C") for array in arrays]  # which keeps single numbers
    kinds = [[array.dtype.str, list(array.shape)] for array in arrays]
    header = json.dumps({"value": content, "arrays": kinds}).encode()
    header += b" " * (-(8 + len(header)) % _ALIGNED)
    pieces: list[bytes | memoryview] = [len(header).to_bytes(8, "little"), header]
    for array in arrays:
        pieces += [array.reshape(-1).view(np.uint8).data, bytes(-array.nbytes % _ALIGNED)]
    return pieces


def from_bytes(content: npt.NDArray[np.uint8]) -> Any:
    """Give back what :func:`to_bytes` was given; arrays share the memory of ``content``."""
    end = 8 + int.from_bytes(content[:8].tobytes(), "little")
    header = json.loads(content[8:end].tobytes())
    arrays = []
    for kind, shape in header["arrays"]:
        dtype = np.dtype(kind)
        size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
        if end + size > len(content):
            raise ValueError("the record is cut short")
        arrays.append(content[end : end + size].view(dtype).reshape(shape))
        end += size + -size % _ALIGNED
    return unpack(header["value"], arrays)


def digest(value: Any) -> str:
    """Give text that is the same for the same value: readable for numbers, a hash for arrays."""
    arrays: list[npt.NDArray[Any]] = []
    text = json.dumps(pack(value, arrays))
    if not arrays:
        return text
    total = hashlib.blake2b(text.encode(), digest_size=16)
    for array in arrays:
        total.update(f"{array.dtype.str}{array.shape}".encode())
        for start in range(0, len(array) if array.ndim else 0, 65536):
            total.update(np.ascontiguousarray(array[start : start + 65536]).view(np.uint8).data)
        if array.ndim == 0:
            total.update(array.tobytes())
    return total.hexdigest()
