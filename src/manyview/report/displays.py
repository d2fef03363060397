"""The report's figures for papers, drawn with matplotlib in the manner of scikit-learn's displays.

``SomeDisplay.from_estimator(...)`` computes and draws, ``display.plot(ax=...)`` draws again elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from manyview import metrics
from manyview.checks import check_option
from manyview.report import refits, samples
from manyview.report.layout import lay_out
from manyview.report.palette import choose_colours
from manyview.report.spectrum import describe_spectrum
from manyview.stages.rows import Array

if TYPE_CHECKING:
    from manyview import LMVSC, Views

_INK, _BLUE, _GREY, _GAP = "#1b1f24", "#1f5fbf", "#9aa7b8", "#fdeec9"


class _Display:
    """What the displays share: axes to draw on."""

    ax_: Any
    figure_: Any

    def _axes(self, ax: Any, size: tuple[float, float]) -> Any:
        if ax is None:
            import matplotlib.pyplot as plt

            _, ax = plt.subplots(figsize=size, layout="constrained")
        self.ax_, self.figure_ = ax, ax.figure
        return ax


class EmbeddingDisplay(_Display):
    """A map of the embedding, coloured by cluster.

    Parameters
    ----------
    points : ndarray of shape (n, 2)
        Places.
    labels : ndarray of shape (n,)
        What to colour by.

    Attributes
    ----------
    ax_, figure_
        What was drawn on.

    See Also
    --------
    SpectrumDisplay : how many clusters the graph suggests.
    AgreementDisplay : how far views agree.

    Examples
    --------
    >>> from manyview import LMVSC, datasets
    >>> from manyview.report import EmbeddingDisplay
    >>> views = datasets.make_views(200, 3, (4, 5), random_state=0)
    >>> display = EmbeddingDisplay.from_estimator(LMVSC(3, random_state=0).fit(views))
    >>> display.points.shape
    (200, 2)
    """

    def __init__(self, points: Array, labels: npt.NDArray[Any]) -> None:
        self.points, self.labels = points, labels

    @classmethod
    def from_estimator(
        cls,
        estimator: LMVSC,
        X: Any = None,
        y: Any = None,
        *,
        max_rows: int = samples.MOST_PLACED,
        random_state: int = 0,
        ax: Any = None,
    ) -> EmbeddingDisplay:
        """Place rows by t-SNE, and draw them.

        Parameters
        ----------
        estimator : LMVSC
            Fitted.
        X : views, optional
            Rows to show; those that were fitted by default.
        y : array-like of shape (n,), optional
            What to colour by; the clusters by default.
        max_rows : int, default=2000
            If there are more rows, so many are chosen at random.
        random_state : int, default=0
            Seed of the sample and the map.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        """
        check_is_fitted(estimator)
        if X is not None:
            embedding, labels = estimator.transform(X), estimator.predict(X)
        elif hasattr(estimator, "embedding_"):
            embedding, labels = estimator.embedding_, estimator.labels_
        else:
            raise ValueError(
                "Models from files, updated ones and streams keep no embedding: pass X."
            )
        colours = np.asarray(labels if y is None else y)
        rng = np.random.default_rng(random_state)
        rows = samples.choose_balanced(np.asarray(labels), max_rows, rng)
        points = lay_out(np.asarray(embedding[rows]), np.arange(len(rows)), seed=random_state)
        return cls(points, colours[rows]).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> EmbeddingDisplay:
        """Draw the points, and each group's name in its middle."""
        ax = self._axes(ax, (6.0, 6.0))
        names, codes = np.unique(self.labels, return_inverse=True)
        colours = np.array(choose_colours(len(names)))
        size = np.clip(20_000 / len(self.points), 4, 40)
        ax.scatter(*self.points.T, s=size, c=colours[codes], alpha=0.85, linewidths=0)
        for code, name in enumerate(names if len(names) <= 40 else []):
            mine = self.points[codes == code]
            middle = np.median(mine, axis=0)
            x, y = mine[np.argmin(((mine - middle) ** 2).sum(axis=1))]
            box = {"facecolor": "white", "alpha": 0.75, "edgecolor": "none", "pad": 1.5}
            ax.text(x, y, str(name), ha="center", va="center", weight="bold", color=_INK, bbox=box)
        ax.set_aspect("equal")
        ax.set_axis_off()
        return self


