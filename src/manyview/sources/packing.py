"""Values as JSON and arrays, so that models and checkpoints are written without pickle.

What can be packed: numbers, text, arrays, sparse arrays, tables of numbers, tuples, lists, dictionaries
with text as keys, and dataclasses of this package, of such things. What JSON has no word for is a
dictionary with one key that says what it is, such as ``{"array": name}``. A dictionary that looks like
that itself, such as the columns of a view called "array", is wrapped once more:
``{"array": {"array": columns}}``.
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

from manyview.sources.csr import join_csr

Arrays = dict[str, npt.NDArray[Any]]

_PACKAGE = "manyview."
_ALIGNED = 64  # arrays begin at multiples of this; compiled code would be slow, or another, if not
_TAGS = ("array", "!number", "!objects", "!csr", "!tuple", "!class")


def pack(value: Any, arrays: Arrays) -> Any:
    """What is left of a value as JSON once its arrays are put into ``arrays``, by name.

    Examples
    --------
    >>> arrays = {}
    >>> pack({"scale": 2.0, "rows": (np.ones(3),)}, arrays)
    {'scale': 2.0, 'rows': {'!tuple': [{'array': 'array_0'}]}}
    >>> list(arrays)
    ['array_0']
    """
    kind = type(value)
    if value is None or kind in (bool, int, float, str):
        return value
    if kind is list:
        return [pack(item, arrays) for item in value]
    if kind is tuple:
        return {"!tuple": pack(list(value), arrays)}
    if isinstance(value, dict):
        packed = {str(key): pack(item, arrays) for key, item in value.items()}
        return {"array": packed} if _tag(packed) else packed
    if isinstance(value, np.ndarray | np.generic):
        if value.dtype.hasobject and value.ndim == 1:
            return {"!objects": pack(value.tolist(), arrays)}
        if not value.dtype.hasobject:
            name = f"array_{len(arrays)}"
            arrays[name] = np.asarray(value)
            return {"array" if isinstance(value, np.ndarray) else "!number": name}
    if sparse.issparse(value):
        rows = sparse.csr_array(value)
        return {"!csr": pack([rows.data, rows.indices, rows.indptr, list(rows.shape)], arrays)}
    if is_dataclass(kind) and kind.__module__.startswith(_PACKAGE):
        content = {field.name: getattr(value, field.name) for field in fields(kind) if field.init}
        return {"!class": [f"{kind.__module__}:{kind.__qualname__}", pack(content, arrays)]}
    if hasattr(value, "__array__") and not isinstance(value, np.ndarray):  # a table
        return pack(np.asarray(value), arrays)
    raise TypeError(f"Cannot store {kind.__module__}.{kind.__qualname__} as arrays and JSON.")


def unpack(value: Any, arrays: Arrays, *, has_classes: bool = False) -> Any:
    """The value that :func:`pack` made this JSON and these arrays of; no classes unless asked for."""
    if isinstance(value, list):
        return [unpack(item, arrays, has_classes=has_classes) for item in value]
    if not isinstance(value, dict):
        return value
    tag = _tag(value)
    content: Any = value.get(tag)
    if tag == "array":
        if isinstance(content, str):
            return arrays[content]
        value = content  # a dictionary that looks like this itself
    elif tag == "!number":
        return arrays[content][()]
    elif tag == "!class" and has_classes:
        name, values = content
        return _find_class(name)(**unpack(values, arrays, has_classes=True))
    elif tag == "!class":
        raise ValueError(f"{content!r} names a class, where none belongs")
    elif tag:
        items = unpack(content, arrays, has_classes=has_classes)
        if tag == "!tuple":
            return tuple(items)
        if tag == "!csr":
            return join_csr(tuple(items[:3]), tuple(items[3]))
        objects = np.empty(len(items), object)
        objects[:] = items
        return objects
    return {key: unpack(item, arrays, has_classes=has_classes) for key, item in value.items()}


def _tag(packed: dict[str, Any]) -> str:
    """The one key of a dictionary that says what it stands for; empty if it is itself."""
    return next((key for key in packed if len(packed) == 1 and key in _TAGS), "")


def _find_class(name: str) -> Any:
    module, _, qualname = name.partition(":")
    kind = (
        getattr(importlib.import_module(module), qualname) if module.startswith(_PACKAGE) else None
    )
    if not is_dataclass(kind) or kind.__module__ != module:
        raise ValueError(f"{name!r} is not a dataclass of this package.")
    return kind


def to_bytes(value: Any) -> list[bytes | memoryview]:
    """Pieces of bytes that, written one after the other, hold a value."""
    arrays: Arrays = {}
    content = pack(value, arrays)
    pieces = [np.asarray(array, order="C") for array in arrays.values()]  # keeps single numbers
    kinds = {n: [a.dtype.str, list(a.shape)] for n, a in zip(arrays, pieces, strict=True)}
    header = json.dumps({"value": content, "arrays": kinds}).encode()
    header += b" " * (-(8 + len(header)) % _ALIGNED)
    record: list[bytes | memoryview] = [len(header).to_bytes(8, "little"), header]
    for piece in pieces:
        record += [piece.reshape(-1).view(np.uint8).data, bytes(-piece.nbytes % _ALIGNED)]
    return record


def from_bytes(content: npt.NDArray[np.uint8]) -> Any:
    """The value that :func:`to_bytes` was given; its arrays share the memory of ``content``."""
    end = 8 + int.from_bytes(content[:8].tobytes(), "little")
    header = json.loads(content[8:end].tobytes())
    arrays: Arrays = {}
    for name, (kind, shape) in header["arrays"].items():
        dtype = np.dtype(kind)
        size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
        if end + size > len(content):
            raise ValueError("the record is cut short")
        arrays[name] = content[end : end + size].view(dtype).reshape(shape)
        end += size + -size % _ALIGNED
    return unpack(header["value"], arrays, has_classes=True)


def digest(value: Any) -> str:
    """Text that is the same for the same value: readable for numbers, a hash for arrays."""
    arrays: Arrays = {}
    text = json.dumps(pack(value, arrays))
    if not arrays:
        return text
    total = hashlib.blake2b(text.encode(), digest_size=16)
    for array in arrays.values():
        total.update(f"{array.dtype.str}{array.shape}".encode())
        for start in range(0, len(array) if array.ndim else 0, 65536):
            total.update(np.ascontiguousarray(array[start : start + 65536]).view(np.uint8).data)
        if array.ndim == 0:
            total.update(array.tobytes())
    return total.hexdigest()
