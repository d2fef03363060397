"""A run file: the options of a fit as TOML, overridden by flags."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Collection
from pathlib import Path
from typing import Any

import click

from manyview.cli.failures import Failure
from manyview.cli.inputs import whole_text
from manyview.cli.options import PARAMETERS

_ANY, _TEXT, _NUMBER, _SWITCH, _TABLE = "any", "text", "a whole number", "true or false", "a table"
_TEXTS = "text, or a list of texts"

_KINDS = {
    "views": _ANY,
    "n_clusters": _ANY,
    "output": _TEXT,
    "labels": _TEXT,
    "id_column": _TEXT,
    "label_column": _TEXT,
    "columns": _TABLE,
    "drop": _TEXTS,
    "transpose": _TEXTS,
    "join": _TEXT,
    "seed": _NUMBER,
    "report": _SWITCH,
    "engine": _TEXT,
    "memory_limit": _ANY,
    "parameters": _TABLE,
}
"""What a run file may hold, each under its option's name; click judges what may be anything here."""

_PARAMETER_KINDS = dict.fromkeys(PARAMETERS, _ANY) | dict.fromkeys(
    ("n_init", "max_iter", "n_jobs"), _NUMBER
)


def use_run_file(ctx: click.Context, param: click.Parameter, path: Path | None) -> None:
    """Take what a run file says as defaults of the options."""
    if path is None:
        return
    try:
        with path.open("rb") as file:
            content = tomllib.load(file)
    except OSError as error:
        raise Failure(f"cannot read {path}: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Failure(f"{path} is not TOML: {error}.") from error
    _check(content, _KINDS, path)
    parameters = content.pop("parameters", {})
    _check(parameters, _PARAMETER_KINDS, path)
    if parameters.get("scaling") is False:
        parameters["scaling"] = "none"
    ctx.default_map = {**(ctx.default_map or {}), **_as_options(content, path), **parameters}


def _check(content: dict[str, Any], kinds: dict[str, str], path: Path) -> None:
    for key, value in content.items():
        if key not in kinds:
            raise Failure(f"{path} has an unknown key {key!r}.{_known(key, kinds)}")
        if not _is_kind(value, kinds[key]):
            raise Failure(f"{path}: {key} must be {kinds[key]}; got {value!r}.")


def _known(key: str, known: Collection[str]) -> str:
    near = difflib.get_close_matches(key, list(known), 1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return f"{hint} Known are {', '.join(known)}."


def _is_kind(value: Any, kind: str) -> bool:
    if kind == _TEXTS:
        return all(isinstance(item, str) for item in _as_list(value))
    if kind == _NUMBER:
        return isinstance(value, int) and not isinstance(value, bool)
    return kind == _ANY or isinstance(value, {_TEXT: str, _SWITCH: bool, _TABLE: dict}[kind])


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _as_options(content: dict[str, Any], path: Path) -> dict[str, Any]:
    """Values as options have them: paths, which start at the run file's folder, made whole."""
    for name in ("labels", "output"):
        if name in content:
            content[name] = str(path.parent / content[name])
    for name in ("drop", "transpose"):
        if name in content:
            content[name] = _as_list(content[name])
    if "views" in content:
        content["texts"] = [
            whole_text(text, path.parent) for text in _texts(content.pop("views"), path)
        ]
    columns = content.get("columns", {})
    for view, listed in columns.items():
        if not _is_kind(listed, _TEXTS):
            raise Failure(f"{path}: columns of {view!r} must be {_TEXTS}; got {listed!r}.")
    if columns:
        content["columns"] = [f"{view}={c}" for view in columns for c in _as_list(columns[view])]
    return content


def _texts(views: Any, path: Path) -> list[str]:
    """Views as they stand on the command line."""
    if isinstance(views, dict) and all(isinstance(text, str) for text in views.values()):
        return [f"{name}={text}" for name, text in views.items()]
    if isinstance(views, list) and all(isinstance(text, str) for text in views):
        return views
    raise Failure(f"{path}: views must be a table NAME = PATH, or a list of paths.")
