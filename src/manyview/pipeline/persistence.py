"""Save and load a fitted model as arrays plus JSON; never pickle.

A model file is a ZIP archive: ``model.json`` and one ``.npy`` member per array, as
:mod:`manyview.sources.packing` makes them. Models of earlier formats load as well and predict what they
did, but for those that were fitted with parameters which changed the model and are no more: format 1 has
no tuples; up to format 2, each repeat's embedding rows were as long as all are together now.
"""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import asdict
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

import manyview
from manyview.errors import ModelFileError
from manyview.machine import whole_file
from manyview.pipeline.model import FittedModel
from manyview.sources.packing import Arrays, pack, unpack
from manyview.stages.axes import Axes
from manyview.stages.embedding import Embedding
from manyview.stages.graph import AnchorGraph
from manyview.stages.n_clusters import Suggestion
from manyview.stages.quantiles import Quantiles
from manyview.stages.scaling import Scaler
from manyview.views.encoding import Encoding

_FORMAT = "manyview-model"
_FORMAT_VERSION = 3
_DROPPED = ("block_rows", "n_init")  # they say how a fit went, not what it gave
_REMOVED = {"degree_norm": True, "row_norm": True, "impute": None}


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
            },
            arrays,
        ),
        "fitted": {name: _pack_fitted(value, arrays) for name, value in fitted.items()},
    }
    with whole_file(path) as unfinished, zipfile.ZipFile(unfinished, "w") as archive:
        archive.writestr("model.json", json.dumps(content, indent=1))
        for name, array in arrays.items():
            buffer = io.BytesIO()
            np.lib.format.write_array(buffer, array, allow_pickle=False)
            archive.writestr(f"{name}.npy", buffer.getvalue())


def read_model(path: Path) -> tuple[dict[str, Any], FittedModel, dict[str, Any]]:
    """Read the parameters, the model and the small fitted attributes from ``path``."""
    if not path.exists():
        raise FileNotFoundError(f"There is no model file {str(path)!r}.")
    if path.is_dir():
        raise IsADirectoryError(
            f"{str(path)!r} is a folder, not a model file. 'manyview fit' writes its model as model.mv."
        )
    try:
        with zipfile.ZipFile(path) as archive:
            content = json.loads(archive.read("model.json"))
            _check_header(content, path)
            arrays = {
                name[:-4]: np.lib.format.read_array(
                    io.BytesIO(archive.read(name)), allow_pickle=False
                )
                for name in archive.namelist()
                if name.endswith(".npy")
            }
        params, fitted = (unpack(content[name], arrays) for name in ("params", "fitted"))
        _drop_removed(params, path)
        if fitted.get("encodings_"):
            fitted["encodings_"] = [e and Encoding.from_record(e) for e in fitted["encodings_"]]
        if fitted.get("suggestion_"):
            fitted["suggestion_"] = Suggestion(**fitted["suggestion_"])
        return params, _build_model(unpack(content["model"], arrays)), fitted
    except (ModelFileError, PermissionError):
        raise
    except Exception as error:  # damage may show in any way: zipfile, zlib, json and NumPy differ
        raise ModelFileError(
            f"{str(path)!r} is not a whole manyview model file ({error}). Save the model again."
        ) from error


def _check_header(content: Any, path: Path) -> None:
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        raise ModelFileError(f"{str(path)!r} was not written by manyview.")
    if content["format_version"] > _FORMAT_VERSION:
        raise ModelFileError(
            f"{str(path)!r} was written by manyview {content.get('manyview_version')}, whose format "
            f"{content['format_version']} this version ({manyview.__version__}) cannot read. "
            "Upgrade manyview."
        )


def _drop_removed(params: dict[str, Any], path: Path) -> None:
    """Drop parameters that earlier versions had; refuse those that changed the model."""
    for name in _DROPPED:
        params.pop(name, None)
    for name, usual in _REMOVED.items():
        if params.pop(name, usual) != usual:
            raise ModelFileError(
                f"{str(path)!r} holds a model that an earlier version fitted with another {name} than "
                f"{usual}. LMVSC has no such parameter any more: fit the model again."
            )


def _build_model(content: dict[str, Any]) -> FittedModel:
    scalers = tuple(map(_build_scaler, content["scalers"]))
    graphs = tuple(
        AnchorGraph(
            **{**graph, "views": tuple(graph["views"]), "view_scales": tuple(graph["view_scales"])}
        )
        for graph in content["graphs"]
    )
    centers = content["centers"]
    if "embedding" in content:
        parts = content["embedding"]
        communities = tuple(parts["communities"])
        embedding = Embedding(
            **{**parts, "transforms": tuple(parts["transforms"]), "communities": communities}
        )
    else:  # up to format 2
        embedding = Embedding(tuple(content["transforms"]), content["row_norm"])
        centers = centers / np.sqrt(len(embedding.transforms))
    return FittedModel(scalers, graphs, embedding, centers)


def _build_scaler(content: dict[str, Any]) -> Scaler:
    content.pop("fill", None)  # of files of earlier versions, where only impute="mean" used it
    for name, kind in (("quantiles", Quantiles), ("axes", Axes)):
        if content.get(name) is not None:
            content[name] = kind(**content[name])
    return Scaler(**content)


def _pack_param(name: str, value: Any, arrays: Arrays) -> Any:
    """Parameters that are objects are kept by name: engines and generators hold no result."""
    if name == "engine" and not isinstance(value, str):
        return "auto"
    if name == "random_state" and not isinstance(value, Integral | None):
        return None
    return pack(value, arrays)


def _pack_fitted(value: Any, arrays: Arrays) -> Any:
    """Fitted attributes: ids that are objects of other libraries are kept as text."""
    try:
        if isinstance(value, list):
            value = [asdict(v) if isinstance(v, Encoding) else v for v in value]
        return pack(asdict(value) if isinstance(value, Suggestion) else value, arrays)
    except TypeError:
        return pack(np.array([str(item) for item in value]), arrays)
