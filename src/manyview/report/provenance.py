"""What was run: settings, choices, time, memory, proof of the solutions, and how to do it again."""

from __future__ import annotations

import ast
import inspect
import os
import platform
import shlex
import sys
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import cdist

import manyview
from manyview.explain.margins import graph_parts
from manyview.pipeline.graphs import Columns
from manyview.simplex import certify
from manyview.stages.graph import AnchorGraph
from manyview.stages.rows import Array
from manyview.stages.sampling import spread_evenly
from manyview.views.container import Views

if TYPE_CHECKING:
    from manyview import LMVSC
    from manyview.pipeline.model import FittedModel

_CERTIFIED_ROWS = 128
_LONGEST = 120


def describe_run(model: LMVSC, *, command: str | None = None) -> dict[str, Any]:
    """The facts of a fit: settings, choices, seconds, versions, and code that repeats it."""
    accepted = inspect.signature(type(model)).parameters
    params = {name: getattr(model, name) for name in accepted}
    changed = {
        name: value
        for name, value in params.items()
        if name == "n_clusters" or not _same(value, accepted[name].default)
    }
    return {
        "parameters": [
            {"name": name, "value": _show(value), "is_default": name not in changed}
            for name, value in params.items()
        ],
        "choices": [plain(choice) for choice in getattr(model, "choices_", [])],
        "random_state": _show(params["random_state"]),
        "is_repeatable": isinstance(params["random_state"], int | np.integer),
        "stage_seconds": {s: round(float(t), 4) for s, t in model.stage_seconds_.items()},
        "stage_memory": dict(getattr(model, "stage_memory_", {})),
        "solver": plain(model.solver_report_),
        "versions": find_versions(),
        "python_code": write_code(model, changed),
        "command": command or write_command(model, changed),
        "is_command_given": command is not None,
    }


def find_versions() -> dict[str, str]:
    """The versions of Python and of the libraries that decide a result."""
    return {
        "manyview": manyview.__version__,
        "Python": platform.python_version(),
        **{name: version(name) for name in ("numpy", "scipy", "scikit-learn", "numba")},
        "system": f"{platform.system()} {platform.machine()}",
    }


def measure_memory() -> int | None:
    """The most memory this process has held so far, in bytes; None where no one knows."""
    try:
        import resource
    except ImportError:  # not on Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak) * (1 if sys.platform == "darwin" else 1024)


def certify_solutions(model: FittedModel, rows: Views) -> dict[str, Any]:
    """Prove that the graph weights of a few rows are optimal.

    ``worst`` is the largest violation of the optimality conditions, duality gap or distance from the
    simplex, relative to the problem's energy.
    """
    few = rows[spread_evenly(len(rows), _CERTIFIED_ROWS)]
    if few.present is not None:  # problems of incomplete rows are parts of those of complete ones
        few = few[few.present.all(axis=1)]
    if len(few) == 0:
        return {"n_rows": 0, "worst": 0.0}
    tile = model.graph_rows(few.arrays)
    worst = 0.0
    for part in graph_parts(model):
        graph = part.graph
        scaled = Columns.of(model.scalers, graph)(few.arrays, 0).dense()
        Z = tile.parts[graph.repeat][:, part.anchors]
        among = None if graph.n_neighbors is None else _nearest(scaled, Z, graph)
        certificate = certify(
            Z,
            scaled,
            graph.anchors,
            alpha=graph.alpha,
            locality=graph.locality,
            among=among,
        )
        worst = max(worst, certificate.worst)
    return {"n_rows": len(few), "worst": float(f"{worst:.2g}")}


def _nearest(rows: Array, Z: Any, graph: AnchorGraph) -> npt.NDArray[np.int64]:
    """The anchors that each row may use; of equals, those that it does use."""
    distances = cdist(rows, graph.anchors)
    distances[Z.toarray() > 0] *= 1.0 - 1e-9
    return np.argsort(distances, axis=1)[:, : graph.n_neighbors]


def write_code(model: LMVSC, changed: dict[str, Any]) -> str:
    """Python code that repeats the fit; says which values it has only in short."""
    kind = type(model).__name__
    home = "manyview" if hasattr(manyview, kind) else type(model).__module__
    lines = [f"from {home} import {kind}", "", "views = {"]
    for name, width in zip(model.view_names_, model.n_features_per_view_, strict=True):
        lines.append(f"    {name!r}: ...,  # {len(model.labels_)} rows x {width} columns")
    # The views are listed one by one above, so they are not to be split again.
    shown = {name: _show(value) for name, value in changed.items() if name != "views"}
    arguments = ", ".join(f"{name}={text}" for name, text in shown.items())
    cut = [name for name, text in shown.items() if not _is_literal(text)]
    lines += [
        "}",
        *([f"# shown in short, to be filled in: {', '.join(cut)}"] if cut else []),
        f"model = {kind}({arguments}).fit(views)",
        'model.report("report.html", views)',
    ]
    return "\n".join(lines)


def write_command(model: LMVSC, changed: dict[str, Any]) -> str | None:
    """A command that repeats the fit from files; None if it has settings of its own."""
    if type(model) is not manyview.LMVSC or not set(changed) <= {"n_clusters", "random_state"}:
        return None
    if np.ndim(model.n_clusters):  # the command line fits one number
        return None
    files = " ".join(shlex.quote(f"{name}=PATH") for name in model.view_names_)
    seed = changed.get("random_state")
    flag = f" --seed {int(seed)}" if isinstance(seed, int | np.integer) else ""
    return f"manyview fit {files} -k {model.n_clusters}{flag} -o results"


def _same(value: Any, default: Any) -> bool:
    return type(value) is type(default) and bool(np.all(value == default))


def _show(value: Any) -> str:
    """A value as code; long ones are cut, and objects told by their kind."""
    if isinstance(value, np.generic):
        value = value.item()
    if hasattr(value, "shape"):
        return f"<{type(value).__name__} of shape {tuple(value.shape)}>"
    if isinstance(value, list | tuple) and any(hasattr(item, "shape") for item in value):
        return f"[{', '.join(_show(item) for item in value)}]"
    if not isinstance(value, str | int | float | bool | list | tuple | dict | None):
        return f"<{type(value).__name__}>"
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _is_literal(text: str) -> bool:
    try:
        ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return False
    return True


def plain(value: Any) -> Any:
    """The same facts as what JSON knows."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    return value if isinstance(value, str | int | float | bool | None) else str(value)
