"""A run file: the options of a fit as TOML, overridden by flags."""

from __future__ import annotations

import difflib
import tomllib
from pathlib import Path
from typing import Any

import click

from manyview.cli.failure import Failure
from manyview.cli.parameters import NAMES

_KEYS = {
    "views": "texts",
    "n_clusters": "n_clusters",
    "output": "folder",
    "labels": "labels",
    "id_column": "id_column",
    "label_column": "label_column",
    "columns": "columns",
    "drop": "drop",
    "transpose": "transpose",
    "join": "join",
    "seed": "seed",
    "report": "report",
    "engine": "engine",
    "memory_limit": "memory_limit",
    "parameters": "parameters",
}
"""What a run file may hold, and the option it stands for."""

_KINDS = {
    "text": ("output", "labels", "id_column", "label_column", "join", "engine"),
    "a whole number": ("seed", "n_init", "max_iter", "n_jobs"),
    "true or false": ("report",),
    "text, or a list of texts": ("drop", "transpose"),
    "a table": ("columns", "parameters"),
}
"""What the values must be that click would take as something else, or not at all."""


def use_run_file(ctx: click.Context, param: click.Parameter, path: Path | None) -> Path | None:
    """Take what a run file says as defaults of the options."""
    if path is None:
        return None
    try:
        with path.open("rb") as file:
            content = tomllib.load(file)
    except OSError as error:
        raise Failure(f"cannot read {path}: {error.strerror}.", is_bad_input=True) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Failure(f"{path} is not TOML: {error}.", is_bad_input=True) from error
    _check_keys(content, _KEYS, path)
    _check_kinds(content, path)
    parameters = content.pop("parameters", {})
    _check_keys(parameters, NAMES, path)
    _check_kinds(parameters, path)
    options = {_KEYS[key]: value for key, value in content.items()}
    if "scaling" in parameters and parameters["scaling"] is False:
        parameters["scaling"] = "none"
    ctx.default_map = {**(ctx.default_map or {}), **_resolve(options, path), **parameters}
    return path


def _check_keys(content: Any, known: Any, path: Path) -> None:
    for key in content:
        if key not in known:
            near = difflib.get_close_matches(key, list(known), 1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise Failure(
                f"{path} has an unknown key {key!r}.{hint} Known are {', '.join(known)}.",
                is_bad_input=True,
            )


def _check_kinds(content: dict[str, Any], path: Path) -> None:
    for kind, keys in _KINDS.items():
        for key in keys:
            if key in content and not _is_kind(content[key], kind):
                raise Failure(
                    f"{path}: {key} must be {kind}; got {content[key]!r}.", is_bad_input=True
                )
    for view, columns in content.get("columns", {}).items():
        if not _is_kind(columns, "text, or a list of texts"):
            raise Failure(
                f"{path}: columns of {view!r} must be text, or a list of texts; got {columns!r}.",
                is_bad_input=True,
            )


def _is_kind(value: Any, kind: str) -> bool:
    if kind == "true or false":
        return isinstance(value, bool)
    if kind == "a whole number":
        return isinstance(value, int) and not isinstance(value, bool)
    if kind == "a table":
        return isinstance(value, dict)
    if kind == "text, or a list of texts" and isinstance(value, list):
        return all(isinstance(item, str) for item in value)
    return isinstance(value, str)


def _resolve(options: dict[str, Any], path: Path) -> dict[str, Any]:
    """Make paths whole, which start at the run file's folder, and tables into options."""
    folder = path.parent
    if "texts" in options:
        options["texts"] = _views(options["texts"], path)
    if "labels" in options:
        options["labels"] = str(folder / options["labels"])
    if "folder" in options:
        options["folder"] = str(folder / options["folder"])
    if "columns" in options:
        options["columns"] = [
            f"{name}={column}"
            for name, columns in options["columns"].items()
            for column in ([columns] if isinstance(columns, str) else columns)
        ]
    for name in ("drop", "transpose"):
        if isinstance(options.get(name), str):
            options[name] = [options[name]]
    return options


def _views(views: Any, path: Path) -> list[str]:
    from manyview.readers import parse

    if isinstance(views, dict) and all(isinstance(text, str) for text in views.values()):
        texts = [f"{name}={text}" for name, text in views.items()]
    elif isinstance(views, list) and all(isinstance(text, str) for text in views):
        texts = views
    else:
        raise Failure(
            f"{path}: views must be a table NAME = PATH, or a list of paths.", is_bad_input=True
        )
    whole = []
    for text in texts:
        found = parse(text, folder=path.parent)
        key = f"::{found.key}" if found.key else ""
        name = f"{found.name}=" if found.name else ""
        whole.append(f"{name}{found.path}{key}")
    return whole
