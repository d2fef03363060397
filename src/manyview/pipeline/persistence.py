"""Save and load a fitted model as arrays plus JSON; never pickle.

A model file is a ZIP archive, nothing in it packed: ``model.json``, one ``.npy`` member per array, as
:mod:`manyview.sources.packing` makes them, and ``digest.json``, a hash of all the others. What is read
is checked against the hash, and every field against :mod:`manyview.pipeline.model_fields`.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import zipfile
from collections.abc import Mapping
from dataclasses import asdict
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import manyview
from manyview.errors import ModelFileError
from manyview.machine import whole_file
from manyview.pipeline.groups import Groups
from manyview.pipeline.model import FittedModel
from manyview.pipeline.model_fields import (
    POSITIVE,
    check,
    check_fitted,
    floats,
    make_record,
    optional,
)
from manyview.sources.npy import read_header
from manyview.sources.packing import Arrays, pack, unpack
from manyview.stages.axes import Axes
from manyview.stages.embedding import Embedding
from manyview.stages.graph import AnchorGraph
from manyview.stages.hierarchy import Hierarchy
from manyview.stages.n_clusters import Suggestion
from manyview.stages.oddness import Oddness
from manyview.stages.quantiles import Quantiles
from manyview.stages.scaling import Scaler
from manyview.views.encoding import Encoding
from manyview.views.kinds import Code

_FORMAT = "manyview-model"
_FORMAT_VERSION = 4
_DIGEST = "digest.json"
_TYPES = "biufUSMm"  # of arrays that may be in a file: no objects, no records


def write_model(
    path: Path, model: FittedModel, *, params: dict[str, Any], fitted: dict[str, Any]
) -> None:
    """Write a model, its estimator's parameters and small fitted attributes to ``path``.

    The file appears whole or not at all.
    """
    arrays: Arrays = {}
    content = {
        "format": _FORMAT,
        "format_version": _FORMAT_VERSION,
        "manyview_version": manyview.__version__,
        "params": {name: _pack_param(name, value, arrays) for name, value in params.items()},
        "model": pack(
            {
                "scalers": [asdict(scaler) for scaler in model.scalers],
                "graphs": [asdict(graph) for graph in model.graphs],
                "embedding": asdict(model.embedding),
                "centers": model.centers,
                "sharpness": model.sharpness,
                "sizes": model.sizes,
                "hierarchy": None if model.hierarchy is None else asdict(model.hierarchy),
                "oddness": None if model.oddness is None else asdict(model.oddness),
            },
            arrays,
        ),
        "fitted": {name: _pack_fitted(value, arrays) for name, value in fitted.items()},
    }
    with whole_file(path) as unfinished, zipfile.ZipFile(unfinished, "w") as archive:
        total = hashlib.blake2b(digest_size=32)
        _put(archive, total, "model.json", json.dumps(content, indent=1).encode())
        for name, array in arrays.items():
            buffer = io.BytesIO()
            np.lib.format.write_array(buffer, array, allow_pickle=False)
            _put(archive, total, f"{name}.npy", buffer.getvalue())
        archive.writestr(_DIGEST, _as_digest(total))


def seal(members: Mapping[str, bytes]) -> bytes:
    """The content of ``digest.json`` for these members, in their order."""
    total = hashlib.blake2b(digest_size=32)
    for name, content in members.items():
        _add(total, name, content)
    return _as_digest(total)


def _as_digest(total: Any) -> bytes:
    return json.dumps({"blake2b": total.hexdigest()}).encode()


def _put(archive: zipfile.ZipFile, total: Any, name: str, content: bytes) -> None:
    _add(total, name, content)
    archive.writestr(name, content)


def _add(total: Any, name: str, content: bytes) -> None:
    total.update(f"{name} {len(content)}\n".encode())
    total.update(content)


def read_model(path: Path) -> tuple[dict[str, Any], FittedModel, dict[str, Any]]:
    """Read the parameters, the model and the small fitted attributes from ``path``."""
    if not path.exists():
        raise FileNotFoundError(f"There is no model file {str(path)!r}.")
    if path.is_dir():
        raise IsADirectoryError(
            f"{str(path)!r} is a folder, not a model file. 'manyview fit' writes its model as model.mv."
        )
    try:
        content, arrays = _read_members(path)
        params, fitted = (unpack(content[name], arrays) for name in ("params", "fitted"))
        if fitted.get("encodings_"):
            fitted["encodings_"] = list(map(_build_encoding, fitted["encodings_"]))
        if fitted.get("suggestion_"):
            fitted["suggestion_"] = make_record(Suggestion, fitted["suggestion_"])
        model = _build_model(unpack(content["model"], arrays))
        if "groups_" in fitted:
            fitted["groups_"] = _build_groups(fitted["groups_"], model)
        n_leaves = 0 if model.hierarchy is None else len(model.hierarchy.leaves)
        check_fitted(
            fitted,
            n_clusters=len(model.centers),
            n_views=len(model.scalers),
            n_leaves=n_leaves,
        )
        return params, model, fitted
    except (ModelFileError, PermissionError):
        raise
    except Exception as error:  # damage may show in any way: zipfile, zlib, json and NumPy differ
        raise ModelFileError(
            f"{str(path)!r} is not a whole manyview model file ({error}). Save the model again."
        ) from error


def _read_members(path: Path) -> tuple[dict[str, Any], Arrays]:
    """The document and the arrays, if they are what was written."""
    with zipfile.ZipFile(path) as archive:
        _check_sizes(archive, path)
        content = json.loads(archive.read("model.json"))
        _check_header(content, path)
        arrays: Arrays = {}
        total, written = hashlib.blake2b(digest_size=32), None
        for name in archive.namelist():
            member = archive.read(name)
            if name == _DIGEST:
                written = json.loads(member)["blake2b"]
                continue
            _add(total, name, member)
            if name.endswith(".npy"):
                arrays[name[:-4]] = _read_array(member, name)
            elif name != "model.json":
                raise ValueError(f"{name!r} does not belong into it")
    if written != total.hexdigest():
        raise ValueError("it is not what was written: its digest is another")
    return content, arrays


def _check_sizes(archive: zipfile.ZipFile, path: Path) -> None:
    """Refuse what would unfold to more than the file has: we pack nothing."""
    members = archive.infolist()
    names = [member.filename for member in members]
    if any(member.compress_type != zipfile.ZIP_STORED for member in members):
        raise ValueError("its members are packed")
    if len({*names}) != len(names) or sum(m.file_size for m in members) > path.stat().st_size:
        raise ValueError("its members overlap")


def _read_array(member: bytes, name: str) -> npt.NDArray[Any]:
    """The array of a member, which has the bytes that its header promises."""
    file = io.BytesIO(member)
    shape, is_fortran, dtype = read_header(file)
    size = math.prod(shape) * dtype.itemsize
    if dtype.kind not in _TYPES or min(shape, default=0) < 0 or size != len(member) - file.tell():
        raise ValueError(f"{name!r} is no whole array of numbers or text")
    flat = np.frombuffer(member, dtype, offset=file.tell()) if size else np.empty(0, dtype)
    # A copy: compiled code would be slow, or another, on numbers that are not aligned.
    return np.array(flat.reshape(shape, order="F" if is_fortran else "C"), order="K")


def _check_header(content: Any, path: Path) -> None:
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        raise ModelFileError(f"{str(path)!r} was not written by manyview.")
    version = content.get("format_version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise ModelFileError(f"{str(path)!r} has a format that is no number: {version!r}.")
    if version != _FORMAT_VERSION:
        raise ModelFileError(
            f"{str(path)!r} was written by manyview {content.get('manyview_version')}, whose format "
            f"{version} this version ({manyview.__version__}) cannot read. "
            f"{'Upgrade manyview' if version > _FORMAT_VERSION else 'Fit the model again'}."
        )


def _build_model(content: dict[str, Any]) -> FittedModel:
    scalers = tuple(map(_build_scaler, content["scalers"]))
    graphs = tuple(make_record(AnchorGraph, graph) for graph in content["graphs"])
    centers = content["centers"]
    check(centers, floats(2), "the centres")
    check(content["sharpness"], POSITIVE, "the sharpness")
    check(content["sizes"], optional(floats(1)), "the clusters' sizes")
    tree = content["hierarchy"]
    return FittedModel(
        scalers,
        graphs,
        make_record(Embedding, content["embedding"]),
        centers,
        sharpness=content["sharpness"],
        sizes=content["sizes"],
        oddness=_build_oddness(content["oddness"]),
        hierarchy=None if tree is None else make_record(Hierarchy, tree),
    )


def _build_oddness(content: dict[str, Any] | None) -> Oddness | None:
    if content is None:
        return None
    parts = {
        **content,
        "scalers": tuple(map(_build_scaler, content["scalers"])),
        "graphs": tuple(make_record(AnchorGraph, graph) for graph in content["graphs"]),
    }
    oddness: Oddness = make_record(Oddness, parts)
    return oddness


def _build_groups(content: dict[str, Any], model: FittedModel) -> Groups:
    parts = {**content, "scalers": tuple(map(_build_scaler, content["scalers"]))}
    groups: Groups = make_record(Groups, parts)
    groups.check()
    if [len(scaler.shift) for scaler in model.scalers] != [s.width for s in groups.scalers]:
        raise ValueError("the groups do not fit the model's views")
    return groups


def _build_scaler(content: dict[str, Any]) -> Scaler:
    for name, kind in (("quantiles", Quantiles), ("axes", Axes)):
        if content.get(name) is not None:
            content[name] = make_record(kind, content[name])
    scaler: Scaler = make_record(Scaler, content)
    return scaler


def _build_encoding(content: Any) -> Encoding | None:
    if content is None:
        return None
    made = tuple(make_record(Code, code) for code in content["codes"])
    return make_record(Encoding, {"codes": made})  # type: ignore[no-any-return]


def _pack_param(name: str, value: Any, arrays: Arrays) -> Any:
    """Parameters that are objects are kept by name: engines and generators hold no result."""
    if name == "engine" and not isinstance(value, str):
        return "auto"
    if name == "verbose" and not isinstance(value, Integral):
        return 0
    if name == "random_state" and not isinstance(value, Integral | None):
        return None
    return pack(list(value) if isinstance(value, range) else value, arrays)


def _pack_fitted(value: Any, arrays: Arrays) -> Any:
    """Fitted attributes: ids that are objects of other libraries are kept as text."""
    try:
        if isinstance(value, list):
            value = [asdict(v) if isinstance(v, Encoding) else v for v in value]
        return pack(asdict(value) if isinstance(value, Suggestion | Groups) else value, arrays)
    except TypeError:
        return pack(np.array([str(item) for item in value]), arrays)
