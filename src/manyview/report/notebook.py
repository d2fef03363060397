"""A fitted model as a small card in a notebook: what is known without looking at the rows again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from manyview.report.certainty import describe_certainty, describe_cluster, measure_certainty
from manyview.report.render import render_card
from manyview.report.samples import choose_balanced
from manyview.report.spectrum import describe_spectrum

if TYPE_CHECKING:
    from manyview import LMVSC

_ROWS = 20_000


def show_card(model: LMVSC) -> str:
    """Give the card as HTML, without any script; it costs milliseconds."""
    return render_card(describe_model(model))


def describe_model(model: LMVSC) -> dict[str, Any]:
    """Give the facts of the card."""
    k = len(model.cluster_centers_)
    sizes = np.bincount(model.labels_, minlength=k)
    clusters: list[dict[str, Any]] = [
        {
            "cluster": c,
            "size": int(sizes[c]),
            "share": float(sizes[c] / sizes.sum()),
            "sureness": None,
        }
        for c in range(k)
    ]
    sureness = None
    if hasattr(model, "embedding_"):
        rows = choose_balanced(model.labels_, _ROWS, np.random.default_rng(0))
        labels = np.asarray(model.labels_[rows])
        certainty = measure_certainty(
            np.asarray(model.embedding_[rows]), labels, model.cluster_centers_, sizes
        )
        sureness = describe_certainty(certainty)
        for facts in clusters:
            facts |= describe_cluster(np.flatnonzero(labels == facts["cluster"]), certainty)
    return {
        "n_rows": len(model.labels_),
        "n_clusters": k,
        "name": type(model).__name__,
        "clusters": clusters,
        "sureness": sureness,
        "spectrum": describe_spectrum(model.singular_values_, k),
        "views": [
            {"name": name, "n_features": width, "weight": float(weight)}
            for name, width, weight in zip(
                model.view_names_, model.n_features_per_view_, model.view_weights_, strict=True
            )
        ],
        "seconds": float(sum(model.stage_seconds_.values())),
    }
