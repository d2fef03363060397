"""``manyview doctor``: what is installed, compiled and missing, and whether a small fit works."""

from __future__ import annotations

import os
import platform
import re
import time
from importlib import metadata
from typing import Any

import click

import manyview as package
from manyview.cli.console import Failure, echo, print_result, print_table, shared_options
from manyview.wording import bytes_in_words, count, seconds_in_words

_REQUIREMENT = re.compile(r"([\w.-]+)(?:\[\w+\])?(?:>=([\w.]+))?(?:.*extra == ['\"](\w+)['\"])?")
_FOR_DEVELOPERS = {"all", "test", "quality", "docs", "gallery", "dev"}


@click.command(name="doctor", short_help="Check the installation.")
@shared_options("quiet", "verbose", "as_json")
def command() -> None:
    """Show what is installed, compiled or missing, and try a small fit.

    The exit code is 1 if a required package is missing or too old, or if the fit does not work.
    """
    from manyview.machine import count_jobs, find_plugins, free_memory

    facts: dict[str, Any] = {
        "manyview": package.__version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": count_jobs(),
        "free_bytes": free_memory(),
        "packages": find_packages(),
        "added": {
            room: sorted(find_plugins(f"manyview.{room}")) for room in ("baselines", "readers")
        },
        "data_folder": os.environ.get("MANYVIEW_DATA"),
        "fit": try_fit(),
    }
    print_result(facts, lambda: _print(facts))
    if problem := facts["fit"]["problem"]:
        raise Failure(f"a small fit does not work: {problem}", exit_code=1)
    if bad := [each["package"] for each in facts["packages"] if is_bad(each)]:
        raise Failure(f"missing or too old: {', '.join(bad)}. Install manyview anew.", exit_code=1)


def find_packages() -> list[dict[str, Any]]:
    """What the installed manyview asks for: what for, the least version, and the one that is here."""
    try:
        wanted = metadata.requires("manyview") or []
    except metadata.PackageNotFoundError:
        raise Failure(
            "manyview runs from its source and is not installed: pip install '.[cli]' there.",
            exit_code=1,
        ) from None
    found = []
    for text in wanted:
        match = _REQUIREMENT.match(text)
        if match is None or match[3] in _FOR_DEVELOPERS:
            continue
        try:
            here = metadata.version(match[1])
        except metadata.PackageNotFoundError:
            here = None
        is_enough = here is not None and _numbers(here) >= _numbers(match[2] or "0")
        found.append(
            {
                "package": match[1],
                "for": match[3],
                "least": match[2],
                "found": here,
                "is_enough": is_enough,
            }
        )
    return found


def is_bad(entry: dict[str, Any]) -> bool:
    """Whether nothing works without a package, and it is missing or too old."""
    return entry["for"] is None and not entry["is_enough"]


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version.partition("+")[0])[:3])


def try_fit() -> dict[str, Any]:
    """Seconds of a small fit, and how many of them went into compiling; what is wrong, if anything."""
    facts: dict[str, Any] = {"seconds": None, "compile_seconds": None, "kept_in": None}
    try:
        from manyview import LMVSC, datasets, metrics
        from manyview.simplex.jit import watched
        from manyview.simplex.kernels import newton

        started = time.perf_counter()
        views = datasets.make_views(90, 3, (5, 6), separation=9.0, random_state=0)
        with watched(lambda remark: None) as compiling:
            labels = LMVSC(3, random_state=0).fit(views).labels_
        facts |= {
            "seconds": time.perf_counter() - started,
            "compile_seconds": compiling.seconds,
            "kept_in": _kept_in(newton),
        }
        is_right = metrics.accuracy(views.target, labels) == 1
        return {**facts, "problem": None if is_right else "its labels are wrong"}
    except Exception as error:  # whatever is wrong with an installation
        return {**facts, "problem": f"{type(error).__name__}: {error}"}


def _kept_in(module: Any) -> str | None:
    """The folder that machine code of a module's kernels is kept in, if it can be kept."""
    caches = (getattr(value, "_cache", None) for value in vars(module).values())
    folders = (getattr(cache, "cache_path", None) for cache in caches)
    return next((str(folder) for folder in folders if folder), None)


def _print(facts: dict[str, Any]) -> None:
    free = facts["free_bytes"]
    memory = "" if free is None else f", {bytes_in_words(free)} of memory free"
    echo(f"manyview {facts['manyview']}, Python {facts['python']}, {facts['system']}")
    echo(count(facts["cores"], "core") + memory)
    echo(
        f"data sets are looked for in {facts['data_folder'] or 'the cache: MANYVIEW_DATA is not set'}"
    )
    for room, names in facts["added"].items():
        if names:
            echo(f"{room} of other packages: {', '.join(names)}")
    fit = facts["fit"]
    if fit["problem"] is None:
        echo(f"a small fit works: {seconds_in_words(fit['seconds'])}, {_compiled(fit)}")
    echo()
    rows = [
        [one["package"], one["for"] or "everything", one["least"] or "", _found(one)]
        for one in facts["packages"]
    ]
    print_table(["package", "needed for", "minimum", "found"], rows)
    extras = dict.fromkeys(
        one["for"] for one in facts["packages"] if one["for"] and not one["is_enough"]
    )
    if extras:
        echo(f"\nTo add what is missing: pip install 'manyview[{','.join(extras)}]'")


def _found(entry: dict[str, Any]) -> str:
    if entry["found"] is None:
        return "missing"
    return str(entry["found"]) + ("" if entry["is_enough"] else ", too old")


def _compiled(fit: dict[str, Any]) -> str:
    if fit["kept_in"] is None:
        where = "no folder to keep machine code in, so every process compiles"
        return f"{seconds_in_words(fit['compile_seconds'])} of it compiling ({where})"
    if not fit["compile_seconds"]:
        return f"nothing had to be compiled (kept in {fit['kept_in']})"
    return f"{seconds_in_words(fit['compile_seconds'])} of it compiling, once; kept in {fit['kept_in']}"
