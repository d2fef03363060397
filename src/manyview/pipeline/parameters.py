"""Check the estimator's parameters and settle what was left on "auto"."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from manyview.checks import check_count, check_each, check_flag, check_number, check_option, is_auto
from manyview.engines.base import TILE_ROWS
from manyview.pipeline.settings import Settings
from manyview.stages import scaling
from manyview.views.container import Views, as_views

_FUSIONS = ("late", "early", "both")
_ANCHOR_METHODS = ("kmeans", "kmeans-all", "random")
_VIEW_WEIGHTS = ("equal", "agreement", "amgl")

_AUTO_ANCHORS = 300
_AUTO_LOCALITY = 0.03
_REPEAT_ROWS = 6000
_REPEAT_BYTES = 1 << 30


def resolve(estimator: Any, given: Views, views: Views | None = None) -> Settings:
    """Give the settings of a fit; raise for what makes no sense.

    Parameters are checked against the views that were ``given``; the settings are for ``views``, those
    of them that describe some sample, all by default.
    """
    views = given if views is None else views
    kept = [given.names.index(name) for name in views.names]
    n, v = views.n_rows, views.n_views
    k = _settled("n_clusters", estimator.n_clusters, check_count, auto=None)
    if k is not None and k > n:
        raise ValueError(
            f"n_samples={n} should be >= n_clusters={k}: there cannot be more clusters than samples."
        )
    anchor_method, n_anchors = _anchors(estimator, given, k)
    is_given = not isinstance(anchor_method, str)
    if is_given:
        anchor_method = tuple(anchor_method[i] for i in kept)
    fusion = _choice("fusion", estimator.fusion, _FUSIONS, auto="late" if is_given else "both")
    if v == 1:
        fusion = "late"  # one view beside itself is that view
    if is_given and fusion != "late" and len({a.shape[0] for a in anchor_method}) > 1:
        raise ValueError(
            f"fusion={fusion!r} puts views side by side, so the given anchors must be as many in "
            f"each view; got {[a.shape[0] for a in anchor_method]}."
        )
    kinds = tuple(_scalings(estimator.scaling, given.n_views)[i] for i in kept)
    # Absolute numbers mean something else in every view: without scaling, nothing is added.
    locality = _AUTO_LOCALITY if None not in kinds else 0.0
    return Settings(
        n_clusters=k,
        n_anchors=n_anchors,
        alpha=_numbers("alpha", estimator.alpha, _nonnegative, auto=0.01),
        locality=_settled("locality", estimator.locality, _nonnegative, auto=locality),
        scaling=kinds,
        fusion=fusion,
        n_repeats=_settled(
            "n_repeats",
            estimator.n_repeats,
            check_count,
            # Given anchors are the same every time.
            auto=1 if is_given else _count_repeats(views, max(n_anchors)),
        ),
        view_weights=_weights(estimator.view_weights, given.n_views, kept),
        n_components=_settled("n_components", estimator.n_components, check_count, auto=None),
        degree_norm=check_flag("degree_norm", estimator.degree_norm),
        row_norm=check_flag("row_norm", estimator.row_norm),
        anchor_method=anchor_method,
        impute=_choice("impute", estimator.impute, (None, "mean")),
        n_init=check_count("n_init", estimator.n_init),
        max_iter=check_count("max_iter", estimator.max_iter),
        tol=_nonnegative("tol", estimator.tol),
        are_anchors_auto=not is_given and is_auto(estimator.n_anchors),
    )


def _count_repeats(views: Views, n_anchors: int) -> int:
    """Three anchor seeds; up to nine for few rows, which vary more and cost little.

    Fewer where views are so wide that anchors, one set a view and one of all, would fill memory.
    """
    n_rows, n_columns = views.shape
    wanted = max(3, min(9, _REPEAT_ROWS // n_rows))
    return max(1, min(wanted, _REPEAT_BYTES // (2 * 8 * n_anchors * n_columns)))


def _settled(name: str, value: Any, check: Callable[[str, Any], Any], *, auto: Any) -> Any:
    """One value, checked; ``auto`` where it was left to us."""
    return auto if is_auto(value) else check(name, value)


def _nonnegative(name: str, value: Any) -> float:
    return check_number(name, value, least=0)


def _choice(name: str, value: Any, options: Sequence[Any], *, auto: Any = None) -> Any:
    if auto is not None and is_auto(value):
        return auto
    check_option(name, value, [*(["auto"] if auto is not None else []), *options])
    return value


def _numbers(
    name: str, value: Any, check: Callable[[str, Any], Any], *, auto: Any
) -> tuple[Any, ...]:
    return (auto,) if is_auto(value) else check_each(name, value, check)


def _anchors(estimator: Any, views: Views, k: int | None) -> tuple[Any, tuple[int, ...]]:
    """Give the anchor method (a name, or one array per view) and the numbers of anchors."""
    n, method = views.n_rows, estimator.anchor_method
    if not isinstance(method, str):
        given = _given_anchors(method, views)
        sizes = {a.shape[0] for a in given}
        wanted = _numbers("n_anchors", estimator.n_anchors, check_count, auto=max(sizes))
        if not is_auto(estimator.n_anchors) and sizes != set(wanted):
            raise ValueError(
                f"n_anchors={estimator.n_anchors!r}, but anchor_method gives "
                f"{[a.shape[0] for a in given]} anchors. Leave n_anchors on 'auto'."
            )
        return given, (max(sizes),)
    _choice("anchor_method", method, _ANCHOR_METHODS)
    auto = max(k or min(2, n), min(_AUTO_ANCHORS, n // 3))
    counts = _numbers("n_anchors", estimator.n_anchors, check_count, auto=auto)
    for m in counts:
        if m > n:
            raise ValueError(f"n_anchors={m} is more than the {n} rows there are to choose from.")
    return method, counts


def _given_anchors(anchors: Any, views: Views) -> tuple[np.ndarray, ...]:
    parts = [anchors] if hasattr(anchors, "shape") else anchors
    if isinstance(parts, Mapping):
        by_name = set(parts) == set(views.names)
        parts = [parts[name] for name in (views.names if by_name else parts)]
    given = tuple(as_views([part], in_memory=True).arrays[0] for part in parts)
    for anchors in given:
        if not np.isfinite(anchors.data if sparse.issparse(anchors) else anchors).all():
            raise ValueError("anchor_method must hold finite numbers, without NaN or infinity.")
    widths = [a.shape[1] for a in given]
    if widths != list(views.n_features):
        raise ValueError(
            f"anchor_method must hold one array of anchors per view with that view's columns "
            f"{list(views.n_features)}; got {widths}."
        )
    return given


def _scalings(value: Any, n_views: int) -> tuple[str | None, ...]:
    each = list(value) if isinstance(value, list | tuple) else [value] * n_views
    if len(each) != n_views:
        raise ValueError(f"scaling has {len(each)} entries for {n_views} views.")
    return tuple(_choice("scaling", kind, scaling.KINDS, auto="auto") for kind in each)


def _weights(value: Any, n_views: int, kept: Sequence[int]) -> str | tuple[float, ...]:
    if isinstance(value, str):
        chosen: str = _choice("view_weights", value, _VIEW_WEIGHTS, auto="agreement")
        return chosen
    if value is None:
        raise ValueError(
            f"view_weights must be one of {['auto', *_VIEW_WEIGHTS]} or one number per view; got None."
        )
    weights = _numbers("view_weights", value, _nonnegative, auto=None)
    if len(weights) != n_views:
        raise ValueError(f"view_weights has {len(weights)} entries for {n_views} views.")
    weights = tuple(weights[i] for i in kept)
    if sum(weights) <= 0:
        raise ValueError("view_weights must not all be zero.")
    return weights


def count_block_rows(block_rows: int | str, n_rows: int) -> int:
    """Rows of a block: a whole number of tiles."""
    if block_rows == "auto":
        return 4 * TILE_ROWS if n_rows > 64 * TILE_ROWS else TILE_ROWS
    if not isinstance(block_rows, int | np.integer) or block_rows < 1:
        raise ValueError(
            f"block_rows must be a positive number of rows or 'auto'; got {block_rows!r}."
        )
    return -(-int(block_rows) // TILE_ROWS) * TILE_ROWS
