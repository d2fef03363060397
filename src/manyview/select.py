"""Settings tried and compared without labels; a number of clusters with its evidence.

``LMVSC`` chooses by itself; this is the same machinery in plain sight, for those who want to see what
other settings would give, and by which criteria one is better.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import linalg
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import Pipeline

from manyview.estimator import LMVSC
from manyview.pipeline.label_free import sampled_silhouette
from manyview.pipeline.model import FittedModel
from manyview.stages.n_clusters import Suggestion, kept_inside
from manyview.stages.sampling import spread_evenly
from manyview.views.container import Views, as_views

__all__ = ["Selection", "Trial", "compare", "excess_cut", "label_free_score", "suggest_n_clusters"]

Labels = npt.NDArray[np.int32]


SETTINGS: tuple[Mapping[str, Any], ...] = (
    {},
    *(
        {"scaling": scaling, "locality": locality}
        for scaling, locality in product(
            ("standard", "normal-scores", "hellinger", "unit"), (0.0, 0.03, 0.1)
        )
    ),
)
"""What :func:`compare` tries by default: everything on "auto", then scalings and localities."""

LARGEST_SHARE = 0.8
"""A clustering with a larger cluster has collapsed, however good its other figures."""


@dataclass(frozen=True)
class Trial:
    """One set of settings and what it gave.

    Attributes
    ----------
    settings : dict
        Parameters of LMVSC, besides the number of clusters.
    excess_cut : float
        How much more of the graph the labels cut, per cluster, than the best that any k vectors
        could: the criterion that picks the best settings, small is good.
    silhouette : float
        Of the labels in the embedding; comparable between settings only with care.
    stability : float
        Adjusted Rand index between two seeds.
    largest_share : float
        Share of the rows in the largest cluster.
    seconds : float
        Of one fit.
    labels : ndarray of shape (n,)
        Of the rows that were used.

    See Also
    --------
    Selection : trials, the best first.
    """

    settings: dict[str, Any]
    excess_cut: float
    silhouette: float
    stability: float
    largest_share: float
    seconds: float
    labels: npt.NDArray[np.int32]

    @property
    def has_collapsed(self) -> bool:
        """Whether one cluster holds nearly everything."""
        return self.largest_share > LARGEST_SHARE


@dataclass(frozen=True, repr=False)
class Selection:
    """Trials, the best first.

    Attributes
    ----------
    trials : list of Trial
        Those that did not collapse, by their excess cut; then those that did.
    rows : ndarray of int
        Numbers of the rows that were used.

    See Also
    --------
    compare : makes it.

    Examples
    --------
    >>> from manyview import datasets, select
    >>> views = datasets.make_views(90, 3, (4, 5), random_state=0)
    >>> found = select.compare(views, 3, [{"alpha": 0.01}, {"alpha": 10.0}], random_state=0)
    >>> sorted(found.best)
    ['alpha']
    """

    trials: list[Trial]
    rows: npt.NDArray[np.int64]

    @property
    def best(self) -> dict[str, Any]:
        """Settings of the best trial, to be passed to LMVSC."""
        return self.trials[0].settings

    def table(self) -> list[dict[str, Any]]:
        """One row per trial, as plain numbers; ``pandas.DataFrame(...)`` takes it as it is."""
        names = ("excess_cut", "silhouette", "stability", "largest_share", "seconds")
        return [
            {"settings": t.settings, **{name: getattr(t, name) for name in names}}
            for t in self.trials
        ]

    def __repr__(self) -> str:
        lines = ["excess cut  silhouette  stability  largest  seconds  settings"]
        for t in self.trials:
            text = ", ".join(f"{name}={value!r}" for name, value in t.settings.items()) or "auto"
            mark = "  (collapsed)" if t.has_collapsed else ""
            lines.append(
                f"{t.excess_cut:10.3f}  {t.silhouette:10.3f}  {t.stability:9.3f}  "
                f"{t.largest_share:7.0%}  {t.seconds:7.2f}  {text}{mark}"
            )
        return "\n".join(lines)


def compare(
    X: Any,
    n_clusters: int,
    settings: Sequence[Mapping[str, Any]] = SETTINGS,
    *,
    max_rows: int = 5000,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> Selection:
    """Fit some rows with each of several settings, and order them without labels.

    Settings are ordered by their excess cut, those with one dominant cluster last. On data with
    known labels this choice was .04 NMI short of the best in the mean, where the eigengap or the
    inertia of k-means were .12 and .22 short; the fixed defaults were better still. So trust it to
    warn of bad settings rather than to improve on good ones.

    Parameters
    ----------
    X : array, table, list or dict of them, or Views
        The views.
    n_clusters : int
        Number of clusters.
    settings : sequence of mapping
        Parameters of LMVSC to try; what they do not name stays on its default. By default everything on
        "auto", then four scalings with three localities each.
    max_rows : int, default=5000
        Rows used, at equal distances; all if there are fewer.
    random_state : int, default=0
        Seed; the next one is used to judge stability.
    n_jobs : int or None, default=None
        Threads.

    Returns
    -------
    Selection
        The trials, the best first.

    Examples
    --------
    >>> from manyview import datasets, select
    >>> views = datasets.make_views(300, 3, (5, 8), random_state=0)
    >>> found = select.compare(views, 3, [{"n_repeats": 1}, {"n_repeats": 1, "alpha": 10.0}])
    >>> len(found.table()), found.trials[0].has_collapsed
    (2, False)
    """
    if not settings:
        raise ValueError("settings is empty: give at least one mapping of parameters to try.")
    views = as_views(X).encoded()
    rows = spread_evenly(views.n_rows, max(int(max_rows), n_clusters))
    some: Views = views[rows]
    trials = [
        _try(some, n_clusters, dict(each), random_state=random_state, n_jobs=n_jobs)
        for each in settings
    ]
    trials.sort(key=lambda trial: (trial.has_collapsed, trial.excess_cut))
    return Selection(trials, rows)


def suggest_n_clusters(
    X: Any,
    *,
    max_rows: int = 10_000,
    random_state: int = 0,
    n_jobs: int | None = None,
    **settings: Any,
) -> Suggestion:
    """Suggest a number of clusters, with the curves behind it and the runners-up.

    Parameters
    ----------
    X : array, table, list or dict of them, or Views
        The views.
    max_rows : int, default=10000
        Rows used, at equal distances; all if there are fewer.
    random_state : int, default=0
        Seed.
    n_jobs : int or None, default=None
        Threads.
    **settings
        Other parameters of LMVSC.

    Returns
    -------
    Suggestion
        The number, its evidence and the runners-up.

    Examples
    --------
    >>> from manyview import datasets, select
    >>> views = datasets.make_views(300, 3, (5, 8), random_state=0)
    >>> select.suggest_n_clusters(views, n_repeats=2).n_clusters
    3
    """
    views = as_views(X)
    rows = spread_evenly(views.n_rows, int(max_rows))
    model = LMVSC("auto", random_state=random_state, n_jobs=n_jobs, **settings).fit(views[rows])
    suggestion = model.suggestion_
    assert suggestion is not None
    return suggestion


def _try(
    views: Views,
    n_clusters: int,
    settings: dict[str, Any],
    *,
    random_state: int,
    n_jobs: int | None,
) -> Trial:
    """Fit twice, with two seeds, and judge the first."""
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a bad setting shows in its figures
        model, again = (
            LMVSC(n_clusters, random_state=seed, n_jobs=n_jobs, **settings).fit(views)
            for seed in (random_state, random_state + 1)
        )
    seconds = (time.perf_counter() - started) / 2
    labels = model.labels_
    return Trial(
        settings,
        excess_cut(model.model_, views, labels, n_clusters),
        sampled_silhouette(model.embedding_, labels),
        float(adjusted_rand_score(labels, again.labels_)),
        float(np.bincount(labels).max() / len(labels)),
        seconds,
        labels,
    )


def label_free_score(estimator: Any, X: Any, y: Any = None) -> float:
    """Score a fitted model by rows without labels: silhouette times modularity.

    The silhouette says how far clusters are apart in the embedding, modularity how much more of the
    graph lies inside them than chance would put there. The silhouette alone prefers few clusters and
    modularity many; a graph that holds nothing has no modularity, however it is cut. The same product,
    less 5 % for twice as many clusters, is one of the votes of ``n_clusters="auto"``.

    Parameters
    ----------
    estimator : LMVSC, or a pipeline that ends with one
        Fitted.
    X : what the estimator takes
        Rows to judge it by, as a rule not those that it was fitted to; if there are more than 20 000,
        a sample of them.
    y : ignored
        For scikit-learn's conventions.

    Returns
    -------
    float
        Higher is better.

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV
    >>> from manyview import LMVSC, datasets
    >>> from manyview.select import label_free_score
    >>> views = datasets.make_views(200, 3, (4, 5), random_state=0)
    >>> search = GridSearchCV(
    ...     LMVSC(3, n_repeats=1, random_state=0), {"alpha": [0.01, 10.0]},
    ...     scoring=label_free_score, cv=2,
    ... )
    >>> search.fit(views).best_params_
    {'alpha': 0.01}
    """
    if isinstance(estimator, Pipeline):
        if len(estimator) > 1:
            X = estimator[:-1].transform(X)
        estimator = estimator[-1]
    if not isinstance(estimator, LMVSC):
        raise TypeError(
            f"This scorer needs an LMVSC, or a pipeline that ends with one; got "
            f"{type(estimator).__name__}."
        )
    return estimator.score(X)


def excess_cut(model: FittedModel, rows: Views, labels: Labels, n_clusters: int) -> float:
    """How much more of the graph the labels cut, per cluster, than any k vectors at best.

    The mean over anchor seeds of (sum of the k largest eigenvalues - what labels keep) / k; 0 is the
    best there can be. It compares graphs that have structure: one that is the same for all
    rows (a very large alpha) has nothing to cut.

    Parameters
    ----------
    model : FittedModel
        Makes the graph.
    rows : Views
        n rows.
    labels : ndarray of shape (n,)
        Their clusters.
    n_clusters : int
        Number of clusters, including empty ones.

    Returns
    -------
    float
        0 or more; smaller is better.
    """
    counts = np.bincount(labels, minlength=n_clusters).astype(np.float64)
    cuts = []
    for graph in model.fused_graphs(rows.arrays):
        gram = (graph.T @ graph).toarray()
        size = min(n_clusters, len(gram))
        bound = linalg.eigvalsh(gram, subset_by_index=(len(gram) - size, len(gram) - 1)).sum()
        kept = kept_inside(graph, labels, n_clusters) / np.maximum(counts, 1.0)
        cuts.append(float(bound - kept.sum()) / n_clusters)
    return float(np.mean(cuts))
