"""Blood cells by RNA and protein: sc.tl.lmvsc without tuning, beside k-means, over seeds."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence

import anndata
import mudata
import numpy as np
import numpy.typing as npt
from sklearn.cluster import KMeans
from sklearn.preprocessing import StandardScaler

from benchmarks.record import Report, Target
from manyview import Views, datasets, metrics, sc
from manyview.errors import DatasetNotFoundError

DATA = "citeseq_pbmc10x"
N_SEEDS = 5

Labels = npt.NDArray[np.integer]


def run(report: Report) -> None:
    try:
        cells = datasets.load(DATA, download=False)
    except DatasetNotFoundError:
        report.add(f"{DATA}: not on this machine", note="missing data")
        return
    measure(report, cells, range(2 if report.quick else N_SEEDS))


def measure(report: Report, cells: Views, seeds: Sequence[int]) -> None:
    """Add the scores of every method, and of each seed."""
    k = len(np.unique(cells.target))
    raw = [_dense(X) for X in cells.arrays]
    rivals: dict[str, tuple[Callable[[int], Labels], Target | None, Target | None]] = {
        "sc.tl.lmvsc": (
            lambda seed: cluster_cells(cells, k, seed),
            Target(at_least=0.73, stretch=0.76, indicative=report.quick),
            Target(at_least=0.95, indicative=report.quick),
        ),
        "k-means, standardised raw counts": (lambda seed: k_means(raw, k, seed), None, None),
        "k-means, standardised log counts": (
            lambda seed: k_means([np.log1p(X) for X in raw], k, seed), None, None,
        ),
    }  # fmt: skip
    for name, (cluster, nmi_target, purity_target) in rivals.items():
        scores, seconds = [], []
        for seed in seeds:
            started = time.perf_counter()
            labels = cluster(seed)
            seconds.append(time.perf_counter() - started)
            scores.append(metrics.scores(cells.target, labels))
        for score, target in (("nmi", nmi_target), ("purity", purity_target)):
            each = [found[score] for found in scores]
            report.add(
                f"{name}: {score}", float(np.mean(each)), target, seconds=seconds, scores=scores,
                seed=list(seeds), data=DATA, n_rows=cells.n_rows,
                note=f"{min(each):.3f} to {max(each):.3f} over {len(each)} seeds",
            )  # fmt: skip


def cluster_cells(cells: Views, k: int, seed: int) -> Labels:
    """Labels of cells in a MuData, by the function that users call."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mdata = mudata.MuData({name: anndata.AnnData(X) for name, X in cells.items()})
        sc.tl.lmvsc(mdata, k, random_state=seed)
    return mdata.obs["manyview"].astype(int).to_numpy()


def k_means(views: Sequence[npt.NDArray[np.float64]], k: int, seed: int) -> Labels:
    """Labels by k-means on standardised columns, views weighted equally."""
    scaled = [StandardScaler().fit_transform(X) / np.sqrt(X.shape[1]) for X in views]
    return KMeans(k, n_init=10, random_state=seed).fit_predict(np.hstack(scaled))


def _dense(X: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
