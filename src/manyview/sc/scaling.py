"""What suits modalities, given that rows are cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from manyview.checks import of_each_view
from manyview.stages.counts import recognise_counts
from manyview.stages.sampling import spread_evenly
from manyview.views.container import Views

_ROWS = 1000  # that are looked at


def settle_scaling(
    views: Views, scaling: Any, *, has_batches: bool = False, fewer_genes: bool = False
) -> tuple[Any, dict[str, str]]:
    """Kinds of scaling, "auto" settled where only cells look like that; and why, by views' names.

    Genes and peaks might be words elsewhere, and proteins alone any table of counts.
    Of ``fewer_genes`` than there are, any may be left, so that all counts are settled by the whole.
    Where ``has_batches``, nothing is left open, as groups are taken off scaled rows.
    """
    given = each_scaling(scaling, views.names)
    if "auto" not in given:
        return scaling, {}
    few = views[spread_evenly(views.n_rows, _ROWS)].load().arrays
    if not (has_batches or fewer_genes) and any(recognise_counts(few)):
        return scaling, {}  # they look like it to everyone
    found = recognise_counts(few, are_cells=True)
    # Beside a view that nothing is known of, narrow counts may be anything.
    if not has_batches and None in found and {"clr"}.issuperset(kind[0] for kind in found if kind):
        return scaling, {}
    settled, why = list(given), {}
    for v, known in enumerate(found):
        if given[v] == "auto" and known is not None:
            settled[v], why[views.names[v]] = known
        elif given[v] == "auto" and has_batches:
            settled[v] = "standard"
    return (settled if settled != given else scaling), why


def each_scaling(scaling: Any, names: Sequence[str]) -> list[Any]:
    """The kind that was asked for, for each view."""
    is_one = scaling is None or isinstance(scaling, str)
    return of_each_view(
        "scaling", [scaling] * len(names) if is_one else scaling, names, missing="auto"
    )
