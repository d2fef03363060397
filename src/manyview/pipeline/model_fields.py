"""What each field of a model file may hold: one table, by which every file is checked when it is read.

A field that is added to a model, or a fitted attribute that is saved, gets a line here; a file that
holds any other is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from manyview.pipeline.groups import Groups
from manyview.simplex import METHODS
from manyview.stages.axes import Axes
from manyview.stages.embedding import Embedding
from manyview.stages.graph import AnchorGraph
from manyview.stages.hierarchy import Hierarchy
from manyview.stages.n_clusters import Suggestion
from manyview.stages.oddness import Oddness
from manyview.stages.quantiles import Quantiles
from manyview.stages.scaling import KINDS, Scaler
from manyview.views.encoding import Encoding
from manyview.views.kinds import CODES, Code


@dataclass(frozen=True)
class Kind:
    """What a value may be, in words and as a test."""

    words: str
    holds: Callable[[Any], bool]


def check(value: Any, kind: Kind, where: str) -> None:
    """Raise ValueError if a value is not what its field may hold.

    Examples
    --------
    >>> check(-1.0, NUMBER_FROM_0, "alpha")
    Traceback (most recent call last):
        ...
    ValueError: alpha is not a finite number of at least 0
    """
    if not kind.holds(value):
        raise ValueError(f"{where} is not {kind.words}")


def _is_number(value: Any, least: float = -np.inf) -> bool:
    is_real = isinstance(value, Real) and not isinstance(value, bool)
    return is_real and bool(np.isfinite(value)) and value >= least


def _is_count(value: Any, least: int = 0) -> bool:
    return type(value) is not bool and isinstance(value, Integral) and int(value) >= least


def _is_array(value: Any, n_dimensions: int, types: str) -> bool:
    return (
        isinstance(value, np.ndarray)
        and value.ndim == n_dimensions
        and value.dtype.kind in types
        and (value.dtype.kind not in "f" or bool(np.isfinite(value).all()))
    )


def floats(n_dimensions: int) -> Kind:
    """Arrays of finite floats, with so many dimensions."""
    words = f"an array of finite numbers with {n_dimensions} dimension(s)"
    return Kind(words, lambda value: _is_array(value, n_dimensions, "f"))


def optional(kind: Kind) -> Kind:
    """None, or what a kind holds."""
    return Kind(f"{kind.words}, or None", lambda value: value is None or kind.holds(value))


def each(kind: Kind) -> Kind:
    """A list or tuple of what a kind holds."""
    return Kind(
        f"a list of which each is {kind.words}",
        lambda value: isinstance(value, list | tuple) and all(map(kind.holds, value)),
    )


def table_of(kind: Kind) -> Kind:
    """A dictionary of what a kind holds, by text."""
    return Kind(
        f"a table of which each is {kind.words}",
        lambda value: isinstance(value, dict) and all(map(kind.holds, value.values())),
    )


def instance(kind: type) -> Kind:
    """An object of a class, whose own fields are checked where it is made."""
    return Kind(f"a record of {kind.__name__}", lambda value: isinstance(value, kind))


TEXT = Kind("text", lambda value: isinstance(value, str))
FLAG = Kind("true or false", lambda value: isinstance(value, bool))
NUMBER = Kind("a finite number", _is_number)
NUMBER_FROM_0 = Kind("a finite number of at least 0", lambda value: _is_number(value, 0.0))
POSITIVE = Kind("a positive number", lambda value: _is_number(value, 0.0) and value > 0)
COUNT = Kind("a whole number of at least 0", _is_count)
COUNT_FROM_1 = Kind("a whole number of at least 1", lambda value: _is_count(value, 1))
WHOLE = Kind("an array of whole numbers", lambda value: _is_array(value, 1, "iu"))
NAMES = Kind(
    "an array or list with a name for each",
    lambda value: isinstance(value, list) or (isinstance(value, np.ndarray) and value.ndim == 1),
)
ANYTHING = Kind("anything", lambda value: True)

MODEL: Mapping[type, Mapping[str, Kind]] = {
    Scaler: {
        "name": TEXT,
        "kind": Kind(f"one of {KINDS}", lambda value: value is None or value in KINDS),
        "shift": floats(1),
        "scale": floats(1),
        "quantiles": optional(instance(Quantiles)),
        "why": TEXT,
        "zero_share": NUMBER_FROM_0,
        "energy": NUMBER_FROM_0,
        "unit": POSITIVE,
        "rarity": optional(floats(1)),
        "axes": optional(instance(Axes)),
        "is_applied": Kind("false", lambda value: value is False),
    },
    Quantiles: {"values": floats(2), "scores": floats(2)},
    Axes: {"directions": floats(2), "variances": floats(1)},
    AnchorGraph: {
        "views": each(COUNT),
        "view_scales": each(NUMBER_FROM_0),
        "anchors": floats(2),
        "alpha": NUMBER_FROM_0,
        "locality": NUMBER_FROM_0,
        "weight": NUMBER_FROM_0,
        "repeat": COUNT,
        "method": Kind(f"one of {METHODS}", lambda value: value in METHODS),
        "n_neighbors": optional(COUNT_FROM_1),
        "whitening": NUMBER,
    },
    Embedding: {
        "transforms": each(floats(2)),
        "row_norm": FLAG,
        "rotation": optional(floats(2)),
        "communities": each(floats(2)),
        "n_searches": COUNT_FROM_1,
    },
    Hierarchy: {"leaves": floats(2), "clusters": WHOLE, "tree": floats(2), "of_columns": FLAG},
    Oddness: {
        "scalers": each(instance(Scaler)),
        "graphs": each(instance(AnchorGraph)),
        "usual": each(floats(1)),
        "spreads": floats(1),
        "limit": POSITIVE,
        "marks": FLAG,
    },
    Groups: {"names": each(TEXT), "scalers": each(instance(Scaler)), "means": each(floats(2))},
    Encoding: {"codes": each(instance(Code))},
    Code: {
        "name": TEXT,
        "kind": Kind(f"one of {CODES}", lambda value: value in CODES),
        "levels": each(TEXT),
        "has_rare": FLAG,
        "has_missing": FLAG,
        "fill": NUMBER,
        "why": TEXT,
    },
    Suggestion: {
        "n_clusters": COUNT_FROM_1,
        "candidates": each(COUNT_FROM_1),
        "silhouette": each(NUMBER),
        "modularity": each(NUMBER),
        "score": each(NUMBER),
        "stability": NUMBER,
        "n_pieces": COUNT,
        "beyond": optional(NUMBER),
        "n_apart": optional(COUNT_FROM_1),
    },
}
"""Fields of the records that a model consists of."""

FITTED: Mapping[str, Kind] = {
    "labels_": WHOLE,
    "confidence_": floats(1),
    "outlier_score_": floats(1),
    "leaves_": WHOLE,
    "inertia_": NUMBER_FROM_0,
    "n_iter_": COUNT,
    "view_weights_": floats(1),
    "singular_values_": floats(1),
    "stage_seconds_": table_of(NUMBER),
    "stage_memory_": table_of(NUMBER),
    "solver_report_": table_of(ANYTHING),
    "choices_": each(table_of(ANYTHING)),
    "n_clusters_": COUNT_FROM_1,
    "suggestion_": optional(instance(Suggestion)),
    "n_samples_seen_": COUNT,
    "feature_names_in_": NAMES,
    "feature_names_per_view_": each(optional(each(TEXT))),
    "n_features_in_": COUNT_FROM_1,
    "cautions_": each(TEXT),
    "feature_importances_": each(floats(1)),
    "encodings_": each(optional(instance(Encoding))),
    "groups_": instance(Groups),
    "batch_mixing_": NUMBER,
    "ids_": optional(NAMES),
}
"""Fitted attributes that are saved beside the model; no others are ever set."""

_OF_ALL = (
    "encodings_", "feature_names_per_view_", "view_weights_", "inertia_", "singular_values_",
)  # fmt: skip
_WITH_LABELS = ("confidence_", "choices_", "cautions_", "stage_seconds_", "solver_report_")
"""What models have, streams too, and what those have that keep the labels of their rows."""


def make_record(kind: type, content: Any) -> Any:
    """The record of its fields, each of which is what it may be; ValueError else.

    Examples
    --------
    >>> make_record(Axes, {"directions": np.eye(2), "variances": np.array([2.0, np.nan])})
    Traceback (most recent call last):
        ...
    ValueError: variances of Axes is not an array of finite numbers with 1 dimension(s)
    """
    known = MODEL[kind]
    if not isinstance(content, dict) or not is_dataclass(kind):
        raise ValueError(f"there is no record of {kind.__name__}")
    needed = [field.name for field in fields(kind) if field.default is MISSING]
    for name in needed:
        if name not in content:
            raise ValueError(f"{name} of {kind.__name__} is missing")
    for name, value in content.items():
        if name not in known:
            raise ValueError(f"{kind.__name__} has no {name!r}")
        check(value, known[name], f"{name} of {kind.__name__}")
    return kind(**content)


def check_fitted(fitted: Any, *, n_clusters: int, n_views: int, n_leaves: int) -> None:
    """Raise ValueError unless fitted attributes are known ones, and fit the model and each other."""
    if not isinstance(fitted, dict):
        raise ValueError("the fitted attributes are no table")
    for name, value in fitted.items():
        if name not in FITTED:
            raise ValueError(f"{name!r} is no attribute that is saved")
        check(value, FITTED[name], name)
    labels, ids = fitted.get("labels_"), fitted.get("ids_")
    needed: tuple[str, ...] = _OF_ALL
    if labels is not None:
        needed = (*_OF_ALL, *_WITH_LABELS, *(["leaves_"] if n_leaves else []))
    for name in needed:
        if name not in fitted:
            raise ValueError(f"{name} is missing")
    for name, most in (("labels_", n_clusters), ("leaves_", n_leaves)):
        value = fitted.get(name)
        if value is not None and len(value) and not -1 <= value.min() <= value.max() < most:
            raise ValueError(f"{name} are not all from -1 to {most - 1}")
    if labels is not None and ids is not None and len(ids) != len(labels):
        raise ValueError(f"there are {len(ids)} ids but {len(labels)} labels")
    for name in ("confidence_", "outlier_score_", "leaves_"):
        value = fitted.get(name)
        if labels is not None and value is not None and len(value) != len(labels):
            raise ValueError(f"{name} is not one number a label")
    if fitted.get("n_clusters_", n_clusters) != n_clusters:
        raise ValueError(f"n_clusters_ is not {n_clusters}, the number of centres")
    for name in ("view_weights_", "feature_names_per_view_", "encodings_"):
        if len(fitted[name]) != n_views:
            raise ValueError(f"{name} does not have {n_views} entries, one a view")