class SpectrumDisplay(_Display):
    """The squared singular values of the fused graph, and their largest gap.

    Parameters
    ----------
    singular_values : ndarray of shape (c,)
        Singular values of the fused graph, descending.
    n_clusters : int
        The number of clusters that was fitted.

    See Also
    --------
    manyview.LMVSC.cut : labels for another number of clusters.
    EmbeddingDisplay : where rows lie.

    Examples
    --------
    >>> from manyview.report import SpectrumDisplay
    >>> SpectrumDisplay([1.0, 0.9, 0.2], 2).suggested
    2
    """

    def __init__(self, singular_values: npt.ArrayLike, n_clusters: int) -> None:
        self.n_clusters = n_clusters
        facts = describe_spectrum(singular_values, n_clusters)
        self.values: list[float] = facts["values"]
        self.suggested: int | None = facts["suggested"]

    @classmethod
    def from_estimator(cls, estimator: LMVSC, *, ax: Any = None) -> SpectrumDisplay:
        """Draw the spectrum of a fitted model."""
        check_is_fitted(estimator)
        return cls(estimator.singular_values_, len(estimator.cluster_centers_)).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> SpectrumDisplay:
        """Draw stems; those beyond the number of clusters are hollow."""
        ax = self._axes(ax, (6.4, 3.2))
        numbers = np.arange(1, len(self.values) + 1)
        inside = numbers <= self.n_clusters
        if self.suggested is not None:
            ax.axvspan(self.suggested, self.suggested + 1, color=_GAP, lw=0)
            ax.set_title(f"largest gap after {self.suggested}", fontsize="medium")
        edges, faces = np.where(inside, _BLUE, _GREY), np.where(inside, _BLUE, "white")
        ax.vlines(numbers, 0, self.values, color=edges, lw=1.5)
        ax.scatter(numbers, self.values, s=34, c=faces, edgecolors=edges, zorder=3)
        ax.set(xlabel="number", ylabel="squared singular value", ylim=(0, None))
        ax.spines[["top", "right"]].set_visible(False)
        return self


class AgreementDisplay(_Display):
    """How far the views' own clusterings agree with each other and with the whole.

    Parameters
    ----------
    matrix : ndarray of shape (v + 1, v + 1)
        Agreement of each pair; the whole comes last.
    names : sequence of str
        Of the views.
    score_name : str
        What was measured.

    See Also
    --------
    manyview.LMVSC.explain : which view has how much say in each row.
    EmbeddingDisplay : where rows lie.

    Examples
    --------
    >>> from manyview import LMVSC, datasets
    >>> from manyview.report import AgreementDisplay
    >>> views = datasets.make_views(90, 3, (4, 5), random_state=0)
    >>> model = LMVSC(3, random_state=0).fit(views)
    >>> AgreementDisplay.from_estimator(model, views).matrix.shape
    (3, 3)
    """

    def __init__(self, matrix: npt.ArrayLike, names: Sequence[str], *, score_name: str) -> None:
        self.matrix = np.asarray(matrix, dtype=np.float64)
        self.names, self.score_name = [*names, "all together"], score_name

    @classmethod
    def from_estimator(
        cls, estimator: LMVSC, X: Any, *, score: str = "nmi", random_state: int = 0, ax: Any = None
    ) -> AgreementDisplay:
        """Cluster each view alone (about 5000 rows at most), and draw the agreement.

        Parameters
        ----------
        estimator : LMVSC
            Fitted to ``X``.
        X : views
            The rows that were fitted.
        score : {"nmi", "ari"}
            What to measure.
        random_state : int, default=0
            Seed of the sample and the fits.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        """
        check_option("score", score, ("nmi", "ari"))
        chosen, rows = _choose_studied(estimator, X, random_state)
        alone, _ = refits.cluster_each_view(estimator, rows, seed=random_state)
        labels = np.asarray(estimator.labels_[chosen])
        agreement = refits.measure_agreement(labels, alone, list(rows.names))
        return cls(agreement[score], agreement["names"], score_name=score.upper()).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> AgreementDisplay:
        """Draw the matrix with its numbers."""
        side = 1.2 + 0.75 * len(self.names)
        ax = self._axes(ax, (side + 0.8, side))
        image = ax.imshow(self.matrix, vmin=0, vmax=1, cmap="Blues")
        for (i, j), value in np.ndenumerate(self.matrix):
            colour = "white" if value > 0.6 else _INK
            ax.text(j, i, f"{value:.2f}", ha="center", va="center", color=colour, fontsize="small")
        places = np.arange(len(self.names))
        ax.set_xticks(places, self.names, rotation=35, ha="right")
        ax.set_yticks(places, self.names)
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)
        ax.figure.colorbar(image, ax=ax, label=self.score_name, shrink=0.8)
        return self


