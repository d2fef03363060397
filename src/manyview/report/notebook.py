"""A fitted model as a small card in a notebook: what is known without looking at the rows again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from manyview.report.render import render_card
from manyview.report.summary import Facts

if TYPE_CHECKING:
    from manyview import LMVSC

_ROWS = 20_000


def show_card(model: LMVSC) -> str:
    """The card as HTML, without any script; it costs milliseconds."""
    seconds = float(sum(model.stage_seconds_.values()))
    overview = Facts(model, shown_rows=_ROWS).overview()
    return render_card({**overview, "name": type(model).__name__, "seconds": seconds})
