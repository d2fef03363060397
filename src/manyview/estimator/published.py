"""The method as its paper's text, or its authors' script, has it: an estimator of few parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

from manyview import pipeline
from manyview.checks import check_count, check_number
from manyview.errors import ParameterError
from manyview.estimator.lmvsc import LMVSC


class PublishedLMVSC(LMVSC):
    """The method as published; for its parameters, see :meth:`LMVSC.as_published`."""

    # What LMVSC's methods ask for besides; k-means on all rows cannot be done on a stream.
    views = None
    categories = "auto"
    engine = "auto"
    verbose = 0
    partial_fit = property()

    def __init__(
        self,
        n_clusters: int = 8,
        n_anchors: int = 50,
        alpha: float = 1.0,
        *,
        variant: str = "paper",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_anchors = n_anchors
        self.alpha = alpha
        self.variant = variant
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> PublishedLMVSC:  # type: ignore[override]
        """Cluster the rows of ``X``, which all count alike; see :meth:`LMVSC.fit`."""
        super().fit(X)
        return self

    def _parameters(self) -> dict[str, Any]:
        for name in ("n_clusters", "n_anchors", "alpha"):
            value = getattr(self, name)
            if isinstance(value, str) or np.ndim(value) > 0:
                raise ParameterError(
                    name,
                    f"must be one number, as in the paper; got {value!r}. Give the number, or use "
                    "LMVSC(...), which chooses settings itself.",
                )
        check_count("n_clusters", self.n_clusters)
        check_count("n_anchors", self.n_anchors)
        check_number("alpha", self.alpha, least=0)
        return pipeline.settings.published_parameters(
            self.n_clusters, self.n_anchors, self.alpha, self.variant
        )
