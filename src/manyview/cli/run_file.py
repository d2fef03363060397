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
"""What a run file may hold: options under their names, and some of them as tables."""

_TABLE, _TEXTS = "a table", "text, or a list of texts"
_TEXT_TYPES = (type(click.STRING), click.Choice, click.Path)


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
    _check(content, _KEYS, path, ctx)
    parameters = content.pop("parameters", {})
    _check(parameters, PARAMETERS, path, ctx)
    if parameters.get("scaling") is False:
        parameters["scaling"] = "none"
    ctx.default_map = {**(ctx.default_map or {}), **_as_options(content, path), **parameters}


def _check(content: dict[str, Any], known: Sequence[str], path: Path, ctx: click.Context) -> None:
    options = {option.name: option for option in ctx.command.params}
    for key, value in content.items():
        if key not in known:
            near = difflib.get_close_matches(key, known, 1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise Failure(f"{path} has an unknown key {key!r}.{hint} Known are {', '.join(known)}.")
        kind = _TABLE if key in ("columns", "parameters") else _kind(options.get(key))
        if not _is_kind(value, kind):
            raise Failure(f"{path}: {key} must be {kind}; got {value!r}.")


def _kind(option: click.Parameter | None) -> str:
    """What the value must be where click would take something else, or not fail in one line."""
    if isinstance(option, click.Option) and option.is_flag:
        return "true or false"
    if isinstance(option, click.Option) and option.multiple:
        return _TEXTS
    if option is not None and isinstance(option.type, type(click.INT)):
        return "a whole number"
    is_text = option is not None and isinstance(option.type, _TEXT_TYPES)
    return "text" if is_text else "anything"


def _is_kind(value: Any, kind: str) -> bool:
    if kind == _TEXTS:
        return all(isinstance(item, str) for item in _as_list(value))
    if kind == "a whole number":
        return isinstance(value, int) and not isinstance(value, bool)
    types = {"text": str, "true or false": bool, _TABLE: dict, "anything": object}
    return isinstance(value, types[kind])


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
