"""What a fit leaves behind, and how it went."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from manyview.pipeline.groups import Groups
from manyview.pipeline.model import FittedModel
from manyview.pipeline.pilot import Decision
from manyview.pipeline.settings import Settings
from manyview.stages.embedding import Basis
from manyview.stages.n_clusters import Suggestion
from manyview.stages.rows import Array


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The model that rows were made into, and how it went."""

    model: FittedModel
    bases: tuple[Basis, ...]
    view_weights: Array
    inertia: float
    n_failed: int
    settings: Settings
    decision: Decision
    tried: dict[str, float]  # modularity of the labels from each start, that taken first

    @property
    def rank(self) -> int:
        """The least number of singular vectors that a repeat has."""
        return min(len(basis.singular_values) for basis in self.bases)


@dataclass(frozen=True, kw_only=True)
class Result(Outcome):
    """What a fit gives: results that have a row per sample, too."""

    embedding: Any
    labels: Any
    confidence: Any
    outlier_score: Any  # None if it is as published
    leaves: Any  # of the tree; None without one
    n_iter: int
    n_entries: Array
    n_solved: npt.NDArray[np.int64]
    suggestion: Suggestion | None
    groups: Groups | None  # what was taken off each row's group before all else
    stage_seconds: dict[str, float]
    stage_memory: dict[str, int]
