"""``manyview inspect``: look at files before clustering them."""

from __future__ import annotations

from typing import Any

import click
from click.core import ParameterSource

from manyview.cli.console import echo, in_words, print_result, print_table, shared_options
from manyview.cli.inputs import Inputs, input_options, memory_for_views
from manyview.cli.options import clusters_option
from manyview.errors import ParameterError
from manyview.wording import bytes_in_words, seconds_in_words


@click.command(name="inspect", short_help="Look at files before clustering them.")
@input_options(is_new=True)
@clusters_option("Number of clusters of the planned fit.", default=10, show_default=True)
@click.option(
    "--cost/--no-cost",
    default=True,
    help="Whether to time a fit of a few rows, to estimate the whole one.",
)
@shared_options("quiet", "verbose", "as_json")
def command(n_clusters: int | str, cost: bool, **options: Any) -> None:
    """Show what files hold, likely problems, and what a fit would do and cost.

    VIEW is as in fit. Values are examined in at most 20 000 rows, spread over the file.
    """
    from manyview.cli.diagnosis import describe_view, measure_cost, plan_fit
    from manyview.pipeline.settings import check_values

    check_values({"n_clusters": n_clusters})
    data = Inputs.take(options).read(memory_limit=memory_for_views())
    views = data.views
    facts: dict[str, Any] = {
        "n_rows": views.n_rows,
        "has_ids": data.ids is not None,
        "n_classes": None if views.target is None else len(set(views.target.tolist())),
        "notes": list(data.notes),
        "views": [
            describe_view(name, array, columns)
            for (name, array), columns in zip(views.items(), views.feature_names, strict=True)
        ],
        "plan": None,
        "problem": None,
    }
    try:
        facts["plan"] = plan_fit(views, n_clusters)
        if cost:
            facts["cost"] = measure_cost(views, n_clusters)
            facts["plan"]["n_anchors"] = (
                facts["cost"].pop("n_anchors") or facts["plan"]["n_anchors"]
            )
    except (TypeError, ValueError) as error:
        ctx = click.get_current_context()
        is_given = ctx.get_parameter_source("n_clusters") is not ParameterSource.DEFAULT
        if is_given and isinstance(error, ParameterError):
            raise
        facts["problem"] = in_words(error, ctx.command)
    print_result(facts, lambda: _print(facts))


def _print(facts: dict[str, Any]) -> None:
    header = ["view", "rows", "columns", "type", "size", "zeros", "missing", "constant", "values"]
    rows = [
        [
            view["name"],
            view["n_rows"],
            view["n_columns"],
            view["dtype"] + (" sparse" if view["is_sparse"] else ""),
            bytes_in_words(view["bytes"]) + (" on disk" if view["is_on_disk"] else ""),
            f"{view['zeros']:.0%}",
            view["missing"],
            view["constant_columns"],
            "" if view["least"] is None else f"{view['least']:.4g} to {view['greatest']:.4g}",
        ]
        for view in facts["views"]
    ]
    print_table(header, rows, right=[1, 2, 5, 6, 7])
    for view in facts["views"]:
        for problem in view["problems"]:
            echo(f"{view['name']}: {problem}")
    plan, cost = facts["plan"], facts.get("cost")
    if plan:
        few, many = min(plan["n_anchors"]), max(plan["n_anchors"])
        anchors = str(few) if few == many else f"{few} to {many}"
        # What text or samples without views change is known once all rows were fitted.
        about = "" if cost and cost["probed_rows"] == facts["n_rows"] else "about "
        echo(
            f"fit -k {plan['n_clusters']} would use {about}{anchors} anchors a view, fusion "
            f"{plan['fusion']}, on the {plan['engine']} engine"
        )
    if cost:
        kinds = ", ".join(f"{name} {kind}" for name, kind in cost["scaling"].items())
        echo(f"scaling: {kinds}")
        echo(
            f"it would take about {seconds_in_words(max(cost['total_seconds'], 1))} and "
            f"{bytes_in_words(cost['bytes'])} of memory (from {cost['probed_rows']} rows; to a "
            "factor of two or so)"
        )
    if facts["problem"]:
        echo(f"fit would refuse: {facts['problem']}")
