"""``manyview bench``: methods compared on data sets, fairly and resumably."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from manyview.cli.console import Failure, current, echo, print_result, say, shared_options
from manyview.cli.options import PICTURES, Size, check_ending

_LONGEST_REASON = 300


@click.command(name="bench", short_help="Compare methods on data sets, including your own.")
@click.argument("methods", nargs=-1, metavar="[METHOD...]")
@click.option(
    "--data",
    multiple=True,
    metavar="SET,...",
    help="Data sets: known names, files, or folders with one file per view and labels.*; 'all' means "
    "every known set on this machine. Separate with commas, or repeat.",
)
@click.option(
    "--seeds",
    type=click.IntRange(min=1),
    default=5,
    show_default=True,
    help="Fits of each method on each data set.",
)
@click.option(
    "--tuned", is_flag=True, help="Also try a grid of settings, chosen by the true labels."
)
@click.option("--in-order", is_flag=True, help="Keep the order of the file; do not shuffle rows.")
@click.option(
    "--max-rows",
    type=click.IntRange(min=1),
    metavar="N",
    help="Use a sample of N rows from larger sets.",
)
@click.option(
    "--max-seconds", type=float, default=600.0, show_default=True, help="Time limit of one fit."
)
@click.option(
    "--memory-limit", type=Size(), metavar="SIZE", help="Memory limit of one fit, such as 2GB."
)
@click.option(
    "--total-seconds",
    type=float,
    help="Start no new fit after this time; the same command resumes.",
)
@click.option(
    "--score",
    type=click.Choice(
        ["accuracy", "nmi", "nmi_arithmetic", "purity", "inverse_purity", "ari", "f_score"]
    ),
    default="nmi",
    show_default=True,
    help="Which score the tables show.",
)
@click.option(
    "--format",
    "kind",
    type=click.Choice(["text", "markdown", "latex"]),
    default="text",
    show_default=True,
    help="Format of the tables.",
)
@click.option("--spread", is_flag=True, help="Show the standard deviation over seeds.")
@click.option(
    "--picture",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Draw the mean ranks into FILE.",
)
@click.option(
    "--results",
    type=click.Path(path_type=Path),
    default=Path("bench.jsonl"),
    show_default=True,
    help="File of result lines; what it holds is not run again.",
)
@click.option(
    "--again",
    multiple=True,
    metavar="METHOD",
    help="Run METHOD again, because its code has changed.",
)
@click.option("--list", "show_names", is_flag=True, help="List the methods and data sets.")
@click.option("--speed", is_flag=True, help="Only time default fits against k-means.")
@click.option(
    "--rows",
    type=click.IntRange(min=1000),
    metavar="N",
    default=50_000,
    show_default=True,
    help="Synthetic rows that --speed fits in addition to the digits.",
)
@shared_options("seed", "quiet", "verbose", "as_json")
def command(
    methods: tuple[str, ...], speed: bool, rows: int, show_names: bool, **options: Any
) -> None:
    """Compare methods on data sets: scores, ranks and costs.

    METHOD is one of manyview's, optionally with settings, or any clusterer: LMVSC,
    'FPMVS=SMVSC(lam=0)', sklearn.cluster:Birch, mymodule:MyClass. The default is LMVSC and KMeans.
    Every fit runs in its own process, with limits of time and memory. Rows are shuffled. Settings
    chosen by labels are shown in a table of their own.
    """
    if speed:
        from manyview.cli.speed import time_fits

        time_fits(rows)
    elif show_names:
        _show_names()
    else:
        _compare(methods or ("LMVSC", "KMeans"), options)


def _show_names() -> None:
    from manyview import datasets
    from manyview.bench import methods
    from manyview.datasets.lookup import is_here

    here = [name for name in datasets.names() if is_here(datasets.info(name))]
    found = {"methods": methods.names(), "data": here}

    def show() -> None:
        for what, each in found.items():
            echo(f"{what}: {', '.join(each)}")

    print_result(found, show)


def _compare(methods: tuple[str, ...], options: dict[str, Any]) -> None:
    from manyview.bench import compare

    if options["picture"] is not None:
        check_ending(options["picture"], PICTURES, flag="--picture")
    here = str(Path.cwd())
    sys.path.insert(0, here)  # mymodule:MyClass is looked for where the command is called
    asked = options["data"] or ["digits"]
    names = [name for text in asked for name in text.split(",") if name]
    try:
        found = compare(
            list(methods),
            names,
            seeds=range(current().seed, current().seed + options["seeds"]),
            tuned=options["tuned"],
            results=options["results"],
            again=options["again"],
            shuffle=not options["in_order"],
            max_rows=options["max_rows"],
            max_seconds=options["max_seconds"],
            memory_limit=options["memory_limit"],
            total_seconds=options["total_seconds"],
            tell=say,
        )
    finally:
        sys.path.remove(here)
    if not found.lines:
        raise Failure("nothing was run: no time was left.", exit_code=1)
    protocols = ["label-free", *(["label-tuned"] if options["tuned"] else [])]
    shown = {"kind": options["kind"], "spread": options["spread"]}

    def show() -> None:
        for protocol in protocols:
            echo(found.table(options["score"], protocol=protocol, **shown) + "\n")
        _say_what_is_missing(found, options["score"])

    print_result(found.lines, show)
    if options["picture"] is not None:
        found.draw_ranks(options["picture"], options["score"])
        say(f"drew {options['picture']}")
    if not any(line["status"] == "done" for line in found.lines):
        raise Failure("no method has a result.", exit_code=1)


def _say_what_is_missing(found: Any, score: str) -> None:
    for data in found.data:
        for method in found.methods:
            if why := found.figure(method, data, score).why:
                say(f"{data}: no result of {method} ({why[:_LONGEST_REASON]})")