class SensitivityDisplay(_Display):
    """How much the clusters depend on a parameter.

    Parameters
    ----------
    param_name : str
        The parameter.
    values : sequence
        Its values.
    scores : ndarray of shape (len(values), n_seeds)
        Agreement at each value, for each seed.
    score_name : str
        What was measured.

    See Also
    --------
    manyview.select.compare : settings compared without labels.
    AgreementDisplay : how far views agree.

    Examples
    --------
    >>> from manyview.report import SensitivityDisplay
    >>> display = SensitivityDisplay("alpha", [0.01, 1.0], [[0.9], [0.4]], score_name="NMI")
    >>> display.plot().scores.shape
    (2, 1)
    """

    def __init__(
        self, param_name: str, values: Sequence[Any], scores: npt.ArrayLike, *, score_name: str
    ) -> None:
        self.param_name, self.values = param_name, list(values)
        self.scores, self.score_name = np.asarray(scores, dtype=np.float64), score_name

    @classmethod
    def from_estimator(
        cls,
        estimator: LMVSC,
        X: Any,
        y: Any = None,
        *,
        param_name: str,
        values: Sequence[Any],
        n_seeds: int = 3,
        random_state: int = 0,
        ax: Any = None,
    ) -> SensitivityDisplay:
        """Fit with each value and several seeds (about 5000 rows at most), and draw the agreement.

        Parameters
        ----------
        estimator : LMVSC
            Fitted to ``X``.
        X : views
            The rows that were fitted.
        y : array-like of shape (n,), optional
            True labels: the figure shows the NMI with them. By default it shows the adjusted Rand
            index with the estimator's own labels.
        param_name : str
            A parameter of the estimator.
        values : sequence
            Values to try.
        n_seeds : int, default=3
            Fits for each value.
        random_state : int, default=0
            Seed of the sample and of the first fit.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        """
        if param_name not in estimator.get_params():
            raise ValueError(
                f"{param_name!r} is not a parameter of {type(estimator).__name__}; they are "
                f"{sorted(estimator.get_params())}."
            )
        chosen, rows = _choose_studied(estimator, X, random_state)
        score: Any = metrics.ari if y is None else metrics.nmi
        name = "ARI with the fitted clusters" if y is None else "NMI with the true labels"
        truth = np.asarray(estimator.labels_ if y is None else y)[chosen]
        seeds = range(random_state, random_state + n_seeds)
        scores = [
            [
                score(truth, refits.refit(estimator, rows, seed=seed, **{param_name: value}))
                for seed in seeds
            ]
            for value in values
        ]
        return cls(param_name, values, scores, score_name=name).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> SensitivityDisplay:
        """Draw every fit as a dot, and the mean of each value as a line."""
        ax = self._axes(ax, (6.0, 3.4))
        numeric = all(isinstance(v, int | float | np.number) for v in self.values)
        places = np.asarray(self.values if numeric else range(len(self.values)), dtype=float)
        for seed in range(self.scores.shape[1]):
            ax.scatter(places, self.scores[:, seed], s=18, color=_GREY, zorder=2)
        ax.plot(places, self.scores.mean(axis=1), color=_BLUE, marker="o", zorder=3)
        if not numeric:
            ax.set_xticks(places, [str(value) for value in self.values])
        elif places.min() > 0 and places.max() / places.min() > 20:
            ax.set_xscale("log")
        lowest = min(0, self.scores.min())
        ax.set(xlabel=self.param_name, ylabel=self.score_name, ylim=(lowest, 1.02))
        ax.spines[["top", "right"]].set_visible(False)
        return self


def _choose_studied(estimator: LMVSC, X: Any, seed: int) -> tuple[npt.NDArray[np.int64], Views]:
    """Which rows to fit again, and these rows."""
    samples.check_has_labels(estimator)
    rng = np.random.default_rng(seed)
    chosen = samples.choose_balanced(np.asarray(estimator.labels_), samples.STUDIED_ROWS, rng)
    return chosen, samples.read_fitted_rows(estimator, X)[chosen].load()
