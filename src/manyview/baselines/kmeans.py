"""k-means on one view, or on all views side by side with equal weight."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn import cluster
from sklearn.utils import gen_batches

from manyview.baselines.base import Baseline, single_view
from manyview.baselines.steps.scaling import column_variances
from manyview.checks import check_count, check_number, check_option
from manyview.views.container import Block, Views, with_short_indices


class KMeans(Baseline):
    r"""k-means on one view, or on all views side by side.

    Minimises :math:`\sum_i \|x_i - c_{l_i}\|^2` over k centres and labels by scikit-learn's
    ``KMeans``. Several views are first divided by the root of their energy (mean squared distance
    of rows from the mean row), so that each has the same say whatever its units and width; a view
    whose rows are all the same has none. Views are not centred, which k-means does not notice.

    Parameters
    ----------
    n_clusters : int, default 8
        Number of clusters.
    view : str, int or None, default None
        Use this view alone, by name or position; None uses all of them.
    init : {"k-means++", "random"}, default "k-means++"
        How a run starts. The subspace clustering literature starts from random rows.
    n_init : int, default 10
        Runs from different starts, of which the best is kept.
    criterion : {"inertia", "distance"}, default "inertia"
        What makes a run the best: the smallest sum of squared distances to the own centre, or of
        plain distances, as the MATLAB routine ``litekmeans`` behind many published figures has it.
    max_iter : int, default 300
        Most iterations of a run.
    tol : float, default 1e-4
        A run stops when its centres move by less than this share of the data's mean variance (or
        no label changes).
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
        Sum of squared distances to the own centre, in scaled units if there are several views.
    view_scales_ : ndarray of shape (v,)
        What each view used was divided by: ones for a single view.
    n_iter_ : int
        Iterations of the best run.

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

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        view: str | int | None = None,
        init: str = "k-means++",
        n_init: int = 10,
        criterion: str = "inertia",
        max_iter: int = 300,
        tol: float = 1e-4,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.view = view
        self.init = init
        self.n_init = n_init
        self.criterion = criterion
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self) -> None:
        check_option("init", self.init, ("k-means++", "random"))
        check_option("criterion", self.criterion, ("inertia", "distance"))
        check_count("n_init", self.n_init)
        check_count("max_iter", self.max_iter)
        check_number("tol", self.tol, least=0)

    def _cluster(self, views: Views, rng: np.random.Generator) -> None:
        used = [single_view(views, self.view)] if self.view is not None else views.arrays
        arrays = [with_short_indices(array) for array in used]
        self.view_scales_ = (
            np.ones(1) if len(arrays) == 1 else np.array([_root_energy(array) for array in arrays])
        )
        joined = arrays[0] if len(arrays) == 1 else _join(arrays, self.view_scales_)
        best = self._best_run(joined, rng)
        if best.n_iter_ >= self.max_iter:
            self._warn_unsettled(
                f"k-means stopped at max_iter={self.max_iter} before its centres settled to "
                f"tol={self.tol:g}. Raise max_iter or tol."
            )
        widths = [array.shape[1] for array in arrays]
        self.labels_ = best.labels_.astype(np.int32)
        self.cluster_centers_ = best.cluster_centers_ * np.repeat(self.view_scales_, widths)
        self.inertia_ = float(best.inertia_)
        self.n_iter_ = int(best.n_iter_)

    def _best_run(self, X: Block, rng: np.random.Generator) -> Any:
        # Our other criterion needs to see every run; scikit-learn keeps only its own best.
        n_rounds, n_init = (1, self.n_init) if self.criterion == "inertia" else (self.n_init, 1)
        best, best_value = None, np.inf
        for i in range(n_rounds):
            model = cluster.KMeans(
                self.n_clusters,
                init=self.init,
                n_init=n_init,
                max_iter=self.max_iter,
                tol=self.tol,
                random_state=int(rng.integers(2**31)),
            ).fit(X)
            value = model.inertia_ if n_rounds == 1 else _sum_of_distances(X, model)
            self._log(
                "k-means run %d of %d: %s %g, %d iterations",
                i + 1, n_rounds, self.criterion, value, model.n_iter_,
            )  # fmt: skip
            if best is None or value < best_value:
                best, best_value = model, value
        return best


def _root_energy(X: Block) -> float:
    """Root of the mean squared distance of rows from their mean; 1 if they are all the same."""
    return float(np.sqrt(column_variances(X).sum())) or 1.0


def _join(arrays: list[Block], scales: npt.NDArray[np.float64]) -> Block:
    parts = [
        array.astype(np.result_type(array.dtype, np.float32)) / scale
        for array, scale in zip(arrays, scales, strict=True)
    ]
    if any(sparse.issparse(part) for part in parts):
        return sparse.csr_array(sparse.hstack(parts, format="csr"))
    return np.concatenate(parts, axis=1)


def _sum_of_distances(X: Block, model: Any) -> float:
    """Sum of the plain distances of rows to their centres, a block of rows at a time."""
    total = 0.0
    for rows in gen_batches(X.shape[0], 4096):
        distances = model.transform(X[rows])
        total += float(np.take_along_axis(distances, model.labels_[rows, None], axis=1).sum())
    return total
