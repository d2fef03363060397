"""k-means on one view, or on all views side by side with equal weight."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import KW_ONLY, dataclass
from functools import reduce
from operator import add
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn import cluster
from sklearn.utils import gen_batches
from threadpoolctl import threadpool_limits

from manyview.baselines.base import Baseline, single_view
from manyview.baselines.steps.scaling import join_views, root_energy
from manyview.checks import check_number, check_option
from manyview.machine import count_jobs
from manyview.stages.kmeans import nearest_centers
from manyview.stages.litekmeans import MOST_ROUNDS, draw_starts, litekmeans
from manyview.stages.rows import ScaledRows
from manyview.stages.scaling import fit_scaler
from manyview.views.container import Block, Views, with_short_indices

_TILE_ROWS = 4096


@dataclass(eq=False, repr=False)
class KMeans(Baseline):
    r"""k-means on one view, or on all views side by side.

    Minimises :math:`\sum_i \|x_i - c_{l_i}\|^2` over k centres and labels, by scikit-learn's
    ``KMeans`` or as published figures of this field were made. Several views are first divided by the
    root of their energy (mean squared distance of rows from the mean row), so that each has the same say
    whatever its units and width; a view whose rows are all the same has none. Views are not centred,
    which makes no difference to k-means.

    Parameters
    ----------
    n_clusters : int, default 8
        Number of clusters.
    view : str, int or None, default None
        Use this view alone, by name or position; None uses all of them.
    variant : {"scikit-learn", "litekmeans"}, default "scikit-learn"
        Whose k-means it is. "litekmeans" is the MATLAB routine behind many published figures: runs
        start from random rows and go on until no label changes, empty clusters take the rows farthest
        from their centre, and the run with the smallest sum of plain distances is kept, not of squares.
    init : {"k-means++", "random"}, default "k-means++"
        How a run starts, for ``variant="scikit-learn"``.
    n_init : int, default 10
        Runs from different starts, of which the best is kept.
    max_iter : int, optional
        Most iterations of a run: 300 by default, 100 of "litekmeans".
    tol : float, default 1e-4
        A run of scikit-learn's stops when its centres move by less than this share of the data's mean
        variance (or no label changes).
    random_state : None, int, RandomState or Generator
        Where runs start; an int gives the same labels every time.
    verbose : int, default 0
        Log progress at level INFO instead of DEBUG.

    Attributes
    ----------
    labels_ : ndarray of int32 of shape (n,)
        Cluster of each row.
    cluster_centers_ : ndarray of shape (n_clusters, d)
        Centres in the units of the input; the columns of all views used, side by side.
    inertia_ : float
        Sum of squared distances of rows to their centres, in scaled units if there are several views.
    view_scales_ : ndarray of shape (v,)
        What each view used was divided by: ones for a single view.
    n_iter_ : int
        Iterations of the run that was kept.

    See Also
    --------
    SpectralKNN : clusters that are not round.
    manyview.LMVSC : settings chosen from the data.

    Examples
    --------
    >>> import numpy as np
    >>> from manyview.baselines import KMeans
    >>> rng = np.random.default_rng(0)
    >>> truth = np.repeat([0, 1], 20)
    >>> views = {"size": 1000 * truth[:, None] + rng.normal(size=(40, 1)),
    ...          "colour": truth[:, None] + 0.1 * rng.normal(size=(40, 5))}
    >>> labels = KMeans(n_clusters=2, random_state=0).fit_predict(views)
    >>> len(set(zip(truth, labels)))
    2
    """

    n_clusters: int = 8
    _: KW_ONLY
    view: str | int | None = None
    variant: str = "scikit-learn"
    init: str = "k-means++"
    n_init: int = 10
    max_iter: int | None = None
    tol: float = 1e-4
    random_state: Any = None
    verbose: int = 0

    def _check_parameters(self) -> None:
        check_option("variant", self.variant, tuple(_VARIANTS))
        check_option("init", self.init, ("k-means++", "random"))
        self._check_counts("n_init", or_none=("max_iter",))
        check_number("tol", self.tol, least=0)

    def _cluster(self, views: Views, rng: np.random.Generator) -> None:
        used = [single_view(views, self.view)] if self.view is not None else views.arrays
        arrays = [with_short_indices(array) for array in used]
        self.view_scales_ = (
            np.ones(1) if len(arrays) == 1 else np.array([root_energy(array) for array in arrays])
        )
        joined = arrays[0] if len(arrays) == 1 else join_views(arrays, self.view_scales_)
        solve, max_iter = _VARIANTS[self.variant]
        max_iter = self.max_iter or max_iter
        found = solve(self, joined, max_iter, rng)
        self._log(
            "k-means, %s: inertia %g, %d iterations", self.variant, found.inertia, found.n_iter
        )
        if not found.is_settled:
            self._warn_unsettled(
                f"k-means stopped at max_iter={max_iter} before it settled. Raise max_iter"
                + ("." if self.variant == "litekmeans" else f" or tol={self.tol:g}.")
            )
        widths = [array.shape[1] for array in arrays]
        self.labels_ = found.labels
        self.cluster_centers_ = found.centers * np.repeat(self.view_scales_, widths)
        self.inertia_, self.n_iter_ = found.inertia, found.n_iter


class _Found(NamedTuple):
    """What one variant of k-means makes of the rows."""

    labels: npt.NDArray[np.int32]
    centers: npt.NDArray[np.float64]
    inertia: float
    n_iter: int
    is_settled: bool


def _solve_sklearn(settings: KMeans, X: Block, max_iter: int, rng: np.random.Generator) -> _Found:
    model = cluster.KMeans(
        settings.n_clusters,
        init=settings.init,
        n_init=settings.n_init,
        max_iter=max_iter,
        tol=settings.tol,
        random_state=int(rng.integers(2**31)),
    ).fit(X)
    labels, n_iter = model.labels_.astype(np.int32), int(model.n_iter_)
    return _Found(labels, model.cluster_centers_, float(model.inertia_), n_iter, n_iter < max_iter)


def _solve_litekmeans(
    settings: KMeans, X: Block, max_iter: int, rng: np.random.Generator
) -> _Found:
    scaler = fit_scaler(X, name="k-means", kind=None)  # centred, which keeps products accurate
    tiles = list(gen_batches(X.shape[0], _TILE_ROWS))
    starts = draw_starts(X.shape[0], settings.n_clusters, rng, n_runs=settings.n_init)
    with ThreadPoolExecutor(count_jobs()) as pool, threadpool_limits(1, "blas"):

        def on_tiles(function: Callable[[ScaledRows, int], Any]) -> Iterator[Any]:
            return pool.map(lambda tile: function(scaler.apply(X[tile]), tile.start), tiles)

        best = litekmeans(
            lambda function: reduce(add, on_tiles(function)),
            (scaler.apply(X[rows]).dense() for rows in starts),
            max_iter=max_iter,
        )
        labels = on_tiles(lambda rows, _: nearest_centers(rows, best.compared)[0])
        found = np.concatenate(list(labels))
    return _Found(found, scaler.invert(best.centers), best.inertia, best.n_iter, best.is_settled)


_VARIANTS: dict[str, tuple[Callable[..., _Found], int]] = {
    "scikit-learn": (_solve_sklearn, 300),
    "litekmeans": (_solve_litekmeans, MOST_ROUNDS),
}
