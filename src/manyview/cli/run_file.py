"""A run file: the options of a fit as TOML, overridden by flags."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from manyview.cli.failures import Failure
from manyview.cli.inputs import whole_text
from manyview.cli.options import PARAMETERS

_KEYS = (
    "views", "n_clusters", "output", "labels", "id_column", "label_column", "columns", "drop",
    "transpose", "join", "seed", "report", "engine", "memory_limit", "parameters",
)  # fmt: skip
"""What a run file may hold: options under their names, and tables of some of them."""


def use_run_file(ctx: click.Context, param: click.Parameter, path: Path | None) -> None:
    """Take what a run file says as defaults of the options, each as its flag would be written."""
    if path is None:
        return
    try:
        with path.open("rb") as file:
            content = tomllib.load(file)
    except OSError as error:
        raise Failure(f"cannot read {path}: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Failure(f"{path} is not TOML: {error}.") from error
    _check_keys(content, _KEYS, path)
    for name in ("columns", "parameters"):
        if not isinstance(content.setdefault(name, {}), dict):
            raise Failure(f"{path}: {name} must be a table; got {content[name]!r}.")
    parameters = content.pop("parameters")
    _check_keys(parameters, PARAMETERS, path)
    if parameters.get("scaling") is False:
        parameters["scaling"] = "none"
    options: dict[str, Any] = {name: _as_flag(value) for name, value in parameters.items()}
    for name in ("labels", "output"):  # paths start at the run file's folder
        if name in content:
            content[name] = str(path.parent / str(content[name]))
    content["columns"] = [f"{view}={_as_flag(c)}" for view, c in content["columns"].items()]
    if "views" in content:
        texts = _texts(content.pop("views"), path)
        content["texts"] = [whole_text(text, path.parent) for text in texts]
    for name in ("columns", "drop", "transpose", "texts"):  # flags that are repeated
        if name in content:
            value = content.pop(name)
            options[name] = list(map(str, value)) if isinstance(value, list) else [str(value)]
    options |= {name: _as_flag(value) for name, value in content.items()}
    ctx.default_map = {**(ctx.default_map or {}), **options}


def _check_keys(content: dict[str, Any], known: Sequence[str], path: Path) -> None:
    for key in content:
        if key not in known:
            near = difflib.get_close_matches(key, known, 1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise Failure(f"{path} has an unknown key {key!r}.{hint} Known are {', '.join(known)}.")


def _as_flag(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def _texts(views: Any, path: Path) -> list[str]:
    """Views as they stand on the command line."""
    if isinstance(views, dict) and all(isinstance(text, str) for text in views.values()):
        return [f"{name}={text}" for name, text in views.items()]
    if isinstance(views, list) and all(isinstance(text, str) for text in views):
        return views
    raise Failure(f"{path}: views must be a table NAME = PATH, or a list of paths.")
