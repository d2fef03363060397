"""All that decides a result, and how an estimator's parameters become it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manyview.checks import (
    check_count,
    check_each,
    check_n_clusters,
    check_number,
    check_option,
    is_auto,
    of_each_view,
)
from manyview.errors import ParameterError
from manyview.machine import count_jobs
from manyview.stages import scaling
from manyview.stages.hierarchy import MOST_CLUSTERS
from manyview.views.container import Views, as_views
from manyview.wording import count

_FUSIONS = ("late", "early", "both")
_ANCHOR_METHODS = ("kmeans", "kmeans-all", "random")
_VIEW_WEIGHTS = ("equal", "agreement", "amgl")
_OUTLIERS = ("keep", "mark")

MANY_ROWS = 5000
"""From here on a row uses its nearest anchors only, of many more."""
_AUTO_NEIGHBORS = 3
_MANY_ANCHORS, _MOST_ANCHORS = 1000, 2000
_ROWS_PER_ANCHOR, _MANY_ROWS_PER_ANCHOR = 7, 35
"""One for so many rows, within these numbers; the last where clusters are many."""
_ENOUGH_PER_CLUSTER = 10  # where these are many
_OF_GRAPHS = (
    "n_anchors", "alpha", "locality", "n_neighbors", "scaling", "n_axes", "fusion", "view_weights",
    "n_components",
)  # fmt: skip
_REPEAT_ROWS = 6000
_REPEAT_BYTES, _FEW_ROWS = 1 << 29, 2000
_VERY_MANY_ROWS = 100_000
_MOST_AXES = 200  # of a view, unless more are asked for
MANY_CLUSTERS = 100
"""As many, or more, have fewer anchor seeds and fewer anchors."""
_count_of_repeats = partial(check_count, most=1000)  # each costs as much as a fit


@dataclass(frozen=True)
class Settings:
    """An estimator's parameters; nothing is left on "auto" that can be settled before data is read.

    The names are the estimator's; ``n_anchors`` and ``alpha`` are tuples (one graph of each view for
    every pair of them), ``scaling`` has one kind per view ("auto" is settled by the sample),
    ``anchor_method`` is a name or one array of anchors per view. What is "auto" or None where a number
    is expected is settled on the way: ``n_clusters`` by the sample; ``n_anchors``, ``alpha``,
    ``locality`` and ``n_neighbors`` for each graph, by :meth:`for_graph`; ``n_axes`` for each view;
    without ``n_components``, vectors that sit on a handful of rows are left out and the others are
    weighted by their strength. ``has_many_rows`` says which kind of graph suits them;
    ``counts`` says of each view that counts molecules how that shows, once the sample is seen, and
    ``had_genes`` whether some were of genes or peaks, where groups were taken off rows scaled so;
    ``may_be_evident`` whether the answer may be that of k-means, where that stands clear;
    ``many_anchors`` and ``few_anchors`` are what ``n_anchors`` is on "auto", at most, where rows use the
    nearest anchors and where they use all; ``may_repeat_less`` says whether ``n_repeats`` was left open.

    The last five are what only the published variants change: whether anchors' columns are scaled by
    the inverse square root of their sums, whether embedding rows are scaled to unit length, whether
    ``alpha`` is relative to a view's energy, whether anchors and labels are found by
    :mod:`~manyview.stages.litekmeans`, and whether it starts from the same samples in every view.
    """

    n_clusters: int | None
    n_anchors: tuple[int, ...] | None
    alpha: tuple[float, ...] | None
    locality: float | None
    n_neighbors: int | str | None
    n_axes: int | str | None
    scaling: tuple[str | None, ...]
    fusion: str
    n_repeats: int
    view_weights: str | tuple[float, ...]
    n_components: int | None
    anchor_method: str | tuple[npt.NDArray[np.float64], ...]
    max_iter: int
    tol: float
    marks_outliers: bool = False
    has_many_rows: bool = False
    may_be_evident: bool = False
    many_anchors: int = _MANY_ANCHORS
    few_anchors: int = 300
    may_repeat_less: bool = False
    counts: tuple[str, ...] = ()
    had_genes: bool = False
    degree_norm: bool = True
    row_norm: bool = True
    is_alpha_relative: bool = True
    is_litekmeans: bool = False
    starts_are_shared: bool = False

    @property
    def is_open(self) -> bool:
        """Whether a few rows are asked which way to go."""
        is_usual = self.row_norm and isinstance(self.anchor_method, str)
        return is_usual and self.n_components is None

    @property
    def is_scaled(self) -> bool:
        """Whether all views are; if not, values may be too large or small for single precision."""
        return all(kind is not None for kind in self.scaling)

    @property
    def counts_genes(self) -> bool:
        """Whether some view holds counts of genes or peaks in cells, as far as is known."""
        return self.had_genes or any(kind in scaling.COUNTED for kind in self.scaling)

    @property
    def known_clusters(self) -> int:
        """The number of clusters, once it is settled."""
        assert self.n_clusters is not None
        return self.n_clusters

    def for_graph(self, n_rows: int, *, is_like_text: bool) -> GraphSettings:
        """What the graph of some views is made with, from ``n_rows`` rows that have them."""
        n_neighbors = self.n_neighbors
        if n_neighbors == "auto":
            n_neighbors = _AUTO_NEIGHBORS if self.has_many_rows and not is_like_text else None
        is_local = n_neighbors is not None
        k = self.n_clusters or 2
        n_anchors = self.n_anchors
        if n_anchors is None:
            if is_local:
                wanted = max(min(max(self.many_anchors, 2 * k), n_rows // 6), k)
            else:
                wanted = _count_few_anchors(self.few_anchors, n_rows, k, is_like_text=is_like_text)
            n_anchors = (wanted,)
        return GraphSettings(
            n_anchors,
            self.alpha or ((0.1,) if is_local else (0.01,)),
            (0.0 if is_local else 0.03) if self.locality is None else self.locality,
            n_neighbors,  # type: ignore[arg-type]
        )

    def count_kept(self, n_rows: int) -> int:
        """How many repeats' graphs are made of all rows, not just of the sample.

        Of very many rows that is most of the work, and the others only help to find the clusters.
        """
        is_long = self.is_open and self.may_repeat_less and n_rows >= _VERY_MANY_ROWS
        return 1 if is_long else self.n_repeats

    @property
    def most_anchors(self) -> int:
        """As many anchors as a graph can have."""
        if self.n_anchors is not None:
            return max(self.n_anchors)
        return self.for_graph(1 << 62, is_like_text=False).n_anchors[0]

    @property
    def auto_axes(self) -> int:
        """As many axes as a view has if it is left open: what tells k clusters apart fits into k."""
        return max(scaling.AUTO_AXES, min(self.n_clusters or 0, _MOST_AXES))

    @property
    def n_vectors(self) -> int:
        """Number of singular vectors kept."""
        return self.n_components or n_vectors_for(self.known_clusters)


@dataclass(frozen=True)
class GraphSettings:
    """What one graph is made with: a graph for every pair of a number of anchors and an alpha."""

    n_anchors: tuple[int, ...]
    alpha: tuple[float, ...]
    locality: float
    n_neighbors: int | None


def _count_few_anchors(most: int, n_rows: int, k: int, *, is_like_text: bool) -> int:
    """As many anchors as help, but a share of the rows at most, and as many as clusters.

    The mean of three texts remembers their words: it explains them well, and texts it has not seen
    badly. The mean of ten is more like others.
    """
    count = max(min(most, n_rows // 3), k)
    return min(count, max(n_rows // 10, 2 * k)) if is_like_text else count


def _count_many_anchors(n_rows: int, k: int | None) -> int:
    """As many anchors as help where rows use the nearest: with many clusters, more blur them."""
    if k is None or k < MANY_CLUSTERS:
        return min(max(_MANY_ANCHORS, n_rows // _ROWS_PER_ANCHOR), _MOST_ANCHORS)
    enough = min(_ENOUGH_PER_CLUSTER * k, _MOST_ANCHORS)
    return max(_MANY_ANCHORS, min(n_rows // _MANY_ROWS_PER_ANCHOR, enough))


def n_vectors_for(n_clusters: int) -> int:
    """Vectors kept by default: half as many again as clusters, but two to twenty more."""
    return n_clusters + min(max(2, n_clusters // 2), 20)


def published_parameters(
    n_clusters: Any, n_anchors: Any, alpha: Any, variant: str
) -> dict[str, Any]:
    """The parameters that make LMVSC the published method, of which ``variant`` is its own.

    Raw features, absolute alpha, the authors' k-means on all rows for the anchors and for the labels,
    no locality, equal weights, k vectors, and embedding rows as they are. "paper" is its text;
    "released" is their script, which leaves out the degree scaling Sigma^-1/2 and seeds the k-means of
    every view alike.
    """
    check_option("variant", variant, ("paper", "released"))
    return {
        "n_clusters": n_clusters,
        "n_anchors": n_anchors,
        "alpha": alpha,
        "locality": 0.0,
        "scaling": None,
        "fusion": "late",
        "n_repeats": 1,
        "view_weights": "equal",
        "n_components": n_clusters,
        "anchor_method": "kmeans-all",
        "n_neighbors": None,
        "n_axes": None,
        "max_iter": 100,
        "tol": 1e-4,
        "variant": variant,
    }


def resolve(params: Mapping[str, Any], given: Views, views: Views | None = None) -> Settings:
    """The settings of a fit; raises for what makes no sense.

    ``params`` are LMVSC's, or :func:`published_parameters`. They are checked against the views that were
    ``given``; the settings are for ``views``, those of them that describe some sample, all by default.
    """
    views = given if views is None else views
    kept = [given.names.index(name) for name in views.names]
    n, v = views.n_rows, views.n_views
    is_open = is_auto(params["n_clusters"])
    k = None if is_open else _n_clusters(params["n_clusters"], n)
    anchor_method, n_anchors = _anchors(params, given)
    is_given = not isinstance(anchor_method, str)
    if is_given:
        anchor_method = tuple(anchor_method[i] for i in kept)
    fusion = _choice("fusion", params["fusion"], _FUSIONS, auto="late" if is_given else "both")
    if v == 1:
        fusion = "late"  # one view beside itself is that view
    if is_given and fusion != "late" and len({a.shape[0] for a in anchor_method}) > 1:
        raise ValueError(
            f"fusion={fusion!r} puts views side by side, so the given anchors must be as many in "
            f"each view; got {[a.shape[0] for a in anchor_method]}."
        )
    kinds = tuple(_scalings(params["scaling"], given.names)[i] for i in kept)
    is_encoded = [encoding is not None for encoding in views.encodings]
    # Columns of levels were made so that they stand beside numbers as they are.
    kinds = tuple(
        "mixed" if m and is_auto(k) else k for k, m in zip(kinds, is_encoded, strict=True)
    )
    # Given anchors are the same every time.
    has_many_rows = not is_given and n >= MANY_ROWS
    counts = n_anchors or (_count_few_anchors(300, n, k or 2, is_like_text=False),)
    n_repeats = 1 if is_given else _count_repeats(views, max(counts), k)
    variant = params.get("variant")
    return Settings(
        n_clusters=k,
        n_anchors=n_anchors,
        alpha=_numbers(params, "alpha", _nonnegative),
        locality=_settled(params, "locality", _nonnegative, auto=None),
        n_neighbors=_optional_count(params, "n_neighbors"),
        n_axes=_optional_count(params, "n_axes"),
        scaling=kinds,
        fusion=fusion,
        n_repeats=_settled(params, "n_repeats", _count_of_repeats, auto=n_repeats),
        view_weights=_weights(params["view_weights"], given.names, kept),
        n_components=_settled(params, "n_components", check_count, auto=None),
        anchor_method=anchor_method,
        max_iter=check_count("max_iter", params["max_iter"]),
        tol=_nonnegative("tol", params["tol"]),
        marks_outliers=_choice("outliers", params.get("outliers", "keep"), _OUTLIERS) == "mark",
        has_many_rows=has_many_rows,
        many_anchors=_count_many_anchors(n, k),
        may_repeat_less=is_auto(params["n_repeats"]),
        may_be_evident=variant is None
        and all(is_auto(params[name]) for name in _OF_GRAPHS)
        and not any(is_encoded),
        degree_norm=variant != "released",
        row_norm=variant is None,
        is_alpha_relative=variant is None,
        is_litekmeans=variant is not None,
        starts_are_shared=variant == "released",
    )


def check_values(params: Mapping[str, Any]) -> None:
    """Refuse values that no data allows, before any is read."""
    checks: dict[str, Callable[[str, Any], Any]] = {
        **dict.fromkeys(("n_clusters", "n_anchors", "n_components", "max_iter"), check_count),
        **dict.fromkeys(("n_neighbors", "n_axes"), check_count),
        **dict.fromkeys(("alpha", "locality", "tol"), _nonnegative),
        "n_repeats": _count_of_repeats,
    }
    for name, check in checks.items():
        value = params.get(name)
        if value is not None and not is_auto(value):
            check_each(name, value, check)
    count_jobs(params.get("n_jobs"))


def _n_clusters(value: Any, n_rows: int) -> int:
    """The number of clusters; of several, the largest, which the others are cut from."""
    numbers = value if isinstance(value, list | tuple | range | np.ndarray) else [value]
    if not len(numbers):
        raise ParameterError("n_clusters", "must be a number, or several; got none.")
    most = max(check_n_clusters(number, n_rows) for number in numbers)
    if numbers is value and most > MOST_CLUSTERS:
        raise ParameterError(
            "n_clusters",
            f"must be one number above {MOST_CLUSTERS}, where there is no tree to cut the others from; "
            f"got {count(len(numbers), 'number')} up to {most}.",
        )
    return most


def _count_repeats(views: Views, n_anchors: int, n_clusters: int | None) -> int:
    """Three anchor seeds; up to nine for few rows, which vary more and cost little.

    Two for very many rows, where a third changes nothing and all but the first are asked on the sample
    alone, and for a hundred clusters or more, where vectors cost more than all else; one for these in
    many rows, where a second gains nothing. Fewer where views are so wide that anchors, one set a view
    and one of all, would fill memory.
    """
    n_rows, n_columns = views.shape
    wanted = max(3, min(9, _REPEAT_ROWS // n_rows))
    has_many_clusters = n_clusters is not None and n_clusters >= MANY_CLUSTERS
    if n_rows >= _VERY_MANY_ROWS or has_many_clusters:
        wanted = 1 if has_many_clusters and n_rows >= MANY_ROWS else 2
    # Of few rows, text has fewer anchors than others.
    n_bytes = _REPEAT_BYTES * (2 if n_rows <= _FEW_ROWS else 1)
    return max(1, min(wanted, n_bytes // (2 * 8 * n_anchors * n_columns)))


def _settled(
    params: Mapping[str, Any], name: str, check: Callable[[str, Any], Any], *, auto: Any
) -> Any:
    """One parameter, checked; ``auto`` where it was left to us."""
    return auto if is_auto(params[name]) else check(name, params[name])


def _nonnegative(name: str, value: Any) -> float:
    return check_number(name, value, least=0)


def _choice(name: str, value: Any, options: Sequence[Any], *, auto: Any = None) -> Any:
    if auto is not None and is_auto(value):
        return auto
    check_option(name, value, [*(["auto"] if auto is not None else []), *options])
    return value


def _optional_count(params: Mapping[str, Any], name: str) -> int | str | None:
    """A number, checked; "auto" and None mean something of their own."""
    value = params[name]
    return value if value is None or is_auto(value) else check_count(name, value)


def _numbers(
    params: Mapping[str, Any], name: str, check: Callable[[str, Any], Any]
) -> tuple[Any, ...] | None:
    """One number or several, each checked; None where they were left to us."""
    return None if is_auto(params[name]) else check_each(name, params[name], check)


def _anchors(params: Mapping[str, Any], views: Views) -> tuple[Any, tuple[int, ...] | None]:
    """The anchor method (a name, or one array per view) and the numbers of anchors."""
    n, method = views.n_rows, params["anchor_method"]
    if isinstance(method, Iterable) and not isinstance(method, str):
        given = _given_anchors(method, views)
        sizes = {a.shape[0] for a in given}
        wanted = _numbers(params, "n_anchors", check_count)
        if wanted is not None and sizes != set(wanted):
            raise ValueError(
                f"n_anchors={params['n_anchors']!r}, but anchor_method gives "
                f"{[a.shape[0] for a in given]} anchors. Leave n_anchors on 'auto'."
            )
        return given, (max(sizes),)
    _choice("anchor_method", method, _ANCHOR_METHODS)
    counts = _numbers(params, "n_anchors", check_count)
    if counts is not None and max(counts) > n:
        raise ParameterError(
            "n_anchors",
            "must not exceed the number of samples, among which anchors are chosen; got "
            f"{max(counts)} for {count(n, 'sample')}.",
        )
    return method, counts


def _given_anchors(anchors: Any, views: Views) -> tuple[np.ndarray, ...]:
    parts = [anchors] if hasattr(anchors, "shape") else anchors
    if isinstance(parts, Mapping):
        by_name = set(parts) == set(views.names)
        parts = [parts[name] for name in (views.names if by_name else parts)]
    given = tuple(as_views([part], in_memory=True).arrays[0] for part in parts)
    for anchors in given:
        if not np.isfinite(anchors.data if sparse.issparse(anchors) else anchors).all():
            raise ParameterError(
                "anchor_method", "must hold finite numbers, without NaN or infinity."
            )
    widths = [a.shape[1] for a in given]
    if widths != list(views.n_features):
        raise ParameterError(
            "anchor_method",
            "must hold one array of anchors per view with that view's columns "
            f"{list(views.n_features)}; got {widths}.",
        )
    return given


def _scalings(value: Any, names: Sequence[str]) -> tuple[str | None, ...]:
    if not isinstance(value, list | tuple | Mapping):
        value = [value] * len(names)
    kinds = of_each_view("scaling", value, names, missing="auto")
    return tuple(_choice("scaling", kind, scaling.KINDS, auto="auto") for kind in kinds)


def _weights(value: Any, names: Sequence[str], kept: Sequence[int]) -> str | tuple[float, ...]:
    if isinstance(value, str):
        chosen: str = _choice("view_weights", value, _VIEW_WEIGHTS, auto="agreement")
        return chosen
    if value is None:
        words = f"must be one of {['auto', *_VIEW_WEIGHTS]} or one number per view; got None."
        raise ParameterError("view_weights", words)
    weights = check_each(
        "view_weights", of_each_view("view_weights", value, names, missing=1.0), _nonnegative
    )
    weights = tuple(weights[i] for i in kept)
    if sum(weights) <= 0:
        raise ParameterError("view_weights", "must not all be zero.")
    return weights
